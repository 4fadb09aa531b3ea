"""The placer: cells in rows, none on another, near their connections, and the same ones each time."""

import copy
import dataclasses
import math
from collections import Counter
from random import Random

from modexlab.flow import progress
from modexlab.flow.kit import kit
from modexlab.flow.kit.lef import DBU, dbu
from modexlab.flow.layout import placer
from modexlab.flow.layout.placer import Floorplan, Port

from tests.flow.circuits import half_perimeter
from tests.harness import module_fixture, parametrize, refused

SIDE = 20  # cells of the mesh, up and across
KINDS = "NAND2_X1", "NAND2_X2", "NAND2_X4"
BETTER_THAN_RANDOM = 6  # a legal placement in any order has so many times the wire; 9.7 when this was written
SHORTER = 0.9  # share of their wire that heavy nets keep, at most; 0.84 when this was written
SPOT = 8  # rows: side of the squares that are not to be too full


@module_fixture
def lef():
    return kit.find().geometry


def mesh(lef, density=0.6):
    """Each cell drives its right and upper neighbour, ports drive the left column; in no order."""
    draw = Random(3)
    number = list(range(SIDE * SIDE))
    draw.shuffle(number)
    kinds = [draw.choice(KINDS) for _ in number]
    nets = []
    for y in range(SIDE):
        for x in range(SIDE):
            net = [(number[y * SIDE + x], "ZN")]
            if x + 1 < SIDE:
                net.append((number[y * SIDE + x + 1], "A1"))
            if y + 1 < SIDE:
                net.append((number[y * SIDE + SIDE + x], "A2"))
            nets.append(net)
    site, row = dbu(lef.site_width), dbu(lef.row_height)
    area = sum(dbu(lef.macro(kind).width) for kind in kinds) * row / density
    rows = math.ceil(math.sqrt(area) / row)
    sites = math.ceil(area / rows / row / site)
    core = (15 * site, 3 * row, (15 + sites) * site, (3 + rows) * row)
    ports = {}
    for y in range(SIDE):
        nets.append([(number[y * SIDE], "A1")])
        at = core[1] + (core[3] - core[1]) * y // SIDE
        ports[f"in[{y}]"] = Port(len(nets) - 1, 0, "metal3", 0, at, "W")
    ports["unused"] = Port(None, 0, "metal3", 0, 0, "W")
    die = core[0] + core[2], core[1] + core[3]
    return Floorplan(density, die, core, site, kinds, nets, ports)


@module_fixture
def floor(lef):
    return mesh(lef)


@module_fixture
def cells(floor, lef):
    return placer.run(floor, lef)[0]


def length(floor, cells, lef, nets=None):
    """Half perimeters of all nets, or of these, in database units."""
    points = [[] for _ in floor.nets]
    for net, terminals in enumerate(floor.nets):
        for cell, pin in terminals:
            macro, (x, y, orient) = lef.macro(floor.cells[cell]), cells[cell]
            dx, dy = macro.placed(orient, *macro.pins[pin].centre)
            points[net].append((x + dx * DBU, y + dy * DBU))
    for port in floor.ports.values():
        if port.wire is not None:
            points[port.wire].append((port.x, port.y))
    return sum(half_perimeter(points[net]) for net in nets or range(len(points)))


