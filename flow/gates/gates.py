"""Stage `gates`: the mapped netlist under the same drivers, protocol and tables as RTL.

`simulate(component, stage="gates")`, of rtl.sim or of proc.sim for whole systems, works as soon as this module is imported: the
component is translated, synthesized (once: the netlist is in the cache) and simulated. A netlist that is there already is simulated by
`simulate_netlist(netlist, ports)` and `simulate_system(netlist)`.

The simulator is that of engine.py: compiled once with each driver, it takes the netlist as tables, so that no build grows with
the netlist. Measured on paper 001's multiplier, 32 bits, 10,600 cells: Verilator takes 36 s of a processor to build the models of
cell_models.py and then does 52,000 cycles a second; this starts in one second and does 2,000 with new operands in every
cycle, and 10,000 of a machine, where most of the logic rests. The tables of the tests have a few thousand cycles.
"""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pymtl3 import Component

from ...fl.errors import BadInput
from ...proc import sim as proc_sim
from ...proc.sim import ports as proc_ports
from ...proc.sim.harness import harness as proc_harness
from ...proc.sim.native import TESTBENCH, NativeProcSimulation
from ...rtl import sim as rtl_sim
from ...rtl.sim import cache, sources
from ...rtl.sim.base import Options
from ...rtl.sim.harness import harness
from ...rtl.sim.native import DRIVER, NativeSimulation
from ...rtl.sim.nativemodel import NativeModel
from ...rtl.sim.nativemodel import load as load_library
from ...rtl.sim.ports import Ports
from ...rtl.sim.translation.translate import top_name
from ...rtl.sim.translation.translated import translated
from ..kit import kit
from ..kit.liberty import Library
from ..netlist import yosys
from ..netlist.netlist import Netlist
from ..netlist.netlist import read as read_netlist
from ..synth import synthesis
from ..timing.nldm import Timing
from . import gate_harness
from .engine import Engine, GateTables, declare, prepared

STAGE = "gates"
PRODUCTS = ("netlist.json", "hierarchy.json")  # of synthesis
SYNTHESIS = "flow.synth.synthesis"


def netlist_of_verilog(
    path: str | Path, top: str, out_dir: str | Path, library: Library | None = None
) -> Netlist:
    """The netlist in a Verilog file: one module of library cells. Leaves netlist.json in `out_dir`."""
    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    files = kit.find()
    script = (
        f"read_liberty -lib {files.lib}\nread_verilog -sv {Path(path).absolute()}\nhierarchy -check -top {top}\n"
        "flatten\nopt_clean\nwrite_json netlist.json\n"
    )
    yosys.run("read_netlist", script, out)
    return read_netlist(out / "netlist.json", library or files.library, top)


class GateModel(NativeModel):
    """The engine with a driver in the place of a model of Verilator."""

    def __init__(self, tables: GateTables, harness_text: str, driver: str, options: Options) -> None:
        self._handle = None
        self._vcd = None  # netlists write no waveforms
        surrounding = gate_harness.read(harness_text)
        for port, bits in surrounding.bits.items():
            width = len(tables.netlist.ports.get(port, ("", []))[1])
            if width and width != len(bits):
                raise BadInput(
                    f"the netlist's port {port} has {width} bits and not {len(bits)}: it is of another design"
                )
        missing = [port for port in tables.netlist.ports if port not in surrounding.bits]
        if missing:
            raise BadInput(f"the netlist has ports that the design has not: {', '.join(missing)}")
        if tables.clock_net is None:
            raise BadInput("the netlist has no clock port: a machine with streams needs one")
        path = gate_harness.library(surrounding, driver)
        self.lib = load_library(path)
        lib = prepared(path)
        self._tables = tables
        self._nets = np.array(surrounding.nets(tables.netlist) or [0], np.int32)
        declare(lib, "gates_use", None, ctypes.c_void_p, ctypes.c_void_p)
        declare(lib, "gates_last", ctypes.c_void_p)
        lib.gates_use(ctypes.byref(tables.c), self._nets.ctypes.data)
        seed = 0 if options.power_up_seed is None else options.power_up_seed % (2**31 - 1) + 1
        self._handle = self.lib.sim_new(None, seed)
        self.engine = Engine(tables, lib=lib, handle=lib.gates_last())


