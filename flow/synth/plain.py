"""Plain synthesis: one script of Yosys and abc, which anyone can run by hand.

The folder `script` of the outputs holds plain.ys with everything that it reads. Run there by hand, it writes
the same netlist, mapped.v. It does what every synthesis does: Booth multipliers, carries that suit a chain of
additions, clock gates and mapping. Sums stay as the source has them, so designs that differ in the form of a
sum differ in area and delay. Afterwards constants get tie cells, ports that share a net get buffers, and
cells get names (netlist_files.py).
"""

import json
from dataclasses import dataclass
from pathlib import Path

from ..kit.kit import Kit
from ..netlist import document, logic, yosys
from ..netlist.document import Module
from ..progress import say
from . import estimate, script, source_latches
from .mapped import MOST_CHOSEN, SCRIPT, Mapped, show_scripts
from .netlist_files import name_cells, tie_and_split
from .read_design import COARSE, HIERARCHY, as_read, read_design, slang_source

STYLE = "plain"
SHOWN = (
    *("plain.ys", "plain.abc", "plain.constr", "plain.log", "ripple.v", "design.sv", "mapped.v"),
    *source_latches.FILES,
)
NETLIST, REGISTERS = "mapped.json", "registers.json"
CHOICES = "&dch -f"  # between structures


@dataclass(frozen=True)
class Options:
    """Options of the style."""

    booth: bool = True
    clock_gating: bool = True
    hierarchy: bool = False  # map each module separately


def mapped(design_sv: Path, top: str, out: Path, clock_ns: float, options: Options, files: Kit) -> Mapped:
    """Map a design by a script, which stays in the folder script of `out`."""
    work, folder = out / "work", out / "work" / SCRIPT
    folder.mkdir(exist_ok=True)
    say("reading")
    reading = read_design(design_sv, top, work)
    few = estimate.cells(document.load(work / COARSE)) <= MOST_CHOSEN
    (folder / "design.sv").write_text(slang_source(design_sv, work).read_text())
    asked = files.library.kit.constraints
    (folder / "plain.constr").write_text(script.constraints(asked.driving_cell, asked.output_load_ff))
    (folder / "plain.abc").write_text(script.filled_in("plain.abc", {"choices": CHOICES if few else ""}))
    (folder / "ripple.v").write_text((script.FOLDER / "ripple.v").read_text())
    say(f"mapping {top}")
    latches = source_latches.commands(reading.latches, files.library, top, folder)
    text = script.filled_in(
        "plain.ys", {**_values(top, folder, clock_ns, options, files), "latches": latches}
    )
    run = yosys.run(STYLE, text, folder, numbered=False)
    before, module = (_named_as_read(folder / name, top, options) for name in (REGISTERS, NETLIST))
    library = files.library
    tie_and_split(module, library, module["ports"])
    hierarchy = json.loads((work / HIERARCHY).read_text())
    owners = name_cells(
        logic.read(before, library), module, hierarchy, top, library, latches=reading.latches.bits
    )
    show_scripts(folder, SHOWN, out)
    return Mapped(module, owners, options, max(reading.peak_memory_mib, run.peak_memory_mib))


def _values(top: str, folder: Path, clock_ns: float, options: Options, files: Kit) -> dict[str, str]:
    """The parameters of plain.ys."""
    library, flatten = files.library, "flatten -noscopeinfo"
    return {
        "top": top,
        "library": yosys.scripted(files.lib, folder),
        "period_ps": f"{clock_ns * script.MARGIN * script.PS_PER_NS:.0f}",
        "booth": "booth" if options.booth else "",
        "clock_gate": script.clock_gating(library) if options.clock_gating else "",
        "flatten": "" if options.hierarchy else flatten,
        "flatten_late": flatten if options.hierarchy else "",
    }


def _named_as_read(path: Path, top: str, options: Options) -> Module:
    """The module of a netlist, with the instances of generate loops named as read_design names them."""
    if options.hierarchy and path.name == REGISTERS:
        flat = path.with_name("flat.json")
        yosys.run(
            "flatten", f"read_json {path.name}\nflatten -noscopeinfo\nwrite_json {flat.name}\n", path.parent
        )
        path = flat
    module = document.module(path, top)
    module["netnames"] = {as_read(name): net for name, net in module["netnames"].items()}
    return module
