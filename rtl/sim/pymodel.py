"""Backend `python`, for RTL and CL components, and the common parts of testbenches in Python.

PyMTL3's own `sim_tick` evaluates the combinational logic twice per cycle. Here it is evaluated once, after
the inputs of the cycle have been set, which is enough for testbenches that never react within a cycle.
"""

import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymtl3 import Bits, Component, DefaultPassGroup
from pymtl3.datatypes import is_bitstruct_class
from pymtl3.passes.sim.PrepareSimPass import PrepareSimPass
from pymtl3.passes.sim.SimpleTickPass import SimpleTickPass
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from . import interrupt
from .base import Model, Options, elaborate
from .protocol import RESET_CYCLES, BrokenPromise

PROGRESS_SECONDS = 0.2


@interrupt.kept()
def prepare(component: Component, vcd: Path | None = None) -> None:
    """Prepare an elaborated component for PyMTL3's simulator."""
    # PyMTL3 appends the suffix itself
    component.apply(DefaultPassGroup(vcdwave=vcd and str(vcd.with_suffix(""))))


def halves_of_a_cycle(top: Component) -> tuple[Callable[[], None], Callable[[], None]]:
    """The functions `settle`, for combinational logic, and `edge`, for the clock edge, which then raises a
    delayed interrupt.
    """
    registers = SimpleTickPass.gen_tick_function(PrepareSimPass().collect_ff_funcs(top))

    def edge() -> None:
        registers()
        interrupt.check()

    return SimpleTickPass.gen_tick_function(top._sched.update_schedule), edge


def maker(kind: Any) -> Callable[[int], object]:
    """A function from the packed integer to a value of the port's type."""
    nbits = kind.nbits
    if is_bitstruct_class(kind):
        return lambda packed: kind.from_bits(Bits(nbits, packed))
    return lambda packed: Bits(nbits, packed)


class Sender:
    """Offers messages to a stream of the design."""

    def __init__(self, port: RecvIfcRTL) -> None:
        self._port, self._message = port, maker(type(port.msg))
        self.offer(None)

    def offer(self, packed: int | None) -> None:
        """Offer a message in this cycle, or none."""
        self.offers = packed is not None
        self._port.val @= self.offers
        self._port.msg @= self._message(packed or 0)

    @property
    def fires(self) -> bool:
        """Whether the design accepts the message in this cycle."""
        return self.offers and bool(self._port.rdy)


class Receiver:
    """Accepts messages of a stream of the design, and checks the promise of its sender (`Held` in model.cpp):
    val, once 1, and the message stay until it is accepted.
    """

    def __init__(self, port: SendIfcRTL, name: str, backend: str) -> None:
        self._port, self._name, self._backend = port, name, backend
        self._held: int | None = None  # the message of the last cycle, if it was refused
        self.count = 0  # messages accepted
        self.offered = False  # whether there was a message in the last cycle
        self.ready(False)

    def ready(self, ready: bool) -> None:
        """Accept a message in this cycle, or not."""
        self._port.rdy @= ready

    def accept(self, cycle: int) -> int | None:
        """The message that is accepted in this cycle; to be called once per cycle."""
        held = self._held
        val = self.offered = bool(self._port.val)
        if not val and held is None:
            return None
        msg = int(self._port.msg.to_bits()) if val else None
        if held is not None and msg != held:
            raise BrokenPromise.at(f"{self._name} {self.count}", cycle, self._backend, dropped=not val)
        if not self._port.rdy:
            self._held = msg
            return None
        self._held = None
        self.count += 1
        return msg


class InPython(Model):
    """A component that a Python testbench advances cycle by cycle."""

    waves = (".vcd",)
    traces = True

    def _attach(self, top: Component, options: Options, line_trace: Callable[[], str] | None = None) -> None:
        """Use a component to which PyMTL3's passes have been applied."""
        self._top, self._trace = top, options.trace
        self._line_trace = line_trace or self._events
        self._settle, self._edge = halves_of_a_cycle(top)

    def _cycles(
        self, drive: Callable[[int], None], sample: Callable[[int], bool], report: Callable[[], None] | None
    ) -> int:
        """Advance the component cycle by cycle until a sample ends the run; return the number of cycles.

        drive(cycle): set the inputs of a cycle. sample(cycle): read its outputs. `report` is called
        occasionally.
        """
        cycle, ended = 0, False
        reported = time.monotonic()
        while not ended:
            drive(cycle)
            self._settle()
            if self._trace:
                self._trace(cycle, self._line_trace())
            ended = sample(cycle)
            self._edge()
            cycle += 1
            if report and time.monotonic() - reported > PROGRESS_SECONDS:
                report()
                reported = time.monotonic()
        return cycle

    def _reset(self) -> None:
        """Hold reset for the cycles before a run, with the other inputs unchanged."""
        self._top.reset @= 1
        for _ in range(RESET_CYCLES):
            self._settle()
            self._edge()
        self._top.reset @= 0

    @abstractmethod
    def _events(self) -> str:
        """The line of a trace for a component without line_trace."""


class PythonStage(InPython):
    """The component itself, in PyMTL3's own simulator."""

    backend = "python"

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        elaborate(component)
        self.ports = self.read_ports(component)
        prepare(component, options.vcd)
        self._attach(component, options, getattr(component, "line_trace", None))
