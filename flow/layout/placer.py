"""The placer: spreads cells over the core (global_placer.cpp), then into rows (detailed_placer.cpp)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...fl.errors import BadInput
from ..kit.lef import Lef, dbu
from . import subprocess_engine

GLOBAL, DETAILED = (Path(__file__).with_name(f"{name}_placer.cpp") for name in ("global", "detailed"))
# share of the area by which a spot may be fuller than the average: with more, wires do not fit there
FULLER = 0.05
FULLEST = 0.95  # of a spot, where the average is less
IN_ROWS = 0.05  # by which cells that are in rows may go beyond that
STEPS, ROUNDS = 1500, 8  # at most; some 350 and 3 are taken

Point = tuple[int, int]
Spot = tuple[int, int, str]  # x and y of the lower left corner, and the orientation


class Port(NamedTuple):
    """One bit of a port at the edge of the die; `wire` is its index among the nets, None without a reader."""

    wire: int | None
    net: int
    layer: str
    x: int
    y: int
    side: str


@dataclass(frozen=True)
class Floorplan:
    """A netlist to be placed in the rows of a core; all lengths are database units of the DEF."""

    density: float
    die: Point
    core: tuple[int, int, int, int]
    site: int
    cells: list[str]  # the kind of each
    nets: list[list[tuple[int, str]]]  # index of a cell, and its pin
    ports: dict[str, Port]


def run(floor: Floorplan, lef: Lef) -> tuple[list[Spot], dict[str, float]]:
    """Place the cells of a floorplan; returns them in its order, and the seconds of both stages."""
    start = time.monotonic()
    task = _Task(floor, lef)
    spots = _spread(task)
    spread_s = time.monotonic() - start
    cells = _into_rows(task, spots)
    return cells, {"spread": spread_s, "rows": time.monotonic() - start - spread_s}


class _Task:
    """A floorplan in numbers, from the lower left corner of its core."""

    def __init__(self, floor: Floorplan, lef: Lef) -> None:
        self.x, self.y, right, top = floor.core
        self.site, self.row = floor.site, dbu(lef.row_height)
        self.width, self.height = right - self.x, top - self.y
        self.full = min(floor.density + FULLER, max(FULLEST, floor.density))
        macros = {kind: lef.macro(kind) for kind in set(floor.cells)}
        self.widths = [dbu(macros[kind].width) for kind in floor.cells]
        nets: list[list[tuple[int, int, int]]] = []  # cell, or -1 for a port, and a pin from its corner
        for terminals in floor.nets:
            pins = ((cell, macros[floor.cells[cell]].pins[pin].centre) for cell, pin in terminals)
            nets.append([(cell, dbu(x), dbu(y)) for cell, (x, y) in pins])
        for port in floor.ports.values():
            if port.wire is not None:
                nets[port.wire].append((-1, port.x - self.x, port.y - self.y))
        self.nets = [str(len(nets))]
        for ends in nets:
            self.nets.append(f"{len(ends)} " + " ".join(f"{cell} {x} {y}" for cell, x, y in ends))


def _spread(task: _Task) -> list[Point]:
    """The lower left corner of each cell in the core, for short wires and no spot that is too full; in no
    rows yet.
    """
    size = f"{task.width} {task.height} {task.row} {round(1000 * task.full)} {STEPS}"
    lines = [size, str(len(task.widths)), *map(str, task.widths), *task.nets]
    answer = subprocess_engine.run(GLOBAL, "spreading cells", lines)
    next(answer)
    return [(next(answer), next(answer)) for _ in task.widths]


def _into_rows(task: _Task, spots: list[Point]) -> list[Spot]:
    """Put each cell in a row, near its global position or where its wires are shorter."""
    rows, sites = task.height // task.row, task.width // task.site
    first = task.y // task.row % 2  # whether the lowest row is upside down
    fullest = round(1000 * min(1.0, task.full + IN_ROWS))
    lines = [f"{rows} {sites} {task.site} {task.row} {first} {fullest} {ROUNDS}", str(len(spots))]
    lines += [f"{width // task.site} {x} {y}" for width, (x, y) in zip(task.widths, spots, strict=True)]
    answer = subprocess_engine.run(DETAILED, "cells in rows", [*lines, *task.nets])
    if homeless := next(answer):
        raise BadInput(
            f"{homeless:,} of {len(spots):,} cells find no row with room for them: give a lower density "
            "(--density)"
        )
    cells: list[Spot] = []
    for _ in spots:
        row, site, mirrored = next(answer), next(answer), next(answer)
        orient = ("FS", "S") if (row + first) % 2 else ("N", "FN")
        cells.append((task.x + site * task.site, task.y + row * task.row, orient[mirrored]))
    return cells
