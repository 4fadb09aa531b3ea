"""The placer: spreads cells over the core (global_placer.cpp), then into rows (detailed_placer.cpp)."""

from __future__ import annotations

import time
from collections.abc import Iterator
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


class Placed(NamedTuple):
    """The cells in the order of the floorplan, and the seconds that spreading and rows took."""

    cells: list[Spot]
    seconds: dict[str, float]


def run(floor: Floorplan, lef: Lef) -> Placed:
    """Place the cells of a floorplan."""
    start = time.monotonic()
    task = _Task(floor, lef)
    spots = spread(task)
    spread_s = time.monotonic() - start
    cells = into_rows(task, spots)
    return Placed(cells, {"spread": spread_s, "rows": time.monotonic() - start - spread_s})


class _Task:
    """A floorplan in numbers, from the lower left corner of its core."""

    def __init__(self, floor: Floorplan, lef: Lef) -> None:
        self.x, self.y, right, top = floor.core
        self.site, self.row = floor.site, dbu(lef.row_height)
        self.width, self.height = right - self.x, top - self.y
        self.full = min(floor.density + FULLER, max(FULLEST, floor.density))
        macros = {kind: lef.macro(kind) for kind in set(floor.cells)}
        self.widths = [dbu(macros[kind].width) for kind in floor.cells]
        pins = {
            kind: {name: (dbu(pin.centre[0]), dbu(pin.centre[1])) for name, pin in macro.pins.items()}
            for kind, macro in macros.items()
        }
        self._pins = [pins[kind] for kind in floor.cells]
        self.ports: list[list[Point]] = [[] for _ in floor.nets]
        for port in floor.ports.values():
            if port.wire is not None:
                self.ports[port.wire].append((port.x - self.x, port.y - self.y))
        self._terminals = floor.nets

    def nets(self) -> Iterator[str]:
        """A line for each net: its pins, from the corners of their cells, and its ports."""
        yield str(len(self.ports))
        for terminals, ports in zip(self._terminals, self.ports, strict=True):
            pins = [(cell, *self._pins[cell][pin]) for cell, pin in terminals]
            pins += [(-1, x, y) for x, y in ports]
            yield f"{len(pins)} " + " ".join(f"{cell} {x} {y}" for cell, x, y in pins)


def spread(task: _Task) -> list[Point]:
    """The lower left corner of each cell in the core, for short wires and no spot that is too full; in no
    rows yet.
    """

    def lines() -> Iterator[str]:
        yield f"{task.width} {task.height} {task.row} {round(1000 * task.full)} {STEPS}"
        yield str(len(task.widths))
        yield from map(str, task.widths)
        yield from task.nets()

    answer = subprocess_engine.run(GLOBAL, "spreading cells", lines())
    next(answer)
    return [(next(answer), next(answer)) for _ in task.widths]


def into_rows(task: _Task, spots: list[Point]) -> list[Spot]:
    """Put each cell in a row, near its global position or where its wires are shorter."""
    rows, sites = task.height // task.row, task.width // task.site
    first = task.y // task.row % 2  # whether the lowest row is upside down

    def lines() -> Iterator[str]:
        fullest = round(1000 * min(1.0, task.full + IN_ROWS))
        yield f"{rows} {sites} {task.site} {task.row} {first} {fullest} {ROUNDS}"
        yield str(len(spots))
        for width, (x, y) in zip(task.widths, spots, strict=True):
            yield f"{width // task.site} {x} {y}"
        yield from task.nets()

    answer = subprocess_engine.run(DETAILED, "cells in rows", lines())
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
