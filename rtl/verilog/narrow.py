"""Ports and nets without upper bits that are 0 and not read: all product units have ports of one width, of
which some need less.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from .prune import bits_read
from .simplify import simplified
from .tree import (
    Assign,
    Cast,
    Concat,
    Design,
    Expr,
    Instance,
    Module,
    Mux,
    Name,
    Number,
    Pin,
    Range,
    Vector,
    bits_of,
    part,
    rebuilt,
    root,
    value_of,
    written_in,
)


def narrowed(design: Design) -> Design:
    modules = {module.name: _with_narrow_nets(module) for module in design.modules}
    for name in [*modules][1:]:
        for port in modules[name].ports:
            if isinstance(port.type, Vector):
                (_narrow_input if port.is_input else _narrow_output)(modules, name, port.name, port.type)
    return Design(
        tuple(
            module if modules[module.name] == module else simplified(modules[module.name])
            for module in design.modules
        )
    )


def _with_narrow_nets(module: Module) -> Module:
    for net in module.nets:
        values = _values(module, net.name)
        if isinstance(net.type, Vector) and (width := _needed(net.type, [module], net.name, values)):
            module = _narrow(module, net.name, width)
    return module


def _narrow_input(modules: dict[str, Module], name: str, port: str, kind: Vector) -> None:
    pins = [pin for module in modules.values() for pin in _pins(module, name) if pin.port == port]
    width = _needed(kind, [modules[name]], port, [pin.value for pin in pins])
    if not width:
        return
    modules[name] = _narrow(modules[name], port, width)

    def change(node: Any) -> Any:
        if isinstance(node, Instance) and node.module == name:
            pins = (
                replace(pin, value=_low_bits(pin.value, width)) if pin.port == port else pin
                for pin in node.pins
            )
            return replace(node, pins=tuple(pins))
        return None

    for other, module in modules.items():
        modules[other] = replace(module, items=rebuilt(module.items, change))


def _narrow_output(modules: dict[str, Module], name: str, port: str, kind: Vector) -> None:
    """Narrow an output, if it is connected to nets of its own."""
    readers = {}
    for other, module in modules.items():
        nets = [net.name for net in module.nets]
        for pin in _pins(module, name):
            if pin.port == port:
                if other in readers or not isinstance(pin.value, Name) or pin.value.name not in nets:
                    return
                if len([*_writers(module, pin.value.name)]) > 1:
                    return
                readers[other] = pin.value.name
    read = [_read_bits(modules[other], net) for other, net in readers.items()]
    width = max([*read, _read_bits(modules[name], port)], default=kind.width)
    values = _values(modules[name], port)
    if not 0 < width < kind.width or not values or min(map(_zeros, values)) < kind.width - width:
        return
    modules[name] = _narrow(modules[name], port, width)
    for other, net in readers.items():
        modules[other] = _narrow(modules[other], net, width)


def _pins(module: Module, name: str) -> Iterable[Pin]:
    """The pins of the instances of a module."""
    for item in module.items:
        if isinstance(item, Instance) and item.module == name:
            yield from item.pins


def _writers(module: Module, name: str) -> Iterable[Expr]:
    return (target for target in written_in(module.items) if root(target) == name)


def _values(module: Module, name: str) -> list[Expr]:
    """The values of a signal, if assignments to the whole of it are all that writes it."""
    found = [item.value for item in module.items if isinstance(item, Assign) and _is(item.target, name)]
    return found if len(found) == len([*_writers(module, name)]) else []


def _is(node: Expr, name: str) -> bool:
    return isinstance(node, Name) and node.name == name


def _needed(kind: Vector, readers: list[Module], name: str, values: Sequence[Expr | None]) -> int:
    """How many bits of a signal are read, if the values of the others are 0; 0 if that is all of it."""
    width = max(_read_bits(module, name) for module in readers)
    zeros = min(map(_zeros, values), default=0)
    return width if 0 < width < kind.width and kind.width - width <= zeros else 0


def _read_bits(module: Module, name: str) -> int:
    """The bits of a signal up to the highest that is read."""
    return max((sum(bits_of(node)) for node in bits_read(module) if root(node) == name), default=0)


def _zeros(value: Any) -> int:
    """The upper bits of an expression that are 0."""
    match value:
        case Number():
            return value.width - value.value.bit_length()
        case Concat():
            zeros = _zeros(value.parts[0])
            rest = value.parts[1:]
            return zeros if zeros < value.parts[0].width or not rest else zeros + _zeros(Concat(rest))
        case Mux():
            return min(_zeros(value.then), _zeros(value.other))
        case Cast() if type(value) is Cast:
            return (
                value.size - value.value.width + _zeros(value.value) if value.size > value.value.width else 0
            )
    return 0


def _low_bits(value: Any, width: int) -> Expr:
    """An expression without some of its zeros."""
    if value.width == width:
        return value
    match value:
        case Number():
            return Number(width, value.value)
        case Mux():
            return Mux(value.condition, _low_bits(value.then, width), _low_bits(value.other, width))
        case Concat():
            first, *rest = value.parts
            left = width - sum(item.width for item in rest)
            if left > 0:
                return Concat((_low_bits(first, left), *rest))
            return _low_bits(rest[0] if len(rest) == 1 else Concat(tuple(rest)), width)
        case Cast():
            return Cast(width, value.value) if width > value.value.width else _low_bits(value.value, width)
    raise TypeError(type(value).__name__)


def _narrow(module: Module, name: str, width: int) -> Module:
    """The module with fewer bits of a signal."""
    short = Name(name, Vector(width))

    def change(node: Any) -> Any:
        if isinstance(node, Assign) and _is(node.target, name):
            return Assign(short, rebuilt(_low_bits(node.value, width), change))
        if isinstance(node, Range) and _is(node.base, name):
            return part(short, value_of(node.low), node.width)
        return short if _is(node, name) else None

    return replace(
        module,
        ports=tuple(replace(port, type=short.type) if port.name == name else port for port in module.ports),
        nets=tuple(replace(net, type=short.type) if net.name == name else net for net in module.nets),
        items=rebuilt(module.items, change),
    )
