"""Logic synthesis: from SystemVerilog to a flat netlist of library cells, each with its source module.

`synthesize` reads the design (read_design.py), rewrites its arithmetic (squaring.py, sharing.py,
carry_save.py), runs the script of a style (styles/NAME.ys, with its reasons) and finds the module of each
cell (ownership.py). A module with many instances is mapped once, as a design of its own (tiles.py). Registers
are named after the nets of the source, all other cells after their module, with a number. sizing.py changes
the netlist afterwards.

abc sizes cells and builds buffer trees for MARGINS of the clock, with the kit's wire per fan-out on each net,
so that sizes allow for placement. Clock gating makes one gate for each group of at least MIN_GATED registers
that share an enable.

Outputs in `out`: netlist.v, netlist.json, hierarchy.json, tiles.json, area.json, synthesis.json; scripts
and logs in work/.
"""

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ...fl.errors import BadInput, unknown
from ..files import replace_text
from ..gc_pause import uncollected
from ..kit import kit, liberty
from ..kit.constraints import CLOCK_NS
from ..netlist import logic, ownership, yosys
from ..netlist.document import (
    SEPARATOR,
    Bit,
    Document,
    Module,
    fresh_nets,
    joined,
    made_cell,
    port_bits,
)
from ..netlist.hierarchy import Hierarchy
from ..product import Product
from ..progress import say, stopwatch
from . import estimate, role_cells, tiles
from .area import area
from .carry_save import narrow, save_carries
from .complements import use_complements
from .latches import map_latches
from .named_cells import instances
from .read_design import COARSE, HIERARCHY, KEPT, read_design
from .sharing import share_adders
from .squaring import make_squarers
from .tiles import Tile, Tiles

ROOM = Path(__file__).parent
STYLES = tuple(
    sorted(path.stem for path in (ROOM / "styles").glob("*.ys") if path.with_suffix(".abc").exists())
)
PARTS = ("coarse", "registers", "finish")
BEFORE_ABC = "before_abc.il"
REPEATED = ("mapped.json", "map.log")  # files that a style's script writes from abc on

FULL_ADDERS, SPARSE = "full-adders", "sparse-adders"
ADDERS = {  # kinds of carries: arguments of techmap
    "mixed": "-D MIXED -map carry.v",
    "ripple": "-map carry.v",
    FULL_ADDERS: "-map full_adders.v -map carry.v",
    SPARSE: "-map sparse_adders.v -map carry.v",
    "brent-kung": "",
    "sklansky": "-map +/choices/sklansky.v",
    "kogge-stone": "-map +/choices/kogge-stone.v",
    "han-carlson": "-map +/choices/han-carlson.v",
}
# a caveat for comparisons of designs that differ in the form of a sum
FORM = (
    "synthesis rewrites conditional sums (one adder where several differ in a condition, carries saved), so "
    "that designs that differ "
    "in the form of a sum alone, such as the values textbook and koc of add_red, become nearly the same "
    "netlist; "
    "hold_form=True leaves sums as they are written"
)
MAPPING = re.compile(r"-map (\w+\.v)")
AUTO = "auto"  # ripple if the clock leaves time for the carries of subtractions, otherwise mixed
BEFORE_NAMED = "sklansky"  # for AUTO, if named cells wait for sums: the quotient of a digit
CARRIES_SHARE = 0.75  # of the clock
SMALLEST = "area"  # the style
MARGINS = dict.fromkeys(STYLES, 0.9) | {SMALLEST: 1.5}  # of the clock, for abc's sizing
RESETS_OF_A_TIE = 16
MIN_GATED = 4  # registers that share a clock gate
PS_PER_NS = 1000


@dataclass(frozen=True)
class Options:
    """Options of a style."""

    adders: str = AUTO
    booth: bool = True
    keep_hierarchy: bool = False
    clock_gating: bool = True
    carry_save: bool = True
    hold_form: bool = False  # sums stay as in the source: no sharing, no carry-save

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "Options":
        """The options with these values; BadInput for an unknown name or an invalid value."""
        for name, value in values.items():
            if name not in cls.__dataclass_fields__:
                raise unknown("option of synthesis", name, cls.__dataclass_fields__)
            if name == "adders":
                if value not in (AUTO, *ADDERS):
                    raise unknown("kind of adder", value, (AUTO, *ADDERS))
            elif not isinstance(value, bool):
                raise BadInput(f"{name} = {value}: give True or False")
        return cls(**values)


