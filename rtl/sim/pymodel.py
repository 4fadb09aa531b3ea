"""A component that a testbench in Python advances: PyMTL3's passes, and one cycle in two halves.

PyMTL3's own `sim_tick` evaluates the combinational logic twice per cycle. Here it is evaluated once, after the
inputs of the cycle have been set, which is enough for testbenches that never react within a cycle.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pymtl3 import Bits, Component, DefaultPassGroup
from pymtl3.datatypes import is_bitstruct_class
from pymtl3.passes.sim.PrepareSimPass import PrepareSimPass
from pymtl3.passes.sim.SimpleTickPass import SimpleTickPass

from . import interrupt


@interrupt.kept()
def prepare(component: Component, vcd: Path | None = None) -> None:
    """Make an elaborated component ready for PyMTL3's simulator."""
    # PyMTL3 appends the suffix itself
    component.apply(DefaultPassGroup(vcdwave=vcd and str(vcd.with_suffix(""))))


def halves_of_a_cycle(top: Component) -> tuple[Callable[[], None], Callable[[], None]]:
    """`settle` the combinational logic, and the clock `edge`, after which an interrupt that was kept is raised."""
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
