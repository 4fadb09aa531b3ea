"""Layouts with a foundry's rules: taps, power grid, pins below a stack of vias, least areas, and the deck."""

import itertools
import json
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import klayout.db as db
import pytest
from modexlab.flow.check import antennas, application, deck, transistors
from modexlab.flow.kit import kit, lef
from modexlab.flow.kit.kit_file import Layers, LayerValues, Routing, Strap, Supply, Track
from modexlab.flow.kit.lef import DBU, dbu
from modexlab.flow.layout import detailed, place, stack_access, supply
from modexlab.flow.layout.diodes import add_diodes
from modexlab.flow.layout.grid import Grid
from modexlab.flow.layout.layout import cells_of
from modexlab.flow.layout.placed import Placed
from modexlab.flow.layout.placement import Place
from modexlab.flow.layout.routing import Wire
from modexlab.flow.layout.wires import clock_output, distance
from modexlab.flow.netlist.netlist import PORT, Instance
from modexlab.flow.prove.placed import prove_same
from modexlab.rtl.sim import toolchain
from msgspec import structs

from tests.flow.circuits import fan_out, star
from tests.harness import module_fixture, parametrize, regress
from tests.kits import pdks

# local metal, a layer between and two of the grid, on a grid of 5 nm; a cell with pins on the first two
TECH = """VERSION 5.8 ;
MANUFACTURINGGRID 0.005 ;
SITE unit CLASS CORE ; SIZE 0.4 BY 2.4 ;
END unit
LAYER li TYPE ROUTING ; DIRECTION VERTICAL ; PITCH 0.4 ; OFFSET 0.2 ; WIDTH 0.17 ; SPACING 0.17 ;
END li
LAYER con TYPE CUT ; SPACING 0.19 ;
END con
LAYER m1 TYPE ROUTING ; DIRECTION HORIZONTAL ; PITCH 0.3 ; OFFSET 0.15 ; WIDTH 0.14 ; SPACING 0.14 ;
END m1
LAYER v1 TYPE CUT ; SPACING 0.17 ;
END v1
LAYER m2 TYPE ROUTING ; DIRECTION VERTICAL ; PITCH 0.4 ; OFFSET 0.2 ; WIDTH 0.14 ; SPACING 0.14 ; AREA 0.07 ;
END m2
LAYER v2 TYPE CUT ; SPACING 0.2 ;
END v2
LAYER m3 TYPE ROUTING ; DIRECTION HORIZONTAL ; PITCH 0.6 ; OFFSET 0.3 ; WIDTH 0.3 ; SPACING 0.3 ; AREA 0.24 ;
END m3
VIA low DEFAULT
  LAYER con ; RECT -0.085 -0.085 0.085 0.085 ;
  LAYER li ; RECT -0.085 -0.085 0.085 0.085 ;
  LAYER m1 ; RECT -0.115 -0.145 0.115 0.145 ;
END low
VIA mid DEFAULT
  LAYER v1 ; RECT -0.075 -0.075 0.075 0.075 ;
  LAYER m1 ; RECT -0.13 -0.13 0.13 0.13 ;
  LAYER m2 ; RECT -0.13 -0.16 0.13 0.16 ;
END mid
VIA top DEFAULT
  LAYER v2 ; RECT -0.1 -0.1 0.1 0.1 ;
  LAYER m2 ; RECT -0.14 -0.185 0.14 0.185 ;
  LAYER m3 ; RECT -0.165 -0.165 0.165 0.165 ;
END top
END LIBRARY
"""
CELL = """MACRO cell
  SIZE 2.0 BY 2.4 ; SITE unit ;
  PIN A DIRECTION INPUT ; PORT LAYER li ; RECT {a} ; END
  END A
  PIN B DIRECTION INPUT ; USE CLOCK ; PORT LAYER li ; RECT 0.7 0.9 0.9 1.6 ; END
  END B
  PIN Y DIRECTION OUTPUT ; PORT LAYER li ; RECT 1.5 0.5 1.7 1.9 ; LAYER m1 ; RECT 1.25 0.8 1.95 1.6 ; END
  END Y
  PIN G DIRECTION INOUT ; USE GROUND ; PORT LAYER m1 ; RECT 0 -0.2 2.0 0.2 ; END
  END G
  OBS LAYER m1 ; RECT 0.1 2.0 1.9 2.14 ; END
END cell
END LIBRARY
"""
ROUTING = Routing("li", "con", (("low", "mid"),), (Track("m2", via="top"), Track("m3", width_um=0.33)), "m1")


def described(lef, layers):
    """The geometry with a description in place of its kit."""
    supply = Supply("P", "G", "m1", 0.4)
    return replace(lef, described=SimpleNamespace(routing=ROUTING, layers=layers, supply=supply))


def technology(tmp_path, a="0.1 0.9 0.3 1.6"):
    return described(pdks.lef_of(tmp_path, TECH, CELL.format(a=a)), Layers(("m1",), "m3", "m2", {}, 3.9))


def grid_of(technology):
    return Grid(SimpleNamespace(die_um=(40, 24)), technology)


# ---- pins below a stack of vias


