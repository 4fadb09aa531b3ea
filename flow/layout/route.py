"""Routing: the way of every net over the die, from a placement.

Global routing by Coriolis' Katana for designs of any size: every net as segments between the squares of a grid, with the
capacity of the layers of signals kept. It gives each net's length with its detours, and the density of wires. For
small designs detailed.py then makes every wire, and the lengths are those of its wires.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...fl.errors import BadInput
from ..files import replace_json
from ..kit import kit
from ..kit.def_ import Wire
from ..kit.lef import DBU, Lef
from ..netlist.netlist import PORT, Netlist, read
from . import coriolis_job
from .detailed import Detailed, route_detailed
from .placement import Placement, load, refuse_large, wired_nets

SQUARE_ROWS = 4  # side of the squares of which congestion is told


@dataclass
class Routing:
    """What routing.json says, lengths in um.

    A net has `length_um`, the `segments` of the global routing [layer, x0, y0, x1, y1], and where it was routed in
    detail its `wires`, likewise, and `vias` [via, its lower layer, x, y].
    """

    tool: str
    success: bool  # of the global routing: the router found room for all
    congestion: dict[str, Any]  # counted from its wires, see `congestion`
    seconds: dict[str, float]
    detailed: dict[str, Any]  # done, why_not, seconds, rounds
    nets: dict[str, dict[str, Any]]

    @property
    def length_um(self) -> float:
        """Of all wires."""
        return sum(each["length_um"] for each in self.nets.values())

    def wires(self) -> dict[str, list[Wire]]:
        """By net, the wires and vias of the detailed routing: none without one."""
        found: dict[str, list[Wire]] = {}
        for name, net in self.nets.items():
            pieces = [
                Wire(layer, _dbu(x0), _dbu(y0), _dbu(x1), _dbu(y1))
                for layer, x0, y0, x1, y1 in net.get("wires", [])
            ]
            for via, layer, x, y in net.get("vias", []):
                pieces.append(Wire(layer, _dbu(x), _dbu(y), _dbu(x), _dbu(y), via))
            if pieces:
                found[name] = pieces
        return found


def _dbu(um: float) -> int:
    return round(um * DBU)


def load_routing(path: Path) -> Routing:
    """The routing in routing.json."""
    try:
        return Routing(**json.loads(Path(path).read_text()))
    except OSError as error:
        raise BadInput(f"the routing {path} cannot be read: {error.strerror}; run the step route") from None
    except (ValueError, TypeError) as error:
        raise BadInput(f"{path} is no routing ({error!r}): run the step route again") from None


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
    table: dict[str, dict[str, Any]] = {}
    for net, segments in zip(nets, result["segments"], strict=True):
        length = sum(abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in segments)
        pieces = [[layer, *(value / DBU for value in ends)] for layer, *ends in segments]
        table[netlist.nets[net]] = {"length_um": round(length / DBU, 3), "segments": pieces}
    found = Detailed(False, "not asked for", 0.0, 0, {})
    if in_detail:
        found = route_detailed(placement, netlist, lef)
    for name, wires in found.wires.items():
        straight = [wire for wire in wires if not wire.via]
        ends: list[list[Any]] = [
            [wire.layer, *(value / DBU for value in (wire.x0, wire.y0, wire.x1, wire.y1))]
            for wire in straight
        ]
        table[name]["length_um"] = round(sum(abs(x1 - x0) + abs(y1 - y0) for _, x0, y0, x1, y1 in ends), 3)
        table[name]["wires"] = ends
        table[name]["vias"] = [
            [wire.via, wire.layer, wire.x0 / DBU, wire.y0 / DBU] for wire in wires if wire.via
        ]
    seconds = {name: round(value, 2) for name, value in result["seconds"].items()}
    seconds["detailed"] = found.seconds
    detailed = {
        "done": found.done,
        "why_not": found.why_not,
        "seconds": found.seconds,
        "rounds": found.rounds,
    }
    tool = f"coriolis-eda {coriolis_job.version()}"
    crowded = congestion(table, placement, lef)
    routing = Routing(tool, result["success"], crowded, seconds, detailed, table)
    replace_json(out_dir / "routing.json", vars(routing))
    return routing


def congestion(table: dict[str, dict[str, Any]], placement: Placement, lef: Lef) -> dict[str, Any]:
    """How many wires cross the borders of squares, of the tracks that there are above the cells, up to the last layer of signals.

    The router's own squares are a row high; these are wider, as wires can go around within a few of them.
    """
    side = SQUARE_ROWS * lef.row_height
    columns, rows = (math.ceil(length / side) for length in placement.die_um)
    segments = np.array([ends[1:] for net in table.values() for ends in net["segments"]]).reshape(-1, 4)
    report: dict[str, Any] = {"square_um": round(side, 3)}
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
        report[way.lower()] = {
            "tracks": round(tracks, 1),
            "mean_use": round(float(share.mean()), 4) if share.size else 0.0,
            "worst_use": round(float(share.max()), 4) if share.size else 0.0,
        }
    return report | {"edges": edges, "overflowing": overflowing}


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
