"""Runner: outcomes are recorded as tasks end, and the time left is estimated from finished tasks."""

from collections import Counter
from dataclasses import dataclass

import pytest
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab.executors import Here, Processes
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.runner import Results, Runner, Task
from modexlab.eval.lab.stages import STAGES
from modexlab.eval.lab.store.merge import merge
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.sweep import Measuring
from modexlab.fl.errors import BadInput
from modexlab.rtl.sim.toolchain import ToolError
from pytest import approx

from tests.harness import parametrize


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


def outcomes(numbers, store, executor=None):
    """The results by number, the reused numbers, and the progress that was reported."""
    results, reused, steps = {}, set(), []
    made = Runner(executor or Here(), lambda *counts: steps.append(counts), Results(store))
    with made.executor:
        for outcome in made.results(map(Square, numbers)):
            results[outcome.task.number] = outcome.result
            reused |= {outcome.task.number} if outcome.reused else set()
    return results, reused, steps


@parametrize("executor", [None, Processes(2)])
def test_nothing_is_done_twice(executor, store):
    assert outcomes(range(3), store, executor)[:2] == ({0: [0], 1: [1], 2: [4]}, set())
    results, reused, steps = outcomes([1, 3, 2], store, executor)
    assert results == {1: [1], 2: [4], 3: [9]} and reused == {1, 2} and steps[-1] == (30, 30)
    store.forget(["square 1"])
    assert outcomes([1, 2], store)[1] == {2}


@parametrize("executor", [None, Processes(1)])
@parametrize(
    "number, error, words",
    [(13, BadInput, "13 brings bad luck; give 14"), (17, NoMeasurement, "the tool failed")],
)
def test_an_error_ends_it_and_keeps_what_is_done(number, error, words, executor, store):
    with pytest.raises(error, match=words):
        outcomes([1, number], store, executor)
    assert set(store.results(["square 1", f"square {number}"])) == {"square 1"}


def test_an_interrupted_run_goes_on(store):
    with pytest.raises(KeyboardInterrupt):
        outcomes([1, 2, 19, 3], store)
    assert outcomes([1, 2, 3], store)[1] == {1, 2}


def test_results_go_to_another_store_and_are_checked(store, tmp_path):
    outcomes([1, 2], store)
    other = Store(tmp_path / "other.jsonl")
    assert merge(other, store).added["result"] == 2 and outcomes([1, 2], other)[1] == {1, 2}
    other.path.write_bytes(other.path.read_bytes().replace(b"[4]", b"[5]"))
    assert outcomes([1, 2], Store(other.path))[1] == {1}


def test_time_left_accounts_for_tasks_in_flight(monkeypatch):
    """The time spent on a task in flight is subtracted; a slow one raises the estimate of the others."""
    tasks = [Measuring(Point(name, 32, stage="flow")) for name in ("mont", "heap", "ssmm")]
    made = Runner(Here(), lambda *_: None)
    made._left = Counter(task.cost for task in tasks)
    core, now = STAGES["flow"].seconds, 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    assert made.seconds_left() == approx(3 * core)
    made._begun = {tasks[0].key: (tasks[0], now - core / 4)}
    assert made.seconds_left() == approx(2.75 * core)
    made._begun = {tasks[0].key: (tasks[0], now - 3 * core)}
    assert made.seconds_left() == approx(2 * 3 * core), "the other two take as long, at the least"
