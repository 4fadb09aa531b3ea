"""Leakage: the counts equal the activity of the registers, leaks are found, and blinded machines pass."""

import itertools
import math
import statistics
from dataclasses import replace
from random import Random

import pytest
from modexlab.eval.assurance.attacks import leakage, rsa_leakage, rsa_operands, secrets
from modexlab.eval.assurance.attacks.welch import (
    CERTAIN,
    FIXED,
    RANDOM,
    Moments,
    Point,
    kind_of,
    point_of,
    welch,
)
from modexlab.eval.designs.catalogue import find
from modexlab.eval.errors import NoMeasurement
from modexlab.fl.program.ir import Fetch, Scan
from modexlab.fl.program.phases import Part, parts
from modexlab.proc.software.seeded_keys import seeded_key
from modexlab.rtl.sim.campaigns.leak import IGNORED, NKINDS, Watched

from tests.harness import code_of, parametrize, refused, regress, stepped
from tests.paths import ROOT
from tests.programs import machine_of

BLINDED = {"schedule": "fixed-window", "blind": "both"}


def assessed(machine, traces, **more):
    return leakage.assess(rsa_leakage.compared(machine, **more), traces)


def of_mont(secret="exponent", **settings):
    return assessed(
        machine_of("mont-keyed" if "blind" in settings else "mont", 16, **settings), 2000, secret=secret
    )


# ---- counts


def register(top, path):
    """The value of a register of a Python model by its path in the Verilog; elements of arrays are
    concatenated.
    """
    at = top
    for part in path.replace("[", "__").replace("]", "").split("."):
        name, *places = part.split("__")
        at = getattr(at, name)
        for place in places:
            at = at[int(place)] if place.isdigit() else getattr(at, place)
    return sum(int(item) << 64 * place for place, item in enumerate(at if isinstance(at, list) else [at]))


def test_moments_are_those_of_pymtl3s_own_simulator():
    """The bits that change and the bits that are 1, for each register in each cycle of an operation that
    follows another one.
    """
    machine = find("mont").at(8)
    first, second = machine.carried(77, 0x8D, 0xB3), machine.carried(101, 0xF1, 0xB3)
    model = Watched(machine.rtl())
    top = stepped(machine.rtl())
    top.ostream.rdy @= 1
    states = []

    def snapshot():
        states.append({site.path: register(top, site.path) for site in model.registers})

    for request in (first, second):
        states.clear()
        top.istream.msg @= type(top.istream.msg)(*request)
        top.istream.val @= 1
        while True:
            top.sim_eval_combinational()
            snapshot()
            fired, answered = int(top.istream.rdy), int(top.ostream.val)
            top.sim_tick()
            if fired:
                top.istream.val @= 0
            if answered:
                break
    snapshot()
    for measure in ("distance", "weight"):
        with model.campaign(measure) as campaign:
            campaign.run([first, second, first, second], [IGNORED, 0, IGNORED, 0], 1000)
            assert campaign.cycles == len(states) - 1 == machine.cycles(101, 0xF1, 0xB3) + 1
            for cycle, (before, after) in enumerate(itertools.pairwise(states)):
                counted = dict.fromkeys(campaign.groups, 0)
                for path in after:
                    bits = after[path] ^ before[path] if measure == "distance" else after[path]
                    counted[path.partition("[")[0]] += bits.bit_count()
                for group, bits in {**counted, None: sum(counted.values())}.items():
                    found = campaign.curve(group)[cycle][0]
                    assert found == (2, 2 * bits, 2 * bits * bits), (measure, cycle, group)


def moments_of(values):
    return Moments(len(values), sum(values), sum(value * value for value in values))