class SynthesisReport(Product, kw_only=True):
    """How a netlist was made: synthesis.json."""

    FILE = "synthesis.json"
    STEP = "synthesis"

    tool: str = "yosys"
    version: str
    style: str
    clock_ns: float
    options: dict[str, str | bool]
    shared_adders: int
    squarers: int
    carry_save_rows: int
    caveats: list[str]
    structure: str  # of STRUCTURES, WITHOUT_CHOICES or AREA_STRUCTURES; outside of tiles
    tiles: Mapping[str, int] = {}  # number of instances of each
    # numbers by kind of the cells that the design names
    named_cells: Mapping[str, int] = {}
    seconds: float
    peak_memory_mib: float


# The structures from which abc chooses gates, in place of @structure@ in a style's NAME.abc: the area
# network, and one balanced for depth, with which a mapping that is LATE is repeated. If sizing meets the
# clock from the first one, it is smaller: mont at 3 ns takes 10,451 um^2 and with the second one 11,118
# (delay before sizing: 1.14 times the clock), mont-001's unit at 2.9 ns 11,528 and 12,047 (1.16). At 1.175
# times the clock sizing misses it from the first: mont at 2.9 ns, -0.07 ns and +0.02, and mont-ct at 3 ns,
# -0.04 ns and +0.02.
LATE = 1.15  # times the clock; sizing makes up for less
STRUCTURES = {"area": "&dch -f", "depth": "&if -g\n&st\n&dch"}
# abc proves choices between structures (&dch) by SAT, which takes most of the time for a part of more than
# MOST_CHOSEN cells: for the machine heap at 1,024 bits, 308,000 ANDs, it did not end in nine minutes, and all
# following commands take 20 s.
WITHOUT_CHOICES = {"area, no choices": "", "depth, no choices": "&if -g\n&st"}
MOST_CHOSEN = 150_000  # estimated cells, without those that the design names
# The style `area` maps in both ways, by the shapes of cells and by cuts, and keeps the smaller netlist. Cuts
# suit control logic (tiny with 16 bits: 555 um^2 in 252 cells, and by shapes 558 in 267), and shapes suit
# arithmetic. A part of more than MOST_CHOSEN cells is mapped in the first way only.
AREA_STRUCTURES = {
    "shapes": "dch -f\namap -m",
    "cuts": "&get -n\n&syn3\n&syn3\n&dch -f\n&nf -R 1000 -F 20\n&put",
}
ABC_DELAY = re.compile(r"\bDelay = *([\d.]+) ps")

STYLE_OPTIONS: dict[str, dict[str, Any]] = {
    "fast": {"adders": "mixed"},
    "hierarchy": {"keep_hierarchy": True},
}


@uncollected()
def synthesize(
    design_sv: Path,
    top: str,
    out: Path,
    *,
    clock_ns: float = CLOCK_NS,
    style: str = "default",
    kit_directory: Path | None = None,
    corner: str = kit.SLOW,
    **options: Any,
) -> None:
    """Write the netlist of module `top` and its reports; BadInput if the design is invalid."""
    elapsed = stopwatch()
    _check(style, clock_ns)
    chosen = Options.of(STYLE_OPTIONS.get(style, {}) | options)
    files = kit.find(kit_directory, corner)
    adders = ("full_adder", "half_adder") if chosen.adders in (FULL_ADDERS, SPARSE) else ()
    if not all(role_cells.find(files.library, role).network for role in adders):
        raise BadInput(f"the kit {files.source} has too few gates for adders={chosen.adders}")
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)

    say("reading")
    whole = not chosen.keep_hierarchy
    reading = read_design(design_sv, top, work, files=files if whole else None, tiled=whole)
    hierarchy = json.loads((work / HIERARCHY).read_text())
    mapper = _Mapper(style, clock_ns, chosen, files, hierarchy, reading.tiles, reading.named)
    design = json.loads((work / (COARSE if whole else KEPT)).read_text())
    tiled = {}
    for number, tile in enumerate(reading.tiles):
        part: Document = {"modules": {f"tile_{number}": design["modules"].pop(tile.module)}}
        tiled[tile.module] = mapper.mapped(part, tile.module, work / f"tile_{number}")
    rest = mapper.mapped(design, top, work)

    made = Tiles(tiles=reading.tiles, netlists={name: part.module for name, part in tiled.items()})
    module = tiles.join(rest.module, made.tiles, made.netlists)
    owners = dict(rest.owners)
    for tile in reading.tiles:
        owners |= tiles.placed(tile, tiled[tile.module].owners)
    modules = ownership.module_names(hierarchy, top)

    made.write(out)
    write_netlist(out, top, module, owners, modules, files)
    parts = (rest, *tiled.values())
    counts = {name: sum(part.counts[name] for part in parts) for name in rest.counts}
    cells = module["cells"]
    SynthesisReport(
        version=yosys.version(),
        style=style,
        clock_ns=clock_ns,
        options=asdict(rest.options),
        **counts,
        tiles={tile.name: len(tile.paths) for tile in reading.tiles},
        named_cells=dict(Counter(cells[name]["type"] for name in reading.named & cells.keys())),
        caveats=[FORM] if counts["shared_adders"] or counts["carry_save_rows"] else [],
        structure=rest.structure,
        seconds=elapsed(),
        peak_memory_mib=max(reading.peak_memory_mib, *(part.peak_memory_mib for part in parts)),
    ).write(out)


