"""Logic synthesis: a design in SystemVerilog to a flat netlist of library cells, each with the module that it belongs to.

`synthesize` reads the design with read_slang, refuses what makes no circuit (latches, loops, nets without a driver) and what is too
large (estimate.py), rewrites its arithmetic (squaring.py, sharing.py, carry_save.py), runs the script of a style (styles/NAME.ys,
which says why it is as it is) and attributes the cells (ownership.py). Registers are named after the nets of the source; all other
cells by their module and a number. sizing.py goes over the netlist afterwards.

abc sizes cells and builds buffer trees against `margin` of the clock, with a wire on each net of `wire_ff` fF a reader: what
placement adds is then in the choice of sizes. Clock gating makes one gate for each group of `min_gated` registers or more
that share an enable.

Products, in `out_dir`: netlist.v, netlist.json, hierarchy.json, area.json, synthesis.json; scripts and logs in work/.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from ...fl.errors import BadInput, unknown
from ...rtl.sim import toolchain
from ..files import replace_text, replacing
from ..kit import kit, liberty
from ..kit.constraints import CLOCK_NS
from ..kit.kit_file import Adder, Cells
from ..netlist import logic, ownership, yosys
from ..netlist.document import Bit, Cell, Document, Module
from ..netlist.hierarchy import Hierarchy
from ..product import Product
from . import estimate
from .area import area
from .carry_save import narrow, save_carries
from .sharing import share_adders
from .squaring import make_squarers

ROOM = Path(__file__).parent
STYLES = tuple(
    sorted(path.stem for path in (ROOM / "styles").glob("*.ys") if path.with_suffix(".abc").exists())
)
PARTS = ("coarse", "registers", "finish")

FULL_ADDERS = "full-adders"
ADDERS = {  # how carries are made: arguments of techmap
    "mixed": "-map mixed_carry.v",
    "ripple": "-map ripple_carry.v",
    FULL_ADDERS: "-map full_adders.v -map ripple_carry.v",
    "brent-kung": "",
    "sklansky": "-map +/choices/sklansky.v",
    "kogge-stone": "-map +/choices/kogge-stone.v",
    "han-carlson": "-map +/choices/han-carlson.v",
}
# for whoever compares designs that differ in how they write a sum
FORM = (
    "synthesis rewrites conditional sums (one adder where several differ in a condition, carries saved), so that designs that differ "
    "in the form of a sum alone, such as the values textbook and koc of add_red, become nearly the same netlist; "
    "hold_form=True leaves sums as they are written"
)
AUTO = "auto"  # ripple, where the carries of subtractions have the time, else mixed
CARRIES_SHARE = 0.75  # of the clock
PS_PER_NS = 1000

# Larger than any memory that is sensible as registers; each bit costs a register and a multiplexer, 6 um^2 and more.
MAX_MEMORY_BITS = 65536

# of the estimate, which is above what it becomes: mont-001 of 32 bits, estimated at 66,000, has 43,000 cells and takes 613 MiB and,
# without sizing, a minute
MAX_CELLS = 400_000
UNREAD = 1.5  # what is there before constants and what nobody reads are gone
SECONDS_A_CELL, MIB_A_CELL = 0.001, 0.01

LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")
LOOP = re.compile(r"Warning: found logic loop in module (\S+):\n((?:    .*\n)+)")
LINT = ["--lint-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wwarn-UNDRIVEN"]
UNDRIVEN = re.compile(
    r"^%Warning-UNDRIVEN: (?P<file>[^:\n]+):(?P<line>\d+):\d+: Signal is not driven: '(?P<net>[^']+)'",
    re.MULTILINE,
)
CONFLICT = re.compile(r"Warning: multiple conflicting drivers for (\S+(?: \[\d+\])?)")


@dataclass(frozen=True)
class Options:
    """What a style leaves open."""

    adders: str = "auto"
    booth: bool = True
    keep_hierarchy: bool = False
    clock_gating: bool = True
    min_gated: int = 4
    sharing: bool = True
    carry_save: bool = True
    hold_form: bool = False  # sums stay as the source writes them: neither shared nor saved carries
    margin: float = 0.9  # of the clock, for which abc sizes
    wire_ff: float = 0.7  # on a net, for each reader

    def check(self) -> None:
        """BadInput for what makes no sense."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(each.default, bool) and not isinstance(value, bool):
                raise BadInput(f"{each.name} = {value}: give True or False")
        if self.adders not in (AUTO, *ADDERS):
            raise unknown("kind of adder", self.adders, (AUTO, *ADDERS))
        if not 0.1 <= self.margin <= 1.5:
            raise BadInput(f"a margin of {self.margin} of the clock: give 0.1 to 1.5, such as 0.9")
        if not 0 <= self.wire_ff <= 100:
            raise BadInput(f"a wire of {self.wire_ff} fF a reader: give 0 to 100")
        if self.min_gated < 1:
            raise BadInput(f"clock gates for {self.min_gated} registers: give 1 or more")


