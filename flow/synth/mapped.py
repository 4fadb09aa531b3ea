"""Result of mapping a design, whatever the style."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..netlist.document import Module

# abc proves choices between structures (&dch) by SAT, which takes most of the time for a design of more than
# MOST_CHOSEN cells: for the machine heap at 1,024 bits, 308,000 ANDs, it did not end in nine minutes, and all
# following commands take 20 s.
MOST_CHOSEN = 150_000  # estimated cells, without those that the design names
SCRIPT = "script"  # the folder with the scripts in the outputs


def show_scripts(work: Path, names: Iterable[str], out: Path) -> None:
    """Copy scripts and what they read from the folder in which they ran to the outputs."""
    (out / SCRIPT).mkdir(exist_ok=True)
    for path in work.iterdir():
        if path.name in names or path.is_symlink():  # links replace libraries whose path has a blank
            shutil.copy(path, out / SCRIPT / path.name, follow_symlinks=False)


@dataclass(frozen=True)
class Mapped:
    """A flat netlist of library cells, the path of each cell's module, and how it was mapped."""

    module: Module
    owners: dict[str, str]
    options: Any  # a dataclass
    peak_memory_mib: float
    report: dict[str, Any] = field(default_factory=dict)  # fields of the report that a style alone has
