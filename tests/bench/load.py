"""Load test of a sweep of many points, some of whose processes are killed: no point may be lost, duplicated
or wrong.

    make bench LOAD="formula --points 100000"
    make bench LOAD="native --points 2000 --kills 40 --stops 10"

--kills: how many times a worker gets a SIGKILL; --stops: how many times the whole sweep gets one, each at a
random moment. The same command then continues, with --retry, because the point of a killed worker is recorded
as failed. At the end the store must contain each point exactly once and every figure that was ever recorded,
all lines must be intact (a sweep that is killed may leave one torn line), and recomputed figures must be
equal: those of simulated hardware by the closed formula, which shares no code with it.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.space import Space
from modexlab.eval.lab.stages import FORMULA, NATIVE
from modexlab.eval.lab.store.entries import FailureEntry
from modexlab.eval.lab.store.store import Store

from tests.lab.sweep_process import JOBS, SweepProcess, gone

KILLED = "was ended by SIGKILL"
AGAIN = 2000  # figures that are computed again, drawn
# machines by stage: many where nothing is built
AXES = {
    FORMULA: """
nbits = {from = 16, to = 64, step = 2}
[part.set]
schedule = ["right-to-left-2", "right-to-left-1", "left-to-right", "always", "ladder"]
add_red = ["textbook", "koc"]
steps_per_stage = [1, 2]
doublings_per_cycle = [1, 2]
forward = [true, false]
conversion = ["double", "square"]
""",
    NATIVE: """
nbits = [8, 10]
[part.set]
schedule = ["right-to-left-2", "ladder"]
steps_per_stage = [1, 2]
""",
}


def space_of(stage, points):
    """A space of so many points or a few more: some machines, and as many mixes of signatures and
    verifications as it takes.
    """
    machines = Space.parse(_space(stage, ["encrypt"])).size()
    more = [f"sign+{number}verify" for number in range(1, -(-points // machines))]
    return _space(stage, ["encrypt", *more])


def _space(stage, workloads):
    head = f'designs = ["mont"]\nstages = ["{stage}"]\nworkloads = {json.dumps(list(workloads))}'
    return f'title = "load"\n[[part]]\n{head}{AXES[stage]}'


@dataclass
class Load:
    """A sweep to its end, whatever befalls it."""

    sweep: SweepProcess
    draw: Random
    killed: int = 0  # workers
    stopped: int = 0  # sweeps

    def run(self, points, kills=0, stops=0):
        """Until all points are measured."""
        blows = [self._kill] * kills + [self._stop] * stops
        self.draw.shuffle(blows)
        between = max(2, points // (len(blows) + 1))  # points from one blow to the next, at most
        process = self.sweep.start()
        try:
            for blow in blows:
                self.sweep.wait_for(len(self.sweep.begins()) + self.draw.randrange(1, between), process)
                time.sleep(self.draw.uniform(0, 0.05))
                process = blow(process)
            self._finish(process)
        finally:
            process.kill()

    def _kill(self, process):
        """One of the workers."""
        pids = list(dict.fromkeys(pid for pid, _ in reversed(self.sweep.begins()[-4 * JOBS :])))
        alive = [pid for pid in pids if not gone(pid)]
        if alive:
            os.kill(self.draw.choice(alive), signal.SIGKILL)
            self.killed += 1
        return process

    def _stop(self, process):
        """All of it; what was recorded stays."""
        before = self.sweep.keys()
        process.kill()
        process.communicate()
        self.stopped += 1
        now = self.sweep.keys()
        assert now[: len(before)] == before, "what was recorded is gone"
        return self.sweep.start("--retry")

    def _finish(self, process):
        """To its end; and once more with those that failed as their worker was killed."""
        out, err = process.communicate()
        assert process.returncode == 0, (out, err)
        if self.killed:
            process = self.sweep.start("--retry")
            out, err = process.communicate()
        assert process.returncode == 0 and "failed" not in out, (out, err)


def judged(sweep, draw, again=AGAIN, torn=0):
    """Check the store; AssertionError if a row is missing, there twice, or different when computed again."""
    points = {point.version: point for point in Space.load(sweep.space).points()}
    assert set(sweep.keys()) <= points.keys(), (
        "not of these sources: they were changed meanwhile; begin again"
    )
    assert Counter(sweep.keys()) == Counter(dict.fromkeys(points, 1)), "each point once"
    with Store(sweep.store) as store:
        rows = {row.key: row for row in store.rows(history=True)}
        assert len(store.damaged) <= torn, store.damaged
    assert rows.keys() == points.keys()
    drawn = draw.sample(sorted(points), min(again, len(points)))
    for key in drawn:
        assert rows[key].value == expected(points[key]), points[key]
    return {
        "points": len(points),
        "computed_again": len(drawn),
        "failed_as_the_worker_was_killed": failures(sweep.store),
        "store_mib": round(sweep.store.stat().st_size / 2**20, 1),
    }


def expected(point):
    """Its cycles by formula."""
    (figure,) = measure(replace(point, stage=FORMULA)).figures
    return figure.value


def failures(path):
    """Points that were ever noted as lost with their worker."""
    entries = Store(path).entries()
    return sum(isinstance(entry, FailureEntry) and KILLED in entry.message for entry in entries)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.bench.load", description=__doc__)
    parser.add_argument("stage", choices=list(AXES))
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--stops", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", type=Path, help="where the store stays (default: nowhere)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.directory or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        draw = Random(given.seed)
        sweep = SweepProcess(directory, space_of(given.stage, given.points))
        load = Load(sweep, draw)
        load.run(given.points, given.kills, given.stops)
        found = judged(sweep, draw, torn=load.stopped)
        print(json.dumps({"killed": load.killed, "stopped": load.stopped, **found}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