def _check(style: str, clock_ns: float) -> None:
    """BadInput for an unknown style or an impossible clock."""
    if style not in STYLES:
        raise unknown("style of synthesis", style, STYLES)
    if not 0 < clock_ns <= 1000:
        raise BadInput(f"a clock of {clock_ns} ns: give a period above 0 and up to 1000 ns")


class _Part(NamedTuple):
    """A mapped part, the path of each cell's module inside the part, and how it was made."""

    module: Module
    owners: dict[str, str]
    options: Options
    counts: dict[str, Any]  # fields of the report
    structure: str
    peak_memory_mib: float


@dataclass(frozen=True)
class _Mapper:
    """Maps parts of a design, each as a design of its own; `named` are the cells that the design names."""

    style: str
    clock_ns: float
    options: Options
    files: kit.Kit
    hierarchy: Document
    tiles: tuple[Tile, ...]
    named: frozenset[str]

    def mapped(self, design: Document, module_name: str, work: Path) -> _Part:
        """Map a part in `work`; `module_name` is its name in the hierarchy."""
        say(f"mapping {module_name.partition('$')[0]}")
        work.mkdir(exist_ok=True)
        library = self.files.library
        top = next(iter(design["modules"])) if len(design["modules"]) == 1 else module_name
        # marks for coarse.ys; choices from constants stay multiplexers, which can be folded
        for choice in instances(design, ("$bmux",)):
            if {*choice["connections"]["A"]} - logic.CONSTANTS.keys():
                choice.setdefault("attributes", {})["modexlab_data"] = "1"
        squarers = make_squarers(design)
        shared, chains = 0, []
        if not self.options.hold_form:
            shared = share_adders(design)
            if self.options.carry_save:
                narrow(design)
                chains = save_carries(design)
        map_latches(design, top, library)
        cells = design["modules"][top]["cells"]
        own = self.named & cells.keys()
        named = sorted({cells[name]["type"] for name in own})
        (work / "shared.json").write_text(json.dumps(design))
        kinds = self._adders(design, bool(named))
        self._write_inputs(work, kinds)
        few = estimate.cells(design) - len(own) <= MOST_CHOSEN
        results = []
        for adders, structures in itertools.product(kinds, self._structures(few)):
            options = replace(self.options, adders=adders)
            script = self._script(top, options, named, work)
            structure, mapping = self._map(script, work, structures)
            unmapped, module = (
                json.loads((work / name).read_text())["modules"][top]
                for name in ("unmapped.json", "mapped.json")
            )
            if self.style == SMALLEST:
                use_complements(module, library)
            um2 = sum(library.cells[cell["type"]].area for cell in module["cells"].values())
            results.append((um2, unmapped, module, options, structure, mapping))
        _, unmapped, module, options, structure, mapping = min(results, key=lambda result: result[0])

        before = logic.read(unmapped, library)
        _tie_and_split(module, library, tiles.own_ports(module, self.tiles))
        after = logic.read(module, library)
        names = ownership.module_names(self.hierarchy, module_name)
        names = {path: name for path, name in names.items() if not tiles.inside(path, self.tiles)}
        inputs = ownership.input_ports(self.hierarchy, module_name)
        owners = ownership.owners(before, after, names, inputs)
        kept = self.named & module["cells"].keys()
        owners |= {name: name.rpartition(SEPARATOR)[0] for name in kept}
        new = _new_names(after, owners, kept)
        module["cells"] = {new[name]: {**cell, "hide_name": 0} for name, cell in module["cells"].items()}
        return _Part(
            module,
            {new[name]: path for name, path in owners.items()},
            options,
            {"shared_adders": shared, "squarers": squarers, "carry_save_rows": sum(map(len, chains))},
            structure,
            mapping.peak_memory_mib,
        )

    def _structures(self, few: bool) -> list[Mapping[str, str]]:
        """The structures of each mapping to try, for a part with few cells or with many."""
        if self.style == SMALLEST:
            ways: list[Mapping[str, str]] = [{name: way} for name, way in AREA_STRUCTURES.items()]
            return ways if few else ways[:1]
        return [STRUCTURES if few else WITHOUT_CHOICES]

    def _adders(self, design: Document, named: bool) -> list[str]:
        """The kinds of adders to map with: the requested one, or the one that suits the clock; several if the
        smallest netlist is wanted.
        """
        if self.options.adders != AUTO:
            return [self.options.adders]
        if named:
            return [BEFORE_NAMED]
        carries = max(estimate.carries(module) for module in design["modules"].values())
        late = carries * self.files.library.roles.carry_ns > CARRIES_SHARE * self.clock_ns
        if self.style == SMALLEST and not late and self.files.library.roles.full_adder:
            return ["ripple", SPARSE]
        return ["mixed" if late else "ripple"]

    def _write_inputs(self, work: Path, adders: Sequence[str]) -> None:
        """Write the files that the scripts read."""
        library = self.files.library
        outside = library.kit.constraints
        for name in {name for kind in adders for name in MAPPING.findall(ADDERS[kind])}:
            text = (ROOM / "mapping" / name).read_text()
            (work / name).write_text(_with_adders(text, library))
        (work / "drive.constr").write_text(
            f"set_driving_cell {outside.mapping_driver}\nset_load {outside.mapping_load_ff}\n"
        )
        (work / "wires.lib").write_text(
            with_wire_load(self.files.lib.read_text(), outside.mapping_wire_ff / library.cap_unit_ff)
        )
        smallest = self.style == SMALLEST
        early = next(iter(AREA_STRUCTURES.values())) if smallest else STRUCTURES["depth"]
        (work / "early.abc").write_text(self._abc(early))

    def _abc(self, structure: str) -> str:
        """The abc commands of the style."""
        return _style_text(f"{self.style}.abc").replace("@structure@", structure)

    def _script(self, top: str, options: Options, named: list[str], work: Path) -> str:
        """The script of a style with its parts and parameters filled in; the fan-in of the `named` kinds of
        cells is mapped separately.
        """
        library = self.files.library
        script = _style_text(f"{self.style}.ys")
        for part in PARTS:
            script = script.replace(f"@{part}@", _style_text(f"{part}.ys"))
        gating = f"clockgate -pos {_clock_gate(library)} -min_net_size {MIN_GATED}"
        values = {
            "top": top,
            "lib": yosys.scripted(self.files.lib, work),
            "abc_lib": "wires.lib",
            "period_ps": f"{self.clock_ns * MARGINS[self.style] * PS_PER_NS:.0f}",
            "booth": "booth" if options.booth else "",
            "adder_map": ADDERS[options.adders],
            "clock_gating": gating if options.clock_gating else "",
        }
        script = re.sub(r"@(\w+)@", lambda match: values[match[1]], script)
        if not named:
            return script
        registers = ",".join(kind for kind, cell in library.cells.items() if cell.sequential)
        cells = " ".join(f"t:{kind}" for kind in named) + " %u" * (len(named) - 1)
        return ABC.sub(
            lambda match: EARLY.format(named=cells, registers=registers, abc=match[1]) + match[0],
            script,
            count=1,
        )

    def _map(self, script: str, work: Path, structures: Mapping[str, str]) -> tuple[str, yosys.Run]:
        """Run a script; if the result is late, repeat abc's part with the second structure, if there is one.
        Return the structure of the better result, and the run.
        """
        match = BY_ABC.search(script)
        assert match, self.style
        before, by_abc = script[: match.start()], script[match.start() :]

        def run(structure: str, script: str) -> tuple[float, yosys.Run]:
            (work / f"{self.style}.abc").write_text(self._abc(structures[structure]))
            done = yosys.run("map", script, work)
            return max(map(float, ABC_DELAY.findall(done.log)), default=0.0), done

        first, *others = structures
        delay, done = run(first, f"{before}write_rtlil {BEFORE_ABC}\n{by_abc}")
        chosen = "@structure@" in _style_text(f"{self.style}.abc")
        if not others or not chosen or delay <= LATE * self.clock_ns * PS_PER_NS:
            return first, done
        for name in REPEATED:
            (work / name).rename(work / f"{first}.{name}")
        second = others[0]
        faster, again = run(second, f"read_rtlil {BEFORE_ABC}\n{by_abc}")
        again = replace(again, peak_memory_mib=max(done.peak_memory_mib, again.peak_memory_mib))
        if faster < delay:
            return second, again
        for name in REPEATED:
            (work / f"{first}.{name}").replace(work / name)
        return first, done