@parametrize(
    "a, aside",
    [
        ("0.1 0.9 0.3 1.6", 0),  # around the track at 0.2
        ("0.145 0.9 0.345 1.6", 0.03),  # its middle may be at 0.23 at least
        ("0.285 0.9 0.455 1.6", 0.17),  # between two tracks, as narrow as the via
    ],
)
def test_the_lower_via_steps_aside_into_the_pin(tmp_path, a, aside):
    found = technology(tmp_path, a)
    spots = stack_access.stack_access(found.macros["cell"], grid_of(found))
    assert spots.keys() == {"A", "B", "Y"} and all(spots.values())
    x0, _, x1, _ = map(dbu, map(float, a.split()))
    for spot in spots["A"]:
        (low, dx, _), (mid, *rest) = spot.vias
        assert (low, mid, *rest) == ("low", "mid", 0, 0)
        assert x0 + dbu(0.085) <= spot.x + dx <= x1 - dbu(0.085)
    assert dbu(aside) in {spot.vias[0][1] for spot in spots["A"] if spot.x == dbu(0.2)}
    # a pin on the layer between needs no lower via
    assert {spot.vias for spot in spots["Y"]} == {(("mid", 0, 0),)}


@parametrize("a", ["0.1 0.9 0.3 1.6", "0.285 0.9 0.455 1.6", "0.3 1.1 0.5 1.4"])
def test_any_choice_of_accesses_keeps_the_distances(tmp_path, a):
    found = technology(tmp_path, a)
    spots = stack_access.stack_access(found.macros["cell"], grid_of(found))
    space = dbu(found.layers["m1"].spacing)

    def metal(spot):
        region = db.Region()
        for via, dx, dy in spot.vias:
            region.insert(db.Box(*map(dbu, found.vias[via]["m1"])).moved(spot.x + dx, spot.y + dy))
        if spot.fill is not None:
            region.insert(db.Box(*spot.fill).moved(spot.x, spot.y))
        return region.merged()

    fixed = db.Region(db.Box(dbu(0.1), dbu(2.0), dbu(1.9), dbu(2.14)))
    fixed.insert(db.Box(0, dbu(-0.2), dbu(2.0), dbu(0.2)))
    for one, two in product(spots["A"], spots["B"]):
        all_metal = metal(one) + metal(two) + fixed
        assert all_metal.merged().space_check(space).is_empty()
        assert all_metal.merged().width_check(dbu(0.14)).is_empty()


# ---- straight wires between the vias, on tracks that begin farther from the rails

STRAIGHT = (
    (
        "PITCH 0.3 ; OFFSET 0.15 ; WIDTH 0.14 ; SPACING 0.14 ;",
        """PITCH 0.36 ; OFFSET -0.48 ; WIDTH 0.26 ;
  SPACING 0.1 ; AREA 0.104 ;
  PROPERTY LEF58_PITCH " PITCH 0.36 FIRSTLASTPITCH 0.48 ; " ;
  PROPERTY LEF58_SPACING " SPACING 0.1 ENDOFLINE 0.3 WITHIN 0.1 ENDTOEND 0.2 ; " ;
  PROPERTY LEF58_CORNERSPACING " CORNERSPACING CONVEXCORNER WIDTH 0.0 SPACING 0.12 ; " ;
  PROPERTY LEF58_RECTONLY " RECTONLY ; " ;""",
    ),
    ("RECT -0.115 -0.145 0.115 0.145", "RECT -0.115 -0.13 0.115 0.13"),
    (
        "LAYER con TYPE CUT ; SPACING 0.19 ;",
        'LAYER con TYPE CUT ; PROPERTY LEF58_SPACINGTABLE "DEFAULT 0.1" ;',
    ),
)
PINS = (("1.5 0.5 1.7 1.9 ; LAYER m1 ; RECT 1.25 0.8 1.95 1.6", "1.7 0.5 1.95 1.9"),)


def straight(tmp_path):
    """The technology with straight wires of 0.26 by 0.4 um between the vias."""
    tech, cell = TECH, CELL.format(a="0.1 0.5 0.3 1.9")
    for old, new in STRAIGHT:
        assert old in tech
        tech = tech.replace(old, new)
    for old, new in PINS:
        cell = cell.replace(old, new)
    return described(pdks.lef_of(tmp_path, tech, cell), Layers(("m1",), "m3", "m2", {}))


def test_rules_in_properties(tmp_path):
    found = straight(tmp_path)
    layer = found.layers["m1"]
    assert layer.straight and (layer.spacing, layer.ends_apart, layer.corner_spacing) == (0.1, 0.2, 0.12)
    assert not found.layers["m2"].straight and found.layers["m2"].ends_apart == 0.14
    assert found.layers["con"].spacing == 0.1
    rows = [dbu(0.48 + 0.36 * number) for number in range(5)]
    assert found.tracks(layer) == [(row, dbu(2.4)) for row in rows]
    assert grid_of(found).pin_rows(dbu(2.4)) == rows


def test_straight_accesses_keep_the_distances_also_beside_a_neighbour(tmp_path):
    found = straight(tmp_path)
    grid, width = grid_of(found), dbu(2.0)
    spots = stack_access.stack_access(found.macros["cell"], grid)
    assert spots.keys() == {"A", "B", "Y"} and all(spots.values())
    wires = {name: [db.Box(*spot.fill).moved(spot.x, spot.y) for spot in own] for name, own in spots.items()}
    for name, spot in ((name, spot) for name, own in spots.items() for spot in own):
        (_, _, dy), (_, *node) = spot.vias
        assert dy == 0 and node == [0, 0] and spot.y in grid.pin_rows(dbu(2.4)), name
        left, bottom, right, top = spot.fill
        assert right - left >= dbu(0.4) and top - bottom == dbu(0.26)
    beside = [box.moved(width, 0) for own in wires.values() for box in own]
    pairs = [(a, b) for one, two in itertools.combinations(wires, 2) for a in wires[one] for b in wires[two]]
    for a, b in [*pairs, *product(itertools.chain(*wires.values()), beside)]:
        dx, dy = max(a.left - b.right, b.left - a.right), max(a.bottom - b.top, b.bottom - a.top)
        least = dbu(0.2) if dy < 0 else dbu(0.1) if dx < 0 else dbu(0.12)
        assert (max(dx, dy) if min(dx, dy) < 0 else (dx**2 + dy**2) ** 0.5) >= least
    # drawn as a wire
    spot = spots["B"][0]
    drawn = [wire for wire in detailed._access(grid, spot, spot.x, spot.y) if not wire.via]
    assert [(wire.layer, wire.y0 - wire.y1, wire.x1 - wire.x0) for wire in drawn] == [
        ("m1", 0, spot.fill[2] - spot.fill[0] - dbu(0.26))
    ]


