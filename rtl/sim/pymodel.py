"""Stage `python`, for RTL and CL components, and the common part of stages with a Python testbench.

PyMTL3's own `sim_tick` evaluates the combinational logic twice per cycle. Here it is evaluated once, after
the inputs of the cycle have been set, which is enough for testbenches that never react within a cycle.
"""

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymtl3 import Bits, Component, DefaultPassGroup
from pymtl3.datatypes import is_bitstruct_class
from pymtl3.passes.sim.PrepareSimPass import PrepareSimPass
from pymtl3.passes.sim.SimpleTickPass import SimpleTickPass

from . import interrupt
from .base import Model, Options, elaborate
from .protocol import RESET_CYCLES

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


class InPython(Model):
    """A component that a Python testbench advances cycle by cycle."""

    waves = (".vcd",)
    traces = True

    def _attach(self, top: Component, options: Options, line_trace: Callable[[], str] | None = None) -> None:
        """Use a component to which PyMTL3's passes have been applied."""
        self._top, self._trace = top, options.trace
        self._line_trace = line_trace or self._events
        self._settle, self._edge = halves_of_a_cycle(top)

    def _reset(self) -> None:
        """Hold reset for the cycles before a run, with the other inputs unchanged."""
        self._top.reset @= 1
        for _ in range(RESET_CYCLES):
            self._settle()
            self._edge()
        self._top.reset @= 0

    @abstractmethod
    def _read_ports(self, component: Component) -> None:
        """Raise BadInput if an elaborated component lacks the ports that the testbench drives."""

    @abstractmethod
    def _events(self) -> str:
        """The line of a trace for a component without line_trace."""


class PythonStage(InPython):
    """The component itself, in PyMTL3's own simulator."""

    stage = "python"

    def __init__(self, component: Component, options: Options) -> None:
        self._check(options)
        elaborate(component)
        self._read_ports(component)
        prepare(component, options.vcd)
        self._attach(component, options, getattr(component, "line_trace", None))