def _style_text(name: str) -> str:
    return (ROOM / "styles" / name).read_text()


# The fan-in of named cells, such as the adder of a quotient's digit, is mapped first and for depth: abc sees
# no path through these cells, and would make it as slow as the slowest other path, such as the adder of a
# result.
EARLY = """\
select -set early {named} %ci*:-{registers}
{abc} -script early.abc @early
"""
ABC = re.compile(r"^(abc .*) -script \S+$", re.MULTILINE)
BY_ABC = re.compile(r"^(select -set early|abc) ", re.MULTILINE)  # beginning of abc's part of a script


def _clock_gate(library: liberty.Library) -> str:
    """The clock gate and its pins in the form of yosys' `clockgate`."""
    kind = library.roles.clock_gate
    pins = library.cells[kind].clock_gate
    if pins is None:
        raise BadInput(
            f"the kit's clock gate {kind} has no clock_gating_integrated_cell in {library.name}: name another"
        )
    tie = f" -tie_lo {pins.test}" if pins.test else ""
    return f"{kind} {pins.enable}:{pins.clock}:{pins.output}{tie}"


def _with_adders(text: str, library: liberty.Library) -> str:
    """A mapping file with the library's adders in place of @full_adder(a, b, carry in, carry, sum)@ and
    @half_adder(...)@.
    """

    def instance(match: re.Match[str]) -> str:
        network = role_cells.find(library, match[1]).network
        assert network is not None, "refused before"
        *inputs, carry, total = match[2].split(", ")
        nets = dict(enumerate(inputs)) | dict(zip(network.outputs, (carry, total), strict=True))
        inner = {net for _, pins in network.cells for _, net in pins} - nets.keys()
        text = "".join(f"wire n{net}; " for net in sorted(inner))
        for number, (kind, pins) in enumerate(network.cells):
            ports = ", ".join(f".{pin}({nets.get(net, f'n{net}')})" for pin, net in pins)
            text += f"{kind} adder{number or ''} ({ports}); "
        return text.rstrip() if len(network.cells) == 1 else f"begin : cell {text}end"

    return re.sub(r"@(full_adder|half_adder)\((.*)\)@", instance, text)