def test_accesses_turn_with_the_cell():
    spot = stack_access.Access(400, 900, (("low", 50, -30), ("mid", 0, 0)), (-100, -200, 300, 400))
    assert spot.turned("N") == spot
    assert spot.turned("S").vias[0] == ("low", -50, 30) and spot.turned("S").fill == (-300, -400, 100, 200)
    assert spot.turned("FN").fill == (-300, -200, 100, 400)
    assert spot.turned("FS").vias[0] == ("low", 50, 30)


# ---- least areas and obstacles


def test_a_short_piece_of_wire_gets_the_least_area(tmp_path):
    ground = grid_of(technology(tmp_path))
    # a via alone on m3 has 0.33 um of the 0.24 / 0.33 um that it needs
    nets = {0: [Wire("m2", 4000, 3000, 4000, 3000, "top")], 1: [Wire("m2", 5600, 3000, 5600, 3000, "top")]}
    assert detailed.lengthen(nets, [], ground, []) == []
    assert [wire.layer for wire in nets[0][1:]] == ["m3"]
    for wires, x in ((nets[0], 4000), (nets[1], 5600)):
        half, wire = dbu(0.165), wires[1]
        assert wire.x1 - wire.x0 + 2 * half >= 0.24 / 0.33 * DBU and wire.x0 - half <= x <= wire.x1 + half
        assert wire.x0 % 10 == wire.x1 % 10 == 0
    assert nets[1][1].x0 - nets[0][1].x1 - 2 * dbu(0.165) >= dbu(0.3)
    # between metal on both sides there is no room
    tight = {0: [Wire("m2", 4000, 3000, 4000, 3000, "top")]}
    walls = [("m3", (x, 2700, x + 600, 3300)) for x in (4000 - 1700, 4000 + 1100)]
    assert detailed.lengthen(tight, [], ground, walls) == [(1, *ground.nearest(4000, 3000))]
    assert len(tight[0]) == 1
    # a port's metal reaches only from its node to the edge of the die
    ported = {0: [Wire("m2", 4000, 3000, 4000, 3000, "top")], 1: [Wire("m3", 5800, 3000, 9000, 3000)]}
    assert detailed.lengthen(ported, [(1, *ground.nearest(9000, 3000))], ground, []) == []
    assert len(ported[0]) == 2


def test_half_of_a_least_length_may_lie_on_the_other_side_of_a_via(tmp_path):
    """The least area of m3 takes 0.73 um on the grid, of which a via has 0.33; the next net is 0.3 away."""
    ground = grid_of(technology(tmp_path))
    assert ground.alone(1) == dbu(0.53 + 0.3)


@parametrize(
    "wide, spacing",
    [((), 0.3), (((0.5, 0.5, 0.5),), 0.5), (((0.6, 0.5, 0.5),), 0.3), (((0.5, 0.6, 0.5),), 0.3)],
)
def test_wires_keep_away_from_obstacles(wide, spacing, tmp_path):
    found = technology(tmp_path)
    layers = found.layers | {"m3": replace(found.layers["m3"], wide=wide)}
    ground = grid_of(replace(found, layers=layers))
    ground.block([("m3", (8000, 6000, 9000, 7000)), ("m1", (0, 0, 9000, 9000))])
    assert {layer for layer, _, _ in ground.blocked} == {1}
    far = dbu(0.165) + dbu(spacing)
    for column, row in product(range(len(ground.xs)), range(len(ground.ys))):
        x, y = ground.at(column, row)
        near = 8000 - far < x < 9000 + far and 6000 - far < y < 7000 + far
        assert ((1, column, row) in ground.blocked) == near


# ---- a pin between the tracks, one layer below


def test_a_via_steps_beside_its_node_where_no_spot_on_one_will_do(tmp_path):
    """The pin's upper end is 0.005 um below the via on the node; both neighbours of a column may step."""
    direct = Routing("m1", "v1", (("mid",),), ROUTING.layers)
    found = technology(tmp_path)
    found = replace(found, described=SimpleNamespace(**{**vars(found.described), "routing": direct}))
    grid = grid_of(found)
    assert grid.asides()[0] == (0, 0) and max(grid.asides()) == (0, dbu(0.09))
    spots = {y: detailed.pin_access(pin_at(y), grid)["Y"] for y in (0.9, 0.865)}
    assert [spot.vias for spot in spots[0.9]] == [(("mid", 0, 0),)]
    assert [spot.vias for spot in spots[0.865]] == [(("mid", 0, -dbu(0.035)),)]
    metal = list(detailed._access(grid, spots[0.865][0], 2000, 1800))
    assert [(wire.layer, wire.via) for wire in metal] == [("m1", "mid"), ("m2", "")]
    low, high = metal[1].y0 - dbu(0.07), metal[1].y1 + dbu(0.07)
    assert (metal[1].x0, low, high) == (2000, *(1800 - dbu(0.035) + dbu(end) for end in (-0.16, 0.16)))


