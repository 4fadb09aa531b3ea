"""Designs without what nothing reads: nets, and ports that no instance needs, clock and reset included."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

from .tree import (
    Array,
    Assertion,
    Assign,
    Case,
    Comb,
    Design,
    Element,
    Enum,
    Expr,
    Field,
    For,
    If,
    Instance,
    Loop,
    Module,
    Name,
    Net,
    Number,
    Pin,
    Port,
    Range,
    Reference,
    Seq,
    Statement,
    Struct,
    Type,
    Unused,
    Vector,
    mask_of,
    part,
    read_in,
    rebuilt,
    root,
    walk,
    written_in,
)

UNUSED = "unused_"
SELECTED = re.compile(r"\[(\d+)(?::(\d+))?\]")  # bits, in the text of an assertion
MOST_PARTS = 4  # of a signal; with more unread parts it is named as a whole
# without a reason of the author's
BITS, PARTLY, WHOLLY = "nothing reads these bits", "some bits are not read", "nothing reads it"


def pruned(design: Design) -> Design:
    """From the top down, as long as something goes."""
    while True:
        modules: list[Module] = []
        needed: dict[str, set[str] | None] = {design.top.name: None}
        for module in design.modules:
            if module.name in needed:
                module = without_unread(module, needed[module.name])
                modules.append(module)
                for item in module.instances:
                    read = {pin.port for pin in item.pins if not root(pin.value).startswith(UNUSED)}
                    needed[item.module] = (needed.get(item.module) or set()) | read
        kept = {module.name: {port.name for port in module.ports} for module in modules}
        found = Design(tuple(_with_pins(module, kept) for module in modules))
        if found == design:
            return design
        design = found


def without_unread(module: Module, needed: set[str] | None) -> Module:
    """needed: the outputs that instances of the module are read at; None for the top, whose ports stay."""
    outputs = {port.name for port in module.ports if not port.is_input}
    live = outputs if needed is None else outputs & needed
    while True:
        read = live | {root(node) for node in read_in(module.items)}
        items = tuple(item for item in (_item(item, read) for item in module.items) if item is not None)
        if items == module.items:
            break
        module = replace(module, items=items)
    named = {node.name for node in walk(module.items) if isinstance(node, Name)}
    nets = [net for net in module.nets if net.name in read | named]
    known = {net.name for net in nets}
    signals = ((f"{UNUSED}{item.name}", item.type) for item in module.signals)
    nets += (Net(name, kind) for name, kind in signals if name in named - known)
    read |= {"clk"} if module.is_clocked else set()
    ports = tuple(port for port in module.ports if needed is None or port.name in read)
    return replace(module, ports=ports, nets=tuple(nets))


def _item(item: Any, read: set[str]) -> Any:
    match item:
        case Assign():
            return item if root(item.target) in read else None
        case Comb() | Seq():
            if item.writes and all(root(target) in read for target in item.writes):
                return item
            body = with_assignments(item.body, lambda inner: root(inner.target) in read)
            return replace(item, body=body) if body else None
        case Instance():
            pins = tuple(_pin(pin, read) for pin in item.pins)
            used = any(not pin.is_input and not root(pin.value).startswith(UNUSED) for pin in pins)
            if pins == item.pins:
                return item if used else None
            return replace(item, pins=pins) if used else None
        case Loop():
            inner = tuple(kept for kept in (_item(part, read) for part in item.items) if kept is not None)
            return replace(item, items=inner) if inner else None
    return item


def _pin(pin: Pin, read: set[str]) -> Pin:
    """An output that is not read gets a net whose name says so."""
    name = root(pin.value)
    if pin.is_input or name in read or name.startswith(UNUSED):
        return pin

    def change(node: Expr) -> Expr | None:
        return replace(node, name=f"{UNUSED}{name}") if isinstance(node, Name) and node.name == name else None

    return replace(pin, value=rebuilt(pin.value, change))


def silenced(module: Module) -> Module:
    """A module that reads all bits of its signals, so that lint has nothing to say.

    It names the unread bits, unless their places depend on parameters.
    """
    reasons = {port.name: port.unread for port in module.ports if port.unread}
    masks: dict[str, int] = {}
    for node in bits_read(module):
        masks[root(node)] = masks.get(root(node), 0) | mask_of(node)
    clocked = {"clk"} if module.is_clocked else set()
    written = {root(node) for node in written_in(module.items)}
    signals: list[Port | Net] = [port for port in module.ports if port.is_input and port.name not in clocked]
    signals += (net for net in module.nets if net.name in written)
    unread: dict[str, list[Reference]] = {}
    for item in signals:
        mask, is_whole = masks.get(item.name, 0), _is_apart(item.type) or item.name.startswith(UNUSED)
        missing = (1 << item.type.width) - 1 & ~mask
        if not missing or is_whole:
            continue
        signal = Name(item.name, item.type)
        parts = [*islice(_parts(signal, missing), MOST_PARTS + 1)]
        if not mask:
            unread.setdefault(reasons.get(item.name, WHOLLY), []).append(signal)
        elif module.declared or len(parts) > MOST_PARTS:
            unread.setdefault(PARTLY, []).append(signal)
        else:
            unread.setdefault(BITS, []).extend(parts)
    if not unread:
        return module
    found = Unused(tuple((reason, tuple(parts)) for reason, parts in unread.items()))
    return replace(module, items=(*module.items, found))


def _parts(node: Reference, mask: int) -> Iterator[Reference]:
    """The fields, elements and ranges of a reference that have the bits of a mask, the highest first."""
    kind = node.type
    if mask == (1 << kind.width) - 1 or (mask and isinstance(kind, Enum)):
        yield node
    elif mask and isinstance(kind, Struct):
        for name, field in kind.fields:
            yield from _parts(Field(node, name, field), _bits(mask, kind.low(name), field.width))
    elif mask and isinstance(kind, Array) and kind.element.width > 1:
        for index in reversed(range(kind.size)):
            inner = _bits(mask, index * kind.element.width, kind.element.width)
            yield from _parts(Element(node, Number(32, index), kind.element), inner)
    else:
        while mask:
            high = mask.bit_length()
            low = (mask ^ (1 << high) - 1).bit_length()
            yield Range(node, Number(32, low), Vector(high - low))
            mask = _bits(mask, 0, low)


def _bits(mask: int, low: int, width: int) -> int:
    return mask >> low & (1 << width) - 1


def bits_read(module: Module) -> Iterator[Expr]:
    """The references that a module reads; the bits of a signal if the text of an assertion selects some."""
    for item in module.items:
        if isinstance(item, Assertion):
            for word, behind in pairwise(item.words):
                if not isinstance(word, Name):
                    continue
                bits = SELECTED.match(behind) if isinstance(behind, str) else None
                if bits:
                    low = int(bits[2] or bits[1])
                    yield part(word, low, int(bits[1]) - low + 1)
                elif not (isinstance(behind, str) and behind.startswith(("[", "."))):
                    yield word
        else:
            yield from read_in((item,))


def _is_apart(kind: Type) -> bool:
    return isinstance(kind, Array) and not kind.packed


def with_assignments(body: tuple[Statement, ...], is_kept: Callable[[Assign], bool]) -> tuple[Statement, ...]:
    """Statements with these assignments alone, and none that is empty without the others."""
    return tuple(kept for kept in (_statement(item, is_kept) for item in body) if kept is not None)


def _statement(node: Statement, is_kept: Callable[[Assign], bool]) -> Statement | None:
    match node:
        case Assign():
            return node if is_kept(node) else None
        case If():
            then, other = with_assignments(node.then, is_kept), with_assignments(node.other, is_kept)
            return replace(node, then=then, other=other) if then or other else None
        case Case():
            branches = tuple((value, with_assignments(body, is_kept)) for value, body in node.branches)
            default = with_assignments(node.default, is_kept)
            return (
                replace(node, branches=branches, default=default)
                if default or any(body for _, body in branches)
                else None
            )
        case For():
            body = with_assignments(node.body, is_kept)
            return replace(node, body=body) if body else None
    return node


def _with_pins(module: Module, kept: dict[str, set[str]]) -> Module:
    """Instances without the pins of ports that are gone."""

    def trimmed(item: Any) -> Any:
        if not isinstance(item, Instance) or all(pin.port in kept[item.module] for pin in item.pins):
            return item
        return replace(item, pins=tuple(pin for pin in item.pins if pin.port in kept[item.module]))

    return replace(module, items=tuple(map(trimmed, module.items)))