def with_wire_load(lib_text: str, cap: float) -> str:
    """The library with a default wire-load model of this capacitance, in the library's unit, per reader of a
    net.
    """
    default = re.search(r"^\s*default_wire_load : .*$", lib_text, re.MULTILINE)
    default = default or re.search(r"(?<=\{)(?=\s)", lib_text)  # otherwise at the beginning of the library
    if default is None:
        raise BadInput("the Liberty file has no library in it")
    lengths = "".join(f"    fanout_length( {fanout}, {fanout} );\n" for fanout in range(1, 9))
    model = (
        f'  wire_load("by_reader") {{\n    capacitance : {cap:g};\n    resistance : 0;\n    slope : '
        f"1;\n{lengths}  }}\n"
        '  default_wire_load : "by_reader" ;'
    )
    return lib_text[: default.start()] + model + lib_text[default.end() :]


def _tie_and_split(module: Module, library: liberty.Library, own: Container[str]) -> None:
    """Insert tie cells for constants, and a buffer for an output port that shares its net with another port
    and is the module's own, not a tile's.
    """
    roles = library.roles
    buffer = roles.buffers[0], library.cells[roles.buffers[0]].outputs[0]
    ties = {"0": roles.tie_low, "1": roles.tie_high, "x": roles.tie_low}
    cells, fresh = module["cells"], fresh_nets(module)

    def add(kind: str, output: str, *inputs: Bit) -> int:
        cell, bit = library.cells[kind], next(fresh)
        pins = dict(zip((*cell.inputs, output), (*inputs, bit), strict=True))
        cells[f"$finish${bit}"] = made_cell(kind, {pin: [net] for pin, net in pins.items()}, [output])
        return bit

    def tied(bit: Bit) -> Bit:
        if isinstance(bit, int):
            return bit
        tie = library.cells[ties[bit]]
        functions = {tie.pins[pin].logic.table(()): pin for pin in tie.outputs}
        return add(tie.name, functions[logic.CONSTANTS[bit]])

    shared: list[Bit] = []  # outputs of a tie cell shared by registers with an unused reset
    for cell in list(cells.values()):
        resets = library.cells[cell["type"]].resets if cell["type"] in library.cells else ()
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input" and pin in resets and bits == ["1"]:
                shared = shared or [tied("1")] * RESETS_OF_A_TIE
                cell["connections"][pin] = [shared.pop()]
            elif cell["port_directions"][pin] == "input":
                cell["connections"][pin] = [tied(bit) for bit in bits]
    taken = set(port_bits(module, "input"))
    for name, port in module["ports"].items():
        if port["direction"] == "output":
            out = []
            for bit in port["bits"]:
                driven = add(*buffer, bit) if bit in taken and name in own else tied(bit)
                taken.add(driven)
                out.append(driven)
            port["bits"] = module["netnames"][name]["bits"] = out


