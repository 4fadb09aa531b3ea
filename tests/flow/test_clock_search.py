"""The search of the highest clock: which clocks it asks for, by designs that are made up, and what it makes
of real netlists.
"""

from random import Random

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.unit_chip import chip
from modexlab.eval.lab.asic_run import run_asic, targets
from modexlab.flow.graph import fmax, summary_text
from modexlab.flow.graph.runner import FlowError, FlowResult
from modexlab.flow.layout.routing import InDetail, Overflow, Routing
from modexlab.flow.source import VerilogFiles
from modexlab.flow.timing.clock_search import GRID_NS, MOST_TRIALS, RELATIVE, ClockSearch, Trial
from pytest import approx

from tests.harness import parametrize, regress

LEFT_NS = 0.04  # sizes go down again until no more is left


def made_up(reached, generator):
    """A design: what its netlist for a clock would reach."""

    def trial(clock_ns):
        shortest = reached(clock_ns)
        slack = clock_ns - shortest if clock_ns < shortest else generator.uniform(0, LEFT_NS)
        return Trial(clock_ns, slack, 1000.0 / clock_ns, slack >= 0)

    return trial


def run(search, design):
    while (clock_ns := search.ask()) is not None:
        assert clock_ns > 0 and clock_ns == approx(round(clock_ns / GRID_NS) * GRID_NS)
        assert clock_ns not in [trial.clock_ns for trial in search.trials], "nothing is tried twice"
        assert search.left > 0
        search.tell(design(clock_ns))
    assert search.left == 0
    return search.trials


@parametrize("near", [False, True])
@parametrize("start_ns", [1.0, 3.0, 7.3])
def test_finds_the_shortest_period(start_ns, near):
    """For designs whose netlists all reach the same period: the first on the grid above it, or two percent
    more.
    """
    counts = []
    for seed in range(200):
        generator = Random(f"{seed} {start_ns}")
        period = start_ns * generator.uniform(0.93, 1.07) if near else generator.uniform(0.12, 12)
        search = ClockSearch(start_ns, near=near)
        trials = run(search, made_up(lambda _, period=period: period, generator))
        assert search.best.met
        assert search.best.clock_ns == min(trial.clock_ns for trial in trials if trial.met)
        assert period <= search.best.clock_ns <= period * (1 + RELATIVE) + 2 * GRID_NS
        counts.append(len(trials))
    assert max(counts) < MOST_TRIALS and sum(counts) / len(counts) < (4.5 if near else 5)


def test_from_a_period_that_is_nearly_the_answer():
    """One more trial confirms the answer; far from it, steps grow until it is passed."""
    for period, most in ((1.68, 2), (1.63, 4), (1.78, 3), (1.2, 7)):
        search = ClockSearch(1.7, near=True)
        trials = run(search, made_up(lambda _, period=period: period, Random(1)))
        assert len(trials) <= most, (period, trials)
        assert period <= search.best.clock_ns < period + GRID_NS


def test_it_begins_with_the_very_clock_that_is_known():
    """Beside the grid too; then it goes on upon it, and never ends at a longer one that was not needed."""
    for period, asked, best in ((1.95, [1.96, 1.9], 1.96), (1.88, [1.96, 1.9, 1.8, 1.85], 1.9)):
        search = ClockSearch(1.96, near=True)
        while (clock_ns := search.ask()) is not None:
            search.tell(Trial(clock_ns, min(clock_ns - period, LEFT_NS), 1000.0, clock_ns >= period))
        assert [trial.clock_ns for trial in search.trials] == asked
        assert search.best.clock_ns == best


def test_netlists_that_differ_from_clock_to_clock():
    """Netlists reach periods within three percent of each other, and so does the result."""
    for seed in range(200):
        generator = Random(seed)
        period = generator.uniform(0.3, 9)
        search = ClockSearch(3.0)
        run(search, made_up(lambda _, g=generator, p=period: p * g.uniform(1, 1.03), generator))
        assert period <= search.best.clock_ns <= 1.03 * period * (1 + RELATIVE) + 4 * GRID_NS


def test_nothing_that_a_clock_measures():
    search = ClockSearch(3.0)
    assert search.ask() == 3.0
    search.tell(Trial(3.0, None, 10.0, True))
    assert search.ask() is None and search.best == search.trials[0]


def test_a_design_that_meets_no_clock():
    """It gets slower as its clock does: the search gives up, and has no answer."""
    search = ClockSearch(3.0)
    trials = run(search, lambda clock_ns: Trial(clock_ns, -1.0, 10.0, False))
    assert len(trials) == MOST_TRIALS and search.best is None


