"""Liberty libraries as plain data: cells with their functions, timing and energy.

This reader of the Liberty format (Synopsys Liberty user guide: groups, simple and complex attributes, table
templates) matches one statement at a time with a regular expression, keeps the open groups on a stack, and
converts the groups that the flow needs to dataclasses. NanGate's typical library, 6.7 MB, takes less than a
second; the result is kept in the cache of builds under the hash of the text. Values are in fF, ns, nW, fJ, V,
um and um^2, whatever the units of the file.

The axes of two-dimensional tables have a fixed order, whatever the template's: (slew, load) for delays,
transitions and energies, (slew of the constrained pin, slew of the related pin) for constraints.

A truncated, damaged or inconsistent file raises BadInput with the line number.
"""

import bisect
import functools
import gzip
import math
import pickle
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...fl.errors import BadInput
from ...fl.input_file import read_bytes, read_text
from ...rtl.sim import cache
from . import functions
from .constraints import Constraints
from .kit_file import Adder, Cells, KitFile, of_kit

Numbers = TypeVar("Numbers", float, np.ndarray)


@dataclass(frozen=True)
class Table:
    """A function of up to two variables on a grid; `values[i][j]` belongs to index_1[i], index_2[j].

    A variable that the function does not depend on has the single point 0.
    """

    index_1: tuple[float, ...]
    index_2: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    def at(self, first: float, second: float = 0.0) -> float:
        """The value at a point: bilinear interpolation, with linear extrapolation beyond the grid."""
        i, x = _interval(self.index_1, first)
        j, y = _interval(self.index_2, second)
        below, above = self.values[i], self.values[min(i + 1, len(self.values) - 1)]
        after = min(j + 1, len(below) - 1)
        return between(below[j], below[after], above[j], above[after], x, y)


def between(
    low: Numbers, low_after: Numbers, high: Numbers, high_after: Numbers, x: Numbers, y: Numbers
) -> Numbers:
    """Bilinear interpolation between four values of a table; x goes from `low` to `high`, y from each of them
    to the one after it.
    """
    return (low * (1 - x) + high * x) * (1 - y) + (low_after * (1 - x) + high_after * x) * y


def _interval(axis: tuple[float, ...], at: float) -> tuple[int, float]:
    """The interval of an axis for a value, and the position in it; the outer intervals are unbounded."""
    if len(axis) == 1:
        return 0, 0.0
    place = min(max(bisect.bisect_right(axis, at) - 1, 0), len(axis) - 2)
    return place, (at - axis[place]) / (axis[place + 1] - axis[place])


@dataclass(frozen=True)
class Arc:
    """A timing arc: the delay of an output pin, or the constraint of an input pin, relative to the related
    pin.
    """

    related: str
    kind: str  # timing_type: "combinational", "rising_edge", "setup_rising", "hold_rising", "clear", ...
    sense: str  # "positive_unate", "negative_unate", "non_unate" or "" if not stated
    when: str  # a condition on the other pins, "" for always
    cell_rise: Table | None = None
    cell_fall: Table | None = None
    rise_transition: Table | None = None
    fall_transition: Table | None = None
    rise_constraint: Table | None = None
    fall_constraint: Table | None = None


@dataclass(frozen=True)
class PowerArc:
    """The internal energy of a cell per transition of the pin; load and leakage are not included.

    `related` is the input that caused the transition of an output; "" for an input: the energy of its
    transition when no output follows.
    """

    related: str
    when: str
    rise: Table | None
    fall: Table | None


@dataclass(frozen=True)
class Pin:
    """A pin of a cell, or an internal node of a state table."""

    name: str
    direction: str  # "input", "output", "inout", "internal"
    cap_ff: float
    cap_rise_ff: float
    cap_fall_ff: float
    max_cap_ff: float | None
    function: str  # of an output; of a clock gate's output, its state_function
    three_state: str  # condition under which the output does not drive; "": never
    clock: bool  # the clock of a flip-flop, latch or clock gate
    timing: tuple[Arc, ...]
    power: tuple[PowerArc, ...]

    @property
    def logic(self) -> functions.Function:
        """The function, parsed."""
        return functions.parse(self.function)