def _new_names(after: logic.Logic, owners: Mapping[str, str], named: Collection[str]) -> dict[str, str]:
    """{name in the mapped netlist: PATH.NAME}: registers are named after the nets that they drive, other
    cells are numbered in their module.

    Cells that the design names keep their names.
    """
    nets = defaultdict(list)
    for own, net in after.module["netnames"].items():
        if not net.get("hide_name"):
            for place, bit in enumerate(net["bits"]):
                nets[bit].append(f"{own}_reg_{place}" if len(net["bits"]) > 1 else f"{own}_reg")

    def of_register(state: logic.State) -> str | None:
        """The shortest name in the register's module, or else the shortest of all."""
        path = owners[state.cell]
        known = nets[state.outputs[0][0]] if state.outputs else []
        ranks = ((name.rpartition(SEPARATOR)[0] != path, len(name), name) for name in known)
        *_, name = min(ranks, default=("",))
        leaf = name.removeprefix(joined(path, ""))
        short = name.rpartition(SEPARATOR)[2] if leaf == name else leaf
        return joined(path, re.sub(r"\W", "_", short)) if name else None

    registers = {state.cell: of_register(state) for state in after.states}
    counted: Counter[str] = Counter()
    # a register of a net x is called x_reg; if there is a net of that name, the register is numbered, as
    # yosys accepts no two objects of one name
    taken = {*after.module["netnames"], *named}
    names = {}
    for cell in after.module["cells"]:
        name = cell if cell in named else registers.get(cell)
        while name is None or (name in taken and cell not in named):
            counted[owners[cell]] += 1
            name = joined(owners[cell], f"g{counted[owners[cell]]}")
        taken.add(name)
        names[cell] = name
    return names


WRITE = """\
read_liberty -lib {lib}
read_json netlist.json
hierarchy -check -top {top}
write_verilog -noattr -simple-lhs netlist.v
"""


def write_netlist(
    out: Path,
    top: str,
    module: Module,
    owners: dict[str, str],
    modules: dict[str, str],
    files: kit.Kit,
) -> None:
    """Write netlist.json, netlist.v, hierarchy.json and area.json."""
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"modules": {top: module}}, separators=(",", ":"))
    (work / "netlist.json").write_text(text)
    yosys.run("write", WRITE.format(lib=yosys.scripted(files.lib, work), top=top), work)
    replace_text(out / "netlist.v", (work / "netlist.v").read_text())
    replace_text(out / "netlist.json", text)
    Hierarchy(cells=owners, modules=modules).write(out)
    area(module, owners, modules, files.library).write(out)
