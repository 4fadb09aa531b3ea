"""Designs without what nothing reads: nets, and ports that no instance needs, clock and reset included."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from .tree import (
    Array,
    Assertion,
    Assign,
    Case,
    Comb,
    Design,
    Expr,
    For,
    If,
    Instance,
    Loop,
    Module,
    Name,
    Net,
    Pin,
    Port,
    Seq,
    Statement,
    Type,
    Unused,
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
PARTLY, WHOLLY = "some bits are not read", "nothing reads it"  # without a reason of the author's


def pruned(design: Design) -> Design:
    """From the top down, as long as something goes."""
    while True:
        modules: list[Module] = []
        needed: dict[str, set[str] | None] = {design.top.name: None}
        for module in design.modules:
            if module.name in needed:
                module = without_unread(module, needed[module.name])
                modules.append(module)
                for item in instances(module):
                    read = {pin.port for pin in item.pins if not root(pin.value).startswith(UNUSED)}
                    needed[item.module] = (needed.get(item.module) or set()) | read
        kept = {module.name: {port.name for port in module.ports} for module in modules}
        found = Design(tuple(_with_pins(module, kept) for module in modules))
        if found == design:
            return design
        design = found


def instances(module: Module) -> list[Instance]:
    return [item for item in walk(module.items) if isinstance(item, Instance)]


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
    clocked = any(isinstance(item, Seq) for item in walk(module.items))
    read |= {"clk"} if clocked else set()
    ports = tuple(port for port in module.ports if needed is None or port.name in read)
    return replace(module, ports=ports, nets=tuple(nets))


def _item(item: Any, read: set[str]) -> Any:
    match item:
        case Assign():
            return item if root(item.target) in read else None
        case Comb() | Seq():
            body = with_assignments(item.body, lambda inner: root(inner.target) in read)
            return replace(item, body=body) if body else None
        case Instance():
            pins = tuple(_pin(pin, read) for pin in item.pins)
            used = any(not pin.is_input and not root(pin.value).startswith(UNUSED) for pin in pins)
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
    """A module that reads all bits of its signals, so that lint has nothing to say."""
    reasons = {port.name: port.unread for port in module.ports if port.unread}
    masks: dict[str, int] = {}
    for node in bits_read(module):
        masks[root(node)] = masks.get(root(node), 0) | mask_of(node)
    clocked = {"clk"} if any(isinstance(item, Seq) for item in walk(module.items)) else set()
    written = {root(node) for node in written_in(module.items)}
    signals: list[Port | Net] = [port for port in module.ports if port.is_input and port.name not in clocked]
    signals += (net for net in module.nets if net.name in written)
    unread: dict[str, list[Name]] = {}
    for item in signals:
        mask, is_whole = masks.get(item.name, 0), _is_apart(item.type) or item.name.startswith(UNUSED)
        if mask != (1 << item.type.width) - 1 and not is_whole:
            reason = PARTLY if mask else reasons.get(item.name, WHOLLY)
            unread.setdefault(reason, []).append(Name(item.name, item.type))
    if not unread:
        return module
    found = Unused(tuple((reason, tuple(names)) for reason, names in unread.items()))
    return replace(module, items=(*module.items, found))


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
        if isinstance(item, Instance):
            return replace(item, pins=tuple(pin for pin in item.pins if pin.port in kept[item.module]))
        return item

    return replace(module, items=tuple(map(trimmed, module.items)))
