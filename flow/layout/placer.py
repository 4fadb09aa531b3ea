"""The placer: spreads cells over the core (global_placer.cpp), then assigns them to rows
(detailed_placer.cpp).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ...fl.errors import BadInput
from ..kit.lef import Lef, dbu
from ..progress import stopwatch
from . import subprocess_engine

GLOBAL, DETAILED = (Path(__file__).with_name(f"{name}_placer.cpp") for name in ("global", "detailed"))
# a spot may be fuller than the average by the smaller of a share of the area and a share of the average:
# beyond that, wires do not fit
FULLER, FULLER_OF_AVERAGE = 0.05, 0.25
FULLEST = 0.95  # of a spot, where the average is less
STEPS, ROUNDS = 1500, 8  # at most; some 350 and 3 are taken
ORIENTS = (("N", "FN"), ("FS", "S"))  # of even and odd rows: plain, mirrored

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
    die: tuple[int, int]
    core: tuple[int, int, int, int]
    site: int
    cells: list[str]  # the kind of each
    nets: list[list[tuple[int, str]]]  # index of a cell, and its pin
    ports: dict[str, Port]
    weights: Sequence[int] = ()  # of the nets, in percent; without any, all weigh the same


def run(floor: Floorplan, lef: Lef) -> tuple[list[Spot], dict[str, float]]:
    """Place the cells of a floorplan; return them in its order, and the seconds of both stages."""
    elapsed = stopwatch()
    left, bottom, right, top = floor.core
    site = floor.site
    row = dbu(lef.row_height)
    fuller = min(FULLER, FULLER_OF_AVERAGE * floor.density)
    full = min(floor.density + fuller, max(FULLEST, floor.density))
    widths = [dbu(lef.macro(kind).width) for kind in floor.cells]
    nets = list(_nets(floor, lef))
    count = str(len(widths))
    # for short wires and no spot that is too full; in no rows yet
    size = f"{right - left} {top - bottom} {row} {round(1000 * full)} {STEPS}"
    answer = subprocess_engine.run(GLOBAL, "spreading cells", [size, count, *map(str, widths), *nets])
    next(answer)
    spots = list(zip(answer, answer, strict=True))
    spread_s = elapsed()
    # each cell in a row, near its global position or where its wires are shorter; the limit rises by
    # the same margin again
    first = bottom // row % 2  # whether the lowest row is upside down
    fullest = round(1000 * min(1.0, full + fuller))
    size = f"{(top - bottom) // row} {(right - left) // site} {site} {row} {first} {fullest} {ROUNDS}"
    wanted = (f"{width // site} {x} {y}" for width, (x, y) in zip(widths, spots, strict=True))
    answer = subprocess_engine.run(DETAILED, "cells in rows", [size, count, *wanted, *nets])
    if homeless := next(answer):
        raise BadInput(
            f"{homeless:,} of {len(spots):,} cells find no row with room for them: give a lower density "
            "(--density)"
        )
    cells = [
        (left + at * site, bottom + number * row, ORIENTS[(number + first) % 2][mirrored])
        for number, at, mirrored in zip(answer, answer, answer, strict=True)
    ]
    return cells, {"spread": spread_s, "rows": elapsed() - spread_s}


def _nets(floor: Floorplan, lef: Lef) -> Iterator[str]:
    """How many nets there are, and of each its ends: a cell and a pin from its corner, or -1 and a port from
    that of the core.
    """
    nets = []
    for terminals in floor.nets:
        pins = ((cell, lef.macro(floor.cells[cell]).pins[pin].centre) for cell, pin in terminals)
        nets.append([(cell, dbu(x), dbu(y)) for cell, (x, y) in pins])
    for port in floor.ports.values():
        if port.wire is not None:
            nets[port.wire].append((-1, port.x - floor.core[0], port.y - floor.core[1]))
    yield str(len(nets))
    for weight, ends in zip(floor.weights or [100] * len(nets), nets, strict=True):
        yield " ".join(map(str, (weight, len(ends), *(number for end in ends for number in end))))
