"""Campaigns: outcomes are recorded as tasks end, and the time left is estimated from finished tasks."""

from collections import Counter
from dataclasses import dataclass

import pytest
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab.campaign import Campaign, Results, Task
from modexlab.eval.lab.explore import Measuring
from modexlab.eval.lab.ledger.join import join
from modexlab.eval.lab.ledger.ledger import Ledger
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.schedulers import Here, Local
from modexlab.eval.lab.stages import STAGES
from modexlab.fl.errors import BadInput
from modexlab.rtl.sim.toolchain import ToolError
from pytest import approx

from tests.harness import parametrize, refused


@dataclass(frozen=True)
class Square(Task):
    """Squares a number; three numbers have no square."""

    number: int
    size = 10

    @property
    def key(self):
        return f"square {self.number}"

    def run(self, report):
        report(5, self.size)
        if self.number == 13:
            raise BadInput("13 brings bad luck; give 14")
        if self.number == 17:
            raise ToolError("the tool failed")
        if self.number == 19:
            raise KeyboardInterrupt
        return [self.number**2]


def campaign(numbers, ledger, scheduler=None):
    """The results by number, the reused numbers, and the progress that was reported."""
    results, reused, steps = {}, set(), []
    made = Campaign(scheduler or Here(), lambda *counts: steps.append(counts), Results(ledger))
    with made.scheduler:
        for outcome in made.results(map(Square, numbers)):
            results[outcome.task.number] = outcome.result
            reused |= {outcome.task.number} if outcome.reused else set()
    return results, reused, steps


@parametrize("scheduler", [None, Local(2)])
def test_nothing_is_done_twice(scheduler, ledger):
    assert campaign(range(3), ledger, scheduler)[:2] == ({0: [0], 1: [1], 2: [4]}, set())
    results, reused, steps = campaign([1, 3, 2], ledger, scheduler)
    assert results == {1: [1], 2: [4], 3: [9]} and reused == {1, 2} and steps[-1] == (30, 30)
    ledger.forget(["square 1"])
    assert campaign([1, 2], ledger)[1] == {2}


@parametrize("scheduler", [None, Local(1)])
@parametrize(
    "number, error, words",
    [(13, BadInput, "13 brings bad luck; give 14"), (17, NoMeasurement, "the tool failed")],
)
def test_an_error_ends_it_and_keeps_what_is_done(number, error, words, scheduler, ledger):
    with pytest.raises(error, match=words):
        campaign([1, number], ledger, scheduler)
    assert set(ledger.results(["square 1", f"square {number}"])) == {"square 1"}


def test_an_interrupted_campaign_goes_on(ledger):
    with pytest.raises(KeyboardInterrupt):
        campaign([1, 2, 19, 3], ledger)
    assert campaign([1, 2, 3], ledger)[1] == {1, 2}


def test_results_go_to_another_ledger_and_are_checked(ledger, tmp_path):
    campaign([1, 2], ledger)
    other = Ledger(tmp_path / "other.sqlite")
    assert join(other, ledger).noted == 2 and campaign([1, 2], other)[1] == {1, 2}
    with other.writing() as connection:
        connection.execute("UPDATE result SET result = '[5]' WHERE key = 'square 2'")
    with refused("result 2 is not what was written; `modexlab ledger salvage"):
        campaign([2], other)


def test_time_left_accounts_for_tasks_in_flight(monkeypatch):
    """The time spent on a task in flight is subtracted; a slow one raises the estimate of the others."""
    tasks = [Measuring(Point(name, 32, stage="flow")) for name in ("mont", "heap", "ssmm")]
    made = Campaign(Here(), lambda *_: None)
    made._left = Counter(task.cost for task in tasks)
    core, now = STAGES["flow"].seconds, 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    assert made.seconds_left() == approx(3 * core)
    made._begun = {tasks[0].key: (tasks[0], now - core / 4)}
    assert made.seconds_left() == approx(2.75 * core)
    made._begun = {tasks[0].key: (tasks[0], now - 3 * core)}
    assert made.seconds_left() == approx(2 * 3 * core), "the other two take as long, at the least"
