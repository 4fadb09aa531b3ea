"""Typed files passed between steps of the flow: a struct with one writer and one reader, as JSON.

Each kind stands in the room that makes it; what does not fit is refused with the place in the file.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec

from ..fl.errors import BadInput
from .files import replace_text

T = TypeVar("T")


class Product(msgspec.Struct):
    """One file. A subclass says its usual name, and which step makes it."""

    FILE: ClassVar[str] = ""
    STEP: ClassVar[str] = ""

    def write(self, directory: Path | str, file: str = "") -> None:
        """Leave it in a directory, at once and indented."""
        write(Path(directory) / (file or self.FILE), self)


def write(path: Path, value: object) -> None:
    """The only writer."""
    replace_text(path, msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n")


def read(path: Path | str, kind: type[T], step: str = "", file: str = "") -> T:
    """The only reader; BadInput, which names what is wrong and the step to run, for anything else."""
    name, step = file or getattr(kind, "FILE", ""), step or getattr(kind, "STEP", "")
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=kind)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; run the step {step} first") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is no {name} ({error}): run the step {step} again") from None


class StepRun(Product):
    """How a step ran: run-NAME.json."""

    name: str
    tool: str
    version: str
    seconds: float
    peak_memory_mib: float

    @classmethod
    def of(cls, name: str, tool: tuple[str, str], started: float) -> StepRun:
        """Describe a step that ends now; `started` is its time.perf_counter()."""
        peak = max(
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        return cls(name, *tool, round(time.perf_counter() - started, 2), round(peak / 1024))

    @property
    def file(self) -> str:
        """Its name."""
        return f"run-{self.name}.json"
