"""Coriolis told about the kit: technology, routing gauge and cells, for use inside one process of its own.

Coriolis (coriolis-eda, Sorbonne Université LIP6) brings no set-up for FreePDK45. Layers, pitches, offsets and widths are
the LEF's own; the settings of the placer are those that Coriolis' examples have for other processes. Only
coriolis_engine, which runs in a subprocess, imports it: Coriolis keeps everything in globals, prints as it likes and may
end the process.
"""

from coriolis import CRL, Cfg
from coriolis.Anabatic import StyleFlags
from coriolis.CRL import AllianceFramework, CellGauge, LefImport, RoutingGauge, RoutingLayerGauge
from coriolis.helpers import u
from coriolis.helpers.overlay import CfgCache
from coriolis.helpers.technology import createBL, createVia, setEnclosures
from coriolis.Hurricane import BasicLayer, DataBase, DbU, Library, Technology

from ..kit.kit import Kit
from ..kit.kit_file import Cells
from ..kit.lef import DBU, Lef

GAUGE = "kit"
AUXILIARY = ("text.cell", "text.instance", "SPL1", "AutoLayer")  # layers that Coriolis asks for by name


def _technology(lef: Lef) -> None:
    DataBase.create()
    CRL.System.get()
    technology = Technology.create(DataBase.getDB(), GAUGE)
    DbU.setPrecision(2)
    DbU.setPhysicalsPerGrid(0.0025, DbU.UnitPowerMicro)  # MANUFACTURINGGRID of the LEF
    with CfgCache(priority=Cfg.Parameter.Priority.ConfigurationFile) as cfg:
        cfg.gdsDriver.metricDbu = 1e-6 / DBU
        cfg.gdsDriver.dbuPerUu = 1 / DBU
    DbU.setGridsPerLambda(10)
    DbU.setSymbolicSnapGridStep(DbU.fromGrid(1.0))
    DbU.setPolygonStep(DbU.fromGrid(1.0))
    DbU.setStringMode(DbU.StringModePhysical, DbU.UnitPowerMicro)
    material = BasicLayer.Material
    for name, kind in (("nwell", material.nWell), ("active", material.active), ("poly", material.poly)):
        createBL(technology, name, kind)
    createBL(technology, "contact", material.cut)
    metals = []
    for index, layer in enumerate(lef.routing):  # the order of creation is the order of the stack
        size, spacing = u(layer.width), u(layer.spacing)
        metals.append(createBL(technology, layer.name, material.metal, size=size, spacing=spacing))
        for cut in lef.cuts[index : index + 1]:
            createBL(technology, cut.name, material.cut, size=u(cut.width), spacing=u(cut.spacing))
    for layer, metal in zip(lef.routing, metals, strict=True):
        metal.setBlockageLayer(createBL(technology, f"{layer.name}.block", material.blockage))
    for index, cut in enumerate(lef.cuts):
        below, above = lef.routing[index], lef.routing[index + 1]
        via = createVia(
            technology, f"VIA{index + 1}{index + 2}", below.name, cut.name, above.name, u(cut.width)
        )
        for layer, metal in ((below, metals[index]), (above, metals[index + 1])):
            setEnclosures(via, metal, _enclosure(lef, index, cut.name, layer.name, layer.direction))
    for name in AUXILIARY:
        createBL(technology, name, material.other)
    for name, kind in (("gmetalh", material.metal), ("gcontact", material.cut), ("gmetalv", material.metal)):
        createBL(technology, name, kind)


def _enclosure(lef: Lef, index: int, cut: str, layer: str, direction: str) -> tuple[int, int]:
    """How far the metal goes beyond the cut: the narrowest of the LEF's vias across the preferred direction of the layer."""
    choices = []
    for shapes in lef.vias.values():
        if cut in shapes and layer in shapes:
            inner, outer = shapes[cut], shapes[layer]
            choices.append((round(outer[2] - inner[2], 4), round(outer[3] - inner[3], 4)))
    dx, dy = min(choices, key=lambda each: each if direction == "VERTICAL" else each[::-1])
    return u(max(dx, 0)), u(max(dy, 0))


