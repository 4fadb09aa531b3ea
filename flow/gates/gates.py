"""Stage `gates`: simulates the mapped netlist with the same drivers, protocol and test tables as RTL.

`netlist_of` translates and synthesises a component, with its netlist in the cache; `GateSimulation` and, for
whole systems, `GateProcSimulation` simulate a netlist.

The simulator is that of engine.py. It is compiled once with each driver and reads the netlist as tables, so
that the build time does not depend on the netlist. Measured on paper 001's multiplier, 32 bits, 10,600 cells:
Verilator needs 36 s of CPU time to build Verilog models of the cells and then simulates 52,000 cycles a
second. This simulator starts in one second and simulates 2,000 cycles a second with new operands in every
cycle, and 10,000 of a machine, most of whose logic is idle. The test tables have a few thousand cycles.
"""

import ctypes
import functools
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pymtl3 import Component

from ...fl.errors import BadInput
from ...proc.sim.native import NativeProcSimulation
from ...rtl.sim import cache, sources
from ...rtl.sim.base import Options
from ...rtl.sim.native import NativeSimulation
from ...rtl.sim.nativemodel import NativeStage, declare_functions
from ...rtl.sim.nativemodel import load as load_library
from ...rtl.sim.ports import Ports
from ...rtl.sim.translation.translate import top_name
from ...rtl.sim.translation.translated import translated
from ..files import scratch
from ..kit import kit
from ..netlist import yosys
from ..netlist.netlist import Netlist
from ..netlist.netlist import read as read_netlist
from ..synth import synthesis
from . import gate_harness
from .engine import Engine, GateTables, prepared

STAGE = "gates"
PRODUCTS = ("netlist.json", "hierarchy.json")  # of synthesis
SYNTHESIS = "flow.synth.synthesis"


@functools.cache
def synthesized(verilog: str, top: str, adk: Path | None = None) -> Netlist:
    """The netlist of a design in the default style at the kit's clock, from the cache if it is there."""
    files = kit.find(adk)

    def make(directory: Path) -> None:
        with scratch(directory.parent) as out:
            (out / "design.sv").write_text(verilog)
            clock_ns = files.data.constraints.clock_ns
            synthesis.synthesize(out / "design.sv", top, out, clock_ns=clock_ns, kit_directory=adk)
            for product in PRODUCTS:
                shutil.move(out / product, directory / product)

    key = cache.key(verilog, top, files.digest, yosys.version(), sources.digest(SYNTHESIS))
    entry = cache.cached_tree(cache.tree_name("netlist", key), make)
    return read_netlist(entry / PRODUCTS[0], files.library, top)


def netlist_of(component: Component, adk: Path | None = None) -> tuple[Netlist, Ports]:
    """Synthesise a machine with streams that is not elaborated yet; return its netlist and ports."""
    text, ports = translated(component, Ports.of)
    return synthesized(text, top_name(component), adk), ports


class AtGates(NativeStage):
    """A simulation by the engine with a driver, in place of a Verilator model."""

    stage = STAGE
    waves: tuple[str, ...] = ()

    def __init__(
        self,
        tables: GateTables,
        ports: Any = None,
        options: Options | None = None,
        *,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """`ports` are those of the RTL; `names` maps ports to different names in the netlist."""
        options = options or Options()
        self._check(options)
        self.ports, self._tables = ports, tables
        harness = self._harness()
        self._nets = np.array(gate_harness.nets(harness, tables.netlist, names or {}) or [0], np.int32)
        if tables.clock_net is None:
            raise BadInput("the netlist has no clock port: a machine with streams needs one")
        path = gate_harness.library(harness, self._driver())
        lib = prepared(path)
        declare_functions(lib, gates_use=(None, ctypes.c_void_p))
        lib.gates_last.restype = ctypes.c_void_p
        lib.gates_use(ctypes.byref(tables.c), self._nets.ctypes.data)
        self._open(load_library(path), options)
        self.engine = Engine(tables, lib=lib, handle=lib.gates_last())


class GateSimulation(AtGates, NativeSimulation):
    """Simulates the netlist of a machine with streams."""


class GateProcSimulation(AtGates, NativeProcSimulation):
    """Simulates the netlist of a processor, with its accelerator or alone."""
