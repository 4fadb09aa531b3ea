"""FoldExpCtrl: the controller of a FoldExp (fold_exp.py), cycle by cycle.

IDLE      wait for a request; a request that cannot be computed is answered at once
SETUP     make the residues; in the last two cycles the base and 2^s enter, as products with 1
SQUARE    b * b; the bit of the exponent chooses the other factor of MULTIPLY, b or 1
MULTIPLY  r times that factor; SQUARE and MULTIPLY alternate for each bit of the exponent
FOLD      fold the last product
LOAD      load its sum into the chain
TAIL      divide it by the modulus, as many bits a cycle as residues are doubled
DONE      the answer is offered

`making` is 1 from the request on until all residues are there; `writes` says which cycle of it this is.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS
from ..states import states
from ..units.serial_ctrl import OK, declare_handshakes

ST_NBITS = 3
IDLE, SETUP, SQUARE, MULTIPLY, FOLD, LOAD, TAIL, DONE = map(b3, range(8))


class FoldExpCtrl(Component):
    def construct(s, shape):
        LAST_MADE = shape.made_by(shape.residues)
        LAST_SETUP = shape.lead_cycles - 1
        ENTER = LAST_SETUP - 1
        LAST_TAIL = shape.tail_cycles - 1
        count_nbits = clog2(max(LAST_MADE, LAST_SETUP, LAST_TAIL) + 2)

        declare_handshakes(s, STATUS_NBITS)
        s.exp_ends = InPort()  # the current exponent bit is the last one

        s.idle = OutPort()
        s.accept = OutPort()
        s.making = OutPort()
        s.writes = OutPort(LAST_MADE + 1)
        s.enter = OutPort()  # the product has 1 as a factor
        s.enter_base = OutPort()
        s.hold = OutPort()
        s.square = OutPort()
        s.load = OutPort()
        s.tail = OutPort()

        s.st = Wire(ST_NBITS)
        s.next_st = Wire(ST_NBITS)
        states(s.st, s.next_st, IDLE=0, SETUP=1, SQUARE=2, MULTIPLY=3, FOLD=4, LOAD=5, TAIL=6, DONE=7)
        s.count = Wire(count_nbits)
        s.ends = Wire()  # the exponent bit of MULTIPLY is the last one

        @update
        def outputs():
            s.idle @= s.st == IDLE
            s.istream_rdy @= s.idle
            s.accept @= s.istream_val & s.idle
            s.ostream_val @= s.st == DONE
            s.enter_base @= (s.st == SETUP) & (s.count == ENTER)
            s.enter @= (s.st == SETUP) & ((s.count == ENTER) | (s.count == LAST_SETUP))
            s.hold @= (s.st == SETUP) & (s.count != ENTER) & (s.count != LAST_SETUP)
            s.square @= (s.st == SQUARE) & ~s.reset
            s.load @= s.st == LOAD
            s.tail @= s.st == TAIL
            for k in range(LAST_MADE + 1):
                s.writes[k] @= s.making & (s.count == k)

        s.assertions = {
            "OneWrite": "(writes & (writes - 1)) == 0",
            "OneStep": "32'(enter) + 32'(hold) + 32'(square) + 32'(load) + 32'(tail) <= 1",
        }
        s.transitions(LAST_SETUP, LAST_TAIL)
        s.add_registers(LAST_MADE)

    def add_registers(s, LAST_MADE):
        """The state, the counter of its cycles, and the status of the request."""

        @update_ff
        def registers():
            if s.reset:
                s.st <<= IDLE
                s.making <<= 0
            else:
                s.st <<= s.next_st
                if s.accept:
                    s.making <<= s.in_status == OK
                elif s.count == LAST_MADE:
                    s.making <<= 0
            if s.idle | s.load:
                s.count <<= 0
            elif (s.st == SETUP) | s.making | s.tail:
                s.count <<= s.count + 1
            if s.square:
                s.ends <<= s.exp_ends
            if s.accept:
                s.out_status <<= s.in_status

    def transitions(s, LAST_SETUP, LAST_TAIL):
        """The state after this one."""

        @update
        def next_state():
            s.next_st @= s.st
            if s.st == IDLE:
                if s.istream_val:
                    s.next_st @= SETUP
                    if s.in_status != OK:
                        s.next_st @= DONE
            elif s.st == SETUP:
                if s.count == LAST_SETUP:
                    s.next_st @= SQUARE
            elif s.st == SQUARE:
                s.next_st @= MULTIPLY
            elif s.st == MULTIPLY:
                s.next_st @= SQUARE
                if s.ends:
                    s.next_st @= FOLD
            elif s.st == FOLD:
                s.next_st @= LOAD
            elif s.st == LOAD:
                s.next_st @= TAIL
            elif s.st == TAIL:
                if s.count == LAST_TAIL:
                    s.next_st @= DONE
            elif s.ostream_rdy:
                s.next_st @= IDLE

    def line_trace(s):
        return f"{int(s.st)}:{int(s.count):2d}"
