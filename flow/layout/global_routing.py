"""Global routing: the way of every net from square to square of the die, with the tracks of the layers for
signals kept.

Each net is a Steiner tree (wires.py); each of its edges is a wire that goes straight or with one turn where
there is room, and around where there is none (global_router.cpp). So a net is as long as its tree, and longer
by its detours.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ..kit.lef import DBU, Lef, dbu
from . import subprocess_engine
from .placed import Placed
from .routing import Segment
from .wires import Tree, steiner_tree, terminal_positions

SOURCE = Path(__file__).with_name("global_router.cpp")
SQUARE_ROWS = 2  # side of a square: of one row only, pins alone fill many
# percent of the tracks that wires should take: where all have a tenth more, detailed routing finds no ways
# around
SHARE = 75
ROUNDS, SECONDS = 40, 600  # of the processor, which a busy machine does not change


@dataclass
class Ways:
    """The segments of each net; how many borders of squares are too full, by how many wires in all."""

    segments: dict[int, list[Segment]]
    full: int
    wires_over: int
    rounds: int
    seconds: float  # of the processor, ours and the router's


def tracks(lef: Lef, side: float) -> tuple[float, float]:
    """How many wires there is room for in a side's length above the cells, up to the last layer of signals:
    horizontal, vertical.
    """
    layers = lef.routing[1 : len(lef.kit.layers.signal)]
    across, along = (
        sum(side / layer.pitch for layer in layers if layer.direction == way)
        for way in ("HORIZONTAL", "VERTICAL")
    )
    return across, along


def route_globally(placed: Placed) -> Ways:
    """A way for every net that has a wire."""
    start = _processor_seconds()
    trees = {net: steiner_tree(points) for net, _, points in terminal_positions(placed)}
    answer = subprocess_engine.run(SOURCE, "global routing", _task(trees, placed))
    full, wires_over, rounds = (next(answer) for _ in range(3))
    layers = placed.lef.kit.layers.horizontal, placed.lef.kit.layers.vertical
    segments = {
        net: [piece for _ in tree.edges for piece in _segments(answer, layers)] for net, tree in trees.items()
    }
    return Ways(segments, full, wires_over, rounds, round(_processor_seconds() - start, 2))


def _processor_seconds() -> float:
    """CPU time of this process and of the children that it has waited for."""
    return sum(os.times()[:4])


def _task(trees: dict[int, Tree], placed: Placed) -> Iterator[str]:
    side = SQUARE_ROWS * placed.lef.row_height
    columns, rows = (math.ceil(length / side) for length in placed.placement.die_um)
    across, along = (math.floor(track) for track in tracks(placed.lef, side))
    yield f"{columns} {rows} {dbu(side)} {across} {along} {SHARE} {ROUNDS} {SECONDS}"
    yield str(sum(len(tree.edges) for tree in trees.values()))
    for tree in trees.values():
        for edge in tree.edges:
            yield " ".join(str(dbu(value)) for end in edge for value in tree.points[end])


def _segments(answer: Iterator[int], layers: tuple[str, str]) -> Iterator[Segment]:
    """A wire, by its corners in the answer; horizontal ones are on the first of the layers."""
    corners = [(next(answer), next(answer)) for _ in range(next(answer))]
    for (x0, y0), (x1, y1) in pairwise(corners):
        if (x0, y0) != (x1, y1):
            yield layers[x0 == x1], x0 / DBU, y0 / DBU, x1 / DBU, y1 / DBU