def pin_at(middle):
    """A cell with a pin on m1 that is just as large as the via's metal, between bars at half a track."""
    y0, y1 = middle - 0.13, middle + 0.13
    bars = [("m1", ((0, y), (2, y), (2, y + 0.1), (0, y + 0.1))) for y in (y0 - 0.24, y1 + 0.14)]
    shape = "m1", ((0.87, y0), (1.13, y0), (1.13, y1), (0.87, y1))
    return lef.Macro("pin", 2.0, 2.4, {"Y": lef.MacroPin("Y", "OUTPUT", "signal", (shape,))}, tuple(bars))


def test_no_wire_of_the_first_track_leaves_the_die(tmp_path):
    text = "LAYER m9 TYPE ROUTING ; DIRECTION VERTICAL ; PITCH 0.4 ; OFFSET {} ; WIDTH 0.2 ; END m9\n"
    for offset, first in ((0, 0.4), (0.1, 0.1)):
        path = tmp_path / f"{first}.lef"
        path.write_text(text.format(offset) + TECH + CELL.format(a="0.1 0.9 0.3 1.6"))
        assert lef.read_lef(path).layers["m9"].offset == pytest.approx(first)


# ---- taps, end caps and the power grid


def tapped(**more):
    """Inverters in three rows of nangate45, whose supply has these settings, with their taps."""
    placed = star()
    kit_of = placed.lef.kit._replace(supply=structs.replace(placed.lef.kit.supply, **more))
    made = Placed(placed.netlist, placed.placement, placed.library, replace(placed.lef, described=kit_of))
    supply.add_taps(made)
    return made


@module_fixture
def with_straps():
    """The inverters with fillers as taps and end caps, and two layers of straps."""
    straps = (Strap("metal4", 1.6, 10.0), Strap("metal7", 0.8, 10.0))
    return tapped(tap="FILLCELL_X1", tap_um=5.0, end_cap="FILLCELL_X2", straps=straps)


def test_taps_are_near_to_all_cells_of_their_row(with_straps):
    placement, width = with_straps.placement, with_straps.lef.macro("FILLCELL_X1").width
    for row in placement.rows:
        taps = sorted(tap.x_um for tap in placement.taps.values() if tap.y_um == row.y_um)
        right = row.x_um + row.sites * with_straps.lef.site_width
        between = [b - a for a, b in itertools.pairwise(taps)]
        assert max(between) <= 2 * 5.0 + 5 * width and max(taps[0] - row.x_um, right - taps[-1]) <= 5.5
    for row in with_straps.spans().values():
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(sorted(row)))


def test_rows_are_full_from_end_cap_to_end_cap(with_straps):
    cells = cells_of(with_straps)
    lef = with_straps.lef
    for row in with_straps.placement.rows:
        own = sorted((cell.x_um, cell.kind) for cell in cells.values() if cell.y_um == row.y_um)
        assert own[0][1] == own[-1][1] == "FILLCELL_X2"
        for (x, kind), (after, _) in itertools.pairwise(own):
            assert x + lef.macro(kind).width == pytest.approx(after)
        assert [dbu(own[0][0]), dbu(own[-1][0] + lef.macro("FILLCELL_X2").width)] == [
            *supply.row_ends(row, lef)
        ]


def test_straps_of_a_net_are_one_piece_with_its_rails(with_straps):
    """By KLayout: metal and cuts as drawn are two pieces, power and ground, with both nets on every layer."""
    lef, grid = with_straps.lef, supply.power_grid(with_straps)
    names = [layer.name for layer in lef.layers.values() if layer.kind in ("ROUTING", "CUT")]
    layers = {name: db.Region() for name in names}
    for layer, rect in grid.shapes():
        layers[layer].insert(db.Box(*rect))
    for wire in itertools.chain(*supply.rails(with_straps).values()):
        layers[wire.layer].insert(db.Box(*wire.outline))
    found = db.LayoutToNetlist("top", 1 / DBU)
    for name, region in layers.items():
        found.register(region, name)
        found.connect(region)
    for below, above in itertools.pairwise(names):
        found.connect(layers[below], layers[above])
    found.extract_netlist()
    pieces = list(found.netlist().circuit_by_name("top").each_net())
    assert len(pieces) == 2
    for piece in pieces:
        for layer in ("metal1", "via1", "metal4", "via5", "metal7"):
            assert not found.shapes_of_net(piece, layers[layer], True).is_empty()
    for layer, region in layers.items():
        if space := dbu(lef.layers[layer].spacing):
            assert region.merged().space_check(space).is_empty(), layer


def test_straps_as_narrow_as_wires_stand_above_taps_and_on_tracks():
    layers = kit.find().geometry.layers
    straps = (
        Strap("metal2", layers["metal2"].width, at_taps=True),
        Strap("metal3", layers["metal3"].width, 1.0),
    )
    made = tapped(tap="FILLCELL_X2", tap_um=5.0, straps=straps)
    power = supply.power_grid(made)
    above = {wire.x0 for wires in power.straps.values() for wire in wires if wire.layer == "metal2"}
    half = dbu(made.lef.macro("FILLCELL_X2").width / 4)
    assert above == {dbu(tap.x_um) + half * part for tap in made.placement.taps.values() for part in (1, 3)}
    first, pitch = made.lef.tracks(made.lef.layers["metal3"])[0]
    rows = {wire.y0 for wires in power.straps.values() for wire in wires if wire.layer == "metal3"}
    assert len(rows) >= 4 and all((row - first) % pitch == 0 for row in rows)
    # the crossings of narrow straps have a via of the LEF
    cuts = {name: via.shapes["via2"] for name, via in power.arrays().items() if "via2" in via.shapes}
    assert cuts and all(len(shapes) == 1 for shapes in cuts.values())


