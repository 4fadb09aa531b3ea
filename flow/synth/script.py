"""Scripts of Yosys and abc with their parameters filled in."""

import re
from collections.abc import Mapping
from pathlib import Path

from ...fl.errors import BadInput
from ..kit.liberty import Library

FOLDER = Path(__file__).parent / "scripts"
MIN_GATED = 4  # registers that share a clock gate
MARGIN = 0.9  # of the clock, for abc's sizing, so that sizes allow for placement
PS_PER_NS = 1000


def filled_in(name: str, values: Mapping[str, str]) -> str:
    """The script NAME with @parameter@ replaced by its value; a line that becomes empty is dropped."""
    lines = (FOLDER / name).read_text().splitlines()
    filled = (re.sub(r"@(\w+)@", lambda match: values[match[1]], line) for line in lines)
    return "".join(f"{line}\n" for line in filled if line)


def clock_gating(library: Library) -> str:
    """The command that inserts clock gates."""
    kind = library.roles.clock_gate
    pins = library.cells[kind].clock_gate
    if pins is None:
        raise BadInput(
            f"the kit's clock gate {kind} has no clock_gating_integrated_cell in {library.name}: name another"
        )
    tie = f" -tie_lo {pins.test}" if pins.test else ""
    return f"clockgate -pos {kind} {pins.enable}:{pins.clock}:{pins.output}{tie} -min_net_size {MIN_GATED}"


def constraints(driving_cell: str, load_ff: float) -> str:
    """Constraints for abc: the cell that drives an input, and the load of an output."""
    return f"set_driving_cell {driving_cell}\nset_load {load_ff}\n"