def test_after_layout_it_begins_where_it_ended(monkeypatch, tmp_path):
    """The graph is run up to its timing, before layout and after it, at one clock after the other; all of it
    is told.
    """
    ran = []

    def run_flow(wanted, design, parameters, *_, **__):
        assert parameters["fmax"] is False and parameters["style"] == "fast"
        ran.append((wanted, parameters["clock_period"]))
        return FlowResult()

    def judged(_, clock_ns):
        slack = clock_ns - (2.12 if ran[-1][0] == ["timing"] else 2.31)
        return Trial(clock_ns, min(slack, LEFT_NS), 500.0, slack >= 0)

    monkeypatch.setattr(fmax, "run_flow", run_flow)
    monkeypatch.setattr(fmax, "judged", judged)
    told = []
    design = VerilogFiles((tmp_path / "x.v",), "x")
    parameters = {"clock_period": 3.0, "style": "fast", "fmax": True}
    found = fmax.highest_clocks(design, parameters, told.append, layout=True)
    assert found.before_layout.period_ns == 2.15
    assert found.clock_ns == found.after_layout.period_ns == 2.35
    assert found.before_layout.fmax_mhz == approx(1000 / 2.15, abs=1e-3)
    after = [clock_ns for wanted, clock_ns in ran if wanted == ["timing-post"]]
    assert ran[0] == (["timing"], 3.0) and after[0] == 2.15
    assert [trial.clock_ns for trial in found.after_layout.trials] == after
    names = [event.step for event in told if event.state == "done"]
    assert names[0] == "trial 1" and names[-1] == f"layout, trial {len(after)}"
    going = [event.message for event in told if event.state == "going"]
    assert going[0] == "3 ns, about 4 trials left" and "3 met" in going[1] and going[1].endswith(" s")
    assert any(event.message.startswith("2.15 met +0.030, 500 um^2") for event in told)
    del ran[:]
    assert fmax.highest_clocks(design, parameters).after_layout is None
    assert {step for wanted, _ in ran for step in wanted} == {"timing"}
    del ran[:]
    near = fmax.highest_clocks(design, {**parameters, "clock_period": 2.15})
    assert near.clock_ns == 2.15 and [clock_ns for _, clock_ns in ran] == [2.15, 2.1], "it was given: near"


def test_a_trial_without_timing_ends_the_search():
    with pytest.raises(FlowError, match=r"no verdict on 2\.5 ns: step timing: OpenSTA stopped"):
        fmax.judged(FlowResult(failed={"timing": "OpenSTA stopped (1)"}), 2.5)


@regress
def test_the_highest_clock_of_a_multiplier(cli):
    """It is met, the next shorter one that was tried is not, and the flow at that clock is the same run."""
    made = chip(find("mont"), 8, {}, "unit")
    parameters = {"clock_period": 3.0, "fmax": True, "style": "optimised"}
    outcome, found = run_asic(targets(layout=False), made, parameters, lambda _: None)
    period_ns = found.period_ns
    assert period_ns == found.clock_ns == found.before_layout.period_ns and not found.marks
    assert found.fmax_mhz == approx(1000 / period_ns, abs=1e-3)
    assert found.before_layout.fmax_by == "trials" and found.wns_ns >= 0
    assert min(trial.clock_ns for trial in found.trials if trial.met) == period_ns
    missed = [trial for trial in found.trials if not trial.met]
    assert missed and max(item.clock_ns for item in missed) < period_ns < 3.0
    assert all((trial.slack_ns >= 0) == trial.met and trial.area_um2 > 0 for trial in found.trials)
    assert f"{period_ns:g} ns, searched" in summary_text.text(found)
    again, _ = run_asic(["timing"], made, {"clock_period": period_ns, "style": "optimised"}, lambda _: None)
    assert again.fresh == {"rtl"} and again.entries["timing"] == outcome.entries["timing"]
    report = cli.json("asic mont --nbits 8 --interface unit --style optimised --fmax --to power")
    assert report["marks"] == [] and report["met_ns"] == period_ns
    assert report["time_ns"] == {
        name: round(count * period_ns, 3) for name, count in report["cycles"].items()
    }
    assert report["period_ns"] == period_ns and report["trials"][0].keys() >= {
        "clock_ns",
        "slack_ns",
        "area_um2",
        "met",
    }


def test_steps_that_have_no_clock(cli):
    refusal = cli.fails("asic mont --nbits 8 --fmax --to rtl-sim")
    assert "--fmax with --to rtl-sim: this step has no clock" in refusal


def test_a_layout_that_is_not_routed_has_no_verdict(tmp_path):
    """Its slack is that of wires that cannot be built."""
    overflow, detail = Overflow(3, 5, 40), InDetail(False, "2 nets found no way", 1.0, 500)
    Routing(False, overflow, {}, detail, {}).write(tmp_path)
    outcome = FlowResult()
    outcome.files = lambda: {name: tmp_path / name for name in ("timing_post.json", Routing.FILE)}
    with pytest.raises(FlowError, match="no verdict on 2 ns: routing failed: 2 nets found no way"):
        fmax.judged(outcome, 2.0)
    detail.rounds = 0
    assert Routing(False, overflow, {}, detail, {}).failure.startswith("3 borders have 5 wires too many")
    assert Routing(True, Overflow(0, 0, 1), {}, detail, {}).failure == ""
