"""Description of a design in the flow: design.json."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ..fl.errors import BadInput
from . import product
from .product import Product


class Published(msgspec.Struct, frozen=True):
    """Published figures that the summary compares with those of a run."""

    citation: str
    name: str = ""
    energy_nj: dict[str, float] = {}  # by operation


class Description(Product):
    """The names of the design and its ports in the Verilog, and its description for the summary."""

    FILE = "design.json"
    STEP = "rtl"

    name: str
    top: str
    clock_port: str | None = "clk"
    reset_port: str | None = None
    interface: str = "verilog"
    place: str = ", Verilog"  # interface in words, for the summary
    nbits: int | None = None
    parameters: Mapping[str, Any] = {}
    paper: str = ""  # the paper that the machine is from
    published: Published | None = None
    files: tuple[str, ...] = ()  # names of the user's Verilog files
    core: str = ""  # the measured instance, if the rest of the top module only drives it
    core_top: str = ""  # the module of this instance, as a top module


def load(path: Path) -> Description:
    """Read a description; BadInput if it is invalid."""
    try:
        return product.read(path, Description)
    except BadInput as error:
        raise BadInput(f"{error}; give name and top, as in docs/reference/flow.md") from None
