"""Description of a design that goes through the flow: design.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..fl.errors import BadInput
from . import product
from .product import Product


class Published(msgspec.Struct, frozen=True):
    """Figures of a work that the summary shows beside those of a run."""

    citation: str
    name: str = ""
    energy_nj: dict[str, float] = {}  # by operation


class Description(Product):
    """The names by which the flow finds its way in the Verilog, and what its summary says of the design."""

    FILE = "design.json"
    STEP = "rtl"

    name: str
    top: str
    clock_port: str | None = "clk"
    reset_port: str | None = None
    interface: str = "verilog"
    place: str = ", Verilog"  # words for the summary: behind what it stands
    nbits: int | None = None
    parameters: Mapping[str, Any] = {}
    paper: str = ""  # the work whose machine it is
    published: Published | None = None
    files: tuple[str, ...] = ()  # names of the files of Verilog from elsewhere
    core: str = ""  # the instance in the top module whose figures count, where the rest only drives it
    core_top: str = ""  # a module that is this instance alone


def load(path: Path | str) -> Description:
    """The description in a file; BadInput for what is none."""
    try:
        return product.read(path, Description)
    except BadInput as error:
        raise BadInput(f"{error}; give name and top, as flow/README.md has them") from None
