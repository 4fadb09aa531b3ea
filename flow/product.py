"""Typed files passed between steps of the flow: structs with one writer and one reader, as JSON.

The room that writes a file defines its struct. Invalid content is rejected with its place in the file.
"""

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec

from ..fl.errors import BadInput
from .files import replace_text
from .metric import Value

T = TypeVar("T")


class Product(msgspec.Struct):
    """One file. A subclass defines its usual name and the step that writes it."""

    FILE: ClassVar[str] = ""
    STEP: ClassVar[str] = ""

    def write(self, directory: Path, file: str = "") -> None:
        """Write the file to a directory, atomically and indented."""
        write(directory / (file or self.FILE), self)


def write(path: Path, value: object) -> None:
    """Write a struct; the only writer."""
    replace_text(path, msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n")


def read(path: Path, kind: type[T], step: str = "", file: str = "") -> T:
    """Read a struct; the only reader. BadInput, with the reason and the step to run, for a missing or invalid
    file.
    """
    name, step = file or getattr(kind, "FILE", ""), step or getattr(kind, "STEP", "")
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; run the step {step} first") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is no {name} ({error}): run the step {step} again") from None


class StepRun(Product):
    """Tool, time, memory and values of one run of a step: run-NAME.json."""

    name: str
    tool: str
    version: str
    seconds: float
    peak_memory_mib: float
    values: list[Value] = []

    @classmethod
    def of(cls, name: str, tool: tuple[str, str], seconds: float, values: Sequence[Value] = ()) -> "StepRun":
        """Describe a step that ends now."""
        peak = max(
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return cls(name, *tool, seconds, round(peak / 1024), [*values])

    @property
    def file(self) -> str:
        """Its file name."""
        return f"run-{self.name}.json"
