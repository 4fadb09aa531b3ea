"""SerialModExpCtrl: the controller of a SerialModExp (serial_mod_exp.py), paper 003's MonExp_Controller and
MonPro_Controller.

    FREE      until a request comes; one that cannot be computed is answered at once
    LOAD      modulus, base and R^2 go into the memories, M cycles, at the end of which the request is taken
    FILL_A    a factor into register A, results of the product before into the memories: M cycles
    DOUBLE    2B + N: M cycles;  PAUSE: 2
    ADD       K + 3 additions of M cycles
    REDUCE    P - N: M cycles;  READ: the result into register A: M cycles;  DONE
A product is FILL_A to ADD. `turn` says which: FIRST (residues of base and 1), LOOP (a bit of the exponent,
from the right), FINAL.
One processor makes the two products of a turn one after the other (`squares`: the one that is Z's).
"""

from enum import IntEnum

from pymtl3 import *

from ....fl.status import STATUS_NBITS
from ...states import state_name, states
from ...units.serial_ctrl import accept_when_loaded, declare_handshakes

TURN_NBITS = 2
Turn = IntEnum("Turn", "FIRST LOOP FINAL", start=0)
FIRST, LOOP, FINAL = map(mk_bits(TURN_NBITS), Turn)
Phase = IntEnum("Phase", "FREE LOAD FILL_A DOUBLE PAUSE ADD REDUCE READ DONE", start=0)
FREE, LOAD, FILL_A, DOUBLE, PAUSE, ADD, REDUCE, READ, DONE = map(b4, Phase)


class SerialModExpCtrl(Component):
    """The controller of a digit-serial RSA processor (paper 003, MonExp_Controller and MonPro_Controller)."""

    def construct(s, shape, processors):
        nbits, M, nsteps = shape.nbits, shape.ndigits, shape.nsteps

        declare_handshakes(s, STATUS_NBITS)
        s.in_exp = InPort(nbits)
        s.index = OutPort(clog2(M))
        s.ends = OutPort()  # index is the last digit
        s.turn = OutPort(TURN_NBITS)
        s.loads, s.fills, s.doubles, s.adds, s.reduces, s.reads, s.first_step = (OutPort() for _ in range(7))
        s.multiplied = OutPort()  # the previous product was P's: U holds it

        s.st = Wire(4)
        states(s.st, **Phase.__members__)
        s.step = Wire(clog2(nsteps))
        s.last_step = Wire()
        s.accept = Wire()
        s.product_ends = Wire()
        s.exp = Wire(nbits)  # its current bit is the lowest
        s.exp_n = Wire(nbits)

        accept_when_loaded(s, FREE, LOAD, DONE)
        s.assertions = {"TurnIsKnown": f"st == FREE || st == LOAD || turn <= {int(FINAL)}"}
        s.phases(M, nsteps)
        s.counters()
        s.exponent()
        s.transitions()
        if processors == 2:
            s.turns_of_two()
        else:
            s.turns_of_one()

    def phases(s, M, nsteps):
        """One signal for each phase, and the ends of additions and products."""
        LAST_DIGIT, LAST_STEP = M - 1, nsteps - 1

        @update
        def phases():
            s.ends @= s.index == LAST_DIGIT
            s.loads @= s.st == LOAD
            s.fills @= s.st == FILL_A
            s.doubles @= s.st == DOUBLE
            s.adds @= s.st == ADD
            s.reduces @= s.st == REDUCE
            s.reads @= s.st == READ
            s.first_step @= s.adds & (s.step == 0)
            s.last_step @= s.step == LAST_STEP
            s.product_ends @= s.adds & s.ends & s.last_step

    def counters(s):
        """Digits, and the additions of a product."""

        @update_ff
        def count_digits():
            if (s.st == FREE) | (s.st == PAUSE) | s.ends:
                s.index <<= 0
            else:
                s.index <<= s.index + 1

        s.paused = Wire()

        @update_ff
        def count_steps():
            s.paused <<= s.st == PAUSE
            if s.st == PAUSE:
                s.step <<= 0
            elif s.adds & s.ends:
                s.step <<= s.step + 1

    def exponent(s):
        """The exponent's shift register."""
        s.shift = Wire()

        @update
        def next_exponent():
            s.exp_n @= s.exp
            if s.accept:
                s.exp_n @= s.in_exp
            elif s.shift:
                s.exp_n @= s.exp >> 1

        @update_ff
        def exponent():
            s.exp <<= s.exp_n

    def transitions(s):
        """The phase after this one."""

        @update_ff
        def state():
            if s.reset:
                s.st <<= FREE
            elif s.st == FREE:
                if s.istream_val:
                    s.st <<= DONE
                    if s.good:
                        s.st <<= LOAD
            elif s.st == DONE:
                if s.ostream_rdy:
                    s.st <<= FREE
            elif s.st == PAUSE:
                if s.paused:
                    s.st <<= ADD
            elif s.ends:
                if s.st == LOAD:
                    s.st <<= FILL_A
                elif s.st == FILL_A:
                    s.st <<= DOUBLE
                elif s.st == DOUBLE:
                    s.st <<= PAUSE
                elif s.st == ADD:
                    if s.last_step:
                        s.st <<= FILL_A
                        if s.turn == FINAL:
                            s.st <<= REDUCE
                elif s.st == REDUCE:
                    s.st <<= READ
                else:
                    s.st <<= DONE
            if s.accept:
                s.out_status <<= s.in_status

    def turns_of_two(s):
        """Turns of two processors side by side."""
        s.multiplies = OutPort()  # P's product is computed

        @update
        def two_processors():
            s.shift @= s.product_ends & (s.turn == LOOP)
            s.multiplies @= (s.turn != LOOP) | s.exp[0]

        @update_ff
        def turns_of_two():
            if s.accept:
                s.turn <<= FIRST
            elif s.product_ends:
                s.multiplied <<= s.multiplies
                s.turn <<= LOOP
                if s.exp_n == 0:
                    s.turn <<= FINAL

    def turns_of_one(s):
        """Turns of one processor: P's product, if there is one, then Z's; in the last turn P's alone."""
        s.squares = OutPort()
        s.squared = OutPort()  # the previous product was Z's

        @update
        def one_processor():
            s.shift @= s.product_ends & (s.turn == LOOP) & s.squares

        @update_ff
        def turns_of_one():
            if s.accept:
                s.turn <<= FIRST
                s.squares <<= 0
            elif s.product_ends:
                s.multiplied <<= ~s.squares
                s.squared <<= s.squares
                if ~s.squares:
                    s.squares <<= 1
                else:
                    s.turn <<= LOOP
                    s.squares <<= ~s.exp_n[0]
                    if s.exp_n == 0:
                        s.turn <<= FINAL
                        s.squares <<= 0

    def line_trace(s):
        return f"{state_name(s, s.st)} {int(s.step)}.{int(s.index)}"
