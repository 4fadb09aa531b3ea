"""Reads SystemVerilog as words and operators with read_slang; rejects designs that are no circuit.

`read_design` leaves these files in `work`: hierarchy.json (the design with its hierarchy), coarse.json (flat)
and kept.json (optimised, with its hierarchy). It rejects accidental latches (source_latches.py), loops, nets
without a driver, and designs that are too large (estimate.py).
"""

import itertools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ...fl.errors import BadInput
from ...rtl.sim import toolchain
from ...rtl.verilog.print import UNIT
from ..kit.kit import Kit
from ..netlist import document, yosys
from ..netlist.document import SEPARATOR, Bit, Cell, Document, Module, cell_bits, port_bits
from . import estimate, named_cells, source_latches
from .named_cells import Form, Placed
from .source_latches import SourceLatches

# More than any sensible memory of registers: each bit takes a register and a multiplexer, 6 um^2 or more.
MAX_MEMORY_BITS = 65536

# estimated cells, which exceed the actual ones: mont-001 at 32 bits, estimated at 66,000, has 43,000 cells
# and takes 613 MiB and, without sizing, a minute; heap with CRT at 2,048 bits is estimated at 603,000,
# and at 985,000 with digits of 172 bits
MAX_CELLS = 1_000_000
UNREAD = 1.5  # ratio of cells before constants and unused bits are removed
SECONDS_A_CELL, MIB_A_CELL = 0.001, 0.01

LINT = ["--lint-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wwarn-UNDRIVEN"]
UNDRIVEN = re.compile(
    r"^%Warning-UNDRIVEN: (?P<file>[^:\n]+):(?P<line>\d+):\d+: Signal is not driven: '(?P<net>[^']+)'",
    re.MULTILINE,
)
# attributes in front of a case statement
CASE = re.compile(r"(?:\(\*(?!\s*\))(?:(?!\*\)).)*\*\)\s*)+(?=case[xz]?\b)", re.DOTALL)
CASE_KEYWORDS = {("full",): "priority", ("parallel",): "unique0", ("full", "parallel"): "unique"}
# the names of functions and tasks
ROUTINE = re.compile(r"\b(?:function|task)\b[^;(]*?(\w+)\s*[;(]")
CONFLICT = re.compile(r"Warning: multiple conflicting drivers for (\S+(?: \[\d+\])?)")

TURN = re.compile(r"\bgen_(\w+)\[(\d+)\]\.")  # of a loop around an instance that is called UNIT
LOOPED = re.compile(rf"((?:{TURN.pattern})+){UNIT}\b")  # such an instance, in a path

HIERARCHY, FLAT, WITH_NAMED, EXPANDED, COARSE, KEPT = (
    f"{name}.json" for name in ("hierarchy", "elaborated", "with_named", "expanded", "coarse", "kept")
)
# Only the probe reads arrays as memories. Small ones become registers, which keep their names if they are
# read as registers.
PROBE = """\
read_slang --ignore-timing --keep-hierarchy --top {top} {source}
write_json probe.json
"""
READ = """\
read_slang --ignore-timing --keep-hierarchy --no-implicit-memories --top {top} {source}
{renamed}
hierarchy -check -top {top}
proc
write_json drivers.json
opt_expr
opt_clean
write_json hierarchy.json
"""
FLATTEN = """\
flatten -noscopeinfo
opt_expr
opt_clean
check
write_json elaborated.json
"""
CLEAN = """\
opt -full -nodffe -nosdff
setundef -zero
opt_clean
write_json {name}.json
"""
# flat, and with its hierarchy
BOTH = (
    f"design -save kept\n{FLATTEN}{CLEAN.format(name='coarse')}design -load kept\n{CLEAN.format(name='kept')}"
)


# for designs that contain library cells
CELLS = "read_liberty -lib {lib}\n"


class Reading(NamedTuple):
    """A design as read, the cells that it names (named_cells.py), its latches, and the tool's peak memory."""

    named: frozenset[str]
    latches: SourceLatches
    peak_memory_mib: float