class SynthesisReport(Product, kw_only=True):
    """How a netlist was made: synthesis.json."""

    FILE: ClassVar[str] = "synthesis.json"
    STEP: ClassVar[str] = "synthesis"

    tool: str = "yosys"
    version: str
    style: str
    clock_ns: float
    options: dict[str, str | float | bool]
    shared_adders: int
    squarers: int
    carry_save_rows: int
    caveats: list[str]
    structure: str  # of STRUCTURES
    seconds: float
    peak_memory_mib: float


# What abc chooses gates from, in the place of @structure@ in a style's NAME.abc: gates for area; and those of a network balanced for
# depth first, by which a mapping that is LATE is made again. At 3 ns, after sizing: mont 11,120 um^2 and 10,689 (a sixth late at first),
# mont with the processor -0.06 ns and +0.17 (a quarter late); but mont-001 at 3.25 ns 53,355 and 56,504 (a tenth late).
LATE = 1.125  # times the clock; the sizing makes good what is less
STRUCTURES = {"area": "&dch -f", "depth": "&if -g\n&st\n&dch"}
ABC_DELAY = re.compile(r"\bDelay = *([\d.]+) ps")

STYLE_OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "area": {"margin": 1.5},
    "fast": {"adders": "mixed"},
    "hierarchy": {"keep_hierarchy": True},
}


