"""Enumerations of codes, the members of an IntEnum, as the types of all signals that hold one.

A signal or a field has the type if it is compared with a code, set to one, or joined to a signal that has it,
and is never set to anything else. The ports of the top module stay vectors.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from typing import Any

from .assertions import with_names
from .blocks import as_enum, chosen
from .drivers import as_block
from .tree import (
    COMPARISONS,
    Assertion,
    Assign,
    Binary,
    Case,
    Comb,
    Comment,
    Concat,
    Design,
    Enum,
    Expr,
    Field,
    Instance,
    Loop,
    Member,
    Module,
    Mux,
    Name,
    Net,
    Number,
    Pin,
    Range,
    Seq,
    Struct,
    Type,
    Typed,
    Vector,
    part,
    rebuilt,
    root,
    type_of,
    walk,
)
from .types import deep, retyped

Slot = tuple[str, str]  # a module or a struct, and a signal or a field of it
Ports = dict[str, dict[str, Type]]  # of modules


def with_codes(design: Design) -> Design:
    """A design whose signals have these types, each with the members that the design mentions."""
    design = _with_one_type_of_codes(design)
    found = _Inference(design).found

    def change(kind: Type) -> Type:
        if not isinstance(kind, Struct):
            return kind
        fields = ((name, found.get((kind.name, name), field)) for name, field in kind.fields)
        return replace(kind, fields=tuple(fields))

    every = deep(change)
    modules = []
    for module in design.modules:
        signals = {name: kind for (owner, name), kind in found.items() if owner == module.name}
        modules.append(retyped(module, every, signals))
    ports = ports_of(modules)
    return _with_used_members(Design(tuple(_Members(module, ports).module() for module in modules)))


def ports_of(modules: Any) -> Ports:
    return {module.name: {port.name: port.type for port in module.ports} for module in modules}


def _with_one_type_of_codes(design: Design) -> Design:
    """Enumerated fields with the codes of an IntEnum have its type."""
    codes = {node.type for node in walk(_items(design)) if isinstance(node, Member) and node.type.is_codes}
    shared = {(kind.width, _plain(kind)): kind for kind in codes}

    def change(kind: Type) -> Type:
        return shared.get((kind.width, _plain(kind)), kind) if isinstance(kind, Enum) else kind

    every = deep(change)
    return Design(tuple(retyped(module, every) for module in design.modules))


def _items(design: Design) -> Any:
    return tuple(item for module in design.modules for item in module.items)


def _plain(kind: Enum) -> tuple[tuple[str, int], ...]:
    """Members without the name of their enumeration."""
    prefix = f"{kind.name.removesuffix('_e').upper()}_"
    return tuple((name.removeprefix(prefix), value) for name, value in kind.members)


def _with_used_members(design: Design) -> Design:
    used = {(node.type, node.name) for node in walk(_items(design)) if isinstance(node, Member)}

    def change(kind: Type) -> Type:
        if not isinstance(kind, Enum) or not kind.is_codes:
            return kind
        members = tuple(item for item in kind.members if (kind, item[0]) in used)
        return replace(kind, members=members or kind.members)

    every = deep(change)
    return Design(tuple(retyped(module, every) for module in design.modules))


def leaves(value: Expr) -> Iterator[Expr]:
    """The values between which an expression chooses."""
    if isinstance(value, Mux):
        yield from leaves(value.then)
        yield from leaves(value.other)
    else:
        yield value


class _Inference:
    """found: the signals and fields that become enumerations."""

    def __init__(self, design: Design) -> None:
        self.types: dict[Slot, Type] = {}  # of what can be one, or is one
        self.joined: dict[Slot, set[Slot]] = defaultdict(set)
        self.seeds: dict[Slot, Enum] = {}  # compared with a member, or set to one
        self.sources: dict[Slot, list[Slot | Expr]] = defaultdict(list)
        self.partly: set[Slot] = set()  # of which something selects bits
        for module in design.modules:
            for item in module.signals:
                if isinstance(item.type, Vector | Enum) and item.type not in module.types:
                    self.types[module.name, item.name] = item.type
        top = design.top
        for port in top.ports:
            if isinstance(port.type, Vector):
                del self.types[top.name, port.name]
        self.ports = ports_of(design.modules)
        for module in design.modules:
            self.owner = module.name
            for node in walk(module.items):
                self.read(node)
        self.found = self._infer()

    def slot(self, node: Any) -> Slot | None:
        if isinstance(node, Name):
            return self.owner, node.name
        if isinstance(node, Field):
            base: Any = node.base
            slot = base.type.name, node.name
            if isinstance(node.type, Vector | Enum):
                self.types.setdefault(slot, node.type)
            return slot
        return None

    def read(self, node: Any) -> None:
        match node:
            case Assign():
                target: Any = node.target
                self.flow(self.slot(target), target.type, node.value)
                if isinstance(target, Range) and (slot := self.slot(target.base)):
                    self.partly.add(slot)
            case Binary() if node.op in COMPARISONS:
                self.join(node.left, node.right)
            case Case():
                for value, _ in node.branches:
                    self.join(node.subject, value)
            case Range():
                if slot := self.slot(node.base):
                    self.partly.add(slot)
            case Instance():
                for pin in node.pins:
                    self.pin(node.module, pin)

    def join(self, left: Expr, right: Expr) -> None:
        for one, other in ((left, right), (right, left)):
            if (slot := self.slot(one)) is None:
                continue
            if (another := self.slot(other)) is not None:
                self.joined[slot].add(another)
            elif isinstance(other, Member) and other.type.is_codes:
                self.seeds.setdefault(slot, other.type)

    def pin(self, module: str, pin: Pin) -> None:
        port = module, pin.port
        if pin.value is None:
            return
        if pin.is_input:
            self.flow(port, self.ports[module][pin.port], pin.value)
        elif isinstance(pin.value, Range):
            self.partly |= {slot} if (slot := self.slot(pin.value.base)) else set()
        elif slot := self.slot(pin.value):
            self.joined[slot].add(port)
            self.joined[port].add(slot)
            self.sources[slot].append(port)

    def flow(self, target: Slot | None, kind: Type, value: Expr) -> None:
        """A value goes to a signal or a field; one of a struct to its fields."""
        for leaf in leaves(value):
            if isinstance(kind, Struct):
                for (name, field), inner in parts_of(kind, leaf):
                    if isinstance(field, Vector | Enum):
                        self.types.setdefault((kind.name, name), field)
                    self.flow((kind.name, name), field, inner)
            elif target is not None:
                source = self.slot(leaf)
                self.sources[target].append(source or leaf)
                if source:
                    self.joined[target].add(source)
                    self.joined[source].add(target)
                elif isinstance(leaf, Member) and leaf.type.is_codes:
                    self.seeds.setdefault(target, leaf.type)

    def _infer(self) -> dict[Slot, Enum]:
        fixed = {slot: kind for slot, kind in self.types.items() if isinstance(kind, Enum)}
        found = {slot: kind for slot, kind in fixed.items() if kind.is_codes}
        found |= {slot: kind for slot, kind in self.seeds.items() if self._fits(slot, kind)}
        new = [*found]
        while new:
            slot = new.pop()
            for other in self.joined[slot]:
                if other not in found and self._fits(other, found[slot]):
                    found[other] = found[slot]
                    new.append(other)
        while mixed := {slot for slot in found.keys() - fixed if not self._is_pure(slot, found)}:
            found = {slot: kind for slot, kind in found.items() if slot not in mixed}
        return {slot: kind for slot, kind in found.items() if slot not in fixed}

    def _fits(self, slot: Slot, kind: Enum) -> bool:
        return self.types.get(slot) == Vector(kind.width) and slot not in self.partly

    def _is_pure(self, slot: Slot, found: dict[Slot, Enum]) -> bool:
        kind = found[slot]
        for source in self.sources[slot]:
            if isinstance(source, Number | Member):
                if kind.member(source.value) is None:
                    return False
            elif not isinstance(source, tuple) or found.get(source) != kind:
                return False
        return True


def parts_of(kind: Struct, value: Expr) -> Iterator[tuple[tuple[str, Type], Expr]]:
    """The fields of a struct with what a number or a concatenation gives them; no part of a field."""
    if isinstance(value, Number):
        for name, field in kind.fields:
            yield (name, field), part(value, kind.low(name), field.width)
    elif isinstance(value, Concat):
        starts, at = {}, value.width
        for inner in value.parts:
            at -= inner.width
            starts[at, inner.width] = inner
        for name, field in kind.fields:
            anything = Range(value, Number(32, kind.low(name)), Vector(field.width))
            yield (name, field), starts.get((kind.low(name), field.width), anything)


class _Members:
    """A module with members of enumerations in the place of numbers, and choices of members as blocks."""

    def __init__(self, module: Module, ports: Ports) -> None:
        self.before, self.ports = module, ports
        self.is_port = {port.name for port in module.ports}
        self.is_output = {port.name for port in module.ports if not port.is_input}
        self.taken = self.is_port | {net.name for net in module.nets}
        self.taken |= {item.name for item in module.items if isinstance(item, Comb | Seq | Loop)}
        self.copies: dict[Expr, Name] = {}  # of what Icarus 11 takes for a number in a block

    def module(self) -> Module:
        items: list[Any] = []
        for item in self.before.items:
            copied = len(self.copies)
            item = self.item(item)
            new = [*self.copies.items()][copied:]
            items += (Assign(copy, value) for value, copy in new)
            items.append(item)
        nets = (Net(copy.name, copy.type) for copy in self.copies.values())
        return replace(self.before, nets=(*self.before.nets, *nets), items=tuple(items))

    def item(self, item: Any) -> Any:
        if isinstance(item, Loop) and any(_chooses(node) for node in walk(item.items)):
            item = as_block(item)
        elif _chooses(item):
            about, item = item.comment, replace(item, comment=Comment())
            item = Comb(self.new_name(f"select_{'_'.join(_names(item.target))}"), (item,), comment=about)
        made = rebuilt(item, self.node)
        return rebuilt(made, self.with_copies) if isinstance(made, Comb) else made

    def with_copies(self, node: Any) -> Any:
        """An assignment in a block. Icarus 11 takes some ports, and fields, for numbers there."""
        if not isinstance(node, Assign) or not _is_enum(node.target) or not _is_enum(node.value):
            return None
        is_net = isinstance(node.target, Name) and node.target.name not in self.is_port
        if isinstance(node.value, Field) or root(node.value) in (self.is_port if is_net else self.is_output):
            return replace(node, value=self.copy(node.value))
        return None

    def copy(self, value: Expr) -> Name:
        if value not in self.copies:
            assert isinstance(value, Typed)
            names = _names(value)
            name = "_of_".join(names[::-1]) if len(names) > 1 else f"copy_of_{names[0]}"
            self.copies[value] = Name(self.new_name(name), value.type)
        return self.copies[value]

    def new_name(self, name: str) -> str:
        """The name, with a number if the module has it already."""
        names = chain([name], (f"{name}_{number}" for number in count(2)))
        found = next(found for found in names if found not in self.taken)
        self.taken.add(found)
        return found

    def node(self, node: Any) -> Any:
        def inner(node: Any) -> Any:
            return rebuilt(node, self.node)

        match node:
            case Assign():
                target = inner(node.target)
                value = self.value(inner(node.value), target.type)
                made = replace(node, target=target, value=value)
                return chosen(target, value) if _chooses(made) else made
            case Binary() if node.op in COMPARISONS:
                left, right = inner(node.left), inner(node.right)
                if _is_enum(left):
                    right = as_enum(right, left.type)
                elif _is_enum(right):
                    left = as_enum(left, right.type)
                return replace(node, left=left, right=right)
            case Case() if _is_enum(node.subject):
                kind: Any = type_of(node.subject)
                branches = tuple((as_enum(value, kind), inner(body)) for value, body in node.branches)
                return replace(node, branches=branches, default=inner(node.default))
            case Assertion():
                return replace(node, words=tuple(with_names(node.words)))
            case Instance():
                ports = self.ports[node.module]
                pins = (
                    replace(pin, value=self.value(inner(pin.value), ports[pin.port])) if pin.is_input else pin
                    for pin in node.pins
                )
                return replace(node, pins=tuple(pins))
        return None

    def value(self, value: Expr, kind: Type) -> Expr:
        """A value for a signal of a type."""
        if isinstance(kind, Enum):
            return as_enum(value, kind)
        if isinstance(kind, Struct) and isinstance(value, Concat):
            at, parts = value.width, []
            kinds = {(kind.low(name), field.width): field for name, field in kind.fields}
            for item in value.parts:
                at -= item.width
                parts.append(self.value(item, kinds.get((at, item.width), Vector(item.width))))
            return Concat(tuple(parts))
        return value


def _is_enum(node: Any) -> bool:
    return isinstance(type_of(node), Enum)


def _chooses(node: Any) -> bool:
    """Whether this is an assignment of one of several codes."""
    return isinstance(node, Assign) and _is_enum(node.target) and isinstance(node.value, Mux)


def _names(node: Any) -> list[str]:
    """The signal and the fields of a reference."""
    names: list[str] = []
    while not isinstance(node, Name):
        names.insert(0, node.name if isinstance(node, Field) else "element")
        node = node.base
    return [node.name, *names]