def _routing(lef: Lef) -> None:
    framework = AllianceFramework.get()
    technology = DataBase.getDB().getTechnology()
    gauge = RoutingGauge.create(GAUGE)
    gauge.setSymbolic(False)
    kinds = RoutingLayerGauge
    signals = len(lef.kit.layers.signal)
    for index, layer in enumerate(lef.routing[: signals + 2]):
        direction = kinds.Horizontal if layer.direction == "HORIZONTAL" else kinds.Vertical
        kind = kinds.PinOnly if index == 0 else kinds.Default if index < signals else kinds.PowerSupply
        width = u(layer.width)
        via = u(max(layer.width, lef.cuts[index].width))
        gauge.addLayerGauge(
            kinds.create(
                technology.getLayer(layer.name),
                direction,
                kind,
                index,
                0.0,
                u(layer.offset),
                u(layer.pitch),
                width,
                width,
                via,
                u(0.0),
            )
        )
    framework.addRoutingGauge(gauge)
    framework.setRoutingGauge(GAUGE)
    cells = CellGauge.create(
        f"LEF.{lef.site}", lef.routing[0].name, u(lef.site_width), u(lef.row_height), u(0.01)
    )
    framework.addCellGauge(cells)
    framework.setCellGauge(f"LEF.{lef.site}")


def _settings(lef: Lef, roles: Cells, registers: list[str], density: float) -> None:
    environment = AllianceFramework.get().getEnvironment()
    supply = lef.kit.supply
    environment.setRegister("|".join(registers))
    environment.setPOWER(supply.power)
    environment.setGROUND(supply.ground)
    fillers = sorted(roles.fillers)
    with CfgCache(priority=Cfg.Parameter.Priority.ConfigurationFile) as cfg:
        cfg.misc.catchCore = False
        cfg.misc.info = False
        cfg.misc.paranoid = False
        cfg.misc.bug = False
        cfg.misc.logMode = True
        cfg.misc.verboseLevel1 = True
        cfg.misc.verboseLevel2 = False
        cfg.lefImport.minTerminalWidth = 0.0
        cfg.crlcore.groundName = supply.ground
        cfg.crlcore.powerName = supply.power
        cfg.etesian.bloat = "disabled"
        cfg.etesian.aspectRatio = 1.0
        cfg.etesian.spaceMargin = 1.0 - density
        cfg.etesian.densityVariation = 0.2  # coriolis_engine says why
        cfg.etesian.uniformDensity = True
        cfg.etesian.routingDriven = False
        cfg.etesian.feedNames = ",".join(fillers)
        cfg.etesian.defaultFeed = fillers[0]
        cfg.etesian.cell.zero = roles.tie_low
        cfg.etesian.cell.one = roles.tie_high
        cfg.etesian.latchUpDistance = 0
        cfg.etesian.effort = 2
        cfg.etesian.graphics = 3
        cfg.anabatic.routingGauge = GAUGE
        cfg.anabatic.cellGauge = f"LEF.{lef.site}"
        cfg.anabatic.topRoutingLayer = lef.kit.layers.signal[-1]
        cfg.anabatic.netBuilderStyle = (
            "VH,3RL+"  # pins on the lowest layer, first wires vertical on the second
        )
        cfg.anabatic.routingStyle = StyleFlags.VH
        cfg.clockTree.placerEngine = "Etesian"
        cfg.spares.buffer = roles.clock_leaf  # asked for, though nothing is made with it


def set_up(files: Kit, *, density: float) -> Library:
    """Make the technology known and read the cells; returns their library."""
    lef, cells = files.geometry, files.library.cells
    registers = [name for name, cell in cells.items() if cell.ff]
    _technology(lef)
    _routing(lef)
    _settings(lef, files.library.roles, registers, density)
    framework = AllianceFramework.get()
    library = Library.create(DataBase.getDB().getRootLibrary(), "cells")
    framework.wrapLibrary(library, 0)
    LefImport.load(str(files.tech_lef))
    LefImport.setMergeLibrary(library)
    LefImport.load(str(files.lef))
    framework.wrapLibrary(library, 1)
    return library