def wrong(floor, cells, lef):
    """Cells that are in no row, on no site, on another, or stand as their row does not."""
    x0, y0, x1, y1 = floor.core
    row, found = dbu(lef.row_height), []
    taken = set()
    for name, (kind, (x, y, orient)) in enumerate(zip(floor.cells, cells, strict=True)):
        width = dbu(lef.macro(kind).width)
        if not (x0 <= x and x + width <= x1 and y0 <= y and y + row <= y1):
            found.append(f"{name} is outside")
        if (x - x0) % floor.site or (y - y0) % row:
            found.append(f"{name} is on no site")
        if orient not in (("N", "FN"), ("FS", "S"))[y // row % 2]:
            found.append(f"{name} stands {orient}")
        own = {(y, at) for at in range(x, x + width, floor.site)}
        if own & taken:
            found.append(f"{name} lies on another")
        taken |= own
    return found


def in_any_order(floor, lef):
    """A legal placement that knows nothing of nets: all rows are filled alike."""
    x0, y0, _, y1 = floor.core
    row = dbu(lef.row_height)
    rows = range(y0, y1, row)
    ends = dict.fromkeys(rows, x0)
    order = list(enumerate(floor.cells))
    Random(1).shuffle(order)
    cells = [(0, 0, "")] * len(order)
    for name, kind in order:
        y = min(rows, key=ends.__getitem__)
        cells[name] = (ends[y], y, "FS" if y // row % 2 else "N")
        ends[y] += dbu(lef.macro(kind).width)
    return cells


def test_every_cell_has_sites_of_its_own(floor, cells, lef):
    assert wrong(floor, cells, lef) == []
    moved = copy.deepcopy(cells)
    moved[7] = moved[8]
    assert wrong(floor, moved, lef)  # the check sees it


def test_run_leaves_the_floorplan_unchanged(floor, cells, lef):
    assert cells and floor == mesh(lef)


def test_wires_are_short(floor, cells, lef):
    other = in_any_order(floor, lef)
    assert wrong(floor, other, lef) == []
    assert length(floor, other, lef) > BETTER_THAN_RANDOM * length(floor, cells, lef)


def test_cells_lie_where_their_ports_are(floor, cells):
    """The ports stay on the left, in their order; so does what they drive, and its neighbours go away from
    them.
    """
    x0, y0, x1, y1 = floor.core
    inputs = floor.nets[SIDE * SIDE :]
    first = [cells[net[0][0]] for net in inputs]
    assert sum(x for x, *_ in first) / SIDE < x0 + (x1 - x0) / 4
    ys = [y for _, y, _ in first]
    assert sum(ys[SIDE // 2 :]) - sum(ys[: SIDE // 2]) > SIDE // 2 * (y1 - y0) / 4
    last = [cells[net[0][0]] for net in floor.nets[SIDE - 1 : SIDE * SIDE : SIDE]]
    assert sum(x for x, *_ in last) / SIDE > x0 + (x1 - x0) / 2


def test_heavy_nets_are_short(floor, cells, lef):
    """Nets of one weight lie where those without weights lie; a tenth that weighs more gets shorter."""
    alike = dataclasses.replace(floor, weights=[100] * len(floor.nets))
    assert placer.run(alike, lef)[0] == cells
    heavy = range(0, len(floor.nets), 10)
    weights = [700 if net in heavy else 100 for net in range(len(floor.nets))]
    other = placer.run(dataclasses.replace(floor, weights=weights), lef)[0]
    assert wrong(floor, other, lef) == []
    assert length(floor, other, lef, heavy) < SHORTER * length(floor, cells, lef, heavy)


@parametrize("density", [0.3, 0.9])
def test_no_spot_is_too_full(lef, density):
    floor = mesh(lef, density)
    cells = placer.run(floor, lef)[0]
    assert wrong(floor, cells, lef) == []
    x0, y0, *_ = floor.core
    side = SPOT * dbu(lef.row_height)
    used = Counter()
    for kind, (x, y, _) in zip(floor.cells, cells, strict=True):
        used[(x - x0) // side, (y - y0) // side] += dbu(lef.macro(kind).width) * dbu(lef.row_height)
    fullest = max(used.values()) / side**2
    # a cell counts where it begins
    assert fullest < min(1.0, density + placer.FULLER + placer.IN_ROWS) + 0.05


def test_what_finds_no_row_is_refused(lef):
    floor = mesh(lef)
    x0, y0, x1, y1 = floor.core
    half = (y0 + y1) // 2 // dbu(lef.row_height) * dbu(lef.row_height)
    with refused(r"of 400 cells find no row .* lower density"):
        placer.run(dataclasses.replace(floor, core=(x0, y0, x1, half)), lef)


def test_it_says_how_far_it_is(floor, lef, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_listening", True)
    placer.run(floor, lef)
    heard = [row for row in map(progress.heard, capsys.readouterr().err.splitlines()) if row]
    spreading = [far for what, far in heard if what.startswith("spreading cells")]
    assert len(spreading) > 3
    assert spreading[0] < 0.1 and spreading[-1] > 0.8
    assert any(what.startswith("cells in rows") for what, _ in heard)