@dataclass(frozen=True)
class Register:
    """The state (complement: `inverse`) of a flip-flop, which becomes `data` when `clock` becomes true, or of
    a latch, which follows `data` while `clock` is true.
    """

    state: str
    inverse: str
    clock: str
    data: str
    clear: str
    preset: str


# the attributes with a register's clock and data, by its group
REGISTERS = {"ff": ("clocked_on", "next_state"), "latch": ("enable", "data_in")}


@dataclass(frozen=True)
class ClockGate:
    """An integrated clock gate: its style, such as "latch_posedge", and the pins by role."""

    style: str
    clock: str
    enable: str
    test: str  # "" if there is none
    output: str


@dataclass(frozen=True)
class Cell:
    """A cell of the library."""

    name: str
    area: float
    leakage_nw: float
    leakage_states: tuple[tuple[str, float], ...]  # (condition on the pins, nW)
    pins: dict[str, Pin]
    ff: Register | None
    latch: Register | None
    clock_gate: ClockGate | None
    dont_use: bool = False  # only for roles that name it

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, pin in self.pins.items() if pin.direction == "input")

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(name for name, pin in self.pins.items() if pin.direction == "output")

    @property
    def input_pin(self) -> Pin:
        """The first input."""
        return self.pins[self.inputs[0]]

    @property
    def output_pin(self) -> Pin:
        """The first output."""
        return self.pins[self.outputs[0]]

    @property
    def register(self) -> Register | None:
        """The flip-flop or latch."""
        return self.ff or self.latch

    @property
    def sequential(self) -> bool:
        """Whether the cell has a state."""
        return bool(self.register or self.clock_gate)

    @property
    def resets(self) -> tuple[str, ...]:
        """The pins that clear or preset a flip-flop or latch."""
        state = self.register
        texts = [text for text in (state.clear, state.preset) if text] if state else []
        return tuple(pin for text in texts for pin in functions.parse(text).inputs)

    @property
    def gate_state(self) -> str:
        """The name of a clock gate's state in the function of its output."""
        assert self.clock_gate is not None
        function = self.pins[self.clock_gate.output].logic
        return next(name for name in function.inputs if name not in self.inputs)


@dataclass(frozen=True)
class WireLoad:
    """A wire-load model: the length of a net's wire by fan-out, from a table and a slope beyond its end."""

    name: str
    cap_ff_per_um: float
    res_kohm_per_um: float
    slope_um: float
    lengths_um: dict[int, float]

    def length_um(self, fanout: int) -> float:
        """The length for a fan-out: interpolated in the table, extrapolated below its first point."""
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
    cap_unit_ff: float = 1.0  # of the file
    described: KitFile | None = None  # the description of its kit, see kit.Kit.library

    @property
    def corner(self) -> str:
        """The conditions of the library as text."""
        return f"{self.name}, {self.voltage} V, {self.temperature} C"

    @property
    def kit(self) -> KitFile:
        """The description of the kit; BadInput if the library was read without it."""
        return of_kit(self.described, f"the library {self.name}")

    @property
    def roles(self) -> Cells:
        """The cells by role."""
        return self.kit.cells

    def complemented(self, adder: Adder) -> tuple[bool, bool]:
        """Whether the sum and the carry of this adder are inverted."""
        inputs = dict.fromkeys(adder.inputs, 1)
        pins = self.cells[adder.cell].pins
        total = pins[adder.sum].logic.value(**{adder.inputs[0]: 1})
        carry = pins[adder.carry].logic.value(**inputs)
        return not total, not carry

    @property
    def bit_product_um2(self) -> float | None:
        """The area of one bit product in a multiplier whose rows process two bits of a factor; None for a
        library without the cells.

        Each bit of such a row has one gate that selects 0, X, 2X or 3X and one full adder that adds the
        selection: two bit products.
        """
        adder, selector = self.roles.full_adder, self.roles.selector
        if adder is None or not selector:
            return None
        return (self.cells[selector].area + self.cells[adder.cell].area) / 2

    def constraints(self, clock_ns: float, clock_port: str | None = "clk", **others: Any) -> Constraints:
        """The constraints for this period, in the kit's environment for all designs."""
        given = {name: getattr(self.kit.constraints, name) for name in OUTSIDE}
        return Constraints(clock_ns, clock_port, **(given | others))


