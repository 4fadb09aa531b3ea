"""The course: folders that students edit, and checkpoints that grade them without a network.

docs/labs/labN has the handout (index.md), the folder `starter`, and checkpoints.py with a tuple CHECKPOINTS.
A checkpoint is a function that takes the student's folder and yields a Row for each comparison. The first
line of its docstring is its title, the rest is the hint that a student gets if a row fails.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...fl.errors import BadInput, shown, unknown
from ..designs import own
from ..designs.levels import Disagreement
from ..mistakes import place_of

LABS = Path(__file__).parents[2] / "docs" / "labs"  # in a wheel too
MOST_SHOWN = 120  # characters of a value
TOLERANCE = 0.01  # relative, of floating-point numbers


class Row(NamedTuple):
    """A call of the student's code, and the value that an oracle computes."""

    name: str
    call: Callable[..., Any]
    arguments: Mapping[str, Any]
    expected: Any


Checkpoint = Callable[[Path], Iterator[Row]]


class Grade(NamedTuple):
    """The result of a checkpoint; `failure` describes the first failing row."""

    title: str
    rows: int
    failure: str = ""
    hint: str = ""


def lab_folder(number: str) -> Path:
    """The folder of a lab; BadInput if there is no lab of this number."""
    numbers = sorted(path.name.removeprefix("lab") for path in LABS.glob("lab[0-9]"))
    if number not in numbers:
        raise unknown("lab", number, numbers)
    return LABS / f"lab{number}"


def student_module(folder: Path, name: str) -> Any:
    """A module of the student's, imported again if the folder has changed."""
    if not (folder / name).is_file():
        raise BadInput(f"{folder / name} is missing; the handout says which command writes it")
    return own.load(folder / name)[0]


def checkpoints(number: str) -> tuple[Checkpoint, ...]:
    """The checkpoints of a lab in the order of its handout."""
    folder = lab_folder(number)
    return own.load(folder / "checkpoints.py")[0].CHECKPOINTS


def grade(checkpoint: Checkpoint, folder: Path) -> Grade:
    """Run a checkpoint up to its first failing row."""
    title, _, hint = (inspect.getdoc(checkpoint) or "").partition("\n\n")
    passed = 0
    try:
        for row in checkpoint(folder):
            if failure := _failure(row):
                return Grade(title, passed, failure, hint)
            passed += 1
    except Exception as error:  # anything that the student's code raises
        return Grade(title, passed, _raised(error), hint)
    return Grade(title, passed)


def _failure(row: Row) -> str:
    """The row with actual and expected value, if they differ; else empty."""
    asked = ", ".join(f"{name} = {_text(value)}" for name, value in row.arguments.items())
    where = f"row {row.name!r}" + (f" ({asked})" if asked else "")
    try:
        value = row.call(**row.arguments)
    except Exception as error:
        return f"{where}: {_raised(error)}"
    return "" if _same(value, row.expected) else f"{where}: {_text(value)}, expected {_text(row.expected)}"


def _same(value: Any, expected: Any) -> bool:
    if isinstance(expected, float) and isinstance(value, (int, float)):
        return math.isclose(value, expected, rel_tol=TOLERANCE)
    return bool(value == expected)


def _raised(error: Exception) -> str:
    if isinstance(error, (BadInput, Disagreement)):
        return str(error)
    place, text = place_of(error), f"{type(error).__name__}: {error}"
    return f"{place}: {text}" if place else text


def _text(value: Any) -> str:
    text = shown(value) if type(value) is int else repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
