"""Source module of each cell of a flat netlist: hierarchy.json."""

from pathlib import Path

from .. import product
from ..product import Product

PLACED = "hierarchy_placed.json"  # with the cells that placement added


class Hierarchy(Product):
    """The path of the module instance that each cell belongs to, and the module of each path."""

    FILE = "hierarchy.json"
    STEP = "sizing"

    cells: dict[str, str]
    modules: dict[str, str]


def load(path: Path) -> Hierarchy:
    """Read the hierarchy from a file."""
    return product.read(path, Hierarchy)
