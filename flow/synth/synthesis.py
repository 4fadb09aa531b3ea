"""Logic synthesis: from SystemVerilog to a flat netlist of library cells, each with its source module.

The style `plain` runs one script that leaves sums as they are written (plain.py). The style `optimised`
rewrites arithmetic before mapping (optimised.py). Both refuse a design that is no circuit (read_design.py)
and name the cells after the source (netlist_files.py). The room sizing changes the netlist afterwards.

Clock gating makes one gate for each group of at least script.MIN_GATED registers that share an enable.

Outputs in `out`: netlist.v, netlist.json, hierarchy.json, area.json, synthesis.json, and the
folder script; other files and logs in work/.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import ModuleType
from typing import Any

from ...fl.errors import BadInput, unknown
from ..gc_pause import uncollected
from ..kit import kit
from ..kit.constraints import CLOCK_NS, LONGEST_NS
from ..netlist import ownership, yosys
from ..product import Product
from ..progress import stopwatch
from . import optimised, plain
from .netlist_files import write_netlist
from .read_design import HIERARCHY

STYLES: Mapping[str, ModuleType] = {style.STYLE: style for style in (plain, optimised)}


class SynthesisReport(Product, kw_only=True):
    """How a netlist was made: synthesis.json."""

    FILE = "synthesis.json"
    STEP = "synthesis"

    tool: str = "yosys"
    version: str
    style: str
    clock_ns: float
    options: dict[str, str | bool]
    seconds: float
    peak_memory_mib: float
    # of the style optimised
    shared_adders: int = 0
    carry_save_rows: int = 0
    caveats: tuple[str, ...] = ()
    structure: str = ""  # of STRUCTURES, WITHOUT_CHOICES or AREA_STRUCTURES
    named_cells: Mapping[str, int] = {}  # numbers by kind of the cells that the design names


def chosen(style: str, values: Mapping[str, Any]) -> Any:
    """The options of a style with these values; BadInput for an unknown name or an invalid value."""
    if style not in STYLES:
        raise unknown("style of synthesis", style, STYLES)
    kind = STYLES[style].Options
    known = {field.name: field.default for field in fields(kind)}
    for name, value in values.items():
        if name not in known:
            raise unknown(f"option of the style {style}", name, known)
        if isinstance(known[name], bool) and not isinstance(value, bool):
            raise BadInput(f"{name} = {value}: give True or False")
    return kind(**values)


@uncollected()
def synthesize(
    design_sv: Path,
    top: str,
    out: Path,
    *,
    clock_ns: float = CLOCK_NS,
    style: str = plain.STYLE,
    kit_directory: Path | None = None,
    corner: str = kit.SLOW,
    **options: Any,
) -> None:
    """Write the netlist of module `top` and its reports; BadInput if the design is invalid."""
    elapsed = stopwatch()
    asked = chosen(style, options)
    if not 0 < clock_ns <= LONGEST_NS:
        raise BadInput(f"a clock of {clock_ns} ns: give a period above 0 and up to {LONGEST_NS:g} ns")
    files = kit.find(kit_directory, corner)
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    mapped = STYLES[style].mapped(design_sv, top, out, clock_ns, asked, files)
    hierarchy = json.loads((work / HIERARCHY).read_text())
    write_netlist(out, top, mapped.module, mapped.owners, ownership.module_names(hierarchy, top), files)
    SynthesisReport(
        version=yosys.version(),
        style=style,
        clock_ns=clock_ns,
        options=asdict(mapped.options),
        **mapped.report,
        seconds=elapsed(),
        peak_memory_mib=mapped.peak_memory_mib,
    ).write(out)
