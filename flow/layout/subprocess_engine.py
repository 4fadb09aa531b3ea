"""Runs the placers and routers, C++ programs that are compiled once: numbers on stdin and stdout, progress on
stderr.

A router goes round by round. In the first it says "first N OF" now and then, and after each "round NUMBER
LEFT": how many nets or borders are left to settle. `going` hears it as a share of the work; of later rounds
that is a guess, by how many orders of magnitude the count has come down.
"""

import math
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...rtl.sim.toolchain import ToolError, running
from .. import progress
from ..compiled import compiled
from ..files import scratch

LAST_LINES = 5  # of what a router said, for a message


def run(source: Path, what: str, task: Iterable[str]) -> Iterator[int]:
    """Yield the numbers that a router returns for a task; `what`: its name in progress reports."""
    program = compiled(
        f"{source.stem}-*", {source.name: source.read_text()}, "-O2", "-std=c++17", source.name
    )
    with scratch() as work:
        given, answer = work / "task", work / "answer"
        with given.open("w") as file:
            file.writelines(f"{line}\n" for line in task)
        with given.open() as stdin, answer.open("w") as stdout:
            told: deque[str] = deque(maxlen=LAST_LINES)
            most = 0
            pipes = running([program], name=what, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
            with pipes as process:
                assert process.stderr is not None
                for line in process.stderr:
                    told.append(line.strip())
                    most = _tell(what, line.split(), most)
            if process.returncode:
                raise ToolError(f"{what} failed ({process.returncode}): {'; '.join(told)}")
        with answer.open() as file:
            for line in file:
                yield from map(int, line.split())


def _tell(what: str, words: list[str], most: int) -> int:
    """Say how far a router is; returns how much there was to settle after its first round."""
    kind, *numbers = words
    first, second = map(int, numbers)
    if kind == "first":
        progress.say(f"{what}, first round", first / max(second, 1))
        return most
    most = most or second
    progress.say(f"{what}, settling", 1 - math.log(second + 1) / math.log(most + 1) if most else 1.0)
    return most
