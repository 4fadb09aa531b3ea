"""Liberty libraries: what the cells are, how fast they are and what energy they take, as plain data.

An own reader of the Liberty format (Synopsys Liberty user guide: groups, simple and complex attributes, table
templates): one regular expression takes a statement at a time, a stack holds the open groups, and then the
groups that the flow needs become dataclasses. All of NanGate's typical library, 6.7 MB, takes well under a
second, and the result is kept in the cache of builds by the hash of the text. Whatever the units of the file,
values here are fF, ns, nW, fJ, V, um and um^2.

Axes of two-dimensional tables are put in one order, whatever the template's: (slew, load) of delays,
transitions and energies, (slew of the constrained pin, slew of the related one) of constraints.

A file that is cut, damaged or contradicts itself raises BadInput with the number of the line.
"""

from __future__ import annotations

import bisect
import functools
import math
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from ...fl.errors import BadInput
from ...rtl.sim import cache
from . import functions
from .constraints import Constraints
from .kit_file import Cells, Surroundings

Numbers = TypeVar("Numbers", float, np.ndarray)


@dataclass(frozen=True)
class Table:
    """A function of none, one or two variables at the points of a grid; `values[i][j]` belongs to index_1[i],
    index_2[j].

    A variable that the function does not depend on has the one point 0.
    """

    index_1: tuple[float, ...]
    index_2: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    def at(self, first: float, second: float = 0.0) -> float:
        """The value at a point: bilinear between the points of the grid and, on the same planes, beyond them."""
        i, x = _interval(self.index_1, first)
        j, y = _interval(self.index_2, second)
        below, above = self.values[i], self.values[min(i + 1, len(self.values) - 1)]
        after = min(j + 1, len(below) - 1)
        return between(below[j], below[after], above[j], above[after], x, y)


def between(
    low: Numbers, low_after: Numbers, high: Numbers, high_after: Numbers, x: Numbers, y: Numbers
) -> Numbers:
    """Bilinear between four values of a table, at x of the way from `low` to `high`, y of the way from each
    to the one after.
    """
    return (low * (1 - x) + high * x) * (1 - y) + (low_after * (1 - x) + high_after * x) * y


def _interval(axis: tuple[float, ...], at: float) -> tuple[int, float]:
    """Which interval of the axis a value falls into, and where in it; the outer ones reach to infinity."""
    if len(axis) == 1:
        return 0, 0.0
    place = min(max(bisect.bisect_right(axis, at) - 1, 0), len(axis) - 2)
    return place, (at - axis[place]) / (axis[place + 1] - axis[place])


@dataclass(frozen=True)
class Arc:
    """How an output pin follows, or a constrained input pin must wait for, the related pin."""

    related: str
    kind: str  # timing_type: "combinational", "rising_edge", "setup_rising", "hold_rising", "clear", ...
    sense: str  # "positive_unate", "negative_unate", "non_unate" or "" where the file does not say
    when: str  # a condition on the other pins, "" for always
    cell_rise: Table | None = None
    cell_fall: Table | None = None
    rise_transition: Table | None = None
    fall_transition: Table | None = None
    rise_constraint: Table | None = None
    fall_constraint: Table | None = None


@dataclass(frozen=True)
class PowerArc:
    """The energy inside the cell of a transition of the pin it stands at; load and leakage are not in it.

    `related` is the input whose change made an output change; "" at inputs: what a change costs that no
    output follows.
    """

    related: str
    when: str
    rise: Table | None
    fall: Table | None


@dataclass(frozen=True)
class Pin:
    """A pin of a cell; an internal node of a state table is one too."""

    name: str
    direction: str  # "input", "output", "inout", "internal"
    cap_ff: float
    cap_rise_ff: float
    cap_fall_ff: float
    max_cap_ff: float | None
    function: str  # of an output; of a clock gate's output, its state_function
    three_state: str  # when the output does not drive, "" for never
    clock: bool  # the clock of a flip-flop, latch or clock gate
    timing: tuple[Arc, ...]
    power: tuple[PowerArc, ...]


