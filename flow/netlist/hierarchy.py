"""Hierarchy of a flat netlist, by cell: hierarchy.json."""

from pathlib import Path

from .. import product
from ..product import Product

PLACED = "hierarchy_placed.json"  # with what placement has added


class Hierarchy(Product):
    """The module that each cell belongs to, by its path; and the module of each path."""

    FILE = "hierarchy.json"
    STEP = "synthesis"

    cells: dict[str, str]
    modules: dict[str, str]


def load(path: Path | str) -> Hierarchy:
    """The hierarchy in a file."""
    return product.read(path, Hierarchy)
