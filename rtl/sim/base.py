"""Shared parts of all simulation backends: the options of a simulation, and `run`.

`Model` is the base class of every testbench; `Simulation` is the one for streams.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from pymtl3 import Component

from ...fl.closing import Closing
from ...fl.errors import BadInput, unknown
from ...fl.memory import Left
from . import interrupt
from .memory.access import MemorySettings
from .ports import Ports, Value
from .protocol import Driven, Plan, Progress, Run, Stall, Statics, Trace, make_plan

_M = TypeVar("_M", bound="Model")
_simulated: WeakSet[Component] = WeakSet()  # the passes of PyMTL3 change a component permanently


@dataclass(frozen=True)
class Options:
    """Options of `simulate` other than the backend."""

    vcd: Path | None = None  # waveform file; its suffix determines the format
    trace: Trace | None = None  # called with (cycle, text) in every cycle
    opt: str = "-O1"  # optimisation level of the C++ compiler, if the backend uses one
    power_up_seed: int | None = None  # registers start with random bits from this seed instead of 0


def _check_writable(path: Path) -> None:
    """Raise BadInput if the waveform file cannot be written. The check leaves no new file behind."""
    existed = path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise BadInput(
            f"waveform file {path}: cannot be written ({error.strerror}); give another file"
        ) from None
    if not existed:
        path.unlink()


def check_written(path: Path | None, error: int) -> None:
    """Raise BadInput if writing waveforms failed with this errno, for example because the disk became full
    during a run.
    """
    if error:
        raise BadInput(
            f"waveform file {path}: cannot be written ({os.strerror(error)}); free some space, or give "
            "another file"
        )


class Model(Closing, ABC):
    """A design built for one backend."""

    backend: str
    ports: Any
    read_ports: Callable[[Component], Any]  # of an elaborated component; BadInput if it lacks ports
    waves: tuple[str, ...] = ()  # suffixes of the waveform files that the backend can write
    traces = False
    powers_up = False

    @abstractmethod
    def __init__(self, component: Any, options: Options) -> None:
        """Build a component that has not been simulated yet; backend native also accepts a ModuleText."""

    def _check(self, options: Options) -> None:
        """Raise BadInput if the backend does not support the options; to be called before a build."""
        if options.vcd:
            if options.vcd.suffix not in self.waves:
                formats = " or ".join(self.waves)
                raise BadInput(f"waveform file {options.vcd}: backend {self.backend} writes {formats}")
            if not options.vcd.absolute().parent.is_dir():
                raise BadInput(f"waveform file {options.vcd}: there is no directory {options.vcd.parent}")
            _check_writable(options.vcd)
        if options.trace and not self.traces:
            raise BadInput(
                f"backend {self.backend} has no line trace: use python or verilog, or a waveform file"
            )
        if options.power_up_seed is not None and not self.powers_up:
            raise BadInput(
                f"backend {self.backend} starts all registers with 0: use native for a power_up_seed"
            )

    def _check_waves(self) -> None:
        """Raise BadInput if the waveforms of a run could not be written."""


def claim(component: Component) -> None:
    """Mark a component as simulated; raise BadInput if it has been simulated already."""
    if component in _simulated:
        raise BadInput(
            f"this {type(component).__name__} has been simulated: make a new one for each simulation"
        )
    _simulated.add(component)


@interrupt.kept()
def elaborate(component: Component) -> None:
    """Claim a component and elaborate it for the passes of its simulation."""
    claim(component)
    if not component._dsl.constructed:
        component.elaborate()


def start(backends: Mapping[str, type[_M]], component: Any, backend: str, options: Options) -> _M:
    """Build the component for one of these backends; raise BadInput for an unknown backend."""
    if backend not in backends:
        raise unknown("backend", backend, backends)
    return backends[backend](component, options)


class Simulation(Model):
    """A design with one request stream and one response stream; `run` may be called any number of times."""

    ports: Ports
    read_ports = staticmethod(Ports.of)

    def run(
        self,
        requests: Iterable[Value],
        *,
        statics: Statics | Sequence[Statics] | None = None,
        source_delays: int | Sequence[int] = 0,
        sink_delays: int | Sequence[int] = 0,
        stall: Stall | None = None,
        max_cycles: int | None = None,
        memory: MemorySettings | None = None,
        progress: Progress | None = None,
    ) -> Run:
        """Reset the design, send the requests, and wait for as many responses.

        A request is an int, or a tuple of ints for a bitstruct; `statics` is one setting of the static ports
        for all requests, or one per request. Request i is offered `source_delays[i]` cycles after the
        previous one fired; response i is refused for `sink_delays[i]` cycles. `progress(done, total)` is
        called occasionally in long runs. Raises SimulationTimeout if `max_cycles` are not enough, or, without
        such a limit, after very many cycles without a handshake (`protocol.hang_cycles`). UnexpectedResponse
        and BrokenPromise report violations of the protocol by the design.

        memory: that behind the design's memory ports. It is loaded with the image of each OnMemory when all
        requests before it are answered. MemoryFault reports an access that it refuses.
        """
        plan = make_plan(
            self.ports,
            requests,
            statics=statics,
            source_delays=source_delays,
            sink_delays=sink_delays,
            stall=stall,
            max_cycles=max_cycles,
            memory=memory,
        )
        if not len(plan):
            return Run([], [], [])
        driven = self._drive(plan, progress)
        self._check_waves()
        responses = list(self.ports.response.unpack_all(driven.responses))
        if plan.memory.ports:
            responses = [
                Left(response if isinstance(response, tuple) else (response,), memory)
                for response, memory in zip(responses, driven.memories, strict=True)
            ]
        return Run(responses, driven.accepted, driven.done)

    @abstractmethod
    def _drive(self, plan: Plan, progress: Progress | None) -> Driven:
        """Execute the plan."""