@dataclass(frozen=True)
class FlipFlop:
    """State (`state`, and its complement `inverse`) that takes `next_state` when `clocked_on` becomes true."""

    state: str
    inverse: str
    clocked_on: str
    next_state: str
    clear: str
    preset: str


@dataclass(frozen=True)
class Latch:
    """State that follows `data_in` while `enable` is true."""

    state: str
    inverse: str
    enable: str
    data_in: str
    clear: str
    preset: str


@dataclass(frozen=True)
class ClockGate:
    """An integrated clock gate: its style, such as "latch_posedge", and the pins by role."""

    style: str
    clock: str
    enable: str
    test: str  # "" where there is none
    output: str


@dataclass(frozen=True)
class Cell:
    """A cell of the library."""

    name: str
    area: float
    leakage_nw: float
    leakage_states: tuple[tuple[str, float], ...]  # (condition on the pins, nW)
    pins: dict[str, Pin]
    ff: FlipFlop | None
    latch: Latch | None
    clock_gate: ClockGate | None

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, pin in self.pins.items() if pin.direction == "input")

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(name for name, pin in self.pins.items() if pin.direction == "output")

    @property
    def sequential(self) -> bool:
        """Whether the cell has a state."""
        return bool(self.ff or self.latch or self.clock_gate)

    @property
    def gate_state(self) -> str:
        """The name that the output's function has for the state of a clock gate."""
        assert self.clock_gate is not None
        function = functions.parse(self.pins[self.clock_gate.output].function)
        return next(name for name in function.inputs if name not in self.inputs)


@dataclass(frozen=True)
class WireLoad:
    """A guess of a net's wire from its fan-out: length by table, beyond its end by the slope."""

    name: str
    cap_ff_per_um: float
    res_kohm_per_um: float
    slope_um: float
    lengths_um: dict[int, float]

    def length_um(self, fanout: int) -> float:
        """Between the points of the table the length is interpolated, below the first it is extrapolated from
        two.
        """
        points = sorted(self.lengths_um.items())
        if not fanout or not points:
            return fanout * self.slope_um
        last, length = points[-1]
        if fanout >= last:
            return length + (fanout - last) * self.slope_um
        for (low, at_low), (high, at_high) in pairwise(points):
            if fanout <= high:
                return at_low + (fanout - low) * (at_high - at_low) / (high - low)
        return length

    def cap_ff(self, fanout: int) -> float:
        return self.length_um(fanout) * self.cap_ff_per_um


@dataclass(frozen=True)
class Library:
    """A library at one corner."""

    name: str
    voltage: float
    temperature: float
    slew_share: float  # fraction of the supply swing that a library slew covers
    cells: dict[str, Cell]
    wire_loads: dict[str, WireLoad] = field(default_factory=dict)
    default_wire_load: str = ""
    kit: tuple[Cells, Surroundings] | None = None  # the kit's part of it, see kit.Kit.library

    @property
    def corner(self) -> str:
        """In words."""
        return f"{self.name}, {self.voltage} V, {self.temperature} C"

    @property
    def roles(self) -> Cells:
        """Which cell does what; BadInput of a library that was read without its kit."""
        return self._of_kit()[0]

    @property
    def surroundings(self) -> Surroundings:
        """What stands around a design of these cells."""
        return self._of_kit()[1]

    def constraints(self, clock_ns: float, clock_port: str | None = "clk", **others: Any) -> Constraints:
        """A clock, and around the design what stands around all designs in this kit."""
        outside = self.surroundings
        given: dict[str, Any] = {
            "driving_cell": outside.driving_cell,
            "output_load_ff": outside.output_load_ff,
            "input_hold_ns": outside.input_hold_ns,
            "clock_slew_ns": outside.clock_slew_ns,
        }
        return Constraints(clock_ns, clock_port, **(given | others))

    def _of_kit(self) -> tuple[Cells, Surroundings]:
        if self.kit is None:
            raise BadInput(
                f"the library {self.name} was read without its kit, which names cells by role: take "
                "kit.find().library"
            )
        return self.kit


