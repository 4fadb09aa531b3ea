"""Modules without signals that only give another name to something.

`read` gives every pin a net of its own. Here the parts of a signal are assigned at once; a pin is connected
to what drives it or what it drives; a wire that is there for the sake of an output is that output.

The unit of all this is the *atom*: a signal, or one element of the nets of a list of instances. A list whose
element is selected by a variable stays as it is.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

from .continuous import unblocked
from .drivers import in_blocks
from .fold import folded
from .tree import (
    Array,
    Assertion,
    Assign,
    Comb,
    Comment,
    Concat,
    Element,
    Expr,
    Field,
    Instance,
    Module,
    Name,
    Number,
    Pin,
    Range,
    Reference,
    Selection,
    Struct,
    element,
    part,
    read_in,
    rebuilt,
    root,
    type_of,
    value_of,
    walk,
    written_in,
)

Steps = list[Selection]


def simplified(module: Module) -> Module:
    steps = (
        opened,
        gathered,
        driven_directly,
        substituted,
        gathered,
        substituted,
        folded,
        opened,
        as_outputs,
    )
    for step in steps:
        module = step(module)
    return module


def opened(module: Module) -> Module:
    """A module whose blocks are assignments where these say the same."""
    items: list[Any] = []
    for item in module.items:
        items += unblocked(item) if isinstance(item, Comb) else [item]
    return replace(module, items=tuple(items))


# ---- atoms


def atom(node: Expr) -> tuple[Reference | None, Steps]:
    """The atom of a reference and the steps from there to the reference; no atom if a variable selects it."""
    steps: Steps = []
    while isinstance(node, Selection):
        steps.append(node)
        node = node.base
    assert isinstance(node, Name)
    found: Name | Element = node
    while isinstance(found.type, Array) and not found.type.packed:
        step = steps.pop() if steps else None
        if not isinstance(step, Element) or not isinstance(step.index, Number):
            return None, []
        found = step
    return found, steps[::-1]


class Uses:
    """Readers and drivers of the atoms of a module."""

    def __init__(self, module: Module) -> None:
        self.pinned: set[str] = set()  # lists of which a variable selects an element
        self.reads: Counter[Expr] = Counter()
        self.parts_read: set[Expr] = set()
        self.drivers: dict[Reference, list[Any]] = {}
        asserted = (item for item in module.items if isinstance(item, Assertion))
        self.asserted = {node for item in asserted for node in item.words if isinstance(node, Name)}
        for node in read_in(module.items):
            found, steps = atom(node)
            if found is None:
                self.pinned.add(root(node))
            else:
                self.reads[found] += 1
                if steps:
                    self.parts_read.add(found)
        for item in module.items:
            for node in written_in(item):
                found, _ = atom(node)
                if found is None:
                    self.pinned.add(root(node))
                else:
                    self.drivers.setdefault(found, []).append(item)

    def is_replaced(self, found: Expr, value: Expr) -> bool:
        """Whether a value may be in the place of an atom: an assertion may select parts of a name."""
        return found not in self.asserted or (isinstance(value, Name) and value.type == found.type)

    def driver(self, found: Reference) -> Any:
        """The only item that drives an atom, if no variable selects it."""
        items = self.drivers.get(found, [])
        return items[0] if len(items) == 1 and root(found) not in self.pinned else None


def replaced(node: Any, values: dict[Expr, Expr], *, within: bool = True) -> Any:
    """Expressions, statements or items with other values in the place of atoms.

    within: replace atoms inside the values as well; not if the values belong to another module.
    """

    def change(node: Any) -> Any:
        if not isinstance(node, Reference):
            return None
        found, steps = atom(node)
        if found not in values and not any(isinstance(step, Element | Range) for step in steps):
            return node if found else None
        new: Any = found
        if found in values:
            new = rebuilt(values[found], change) if within else values[found]
        if new is None:
            return None
        for step in steps:
            if isinstance(step, Field):
                new = replace(step, base=new)
            elif isinstance(step, Element):
                new = replace(step, base=new, index=rebuilt(step.index, change))
            elif isinstance(step.low, Number):  # the same step has a name for its index
                new = step if new == step.base else part(new, step.low.value, step.width)
            else:
                new = replace(step, base=new, low=rebuilt(step.low, change))
        return new

    return rebuilt(node, change)


# ---- parts


def gathered(module: Module) -> Module:
    """Signals all of whose parts are assigned one by one, assigned at once."""
    uses = Uses(module)
    inputs = {net.name for net in module.nets if net.of_pins}
    outputs = {
        atom(pin.value)[0]
        for item in module.items
        if isinstance(item, Instance)
        for pin in item.pins
        if not pin.is_input and pin.value
    }
    whole: dict[Reference, Assign] = {}
    for found, items in uses.drivers.items():
        if (
            len(items) < 2
            or not all(isinstance(item, Assign) for item in items)
            or root(found) in uses.pinned
        ):
            continue
        if root(found) not in inputs and (
            isinstance(found.type, Struct) or any(item.value in outputs for item in items)
        ):
            continue
        parts = sorted(((_low(item.target, found), item) for item in items), key=lambda pair: -pair[0])
        if sum(item.target.width for _, item in parts) == found.width:
            comment = sum((item.comment for item in items), Comment())
            whole[found] = Assign(found, joined([item.value for _, item in parts], found), comment=comment)
    items = []
    for item in module.items:
        target = atom(item.target)[0] if isinstance(item, Assign) else None
        if target not in whole:
            items.append(item)
        elif item is uses.drivers[target][0]:
            items.append(whole[target])
    return replace(module, items=tuple(items))


def _low(target: Expr, found: Expr) -> int:
    """The place of a part in an atom."""
    low = 0
    while target != found:
        match target:
            case Field():
                low += target.struct.low(target.name)
            case Element():
                low += value_of(target.index) * target.width
            case Range():
                low += value_of(target.low)
            case _:
                raise TypeError(type(target).__name__)
        target = target.base
    return low


def joined(values: list[Expr], target: Expr | None = None) -> Expr:
    """A concatenation, neighbouring parts of a signal as one."""
    parts: list[Expr] = []
    for value in values:
        before = parts[-1] if parts else None
        if (
            isinstance(value, Number)
            and isinstance(before, Number)
            and not isinstance(type_of(target), Array | Struct)
        ):
            parts[-1] = Number(before.width + value.width, before.value << value.width | value.value)
        elif (
            isinstance(value, Range)
            and isinstance(before, Range)
            and before.base == value.base
            and _adjacent(before, value)
        ):
            parts[-1] = part(value.base, value_of(value.low), before.width + value.width)
        else:
            parts.append(value)
    first = parts[0]
    if isinstance(first, Element) and first.array.packed:
        if parts == [element(first.base, Number(32, i)) for i in reversed(range(first.array.size))]:
            return first.base
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def _adjacent(high: Range, low: Range) -> bool:
    return (
        isinstance(high.low, Number)
        and isinstance(low.low, Number)
        and high.low.value == low.low.value + low.width
    )


# ---- pins and aliases


def driven_directly(module: Module) -> Module:
    """Outputs of instances connected to the signals that they are assigned to."""
    uses = Uses(module)
    of_pins = {net.name for net in module.nets if net.of_pins}
    outputs = {port.name for port in module.ports if not port.is_input}
    blocks = in_blocks(module)
    found: dict[Expr, Assign] = {}
    for item in module.items:
        if not isinstance(item, Assign) or root(item.value) not in of_pins or root(item.target) in of_pins:
            continue
        value = atom(item.value)[0]
        if value is None or value != item.value or not isinstance(uses.driver(value), Instance):
            continue
        if value.type != item.target.type and item.value in uses.parts_read:
            continue
        if isinstance(item.target, Field) and uses.reads[item.value] > 1:
            continue  # Icarus 11 may not end where a field of a message depends on another field of it
        if not uses.is_replaced(item.value, item.target):
            continue
        if root(item.target) in blocks and not isinstance(item.target, Name):
            continue
        if item.value not in found or (item.target in outputs and found[item.value].target not in outputs):
            found[item.value] = item
    counts = Counter(root(value) for value in found)
    sizes = {net.name: net.type.elements() for net in module.nets if isinstance(net.type, Array)}
    found = {
        value: item for value, item in found.items() if counts[root(value)] == sizes.get(root(value), 1)
    }  # whole lists
    dropped = {id(item) for item in found.values()}
    items = tuple(item for item in module.items if id(item) not in dropped)
    items = _commented_pins(items, found)
    return _without_undriven(
        replace(module, items=replaced(items, {value: item.target for value, item in found.items()}))
    )


def substituted(module: Module) -> Module:
    """Values in the place of nets that have only one and no meaning of their own."""
    uses = Uses(module)
    nets = {net.name: net for net in module.nets}
    values: dict[Expr, Expr] = {}
    connected: dict[Expr, Assign] = {}
    for item in module.items:
        if not isinstance(item, Assign) or (net := nets.get(root(item.target))) is None:
            continue
        target, value = item.target, item.value
        if atom(target)[0] != target or uses.driver(target) is not item:
            continue
        whole = target not in uses.parts_read
        if isinstance(value, Number):
            fits = whole or not isinstance(target.type, Array | Struct)
        elif isinstance(value, Reference):
            alias = not isinstance(value, Range) or net.of_pins
            # Icarus 11 does not invert a field of a struct that is a field
            nested = not whole and isinstance(value, Field) and isinstance(value.type, Struct)
            alike = whole or value.type == target.type
            fits = alike and alias and not nested
        else:
            fits = net.of_pins and whole and uses.reads[target] == 1
        if fits and uses.is_replaced(target, value):
            values[target] = value
            if net.of_pins:
                connected[target] = item
    items = tuple(item for item in module.items if not (isinstance(item, Assign) and item.target in values))
    items = _commented_pins(items, connected)
    return _without_undriven(replace(module, items=replaced(items, values)))


def _commented_pins(items: tuple[Any, ...], connected: dict[Expr, Assign]) -> tuple[Any, ...]:
    """Items whose pins have the comments of assignments that become connections, by the values of the pins
    before. A heading stays with another item that has it."""
    others = {heading for item in items for heading in item.comment.headings}

    def commented(pin: Pin) -> Pin:
        if pin.value not in connected:
            return pin
        comment = connected[pin.value].comment
        headings = tuple(heading for heading in comment.headings if heading not in others)
        return replace(pin, comment=pin.comment + replace(comment, headings=headings))

    return tuple(
        replace(item, pins=tuple(map(commented, item.pins))) if isinstance(item, Instance) else item
        for item in items
    )


def as_outputs(module: Module) -> Module:
    """Wires that are there for the sake of an output under its name."""
    uses = Uses(module)
    nets = {net.name for net in module.nets}
    outputs = {port.name for port in module.ports if not port.is_input}
    found: dict[Expr, Expr] = {}
    for item in module.items:
        if isinstance(item, Assign) and isinstance(item.value, Name) and isinstance(item.target, Name):
            alike = item.value.type == item.target.type and item.target.name in outputs
            if alike and item.value.name in nets and item.value in uses.drivers:
                found.setdefault(item.value, item.target)
    items = tuple(
        item
        for item in module.items
        if not (isinstance(item, Assign) and found.get(item.value) == item.target)
    )
    return _without_undriven(replace(module, items=replaced(items, found)))


def _without_undriven(module: Module) -> Module:
    """Without nets that nothing mentions."""
    named = {node.name for node in walk(module.items) if isinstance(node, Name)}
    return replace(module, nets=tuple(net for net in module.nets if net.name in named))
