"""HeapMontCL: the cycle-level model of HeapMont, and its formula.

latency of a product:  loads + adds + L + d          d: quotient delay, L = d + 1 + ceil((nbits + 2) / w)
interval:              the same, or with two streams max(loads, adds) + L + d

The model has no number of steps: its digits give them.
"""

from dataclasses import dataclass
from types import SimpleNamespace

from pymtl3 import *

from ..fl.multipliers.scaled import ScaledShape, first_state
from ..rtl.messages import declare_product_ports
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


class HeapMontCL(Component):
    """The model of HeapMont. A product is digits that a step each takes, until none is left; then the pair in
    the state is added up. The first step of the next product waits until the pair has left.

    With one stream, a product is accepted when the state is free, with two streams already in the last step
    of the one before. The cycles do not depend on the kind of rows.
    """

    def construct(s, nbits, digit_nbits=16, rows="radix-4", quotient_delay=0, streams=1, loads=1, adds=1):
        shape = ScaledShape(nbits, digit_nbits, quotient_delay)
        declare_product_ports(s, shape.wide)
        s.memory = memory = SimpleNamespace(digits=[], b=0, m_prime=0, state=first_state(shape))

        s.running, s.adding = Wire(), Wire()
        s.loading = Wire(32)  # cycles until the first step
        s.left = Wire(32)  # digits
        s.summing = Wire(32)  # cycles until the sum is there
        s.sum = Wire(shape.wide)
        s.leaves, s.goes, s.ends = Wire(), Wire(), Wire()
        s.ostream.msg //= s.sum

        @update
        def out_val():
            s.ostream.val @= s.adding & (s.summing == 0)

        @update
        def step():
            s.leaves @= s.ostream.val & s.ostream.rdy
            s.goes @= s.running & (s.loading == 0) & (~s.adding | s.leaves)
            s.ends @= s.goes & (s.left == 1)

        @update
        def in_rdy():
            s.istream.rdy @= ~s.running | s.ends if streams == 2 else ~s.running & (~s.adding | s.leaves)

        @update_ff
        def steps():
            if s.goes:
                digit = memory.digits.pop(0)
                memory.state = memory.state.step(shape, digit, memory.b, memory.m_prime)
                s.left <<= len(memory.digits)
            if s.ends:
                s.sum <<= memory.state.product(shape)
            if s.istream.val & s.istream.rdy:
                # a digit 0 at the end, and as many more as the quotient is delayed
                memory.digits = [*shape.words(int(s.istream.msg.a)), *[0] * (1 + quotient_delay)]
                memory.b, memory.m_prime = int(s.istream.msg.b), int(s.modulus)
                memory.state = first_state(shape)
                s.left <<= len(memory.digits)

        @update_ff
        def phases():
            if s.reset:
                s.running <<= 0
                s.adding <<= 0
            else:
                s.running <<= (s.istream.val & s.istream.rdy) | (s.running & ~s.ends)
                s.adding <<= s.ends | (s.adding & ~s.leaves)
                s.loading <<= s.loading - 1 if s.running & (s.loading != 0) else s.loading
                s.summing <<= s.summing - 1 if s.adding & (s.summing != 0) else s.summing
                if s.ends:
                    s.summing <<= adds - 1
                if s.istream.val & s.istream.rdy:
                    s.loading <<= loads - 1

    def line_trace(s):
        return f"{s.istream}({int(s.left) if s.running else ''}{'+' if s.adding else ''}){s.ostream}"
