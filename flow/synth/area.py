"""Area of a netlist by module: area.json."""

from collections import Counter, defaultdict
from collections.abc import Mapping

import msgspec

from ..kit.liberty import Library
from ..netlist.document import Module, enclosing
from ..product import Product

MAPPED = "mapped_area.json"  # before sizing
PLACED = "area_placed.json"  # with the cells that placement added


class ModuleArea(msgspec.Struct):
    """Area and cells of an instance with its sub-instances."""

    path: str
    module: str
    area_um2: float
    cells: int
    share: float
    flops: int = 0


class Area(Product):
    """Area of all cells, and of each instance with its sub-instances."""

    FILE = "area.json"
    STEP = "sizing"

    area_um2: float
    cells: int
    flops: int
    clock_gates: int
    kinds: dict[str, int]
    by_module: list[ModuleArea]


def area(module: Module, owners: Mapping[str, str], modules: Mapping[str, str], library: Library) -> Area:
    """The area of a mapped netlist; `owners` has the path of each cell's module."""
    inside = defaultdict(list)
    for name, cell in module["cells"].items():
        for path in enclosing(owners[name], modules):
            inside[path].append(library.cells[cell["type"]])
    whole = inside[""]
    total = sum(cell.area for cell in whole)

    def of(path: str) -> ModuleArea:
        cells = inside[path]
        area, flops = sum(cell.area for cell in cells), sum(bool(cell.ff) for cell in cells)
        share = round(area / total, 4) if total else 0.0
        return ModuleArea(path, modules[path], round(area, 3), len(cells), share, flops)

    return Area(
        area_um2=round(total, 3),
        cells=len(whole),
        flops=sum(bool(cell.ff) for cell in whole),
        clock_gates=sum(bool(cell.clock_gate) for cell in whole),
        kinds=dict(Counter(cell.name for cell in whole).most_common()),
        by_module=[of(path) for path in modules if path in inside],
    )
