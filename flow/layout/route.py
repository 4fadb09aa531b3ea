"""Routing: the way of every net over the die, from a placement.

Global routing by Coriolis' Katana for designs of any size: every net as segments between the squares of a grid, with the
capacity of the layers of signals kept. It gives each net's length with its detours, and the density of wires. For
small designs detailed.py then makes every wire, and the lengths are those of its wires.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from .. import product
from ..kit import kit
from ..kit.def_ import Wire
from ..kit.lef import DBU, Lef
from ..netlist.netlist import PORT, Netlist, read
from ..product import Product
from . import coriolis_job
from .detailed import Detailed, route_detailed
from .placement import Placement, load, refuse_large, wired_nets

SQUARE_ROWS = 4  # side of the squares of which congestion is told


class Congestion(msgspec.Struct):
    """Wires across the borders of squares, by direction; see `congestion`."""

    square_um: float
    horizontal: Use
    vertical: Use
    edges: int
    overflowing: int


class Use(msgspec.Struct):
    """Of the tracks in one direction."""

    tracks: float
    mean_use: float
    worst_use: float


class InDetail(msgspec.Struct):
    """The detailed routing."""

    done: bool
    why_not: str
    seconds: float
    rounds: int


# a layer and the two ends of a wire; or a via, its lower layer, and where it is
Segment = tuple[str, float, float, float, float]
ViaPlace = tuple[str, str, float, float]


class RoutedNet(msgspec.Struct, omit_defaults=True):
    """The segments of the global routing of a net and, where it was routed in detail, its wires and vias; lengths in um."""

    length_um: float
    segments: list[Segment]
    wires: list[Segment] = []
    vias: list[ViaPlace] = []


class Routing(Product):
    """What routing.json says."""

    FILE: ClassVar[str] = "routing.json"
    STEP: ClassVar[str] = "route"

    tool: str
    success: bool  # of the global routing: the router found room for all
    congestion: Congestion  # counted from its wires
    seconds: dict[str, float]
    detailed: InDetail
    nets: dict[str, RoutedNet]

    @property
    def length_um(self) -> float:
        """Of all wires."""
        return sum(each.length_um for each in self.nets.values())

    def wires(self) -> dict[str, list[Wire]]:
        """By net, the wires and vias of the detailed routing: none without one."""
        found: dict[str, list[Wire]] = {}
        for name, net in self.nets.items():
            pieces = [
                Wire(layer, _dbu(x0), _dbu(y0), _dbu(x1), _dbu(y1)) for layer, x0, y0, x1, y1 in net.wires
            ]
            for via, layer, x, y in net.vias:
                pieces.append(Wire(layer, _dbu(x), _dbu(y), _dbu(x), _dbu(y), via))
            if pieces:
                found[name] = pieces
        return found


def _dbu(um: float) -> int:
    return round(um * DBU)


def load_routing(path: Path | str) -> Routing:
    """The routing in routing.json."""
    return product.read(path, Routing)


def route(
    placement_json: Path,
    netlist_json: Path,
    out_dir: Path,
    *,
    adk: Path | None = None,
    in_detail: bool = True,
) -> Routing:
    """Route globally, and if asked and the design is small enough in detail; writes routing.json."""
    coriolis_job.require()
    out_dir = Path(out_dir)
    files = kit.find(adk)
    lef = files.geometry
    placement, netlist = load(placement_json), read(netlist_json, files.library)
    refuse_large(netlist, "route")
    nets = wired_nets(netlist)
    job = _job(placement, netlist, nets)
    job |= {"kit": str(Path(adk).absolute()) if adk else "", "pin_width": lef.routing[1].width}
    result = coriolis_job.run(job, out_dir / "route.log")
    table: dict[str, RoutedNet] = {}
    for net, segments in zip(nets, result["segments"], strict=True):
        length = sum(abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in segments)
        pieces = [(layer, x0 / DBU, y0 / DBU, x1 / DBU, y1 / DBU) for layer, x0, y0, x1, y1 in segments]
        table[netlist.nets[net]] = RoutedNet(round(length / DBU, 3), pieces)
    found = Detailed(False, "not asked for", 0.0, 0, {})
    if in_detail:
        found = route_detailed(placement, netlist, lef)
    for name, wires in found.wires.items():
        straight = [wire for wire in wires if not wire.via]
        ends = [(wire.layer, wire.x0 / DBU, wire.y0 / DBU, wire.x1 / DBU, wire.y1 / DBU) for wire in straight]
        net_of = table[name]
        net_of.length_um = round(sum(abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in ends), 3)
        net_of.wires = ends
        net_of.vias = [(wire.via, wire.layer, wire.x0 / DBU, wire.y0 / DBU) for wire in wires if wire.via]
    seconds = {name: round(value, 2) for name, value in result["seconds"].items()}
    seconds["detailed"] = found.seconds
    routing = Routing(
        tool=f"coriolis-eda {coriolis_job.version()}",
        success=result["success"],
        congestion=congestion(table, placement, lef),
        seconds=seconds,
        detailed=InDetail(found.done, found.why_not, found.seconds, found.rounds),
        nets=table,
    )
    routing.write(out_dir)
    return routing


def congestion(table: Mapping[str, RoutedNet], placement: Placement, lef: Lef) -> Congestion:
    """How many wires cross the borders of squares, of the tracks that there are above the cells, up to the last layer of signals.

    The router's own squares are a row high; these are wider, as wires can go around within a few of them.
    """
    side = SQUARE_ROWS * lef.row_height
    columns, rows = (math.ceil(length / side) for length in placement.die_um)
    segments = np.array([ends[1:] for net in table.values() for ends in net.segments]).reshape(-1, 4)
    uses: dict[str, Use] = {}
    overflowing = edges = 0
    for axis, way in enumerate(("HORIZONTAL", "VERTICAL")):
        layers = [each for each in lef.routing[1 : len(lef.kit.layers.signal)] if each.direction == way]
        tracks = sum(side / layer.pitch for layer in layers)
        along = segments[segments[:, 1 - axis] == segments[:, 3 - axis]]
        low, high = (
            np.floor(edge(along[:, axis], along[:, axis + 2]) / side).astype(int)
            for edge in (np.minimum, np.maximum)
        )
        line = np.floor(along[:, 1 - axis] / side).astype(int)
        size = (rows, columns) if axis == 0 else (columns, rows)
        used = np.zeros((size[0] + 1, size[1] + 2))
        np.add.at(used, (line, low), 1)
        np.add.at(used, (line, high), -1)
        share = np.cumsum(used, axis=1)[: size[0], : size[1] - 1] / tracks
        overflowing += int((share > 1).sum())
        edges += share.size
        mean, worst = (float(share.mean()), float(share.max())) if share.size else (0.0, 0.0)
        uses[way.lower()] = Use(round(tracks, 1), round(mean, 4), round(worst, 4))
    return Congestion(square_um=round(side, 3), **uses, edges=edges, overflowing=overflowing)


def _job(placement: Placement, netlist: Netlist, nets: list[int]) -> dict[str, Any]:
    number = {name: index for index, name in enumerate(netlist.cells)}
    terminals = []
    for net in nets:
        ends = [*netlist.sinks[net], netlist.driver[net]]
        terminals.append([[number[owner], pin] for owner, pin in filter(None, ends) if owner != PORT])
    index = {netlist.nets[net]: order for order, net in enumerate(nets)}
    pins: dict[str, list[Any]] = {}
    for pin in placement.pins.values():
        if pin.net in index:
            at = [round(pin.x_um * DBU), round(pin.y_um * DBU)]
            pins.setdefault(pin.net, [index[pin.net], pin.direction, pin.layer, *at, pin.side])
    cells = []
    for name in netlist.cells:
        each = placement.instances[name]
        cells.append([each.kind, round(each.x_um * DBU), round(each.y_um * DBU), each.orient])
    return {
        "task": "route",
        "density": placement.density,
        "die": [round(value * DBU) for value in placement.die_um],
        "core": [round(value * DBU) for value in placement.core_um],
        "cells": cells,
        "nets": terminals,
        "pins": list(pins.values()),
    }
