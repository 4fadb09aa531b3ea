"""The tree of a design whose registers, tables and answers a simulation can read and flip.

The hardware is unchanged, except that on request an XOR follows the response of each internal unit, and that
the microinstructions of a ROM are elements of an array, which its case selects.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ...verilog.constants import constant
from ...verilog.paths import instances_of
from ...verilog.print import instance_name
from ...verilog.read import listed
from ...verilog.tree import (
    Array,
    Assign,
    Binary,
    Case,
    Comb,
    Design,
    Element,
    Expr,
    Instance,
    Item,
    Loop,
    Module,
    Name,
    Net,
    Number,
    Reference,
    Seq,
    Statement,
    bits_of,
    mask_of,
    root,
    signal_of,
    walk,
    written_in,
)

PUBLIC = "/*verilator public_flat_rw*/"
ANSWER = "ostream__msg"  # the port of a response
ROM = "MicroRom"  # the class of the ROM of a microprogram
INSTS = "insts"  # the microinstructions of a ROM
UNFLIPPED, FLIP = "_answered", "_flipped"  # suffixes: the response of a unit, and its bits that are flipped


class Kind(Enum):
    """Kind of a signal; the value encodes how long a flip lasts, as in faults.cpp."""

    REGISTER = 1
    ANSWER = 2
    TABLE = 3


@dataclass(frozen=True)
class Observed:
    """A signal that can flip: its path as part of the component, its scope in Verilog, and its name there.

    Both are below the top: units__0.valid is valid in units__0, or in gen_units[0].unit.
    """

    path: str
    scope: str
    name: str
    kind: Kind


def observed(design: Design, *, flips: bool) -> tuple[Design, list[Observed]]:
    """A design with public signals, and these signals. flips: the responses of units are among them."""
    modules, found = [], {}
    for module in design.modules:
        module = _with_array(module)
        module, answers = _with_flips(module) if flips else (module, [])
        kinds = dict.fromkeys(_registers(module), Kind.REGISTER)
        kinds |= dict.fromkeys(_constant_arrays(module), Kind.TABLE)
        kinds |= dict.fromkeys(answers, Kind.ANSWER)
        modules.append(_public(module, kinds))
        found[module.name] = kinds
    design = Design(tuple(modules))
    return design, [*_signals(design, design.top, found, (), ())]


def _signals(
    design: Design,
    module: Module,
    found: Mapping[str, Mapping[str, Kind]],
    path: tuple[str, ...],
    scope: tuple[str, ...],
) -> Iterator[Observed]:
    """The signals of a module and of its instances; found: by module and name."""
    for name, kind in found[module.name].items():
        own = name.removesuffix(FLIP) if kind is Kind.ANSWER else name
        yield Observed(".".join((*path, own)), ".".join(scope), name, kind)
    for part, inner, below in instances_of(design, module):
        part = part.replace("[", "__").replace("]", "")
        yield from _signals(design, below, found, (*path, part), (*scope, inner))


def _public(module: Module, names: Mapping[str, Kind]) -> Module:
    """A module whose signals of these names are public."""

    def marked(signals: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(replace(item, attribute=PUBLIC) if item.name in names else item for item in signals)

    return replace(module, ports=marked(module.ports), nets=marked(module.nets))


# ---- registers and constants


def _registers(module: Module) -> list[str]:
    """The signals that clocked blocks write."""
    blocks = [item for item in walk(module.items) if isinstance(item, Seq)]
    return sorted({root(target) for block in blocks for target in written_in(block)})


def _constant_arrays(module: Module) -> list[str]:
    """The arrays that only constants drive, which a variable index selects from."""
    drivers: dict[str, list[Any]] = {}
    for item in module.items:
        for name in {root(target) for target in written_in(item)}:
            drivers.setdefault(name, []).append(item)
    return [
        net.name
        for net in module.nets
        if isinstance(net.type, Array)
        and net.name in drivers
        and all(isinstance(item, Assign) and constant(item.value) for item in drivers[net.name])
    ]


# ---- microinstructions


def _with_array(module: Module) -> Module:
    """A module whose microinstructions are elements of an array, which the case of the ROM selects."""
    if module.kind != ROM:
        return module
    (block,) = (item for item in module.items if isinstance(item, Comb))
    *idle, case = block.body
    assert isinstance(case, Case)
    (inst,) = {signal_of(target) for target in written_in(block)}
    assert inst is not None
    idle_inst = _assigned(0, idle)
    values = [_assigned(idle_inst, body) for body in (*(body for _, body in case.branches), case.default)]
    insts = Name(INSTS, Array(len(values), inst.type, packed=False))
    places = [_element(insts, Number(32, place)) for place in range(len(values))]
    *bodies, default = ((Assign(inst, place),) for place in places)
    branches = tuple((label, body) for (label, _), body in zip(case.branches, bodies, strict=True))
    selecting = replace(block, body=(replace(case, branches=branches, default=default),))
    driven = (Assign(place, Number(inst.width, value)) for place, value in zip(places, values, strict=True))
    items = (selecting if item is block else item for item in module.items)
    return replace(module, nets=(*module.nets, Net(INSTS, insts.type)), items=(*driven, *items))


def _assigned(inst: int, body: Iterable[Statement]) -> int:
    """The bits of a microinstruction after assignments of constants to some of its fields."""
    for assign in body:
        assert isinstance(assign, Assign)
        number = constant(assign.value)
        assert number is not None
        mask = mask_of(assign.target)
        inst = inst & ~mask | number.value << bits_of(assign.target)[0] & mask
    return inst


# ---- responses of units


def _with_flips(module: Module) -> tuple[Module, list[str]]:
    """A module with an XOR after the response of each unit that a net carries, and the names of the signals
    that flip it: arrays for units in a loop.
    """
    own = {net.name for net in module.nets}
    nets: list[Net] = []
    flips: list[str] = []

    def flipped(items: tuple[Item, ...], loops: tuple[Loop, ...]) -> Iterator[Item]:
        for item in items:
            if isinstance(item, Loop):
                yield replace(item, items=tuple(flipped(item.items, (*loops, item))))
            elif isinstance(item, Instance) and (target := _answer(item)) and root(target) in own:
                name = f"{loops[0].name if loops else instance_name(item)}__{ANSWER}"
                kind = listed(target.type, tuple(loop.count for loop in loops))
                nets.extend((Net(f"{name}{UNFLIPPED}", kind), Net(f"{name}{FLIP}", kind)))
                flips.append(f"{name}{FLIP}")
                true, flip = (_at(Name(net.name, kind), loops) for net in nets[-2:])
                pins = (replace(pin, value=true) if pin.port == ANSWER else pin for pin in item.pins)
                yield replace(item, pins=tuple(pins))
                yield Assign(target, Binary("^", true, flip))
            else:
                yield item

    items = tuple(flipped(module.items, ()))
    return replace(module, nets=(*module.nets, *nets), items=items), flips


def _answer(instance: Instance) -> Reference | None:
    """The reference that the response of an instance drives."""
    for pin in instance.pins:
        if pin.port == ANSWER and not pin.is_input and isinstance(pin.value, Reference):
            return pin.value
    return None


def _at(signal: Reference, loops: tuple[Loop, ...]) -> Reference:
    """The element of an array at this turn of the loops."""
    for loop in loops:
        signal = _element(signal, loop.turn)
    return signal


def _element(array: Reference, index: Expr) -> Element:
    assert isinstance(array.type, Array)
    return Element(array, index, array.type.element)
