"""ModDouble: x * 2^doublings mod n by doubling and conditional subtraction, with no multiplier and no divider.

Each doubling is one shift and one CondSub; `per_cycle` of them are chained. It is how a Montgomery machine gets
its constants: R mod n or b*R mod n (doublings = nbits), or 2^k * R mod n, which k-fold squaring takes to R^2.

Ports: istream x (below n) -> ostream; `modulus` is static while the unit is busy.
Cycles: doublings / per_cycle, whatever the operands. Area order: per_cycle subtractors, one register of n bits.
Takes the next operand in the cycle in which its result is taken.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from .cond_sub import CondSub


class ModDouble(Component):
    def construct(s, nbits, doublings, per_cycle):
        s.istream = RecvIfcRTL(mk_bits(nbits))
        s.ostream = SendIfcRTL(mk_bits(nbits))
        s.modulus = InPort(nbits)

        ncycles = doublings // per_cycle
        assert ncycles * per_cycle == doublings
        LAST = ncycles - 1
        s.busy = Wire(1)
        s.count = Wire(max(1, clog2(ncycles)))
        s.x = Wire(nbits)

        s.steps = [CondSub(nbits) for _ in range(per_cycle)]
        for i, step in enumerate(s.steps):
            step.value[0] //= 0
            step.value[1 : nbits + 1] //= s.x if i == 0 else s.steps[i - 1].out
            step.n //= s.modulus
        s.ostream.msg //= s.steps[per_cycle - 1].out

        @update
        def out_val():
            s.ostream.val @= s.busy & (s.count == LAST)

        @update
        def in_rdy():
            s.istream.rdy @= ~s.busy | (s.ostream.val & s.ostream.rdy)

        @update_ff
        def control():
            if s.reset:
                s.busy <<= 0
            elif s.istream.val & s.istream.rdy:
                s.busy <<= 1
            elif s.ostream.val & s.ostream.rdy:
                s.busy <<= 0

        @update_ff
        def data():
            if s.istream.val & s.istream.rdy:
                s.x <<= s.istream.msg
                s.count <<= 0
            elif s.busy & ~s.ostream.val:
                s.x <<= s.ostream.msg
                s.count <<= s.count + 1

    def line_trace(s):
        return f"{s.istream}({s.count})" + f"{s.ostream}"
