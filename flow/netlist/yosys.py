"""Runs Yosys scripts in a separate process and turns their errors into one line.

Yosys is the package pyosys, a library that ends the whole process when a pass fails and that keeps its
memory. A script, one command per line, therefore runs in a process of yosys_process.py, in the directory of
its files. Its output goes to a log next to the script. An error in the design becomes BadInput with the
tool's message.
"""

import importlib.metadata
import importlib.util
import json
import math
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ...fl.errors import BadInput
from ...rtl.sim import toolchain
from ...rtl.sim.install import remedy
from .. import isolated
from ..progress import stopwatch

PACKAGE = "pyosys"
# read_slang prints a place, a message, and the source line with a mark below it
MESSAGE = re.compile(r"^(?:(?P<place>\S+:\d+(?::\d+)?): )?ERROR: (?P<text>.+)$", re.MULTILINE | re.IGNORECASE)
EMPTY = re.compile(r"see full log for details|Build failed", re.IGNORECASE)
PASS = re.compile(r"^[\d.]+ Executing (\S+)", re.MULTILINE)
BLANK = re.compile(r"[\s\"';#]")
USED = ".used.json"  # peak memory of a script, next to it
NAMES_A_RUN = 10_000_000
ELAPSED = 10  # a limit of CPU time is reached within so many times as many elapsed seconds
OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGKILL)


@dataclass(frozen=True)
class Run:
    """Output and duration of a script."""

    log: str
    seconds: float
    peak_memory_mib: float


def version() -> str:
    """The yosys release of the package; BadInput if it is missing."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise BadInput(f"yosys is missing: {remedy(PACKAGE)}") from None


def abc() -> Path:
    """The abc executable of yosys."""
    version()
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "yosys-abc"


def scripted(path: Path, directory: Path) -> str:
    """The name under which a script in `directory` reads a file. Scripts of Yosys cannot quote, so a link
    replaces a path with blanks.
    """
    if not BLANK.search(str(path.absolute())):
        return str(path.absolute())
    link = directory / BLANK.sub("_", path.name)
    link.unlink(missing_ok=True)  # an earlier run may have read another file of this name
    link.symlink_to(path.absolute())
    return link.name


def run(name: str, script: str, directory: Path, *, limit: float | None = None, numbered: bool = True) -> Run:
    """Run a script, kept as NAME.ys with NAME.log; BadInput with the first error if it fails.

    `limit` is CPU seconds, so that the load of the machine does not matter. `numbered`: automatic names
    differ from those of earlier runs, whose JSON the script may read.
    """
    version()
    if BLANK.search(str(directory.absolute())):
        raise BadInput(
            f"Yosys cannot work in {directory.absolute()}, whose path has a blank or a quote in it: "
            "choose another folder (--output, MODEXLAB_CACHE or TMPDIR)"
        )
    if numbered:
        runs = sum(len(list(path.glob(f"*{USED}"))) for path in (directory, directory.parent))
        begin = directory / f"{name}.begin.il"
        begin.write_text(f"autoidx {1 + runs * NAMES_A_RUN}\n")
        script = f"read_rtlil {begin.name}\n{script}"
    (directory / f"{name}.ys").write_text(script)
    used = directory / f"{name}{USED}"
    log_path = directory / f"{name}.log"
    elapsed = stopwatch()
    with log_path.open("w") as log:
        command = isolated.command("modexlab.flow.netlist.yosys_process", f"{name}.ys", used.name)
        if limit is not None:
            command = ["/bin/sh", "-c", 'ulimit -t "$0"; exec "$@"', str(math.ceil(limit)), *command]
        done = toolchain.run(
            command,
            name="yosys",
            least=ELAPSED * (limit or 0.0),
            cwd=directory,
            stdout=log,
            stderr=subprocess.STDOUT,
            # abc's temporary files go into the script's directory; yosys removes them
            env=os.environ | {"TMPDIR": str(directory.absolute()), "PYTHONUNBUFFERED": "1"},
        )
    seconds = elapsed()
    text = log_path.read_text(errors="replace")
    if limit is not None and (done.returncode in OUT_OF_TIME or (done.returncode and seconds > limit)):
        raise BadInput(f"yosys did not finish within {limit:,.0f} s of CPU time: take a smaller width")
    if done.returncode:
        raise BadInput(_reason(text, done.returncode, log_path))
    return Run(text, seconds, json.loads(used.read_text())["peak_memory_mib"])


def _reason(log: str, returncode: int, log_path: Path) -> str:
    """The first error with a message, with its place in the source."""
    errors = [match for match in MESSAGE.finditer(log) if not EMPTY.search(match["text"])]
    if errors and errors[0]["text"].startswith("Assert "):
        # a defect of yosys, in its last pass
        passes = PASS.findall(log[: errors[0].start()])
        where = f"its pass {passes[-1]}" if passes else "its own code"
        return (
            f"yosys stumbled over its own data in {where} ({errors[0]['text'].strip().rstrip('.')}), "
            "which is no error in the Verilog that it had taken: "
            f"give another --style, or simplify the module that its log names last ({log_path})"
        )
    if errors:
        place = f"{Path(errors[0]['place']).name}: " if errors[0]["place"] else ""
        more = f" (and {len(errors) - 1} more in {log_path})" if len(errors) > 1 else ""
        return f"{place}{errors[0]['text'].strip()}{more}"
    if returncode == -signal.SIGKILL:
        return (
            "yosys was killed: the design needs more memory than there is; take a smaller one (log: "
            f"{log_path})"
        )
    return f"yosys ended with code {returncode} and no message: see {log_path}"
