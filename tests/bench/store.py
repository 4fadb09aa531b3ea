"""The speed of a store with many entries, and of sweeps with it.

    make bench STORE=100000

It appends so many measurements in batches, reads them, looks up each, appends one more, and prints the
seconds. Then it prints the milliseconds that a point by formula takes: 200 points with an empty store, and as
many points as the store has entries with that store, in processes and on a Dask cluster of this computer.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from modexlab.eval.lab.cluster import Dask, _quiet
from modexlab.eval.lab.executors import Processes
from modexlab.eval.lab.search import Exhaustive
from modexlab.eval.lab.space import Space
from modexlab.eval.lab.stages import FORMULA
from modexlab.eval.lab.store.entries import text_of
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.sweep import Sweep

from .load import space_of

BATCH = 1000
JOBS = 2


def entry(number):
    """A measurement by formula of some 1 kB, as a sweep records it."""
    point = {
        "subject": "mont",
        "nbits": 32,
        "settings": {"number": number},
        "interface": "stream",
        "workload": "encrypt",
        "stage": "formula",
        "flow": {},
    }
    return text_of(
        "measurement",
        at=f"2026-01-01T00:00:00.{number:06}+00:00",
        key=f"k{number}",
        point=point,
        family="MontMulRem",
        parameters={f"parameter_{index}": index for index in range(12)},
        command=[
            "modexlab",
            "run",
            "mont",
            "--level",
            "formula",
            "--nbits",
            "32",
            "--set",
            f"number={number}",
        ],
        tools={"Python": "3.11.7", "modexlab": "0.9.0"},
        tests="the functional level was checked against pow(message, exponent, modulus)",
        details={"operands": {"encrypt": {"count": 1, "seed": number}}, "commit": "0" * 40},
        figures=[["encrypt", "cycles", number, "cycles"]],
        seconds=0.001,
    )


def measured(count, path):
    """Seconds of each action on a store of so many entries."""
    writer, seconds = Store(path), {}

    def timed(name, action):
        begin = time.perf_counter()
        result = action()
        seconds[name] = round(time.perf_counter() - begin, 4)
        return result

    def fill():
        for first in range(0, count, BATCH):
            batch = range(first, min(first + BATCH, count))
            writer.append(lambda *_, batch=batch: list(map(entry, batch)))

    timed("append in batches", fill)
    reader = Store(path)
    assert len(timed("open", reader.names)) == count
    assert (
        len(list(timed("look up each", lambda: list(reader.newest([f"k{n}" for n in range(count)])))))
        == count
    )
    assert len(timed("rows", reader.rows)) == count
    timed("append one", lambda: writer.append(lambda *_: [entry(count)]))
    assert len(timed("read one more", reader.names)) == count + 1
    return {"entries": count, "mib": round(path.stat().st_size / 2**20, 1), **seconds}


def swept(count, store, executor):
    """Milliseconds a point of a sweep of so many points."""
    points = list(Space.parse(space_of(FORMULA, count)).points())[:count]
    sweep = Sweep(Space.parse(space_of(FORMULA, count)), store, Exhaustive(points))
    begin = time.perf_counter()
    sweep.run(executor, "bench", quiet=True)
    seconds = time.perf_counter() - begin
    assert len(sweep.measured) == count
    return round(seconds / count * 1e3, 3)


def sweeps(count, folder):
    """The milliseconds of sweeps. The same executor runs a first sweep, which starts its workers."""
    from distributed import Client, LocalCluster

    _quiet()
    full = folder / "full.jsonl"
    measured(count, full)
    found = {}
    with LocalCluster(n_workers=JOBS, threads_per_worker=1, dashboard_address=None) as cluster:
        for name, make in (
            ("processes", lambda: Processes(JOBS)),
            ("dask", lambda: Dask(Client(cluster, set_as_default=False), "bench")),
        ):
            swept(20, Store(folder / f"{name}-first.jsonl"), make())
            found[f"{name}, 200 points, empty store"] = swept(200, Store(folder / f"{name}.jsonl"), make())
            copy = folder / f"{name}-full.jsonl"
            copy.write_bytes(full.read_bytes())
            found[f"{name}, {count} points, {count} entries"] = swept(count, Store(copy), make())
    return found


def main():
    count = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(json.dumps(measured(count, folder / "store.jsonl"), indent=2), flush=True)
        print(json.dumps({"ms a point": sweeps(count, folder)}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
