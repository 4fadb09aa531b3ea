"""Runs Coriolis in a process of its own: the placements of coriolis_engine, and what to say when there is no Coriolis.

Its wheels (coriolis-eda) are made for Python 3.8 to 3.12. Where it is missing placement, clock tree, routing, the layout and
whatever counts their wires are not done; synthesis, simulation, timing and power with a wire-load model need none of it.
"""

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from .. import going

ROUNDS = 30  # of the placer, about: 25 to 27 of global placement and two or three of detailed placement
PIN = "coriolis-eda==2.5.4"
LAST_PYTHON = (3, 12)
STEPS = "placement, clock tree, routing, layout and figures with real wires"


def version() -> str:
    """Of Coriolis; BadInput where it is not installed."""
    require()
    return importlib.metadata.version("coriolis-eda")


def require() -> None:
    """BadInput unless Coriolis can run here: which steps that disables and what to install."""
    if importlib.util.find_spec("coriolis") is not None:
        return
    python = ".".join(str(part) for part in sys.version_info[:2])
    last = ".".join(str(part) for part in LAST_PYTHON)
    if sys.version_info[:2] > LAST_PYTHON:
        remedy = f"its wheels end at Python {last} and this is {python}: use Python 3.10 to {last}"
    else:
        remedy = f"run `pip install --no-deps {PIN}` in this environment"
    raise BadInput(f"Coriolis is missing, so there is no {STEPS}: {remedy}; the other steps run without it")


def run(job: dict[str, Any], log: Path, timeout_s: float | None = None) -> dict[str, Any]:
    """The result of a job, with `seconds`; what Coriolis prints goes to the file `log`."""
    require()
    log.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="coriolis-") as name:
        directory = Path(name)  # it leaves files where it runs
        (directory / "job.json").write_text(json.dumps(job))
        command = [sys.executable, "-m", "modexlab.flow.layout.coriolis_engine", "job.json", "result.json"]
        with log.open("w") as output, going.watched("placing", lambda: _rounds(log), ROUNDS):
            try:
                done = subprocess.run(
                    command, cwd=directory, stdout=output, stderr=subprocess.STDOUT, timeout=timeout_s
                )
            except subprocess.TimeoutExpired:
                raise BadInput(
                    f"Coriolis was stopped after {timeout_s:.0f} s of placing (log: {log}): "
                    "take a smaller design or a lower density"
                ) from None
        result = directory / "result.json"
        if done.returncode or not result.is_file():
            raise BadInput(
                f"Coriolis failed to place ({done.returncode}): {_last_line(log)} (log: {log}); "
                "a lower density gives it more room"
            )
        answer = json.loads(result.read_text())
    answer["seconds"]["wall"] = time.monotonic() - start
    return answer


def _rounds(log: Path) -> int:
    """How many rounds of placing it tells."""
    return sum(line.startswith(b"#") for line in log.read_bytes().splitlines())


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"
