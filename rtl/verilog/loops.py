"""Lists of instances of one module as loops, where their pins differ in indices that grow evenly.

In a chain each instance reads an output of the one before it. Its nets have one more element, the first, to
which what the first instance reads is assigned.
"""

from dataclasses import replace
from itertools import groupby
from typing import Any

from .simplify import replaced
from .tree import (
    Array,
    Assertion,
    Assign,
    Binary,
    Comment,
    Element,
    Expr,
    Instance,
    Loop,
    Module,
    Name,
    Number,
    Range,
    Turn,
    compared,
    is_node,
    rebuilt,
    root,
    value_of,
    walk,
)

LEAST = 2  # instances that make a loop
VARIABLES = "ijkl"


class Different(Exception):
    """Trees that no loop can make."""


def with_loops(module: Module) -> Module:
    """Loops for the lists of a module, the innermost dimension first."""
    lists: dict[str, list[Instance]] = {}
    for item in module.items:
        if isinstance(item, Instance) and item.place:
            lists.setdefault(item.name, []).append(item)
    for name, instances in lists.items():
        if len(instances) >= LEAST:
            module = chained(module, name)
            instances = [item for item in module.items if isinstance(item, Instance) and item.name == name]
            if loop := looped(instances):
                first = module.items.index(instances[0])
                rest = [item for item in module.items[first:] if item not in instances]
                module = replace(module, items=(*module.items[:first], loop, *rest))
    return module


def looped(instances: list[Instance]) -> Loop | None:
    depth = len(instances[0].place)
    items: list[Any] = [(item.place, replace(item, place=(), comment=Comment())) for item in instances]
    try:
        for level in reversed(range(depth)):
            turn = Turn(VARIABLES[level])
            grown = []
            for outer, group in groupby(items, lambda item: item[0][:-1]):
                members = [item for _, item in group]
                if not members or len(members) < LEAST:
                    return None
                body = even(members, turn)
                name = instances[0].name if level == 0 else f"{instances[0].name}_{turn.name}"
                grown.append((outer, Loop(name, turn, len(members), (body,))))
            items = grown
    except Different:
        return None
    return replace(items[0][1], comment=instances[0].comment)


def even(trees: list[Any], turn: Turn) -> Any:
    """The tree that gives each of these at its turn."""
    first = trees[0]
    if all(tree == first for tree in trees[1:]):
        return first
    if any(type(tree) is not type(first) for tree in trees):
        raise Different
    if isinstance(first, tuple):
        if len({len(tree) for tree in trees}) > 1:
            raise Different
        return tuple(even(list(items), turn) for items in zip(*trees, strict=True))
    if isinstance(first, Element | Range):
        base, kind = (even([getattr(tree, name) for tree in trees], turn) for name in ("base", "type"))
        if isinstance(first, Element):
            return Element(base, index([tree.index for tree in trees], turn), kind)
        return Range(base, index([tree.low for tree in trees], turn), kind)
    if isinstance(first, Number) or not is_node(first):
        raise Different
    found = {name: even([getattr(tree, name) for tree in trees], turn) for name in compared(first)}
    return replace(first, **found)


def index(trees: list[Expr], turn: Turn) -> Expr:
    """Numbers that grow evenly, or equal expressions."""
    if not all(isinstance(tree, Number) for tree in trees):
        return even(trees, turn)
    values = [*map(value_of, trees)]
    start, step = values[0], values[1] - values[0]
    if values != [start + step * i for i in range(len(values))]:
        raise Different
    if step == 0:
        return trees[0]
    scaled = turn if abs(step) == 1 else Binary("*", turn, Number(32, abs(step)))
    if step < 0:
        return Binary("-", Number(32, start), scaled)
    return Binary("+", scaled, Number(32, start)) if start else scaled


def chained(module: Module, name: str) -> Module:
    """Outputs that the next instance of a list reads, with one more element for what the first one reads."""
    instances = [item for item in module.items if isinstance(item, Instance) and item.name == name]
    if [item.place for item in instances] != [(i,) for i in range(len(instances))]:
        return module
    for number, pin in enumerate(instances[0].pins):
        if pin.is_input and (link := _link(module, instances, number)):
            return chained(_longer(module, instances, number, link), name)
    return module


def _longer(module: Module, instances: list[Instance], number: int, link: tuple[Name, Expr]) -> Module:
    """The module with one more element of an output before the others, for what the first instance reads."""
    out, start = link
    size = len(instances)
    long = Name(out.name, Array(size + 1, _at(out, 0).type, packed=False))
    moved: dict[Expr, Expr] = {_at(out, i): _at(long, i + 1) for i in range(size)}
    nets = tuple(replace(net, type=long.type) if net.name == out.name else net for net in module.nets)
    second = _with(instances[1].pins[number].value, _at(out, 0), _at(long, 0))
    items: list[Any] = []
    for item, before in zip(replaced(module.items, moved), module.items, strict=True):
        if before is instances[0]:
            pins = [*item.pins]
            pins[number] = replace(pins[number], value=second)
            items += [Assign(_at(long, 0), replaced(start, moved)), replace(item, pins=tuple(pins))]
        else:
            items.append(item)
    return replace(module, nets=nets, items=tuple(items))


def _link(module: Module, instances: list[Instance], number: int) -> tuple[Name, Expr] | None:
    """The output of the instance before it that a pin reads, alone or in an expression, and what the first
    instance reads in its place."""
    first, *others = (item.pins[number].value for item in instances)
    for node in walk(others[0]):
        if not isinstance(node, Element) or not isinstance(out := node.base, Name):
            continue
        if node.array.packed or node != _at(out, 0) or node.array.elements() != len(instances):
            continue
        if any(_moves(other, out) for other in walk(module.items)):
            continue
        if others != [_with(others[0], node, _at(out, i)) for i in range(len(others))]:
            continue
        outputs = ([pin.value for pin in item.pins if not pin.is_input] for item in instances)
        start = _place_of(first, others[0], node)
        if start is None or root(start) == out.name or start.width != node.width:
            continue
        if all(_at(out, i) in values for i, values in enumerate(outputs)):
            return out, start
    return None


def _with(tree: Any, before: Expr, after: Expr) -> Any:
    return rebuilt(tree, lambda node: after if node == before else None)


def _place_of(tree: Any, other: Any, node: Expr) -> Any:
    """The part of a tree at the place where another tree has this node; None if they differ elsewhere."""
    if other == node:
        return tree
    if type(tree) is not type(other):
        return None
    if isinstance(other, tuple):
        pairs = [*zip(tree, other, strict=False)] if len(tree) == len(other) else []
    elif is_node(other):
        pairs = [(getattr(tree, name), getattr(other, name)) for name in compared(other)]
    else:
        pairs = []
    apart = [pair for pair in pairs if pair[0] != pair[1]]
    return _place_of(*apart[0], node) if len(apart) == 1 else None


def _at(out: Name, place: int) -> Element:
    assert isinstance(out.type, Array)
    return Element(out, Number(32, place), out.type.element)


def _moves(node: Any, out: Name) -> bool:
    """Whether a variable selects an element, or the text of an assertion may."""
    if isinstance(node, Assertion):
        return out in node.words
    return isinstance(node, Element) and node.base == out and not isinstance(node.index, Number)