def test_welch():
    draw = Random(1)
    one, other = ([draw.randrange(100) for _ in range(count)] for count in (30, 50))
    error = math.sqrt(statistics.variance(one) / 30 + statistics.variance(other) / 50)
    expected = (statistics.mean(one) - statistics.mean(other)) / error
    assert math.isclose(welch(moments_of(one), moments_of(other)), expected, rel_tol=1e-12)
    fours, fives = moments_of([4, 4]), moments_of([5, 5])
    assert welch(fives, fours) == CERTAIN and welch(fives, fives) == welch(moments_of([5]), fours) == 0
    assert Point(9, 4.6, 4.7).leaks and Point(9, -4.6, -4.7).leaks
    assert not Point(9, 4.6, 4.4).leaks and not Point(0, 4.6, -4.6).leaks
    kinds = [moments_of([]) for _ in range(NKINDS)]
    kinds[kind_of(FIXED, 0)], kinds[kind_of(RANDOM, 0)] = moments_of(one), moments_of(other)
    point = point_of(kinds)
    assert point == (pytest.approx(expected), pytest.approx(expected), 0)
    assert not point.leaks


def test_secrets_are_alike_in_what_is_public():
    key, draw = seeded_key(32), Random(1)
    phi = (key.p - 1) * (key.q - 1)
    drawn = [secrets.drawn_key(key, draw) for _ in range(20)]
    assert len({rsakey.d for rsakey in drawn}) > 15
    assert len({(rsakey.n, rsakey.e.bit_length(), rsakey.e.bit_count()) for rsakey in drawn}) == 1
    assert len({(rsakey.d or 0) % (phi & -phi) for rsakey in drawn}) == 1


@parametrize("crt", [False, True])
@parametrize("name", ["mont-keyed", "heap"])
def test_parts(name, crt):
    """A secret exponent is fetched only where it is blinded; its digits are scanned in the judged part."""
    program = machine_of(name, 32, **BLINDED, crt=crt, verify=True).programmed.program
    found = parts(program)
    assert found[0] is Part.LOAD and found[-1] is Part.WIPE and set(found) == set(Part)
    for word, part in zip(program.words, found, strict=True):
        assert (
            not {fetch.slot for fetch in word.find(Fetch)} & {"d", "dp", "dq"} or part is Part.BLIND_EXPONENT
        )
        assert not word.find(Scan) or part is Part.COMPUTE
    assert found.count(Part.COMPUTE) > 5


# ---- verdicts


def test_what_leaks_is_found():
    """An exponent without protection leaks in power, in the registers that hold it; the time does not depend
    on it.
    """
    found = assessed(find("mont").at(8), 2000)
    assert found.leaks and found.power_leaks and not found.time_leaks
    assert found.curve[found.worst].leaks and found.judged(found.worst)
    assert "dpath.exponent.bits" in [finding.name for finding in found.alone()]
    assert found.part_of[0] == leakage.LOAD == Part.LOAD.value and not found.judged(0)
    assert all(abs(point.both) < 4.5 for point in found.registers["dpath.modulus.out"])


def test_time_that_depends_on_the_exponent_leaks():
    found = assessed(find("mont").at(8, schedule="left-to-right"), 200)
    assert found.leaks and found.time_leaks
    assert len(found.cycles_of[FIXED]) == 1 < len(found.cycles_of[RANDOM])


def test_time_that_depends_on_the_exponent_leaks_though_its_mean_does_not():
    """The multiplier takes longer for longer operands: the classes have similar means, but different
    distributions.
    """
    found = assessed(find("ssmm").at(8, schedule="ladder"), 200)
    means = [statistics.mean(found.lengths[kind_of(which, 0)]) for which in (FIXED, RANDOM)]
    assert abs(means[0] - means[1]) < 5
    assert found.time_leaks
    one, other = found.time_leak.cycles
    assert one != other


def test_a_counterexample_has_the_cycles_of_the_formula():
    """Two requests with the same base and modulus, and exponents of one length."""
    machine = find("mont").at(8, schedule="left-to-right")
    leak = assessed(machine, 40).time_leak
    (one,), (other,) = leak.requests
    assert one[0] == other[0] and one[2] == other[2] and one[1].bit_length() == other[1].bit_length() == 8
    assert leak.cycles == tuple(machine.cycles(*request) for request in (one, other))
    assert leak.cycles[0] != leak.cycles[1]


def test_time_that_depends_on_public_fields_alone_is_no_leak():
    """Cycles that vary alike for every secret are no leak: a larger modulus of `heap` takes longer."""
    found = assessed(find("heap").at(8), 40)
    assert not found.time_leaks and found.timing.pairs > 1000
    assert len({mod for _, mod in found.timing.values}) > 20


