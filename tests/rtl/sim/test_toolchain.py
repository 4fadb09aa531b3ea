"""External tools: their limits of time, and the end of all processes that a tool has started."""

import ast
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from modexlab.rtl.sim import toolchain, translate
from modexlab.rtl.sim.build import VERILATE
from modexlab.rtl.sim.toolchain import QUESTION, TOOL, ToolError, ToolTimeout, run, running

from tests.harness import parametrize, refused
from tests.paths import ROOT
from tests.programs import machine_of

ROOMS = ("fl", "rtl", "cl", "proc", "flow", "eval")
# each writes its process number to a file of its own, and sleeps
WRITES = "import os, pathlib, signal, sys, time; pathlib.Path(f'{os.getpid()}.pid').write_text('')"
SLEEPS = "time.sleep(60)"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)"
TOOLS = {
    "sleeps": f"{WRITES}; {SLEEPS}",
    "deaf": f"{DEAF}; {WRITES}; {SLEEPS}",
    "children": f"{DEAF}; os.fork(); os.fork(); {WRITES}; {SLEEPS}",
    "sessions": f"{DEAF}; os.fork() or os.setsid(); os.fork(); {WRITES}; {SLEEPS}",
    "orphans": f"{DEAF}; os.fork() and {SLEEPS}; os.fork() and sys.exit(); {WRITES}; {SLEEPS}",
}


def tool(body):
    return [sys.executable, "-c", f"import os, signal, sys, time; {body}"]


def left(directory):
    """The processes of the tool that still run; one that was killed may take a moment to end."""
    numbers = [int(path.stem) for path in directory.glob("*.pid")]
    assert numbers, "the tool has begun"
    end = time.monotonic() + 5
    while (still := [number for number in numbers if _runs(number)]) and time.monotonic() < end:
        time.sleep(0.02)
    return still


def _runs(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@parametrize("body", TOOLS.values(), ids=[*TOOLS])
def test_a_tool_ends_at_its_limit_with_all_that_it_has_started(body, tmp_path, monkeypatch):
    monkeypatch.setitem(toolchain.LIMITS, TOOL, 1.0)
    start = time.monotonic()
    with pytest.raises(ToolTimeout) as error:
        run(tool(body), name="Fake", cwd=tmp_path)
    assert str(error.value) == "Fake did not end within 1 s; MODEXLAB_PATIENCE=2 doubles this limit"
    assert time.monotonic() - start < 10
    assert left(tmp_path) == []


def test_patience_multiplies_each_limit(monkeypatch):
    monkeypatch.setenv("MODEXLAB_PATIENCE", "2.5")
    assert toolchain.limit_of(QUESTION) == 2.5 * toolchain.LIMITS[QUESTION]
    assert toolchain.limit_of(TOOL) == 2.5 * toolchain.LIMITS[TOOL]
    for value in ("much", "0", "-1", "inf", "nan"):
        monkeypatch.setenv("MODEXLAB_PATIENCE", value)
        with refused(f"MODEXLAB_PATIENCE={value}: give a factor"):
            run(["true"])


def test_a_tool_that_needs_longer_gets_it(monkeypatch):
    """For example a proof with a limit of CPU time."""
    monkeypatch.setitem(toolchain.LIMITS, TOOL, 0.01)
    assert run(["sleep", "0.3"], least=20).returncode == 0
    with pytest.raises(ToolTimeout, match=r"sleep did not end within 0\.2 s$"):
        run(["sleep", "20"], least=20, seconds=0.2)


def test_its_output_is_whole():
    done = run(tool("print('a' * 10**6); print('b', file=sys.stderr); sys.exit(3)"))
    assert (len(done.stdout), done.stderr, done.returncode) == (10**6 + 1, "b\n", 3)
    assert run(["cat"], input="text").stdout == "text"
    with pytest.raises(ToolTimeout), running(["sleep", "20"], seconds=0.2, stdout=subprocess.PIPE) as process:
        raise ToolError(f"the pipe is closed: {process.stdout.read()!r}")


@parametrize("kind", ["children", "orphans"])
def test_a_tool_ends_with_an_interrupted_caller(kind, tmp_path):
    """Also if Ctrl-C reaches the caller alone."""

    def interrupt():
        while len([*tmp_path.glob("*.pid")]) < {"children": 4, "orphans": 1}[kind]:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run(tool(TOOLS[kind]), cwd=tmp_path)
    assert left(tmp_path) == []


def test_every_tool_runs_within_a_limit():
    """No other module starts a process."""
    starts = {"run", "Popen", "call", "check_call", "check_output", "system", "popen"}
    modules = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    calls = (
        (path, node.func)
        for path in modules
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    )
    found = {
        str(path.relative_to(ROOT))
        for path, called in calls
        if called.attr in starts
        and isinstance(called.value, ast.Name)
        and called.value.id in ("subprocess", "os")
    }
    assert found == {"rtl/sim/toolchain.py"}


def test_verilator_takes_wide_multiplexers(tmp_path):
    """With V3Gate, Verilator 5.48 ends with an internal error at a multiplexer of this machine."""
    machine = machine_of("mont-keyed", 128, crt=True)
    (tmp_path / "design.sv").write_text(translate(machine.rtl(), "top"))
    toolchain.verilator([*VERILATE, "--top-module", "top", "design.sv"], cwd=tmp_path)
    without = [option for option in VERILATE if option != "-fno-gate"]
    with pytest.raises(ToolError, match="Internal Error"):
        toolchain.verilator([*without, "--top-module", "top", "design.sv"], cwd=tmp_path)