def synthesize(
    design_sv: str | Path,
    top: str,
    out_dir: str | Path,
    *,
    clock_ns: float = CLOCK_NS,
    style: str = "default",
    kit_directory: Path | None = None,
    **options: Any,
) -> None:
    """Write the netlist of module `top` and what is known of it; BadInput if the design makes none."""
    start = time.perf_counter()
    if style not in STYLES:
        raise unknown("style of synthesis", style, STYLES)
    if not 0 < clock_ns <= 1000:
        raise BadInput(f"a clock of {clock_ns} ns: give a period above 0 and up to 1000 ns")
    for name in options:
        if name not in Options.__dataclass_fields__:
            raise unknown("option of synthesis", name, Options.__dataclass_fields__)
    chosen = Options(**(STYLE_OPTIONS[style] | options))
    chosen.check()
    files = kit.find(kit_directory)
    library = files.library
    if chosen.adders == FULL_ADDERS and not (library.roles.full_adder and library.roles.half_adder):
        raise BadInput(
            f"the kit {files.source} names no full and half adder, which adders={FULL_ADDERS} is made of"
        )
    out = Path(out_dir)
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)

    reading = read_design(design_sv, top, work)
    design = json.loads((work / ("kept.json" if chosen.keep_hierarchy else "coarse.json")).read_text())
    squarers = make_squarers(design) if chosen.sharing else 0
    shared = share_adders(design) if chosen.sharing and not chosen.hold_form else 0
    save = chosen.carry_save and not chosen.hold_form
    if save:
        narrow(design)
    chains = save_carries(design) if save else []
    if chosen.adders == AUTO:
        carries = max(estimate.carries(module) for module in design["modules"].values())
        late = carries * library.roles.carry_ns > CARRIES_SHARE * clock_ns
        chosen = replace(chosen, adders="mixed" if late else "ripple")
    (work / "shared.json").write_text(json.dumps(design))
    (work / f"{style}.ys").write_text(_script(style, top, work, clock_ns, chosen, files.lib, library))
    structure, mapping = _map(style, work, clock_ns)

    before = logic.read(json.loads((work / "unmapped.json").read_text())["modules"][top], library)
    mapped = json.loads((work / "mapped.json").read_text())
    module = mapped["modules"][top]
    _tie_and_split(module, library)
    after = logic.read(module, library)
    hierarchical = json.loads((work / "hierarchy.json").read_text())
    modules = ownership.module_names(hierarchical, top)
    owners = ownership.owners(before, after, modules, ownership.input_ports(hierarchical, top))
    names = _new_names(after, owners)
    module["cells"] = {names[name]: {**cell, "hide_name": 0} for name, cell in module["cells"].items()}
    mapped["modules"] = {top: module}
    cells = {names[name]: path for name, path in owners.items()}

    Hierarchy(cells=cells, modules=modules).write(out)
    area(module, cells, modules, library).write(out)
    _write_netlist(out, work, top, mapped, files.lib)
    SynthesisReport(
        version=yosys.version(),
        style=style,
        clock_ns=clock_ns,
        options=asdict(chosen),
        shared_adders=shared,
        squarers=squarers,
        carry_save_rows=sum(map(len, chains)),
        caveats=[FORM] if shared or chains else [],
        structure=structure,
        seconds=round(time.perf_counter() - start, 1),
        peak_memory_mib=max(reading.peak_memory_mib, mapping.peak_memory_mib),
    ).write(out)


def read_design(design_sv: str | Path, top: str, work: Path) -> yosys.Run:
    """Elaborate a design: in `work` hierarchy.json as it is, coarse.json flat, kept.json not; BadInput if it makes no circuit."""
    source = Path(design_sv).absolute()
    if not source.is_file():
        raise BadInput(f"there is no file {design_sv}")
    if not re.fullmatch(r"[A-Za-z_]\w*", top):
        raise BadInput(f"{top!r} is no name of a module")
    if re.search(r"[\s\"';#]", str(source)):
        raise BadInput(
            f"the path {source} has a blank or a quote in it, which yosys' scripts do not take: rename it"
        )
    yosys.run("probe", PROBE.format(source=source, top=top), work)
    probe = json.loads((work / "probe.json").read_text())
    _check_memories(probe, top)
    _check_size(probe, top, UNREAD)
    done = yosys.run("read", READ.format(source=source, top=top), work)
    _check_drivers(json.loads((work / "drivers.json").read_text()), top)
    if conflict := CONFLICT.search(done.log):
        raise BadInput(f"{_plain(conflict[1])} has more than one driver: give each net one")
    # what nothing drives has become x, as have registers that are never used and values that the source leaves open
    modules = json.loads((work / "hierarchy.json").read_text())["modules"].values()
    nets = (item for module in modules for item in module["netnames"].items())
    if any(not net.get("hide_name") and set(net["bits"]) == {"x"} for _, net in nets):
        _check_undriven(source, top, work)
    if loop := LOOP.search(done.log):
        where = "; ".join(line.strip() for line in loop[2].splitlines()[:2])
        raise BadInput(f"{loop[1].rstrip(':')} has a combinational loop ({where}): break it with a register")
    _check_latches(json.loads((work / "elaborated.json").read_text())["modules"][top], top)
    _check_size(json.loads((work / "coarse.json").read_text()), top)
    return done