def test_distributions_decide_if_a_machine_blinds():
    """Random numbers may change the cycles, so only their distributions can be compared."""
    found = assessed(find("mont").at(8), 40)
    one, other = [10, 30] * 50, [20] * 100  # with the same mean
    assert replace(found, timing=None, lengths=[one, other, one, other]).time_leaks
    assert not replace(found, timing=None, lengths=[one, other, other, other]).time_leaks


@regress
def test_what_is_blinded_passes():
    """The program leaks where the secret is loaded, but not where it is used; without blinding it leaks there
    too.
    """
    found = of_mont(**BLINDED)
    assert not found.leaks and not found.alone()
    by_part = {part.name: part for part in found.parts()}
    assert by_part[Part.BLIND_EXPONENT.value].over > 0 and not by_part[Part.BLIND_EXPONENT.value].judged
    assert by_part[Part.COMPUTE.value].cycles > 100 and not by_part[Part.COMPUTE.value].over


@regress
def test_without_its_blinding_it_leaks():
    assert of_mont(**BLINDED | {"blind": "message"}).leaks
    assert of_mont("message", **BLINDED | {"blind": "exponent"}).leaks
    assert not of_mont("message", **BLINDED).leaks


@regress
def test_constant_time_is_not_enough():
    """A ladder takes the same time for all exponents, but its power reveals them."""
    found = assessed(find("mont-ct").at(16), 2000)
    assert found.power_leaks and not found.time_leaks
    assert assessed(find("mont-ct").at(16), 2000, message="fixed").power_leaks
    assert assessed(find("mont-001").at(16), 1000).power_leaks


@regress
def test_a_secret_that_is_left_behind_is_found():
    """Regression: the exponent stayed in s next to its blinded form until the first entry of the table."""
    machine = machine_of("mont-keyed", 32, **BLINDED, crt=True, verify=True, fit="modulus")
    program = machine.programmed.program
    assert any(
        part is Part.BLIND_EXPONENT and "mov s, 0" in str(word)
        for word, part in zip(program.words, parts(program), strict=True)
    )
    assert not assessed(machine, 20_000).leaks


def test_nothing_is_measured_on_a_wrong_machine(monkeypatch):
    monkeypatch.setattr(rsa_operands, "pow", lambda *_: 0, raising=False)
    with pytest.raises(NoMeasurement, match="nothing is measured on a wrong one"):
        assessed(find("mont").at(8), 400)


def test_long_operations_are_told_by_module(monkeypatch):
    """Long operations are resolved by module; the curve of the whole machine stays the same."""
    machine = find("mont").at(8)
    fine = assessed(machine, 400)
    monkeypatch.setattr(leakage, "MOST_POINTS", 100)
    coarse = assessed(machine, 400)
    assert set(coarse.registers) == {name.partition(".")[0] for name in fine.registers}
    assert coarse.curve == fine.curve


def test_what_is_refused():
    machine = find("mont").at(8)
    with refused("39 traces are too few"):
        assessed(machine, 39)
    with refused("both classes would be the same"):
        rsa_leakage.compared(machine, "message", "fixed")


@regress
def test_notebook(tmp_path, monkeypatch):
    """All cells in order: every attack finds the exponent, except the one on the blinded machine."""
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec("\n".join(code_of(ROOT / "eval" / "examples" / "leak.ipynb")), names)
    d = names["d"]
    assert names["ones_found"] == d.bit_count()
    assert names["d_by_spa"] == names["d_by_cpa"] == names["d_by_ladder"] == d != names["d_blinded"]
    assert not names["verdict"].leaks and names["name"] == "blinded"
    assert (tmp_path / "spa.png").stat().st_size > 10_000


@regress
@parametrize("how", [{}, {"verify": True, "blind": "both"}], ids=["plain", "blinded and checked"])
def test_private_requests_of_a_machine_with_public_exponents(how):
    """Private requests all take the same number of cycles."""
    found = assessed(machine_of("heap", 16, public=True, schedule="fixed-window", **how), 200)
    assert not found.time_leaks and all(len(cycles) == 1 for cycles in found.cycles_of)
