"""Removes upper bits of ports and nets that are 0 and that nothing reads. All product units have ports of one
width, and some of them need fewer bits.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
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
    narrowing = _Narrowing(design)
    for module in design.modules:
        narrowing.narrow_nets(module.name)
    for module in design.modules[1:]:
        for port in narrowing.modules[module.name].ports:
            if isinstance(port.type, Vector):
                narrow = narrowing.narrow_input if port.is_input else narrowing.narrow_output
                narrow(module.name, port.name, port.type)
    return Design(
        tuple(
            module if found is module else simplified(found)
            for module, found in zip(design.modules, narrowing.modules.values(), strict=True)
        )
    )


class _Narrowing:
    """The modules of a design by their names, which become narrower one signal at a time."""

    def __init__(self, design: Design) -> None:
        self.modules = {module.name: module for module in design.modules}
        self.owners: dict[str, list[str]] = {}  # of the instances of a module
        for module in design.modules:
            for name in dict.fromkeys(item.module for item in module.instances):
                self.owners.setdefault(name, []).append(module.name)
        self._facts: dict[str, tuple[Module, _Facts]] = {}

    def facts(self, name: str) -> "_Facts":
        module, found = self._facts.get(name, (None, None))
        if found is None or module is not self.modules[name]:
            module, found = self.modules[name], _Facts(self.modules[name])
            self._facts[name] = module, found
        return found

    def narrow_nets(self, name: str) -> None:
        for net in self.modules[name].nets:
            facts = self.facts(name)
            values = facts.values_of(net.name)
            if isinstance(net.type, Vector) and (width := _needed(net.type, facts, net.name, values)):
                self.modules[name] = _narrow(self.modules[name], net.name, width)

    def narrow_input(self, name: str, port: str, kind: Vector) -> None:
        pins = [pin.value for owner in self.owners.get(name, []) for pin in self.pins(owner, name, port)]
        width = _needed(kind, self.facts(name), port, pins)
        if not width:
            return
        self.modules[name] = _narrow(self.modules[name], port, width)

        def narrow(pin: Pin) -> Pin:
            return replace(pin, value=_low_bits(pin.value, width)) if pin.port == port else pin

        def change(node: Any) -> Any:
            if isinstance(node, Instance) and node.module == name:
                return replace(node, pins=tuple(map(narrow, node.pins)))
            return None

        for owner in self.owners[name]:
            module = self.modules[owner]
            self.modules[owner] = replace(module, items=rebuilt(module.items, change))

    def narrow_output(self, name: str, port: str, kind: Vector) -> None:
        """Narrow an output, if it is connected to nets of its own."""
        readers = {}
        for owner in self.owners.get(name, []):
            nets = {net.name for net in self.modules[owner].nets}
            for pin in self.pins(owner, name, port):
                if owner in readers or not isinstance(pin.value, Name) or pin.value.name not in nets:
                    return
                if self.facts(owner).writers[pin.value.name] > 1:
                    return
                readers[owner] = pin.value.name
        read = [self.facts(owner).read_bits[net] for owner, net in readers.items()]
        facts = self.facts(name)
        width = max([*read, facts.read_bits[port]], default=kind.width)
        values = facts.values_of(port)
        if not 0 < width < kind.width or not values or min(map(_zeros, values)) < kind.width - width:
            return
        for owner, net in {name: port, **readers}.items():
            self.modules[owner] = _narrow(self.modules[owner], net, width)

    def pins(self, owner: str, name: str, port: str) -> Iterator[Pin]:
        """The pins of the instances of a module at one of its ports."""
        for item in self.modules[owner].instances:
            if item.module == name:
                yield from (pin for pin in item.pins if pin.port == port)


class _Facts:
    """Readers and writers of the signals of a module."""

    def __init__(self, module: Module) -> None:
        self.writers = Counter(root(target) for target in written_in(module.items))
        self.read_bits: Counter[str] = Counter()  # up to the highest that is read
        for node in bits_read(module):
            name = root(node)
            self.read_bits[name] = max(self.read_bits[name], sum(bits_of(node)))
        self.assigned: dict[str, list[Expr]] = {}  # to the whole of a signal
        for item in module.items:
            if isinstance(item, Assign) and isinstance(item.target, Name):
                self.assigned.setdefault(item.target.name, []).append(item.value)

    def values_of(self, name: str) -> list[Expr]:
        """The values of a signal, if assignments to the whole of it are all that writes it."""
        found = self.assigned.get(name, [])
        return found if len(found) == self.writers[name] else []


def _is(node: Expr, name: str) -> bool:
    return isinstance(node, Name) and node.name == name


def _needed(kind: Vector, facts: _Facts, name: str, values: Sequence[Expr | None]) -> int:
    """How many bits of a signal are read, if the values of the others are 0; 0 if that is all of it."""
    width = facts.read_bits[name]
    zeros = min(map(_zeros, values), default=0)
    return width if 0 < width < kind.width and kind.width - width <= zeros else 0


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
            return replace(node, target=short, value=rebuilt(_low_bits(node.value, width), change))
        if isinstance(node, Range) and _is(node.base, name):
            return part(short, value_of(node.low), node.width)
        return short if _is(node, name) else None

    return replace(
        module,
        ports=tuple(replace(port, type=short.type) if port.name == name else port for port in module.ports),
        nets=tuple(replace(net, type=short.type) if net.name == name else net for net in module.nets),
        items=rebuilt(module.items, change),
    )
