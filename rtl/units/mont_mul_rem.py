"""MontMulRem: the Montgomery product a * b / 2^nbits mod n, radix 2, from chained AddRed steps.

Paper 001, Algorithm 4 and Figure 9; the form of the step is a parameter, `add_red`. `nstages` pipeline stages
of `steps_per_stage` AddReds each. When nstages * steps_per_stage = nbits, the loop over the bits of a is
fully unrolled, as in the paper (32 bits: 4 x 8). With fewer steps in hardware than bits, the stages form a
ring and a product goes around nbits / (nstages * steps_per_stage) times.

Ports: istream {a, b} -> ostream; `modulus` odd, static while the unit is busy; b < modulus (a may be any
word). Cycles: nbits / steps_per_stage, whatever the operands. `pipelined`: every stage has its own operands,
so up to nstages products are under way and an unrolled unit takes a new one every cycle. Not pipelined: one
product at a time, operands registered once; the next one is taken in the cycle in which a result leaves.
`fits` (one stage): `nblocks`, 1 to nbits / steps_per_stage, static as the modulus is, are the passes of a
product, of steps_per_stage bits of a each. It is a * b / 2^(nblocks * steps_per_stage) mod n, a without the
bits above, in nblocks cycles, whatever the operands. The registers of a stage take only what a product leaves
behind them. `gated`: that enable is all that a stage's state has, so that synthesis gates the clock of an
idle stage. Not `gated`, as in paper 001's RTL: a synchronous reset goes before the enable, which Yosys' clock
gating leaves alone, and the states are clocked in every cycle. (Operands have no reset and are gated either
way, as there.) Area order: nstages * steps_per_stage AddReds, and 3n register bits a stage (pipelined) or 2n
+ n a stage.
"""

from pymtl3 import *

from ..messages import declare_product_ports
from .add_red import ADD_REDS, Resolve
from .cond_sub import CondSub


