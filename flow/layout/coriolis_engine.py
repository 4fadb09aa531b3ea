"""Placement by Coriolis: `python -m modexlab.flow.layout.coriolis_engine JOB RESULT`.

Runs alone in a process (coriolis_job starts it): Coriolis keeps its state in globals. The job is a JSON file of numbers:
nets and cells have none of their names here, so that no name can trip Coriolis. Lengths are database units of the DEF.

Job: kit (a path or ""), density, die [w, h], core [x0, y0, x1, y1], cells [kind, ...], nets [[[cell, pin], ...]],
pins [[net, direction, layer, x, y, side]]. The result has cells [[x, y, orient], ...].

The placer is Coloquinte (G. Gouvine), analytical, inside Coriolis' Etesian.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from coriolis.CRL import AllianceFramework
from coriolis.helpers import overlay, u
from coriolis.Hurricane import (
    Box,
    Cell,
    DataBase,
    Instance,
    Library,
    Net,
    NetExternalComponents,
    Pin,
    Transformation,
)

from ..kit import kit
from ..kit.kit_file import Supply
from ..kit.lef import DBU
from .coriolis_setup import set_up

ORIENT = {"N": Transformation.Orientation.ID, "FS": Transformation.Orientation.MY}
ORIENT |= {"S": Transformation.Orientation.R2, "FN": Transformation.Orientation.MX}


def _length(dbu: int) -> int:
    return u(dbu / DBU)


def _dbu(length: int) -> int:
    return round(length / u(1.0) * DBU)


class Design:
    """The job's netlist in Hurricane, Coriolis' database."""

    def __init__(self, job: dict[str, Any], library: Library, supply: Supply) -> None:
        masters = {cell.getName(): cell for cell in library.getCells()}
        with overlay.UpdateSession():
            self.cell: Cell = AllianceFramework.get().createCell("chip")
            for name, kind in ((supply.power, Net.Type.POWER), (supply.ground, Net.Type.GROUND)):
                net = Net.create(self.cell, name)
                net.setExternal(True)
                net.setGlobal(True)
                net.setType(kind)
            self.nets = [Net.create(self.cell, f"n{index}") for index in range(len(job["nets"]))]
            self.instances = [
                Instance.create(self.cell, f"c{index}", masters[kind])
                for index, kind in enumerate(job["cells"])
            ]
            for net, terminals in zip(self.nets, job["nets"], strict=True):
                for index, pin in terminals:
                    instance = self.instances[index]
                    instance.getPlug(instance.getMasterCell().getNet(pin)).setNet(net)
            width, height = job["die"]
            self.cell.setAbutmentBox(Box(0, 0, _length(width), _length(height)))
            self._pins(job)

    def _pins(self, job: dict[str, Any]) -> None:
        technology = DataBase.getDB().getTechnology()
        towards = {
            "W": Pin.Direction.WEST,
            "E": Pin.Direction.EAST,
            "S": Pin.Direction.SOUTH,
            "N": Pin.Direction.NORTH,
        }
        for index, direction, layer, x, y, side in job["pins"]:
            net = self.nets[index]
            net.setExternal(True)
            net.setDirection(Net.Direction.IN if direction == "input" else Net.Direction.OUT)
            width = u(job["pin_width"])
            metal = technology.getLayer(layer)
            status = Pin.PlacementStatus.FIXED
            where = (_length(x), _length(y), width, width)
            pin = Pin.create(net, f"{net.getName()}.0", towards[side], status, metal, *where)
            NetExternalComponents.setExternal(pin)


def place(job: dict[str, Any], design: Design) -> dict[str, Any]:
    """Positions of all cells."""
    # importing the plugin makes a database of its own unless there is one
    from coriolis.plugins.block.block import Block
    from coriolis.plugins.block.configuration import BlockConf, IoPin

    cell = design.cell
    area = Box(*(_length(value) for value in job["core"]))
    conf = BlockConf(cell, ioPins=[], ioPads=[])
    conf.cfg.etesian.bloat = "disabled"
    # how much fuller than the average a spot may be. Wire of the 8-bit Montgomery machine at density 0.7: 17.1 mm at 0.05,
    # 15.3 at 0.2, 14.5 at 0.3 and above, where rows fill up and leave routers and later changes no room
    conf.cfg.etesian.densityVariation = 0.2
    conf.cfg.etesian.spaceMargin = 1 - job["density"]
    conf.cfg.etesian.effort = 2
    conf.placeArea = area
    conf.bColumns = conf.bRows = 1
    conf.useSpares = conf.useClockTree = False  # clock_tree.py makes one, with the clock gates in it
    conf.useHFNS = False  # buffers of wide nets are synthesis' work
    block = Block(conf)
    block.setUnexpandPins(IoPin.WEST | IoPin.EAST | IoPin.NORTH | IoPin.SOUTH)
    conf.cfg.apply()
    block.setupAb()
    block.spares.build()
    block.initEtesian()
    block.place()
    with overlay.UpdateSession():
        for instance in [each for each in cell.getInstances() if _is_filler(each)]:
            instance.destroy()
    snap(cell, area, _length(job["site"]))
    cells = []
    for instance in design.instances:
        box, orient = instance.getAbutmentBox(), instance.getTransformation().getOrientation()
        cells.append([_dbu(box.getXMin()), _dbu(box.getYMin()), _orient_name(orient)])
    return {"cells": cells}


def _is_filler(instance: Instance) -> bool:
    return instance.getMasterCell().getName().startswith("FILLCELL")


def _orient_name(orient: int) -> str:
    return next(name for name, value in ORIENT.items() if int(value) == int(orient))


def snap(cell: Cell, area: Box, site: int) -> None:
    """Move every cell to the grid of sites, keeping the order in each row: Etesian lays cells half a site beside it."""
    rows: dict[int, list[Instance]] = {}
    for instance in cell.getInstances():
        rows.setdefault(instance.getAbutmentBox().getYMin(), []).append(instance)
    with overlay.UpdateSession():
        for row in rows.values():
            row.sort(key=lambda each: (each.getAbutmentBox().getXMin(), each.getName()))
            widths = [round(each.getAbutmentBox().getWidth() / site) for each in row]
            starts, free = [], 0
            for instance, width in zip(row, widths, strict=True):
                start = max(round((instance.getAbutmentBox().getXMin() - area.getXMin()) / site), free)
                starts.append(start)
                free = start + width
            limit = area.getWidth() // site
            for index in reversed(range(len(row))):  # push back what went over the end of the row
                starts[index] = min(starts[index], limit - widths[index])
                limit = starts[index]
            for instance, start in zip(row, starts, strict=True):
                move = area.getXMin() + start * site - instance.getAbutmentBox().getXMin()
                if move:
                    at = instance.getTransformation()
                    instance.setTransformation(
                        Transformation(at.getTx() + move, at.getTy(), at.getOrientation())
                    )


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    seconds = {}
    start = time.monotonic()
    files = kit.find(Path(job["kit"]) if job["kit"] else None)
    library = set_up(files, density=job["density"])
    design = Design(job, library, files.geometry.kit.supply)
    seconds["set_up"] = time.monotonic() - start
    start = time.monotonic()
    result = place(job, design)
    seconds["place"] = time.monotonic() - start
    Path(sys.argv[2]).write_text(json.dumps(result | {"seconds": seconds}))


if __name__ == "__main__":
    main()
