"""Area of a netlist by Yosys (`stat -liberty`), compared with area.json."""

import json
import tempfile
from pathlib import Path

from ..kit.kit import Kit
from ..netlist import yosys
from ..synth.area import Area
from .report import Compared

CHECK = "area"
EQUAL = 1e-6
FILE = "stat.json"


def compare(netlist_v: Path, top: str, ours: Area, kit: Kit, where: str) -> list[Compared]:
    """Area and number of cells."""
    area, cells = counted(netlist_v, top, kit)
    tool = f"Yosys {yosys.version()}"
    near = abs(ours.area_um2 - area) <= EQUAL * area
    return [
        Compared(
            check=CHECK, what=f"{what} {where}", ours=own, theirs=other, unit=unit, tool=tool, agrees=agrees
        )
        for what, own, other, unit, agrees in (
            ("area", ours.area_um2, round(area, 6), "um2", near),
            ("cells", ours.cells, cells, "", ours.cells == cells),
        )
    ]


def counted(netlist_v: Path, top: str, kit: Kit) -> tuple[float, int]:
    """um^2 and cells, by Yosys."""
    script = (
        f"read_liberty -lib {kit.lib}\nread_verilog {netlist_v.absolute()}\nhierarchy -check -top {top}\n"
        f"tee -q -o {FILE} stat -liberty {kit.lib} -json\n"
    )
    with tempfile.TemporaryDirectory(prefix="check-") as directory:
        yosys.run("stat", script, Path(directory))
        text = (Path(directory) / FILE).read_text()
    found = json.loads(text[text.index("{") :])["design"]
    return float(found["area"]), int(found["num_cells"])