def read_design(design_sv: Path, top: str, work: Path, *, files: Kit | None = None) -> Reading:
    """Elaborate a design; BadInput if it is no circuit. With a kit, adders that the design names become cells
    of the kit.
    """
    check_given(design_sv, top)
    source = yosys.scripted(slang_source(design_sv, work), work)
    yosys.run("probe", PROBE.format(source=source, top=top), work)
    probe = document.load(work / "probe.json")
    _check_memories(probe, top)
    named = named_cells.likely(probe) if files else {}
    words = {name: module for name, module in probe["modules"].items() if name not in named}
    more = sum(named_cells.width(probe["modules"][name]) for name in named)
    _check_size({"modules": words}, top, UNREAD, more)
    script = READ if named else READ + BOTH
    runs = [yosys.run("read", script.format(source=source, top=top, renamed=_renamed(probe)), work)]
    placed: Placed = {}
    if named and files:
        forms = named_cells.find(document.load(work / HIERARCHY), files.library)
        runs += _with_named_cells(top, work, forms, placed, files)
    _check_drivers(document.load(work / "drivers.json"), top, (work / source).read_text())
    log = "".join(run.log for run in runs)
    if conflict := CONFLICT.search(log):
        net = conflict[1].replace("\\", "").replace(" ", "")
        raise BadInput(f"{net} has more than one driver: give each net one")
    # undriven nets have become x, and so have unused registers and don't-cares of the source
    hierarchy = document.load(work / HIERARCHY)
    nets = (net for module in hierarchy["modules"].values() for net in module["netnames"].values())
    if any(not net.get("hide_name") and set(net["bits"]) == {"x"} for net in nets):
        _check_undriven(work / source, top, work)
    source_latches.check_loops(log)
    latches = source_latches.find(document.load(work / FLAT), hierarchy, top)
    _check_size(document.load(work / COARSE), top)
    return Reading(frozenset(name for _, name in placed), latches, max(run.peak_memory_mib for run in runs))


def _renamed(design: Document) -> str:
    """Commands that rename the instances in generate loops as PyMTL3 does: a path has no brackets, and its
    dots separate levels.
    """
    lines = []
    for name, module in design["modules"].items():
        looped = [cell for cell in module["cells"] if LOOPED.fullmatch(cell)]
        if looped:
            lines += [f"cd {name}", *(f"rename {cell} {as_read(cell)}" for cell in looped), "cd"]
    return "\n".join(lines)


def as_read(path: str) -> str:
    """A path in which instances of generate loops have the names that `read_design` gives them."""
    return LOOPED.sub(_of_turns, path)


def _of_turns(looped: re.Match[str]) -> str:
    turns = TURN.findall(looped[1])
    return "__".join([turns[0][0], *(index for _, index in turns)])


def check_given(design_sv: Path, top: str) -> None:
    """BadInput for a missing file or an invalid module name."""
    if not design_sv.is_file():
        raise BadInput(f"there is no file {design_sv}")
    if not re.fullmatch(r"[A-Za-z_]\w*", top):
        raise BadInput(f"{top!r} is no name of a module")


def slang_source(design_sv: Path, work: Path) -> Path:
    """The file for read_slang, which ignores full_case and parallel_case: equivalent keywords replace
    them. An attribute tells always_latch from other processes.
    """
    text = design_sv.read_text()
    keyed = source_latches.marked(CASE.sub(_with_keyword, text) if "_case" in text else text)
    if keyed == text:
        return design_sv
    path = work / "slang.sv"
    path.write_text(keyed)
    return path


def _with_keyword(attributes: re.Match[str]) -> str:
    names = tuple(sorted(set(re.findall(r"\b(full|parallel)_case\b", attributes[0]))))
    return f"{attributes[0]}{CASE_KEYWORDS[names]} " if names else attributes[0]


def _with_named_cells(
    top: str, work: Path, forms: Mapping[str, Form], placed: Placed, files: Kit
) -> Iterator[yosys.Run]:
    """Flatten the design, insert the cells that it names, and clean up."""
    if not forms:
        yield yosys.run("flatten", f"read_json {HIERARCHY}\n{BOTH}", work)
        return
    hierarchy = document.load(work / HIERARCHY)
    for name in forms:
        module = hierarchy["modules"][name]
        module["attributes"] = {**module.get("attributes", {}), "keep_hierarchy": 1}
    (work / WITH_NAMED).write_text(json.dumps(hierarchy))
    yield yosys.run("flatten", f"read_json {WITH_NAMED}\n{FLATTEN}", work)
    flat: Document = {"modules": {top: document.load(work / FLAT)["modules"][top]}}
    placed |= named_cells.expand(flat, forms, files.library)
    while named_cells.simplify(flat, placed):
        pass
    cells = CELLS.format(lib=yosys.scripted(files.lib, work))
    for number in itertools.count():
        (work / EXPANDED).write_text(json.dumps(flat))
        yield yosys.run(
            f"clean{number or ''}", f"{cells}read_json {EXPANDED}\n{CLEAN.format(name='coarse')}", work
        )
        flat = {"modules": {top: document.load(work / COARSE)["modules"][top]}}
        (work / COARSE).write_text(json.dumps(flat))  # without the library
        if not named_cells.simplify(flat, placed):
            break


