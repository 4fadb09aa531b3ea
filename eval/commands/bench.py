"""`modexlab bench`: how fast the laboratory itself is."""

from __future__ import annotations

import argparse

from ..progress import Progress
from .arguments import Commands, add_command, add_json, print_json

EXAMPLES = """\
  modexlab bench sim
  modexlab bench sim --json"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "bench", "measure the speed of the simulators", examples=EXAMPLES, execute=execute
    )
    parser.add_argument(
        "what",
        choices=("sim",),
        help="sim: the native stage against a hand-written C++ loop, and against PyMTL3's own simulator",
    )
    add_json(parser)


# at least so much, or for the times at most
GOALS = {"native_over_cpp": 0.85, "native_over_python": 800.0, "native_start_seconds": 0.5}
MEANINGS = {
    "native_over_cpp": "native stage to a hand-written C++ loop",
    "native_over_python": "native stage to PyMTL3's own simulator",
    "native_start_seconds": "start of a cached native simulation, s",
}


def execute(args: argparse.Namespace) -> int:
    from ..bench import bench_sim

    with Progress("bench sim", quiet=args.json):
        report = bench_sim()
    if args.json:
        print_json(report)
        return 0
    for key, goal in GOALS.items():
        reached = report[key] <= goal if key.endswith("_seconds") else report[key] >= goal
        met = "met" if reached else "MISSED"
        print(f"{MEANINGS[key]:<40}  {report[key]:>12,.2f}   goal {goal:g}: {met}")
    for key, value in report.items():
        if key not in GOALS:
            print(f"{key.replace('_', ' '):<40}  {value:>12,.0f}")
    return 0