@functools.cache
def synthesized(verilog: str, top: str) -> Netlist:
    """The netlist of a design at the style and clock that synthesis takes by default; made once, and kept in the cache."""
    library = kit.find().library

    def make(directory: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="out-", dir=directory.parent) as name:
            out = Path(name)
            (out / "design.sv").write_text(verilog)
            synthesis.synthesize(out / "design.sv", top, out)
            for product in PRODUCTS:
                shutil.move(out / product, directory / product)

    key = cache.key(verilog, top, yosys.version(), sources.digest(SYNTHESIS))
    entry = cache.cached_tree(cache.tree_name("netlist", key), make)
    return read_netlist(entry / PRODUCTS[0], library, top)


class GateSimulation(NativeSimulation):
    """Simulates the netlist of a machine with streams."""

    _model: GateModel
    stage = STAGE
    waves = ()
    powers_up = True

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        text, ports = translated(component, Ports.of)
        self._start(
            GateTables(synthesized(text, top_name(component)), kit.find().library),
            ports,
            options,
            {},
        )

    @classmethod
    def of(
        cls,
        tables: GateTables,
        ports: Ports,
        options: Options | None = None,
        *,
        names: Mapping[str, str] | None = None,
    ) -> GateSimulation:
        """A simulation of a netlist that is there, with the ports of its RTL; `names` of those that are called differently."""
        made = cls.__new__(cls)
        options = options or Options()
        made._check(options)
        made._start(tables, ports, options, names or {})
        return made

    def _start(self, tables: GateTables, ports: Ports, options: Options, names: Mapping[str, str]) -> None:
        self.ports = ports
        around = harness(tables.netlist.name, ports)
        around = re.sub(r"\.(\w+)\(", lambda port: f".{names.get(port[1], port[1])}(", around)
        self._model = GateModel(tables, around, DRIVER, options)

    @property
    def engine(self) -> Engine:
        """For windows and counts."""
        return self._model.engine


class GateProcSimulation(NativeProcSimulation):
    """Simulates the netlist of a processor, with its accelerator or alone."""

    _model: GateModel
    stage = STAGE
    waves = ()
    powers_up = True

    def __init__(self, design: Component, options: Options) -> None:
        self._check(options)
        if not isinstance(design, Component):
            raise BadInput("stage gates takes a component, or a netlist by flow.gates.simulate_system")
        text, _ = translated(design, proc_ports.check)
        netlist = synthesized(text, top_name(design))
        self._start(GateTables(netlist, kit.find().library), options)

    @classmethod
    def of(cls, tables: GateTables, options: Options | None = None) -> GateProcSimulation:
        """A simulation of a netlist that is there."""
        made = cls.__new__(cls)
        options = options or Options()
        made._check(options)
        made._start(tables, options)
        return made

    def _start(self, tables: GateTables, options: Options) -> None:
        self._model = GateModel(tables, proc_harness(tables.netlist.name), TESTBENCH, options)

    @property
    def engine(self) -> Engine:
        """For windows and counts."""
        return self._model.engine


def simulate_netlist(
    netlist: Netlist, ports: Ports, *, timing: Timing | None = None, library: Library | None = None
) -> GateSimulation:
    """A machine's netlist under the driver of streams; `timing` is what simulation with delays takes its delays from."""
    tables = GateTables(netlist, library or kit.find().library, timing=timing)
    return GateSimulation.of(tables, ports)


def simulate_system(
    netlist: Netlist, *, timing: Timing | None = None, library: Library | None = None
) -> GateProcSimulation:
    """A processor's netlist with memory and manager; the same of `timing`."""
    return GateProcSimulation.of(GateTables(netlist, library or kit.find().library, timing=timing))


rtl_sim.STAGES[STAGE] = GateSimulation
proc_sim.STAGES[STAGE] = GateProcSimulation
