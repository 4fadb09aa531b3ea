"""HeapMontCL: the cycle-level twin of HeapMont, and its formula.

latency of a product:  loads + adds + L + d          d: quotient delay, L = d + 1 + ceil((nbits + 2) / w)
interval:              the same, or with two streams max(loads, adds) + L + d

"""

from dataclasses import dataclass

from pymtl3 import *

from ..fl.multipliers.montgomery import Montgomery
from ..fl.multipliers.scaled import ScaledShape
from ..rtl.messages import declare_product_ports
from .one_at_a_time import product_cl
from .timing import NONE, Factors, UnitTiming


@dataclass(frozen=True)
class HeapMontTiming(UnitTiming):
    """HeapMont: one digit per cycle, whatever the operands."""

    nbits: int
    digit_nbits: int = 16
    quotient_delay: int = 0
    streams: int = 1
    loads: int = 1
    adds: int = 1

    @property
    def shape(self) -> ScaledShape:
        return ScaledShape(self.nbits, self.digit_nbits, self.quotient_delay)

    @property
    def steps(self) -> int:
        """The number of steps of a product."""
        return self.shape.ndigits + 1 + self.quotient_delay

    def product_cycles(self, nblocks: int = 1) -> int:
        return self.loads - 1 + self.steps + self.adds

    def interval(self) -> int:
        """Cycles from one product to the next independent one."""
        if self.streams == 1:
            return self.product_cycles()
        return self.steps + max(self.loads, self.adds) - 1

    def pair(self, first: Factors = NONE, second: Factors = NONE, mod: int = 0) -> int:
        """The second product starts as the first one leaves, or during the final addition of the first."""
        return self.latency(mod=mod) + self.interval()


def HeapMontCL(nbits, digit_nbits=16, rows="radix-4", quotient_delay=0, streams=1, loads=1, adds=1):
    """The twin of HeapMont; the cycles do not depend on the kind of rows."""
    timing = HeapMontTiming(nbits, digit_nbits, quotient_delay, streams, loads, adds)
    shape = timing.shape

    def product(a, b, m_prime):
        # a product depends on N only through M = M' * 2^(ones of M) - 1
        return Montgomery((m_prime << shape.scale_nbits) - 1, shape.ndigits * digit_nbits).unreduced(a, b)

    if streams == 2:
        return TwoStreamsCL(shape.wide, product, timing)
    return product_cl(shape.wide, timing, product)


class TwoStreamsCL(Component):
    """A unit with two streams: it accepts the next product in the last step of the current one, and starts
    its first step when the pair of the current one has been read.
    """

    def construct(s, wide, product, timing):
        declare_product_ports(s, wide)

        s.running = Wire()
        s.loads = Wire(32)  # cycles before the first step
        s.steps = Wire(32)  # remaining steps
        s.first = Wire()
        s.answer = Wire(wide)  # of the product in progress
        s.adding = Wire()
        s.left = Wire(32)  # cycles until the sum is available
        s.sum = Wire(wide)
        s.goes = Wire()
        s.ends = Wire()
        s.ostream.msg //= s.sum

        @update
        def out_val():
            s.ostream.val @= s.adding & (s.left == 0)

        @update
        def step():
            waits = s.first & s.adding & ~(s.ostream.val & s.ostream.rdy)
            s.goes @= s.running & (s.loads == 0) & ~waits
            s.ends @= s.goes & (s.steps == 1)

        @update
        def in_rdy():
            s.istream.rdy @= ~s.running | s.ends

        @update_ff
        def work():
            if s.reset:
                s.running <<= 0
                s.adding <<= 0
            else:
                if s.goes:
                    s.steps <<= s.steps - 1
                    s.first <<= 0
                elif s.running & (s.loads != 0):
                    s.loads <<= s.loads - 1
                if s.ends:
                    s.running <<= 0
                    s.adding <<= 1
                    s.left <<= timing.adds - 1
                    s.sum <<= s.answer
                elif s.adding & (s.left != 0):
                    s.left <<= s.left - 1
                elif s.ostream.rdy:
                    s.adding <<= 0
                if s.istream.val & s.istream.rdy:
                    s.answer <<= product(int(s.istream.msg.a), int(s.istream.msg.b), int(s.modulus))
                    s.steps <<= timing.steps
                    s.loads <<= timing.loads - 1
                    s.first <<= 1
                    s.running <<= 1

    def line_trace(s):
        return f"{s.istream}({int(s.steps) if s.running else ''}{'+' if s.adding else ''}){s.ostream}"