UNITS = ("time_unit", "voltage_unit", "leakage_power_unit", "pulling_resistance_unit", "capacitive_load_unit")
SHARED = ("lu_table_template", "power_lut_template", "cell")  # groups that are joined from several files
OUTSIDE = ("driving_cell", "output_load_ff", "input_hold_ns", "clock_slew_ns", "derate")


def content(path: Path) -> str:
    """The text of a Liberty file, which may be compressed by gzip."""
    remedy = "give a Liberty file"
    if path.suffix != ".gz":
        return read_text(path, remedy)
    try:
        return gzip.decompress(read_bytes(path, remedy)).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as gzip: {error}; {remedy}") from None


def join(paths: Sequence[Path], unused: Callable[[str], bool], roles: Collection[str]) -> str:
    """Join Liberty files into one library: that of the first path, with the cells and templates of the
    others. Cells that are `unused` or have dont_use are left out, or only marked if they have a role.
    """
    pieces: list[str] = []
    known: dict[tuple[str, str], str] = {}
    for path in paths:
        text = content(path)
        root = _library(text, str(path))
        begin = root.offset if path == paths[0] else root.end  # of the text that is not yet in the pieces
        shared = [group for kind in SHARED for group in root.groups.get(kind, ())]
        for group in sorted(shared, key=lambda group: group.offset):
            body = text[group.offset : group.end]
            key = (group.name, group.argument)
            if group.name == "cell" and (unused(group.argument) or group.word("dont_use") == "true"):
                head, brace, rest = body.partition("{")
                body = f"{head}{brace}\n    dont_use : true ;{rest}" if group.argument in roles else ""
            if " ".join(known.setdefault(key, body).split()) != " ".join(body.split()):
                line = text.count("\n", 0, group.offset) + 1
                raise BadInput(f"{path}, line {line}: expected one {' '.join(key)}, and this is another")
            if path == paths[0]:
                pieces += text[begin : group.offset], body
                begin = group.end
            else:
                pieces.append(f"\n{body}")
        if path == paths[0]:
            pieces.append(text[begin : root.end - 1])
            units = {name: _words(root.word(name)) for name in UNITS}
        for name, unit in units.items():
            if _words(root.word(name)) != unit:
                raise BadInput(f"{path}: expected {name} {' '.join(unit)} as in {paths[0]}")
    return "".join((*pieces, "\n}\n"))


def load(path: Path) -> Library:
    """The library in a file, from the cache if it is there."""
    text = content(path)

    def make(directory: Path) -> Path:
        product = directory / "liberty"
        product.write_bytes(pickle.dumps(parse(text, str(path)), pickle.HIGHEST_PROTOCOL))
        return product

    # the reader's own text is part of the key, as it determines the data
    entry = cache.cached(f"liberty-{cache.key(text, Path(__file__).read_text())}", make)
    return _unpickled(entry)


@functools.lru_cache(maxsize=4)
def _unpickled(entry: Path) -> Library:
    return pickle.loads(entry.read_bytes())


def parse(text: str, source: str = "Liberty text") -> Library:
    """The library in a text; error messages name the `source`."""
    with _lines(text, source):
        return _Reader(_library(text, source)).library()


