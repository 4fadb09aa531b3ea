"""The routers: paths within the available tracks, the report of overflow, and progress."""

import itertools
import random
from collections import Counter, defaultdict

import pytest
from modexlab.flow import progress
from modexlab.flow.kit import kit
from modexlab.flow.kit.lef import DBU, dbu
from modexlab.flow.layout import detailed, placement, route, subprocess_engine
from modexlab.flow.layout.routing import RoutedNet, Wire
from modexlab.flow.layout.wires import layer_units, wires_of
from modexlab.rtl.sim.toolchain import ToolError
from pytest import approx

from tests.flow.circuits import fan_out, star
from tests.harness import module_fixture, parametrize

SIDE, SQUARES = 100, 8  # of a grid by hand


def ways(wires, across=1, along=1, share=100, *, shorten=False):
    """The router's answer: borders too full, wires over, rounds, and the corners of each wire."""
    task = [f"{SQUARES} {SQUARES} {SIDE} {across} {along} {share} 30 60 {shorten:d}", str(len(wires))]
    task += [" ".join(map(str, wire)) for wire in wires]
    answer = subprocess_engine.run(route.SOURCE, "global routing", task)
    full, over, rounds = (next(answer) for _ in range(3))
    corners = [[(next(answer), next(answer)) for _ in range(next(answer))] for _ in wires]
    assert not list(answer)
    return full, over, rounds, corners


