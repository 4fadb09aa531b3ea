"""Placement by our own: cells spread over the core (global_placer.cpp), then brought into rows and improved there (detailed_placer.cpp).

Coriolis (coriolis_job.py) does it for smaller designs. On the same netlists ours has less wire and takes a fraction of the time
(flow/README.md has the table), but every figure of a layout that was ever published here would be another one; so it begins where
Coriolis is what a flow waits for: LEAST_CELLS.

A job is Coriolis': `place._floorplan` writes it, and the result has the same form.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from ..kit.lef import Lef, dbu
from . import searching

LEAST_CELLS = 20_000  # from which on a netlist is placed by this and not by Coriolis
GLOBAL, DETAILED = (Path(__file__).with_name(f"{name}_placer.cpp") for name in ("global", "detailed"))
FULLER = 0.05  # share of the area by which a spot may be fuller than the average: with more, wires do not fit there
FULLEST = 0.95  # of a spot, where the average is less
IN_ROWS = 0.05  # by which cells that are in rows may go beyond that
STEPS, ROUNDS = 1500, 8  # at most; some 350 and 3 are taken

Point = tuple[int, int]


def run(job: dict[str, Any], lef: Lef) -> dict[str, Any]:
    """Where the cells of a job go, and the seconds that it took."""
    start = time.monotonic()
    task = _Task(job, lef)
    spots = spread(task)
    spread_s = time.monotonic() - start
    cells = into_rows(task, spots)
    return {"cells": cells, "seconds": {"spread": spread_s, "rows": time.monotonic() - start - spread_s}}


class _Task:
    """A job in numbers, from the lower left corner of its core."""

    def __init__(self, job: dict[str, Any], lef: Lef) -> None:
        self.x, self.y, right, top = job["core"]
        self.site, self.row = job["site"], dbu(lef.row_height)
        self.width, self.height = right - self.x, top - self.y
        self.full = min(job["density"] + FULLER, max(FULLEST, job["density"]))
        macros = {kind: lef.macro(kind) for kind in set(job["cells"])}
        self.widths = [dbu(macros[kind].width) for kind in job["cells"]]
        pins = {
            kind: {name: (dbu(pin.centre[0]), dbu(pin.centre[1])) for name, pin in macro.pins.items()}
            for kind, macro in macros.items()
        }
        self._pins = [pins[kind] for kind in job["cells"]]
        self.ports: list[list[Point]] = [[] for _ in job["nets"]]
        for net, _, _, x, y, _ in job["ports"].values():
            if net is not None:
                self.ports[net].append((x - self.x, y - self.y))
        self._terminals = job["nets"]

    def nets(self) -> Iterator[str]:
        """A line for each net: its pins, from the corners of their cells, and its ports."""
        yield str(len(self.ports))
        for terminals, ports in zip(self._terminals, self.ports, strict=True):
            pins = [(cell, *self._pins[cell][pin]) for cell, pin in terminals]
            pins += [(-1, x, y) for x, y in ports]
            yield f"{len(pins)} " + " ".join(f"{cell} {x} {y}" for cell, x, y in pins)


def spread(task: _Task) -> list[Point]:
    """The lower left corner of each cell in the core, for short wires and no spot that is too full; in no rows yet."""

    def lines() -> Iterator[str]:
        yield f"{task.width} {task.height} {task.row} {round(1000 * task.full)} {STEPS}"
        yield str(len(task.widths))
        yield from map(str, task.widths)
        yield from task.nets()

    answer = searching.run(GLOBAL, "spreading cells", lines())
    next(answer)
    return [(next(answer), next(answer)) for _ in task.widths]


def into_rows(task: _Task, spots: list[Point]) -> list[list[Any]]:
    """[x, y, orientation] of each cell, in a row near to its spot or where its wires are shorter."""
    rows, sites = task.height // task.row, task.width // task.site
    first = task.y // task.row % 2  # whether the lowest row is upside down

    def lines() -> Iterator[str]:
        fullest = round(1000 * min(1.0, task.full + IN_ROWS))
        yield f"{rows} {sites} {task.site} {task.row} {first} {fullest} {ROUNDS}"
        yield str(len(spots))
        for width, (x, y) in zip(task.widths, spots, strict=True):
            yield f"{width // task.site} {x} {y}"
        yield from task.nets()

    answer = searching.run(DETAILED, "cells in rows", lines())
    if homeless := next(answer):
        raise BadInput(
            f"{homeless:,} of {len(spots):,} cells find no row with room for them: give a lower density (--density)"
        )
    cells: list[list[Any]] = []
    for _ in spots:
        row, site, mirrored = next(answer), next(answer), next(answer)
        orient = ("FS", "S") if (row + first) % 2 else ("N", "FN")
        cells.append([task.x + site * task.site, task.y + row * task.row, orient[mirrored]])
    return cells
