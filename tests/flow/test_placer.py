"""Our own placer: cells in rows, none on another, near to what they are connected with, and the same ones each time."""

import copy
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from modexlab.fl.errors import BadInput
from modexlab.flow import going, product
from modexlab.flow.graph import graph
from modexlab.flow.graph.job import ADK, Job
from modexlab.flow.kit import kit
from modexlab.flow.kit.lef import DBU, Lef
from modexlab.flow.layout import coriolis_job, place, placer, route, wires
from modexlab.flow.layout.placement import Placement

from tests.command_line import Cli

SIDE = 20  # cells of the mesh, up and across
KINDS = "NAND2_X1", "NAND2_X2", "NAND2_X4"
BETTER_THAN_RANDOM = 6  # a legal placement in any order has so many times the wire; 9.7 when this was written
SPOT = 8  # rows: side of the squares that are not to be too full


@pytest.fixture(scope="module")
def lef() -> Lef:
    return kit.find().geometry


def dbu(um: float) -> int:
    return round(um * DBU)


def mesh(lef: Lef, density: float = 0.6) -> dict[str, Any]:
    """A job: each cell drives its neighbours on the right and above, ports the first of each row of the mesh; in no order."""
    draw = random.Random(3)
    number = list(range(SIDE * SIDE))
    draw.shuffle(number)
    kinds = [draw.choice(KINDS) for _ in number]
    nets: list[list[list[Any]]] = []
    for y in range(SIDE):
        for x in range(SIDE):
            net: list[list[Any]] = [[number[y * SIDE + x], "ZN"]]
            if x + 1 < SIDE:
                net.append([number[y * SIDE + x + 1], "A1"])
            if y + 1 < SIDE:
                net.append([number[y * SIDE + SIDE + x], "A2"])
            nets.append(net)
    site, row = dbu(lef.site_width), dbu(lef.row_height)
    area = sum(dbu(lef.macro(kind).width) for kind in kinds) * row / density
    rows = math.ceil(math.sqrt(area) / row)
    sites = math.ceil(area / rows / row / site)
    core = [15 * site, 3 * row, (15 + sites) * site, (3 + rows) * row]
    ports = {}
    for y in range(SIDE):
        nets.append([[number[y * SIDE], "A1"]])
        ports[f"in[{y}]"] = [len(nets) - 1, 0, "metal3", 0, core[1] + (core[3] - core[1]) * y // SIDE, "W"]
    ports["unused"] = [None, 0, "metal3", 0, 0, "W"]
    return {"density": density, "core": core, "site": site, "cells": kinds, "nets": nets, "ports": ports}


@pytest.fixture(scope="module")
def job(lef: Lef) -> dict[str, Any]:
    return mesh(lef)


@pytest.fixture(scope="module")
def cells(job: dict[str, Any], lef: Lef) -> list[list[Any]]:
    return placer.run(job, lef)["cells"]


def length(job: dict[str, Any], cells: list[list[Any]], lef: Lef) -> float:
    """Half perimeters of all nets, in the unit of the job."""
    points: list[list[tuple[float, float]]] = [[] for _ in job["nets"]]
    for net, terminals in enumerate(job["nets"]):
        for cell, pin in terminals:
            macro, (x, y, orient) = lef.macro(job["cells"][cell]), cells[cell]
            dx, dy = macro.pins[pin].centre
            dx = macro.width - dx if orient in ("S", "FN") else dx
            dy = macro.height - dy if orient in ("S", "FS") else dy
            points[net].append((x + dx * DBU, y + dy * DBU))
    for net, _, _, x, y, _ in job["ports"].values():
        if net is not None:
            points[net].append((x, y))
    return sum(wires.half_perimeter(each) for each in points)


def wrong(job: dict[str, Any], cells: list[list[Any]], lef: Lef) -> list[str]:
    """Cells that are in no row, on no site, on another, or stand as their row does not."""
    x0, y0, x1, y1 = job["core"]
    row, found = dbu(lef.row_height), []
    taken: set[tuple[int, int]] = set()
    for name, (kind, (x, y, orient)) in enumerate(zip(job["cells"], cells, strict=True)):
        width = dbu(lef.macro(kind).width)
        if not (x0 <= x and x + width <= x1 and y0 <= y and y + row <= y1):
            found.append(f"{name} is outside")
        if (x - x0) % job["site"] or (y - y0) % row:
            found.append(f"{name} is on no site")
        if orient not in (("N", "FN"), ("FS", "S"))[y // row % 2]:
            found.append(f"{name} stands {orient}")
        own = {(y, at) for at in range(x, x + width, job["site"])}
        if own & taken:
            found.append(f"{name} lies on another")
        taken |= own
    return found


def in_any_order(job: dict[str, Any], lef: Lef) -> list[list[Any]]:
    """A legal placement that knows nothing of nets: all rows are filled alike."""
    x0, y0, _, y1 = job["core"]
    row = dbu(lef.row_height)
    rows = range(y0, y1, row)
    ends = dict.fromkeys(rows, x0)
    order = list(enumerate(job["cells"]))
    random.Random(1).shuffle(order)
    cells: list[list[Any]] = [[] for _ in order]
    for name, kind in order:
        y = min(rows, key=ends.__getitem__)
        cells[name] = [ends[y], y, "FS" if y // row % 2 else "N"]
        ends[y] += dbu(lef.macro(kind).width)
    return cells


def test_every_cell_has_sites_of_its_own(job: dict[str, Any], cells: list[list[Any]], lef: Lef) -> None:
    assert wrong(job, cells, lef) == []
    moved = copy.deepcopy(cells)
    moved[7] = [moved[8][0], moved[8][1], moved[8][2]]
    assert wrong(job, moved, lef)  # the check sees it


def test_wires_are_short(job: dict[str, Any], cells: list[list[Any]], lef: Lef) -> None:
    other = in_any_order(job, lef)
    assert wrong(job, other, lef) == []
    assert length(job, other, lef) > BETTER_THAN_RANDOM * length(job, cells, lef)


def test_cells_lie_where_their_ports_are(job: dict[str, Any], cells: list[list[Any]]) -> None:
    """The ports stay on the left, in their order; so does what they drive, and its neighbours go away from them."""
    x0, y0, x1, y1 = job["core"]
    inputs = job["nets"][SIDE * SIDE :]
    first = [cells[net[0][0]] for net in inputs]
    assert sum(x for x, *_ in first) / SIDE < x0 + (x1 - x0) / 4
    ys = [y for _, y, _ in first]
    assert sum(ys[SIDE // 2 :]) - sum(ys[: SIDE // 2]) > SIDE // 2 * (y1 - y0) / 4
    last = [cells[net[0][0]] for net in job["nets"][SIDE - 1 : SIDE * SIDE : SIDE]]
    assert sum(x for x, *_ in last) / SIDE > x0 + (x1 - x0) / 2


def test_the_same_each_time(job: dict[str, Any], cells: list[list[Any]], lef: Lef) -> None:
    before = copy.deepcopy(job)
    assert placer.run(job, lef)["cells"] == cells
    assert job == before  # ports and all


@pytest.mark.parametrize("density", [0.3, 0.9])
def test_no_spot_is_too_full(lef: Lef, density: float) -> None:
    job = mesh(lef, density)
    cells = placer.run(job, lef)["cells"]
    assert wrong(job, cells, lef) == []
    x0, y0, *_ = job["core"]
    side = SPOT * dbu(lef.row_height)
    used: Counter[tuple[int, int]] = Counter()
    for kind, (x, y, _) in zip(job["cells"], cells, strict=True):
        used[(x - x0) // side, (y - y0) // side] += dbu(lef.macro(kind).width) * dbu(lef.row_height)
    fullest = max(used.values()) / side**2
    # a cell counts where it begins
    assert fullest < min(1.0, density + placer.FULLER + placer.IN_ROWS) + 0.05


def test_what_finds_no_row_is_refused(lef: Lef) -> None:
    job = mesh(lef)
    x0, y0, x1, y1 = job["core"]
    job["core"] = [x0, y0, x1, (y0 + y1) // 2 // dbu(lef.row_height) * dbu(lef.row_height)]
    with pytest.raises(BadInput, match=r"of 400 cells find no row .* lower density"):
        placer.run(job, lef)


def test_it_says_how_far_it_is(
    job: dict[str, Any], lef: Lef, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(going, "_listening", True)
    placer.run(job, lef)
    heard = [each for each in map(going.heard, capsys.readouterr().err.splitlines()) if each]
    spreading = [far for what, far in heard if what.startswith("spreading cells")]
    assert len(spreading) > 3
    assert spreading[0] < 0.1 and spreading[-1] > 0.8
    assert any(what.startswith("cells in rows") for what, _ in heard)


@pytest.mark.regress
def test_less_wire_than_coriolis(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole machine by both, from the netlist to global routing: the wires of ours are shorter, and there is room for them.

    The step says who did it.
    """
    pytest.importorskip("coriolis")
    assert Cli(capsys)("asic", "mont", "--nbits", 32, "--to", "synthesis", "-o", tmp_path).code == 0
    found: dict[str, Placement] = {}
    lengths = {}
    for name, least in (("ours", 0), ("Coriolis", 10**9)):
        monkeypatch.setattr(placer, "LEAST_CELLS", least)
        out = tmp_path / name
        out.mkdir()
        files = ("design.json", "netlist.json", "hierarchy.json")
        inputs = {each: next(tmp_path.rglob(each)) for each in files} | {ADK: kit.find().lib.parent}
        by = graph.adapter("place").run(Job(inputs, {"density": 0.7, "clock_period": 3.0}, out))
        assert (by is None) == (name == "Coriolis")
        found[name] = product.read(out / Placement.FILE, Placement)
        routing = route.route(out / "placement.json", out / "netlist_placed.json", out, in_detail=False)
        assert routing.success
        lengths[name] = routing.length_um
    assert (found["ours"].tool, found["Coriolis"].tool) == (
        place.OURS,
        f"coriolis-eda {coriolis_job.version()}",
    )
    assert found["ours"].pins == found["Coriolis"].pins
    assert lengths["ours"] < lengths["Coriolis"]
