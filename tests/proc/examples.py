"""Components for tests of the processor: an accelerator that makes it wait, a processor that hides its halt;
and simulations of the default processor.
"""

from functools import cache, partial

from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.ports import join_processor, processor_ports
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.proc.sim import simulate_proc
from pymtl3 import Component, Wire, concat, update, update_ff
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class Slow(Component):
    """A component that accepts a request, and answers one, only when two bits of a shift register are set."""

    def construct(s, kind):
        s.inner = kind()
        s.istream = RecvIfcRTL(s.inner.istream.msg._dsl.Type)
        s.ostream = SendIfcRTL(s.inner.ostream.msg._dsl.Type)
        s.inner.istream.msg //= s.istream.msg
        s.inner.ostream.msg //= s.ostream.msg

        s.draw = Wire(16)  # maximal length: x^16 + x^14 + x^13 + x^11 + 1
        s.feedback = Wire()
        s.offered = Wire()

        @update
        def requests():
            s.inner.istream.val @= s.istream.val & s.draw[1]
            s.inner.ostream.rdy @= s.ostream.rdy & s.offered

        @update
        def answers():
            s.feedback @= s.draw[0] ^ s.draw[2] ^ s.draw[3] ^ s.draw[5]
            s.istream.rdy @= s.inner.istream.rdy & s.draw[1]
            s.ostream.val @= s.offered

        @update_ff
        def shift():
            if s.reset:
                s.draw <<= 0xACE1
                s.offered <<= 0
            else:
                s.draw <<= concat(s.feedback, s.draw[1:16])
                if s.offered:
                    s.offered <<= ~s.ostream.rdy
                else:
                    s.offered <<= s.inner.ostream.val & s.draw[4]

    def line_trace(s):
        return f"{s.istream}|{s.ostream}"


class SlowXcel(Slow):
    """The null accelerator with delays, for which the processor must wait."""

    def construct(s):
        super().construct(NullXcel)


class HidesHalt(Component):
    """A processor that hides its halt from the testbench, which then observes its behaviour afterwards."""

    def construct(s):
        processor_ports(s)

        s.system = ProcXcel(Proc, NullXcel)
        join_processor(s, s.system)

        @update
        def hide():
            s.commit @= s.system.commit
            s.commit.halt @= 0


@cache
def simulation(mul_latency=1, div_bits=2, xcel=NullXcel, backend="native", power_up_seed=None):
    """A simulation of a processor, shared by all tests of a process."""
    component = ProcXcel(partial(Proc, mul_latency, div_bits), xcel)
    return simulate_proc(component, backend, power_up_seed=power_up_seed)
