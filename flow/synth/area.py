"""Area of a netlist by module: area.json."""

from collections import Counter, defaultdict
from collections.abc import Mapping

import msgspec

from ..kit.liberty import Library
from ..netlist.document import Module, enclosing
from ..product import Product

PLACED = "area_placed.json"  # with what placement has added


class ModuleArea(msgspec.Struct):
    """An instance with all that is in it."""

    path: str
    module: str
    area_um2: float
    cells: int
    share: float
    flops: int = 0


class Area(Product):
    """All cells, and those inside each instance, its sub-instances included."""

    FILE = "area.json"
    STEP = "synthesis"

    area_um2: float
    cells: int
    flops: int
    clock_gates: int
    kinds: dict[str, int]
    by_module: list[ModuleArea]


def area(module: Module, owners: Mapping[str, str], modules: Mapping[str, str], library: Library) -> Area:
    """Return the area of a mapped netlist whose cells belong to the modules of these paths."""
    area: defaultdict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    flops: Counter[str] = Counter()
    kinds = Counter(cell["type"] for cell in module["cells"].values())
    for name, cell in module["cells"].items():
        kind = library.cells[cell["type"]]
        for path in enclosing(owners[name], modules):
            area[path] += kind.area
            count[path] += 1
            flops[path] += bool(kind.ff)
    total = area[""]
    return Area(
        area_um2=round(total, 3),
        cells=count[""],
        flops=flops[""],
        clock_gates=sum(n for kind, n in kinds.items() if library.cells[kind].clock_gate),
        kinds=dict(kinds.most_common()),
        by_module=[
            ModuleArea(
                path,
                modules[path],
                round(area[path], 3),
                count[path],
                round(area[path] / total, 4) if total else 0.0,
                flops[path],
            )
            for path in modules
            if count[path]
        ],
    )
