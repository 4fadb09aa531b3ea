"""`modexlab bench`: how fast the laboratory itself is."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ...progress import Progress
from ..arguments import Commands, add_command, add_json, answer

TEXT = """\
It reports: exit code 0 also where a goal is missed, for
the speed of a simulator depends on what else the computer does. A wrong result is exit code 1."""
EXAMPLES = """\
  modexlab bench sim
  modexlab bench sim --json
  modexlab bench proc"""


@dataclass(frozen=True)
class _Bench:
    """What is measured, what the goals are (at least so much, or for times at most), and what they mean."""

    measure: Callable[[], dict[str, float]]
    goals: dict[str, float]
    meanings: dict[str, str]


def _sim() -> dict[str, float]:
    from ...lab.bench import bench_sim

    return bench_sim()


def _proc() -> dict[str, float]:
    from ...lab.bench_proc import bench_proc

    return bench_proc()


BENCHES = {
    "sim": _Bench(
        _sim,
        {"native_over_cpp": 0.85, "native_over_python": 800.0, "native_start_seconds": 0.5},
        {
            "native_over_cpp": "native stage to a hand-written C++ loop",
            "native_over_python": "native stage to PyMTL3's own simulator",
            "native_start_seconds": "start of a cached native simulation, s",
        },
    ),
    "proc": _Bench(
        _proc,
        {"native_over_python": 100.0, "iss_instructions_per_second": 500_000.0},
        {
            "native_over_python": "processor: stage native to stage python",
            "iss_instructions_per_second": "instructions/s of level fl",
        },
    ),
}


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "bench",
        "measure the speed of the simulators",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument(
        "what",
        choices=tuple(BENCHES),
        help="sim: the native stage against a hand-written C++ loop, and against PyMTL3's own simulator; "
        "proc: a program on the processor, at level fl and at stages native and python",
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    bench = BENCHES[args.what]
    with Progress(f"bench {args.what}", quiet=args.json):
        report = bench.measure()
    answer(args, lambda: report, lambda: _lines(bench, report))
    return 0


def _lines(bench: _Bench, report: Mapping[str, float]) -> Iterator[str]:
    """Figures with a goal, then the others."""
    for key, goal in bench.goals.items():
        reached = report[key] <= goal if key.endswith("_seconds") else report[key] >= goal
        met = "met" if reached else "MISSED"
        yield f"{bench.meanings[key]:<40}  {report[key]:>12,.2f}   goal {goal:g}: {met}"
    for key, value in report.items():
        if key not in bench.goals:
            yield f"{key.replace('_', ' '):<40}  {value:>12,.0f}"
