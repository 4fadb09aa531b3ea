"""SocSystem: the processor with an accelerator at its port or on its bus, at one level and backend, ready to
run programs.

fl: the instruction-set simulator with the accelerator's function, no cycles. rtl: the pipeline with the
accelerator's hardware, with any backend of `modexlab.proc.sim`. A machine on the bus is an AXI4-Lite slave
that interrupts the processor; the null accelerator is then at the accelerator port.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pymtl3 import Component

from ...fl.axi4lite import Axi4LiteFL
from ...fl.closing import Closing
from ...fl.errors import BadInput
from ...fl.memory import WORD_NBYTES, Memory, MemoryPort
from ...fl.xcel import WORD_NBITS, XcelFL
from ...proc.core.axi4lite_slave import Axi4LiteSlave
from ...proc.core.null_xcel import NullXcel, NullXcelFL
from ...proc.core.parameters import check_units
from ...proc.core.proc import Proc
from ...proc.core.proc_xcel import ProcXcel
from ...proc.iss.iss import ISS, Accelerator
from ...proc.iss.outcome import Execution
from ...proc.sim import MemoryTiming, simulate_proc
from ...proc.software.call_header import call_header, identifier
from ...proc.software.elf import Program
from ...proc.software.memory import AccessFault
from .interfaces import AXI4LITE, COUPLINGS, PROCESSOR_PORT
from .session import Progress, backend_at

if TYPE_CHECKING:  # not at run time: figures of systems depend on no source of a machine (lab/keys.py)
    from .machine import Design
    from .own import OwnDesign
    from .runnable import Runnable

LEVELS = ("fl", "rtl")
SOFTWARE, HARDWARE, ON_BUS = "proc-", "procxcel-", "procbus-"  # prefixes of the names of systems
SOFTWARE_FAMILY = "software"  # of a system without a design


def accelerator_in(name: str) -> str:
    """The accelerator of a system at the port of the processor; any other name is returned as it is."""
    return name.removeprefix(HARDWARE)


class ProgramMemory(Memory):
    """The memory of a program in the instruction-set simulator, as the function of an accelerator uses it."""

    iss: ISS

    def __init__(self) -> None:
        super().__init__(0)

    def read(self, address: int, nbytes: int = WORD_NBYTES) -> int:
        """The number of so many bytes at an address; BadInput if there is no memory."""
        return sum(self._byte(address + place) << 8 * place for place in range(nbytes))

    def write(self, address: int, value: int, nbytes: int = WORD_NBYTES) -> None:
        """Write the lowest bytes of a number to an address; BadInput if there is no memory."""
        for place in range(nbytes):
            self._byte(address + place)
            self.iss.memory.write(address + place, 1, value >> 8 * place & 0xFF)

    def _byte(self, address: int) -> int:
        try:
            return self.iss.memory.read(address, 1)
        except AccessFault as fault:
            raise BadInput(f"the accelerator: {fault}; correct the pointer in the program") from None


@dataclass(frozen=True)
class Xcel:
    """An accelerator at the port or on the bus of a processor; the null accelerator without a design."""

    design: "Design | OwnDesign | None" = None
    nbits: int = 32
    settings: Mapping[str, Any] = field(default_factory=dict)
    interface: str = PROCESSOR_PORT.name

    def __post_init__(self) -> None:
        if self.interface not in COUPLINGS:
            raise BadInput(
                f"interface {self.interface!r} behind a processor: give one of {' and '.join(COUPLINGS)}"
            )
        if self.on_bus and self.design is None:
            raise BadInput(f"interface {self.interface}: there is nothing to put on the bus; name a design")

    @property
    def on_bus(self) -> bool:
        """Whether it is loosely coupled."""
        return self.interface == AXI4LITE.name

    @property
    def name(self) -> str:
        return self.design.name if self.design is not None else "null"

    @property
    def machine(self) -> "Runnable | None":
        """The accelerator of the design; BadInput if its parameters are impossible."""
        return self.design.at(self.nbits, **self.settings) if self.design is not None else None

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the design; BadInput if they are impossible."""
        return self.machine.parameters if self.machine is not None else {}

    def header(self) -> dict[str, str]:
        """The C header for programs that call the accelerator, by file name, and one with the name of its
        function; empty without a design.
        """
        machine = self.machine
        if machine is None:
            return {}
        text = call_header(machine.name, machine.nbits, machine.shape, on_bus=self.on_bus)
        own, function = identifier(machine.name), identifier(machine.function or machine.name)
        found = {f"{own}.h": text}
        if function != own:  # so that one program runs on all accelerators of a function
            found[f"{function}.h"] = f'#include "{own}.h"\n#define {function}_call {own}_call\n'
        return found

    def fl(self, memory: ProgramMemory | None = None) -> Accelerator:
        """A new functional model of the accelerator port for the instruction-set simulator, whose memory an
        accelerator with memory ports uses.
        """
        machine = self.machine
        if machine is None or self.on_bus:
            return NullXcelFL()
        return XcelFL(machine.shape, machine.computing(memory))

    def bus(self, memory: ProgramMemory | None = None) -> Axi4LiteFL | None:
        """A new functional model of the bus slave for the instruction-set simulator, whose memory an
        accelerator with memory ports uses; None without one.
        """
        machine = self.machine
        if machine is None or not self.on_bus:
            return None
        return Axi4LiteFL(machine.shape, machine.computing(memory), machine.traits)

    def rtl(self) -> Component:
        """New hardware for the accelerator port."""
        return NullXcel() if self.machine is None or self.on_bus else self.machine.wrapped(PROCESSOR_PORT)

    def system(self, mul_latency: int = 1, div_bits: int = 2, observed: bool = True) -> Component:
        """The processor and the accelerator in hardware; `observed`: with the commit port."""
        machine = self.machine
        if machine is not None:
            machine.require_ports()
        if machine is None or not self.on_bus:
            memory = () if machine is None else _on_data_memory(machine)
            proc = partial(Proc, mul_latency, div_bits)
            return ProcXcel(proc, self.rtl, observed=observed, memory=memory)

        memory = _on_data_memory(machine)
        slave = partial(Axi4LiteSlave, partial(machine.exported, AXI4LITE), memory)
        proc = partial(Proc, mul_latency, div_bits, bus=True)
        return ProcXcel(proc, self.rtl, slave, observed=observed, memory=memory)


