"""One kind of driver for each signal.

Icarus 11 refuses a vector or a struct of which a block drives one part and an assignment another, and it
resolves all bits of a vector with many continuous drivers whenever one of them changes.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

from .tree import Array, Assign, Comb, Element, For, Loop, Module, Name, Range, Seq, root, walk, written_in


def with_one_driver(module: Module) -> Module:
    """Assignments to parts of signals as blocks: those that a block drives, too, and those of a loop."""
    drivers = Counter(name for item in module.items for name in driven(item))
    items = tuple(_in_block(item, drivers) for item in module.items)
    return _with_assignments_in_blocks(replace(module, items=items))


def driven(item: Any) -> set[str]:
    return {root(target) for target in written_in(item)}


def in_blocks(module: Module) -> set[str]:
    """The signals that blocks drive."""
    return {name for item in walk(module.items) if isinstance(item, Comb | Seq) for name in driven(item)}


def as_block(item: Any) -> Comb:
    """A generate loop of assignments as a loop in a block."""
    return Comb(item.name, (For(item.turn, 0, item.count, 1, item.items),))


def _in_block(item: Any, drivers: Counter[str]) -> Any:
    """A generate loop that is the only driver of packed signals as a loop in a block. Icarus takes no
    variable in front of another index.
    """
    if not isinstance(item, Loop) or not all(isinstance(inner, Assign) for inner in item.items):
        return item
    for target in written_in(item):
        if not isinstance(target, Element | Range) or not isinstance(base := target.base, Name):
            return item
        if drivers[base.name] > 1 or (isinstance(base.type, Array) and not base.type.packed):
            return item
    return as_block(item)


def _with_assignments_in_blocks(module: Module) -> Module:
    """Assignments of one update block stay together, in its order; a connection is a block of its own."""
    mixed = _mixed(module)
    found: dict[str, list[Assign]] = {}
    items: list[Any] = []
    for item in module.items:
        if not isinstance(item, Assign) or root(item.target) not in mixed:
            items.append(item)
            continue
        name = item.block
        if not name:
            first = name = f"drive_{root(item.target)}"
            while name in found:
                name = f"{first}_{len(found)}"
        if name not in found:
            items.append(name)
        found.setdefault(name, []).append(item)
    blocks = (Comb(item, tuple(found[item])) if isinstance(item, str) else item for item in items)
    return replace(module, items=tuple(blocks))


def _mixed(module: Module) -> set[str]:
    """The signals that blocks drive, and those that an update block assigns with one of them."""
    mixed, before = in_blocks(module), 0
    assigns = [item for item in module.items if isinstance(item, Assign)]
    while len(mixed) != before:
        before = len(mixed)
        blocks = {item.block for item in assigns if root(item.target) in mixed} - {""}
        mixed |= {root(item.target) for item in assigns if item.block in blocks}
    return mixed