def _check_drivers(design: Document, top: str) -> None:
    """BadInput for a net with two drivers, while it still has the name that they have it by."""
    for module_name, module in design["modules"].items():
        driven = Counter(
            bit
            for cell in module["cells"].values()
            if cell["type"] != "$tribuf"
            for port, direction in cell.get("port_directions", {}).items()
            if direction == "output"
            for bit in cell["connections"][port]
            if isinstance(bit, int)
        )
        for name, net in module["netnames"].items():
            if not net.get("hide_name") and any(
                isinstance(bit, int) and driven[bit] > 1 for bit in net["bits"]
            ):
                where = "" if module_name == top else f" of the module {module_name.partition('$')[0]}"
                raise BadInput(f"{top}: {name}{where} has more than one driver: give each net one")


def _check_undriven(source: Path, top: str, work: Path) -> None:
    """BadInput for a net that is read and never driven, by Verilator's account, which knows those that nobody reads."""
    try:
        said = toolchain.verilator([*LINT, "--top-module", top, str(source)], work)
    except toolchain.ToolError:
        return  # read_slang has taken what Verilator does not
    if undriven := UNDRIVEN.search(said):
        place = f"{Path(undriven['file']).name}:{undriven['line']}"
        raise BadInput(f"{top}: {undriven['net']} ({place}) is read, but nothing drives it: connect it")


def _plain(name: str) -> str:
    """A name as the source has it, from one in yosys' log."""
    return name.replace("\\", "").replace(" ", "")


# Only here are arrays read as memories: small ones are registers, which keep their names if they are read as such.
PROBE = """\
read_slang --keep-hierarchy --top {top} {source}
write_json probe.json
"""
READ = """\
read_slang --keep-hierarchy --no-implicit-memories --top {top} {source}
hierarchy -check -top {top}
proc
write_json drivers.json
opt_expr
opt_clean
write_json hierarchy.json
design -save kept
flatten -noscopeinfo
opt_expr
opt_clean
check
write_json elaborated.json
opt -full -nodffe -nosdff
setundef -zero
opt_clean
write_json coarse.json
design -load kept
opt -full -nodffe -nosdff
setundef -zero
opt_clean
write_json kept.json
"""


def _check_memories(design: Document, top: str) -> None:
    """BadInput for a memory that is too large for registers: reading it as such would take hours."""
    for module in design["modules"].values():
        for name, memory in module.get("memories", {}).items():
            bits = memory["width"] * memory["size"]
            if bits > MAX_MEMORY_BITS:
                raise BadInput(
                    f"{top}: the memory {name} has {bits} bits, and there are no memory macros: as registers it would take "
                    f"about {6 * bits} um^2; give at most {MAX_MEMORY_BITS} bits, or leave it outside"
                )


def _check_size(design: Document, top: str, over: float = 1.0) -> None:
    """BadInput, with the estimate, for a design that would take hours."""
    cells = round(estimate.cells(design) / over)
    if cells > MAX_CELLS:
        raise BadInput(
            f"{top} would take some {cells:,} cells, about {cells * SECONDS_A_CELL / 60:.0f} min and "
            f"{cells * MIB_A_CELL / 1024:.1f} GiB to be synthesized: at most {MAX_CELLS:,} can be; take a smaller width or fewer units"
        )


def _check_latches(module: Module, top: str) -> None:
    """BadInput for latches."""
    for name, cell in module["cells"].items():
        if cell["type"] in LATCHES:
            out = cell["connections"]["Q"]
            nets = [
                net
                for net, data in module["netnames"].items()
                if not data.get("hide_name") and data["bits"] == out
            ]
            raise BadInput(
                f"{top}: {min(nets, default=name)} is a latch: assign it in every branch, or in always_ff"
            )


def _map(style: str, work: Path, clock_ns: float) -> tuple[str, yosys.Run]:
    """Run the script of a style; again with another structure where what came out is late. What is kept, and its run."""
    script = (work / f"{style}.ys").read_text()
    template = (ROOM / "styles" / f"{style}.abc").read_text()

    def run(structure: str) -> tuple[float, yosys.Run]:
        (work / f"{style}.abc").write_text(template.replace("@structure@", STRUCTURES[structure]))
        done = yosys.run("map", script, work)
        return max((float(each) for each in ABC_DELAY.findall(done.log)), default=0.0), done

    first, second = STRUCTURES
    delay, done = run(first)
    if "@structure@" not in template or delay <= LATE * clock_ns * PS_PER_NS:
        return first, done
    faster, again = run(second)
    if faster < delay:
        return second, again
    return first, run(first)[1]


