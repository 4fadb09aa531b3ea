"""Modules whose signals have other types, among them modules without lists of one element."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .tree import Array, Element, Field, Member, Module, Name, Struct, Type, Vector, rebuilt

Change = Callable[[Type], Type]
NONE: Mapping[str, Type] = {}


def retyped(module: Module, change: Change, signals: Mapping[str, Type] = NONE) -> Module:
    """change: of types; signals: those that have a type of their own. Types inside the module stay."""

    def outer(kind: Type) -> Type:
        return kind if kind in module.types else change(kind)

    def of_signal(item: Any) -> Type:
        return signals.get(item.name) or outer(item.type)

    def node(item: Any) -> Any:
        match item:
            case Name():
                return replace(item, type=of_signal(item))
            case Field():
                base = rebuilt(item.base, node)
                return Field(base, item.name, dict(base.type.fields)[item.name])
            case Element():
                base = rebuilt(item.base, node)
                return Element(base, rebuilt(item.index, node), base.type.element)
            case Member():
                return member(item, outer(item.type))
        return None

    return replace(
        module,
        ports=tuple(replace(port, type=of_signal(port)) for port in module.ports),
        nets=tuple(replace(net, type=of_signal(net)) for net in module.nets),
        items=rebuilt(module.items, node),
    )


def member(value: Member, kind: Any) -> Member:
    """The member of another enumeration at the same place."""
    return Member(kind, kind.member(value.value)) if kind != value.type else value


def deep(change: Change) -> Change:
    """The change of a type that changes what arrays and structs consist of, first."""
    made: dict[Type, Type] = {}

    def changed(kind: Type) -> Type:
        if isinstance(kind, Vector):
            return change(kind)
        if kind not in made:
            inner = kind
            if isinstance(kind, Array):
                inner = replace(kind, element=changed(kind.element))
            elif isinstance(kind, Struct):
                inner = replace(kind, fields=tuple((name, changed(field)) for name, field in kind.fields))
            made[kind] = change(inner)
        return made[kind]

    return changed


def without_lists_of_one(module: Module) -> Module:
    """The module with each list of one element as that element: `[0:0]` would tell a reader nothing."""
    return replace(
        module,
        ports=tuple(replace(port, type=single(port.type)) for port in module.ports),
        nets=tuple(replace(net, type=single(net.type)) for net in module.nets),
        items=rebuilt(module.items, _of_one),
    )


def single(kind: Type) -> Type:
    """A type without lists of one element, in the fields of messages too."""
    if isinstance(kind, Array):
        return single(kind.element) if kind.size == 1 else replace(kind, element=single(kind.element))
    if isinstance(kind, Struct):
        return replace(kind, fields=tuple((name, single(field)) for name, field in kind.fields))
    return kind


def _of_one(node: Any) -> Any:
    """An element of a list of one is that list, whatever the index is."""
    match node:
        case Name():
            return replace(node, type=single(node.type))
        case Field():
            return Field(rebuilt(node.base, _of_one), node.name, single(node.type))
        case Element():
            base = rebuilt(node.base, _of_one)
            if node.array.size == 1:
                return base
            return Element(base, rebuilt(node.index, _of_one), single(node.type))
    return None