def _on_data_memory(machine: "Runnable") -> tuple[MemoryPort, ...]:
    """The memory ports of an accelerator; BadInput if one does not fit the data memory of the processor."""
    for port in machine.shape.memory:
        if port.nbits != WORD_NBITS:
            raise BadInput(
                f"{machine.name}: memory port {port.name} has {port.nbits} bits, and the data memory of the "
                f"processor has {WORD_NBITS}; run it by its own streams, or give it a port of {WORD_NBITS}"
            )
    return machine.shape.memory


class System(Closing):
    """A processor and an accelerator; each call of `run` starts from reset."""

    def __init__(
        self,
        xcel: Xcel | None = None,
        *,
        level: str = "rtl",
        backend: str | None = None,
        mul_latency: int = 1,
        div_bits: int = 2,
        **tracing: Any,
    ) -> None:
        """tracing: a `vcd` file, and `trace`, called with (cycle, text) in every cycle."""
        self.xcel, self.level = xcel or Xcel(), level
        if level not in LEVELS:
            raise BadInput(f"unknown level {level!r}; a processor has {' and '.join(LEVELS)}")
        self.backend = backend_at(level, backend)
        check_units(mul_latency, div_bits)
        if self.backend is not None:
            component = self.xcel.system(mul_latency, div_bits)
            self._model = simulate_proc(component, self.backend, **tracing)
        elif any(tracing.values()):
            raise BadInput("the functional level has no clock to trace; use --level rtl")

    def run(
        self,
        program: Program,
        *,
        manager: Sequence[int] = (),
        timing: MemoryTiming | None = None,
        limit: int | None = None,
        record: bool = False,
        progress: Progress | None = None,
    ) -> Execution:
        """Load the program and run it to its end.

        manager: words for the program. timing: of the memory (rtl). limit: maximum number of cycles, or of
        instructions without a clock. record: keep the commits. progress: called with the elapsed part of the
        limit.
        """
        if self._model is not None:
            return self._model.run(
                program, manager=manager, timing=timing, max_cycles=limit, record=record, progress=progress
            )
        if timing is not None:
            raise BadInput("the functional level has no memory to wait for; use --level rtl")

        memory = ProgramMemory()
        memory.iss = ISS(program, self.xcel.fl(memory), manager, bus=self.xcel.bus(memory))
        return memory.iss.run(limit, record, progress)
