"""Search strategies: all points, a random sample, and a search that learns from results."""

from collections import Counter

from modexlab.eval.lab import search, sweep
from modexlab.eval.lab import space as spaces
from modexlab.eval.lab.search import Exhaustive, Judged, Nsga2, Several, make_search
from modexlab.eval.lab.space import Space

from tests.command_line import picked
from tests.harness import parametrize, refused

# many are impossible: a pipeline must divide the width
PIPELINES = """
objectives = {cycles = "min", clock_ns = "min"}
[[part]]
designs = ["mont"]
nbits = [64]
stages = ["formula", "flow"]
[part.set]
nstages = [1, 2, 4, 8, 16, 32, 64]
steps_per_stage = [1, 2, 4, 8, 16, 32, 64]
schedule = ["right-to-left-2", "right-to-left-1", "left-to-right", "always", "ladder"]
add_red = ["textbook", "koc", "carry-save"]
doublings_per_cycle = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32]
conversion = ["double", "square"]
pipelined = [false, true]
forward = [false, true]
"""
FEW = """
objectives = {cycles = "min"}
[[part]]
designs = ["mont", "heap"]
nbits = [16]
stages = ["formula"]
[part.set]
nstages = [1, 2]
steps_per_stage = [8]
forward = [false, true]
"""


ONE_UNIT = ("right-to-left-1", "left-to-right", "always")  # schedules with one multiplier


def pipelines():
    """The large space, with one kind of work."""
    return Space.parse(PIPELINES.replace(', "flow"', "").replace(', clock_ns = "min"', ""))


def at_random(space, count, seed):
    return make_search(space, "random", count, seed)


def for_two_objectives(method, count, seed):
    """A search with a made-up second objective, which only the flow would measure."""
    space = pipelines()
    space.objectives = {"cycles": "min", "area_um2": "min"}
    return method(space, count, seed)


def searched(method, count, seed, judge=None, **order):
    """The proposals of a search with their results."""
    return walk(for_two_objectives(method, count, seed), judge or by_cost, **order)


def cost(point):
    """The cycles, and a made-up area: the chained part of a cycle times the parallel part."""
    design = point.design
    (part,) = point.parts()
    settings = point.resolved
    units = 1 if settings["schedule"] in ONE_UNIT else 2
    adders = {"textbook": 2.0, "koc": 2.6, "carry-save": 1.5}[settings["add_red"]]
    area = units * adders * settings["nstages"] * (settings["steps_per_stage"] + 1.5)
    area += 0.7 * settings["doublings_per_cycle"] + 3 * settings["pipelined"] + settings["forward"]
    cycles = design.at(point.nbits, **point.all_settings).cycles(*part.work.operands)
    return cycles, area


def unjudged(_):
    return Judged(None)


def walk(one, judge=unjudged, backwards=False):
    """All proposals of a search, with the results that it received."""
    found = []
    while batch := one.ask():
        results = [(point, judge(point)) for point in batch]
        found += results
        one.tell({point.key: judged for point, judged in (reversed(results) if backwards else results)})
    return found


def by_cost(point):
    return Judged(cost(point))


def keys(found):
    return [point.key for point, _ in found]


# ---- exhaustive


def test_exhaustive_hands_out_all_points_in_order():
    points = list(Space.parse(FEW).points())
    one = make_search(Space.parse(FEW), "exhaustive")
    assert isinstance(one, Exhaustive) and one.count == len(points) == 6
    assert [point for point, _ in walk(one)] == points


def test_too_many_for_exhaustive(monkeypatch):
    monkeypatch.setattr(search, "MOST_POINTS", 5)
    message = "the space has up to 8 points, and --method exhaustive measures at most 5; give --method nsga2"
    with refused(message):
        make_search(Space.parse(FEW.replace("[1, 2]", "[1, 2, 4]")), "exhaustive")


def test_unknown_method():
    with refused(r"unknown method 'nsga': did you mean 'nsga2'\?"):
        make_search(Space.parse(FEW), "nsga", 10, 0)


# ---- random


@parametrize("text", [FEW, PIPELINES], ids=["counted", "drawn"])
def test_random_by_seed(text, monkeypatch):
    """The same seed selects the same points, and none twice."""
    monkeypatch.setattr(spaces, "ENUMERABLE", 100)

    def drawn(seed):
        return keys(walk(at_random(Space.parse(text), 5, seed)))

    assert len(set(drawn(1))) == 5
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_random_of_a_small_space_ends_with_it():
    points = {point.key for point in Space.parse(FEW).points()}
    one = at_random(Space.parse(FEW), 100, 1)
    assert one.count == len(points)
    assert sorted(keys(walk(one))) == sorted(points)


def test_random_remembers_what_cannot_be():
    large = pipelines()
    assert len(at_random(large, 20, 1).ask()) == 20
    assert large.impossible
    assert all("does not divide" in why or "nstages" in why for why in large.impossible.values())
    assert all("nstages=" in what for what in large.impossible)


@parametrize("method", ["random", "nsga2"])
def test_no_point_to_be_found(method):
    text = PIPELINES.replace("objectives", 'constraints = ["nbits < 64"]\nobjectives', 1)
    with refused(r'the space is empty: of \d+ points, constraint "nbits < 64" leaves out \d+; \d+ are imp'):
        make_search(Space.parse(text), method, 3, 1).ask()


