"""The load (load.py) in small: what must hold of a hundred thousand points holds of a few, and what it asks
for can fail.
"""

from random import Random

import pytest
from modexlab.eval.lab.space import Space
from modexlab.eval.lab.stages import FORMULA, NATIVE

from tests.harness import parametrize, regress
from tests.lab.sweep_process import JOBS, SweepProcess, gone

from .load import AXES, Load, judged, space_of


@parametrize("stage", list(AXES))
def test_spaces_have_as_many_points_as_are_asked_for(stage):
    machines = Space.parse(space_of(stage, 1)).size()
    for times in (1, 2, 9):
        assert Space.parse(space_of(stage, times * machines)).size() // machines == times


@regress
def test_workers_and_sweeps_are_killed(tmp_path):
    """Hardware that is built and simulated meanwhile; and then what would be wrong is seen."""
    points, draw = 160, Random(3)
    sweep = SweepProcess(tmp_path, space_of(NATIVE, points))
    load = Load(sweep, draw)
    load.run(points, kills=6, stops=3)
    assert load.stopped == 3 and load.killed > 0
    begins = sweep.begins()
    assert len(begins) <= points + load.killed + JOBS * load.stopped, "a kill costs what is under way at most"
    assert all(gone(pid) for pid, _ in begins), "no worker outlives its parent"
    found = judged(sweep, draw, torn=load.stopped)
    assert found["points"] == found["computed_again"] == points
    assert 0 < found["failed_as_the_worker_was_killed"] <= load.killed
    whole = sweep.store.read_bytes()
    for damaged in (whole.replace(b'"cycles", ', b'"cycles", 1', 1), whole.partition(b"\n")[2]):
        sweep.store.write_bytes(damaged)
        with pytest.raises(AssertionError, match="each point once"):
            judged(sweep, draw, torn=load.stopped)


@regress
def test_many_points(tmp_path):
    sweep = SweepProcess(tmp_path, space_of(FORMULA, 4000))
    load = Load(sweep, Random(1))
    load.run(4000)
    assert judged(sweep, load.draw, 100)["points"] == 4000