def crossings(corners):
    """How many wires cross each border: direction, and the square on its left or below."""
    found = Counter()
    for points in corners:
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            assert x0 == x1 or y0 == y1
            way, line = (0, y0) if y0 == y1 else (1, x0)
            low, high = sorted((x0, x1) if y0 == y1 else (y0, y1))
            for square in range(low // SIDE, high // SIDE):
                found[way, square, line // SIDE] += 1
    return found


def length(points):
    return sum(abs(x1 - x0) + abs(y1 - y0) for (x0, y0), (x1, y1) in itertools.pairwise(points))


def test_a_wire_is_as_short_as_can_be():
    wires = [(10, 20, 730, 590), (250, 350, 250, 620), (40, 40, 90, 80), (5, 5, 5, 5)]
    full, over, rounds, corners = ways(wires, 9, 9)
    assert full == 0 and over == 0 and rounds == 1
    for (x0, y0, x1, y1), points in zip(wires, corners, strict=True):
        assert points[0] == (x0, y0) and points[-1] == (x1, y1)
        assert length(points) == abs(x1 - x0) + abs(y1 - y0)


def test_wires_go_around_one_another():
    wires = [(50 + step, 350 + step, 750 - step, 350 + step) for step in range(5)]
    full, over, _, corners = ways(wires, 2, 9)
    assert full == 0 and over == 0
    assert max(count for (way, *_), count in crossings(corners).items() if way == 0) <= 2
    assert sorted(length(points) for points in corners)[-1] > 700


@parametrize("seed", range(6))
def test_detours_past_borders_with_room_are_taken_back(seed):
    """The wires get shorter in total, and no border gets overfull."""
    draw = random.Random(seed)
    wires = [tuple(draw.randrange(2 * SIDE, 6 * SIDE) for _ in range(4)) for _ in range(60)]
    before, after = (ways(wires, 7, 7, share=75, shorten=shorten) for shorten in (False, True))
    assert before[0] == after[0] == 0
    assert max(crossings(after[3]).values()) == 5
    assert sum(map(length, after[3])) < 0.99 * sum(map(length, before[3]))


def test_where_there_is_no_room_it_is_told():
    wires = [(50, 50 + step, 650, 650) for step in range(5)]  # a corner's square has two borders of one track
    full, over, _, corners = ways(wires)
    used = crossings(corners)
    assert full == sum(count > 1 for count in used.values()) > 0
    assert over == sum(count - 1 for count in used.values() if count > 1) >= 3


def test_wires_spread_until_each_border_has_its_share():
    """Though there is room for all side by side; where a share is beyond reach, only what has no track is
    told.
    """
    wires = [(50 + step, 350, 750, 350) for step in range(6)]
    full, over, _, corners = ways(wires, 8, 8)
    assert full == 0 and over == 0
    assert max(crossings(corners).values()) > 4
    full, over, _, corners = ways(wires, 8, 8, share=50)
    assert full == 0 and over == 0
    assert max(crossings(corners).values()) <= 4
    full, over, _, corners = ways([(50, 50 + step, 650, 650) for step in range(4)], 2, 2, share=50)
    assert max(crossings(corners).values()) == 2  # a corner's square has two borders of two tracks
    assert full == 0 and over == 0


def test_wires_within_a_square_take_tracks_of_it():
    within = [(310, 310, 390, 310)] * 2
    assert ways([*within, (250, 350, 450, 350)], 2, 2)[0] == 0
    full, _, _, corners = ways([*within * 2, (250, 350, 450, 350)], 2, 2)
    assert full == 0
    assert length(corners[-1]) > 200  # around: 2 - 4 * 0.8 / 2 tracks are left


def test_a_task_that_is_cut_off():
    with pytest.raises(ToolError, match=r"global routing failed \(2\)"):
        list(subprocess_engine.run(route.SOURCE, "global routing", ["8 8 100 1"]))


def test_it_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_listening", True)
    ways([(50, 50 + step, 650, 650) for step in range(5)])
    heard = [told for line in capsys.readouterr().err.splitlines() if (told := progress.heard(line))]
    assert heard[0] == ("global routing, first round", 0.0)
    assert {what for what, _ in heard[1:]} == {"global routing, settling"}
    assert all(share <= 1 for _, share in heard)


def rounded(point):
    return tuple(round(coordinate, 6) for coordinate in point)


def test_a_net_is_one_piece_with_all_its_pins():
    placed = star()
    layers = placed.lef.kit.layers
    found = route.route_globally(placed)
    assert found.overflow.borders == 0
    around = defaultdict(set)
    for layer, x0, y0, x1, y1 in found.segments[1]:
        assert layer == (layers.vertical if x0 == x1 else layers.horizontal)
        around[x0, y0].add((x1, y1))
        around[x1, y1].add((x0, y0))
    reached = [next(iter(around))]
    for point in reached:
        reached += [other for other in around[point] if other not in reached]
    assert len(reached) == len(around)
    pins = [placed.netlist.driver[1], *placed.netlist.sinks[1]]
    assert len(pins) == 25
    assert {rounded(placed.position(pin)) for pin in pins} <= {rounded(point) for point in around}


def test_long_nets_take_better_layers():
    """The longest nets take the best layer while it has tracks, then the next one. Short nets and the clock
    tree's stay.
    """
    placed = fan_out([(2.85, 2.8)], 200, 1500)
    per_layer = [int(2.8 / placed.lef.layers[name].pitch * 0.75) for name in ("metal6", "metal4")]
    long = sum(per_layer) + 1
    placed.netlist.driver[:] = [("u0", "ZN")] * (long + 2) + [(f"{placement.TREE}.0_0", "Z")]
    lengths = [route.LONG_UM + net for net in range(long)] + [route.LONG_UM - 1]
    segments = {net: [("metal2", 2.0, 2.0, 2.0, 2.0 + length)] for net, length in enumerate(lengths)}
    across = ("metal3", 2.0, 2.0, 2.0 + 2 * route.LONG_UM, 2.0)
    segments |= {long + 1: [across], long + 2: [across]}
    route.raise_long(segments, placed)
    layers = [segments[net][0][0] for net in reversed(range(long))]
    assert layers == ["metal6"] * per_layer[0] + ["metal4"] * per_layer[1] + ["metal2"]
    assert [segments[net][0][0] for net in range(long, long + 3)] == ["metal2", "metal5", "metal3"]


def test_wires_have_the_mean_of_their_layers():
    placed = fan_out([(2.85, 2.8), (2.85, 142.8)], 200, 40)
    units = layer_units(placed.lef)
    nets = {name: RoutedNet(0.0, []) for name in placed.netlist.nets}
    nets["n1"] = RoutedNet(140.0, [("metal2", 3.0, 3.0, 3.0, 38.0), ("metal6", 3.0, 38.0, 3.0, 143.0)])
    (wire,) = wires_of(placed, routed=nets, nets={1})
    mean = [0.25 * two + 0.75 * six for two, six in zip(units["metal2"], units["metal6"], strict=True)]
    (dx, dy), across = (abs(a - b) for a, b in zip(*wire.tree.points, strict=True)), units["metal3"]
    stretch = max(1, 140.0 / (dx + dy))
    assert wire.cap_ff == approx(stretch * (dy * mean[0] + dx * across.cap_ff))
    assert sum(wire.resistances) == approx(stretch * (dy * mean[1] + dx * across.res_ohm))


def test_what_has_no_room_is_not_routed_in_detail(monkeypatch):
    placed = star()
    found = route.route_globally(placed)
    monkeypatch.setattr(detailed, "FEW_CELLS", 10)
    assert detailed.route_detailed(placed, found)[0].done
    found.overflow.borders = detailed.FEW_BORDERS
    assert detailed.route_detailed(placed, found)[0].done
    found.overflow.borders += 1
    why = detailed.route_detailed(placed, found)[0].why_not
    assert why == "21 borders of the global routing are too full: a lower density gives more room"


def test_wires_keep_away_from_a_port_that_nobody_reads():
    """Put where the longest of them is."""
    placed = star()
    ground = detailed.Grid(placed.placement, placed.lef)
    clear = ground.clear(ground.layers.index("metal3"))

    def wires():
        done, found = detailed.route_detailed(placed, route.route_globally(placed))
        assert done.done
        return [wire for row in found.values() for wire in row if wire.layer == "metal3"]

    def near():
        return [wire for wire in wires() if wire.y0 == y and wire.x0 - clear < x < wire.x1 + clear]

    longest = max(wires(), key=lambda wire: wire.x1 - wire.x0)
    x, y = ground.at(*ground.nearest((longest.x0 + longest.x1) // 2, longest.y0))
    assert near()
    placed.placement.pins["spare"] = placement.PortPin("spare", "input", "metal3", x / DBU, y / DBU, "W")
    assert not near()


@module_fixture
def grid():
    return detailed.Grid(star().placement, kit.find().geometry)


def test_distances_of_the_grid_are_those_of_the_lef(grid):
    # by hand, um: pads of 0.14 and 0.07 between them; from metal4 on cuts of 0.14 and 0.16 between them
    assert [grid.clear(layer) / DBU for layer in range(5)] == [0.21, 0.21, 0.30, 0.30, 0.30]
    assert [grid.apart(layer) / DBU for layer in range(4)] == [0.16, 0.16, 0.30, 0.30]
    pitches = [min(b - a for a, b in itertools.pairwise(sorted(tracks))) / DBU for tracks in grid.tracks]
    assert pitches == [0.19, 0.14, 0.285, 0.28, 0.285]
    assert grid.stops[1] == set(grid.xs) == grid.tracks[0] | grid.tracks[2]
    assert grid.stops[4] == grid.tracks[3]


def occupied(grid, tree):
    """The nodes of a net's wires."""
    nodes = set()
    for (layer, i0, j0), (other, i1, j1) in tree.pieces:
        for column, row in itertools.product(range(i0, i1 + 1), range(j0, j1 + 1)):
            across, along = (grid.xs[column], grid.ys[row])[:: 1 if layer % 2 == 0 else -1]
            assert across in grid.tracks[layer]
            nodes |= {
                (value, column, row)
                for value in {layer, other}
                if along in grid.stops[value] or value != layer
            }
    return nodes


def nodes_of(piece):
    (a, i0, j0), (b, i1, j1) = piece
    return set(itertools.product({a, b}, range(i0, i1 + 1), range(j0, j1 + 1)))


def connected(pieces, node):
    """The pieces that lead to a node, and all their nodes."""
    reached, own, rest = {node}, [], pieces
    while touching := [piece for piece in rest if nodes_of(piece) & reached]:
        own += touching
        reached = reached.union(*map(nodes_of, touching))
        rest = [piece for piece in rest if piece not in touching]
    return own, reached


def in_one_piece(nodes, tree):
    """Whether wires and vias of a net lead from each of its nodes to all others."""
    own, reached = connected(tree.pieces, next(iter(nodes)))
    return len(own) == len(tree.pieces) and nodes <= reached


def on_tracks(grid):
    """Columns at the tracks of the lowest layer."""
    return [column for column, x in enumerate(grid.xs) if x in grid.tracks[0]]


def routed(grid, source, gate, vias, gates):
    """The tree of a net from a source to a gate."""
    net = detailed.Net([[source], [gate]], [(*source[1:], *gate[1:])], vias, gates)
    (tree,), left, _ = detailed.search(grid, [net])
    assert left == 0 and in_one_piece({source, gate}, tree)
    return tree


def test_nets_that_want_the_same_tracks_keep_their_distance(grid):
    columns = on_tracks(grid)
    # ten nets along the same rows, each with a pin of two nodes at the one end, one in the middle, and one of
    # the other
    nets = [
        [
            [(0, columns[2 * turn + 4], row), (0, columns[2 * turn + 4], row + 1)],
            [(0, columns[2 * turn + 60], row)],
            [(0, columns[2 * turn + 110], row)],
        ]
        for turn in range(10)
        for row in [20, 24]
    ]
    guides = [[(*pins[0][0][1:], *pins[2][0][1:])] for pins in nets]
    tasks = [detailed.Net(pins, guide) for pins, guide in zip(nets, guides, strict=True)]
    trees, left, _ = detailed.search(grid, tasks)
    assert left == 0
    own = [occupied(grid, tree) for tree in trees]
    for pins, tree, nodes in zip(nets, trees, own, strict=True):
        met = {pin[place] for pin, place in zip(pins, tree.met, strict=True)}
        assert met <= nodes
        assert in_one_piece(met, tree)
    on_track = defaultdict(list)
    for net, nodes in enumerate(own):
        for layer, column, row in nodes:
            place = (column, grid.ys[row]) if layer % 2 == 0 else (row, grid.xs[column])
            on_track[layer, place[0]].append((place[1], net))
    for (layer, _), places in on_track.items():
        for (a, net), (b, other) in itertools.pairwise(sorted(places)):
            assert net == other or b - a >= grid.clear(layer)
    # an answer is kept, but for the nets at cramped nodes
    again, left, _ = detailed.search(grid, tasks, trees)
    assert (again, left) == (trees, 0)
    ends = {node for pins in nets for pin in pins for node in pin}
    cramped = next(node for node in sorted(own[0] - ends) if node[0] == 1)
    again, left, _ = detailed.search(grid, tasks, trees, [cramped])
    assert left == 0 and again[1:] == trees[1:]
    assert cramped not in occupied(grid, again[0]) and in_one_piece(
        {pins[0] for pins in nets[0][1:]}, again[0]
    )


def wire_below(grid, tree, node, top):
    """Lengths by layer, in um, of what a net's wires up to a layer connect to a node."""
    own, reached = connected([piece for piece in tree.pieces if max(end[0] for end in piece) <= top], node)
    lengths = defaultdict(float)
    for (layer, i0, j0), (_, i1, j1) in own:
        lengths[layer] += (grid.xs[i1] - grid.xs[i0] + grid.ys[j1] - grid.ys[j0]) / DBU
    return lengths, reached


def test_a_gate_gets_a_jumper_where_metal_would_charge_it(grid, monkeypatch):
    """20 um from a port, with a gate that bears 5 um on each layer; a driver's diffusion protects it."""
    columns = on_tracks(grid)
    source, gate = (0, columns[4], 20), (0, columns[110], 20)
    for bears, gates, driven in (
        (0.0, {gate: 0.1}, False),
        (50.0, {gate: 0.1}, False),
        (50.0, {gate: 0.1}, True),
    ):
        monkeypatch.setattr(grid, "bears", lambda index, bears=bears: dbu(bears))
        vias = dict.fromkeys([source, gate] if driven else [gate])
        tree = routed(grid, source, gate, vias, gates)
        longest = 0.0
        for top in range(len(grid.layers) - 1):
            lengths, reached = wire_below(grid, tree, gate, top)
            longest = max(longest, lengths[top])
            assert driven or bears == 0.0 or source not in reached
        assert (longest < 5.0) == (bears > 0.0 and not driven)


@parametrize("apart, jumps", [(4.5, False), (4.9, True)])
def test_half_of_a_via_s_metal_at_each_end_counts_as_wire(grid, monkeypatch, apart, jumps):
    """A straight wire with 0.14 um more at each end, and a gate that bears 5 um."""
    monkeypatch.setattr(grid, "bears", lambda _: dbu(50.0))
    monkeypatch.setattr(grid, "pad", lambda _: dbu(0.28))
    column = on_tracks(grid)[0]
    rows = [row for row, y in enumerate(grid.ys) if y in grid.stops[0]]
    last = max(row for row in rows if grid.ys[row] - grid.ys[rows[4]] <= dbu(apart))
    assert grid.ys[last] - grid.ys[rows[4]] > dbu(apart - 0.2)
    source, gate = (0, column, rows[4]), (0, column, last)
    tree = routed(grid, source, gate, {gate: ()}, {gate: 0.1})
    assert any(layer > 0 for piece in tree.pieces for layer, *_ in piece) == jumps


@parametrize("cumulative", [False, True])
def test_wire_of_lower_layers_counts_where_the_limit_is_cumulative(grid, monkeypatch, cumulative):
    """3 um across and 3 um along, with a gate that bears 4 um."""
    monkeypatch.setattr(grid, "bears", lambda _: dbu(40.0))
    monkeypatch.setattr(grid, "cumulative", lambda _: cumulative)
    columns = on_tracks(grid)
    right = next(column for column in columns if grid.xs[column] - grid.xs[columns[4]] >= dbu(3))
    upper = next(row for row in range(4, len(grid.ys)) if grid.ys[row] - grid.ys[4] >= dbu(3))
    gate, source = (0, columns[4], 4), (0, right, upper)
    across = {(layer, *at) for layer in (1, 3) for at in itertools.product(range(len(grid.xs)), range(upper))}
    monkeypatch.setattr(grid, "blocked", across)  # first along, then across
    tree = routed(grid, source, gate, {gate: ()}, {gate: 0.1})
    charges = [wire_below(grid, tree, gate, top)[0][top] for top in range(len(grid.layers) - 1)]
    assert max(charges) < 4
    assert (sum(charges) < 4) == cumulative


def test_metal_of_a_net_that_ends_too_near_to_itself_is_joined(grid):
    """Two ends with a via down, along a track: as far as the pads leave the spacing between them nothing is
    to be done.
    """
    pads, spacing = grid.lef.vias["via2_5"], dbu(grid.lef.layers["metal3"].spacing)
    reach = dbu(pads["metal3"][2] - pads["metal3"][0])  # of both ends

    def found(apart):
        ends = [Wire("metal2", at, 700, at, 700, "via2_5") for at in (2000, 2000 + apart)]
        wires = [Wire("metal3", 1000, 700, 2000, 700), Wire("metal3", 2000 + apart, 700, 4000, 700), *ends]
        return detailed.joined(wires, grid)[len(wires) :]

    near = reach + spacing
    assert found(near) == found(reach) == []
    assert found(near - 1) == [Wire("metal3", 2000, 700, 2000 + near - 1, 700)] and found(reach + 1)
    upright = [
        Wire("metal2", 570, 0, 570, 1000),
        Wire("metal2", 570, 1200, 570, 3000),
    ]  # 0.03 um between them
    assert detailed.joined(upright, grid)[2:] == [Wire("metal2", 570, 1000, 570, 1200)]