def load(path: str | Path) -> Library:
    """The library in this file."""
    path = Path(path)
    try:
        text = path.read_text()
    except OSError as error:
        raise BadInput(f"the Liberty file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}, line {line}: not text, so that this is no Liberty file") from None

    def make(directory: Path) -> Path:
        product = directory / "liberty"
        product.write_bytes(pickle.dumps(parse(text, str(path)), pickle.HIGHEST_PROTOCOL))
        return product

    # the reader's own text is part of the key: another version of it makes other data
    entry = cache.cached(f"liberty-{cache.key(text, Path(__file__).read_text())}", make)
    return _unpickled(entry)


@functools.lru_cache(maxsize=4)
def _unpickled(entry: Path) -> Library:
    return pickle.loads(entry.read_bytes())


def parse(text: str, source: str = "Liberty text") -> Library:
    """The library in this text; messages name the `source`."""
    return _Reader(text, source).library()


# A statement: `name : value ;`, `name (arguments) ;`, `name (arguments) {` or the `}` of a group, after space
# and comments.
# The semicolon at the end of a line may be missing. No pattern here tries a text in two ways: all take linear
# time.
SPACE = r"(?:[\s;]|/\*.*?\*/|//[^\n]*|\\\n)*"
STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
PLAIN = r'[^()"{};]*'
STATEMENT = re.compile(
    rf"""{SPACE}(?:
        (?P<name>\w+)\s*(?:
            : [ \t]* (?P<value> {STRING} | [^\s;{{}}"] [^;{{}}\n"]* ) [ \t]* (?= [;\n}}/] )
          | \( (?P<arguments> {PLAIN} (?: {STRING} {PLAIN} )* ) \) \s* (?: (?P<open>\{{) | (?=[;\w}}/]) )
        )
      | (?P<close>\}})
    )""",
    re.VERBOSE | re.DOTALL,
)
REST = re.compile(SPACE, re.DOTALL)
SEPARATORS = re.compile(r'[\s,"\\]+')
NO_NUMBER = str.maketrans(',"\\', "   ")
PREFIX = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3}
UNIT = re.compile(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*([fpnumk]?)([a-z]+)\s*", re.IGNORECASE)


@dataclass
class _Group:
    name: str
    arguments: str
    offset: int
    attributes: dict[str, tuple[str, int]] = field(default_factory=dict)
    repeated: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    groups: dict[str, list[_Group]] = field(default_factory=dict)

    def of(self, name: str) -> list[_Group]:
        return self.groups.get(name, [])


class _Reader:
    """One file on its way from text to Library."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.text = text
        self.axes: dict[tuple[str, float], tuple[float, ...]] = {}  # few of them are different
        self.templates: dict[str, _Group] = {}
        self.time = self.cap = self.leakage = self.resistance = 1.0
        self.energy = 1.0

    # -- text to groups
    # ---------------------------------------------------------------------------------------------

    def refuse(self, offset: int, reason: str) -> NoReturn:
        line = self.text.count("\n", 0, offset) + 1
        raise BadInput(f"{self.source}, line {line}: {reason}: this Liberty file is damaged")

    def tree(self) -> _Group:
        text, position = self.text, 0
        root = _Group("", "", 0)
        stack = [root]
        while match := STATEMENT.match(text, position):
            position = match.end()
            name, group = match["name"], stack[-1]
            if name is None:
                if len(stack) == 1:
                    self.refuse(match.start("close"), "a `}` that closes nothing")
                stack.pop()
            elif match["value"] is not None:
                group.attributes[name] = (match["value"].strip().strip('"'), match.start("name"))
            elif match["open"]:
                inner = _Group(name, match["arguments"].strip(), match.start("name"))
                group.groups.setdefault(name, []).append(inner)
                stack.append(inner)
            else:
                argument = (match["arguments"].strip(), match.start("name"))
                group.attributes[name] = argument
                group.repeated.setdefault(name, []).append(argument)
        rest = REST.match(text, position)
        position = rest.end() if rest else position
        if position < len(text):
            self.refuse(position, f"cannot read {text[position : position + 40].splitlines()[0]!r}")
        if len(stack) > 1:
            self.refuse(stack[-1].offset, f"the group {stack[-1].name} ({stack[-1].arguments}) never ends")
        return root

    # -- groups to values
    # -------------------------------------------------------------------------------------------

    def number(self, group: _Group, name: str, default: float | None = None) -> float:
        if name not in group.attributes:
            if default is None:
                self.refuse(group.offset, f"{group.name} ({group.arguments}) has no {name}")
            return default
        text, offset = group.attributes[name]
        return self.numbers(text, offset, 1)[0]

    def numbers(self, text: str, offset: int, count: int | None = None) -> tuple[float, ...]:
        try:
            values = tuple(map(float, text.translate(NO_NUMBER).split()))
        except ValueError as error:
            self.refuse(offset, str(error))
        if count is not None and len(values) != count:
            self.refuse(offset, f"{len(values)} numbers where there should be {count}")
        if not math.isfinite(sum(values)):
            self.refuse(offset, "a number that is not finite")
        return values

    @staticmethod
    def word(group: _Group, name: str) -> str:
        return group.attributes.get(name, ("", 0))[0]

    def unit(self, group: _Group, name: str, base: str, default: float) -> float:
        """The value of a unit such as "1ns" in the SI's."""
        if name not in group.attributes:
            return default
        text, offset = group.attributes[name]
        match = UNIT.fullmatch(text)
        if match is None or match[3].lower() != base:
            self.refuse(offset, f"{name} {text!r} is no unit of {base}")
        return float(match[1]) * PREFIX[match[2].lower()]

    def units(self, library: _Group) -> None:
        self.time = self.unit(library, "time_unit", "s", 1e-9) / 1e-9
        self.leakage = self.unit(library, "leakage_power_unit", "w", 1e-9) / 1e-9
        self.resistance = self.unit(library, "pulling_resistance_unit", "ohm", 1e3) / 1e3
        voltage = self.unit(library, "voltage_unit", "v", 1.0)
        farad = 1e-12
        if "capacitive_load_unit" in library.attributes:
            text, offset = library.attributes["capacitive_load_unit"]
            match = UNIT.fullmatch(text.replace(",", " ").replace('"', " "))
            if match is None or match[3].lower() != "f":
                self.refuse(offset, f"capacitive_load_unit ({text}) is no unit of F")
            farad = float(match[1]) * PREFIX[match[2].lower()]
        self.cap = farad / 1e-15
        self.energy = (
            farad * voltage**2 / 1e-15
        )  # of internal power: the format has no unit of its own for it

    def axis(self, text: str, offset: int, unit: float) -> tuple[float, ...]:
        points = self.axes.get((text, unit))
        if points is None:
            points = tuple(point * unit for point in self.numbers(text, offset))
            if not points or any(a >= b for a, b in pairwise(points)):
                self.refuse(offset, f"the points of the axis do not rise: {text}")
            self.axes[text, unit] = points
        return points

    def table(self, parent: _Group, name: str, scale: float) -> Table | None:
        if not (groups := parent.of(name)):
            return None
        group = groups[0]
        template = self.templates.get(group.arguments.strip('"'))
        if template is None and group.arguments not in ("scalar", ""):
            self.refuse(group.offset, f"{name} has the unknown template {group.arguments}")
        axes: list[tuple[str, tuple[float, ...]]] = []
        for number in (1, 2, 3):
            kind = self.word(template, f"variable_{number}") if template else ""
            holder = next((g for g in (group, template) if g and f"index_{number}" in g.attributes), None)
            if holder is None:
                continue
            unit = self.cap if "capacitance" in kind else self.time
            axes.append((kind, self.axis(*holder.attributes[f"index_{number}"], unit)))
        if len(axes) > 2:
            self.refuse(group.offset, f"{name} has three variables, which is not supported")
        if "values" not in group.attributes:
            self.refuse(group.offset, f"{name} has no values")
        first, second = (axes + [("", (0.0,))] * 2)[:2]
        text, offset = group.attributes["values"]
        flat = self.numbers(text, offset, len(first[1]) * len(second[1]))
        if scale != 1:
            flat = tuple(value * scale for value in flat)
        width = len(second[1])
        values = tuple([flat[i : i + width] for i in range(0, len(flat), width)])
        if "capacitance" in first[0] or (first[0] == "related_pin_transition" and second[0]):
            first, second, values = second, first, tuple(zip(*values, strict=True))
        return Table(first[1], second[1], values)

    # -- values to data
    # ---------------------------------------------------------------------------------------------

    def library(self) -> Library:
        root = self.tree()
        libraries = root.of("library")
        if len(libraries) != 1:
            raise BadInput(
                f"{self.source}: no Liberty file, it has {len(libraries)} library groups and not one"
            )
        library = libraries[0]
        self.units(library)
        for kind in ("lu_table_template", "power_lut_template"):
            self.templates |= {group.arguments.strip('"'): group for group in library.of(kind)}
        cells: dict[str, Cell] = {}
        default_leakage = self.number(library, "default_cell_leakage_power", 0.0)
        default_cap = self.number(library, "default_input_pin_cap", 0.0)
        for group in library.of("cell"):
            cell = self.cell(group, default_leakage, default_cap)
            if cell.name in cells:
                self.refuse(group.offset, f"a second cell {cell.name}")
            cells[cell.name] = cell
        if not cells:
            self.refuse(library.offset, "a library without cells")
        wire_loads = {wire_load.name: wire_load for wire_load in map(self.wire_load, library.of("wire_load"))}
        # a slew is the time between two thresholds; Liberty's own are 80 and 20 %
        upper = self.number(library, "slew_upper_threshold_pct_rise", 80.0)
        lower = self.number(library, "slew_lower_threshold_pct_rise", 20.0)
        derate = self.number(library, "slew_derate_from_library", 1.0)
        return Library(
            name=library.arguments.strip('"'),
            voltage=self.number(library, "nom_voltage", 1.0),
            temperature=self.number(library, "nom_temperature", 25.0),
            slew_share=(upper - lower) / 100 / derate,
            cells=cells,
            wire_loads=wire_loads,
            default_wire_load=self.word(library, "default_wire_load"),
        )

    def wire_load(self, group: _Group) -> WireLoad:
        lengths = {}
        for text, offset in group.repeated.get("fanout_length", []):
            fanout, length = self.numbers(text, offset)[:2]
            lengths[int(fanout)] = length
        return WireLoad(
            name=group.arguments.strip('"'),
            cap_ff_per_um=self.number(group, "capacitance") * self.cap,
            res_kohm_per_um=self.number(group, "resistance", 0.0) * self.resistance,
            slope_um=self.number(group, "slope", 0.0),
            lengths_um=lengths,
        )

    def cell(self, group: _Group, default_leakage: float, default_cap: float) -> Cell:
        pins = {}
        for pin_group in group.of("pin"):
            for name in SEPARATORS.split(pin_group.arguments.strip('"')):
                if name in pins:
                    self.refuse(pin_group.offset, f"a second pin {name} of {group.arguments}")
                pins[name] = self.pin(name, pin_group, default_cap)
        for pin in pins.values():
            for related in (*(arc.related for arc in pin.timing), *(arc.related for arc in pin.power)):
                if related and related not in pins:
                    self.refuse(group.offset, f"{group.arguments}/{pin.name} relates to no pin {related}")
        states = tuple(
            (self.word(item, "when"), self.number(item, "value") * self.leakage)
            for item in group.of("leakage_power")
        )
        leakage = self.number(group, "cell_leakage_power", default_leakage) * self.leakage
        return Cell(
            name=group.arguments.strip('"'),
            area=self.number(group, "area", 0.0),
            leakage_nw=leakage,
            leakage_states=states,
            pins=pins,
            ff=self.flip_flop(group),
            latch=self.latch(group),
            clock_gate=self.clock_gate(group),
        )

    def pin(self, name: str, group: _Group, default_cap: float) -> Pin:
        direction = self.word(group, "direction")
        if direction not in ("input", "output", "inout", "internal"):
            self.refuse(group.offset, f"pin {name} has the direction {direction!r}")
        cap = self.number(group, "capacitance", default_cap if direction == "input" else 0.0) * self.cap
        max_cap = self.number(group, "max_capacitance", 0.0) * self.cap
        return Pin(
            name=name,
            direction=direction,
            cap_ff=cap,
            cap_rise_ff=self.number(group, "rise_capacitance", cap / self.cap) * self.cap,
            cap_fall_ff=self.number(group, "fall_capacitance", cap / self.cap) * self.cap,
            max_cap_ff=max_cap or None,
            function=self.word(group, "function") or self.word(group, "state_function"),
            three_state=self.word(group, "three_state"),
            clock="true" in (self.word(group, "clock"), self.word(group, "clock_gate_clock_pin")),
            timing=tuple(arc for item in group.of("timing") for arc in self.arcs(item)),
            power=tuple(arc for item in group.of("internal_power") for arc in self.power_arcs(item)),
        )

    def arcs(self, group: _Group) -> Iterator[Arc]:
        tables = {
            name: self.table(group, name, self.time)
            for name in (
                "cell_rise",
                "cell_fall",
                "rise_transition",
                "fall_transition",
                "rise_constraint",
                "fall_constraint",
            )
        }
        for related in self.related(group):
            yield Arc(
                related=related,
                kind=self.word(group, "timing_type") or "combinational",
                sense=self.word(group, "timing_sense"),
                when=self.word(group, "when"),
                **tables,
            )

    def power_arcs(self, group: _Group) -> Iterator[PowerArc]:
        rise, fall = (self.table(group, name, self.energy) for name in ("rise_power", "fall_power"))
        if both := self.table(group, "power", self.energy):
            rise = fall = both
        for related in self.related(group):
            yield PowerArc(related, self.word(group, "when"), rise, fall)

    def related(self, group: _Group) -> list[str]:
        return [name for name in SEPARATORS.split(self.word(group, "related_pin")) if name] or [""]

    def state_names(self, group: _Group) -> tuple[str, str]:
        names = [name for name in SEPARATORS.split(group.arguments) if name]
        if len(names) != 2:
            self.refuse(group.offset, f"{group.name} ({group.arguments}) names no state and its inverse")
        return names[0], names[1]

    def flip_flop(self, cell: _Group) -> FlipFlop | None:
        if not (groups := cell.of("ff")):
            return None
        words = (self.word(groups[0], name) for name in ("clocked_on", "next_state", "clear", "preset"))
        return FlipFlop(*self.state_names(groups[0]), *words)

    def latch(self, cell: _Group) -> Latch | None:
        if not (groups := cell.of("latch")):
            return None
        words = (self.word(groups[0], name) for name in ("enable", "data_in", "clear", "preset"))
        return Latch(*self.state_names(groups[0]), *words)

    def clock_gate(self, cell: _Group) -> ClockGate | None:
        if not (style := self.word(cell, "clock_gating_integrated_cell")):
            return None

        def role(attribute: str) -> str:
            pins = (group for group in cell.of("pin") if self.word(group, attribute) == "true")
            return next((pin.arguments.strip('"') for pin in pins), "")

        return ClockGate(
            style=style,
            clock=role("clock_gate_clock_pin"),
            enable=role("clock_gate_enable_pin"),
            test=role("clock_gate_test_pin"),
            output=role("clock_gate_out_pin"),
        )