def _script(
    style: str, top: str, work: Path, clock_ns: float, options: Options, lib: Path, library: liberty.Library
) -> str:
    """The script of a style, its parts and parameters filled in, and the files that it reads."""
    roles, outside = library.roles, library.surroundings
    for source in (ROOM / "mapping").glob("*.v"):
        (work / source.name).write_text(_with_adders(source.read_text(), roles))
    (work / "drive.constr").write_text(
        f"set_driving_cell {outside.mapping_driver}\nset_load {outside.mapping_load_ff}\n"
    )
    (work / "wires.lib").write_text(with_wire_load(lib.read_text(), options.wire_ff))
    script = (ROOM / "styles" / f"{style}.ys").read_text()
    for part in PARTS:
        script = script.replace(f"@{part}@", (ROOM / "styles" / f"{part}.ys").read_text())
    values = {
        "top": top,
        "lib": str(lib),
        "abc_lib": "wires.lib",
        "period_ps": f"{clock_ns * options.margin * PS_PER_NS:.0f}",
        "booth": "booth" if options.booth else "",
        "adder_map": ADDERS[options.adders],
        "clock_gating": f"clockgate -pos {_clock_gate(library)} -min_net_size {options.min_gated}"
        if options.clock_gating
        else "",
    }
    return re.sub(r"@(\w+)@", lambda match: values[match[1]], script)


def _clock_gate(library: liberty.Library) -> str:
    """The clock gate and its pins as yosys' `clockgate` wants them."""
    kind = library.roles.clock_gate
    pins = library.cells[kind].clock_gate
    if pins is None:
        raise BadInput(
            f"the kit's clock gate {kind} has no clock_gating_integrated_cell in {library.name}: name another"
        )
    return f"{kind} {pins.enable}:{pins.clock}:{pins.output}"


def _with_adders(text: str, roles: Cells) -> str:
    """A mapping file, the adders of the library filled in: @full_adder(a, b, carry in, carry, sum)@, or @half_adder(...)@."""

    def instance(match: re.Match[str]) -> str:
        adder: Adder | None = getattr(roles, match[1])
        if adder is None:
            return "// no such cell"
        pins = zip((*adder.inputs, adder.carry, adder.sum), match[2].split(", "), strict=True)
        return f"{adder.cell} adder ({', '.join(f'.{pin}({net})' for pin, net in pins)});"

    return re.sub(r"@(full_adder|half_adder)\((.*)\)@", instance, text)


def with_wire_load(lib_text: str, cap_ff: float) -> str:
    """The library with a wire of so many fF for each reader of a net, as the one that is taken by default."""
    default = re.search(r"^\s*default_wire_load : .*$", lib_text, re.MULTILINE)
    default = default or re.search(r"(?<=\{)(?=\s)", lib_text)  # else where the library begins
    if default is None:
        raise BadInput("the Liberty file has no library in it")
    lengths = "".join(f"    fanout_length( {fanout}, {fanout} );\n" for fanout in range(1, 9))
    model = (
        f'  wire_load("by_reader") {{\n    capacitance : {cap_ff};\n    resistance : 0;\n    slope : 1;\n{lengths}  }}\n'
        '  default_wire_load : "by_reader" ;'
    )
    return lib_text[: default.start()] + model + lib_text[default.end() :]