def _check_drivers(design: Document, top: str, text: str) -> None:
    """BadInput for a net with two drivers, while it still has its name.

    read_slang drives the variables of a function or task without `automatic` once for each call. That is no
    conflict unless a call reads the value that another one has left.
    """
    routines = {*ROUTINE.findall(text)}
    for module_name, module in design["modules"].items():
        driven = Counter[Bit](
            bit
            for cell in module["cells"].values()
            if cell["type"] != "$tribuf" and "port_directions" in cell
            for bit in cell_bits(cell, "output")
            if isinstance(bit, int)
        )
        live: set[Bit] | None = None
        for name, net in module["netnames"].items():
            twice = [bit for bit in net["bits"] if driven[bit] > 1]
            if net.get("hide_name") or not twice:
                continue
            remedy = "give each net one"
            if not routines.isdisjoint(name.split(SEPARATOR)[:-1]):
                live = _live(module) if live is None else live
                if live.isdisjoint(twice):
                    continue
                remedy = "declare its function or task automatic, or assign the variable before it is read"
            where = "" if module_name == top else f" of the module {module_name.partition('$')[0]}"
            raise BadInput(f"{top}: {name}{where} has more than one driver: {remedy}")


def _live(module: Module) -> set[Bit]:
    """The nets on which an output port or an instance of another module depends."""
    drivers: dict[Bit, list[Cell]] = defaultdict(list)
    live = {*port_bits(module, "output"), *port_bits(module, "inout")}
    for cell in module["cells"].values():
        if not cell["type"].startswith("$") or "port_directions" not in cell:
            live.update(bit for bits in cell["connections"].values() for bit in bits)
            continue
        for bit in cell_bits(cell, "output"):
            drivers[bit].append(cell)
        if not any(cell_bits(cell, "output")):  # an assertion, or a port of a memory that is written
            live.update(cell_bits(cell, "input"))
    todo = [*live]
    while todo:
        for cell in drivers.pop(todo.pop(), ()):
            new = {*cell_bits(cell, "input")} - live
            live |= new
            todo += new
    return live


def _check_undriven(source: Path, top: str, work: Path) -> None:
    """BadInput for a net that is read but never driven, according to Verilator, which tells it from unread
    nets.
    """
    try:
        said = toolchain.verilator([*LINT, "--top-module", top, str(source)], work)
    except toolchain.ToolError:
        return  # read_slang has accepted the source, Verilator does not
    if undriven := UNDRIVEN.search(said):
        place = f"{Path(undriven['file']).name}:{undriven['line']}"
        raise BadInput(f"{top}: {undriven['net']} ({place}) is read, but nothing drives it: connect it")


def _check_memories(design: Document, top: str) -> None:
    """BadInput for a memory that is too large for registers: reading it as registers would take hours."""
    for module in design["modules"].values():
        for name, memory in module.get("memories", {}).items():
            bits = memory["width"] * memory["size"]
            if bits > MAX_MEMORY_BITS:
                raise BadInput(
                    f"{top}: the memory {name} has {bits} bits, and there are no memory macros: as "
                    "registers it would take "
                    f"about {6 * bits} um^2; give at most {MAX_MEMORY_BITS} bits, or leave it outside"
                )


def _check_size(design: Document, top: str, over: float = 1.0, more: int = 0) -> None:
    """BadInput, with the estimate, for a design that would take hours; `more` is a number of additional
    cells.
    """
    cells = round(estimate.cells(design) / over) + more
    if cells > MAX_CELLS:
        raise BadInput(
            f"{top} would take some {cells:,} cells, about {cells * SECONDS_A_CELL / 60:.0f} min and "
            f"{cells * MIB_A_CELL / 1024:.1f} GiB to be synthesised: at most {MAX_CELLS:,} can be; take a "
            "smaller width or fewer units"
        )