@parametrize(
    "upper, crossings", [((500, -170, 500, 900), 1), ((0, 400, 900, 400), 0), ((500, 300, 500, 900), 0)]
)
def test_only_wires_that_cross_get_vias(upper, crossings):
    lower = Wire("metal1", 0, 0, 1000, 0, "", 340)
    found = supply.crossings(kit.find().geometry, [lower], [Wire("metal2", *upper, "", 340)])
    assert len(found) == crossings


# ---- the deck

REPORT = """<report-database><categories>
 <category><name>m1.1</name></category><category><name>m1.2</name></category>
 <category><name>'x y'</name></category>
</categories><items>
 <item><category>m1.2</category></item><item><category>m1.2</category></item>
 <item><category>'x y'</category></item>
</items></report-database>"""


def test_markers_are_counted_by_rule(tmp_path):
    (tmp_path / "a.lyrdb").write_text(REPORT)
    assert deck.read(tmp_path / "a.lyrdb") == (3, {"m1.2": 2, "x y": 1})
    found = deck.Rules("d.lydrc", "", "KLayout 1", 3, {"m1.2": 2, "x y": 1})
    assert found.text == "3 markers of 3 checks by d.lydrc (KLayout 1), m1.2 2, x y 1"
    assert found.wrong and deck.Rules("d", connections={"open nets": 1}).wrong
    assert not deck.Rules("d", connections={"open nets": 0}).wrong
    assert deck.Rules("d.lydrc", "", "KLayout 1", 3).text.startswith("no markers of 3 checks")


CELLS_REPORT = """<report-database><categories>
 <category><name>g</name></category><category><name>'h : longer'</name></category>
</categories><items>{}</items></report-database>"""
ITEM = "<item><category>{}</category><cell>{}</cell><values><value>{}</value></values></item>"


def checked(folder):
    """The result of a deck of the kit."""
    usual = kit.find()
    with_deck = replace(usual, others={**usual.others, "drc": folder / "d.lydrc"})
    return deck.check(folder / "a.gds", with_deck, folder)


def test_markers_that_a_cell_has_alone_are_the_library_s(tmp_path, monkeypatch):
    """Both runs of the deck have the first marker; the layout also has it in a variant, and two others."""
    own = ITEM.format("'h : longer'", "INV_X1", "box: 1")
    layout = [own, ITEM.format("'h : longer'", "INV_X1$VAR1", "box: 1")]
    layout += [ITEM.format("g", "top", "box: 1"), ITEM.format("'h : longer'", "INV_X1", "box: 2")]
    runs = iter([layout, [own, ITEM.format("g", "top", "box: 1")]])
    monkeypatch.setattr(
        deck, "run_deck", lambda drc, gds, report: report.write_text(CELLS_REPORT.format("".join(next(runs))))
    )
    monkeypatch.setattr(deck, "_write_alone", lambda gds, files, path: None)
    monkeypatch.setattr(deck, "version", lambda: "1")
    found = checked(tmp_path)
    assert (found.checks, found.markers, found.of_cells) == (2, {"g": 1, "h": 1}, {"h": 2})
    assert found.wrong and found.text.endswith("g 1, h 1; in the library's cells themselves: h 2")
    assert not deck.Rules("d", of_cells={"h": 2}).wrong


def test_cells_are_checked_alone_as_they_stand_in_the_layout(tmp_path):
    layout = db.Layout()
    layout.dbu = 0.001
    top, inverter, via = (layout.create_cell(name) for name in ("top", "INV_X1", "VIA_1"))
    for cell in (inverter, via):
        cell.shapes(layout.layer(1, 0)).insert(db.Box(0, 0, 100, 200))
    for turn in (db.Trans(), db.Trans(500, 0), db.Trans(db.Trans.M0, 0, 900)):
        top.insert(db.CellInstArray(inverter.cell_index(), turn))
    top.insert(db.CellInstArray(via.cell_index(), db.Trans()))
    layout.write(str(tmp_path / "a.gds"))
    deck._write_alone(tmp_path / "a.gds", kit.find(), tmp_path / "b.gds")
    alone = db.Layout()
    alone.read(str(tmp_path / "b.gds"))
    found = {(item.cell.name, item.trans.rot): item.bbox() for item in alone.top_cell().each_inst()}
    assert found.keys() == {("INV_X1", 0), ("INV_X1", 4)}
    boxes = sorted(found.values(), key=lambda box: box.left)
    assert boxes[1].left - boxes[0].right == 10_000


def test_a_missing_deck_or_program_is_reported(tmp_path, monkeypatch):
    assert deck.check(tmp_path / "a.gds", kit.find(), tmp_path).why_not == deck.NO_DECK
    assert (tmp_path / "rules.lyrdb").is_file() and (tmp_path / "rules.json").is_file()
    monkeypatch.setattr(application.shutil, "which", lambda name: None)
    deck.version.cache_clear()
    found = checked(tmp_path)
    assert "klayout is missing" in found.text and "apt-get install klayout" in found.text
    deck.version.cache_clear()