def _tie_and_split(module: Module, library: liberty.Library) -> None:
    """Tie cells for constants, and a buffer for an output port whose net another port has."""
    roles = library.roles
    ties = {"0": roles.tie_low, "1": roles.tie_high, "x": roles.tie_low}
    buffer = library.cells[roles.buffers[0]]
    cells = module["cells"]
    known = [*(net["bits"] for net in module["netnames"].values()), *_pins(cells)]
    fresh = itertools.count(1 + max(bit for bits in known for bit in bits if isinstance(bit, int)))

    def add(kind: str, out: str, **inputs: Bit) -> int:
        bit = next(fresh)
        cells[f"$finish${bit}"] = {
            "hide_name": 1,
            "type": kind,
            "parameters": {},
            "attributes": {},
            "port_directions": {**dict.fromkeys(inputs, "input"), out: "output"},
            "connections": {**{pin: [net] for pin, net in inputs.items()}, out: [bit]},
        }
        return bit

    def tied(bit: Bit) -> Bit:
        return bit if isinstance(bit, int) else add(ties[bit], library.cells[ties[bit]].outputs[0])

    for cell in list(cells.values()):
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                cell["connections"][pin] = [tied(bit) for bit in bits]
    taken = {bit for port in module["ports"].values() if port["direction"] == "input" for bit in port["bits"]}
    for name, port in module["ports"].items():
        if port["direction"] == "output":
            out: list[Bit] = []
            for bit in port["bits"]:
                own = (
                    add(buffer.name, buffer.outputs[0], **{buffer.inputs[0]: bit})
                    if bit in taken
                    else tied(bit)
                )
                taken.add(own)
                out.append(own)
            port["bits"] = module["netnames"][name]["bits"] = out


def _pins(cells: Mapping[str, Cell]) -> Iterator[list[Bit]]:
    for cell in cells.values():
        yield from cell["connections"].values()


def _new_names(after: logic.Logic, owners: Mapping[str, str]) -> dict[str, str]:
    """{name in the mapped netlist: path.what}: registers after the net that they drive, all others numbered in their module."""
    nets: dict[Bit, list[str]] = {}
    for own, net in after.module["netnames"].items():
        if not net.get("hide_name"):
            for place, bit in enumerate(net["bits"]):
                text = f"{own}_reg_{place}" if len(net["bits"]) > 1 else f"{own}_reg"
                nets.setdefault(bit, []).append(text)

    def of_register(state: logic.State) -> str | None:
        """The shortest name that its module gives it."""
        path = owners[state.cell]
        known = nets.get(state.outputs[0][0], []) if state.outputs else []
        return min(
            known,
            key=lambda name: (name.rpartition(ownership.SEPARATOR)[0] != path, len(name), name),
            default=None,
        )

    registers = {state.cell: of_register(state) for state in after.states}
    counted: Counter[str] = Counter()
    # a register of a net x is called x_reg, and there may be a net of that name: yosys takes no two objects of one name
    taken = set(after.module["netnames"])
    names: dict[str, str] = {}
    for cell in after.module["cells"]:
        path = owners[cell]
        prefix = f"{path}{ownership.SEPARATOR}" if path else ""
        name = registers.get(cell)
        if name is not None:
            leaf = (
                name[len(prefix) :]
                if prefix and name.startswith(prefix)
                else name.rpartition(ownership.SEPARATOR)[2]
            )
            name = prefix + re.sub(r"\W", "_", leaf)
        while name is None or name in taken:
            counted[path] += 1
            name = f"{prefix}g{counted[path]}"
        taken.add(name)
        names[cell] = name
    return names


WRITE = """\
read_liberty -lib {lib}
read_json netlist.json
hierarchy -check -top {top}
write_verilog -noattr -simple-lhs netlist.v
"""


def _write_netlist(out: Path, work: Path, top: str, mapped: Document, lib: Path) -> None:
    text = json.dumps(mapped, indent=None, separators=(",", ":"))
    (work / "netlist.json").write_text(text)
    yosys.run("write", WRITE.format(lib=lib, top=top), work)
    with replacing(out / "netlist.v") as part:
        part.write_text((work / "netlist.v").read_text())
    replace_text(out / "netlist.json", text)
