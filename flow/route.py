"""Routing: the way of every net over the die, from a placement.

Global routing by Coriolis' Katana for designs of any size: every net as segments between the squares of a grid, with the
capacity of the layers metal2 to metal6 kept. It gives each net's length with its detours, and the density of wires. For
small designs detailed.py then makes every wire, and the lengths are those of its wires.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..fl.errors import BadInput
from . import coriolis_job, kit, liberty
from .def_file import DBU, Wire, read_lef
from .detailed import Detailed, route_detailed
from .files import replace_json
from .netlist import PORT, Netlist, read
from .place import BUFFER, Placement, load, wired_nets


@dataclass
class Routing:
    """What routing.json says, lengths in um.

    A net has `length_um`, the `segments` of the global routing [layer, x0, y0, x1, y1], and where it was routed in
    detail its `wires`, likewise, and `vias` [via, its lower layer, x, y].
    """

    tool: str
    success: bool  # of the global routing: no overflow is left
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
            pieces = [Wire(layer, *map(_dbu, ends)) for layer, *ends in net.get("wires", [])]
            for via, layer, x, y in net.get("vias", []):
                pieces.append(Wire(layer, *map(_dbu, (x, y, x, y)), via))
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
    lef = read_lef(files.tech_lef, files.lef)
    placement, netlist = load(placement_json), read(netlist_json, liberty.load(files.lib))
    nets = wired_nets(netlist)
    job = _job(placement, netlist, nets)
    job |= {"tech_lef": str(files.tech_lef), "lef": str(files.lef), "pin_width": lef.routing[1].width}
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
        ends = [
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
    routing = Routing(tool, result["success"], seconds, detailed, table)
    replace_json(out_dir / "routing.json", vars(routing))
    return routing


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
        "buffer": BUFFER,
        "die": [round(value * DBU) for value in placement.die_um],
        "core": [round(value * DBU) for value in placement.core_um],
        "cells": cells,
        "nets": terminals,
        "pins": list(pins.values()),
        "clock": None,
    }