# ---- a table of values

LIMITS = {
    "drc_rules": {
        "grid": 0.005,
        "a": 0.2,
        "b": 0.21,
        "d": 0.1,
        "w": 0.4,
        "run": 1,
        "e": 0.24,
        "v": 0.2,
        "c": 0.01,
    }
}


def write_gds(directory, shapes):
    """The path of a GDS with these boxes in um, each after the number of its layer."""
    layout = db.Layout()
    layout.dbu = 0.001
    top = layout.create_cell("top")
    for number, *box in shapes:
        top.shapes(layout.layer(number, 0)).insert(db.DBox(*box))
    layout.write(str(directory / "a.gds"))
    return directory / "a.gds"


METAL = LayerValues(("metal",), "grid", "b", "a", "d", (("w", "run", "e"),))
CUT = LayerValues(("cut",), "grid", "b", size="v", below="c", above="c", ends_below="a")
CLEAN = [(1, 0, 0, 1, 0.2), (1, 0, 0.44, 3, 0.9), (2, 0.2, 0.5, 0.4, 0.7), (3, 0, 0.4, 1, 0.8)]


@parametrize(
    "shapes, rules",
    [
        ([], []),
        ([(1, 5, 0, 6, 0.195)], ["a width metal"]),
        ([(1, 5, 0, 6, 0.2), (1, 5, 0.4, 6, 0.6)], ["b spacing metal"]),
        ([(1, 5, 0, 5.2, 0.2)], ["d area metal"]),
        ([(1, 5, 0, 8, 0.5), (1, 5, 0.73, 8, 1)], ["e spacing metal"]),  # 0.23 um beside a wide wire
        ([(1, 5, 0, 8, 0.5), (1, 5, 0.73, 6, 1)], []),  # for no more than 1 um
        ([(1, 5, 0, 6.002, 0.4)], ["grid metal"]),
        ([(2, 1, 0.5, 1.2, 0.8)], ["c over around cut", "v size cut"]),
        (
            [(2, 2.795, 0.5, 2.995, 0.7), (3, 2.5, 0.4, 3.1, 0.8)],
            ["a metal around ends of cut", "c metal around cut"],
        ),
        ([(2, 2.5, 0.5, 2.7, 0.7)], ["c over around cut"]),
    ],
)
def test_a_layout_is_checked_by_the_values_of_its_pdk(tmp_path, shapes, rules):
    gds = write_gds(tmp_path, CLEAN + shapes)
    (tmp_path / "limits.json").write_text(json.dumps(LIMITS))
    kinds = {"metal": "ROUTING", "cut": "CUT", "over": "ROUTING"}
    layers = {name: lef.Layer(name, kind) for name, kind in kinds.items()}
    numbers = Layers(("metal",), "metal", "over", {name: at + 1 for at, name in enumerate(kinds)}, 3.9)
    geometry = lef.Lef(layers, {}, {}, "", 0, 0, described=SimpleNamespace(layers=numbers))
    of_kit = SimpleNamespace(
        geometry=geometry,
        data=SimpleNamespace(name="own", values=(METAL, CUT)),
        values=tmp_path / "limits.json",
        drc=None,
    )
    found = deck.check(gds, of_kit, tmp_path)
    assert sorted(found.markers) == rules
    assert found.checks == 11 and found.only_values and found.wrong == bool(rules)
    unrouted = deck.check(gds, of_kit, tmp_path, None, "3 nets found no way")
    assert unrouted.wrong and "; no wires: 3 nets found no way" in unrouted.text
    assert "of metal, vias, areas and grid by the values in limits.json" in found.text


# ---- antennas

ANTENNA_LEF = """SITE unit CLASS CORE ; SIZE 0.4 BY 2.4 ;
END unit
LAYER m1 TYPE ROUTING ; DIRECTION HORIZONTAL ; THICKNESS 0.5 ; ANTENNAAREARATIO 20 ;
  ANTENNADIFFAREARATIO PWL ( ( 0 20 ) ( 0.1 20 ) ( 0.3 60 ) ) ;
END m1
LAYER c TYPE CUT ; ANTENNAAREARATIO 1 ;
END c
LAYER m2 TYPE ROUTING ; DIRECTION VERTICAL ; THICKNESS 0.5 ; ANTENNACUMSIDEAREARATIO 100 ;
  ANTENNACUMDIFFSIDEAREARATIO ((0 100) (0.2 1000)) ;
END m2
MACRO gate SIZE 1 BY 2.4 ; SITE unit ;
  PIN A DIRECTION INPUT ; ANTENNAGATEAREA 0.1 LAYER m1 ; PORT LAYER m1 ; RECT 0 0 0.2 0.2 ; END
  END A
  PIN Y DIRECTION OUTPUT ; ANTENNADIFFAREA 0.2 LAYER m1 ; PORT LAYER m1 ; RECT 0.4 0 0.6 0.2 ; END
  END Y
END gate
END LIBRARY
"""
LONG, HIGH = (1, 0, 0, 9.5, 0.2), (1, 9, 0, 9.2, 2)  # on m1
UP, DOWN = [(2, 0.05, 0.05, 0.15, 0.15)], [(2, 10.45, 0.05, 10.55, 0.15)]  # cuts on A, and on Y of the driver