# ---- NSGA-II


def test_a_search_repeats_itself():
    """Its course depends on the seed and the results, not on their order."""
    first = keys(searched(Nsga2, 60, 1))
    assert len(set(first)) == 60
    assert first == keys(searched(Nsga2, 60, 1, backwards=True)) != keys(searched(Nsga2, 60, 2))


def test_a_search_finds_more_than_chance():
    """Its fronts dominate a larger area for the same number of points, over three seeds."""
    slowest, largest = 1500.0, 400.0

    def volume(found):
        area, below = 0.0, largest
        for time, size in sorted(judged.vector for _, judged in found if judged.vector is not None):
            if time < slowest and size < below:
                area += (slowest - time) * (below - size)
                below = size
        return area

    for seed in range(3):
        assert volume(searched(Nsga2, 200, seed)) > volume(searched(at_random, 200, seed))


def test_a_search_ends_with_its_space(monkeypatch):
    """It measures all points once, even if more were requested."""
    monkeypatch.setattr(search, "FUTILE", 10)
    text = FEW.replace(', "heap"', "")
    found = walk(Nsga2(Space.parse(text), 50, 1), lambda point: Judged((float(len(point.key)),)))
    assert sorted(keys(found)) == sorted(point.key for point in Space.parse(text).points())


def test_failed_points_have_no_children():
    """Ladders fail here: 1 in 5 points by chance, and fewer from the second generation on."""

    def fail_ladders(point):
        return Judged(None) if point.resolved["schedule"] == "ladder" else by_cost(point)

    one = for_two_objectives(Nsga2, 240, 3)
    ladders = [point.resolved["schedule"] == "ladder" for point, _ in walk(one, fail_ladders)]
    half = len(ladders) // 2
    assert sum(ladders[half:]) < min(sum(ladders[:half]), 0.1 * half)
    states = Counter(trial.state.name for trial in one._study.trials)
    assert states.keys() == {"COMPLETE", "FAIL"}
    assert states["COMPLETE"] >= 240 - sum(ladders), "no value was made up for them"


def test_points_that_break_a_constraint_lose():
    """Points with one unit are forbidden, 3 in 5 by chance: the search avoids them."""

    def forbid(point):
        return Judged(cost(point), violations=int(point.resolved["schedule"] in ONE_UNIT))

    broken = [judged.violations for _, judged in searched(Nsga2, 240, 1, forbid)]
    assert sum(broken[:24]) > 8
    assert sum(broken[-72:]) < 0.35 * 72


# ---- kinds of work


WORKS = """
objectives = {cycles = "min"}
[[part]]
designs = ["mont", "cm-m-000", "procxcel-mont"]
nbits = [16, 32]
workloads = ["encrypt", "decrypt"]
stages = ["native", "flow"]
[part.set]
forward = [false, true]
[part.flow]
clock_period = [2.0, 3.0]
[[part]]
designs = ["naive"]
nbits = [32]
"""


def test_a_search_for_each_kind_of_work():
    """Together they are the whole space. Each has one width, operation, stage and interface, and machines for
    one modulus or for any.
    """
    found = Space.parse(WORKS).by_work()
    together = []
    for space in found:
        points = list(space.points())
        works = {
            (*picked(work, "nbits operation stage interface"), work.modulus and point.interface == "stream")
            for point in points
            for work in [sweep.Work.of(point, point.workload)]
        }
        assert len(works) == 1, works
        together += [point.key for point in points]
    whole = {point.key for point in Space.parse(WORKS).points()}
    assert sorted(together) == sorted(whole), "every point is in one of them"
    assert len(found) == 2 * 3 * 3, "2 widths; stream, own modulus, system; encrypt, decrypt, flow"


def test_interfaces_that_are_one_work_are_one_part():
    """A system has only its own interface, however many are given."""
    text = """
objectives = {cycles = "min"}
[[part]]
designs = ["procxcel-mont", "mont"]
nbits = [32]
interfaces = ["stream", "xcel", "axi4lite"]
workloads = ["encrypt"]
stages = ["native"]
[part.set]
forward = [false, true]
"""
    found = [
        (*part.interfaces, *part.subjects, part.size())
        for space in Space.parse(text).by_work()
        for (part,) in [space.parts]
    ]
    own = [(interface, "mont", 2) for interface in ("stream", "xcel", "axi4lite")]
    assert found == [("system", "procxcel-mont", 2), *own]


def test_small_works_leave_their_share_to_the_others():
    text = WORKS.replace('"native", "flow"', '"formula"').replace('"procxcel-mont"', "")
    text = text.replace("[part.flow]\nclock_period = [2.0, 3.0]\n", "") + 'stages = ["formula"]\n'
    space = Space.parse(text)
    points = sum(1 for _ in space.points())
    one = make_search(space, "nsga2", points, 1)
    assert isinstance(one, Several)
    assert one.count == points
    found = keys(walk(one, lambda point: Judged((float(point.nbits),))))
    assert len(set(found)) == len(found) == points
    assert make_search(space, "nsga2", 7, 1).count == 7