class MontMulRem(Component):
    UNREAD = (("nblocks", "there is one pass, which every product takes"),)

    # fits: None, not False, so that a unit without it is described as one that knows nothing of it
    def construct(
        s, nbits, steps_per_stage=8, nstages=4, add_red="koc", pipelined=True, gated=True, fits=None
    ):
        declare_product_ports(s, nbits)

        AddRed = ADD_REDS[add_red]
        state_nbits = AddRed.WORDS * (nbits + 1)
        nsteps = nstages * steps_per_stage
        npasses = nbits // nsteps
        assert npasses * nsteps == nbits
        ncopies = nstages if pipelined else 1  # of the operands
        if fits:
            assert nstages == 1
            s.nblocks = InPort(clog2(npasses + 1))

        s.valid = [Wire() for _ in range(nstages)]
        s.a = [Wire(nbits) for _ in range(ncopies)]
        s.b = [Wire(nbits) for _ in range(ncopies)]
        s.state = [Wire(state_nbits) for _ in range(nstages)]
        s.stage_out = [Wire(state_nbits) for _ in range(nstages)]

        s.steps = [AddRed(nbits) for _ in range(nsteps)]  # a chain, each step with a bit of a
        s.connect_steps(steps_per_stage, pipelined)
        s.add_reduction(nbits, AddRed)
        factor = f"b[{nstages - 1}]" if ncopies > 1 else "b"
        s.assertions = {
            "ProductBelowModulus": f"!ostream__val || {factor} >= modulus || ostream__msg < modulus"
        }

        s.turns(nstages, npasses, fits)
        s.handshakes(nstages, pipelined)
        s.registers(nsteps, nstages, ncopies, gated)

    def connect_steps(s, steps_per_stage, pipelined):
        """The chain of AddReds, cut into stages by the registers of the state."""
        for i, step in enumerate(s.steps):
            stage, first = i // steps_per_stage, i % steps_per_stage == 0
            copy = stage if pipelined else 0
            step.state //= s.state[stage] if first else s.steps[i - 1].out
            step.x_i //= s.a[copy][i]
            step.y //= s.b[copy]
            step.n //= s.modulus
            if i % steps_per_stage == steps_per_stage - 1:
                s.stage_out[stage] //= step.out

    def add_reduction(s, nbits, AddRed):
        """The subtraction behind the last stage; a pair of words is added up first."""
        s.reduction = CondSub(nbits)  # the last state, below n
        s.reduction.n //= s.modulus
        if AddRed.WORDS == 1:
            s.reduction.value //= s.stage_out[-1]
        else:
            s.resolve = Resolve(nbits)
            s.resolve.state //= s.stage_out[-1]
            s.reduction.value //= s.resolve.value
        s.ostream.msg //= s.reduction.out

    def handshakes(s, nstages, pipelined):
        """A request enters the first stage, and a product leaves the last one."""
        LAST = nstages - 1

        @update
        def out_val():
            s.ostream.val @= s.valid[LAST] & ~s.again

        @update
        def advance():
            s.go @= ~s.ostream.val | s.ostream.rdy

        alone = nstages > 1 and not pipelined  # one product in all stages
        s.occupied = Wire(nstages)
        if alone:
            for i, valid in enumerate(s.valid):
                s.occupied[i] //= valid

        @update
        def in_rdy():
            if alone:
                s.istream.rdy @= (s.occupied == 0) | (s.ostream.val & s.ostream.rdy)
            else:
                s.istream.rdy @= s.go & ~s.again

        @update_ff
        def control():
            if s.reset:
                for i in range(nstages):
                    s.valid[i] <<= 0
            elif s.go:
                s.valid[0] <<= s.again | (s.istream.val & s.istream.rdy)
                for i in range(LAST):
                    s.valid[i + 1] <<= s.valid[i]

    def registers(s, nsteps, nstages, ncopies, gated):
        """States take what a product leaves behind; operands move along with it."""
        LAST, LAST_COPY = nstages - 1, ncopies - 1
        clears = not gated

        @update_ff
        def states():
            if clears & s.reset:
                s.state[0] <<= 0
            elif s.go & (s.again | s.istream.val):
                s.state[0] <<= 0
                if s.again:
                    s.state[0] <<= s.stage_out[LAST]
            for i in range(LAST):
                if clears & s.reset:
                    s.state[i + 1] <<= 0
                elif s.go & s.valid[i]:
                    s.state[i + 1] <<= s.stage_out[i]

        @update_ff
        def operands():
            if s.istream.val & s.istream.rdy:
                s.a[0] <<= s.istream.msg.a
                s.b[0] <<= s.istream.msg.b
            elif s.again:
                s.a[0] <<= s.a[LAST_COPY] >> nsteps
                s.b[0] <<= s.b[LAST_COPY]
            for i in range(LAST_COPY):
                if s.go & s.valid[i]:
                    s.a[i + 1] <<= s.a[i]
                    s.b[i + 1] <<= s.b[i]

    def turns(s, nstages, npasses, fits):
        """A product in the last stage leaves, or goes around again."""
        LAST = nstages - 1
        s.again = Wire()
        s.go = Wire()
        if npasses == 1:
            s.again //= 0
        else:
            turn_nbits = clog2(npasses + 1) if fits else clog2(npasses)
            s.turn = [Wire(turn_nbits) for _ in range(nstages)]

            s.last_pass = Wire(turn_nbits)
            if fits:

                @update
                def last_pass_of_blocks():
                    s.last_pass @= s.nblocks - 1

            else:
                s.last_pass //= npasses - 1

            @update
            def goes_around():
                s.again @= s.valid[LAST] & (s.turn[LAST] != s.last_pass)

            @update_ff
            def count_turns():
                if s.go:
                    s.turn[0] <<= 0
                    if s.again:
                        s.turn[0] <<= s.turn[LAST] + 1
                    for i in range(LAST):
                        s.turn[i + 1] <<= s.turn[i]

    def line_trace(s):
        return f"{s.istream}|{''.join('*' if v else '.' for v in s.valid)}|{s.ostream}"