@parametrize(
    "shapes, beyond",
    [
        ([LONG], {}),  # 1.9 um^2 by a gate of 0.1
        ([LONG, HIGH], {"m1": 1}),
        # the diffusion of the driver: on m1 it raises the limit to 40, on m2 it comes too late for m1
        ([(1, 0, 0, 10.6, 0.2), HIGH], {}),
        ([LONG, HIGH, *UP, (3, 0, 0, 10.6, 0.2), *DOWN], {"m1": 1}),
        # side walls of 0.5 by 10.4 and 12.4 um: 52 and 62 times the gate; the limit is for both layers
        ([(1, 0, 0, 5, 0.2), *UP, (3, 0, 0, 0.2, 5)], {"m2": 1}),
        ([(1, 0, 0, 0.2, 0.2), *UP, (3, 0, 0, 0.2, 9)], {}),
        ([(1, 0, 0, 5, 0.2), *UP, (3, 0, 0, 10.6, 0.2), *DOWN], {}),
    ],
)
def test_antennas_are_counted_as_layers_are_made(tmp_path, shapes, beyond):
    (tmp_path / "a.lef").write_text(ANTENNA_LEF)
    found = lef.read_lef(tmp_path / "a.lef")
    numbers = Layers(("m1", "m2"), "m1", "m2", {"m1": 1, "c": 2, "m2": 3}, 3.9)
    gds = write_gds(tmp_path, [(1, 0, 0, 0.2, 0.2), (1, 10.4, 0, 10.6, 0.2), *shapes])
    cells = {"reader": Instance("reader", "gate", {"A": 0}), "driver": Instance("driver", "gate", {"Y": 0})}
    places = {"reader": Place("gate", 0.0, 0.0, "N"), "driver": Place("gate", 10.0, 0.0, "N")}
    placed = SimpleNamespace(
        lef=replace(found, described=SimpleNamespace(layers=numbers)),
        netlist=SimpleNamespace(cells=cells),
        placement=SimpleNamespace(instances=places),
    )
    assert antennas.exceeded(gds, placed) == beyond
    rules = deck.Rules("d", antennas=beyond)
    assert rules.wrong == bool(beyond) and (": none" in rules.text) != bool(beyond)


@parametrize("share, diodes", [(0.99, 1), (1.01, 0)])
@parametrize("driver", [PORT, "u0"])
def test_a_net_gets_a_diode_if_its_wire_is_too_long_for_its_gates(driver, share, diodes):
    """An inverter reads the port, and another reads the inverter, whose diffusion raises the limit. The
    widest layer counts, and a wire half as long again as the tree.
    """
    placed = fan_out([(2.85, 2.8), (30.4, 2.8)], 3, 210)
    found, reader = placed.lef, "u0" if driver == PORT else "u1"
    pins = found.macro("INV_X1").pins
    length = distance(*map(placed.position, ((driver, "in" if driver == PORT else "ZN"), (reader, "A"))))
    widest = max(found.layers[name].width for name in found.kit.layers.signal)
    limit, others = share * 1.5 * length * widest / pins["A"].gate_um2, 1e9
    diffusion = pins["ZN"].diffusion_um2
    at_zero, driven = (limit, others) if driver == PORT else (others, limit)
    limits = {"ANTENNADIFFAREARATIO": (0.0, at_zero, diffusion, driven)}
    layers = {name: replace(layer, antenna=limits) for name, layer in found.layers.items()}
    roles = structs.replace(placed.library.roles, diode="ANTENNA_X1")
    described = structs.replace(placed.library.kit, cells=roles)
    before, placed.lef = placed.netlist, replace(found, layers=layers)
    placed.library = replace(placed.library, described=described)
    assert len(add_diodes(placed)) == diodes
    added = placed.netlist.cells.keys() - before.cells.keys()
    assert [placed.netlist.cells[name].pins for name in added] == [{"A": int(driver != PORT)}] * diodes
    assert added <= placed.placement.instances.keys() and place.violations(placed, None) == []
    assert prove_same(before, placed.netlist, placed.library) == []
    assert clock_output(placed.library.cells["ANTENNA_X1"], "A") is None


# ---- transistors

CDL = """* cells
.SUBCKT INV_X1 A VSS VPW VDD ZN
*.PININFO A:I ZN:O
MM1 ZN A VDD VDD pmos m=2 w=1.5 l=0.15 topography=normal
+ area=0.063
MM2 ZN A VSS VPW nmos w=740.0n l=0.15
.ENDS INV_X1
.subckt LOGIC1_X1 VDD Z VSS
rI1 Z VDD short
.ends
.SUBCKT FILLCELL_X1 VDD VSS
.ENDS
"""


def test_a_cdl_is_read_for_klayout(tmp_path):
    (tmp_path / "a.cdl").write_text(CDL)
    found = transistors.read_circuits(tmp_path / "a.cdl")
    assert found["INV_X1"].text.splitlines()[1:3] == [
        "MM1 ZN A VDD VDD pmos w=3 l=0.15",
        "MM2 ZN A VSS VPW nmos w=740n l=0.15",
    ]
    assert {name: circuit.compared for name, circuit in found.items()} == {
        "INV_X1": True,
        "LOGIC1_X1": False,
        "FILLCELL_X1": False,
    }
    assert found["LOGIC1_X1"].joined == {"Z": "VDD", "VDD": "Z"}


