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

from tests.flow.circuits import half_perimeter
from tests.harness import module_fixture, parametrize, refused

LEF = kit.find().geometry
SITE, ROW = dbu(LEF.site_width), dbu(LEF.row_height)
SIDE = 20  # cells of the mesh, up and across
KINDS = "NAND2_X1", "NAND2_X2", "NAND2_X4"
BETTER_THAN_RANDOM = 6  # a legal placement in any order has so many times the wire; 9.7 when this was written
SHORTER = 0.9  # share of their wire that heavy nets keep, at most; 0.84 when this was written
SPOT = 8  # rows: side of the squares that are not to be too full


def mesh(density=0.6):
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
    area = sum(dbu(LEF.macro(kind).width) for kind in kinds) * ROW / density
    rows = math.ceil(math.sqrt(area) / ROW)
    sites = math.ceil(area / rows / ROW / SITE)
    core = (15 * SITE, 3 * ROW, (15 + sites) * SITE, (3 + rows) * ROW)
    ports = {}
    for y in range(SIDE):
        nets.append([(number[y * SIDE], "A1")])
        at = core[1] + (core[3] - core[1]) * y // SIDE
        ports[f"in[{y}]"] = placer.Port(len(nets) - 1, 0, "metal3", 0, at, "W")
    ports["unused"] = placer.Port(None, 0, "metal3", 0, 0, "W")
    die = core[0] + core[2], core[1] + core[3]
    return placer.Floorplan(density, die, core, SITE, kinds, nets, ports)


@module_fixture
def floor():
    return mesh()


@module_fixture
def cells(floor):
    return placer.run(floor, LEF)[0]


def length(floor, cells, nets=None):
    """Half perimeters of all nets, or of these, in database units."""
    points = [[] for _ in floor.nets]
    for net, terminals in enumerate(floor.nets):
        for cell, pin in terminals:
            macro, (x, y, orient) = LEF.macro(floor.cells[cell]), cells[cell]
            dx, dy = macro.placed(orient, *macro.pins[pin].centre)
            points[net].append((x + dx * DBU, y + dy * DBU))
    for port in floor.ports.values():
        if port.wire is not None:
            points[port.wire].append((port.x, port.y))
    return sum(half_perimeter(points[net]) for net in nets or range(len(points)))


def wrong(floor, cells):
    """Cells that are in no row, on no site, on another, or stand as their row does not."""
    x0, y0, x1, y1 = floor.core
    found = []
    taken = set()
    for name, (kind, (x, y, orient)) in enumerate(zip(floor.cells, cells, strict=True)):
        width = dbu(LEF.macro(kind).width)
        if not (x0 <= x and x + width <= x1 and y0 <= y and y + ROW <= y1):
            found.append(f"{name} is outside")
        if (x - x0) % floor.site or (y - y0) % ROW:
            found.append(f"{name} is on no site")
        if orient not in (("N", "FN"), ("FS", "S"))[y // ROW % 2]:
            found.append(f"{name} stands {orient}")
        own = {(y, at) for at in range(x, x + width, floor.site)}
        if own & taken:
            found.append(f"{name} lies on another")
        taken |= own
    return found


def in_any_order(floor):
    """A legal placement that knows nothing of nets: all rows are filled alike."""
    x0, y0, _, y1 = floor.core
    rows = range(y0, y1, ROW)
    ends = dict.fromkeys(rows, x0)
    order = list(enumerate(floor.cells))
    Random(1).shuffle(order)
    cells = [(0, 0, "")] * len(order)
    for name, kind in order:
        y = min(rows, key=ends.__getitem__)
        cells[name] = (ends[y], y, "FS" if y // ROW % 2 else "N")
        ends[y] += dbu(LEF.macro(kind).width)
    return cells


def test_every_cell_has_sites_of_its_own(floor, cells):
    assert wrong(floor, cells) == []
    moved = copy.deepcopy(cells)
    moved[7] = moved[8]
    assert wrong(floor, moved)  # the check sees it


def test_run_leaves_the_floorplan_unchanged(floor, cells):
    assert cells and floor == mesh()


def test_wires_are_short(floor, cells):
    other = in_any_order(floor)
    assert wrong(floor, other) == []
    assert length(floor, other) > BETTER_THAN_RANDOM * length(floor, cells)


def test_cells_lie_where_their_ports_are(floor, cells):
    """The ports stay on the left, in their order; so does what they drive, and its neighbours go away from
    them.
    """
    x0, y0, x1, y1 = floor.core
    first = [cells[net[0][0]] for net in floor.nets[SIDE * SIDE :]]
    assert sum(x for x, *_ in first) / SIDE < x0 + (x1 - x0) / 4
    ys = [y for _, y, _ in first]
    assert sum(ys[SIDE // 2 :]) - sum(ys[: SIDE // 2]) > SIDE // 2 * (y1 - y0) / 4
    last = [cells[net[0][0]] for net in floor.nets[SIDE - 1 : SIDE * SIDE : SIDE]]
    assert sum(x for x, *_ in last) / SIDE > x0 + (x1 - x0) / 2


def test_heavy_nets_are_short(floor, cells):
    """Nets of one weight lie where those without weights lie; a tenth that weighs more gets shorter."""
    assert placer.run(dataclasses.replace(floor, weights=[100] * len(floor.nets)), LEF)[0] == cells
    heavy = range(0, len(floor.nets), 10)
    weights = [700 if net in heavy else 100 for net in range(len(floor.nets))]
    other = placer.run(dataclasses.replace(floor, weights=weights), LEF)[0]
    assert wrong(floor, other) == []
    assert length(floor, other, heavy) < SHORTER * length(floor, cells, heavy)


@parametrize("density", [0.1, 0.3, 0.9])
def test_no_spot_is_too_full(density):
    floor = mesh(density)
    cells = placer.run(floor, LEF)[0]
    assert wrong(floor, cells) == []
    x0, y0, *_ = floor.core
    side = SPOT * ROW
    used = Counter()
    for kind, (x, y, _) in zip(floor.cells, cells, strict=True):
        used[(x - x0) // side, (y - y0) // side] += dbu(LEF.macro(kind).width) * ROW
    fullest = max(used.values()) / side**2
    # a cell counts where it begins
    more = min(placer.FULLER, placer.FULLER_OF_AVERAGE * density)
    assert fullest < min(1, density + 2 * more) + more


def test_what_finds_no_row_is_refused():
    floor = mesh()
    x0, y0, x1, y1 = floor.core
    half = (y0 + y1) // 2 // ROW * ROW
    with refused(r"of 400 cells find no row .* lower density"):
        placer.run(dataclasses.replace(floor, core=(x0, y0, x1, half)), LEF)


def test_it_says_how_far_it_is(floor, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_listening", True)
    placer.run(floor, LEF)
    heard = [row for row in map(progress.heard, capsys.readouterr().err.splitlines()) if row]
    spreading = [far for what, far in heard if what.startswith("spreading cells")]
    assert len(spreading) > 3
    assert spreading[0] < 0.1 and spreading[-1] > 0.8
    assert any(what.startswith("cells in rows") for what, _ in heard)
