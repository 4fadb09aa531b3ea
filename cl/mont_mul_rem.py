"""MontMulRemCL: the cycle-level model of MontMulRem, a ring of stages whose products move together.

A product enters the first stage with all bits of its factor to do. In each cycle it leaves its stage for the
next one with `steps_per_stage` AddReds done, and goes around until no bit is left after the last stage. No
number of cycles is given: they follow from the stages, and tests compare them with the formula and with RTL.

If pipelined, each stage may hold a product; otherwise the ring holds one. The whole ring stalls while a
finished product waits at the output. With `fits`, the port `nblocks` says how many bits a product takes.
"""

from pymtl3 import *

from ..fl.multipliers.bit_by_bit import add_reds, reduced
from ..rtl.messages import declare_product_ports


class MontMulRemCL(Component):
    # add_red: the form of an AddRed, as in RTL; here it changes nothing
    def construct(s, nbits, steps_per_stage=8, nstages=4, add_red="koc", pipelined=True, fits=None):
        declare_product_ports(s, nbits)
        nblocks = nbits // steps_per_stage
        s.nblocks = (InPort if fits else Wire)(clog2(nblocks + 1))
        if not fits:
            s.nblocks //= nblocks
        LAST = nstages - 1
        capacity = nstages if pipelined else 1

        # each stage: whether it holds a product, the bits of its factor that are to do, and the numbers
        s.valid = [Wire() for _ in range(nstages)]
        s.todo = [Wire(32) for _ in range(nstages)]
        s.state = [Wire(nbits + 1) for _ in range(nstages)]
        s.x = [Wire(nbits) for _ in range(nstages)]
        s.y = [Wire(nbits) for _ in range(nstages)]
        s.again = Wire()
        s.go = Wire()

        def passed(stage):
            """The state behind a stage."""
            state, x, y, n = map(int, (s.state[stage], s.x[stage], s.y[stage], s.modulus))
            return add_reds(state, x, y, n, steps_per_stage)

        @update
        def output():
            s.again @= s.valid[LAST] & (s.todo[LAST] > steps_per_stage)
            s.ostream.val @= s.valid[LAST] & (s.todo[LAST] <= steps_per_stage)
            if s.ostream.val:
                s.ostream.msg @= reduced(passed(LAST), int(s.modulus))

        @update
        def in_rdy():
            s.go @= ~s.ostream.val | s.ostream.rdy
            inside = sum(int(v) for v in s.valid)
            leaving = int(s.ostream.val & s.ostream.rdy)
            s.istream.rdy @= int(bool(s.go) and not s.again and inside - leaving < capacity)

        @update_ff
        def move():
            if s.reset:
                for valid in s.valid:
                    valid <<= 0
            elif s.go:
                for stage in range(nstages):
                    before = stage - 1 if stage else LAST
                    s.valid[stage] <<= s.valid[before] if stage else s.again
                    s.todo[stage] <<= s.todo[before] - steps_per_stage
                    s.x[stage] <<= s.x[before] >> steps_per_stage
                    s.y[stage] <<= s.y[before]
                    if s.valid[before]:
                        s.state[stage] <<= passed(before)
                if s.istream.val & s.istream.rdy:
                    s.valid[0] <<= 1
                    s.todo[0] <<= zext(s.nblocks, 32) * steps_per_stage
                    s.state[0] <<= 0
                    s.x[0] <<= s.istream.msg.a
                    s.y[0] <<= s.istream.msg.b

    def line_trace(s):
        return f"{s.istream}|{''.join('*' if v else '.' for v in s.valid)}|{s.ostream}"