def _library(text: str, source: str) -> "_Group":
    """The library group in a text."""
    with _lines(text, source):
        libraries = _tree(text).groups.get("library", [])
    if len(libraries) != 1:
        raise BadInput(f"{source}: no Liberty file, it has {len(libraries)} library groups and not one")
    return libraries[0]


@contextmanager
def _lines(text: str, source: str) -> Iterator[None]:
    """Report damage with its line number."""
    try:
        yield
    except _Damage as damage:
        offset, reason = damage.args
        line = text.count("\n", 0, offset) + 1
        raise BadInput(f"{source}, line {line}: {reason}: this Liberty file is damaged") from None


class _Damage(Exception):
    """Damage in the text: its offset and the reason."""


# A statement: `name : value ;`, `name (arguments) ;`, `name (arguments) {` or the `}` of a group, after space
# and comments.
# The semicolon at the end of a line may be missing. No pattern matches a text in two ways, so that all take
# linear time.
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
NO_WORD = str.maketrans(',"\\', "   ")
PREFIX = {"f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3}
UNIT = re.compile(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*([fpnumk]?)([a-z]+)\s*", re.IGNORECASE)
TABLES = tuple(column.name for column in fields(Arc) if column.default is None)


def _words(text: str) -> list[str]:
    """The names or numbers in a text."""
    return text.translate(NO_WORD).split()


def _numbers(text: str, offset: int, count: int | None = None) -> tuple[float, ...]:
    try:
        values = tuple(map(float, _words(text)))
    except ValueError as error:
        raise _Damage(offset, str(error)) from None
    if count is not None and len(values) != count:
        raise _Damage(offset, f"{len(values)} numbers where there should be {count}")
    if not math.isfinite(sum(values)):
        raise _Damage(offset, "a number that is not finite")
    return values


@dataclass
class _Group:
    """A group: its inner groups, and its attributes as texts with their offsets."""

    name: str
    argument: str
    offset: int
    end: int = 0  # after its closing brace
    attributes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    groups: "dict[str, list[_Group]]" = field(default_factory=dict)

    def word(self, name: str) -> str:
        return self.attributes[name][-1][0] if name in self.attributes else ""

    def number(self, name: str, default: float | None = None) -> float:
        if name in self.attributes:
            return _numbers(*self.attributes[name][-1], 1)[0]
        if default is None:
            raise _Damage(self.offset, f"{self.name} ({self.argument}) has no {name}")
        return default

    def unit(self, name: str, base: str, default: float) -> float:
        """A unit such as "1ns" or (1, ns) in SI units."""
        if name not in self.attributes:
            return default
        text, offset = self.attributes[name][-1]
        match = UNIT.fullmatch(text.translate(NO_WORD))
        if match is None or match[3].lower() != base:
            raise _Damage(offset, f"{name} {text!r} is no unit of {base}")
        return float(match[1]) * PREFIX[match[2].lower()]


def _tree(text: str) -> _Group:
    """The groups of a text."""
    position = 0
    stack = [_Group("", "", 0)]
    while match := STATEMENT.match(text, position):
        position = match.end()
        name, group = match["name"], stack[-1]
        if name is None:
            if len(stack) == 1:
                raise _Damage(match.start("close"), "a `}` that closes nothing")
            stack.pop().end = position
            continue
        value = (match["value"] or match["arguments"]).strip()
        if match["open"]:
            inner = _Group(name, value.strip('"'), match.start("name"))
            group.groups.setdefault(name, []).append(inner)
            stack.append(inner)
        else:
            value = value.strip('"') if match["value"] else value
            group.attributes.setdefault(name, []).append((value, match.start("name")))
    rest = REST.match(text, position)
    position = rest.end() if rest else position
    if position < len(text):
        raise _Damage(position, f"cannot read {text[position : position + 40].splitlines()[0]!r}")
    if len(stack) > 1:
        raise _Damage(stack[-1].offset, f"the group {stack[-1].name} ({stack[-1].argument}) never ends")
    return stack[0]


class _Reader:
    """Converts the groups of one library to data."""

    def __init__(self, root: _Group) -> None:
        self.root = root
        self.axes: dict[tuple[str, float], tuple[float, ...]] = {}  # shared: most tables have the same axes
        self.templates = {name: _Group("", name, 0) for name in ("", "scalar")}
        for kind in ("lu_table_template", "power_lut_template"):
            self.templates |= {group.argument: group for group in root.groups.get(kind, ())}
        self.time = root.unit("time_unit", "s", 1e-9) / 1e-9
        self.leakage = root.unit("leakage_power_unit", "w", 1e-9) / 1e-9
        self.resistance = root.unit("pulling_resistance_unit", "ohm", 1e3) / 1e3
        farad = root.unit("capacitive_load_unit", "f", 1e-12)
        self.cap = farad / 1e-15
        # of internal power, which has no unit in the format
        self.energy = farad * root.unit("voltage_unit", "v", 1.0) ** 2 / 1e-15

    def library(self) -> Library:
        root = self.root
        cells = {}
        for group in root.groups.get("cell", ()):
            if group.argument in cells:
                raise _Damage(group.offset, f"a second cell {group.argument}")
            cells[group.argument] = self.cell(group)
        if not cells:
            raise _Damage(root.offset, "a library without cells")
        # a slew is the time between two thresholds, by default 80 and 20 %
        upper = root.number("slew_upper_threshold_pct_rise", 80.0)
        lower = root.number("slew_lower_threshold_pct_rise", 20.0)
        derate = root.number("slew_derate_from_library", 1.0)
        return Library(
            name=root.argument,
            voltage=root.number("nom_voltage", 1.0),
            temperature=root.number("nom_temperature", 25.0),
            slew_share=(upper - lower) / 100 / derate,
            cells=cells,
            wire_loads={
                group.argument: WireLoad(
                    name=group.argument,
                    cap_ff_per_um=group.number("capacitance") * self.cap,
                    res_kohm_per_um=group.number("resistance", 0.0) * self.resistance,
                    slope_um=group.number("slope", 0.0),
                    lengths_um={
                        int(fanout): length
                        for value in group.attributes.get("fanout_length", ())
                        for fanout, length in [_numbers(*value)[:2]]
                    },
                )
                for group in root.groups.get("wire_load", ())
            },
            default_wire_load=root.word("default_wire_load"),
            cap_unit_ff=self.cap,
        )

    def cell(self, group: _Group) -> Cell:
        pins = {}
        for pin_group in group.groups.get("pin", ()):
            names = _words(pin_group.argument)
            if not names:
                raise _Damage(pin_group.offset, f"a pin of {group.argument} without a name")
            for name in names:
                if name in pins:
                    raise _Damage(pin_group.offset, f"a second pin {name} of {group.argument}")
                pins[name] = self.pin(name, pin_group)
        for pin in pins.values():
            for related in (*(arc.related for arc in pin.timing), *(arc.related for arc in pin.power)):
                if related and related not in pins:
                    raise _Damage(group.offset, f"{group.argument}/{pin.name} relates to no pin {related}")
        leakage = self.root.number("default_cell_leakage_power", 0.0)
        return Cell(
            name=group.argument,
            area=group.number("area", 0.0),
            leakage_nw=group.number("cell_leakage_power", leakage) * self.leakage,
            leakage_states=tuple(
                (item.word("when"), item.number("value") * self.leakage)
                for item in group.groups.get("leakage_power", ())
            ),
            pins=pins,
            ff=_register(group, "ff"),
            latch=_register(group, "latch"),
            clock_gate=_clock_gate(group),
            dont_use=group.word("dont_use") == "true",
        )

    def pin(self, name: str, group: _Group) -> Pin:
        direction = group.word("direction")
        if direction not in ("input", "output", "inout", "internal"):
            raise _Damage(group.offset, f"pin {name} has the direction {direction!r}")
        default = self.root.number("default_input_pin_cap", 0.0) if direction == "input" else 0.0
        cap = group.number("capacitance", default)
        return Pin(
            name=name,
            direction=direction,
            cap_ff=cap * self.cap,
            cap_rise_ff=group.number("rise_capacitance", cap) * self.cap,
            cap_fall_ff=group.number("fall_capacitance", cap) * self.cap,
            max_cap_ff=group.number("max_capacitance", 0.0) * self.cap or None,
            function=group.word("function") or group.word("state_function"),
            three_state=group.word("three_state"),
            clock="true" in (group.word("clock"), group.word("clock_gate_clock_pin")),
            timing=tuple(arc for item in group.groups.get("timing", ()) for arc in self.arcs(item)),
            power=tuple(arc for item in group.groups.get("internal_power", ()) for arc in self.powers(item)),
        )

    def arcs(self, group: _Group) -> Iterator[Arc]:
        tables = {name: self.table(group, name, self.time) for name in TABLES}
        kind = group.word("timing_type") or "combinational"
        for related in _words(group.word("related_pin")) or [""]:
            yield Arc(related, kind, group.word("timing_sense"), group.word("when"), **tables)

    def powers(self, group: _Group) -> Iterator[PowerArc]:
        both = self.table(group, "power", self.energy)
        rise, fall = (both or self.table(group, f"{edge}_power", self.energy) for edge in ("rise", "fall"))
        for related in _words(group.word("related_pin")) or [""]:
            yield PowerArc(related, group.word("when"), rise, fall)

    def table(self, parent: _Group, name: str, scale: float) -> Table | None:
        if name not in parent.groups:
            return None
        group = parent.groups[name][0]
        template = self.templates.get(group.argument)
        if template is None:
            raise _Damage(group.offset, f"{name} has the unknown template {group.argument}")
        given = template.attributes | group.attributes
        axes = []
        for number in (1, 2, 3):
            if index := given.get(f"index_{number}"):
                kind = template.word(f"variable_{number}")
                axes.append((kind, self.axis(*index[-1], kind)))
        if len(axes) > 2:
            raise _Damage(group.offset, f"{name} has three variables, which is not supported")
        if "values" not in group.attributes:
            raise _Damage(group.offset, f"{name} has no values")
        (first, rows), (second, columns) = (axes + [("", (0.0,))] * 2)[:2]
        width = len(columns)
        flat = _numbers(*group.attributes["values"][-1], len(rows) * width)
        flat = tuple([value * scale for value in flat])
        values = tuple([flat[start : start + width] for start in range(0, len(flat), width)])
        if "capacitance" in first or (first == "related_pin_transition" and second):
            return Table(columns, rows, tuple(zip(*values, strict=True)))
        return Table(rows, columns, values)

    def axis(self, text: str, offset: int, kind: str) -> tuple[float, ...]:
        unit = self.cap if "capacitance" in kind else self.time
        if (text, unit) not in self.axes:
            points = tuple(point * unit for point in _numbers(text, offset))
            if not points or any(a >= b for a, b in pairwise(points)):
                raise _Damage(offset, f"the points of the axis do not rise: {text}")
            self.axes[text, unit] = points
        return self.axes[text, unit]


def _register(cell: _Group, name: str) -> Register | None:
    """The flip-flop or latch of a cell."""
    for group in cell.groups.get(name, ()):
        names = _words(group.argument)
        if len(names) != 2:
            raise _Damage(group.offset, f"{name} ({group.argument}) names no state and its inverse")
        return Register(*names, *map(group.word, (*REGISTERS[name], "clear", "preset")))
    return None


def _clock_gate(cell: _Group) -> ClockGate | None:
    roles = [
        next((pin.argument for pin in cell.groups.get("pin", ()) if pin.word(attribute) == "true"), "")
        for attribute in (f"clock_gate_{role}_pin" for role in ("clock", "enable", "test", "out"))
    ]
    style = cell.word("clock_gating_integrated_cell")
    return ClockGate(style, *roles) if style else None
