"""Source: where the design of a flow comes from. It writes design.sv, design.json (description.py) and workload.json (workload.py),
and its key names what it writes. The flow knows no designs: whoever has some makes a Source of them.

VerilogFiles is the source for Verilog from elsewhere: all files in one text, with the vectors that the user has.
"""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..fl.errors import BadInput
from ..rtl.sim import cache, sources
from . import workload
from .description import Description
from .files import replace_json, replace_text
from .product import StepRun

PACKAGE = "modexlab"
STEP = "rtl"  # the name of the step that a source stands for
DEFINE = re.compile(r"[A-Za-z_]\w*(=[^\n]*)?")
INCLUDE = re.compile(r'^[ \t]*`include[ \t]+"([^"\n]+)"[^\n]*$', re.MULTILINE)


class Source(ABC):
    """A design for the flow."""

    @property
    @abstractmethod
    def tool(self) -> tuple[str, str]:
        """Name and version of what writes the Verilog."""

    @property
    @abstractmethod
    def has_vectors(self) -> bool:
        """There are requests and the answers to them."""

    @abstractmethod
    def key(self) -> str:
        """A digest of all that decides on what is written; BadInput for what cannot be written."""

    @abstractmethod
    def write(self, directory: Path) -> None:
        """Write the three files."""

    def export(self, directory: Path) -> None:
        """The outputs of the step rtl: the three files, and how long they took."""
        start = time.perf_counter()
        self.write(directory)
        run = StepRun.of(STEP, self.tool, start)
        run.write(directory, run.file)

    @property
    def entry_name(self) -> str:
        """The name of its entry in the cache."""
        return cache.tree_name(STEP, cache.key(self.key(), sources.digest("flow.source")))

    def entry(self) -> Path:
        """A directory of the cache with the outputs."""

        def build(directory: Path) -> None:
            with tempfile.TemporaryDirectory(prefix="out-", dir=directory.parent) as name:
                self.export(Path(name))
                for file in Path(name).iterdir():
                    shutil.move(file, directory / file.name)

        return cache.cached_tree(self.entry_name, build)


@dataclass(frozen=True)
class VerilogFiles(Source):
    """Verilog from elsewhere: its files, its top module and clock, and a workload.json where there is one."""

    files: tuple[Path, ...]
    top: str
    clock_port: str | None = "clk"
    vectors: Path | None = None
    include: tuple[Path, ...] = ()  # directories where `include looks beside those of the files
    define: tuple[str, ...] = ()  # macros, NAME or NAME=VALUE

    @property
    def tool(self) -> tuple[str, str]:
        return PACKAGE, importlib.metadata.version(PACKAGE)

    @property
    def has_vectors(self) -> bool:
        return self.vectors is not None

    def key(self) -> str:
        vectors = "" if self.vectors is None else _text(self.vectors)
        names = ",".join(path.name for path in self.files)
        return cache.key(self._one_text(), names, self.top, self.clock_port or "", vectors)

    def _one_text(self) -> str:
        return one_text(self.files, self.include, self.define)

    def write(self, directory: Path) -> None:
        replace_text(directory / "design.sv", self._one_text())
        files = tuple(path.name for path in self.files)
        Description(self.top, self.top, self.clock_port or None, files=files).write(directory)
        if self.vectors is None:
            replace_json(directory / "workload.json", {})
        else:
            workload.check_names(workload.load(self.vectors), self.top, self._one_text())
            replace_text(directory / "workload.json", _text(self.vectors))


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}; give a file of yours") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is no workload.json (it is not text): flow/README.md shows one") from None


def one_text(files: Sequence[Path], include: Sequence[Path] = (), define: Sequence[str] = ()) -> str:
    """The files one after the other; what they include stands in the place of the first `include, and is not repeated.

    `line directives keep the files' own names and lines, by which the tools tell what is wrong.
    """
    places = [path.absolute().parent for path in files] + [path.absolute() for path in include]
    taken: set[Path] = set()
    for text in define:
        if not DEFINE.fullmatch(text):
            raise BadInput(
                f"--define {text!r} is no macro; write NAME or NAME=VALUE, as in --define WIDTH=32"
            )
    for directory in include:
        if not directory.is_dir():
            raise BadInput(f"--include {directory}: there is no such directory")

    def read(path: Path) -> str:
        taken.add(path.resolve())
        try:
            text = path.read_text(errors="replace")
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}; give a Verilog file") from None

        def included(match: re.Match[str]) -> str:
            found = next(
                (place / match[1] for place in (path.parent, *places) if (place / match[1]).is_file()), None
            )
            if found is None:
                raise BadInput(
                    f"{path.name} includes {match[1]}, which is not there: put it beside, or give --include DIRECTORY"
                )
            if found.resolve() in taken:
                return ""
            after = text.count("\n", 0, match.end()) + 2
            return f'{read(found)}`line {after} "{path.name}" 2'

        return f'`line 1 "{path.name}" 1\n{INCLUDE.sub(included, text).rstrip()}\n'

    macros = "".join(f"`define {text.replace('=', ' ', 1)}\n" for text in define)
    return macros + "\n".join(read(path) for path in files if path.resolve() not in taken)