def test_the_netlist_of_a_layout_for_its_comparison(tmp_path):
    """A tie cell's net is a rail, so that its port goes; fillers are left out; wells are rails."""
    (tmp_path / "a.cdl").write_text(CDL)
    placed = fan_out([(2.85, 2.8), (6.65, 2.8)], 3, 21, [("out", 0.0, 6.0)])
    circuits = transistors.read_circuits(tmp_path / "a.cdl")
    circuits |= dict.fromkeys(placed.library.roles.fillers, circuits["FILLCELL_X1"])
    supplies = structs.replace(placed.lef.kit.supply, wells={"VPW": "VSS"})
    placed.lef = replace(placed.lef, described=placed.lef.kit._replace(supply=supplies))
    assert list(transistors._design(placed, circuits)) == [
        ".SUBCKT d in out VDD VSS",
        "X0 in VSS VSS VDD out INV_X1",
        "X1 out VSS VSS VDD net2 INV_X1",
        ".ENDS",
    ]
    placed.netlist.cells["u0"] = Instance("u0", "LOGIC1_X1", {"Z": 1})
    placed.placement.instances["u0"] = structs.replace(placed.placement.instances["u0"], kind="LOGIC1_X1")
    found = list(transistors._design(placed, circuits))
    assert found == [".SUBCKT d in VDD VSS", "X1 VDD VSS VSS VDD net2 INV_X1", ".ENDS"]


def test_differences_in_transistors_are_faults():
    same = transistors.Transistors("d.lylvs", 3, {}, ("NAND2_X4",))
    assert same.text == "layout and netlist match by d.lylvs; 3 kinds of cells, 1 of them as drawn (NAND2_X4)"
    assert not deck.Rules("d", transistors=same).wrong
    other = structs.replace(same, differences={"nets": 2}, as_drawn=())
    assert other.text == "differences: 2 nets by d.lylvs; 3 kinds of cells"
    assert deck.Rules("d", transistors=other).wrong


def test_a_deck_that_takes_too_long_compares_nothing(tmp_path, monkeypatch):
    usual, placed = kit.find(), fan_out([(2.85, 2.8)], 3, 21)
    fillers = "".join(f".SUBCKT {kind} VDD VSS\n.ENDS\n" for kind in placed.library.roles.fillers)
    (tmp_path / "a.cdl").write_text(CDL + fillers)
    layout = db.Layout()
    layout.create_cell("d")
    layout.write(str(tmp_path / "a.gds"))
    slow = tmp_path / "klayout"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(application, "PROGRAM", str(slow))
    monkeypatch.setitem(toolchain.LIMITS, toolchain.TOOL, 0.1)
    others = {**usual.others, "lvs": tmp_path / "d.lylvs", "cdl": tmp_path / "a.cdl"}
    found = transistors.compare(tmp_path / "a.gds", replace(usual, others=others), placed)
    said = "not compared: d.lylvs did not end within 0.1 s; MODEXLAB_PATIENCE=2 doubles this limit"
    assert found.text == said and found.cells == 1
    assert not deck.Rules("d", transistors=found).wrong
    monkeypatch.setattr(application, "PROGRAM", "no-klayout")
    without = transistors.compare(tmp_path / "a.gds", replace(usual, others=others), placed)
    assert "no-klayout is missing" in without.text and "apt-get install klayout" in without.text
    monkeypatch.setattr(application, "PROGRAM", str(slow))
    with pytest.raises(toolchain.ToolTimeout, match=r"d\.lylvs did not end"):
        application.run_deck(tmp_path / "d.lylvs", {}, tmp_path / "r")


@regress
@parametrize("options", ["sky130hd --clock 60", "ihp-sg13g2", "asap7"])
def test_a_layout_of_a_foundry_s_kit_keeps_its_rules(monkeypatch, cli, tmp_path, options):
    """The rules of two decks, and the values of IHP's PDK; some cells of ASAP7 break rules by themselves."""
    name = options.split()[0]
    path = pdks.require(monkeypatch, name)
    report = cli.passes(
        f"asic mont --nbits 8 --style optimised --layout --json --kit {options} -o {tmp_path}"
    ).json()
    assert report["tests_failed"] == 0 and report["tests"].keys() == {"rtl", "gates", "placed gates"}
    rules = report["rules"]
    assert (
        rules["markers"] == {} and len(rules["connections"]) == 3 and not any(rules["connections"].values())
    )
    assert bool(rules["of_cells"]) == (name == "asap7") and rules["only_values"] == (name == "ihp-sg13g2")
    if rules["only_values"]:
        assert rules["checks"] > 70
    else:
        assert rules["checks"] > 100 and rules["deck"] == f"{name}.lydrc"
        assert rules["antennas"] == (None if name == "asap7" else {})  # no limits in the LEF
    assert report["after_layout"]["routed"] and report["wns_ns"] > 0 and report["hold_wns_ns"] > 0
    assert (rules["transistors"] is None) == (name == "asap7")
    if name != "asap7":  # the others have fill; 0.35 is IHP's Mn.j, 0.6 Mn.k
        filled = [track.name for track in kit.find(path).geometry.kit.routing.layers]
        least = 0.35 if name == "ihp-sg13g2" else 0.3
        assert all(least < rules["densities"][layer] < 0.6 for layer in filled)
    if rules["transistors"]:
        assert rules["transistors"]["differences"] == {} and rules["transistors"]["cells"] > 30
        found = kit.find(path)
        files = {name: tmp_path / "place" / name for name in ("netlist_placed.json", "placement.json")}
        placed = Placed.read(files, found)
        pins = next(cell.pins for cell in placed.netlist.cells.values() if cell.kind.endswith("_a21oi_1"))
        pins["A1"], pins["B1"] = pins["B1"], pins["A1"]
        assert transistors.compare(tmp_path / "layout" / "layout.gds", found, placed).differences
