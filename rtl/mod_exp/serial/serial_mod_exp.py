"""SerialModExp: paper 003's digit-serial RSA processor, from the right (Algorithm 17.1.2, Figures 17.1 and
17.2).

A memory section of digits (P, Z, 2B + N, N; R^2 mod N), the P-processor, which also makes 2B + N and the last
subtraction, and the Z-processor, which squares beside it; with processors = 1 the P-processor alone, which
makes both products in turn. The second factor B of both products is Z, so that 2B + N is made once; R^2 mod
N, R = 2^(K + 2), is an input, as in the paper.

A request is taken when its numbers are in the memories, M + 1 cycles after it is offered: the paper does not
count that either.

Ports: istream {base, exp, mod, square} -> ostream {status, result}; an odd modulus, a base below it. Cycles:
(len + 2) products of (2M + 2) + (K + 3) M, then M + (M + 1); modexlab.cl.digit_serial has the closed formula.
Area order: per processor an adder of S bits and 2K of U and A; 5K of memory, the exponent.
"""

from pymtl3 import *

from ...messages import declare_streams, mk_keyed_req, mk_modexp_resp
from ...units.serial.digit_memory import DigitMemory
from ...units.serial.digit_processor import DigitProcessor
from ...units.serial_ctrl import answer_if_ok, connect_checked
from ...wires import connect_words
from ..operand_check import check_operands
from .serial_mod_exp_ctrl import FINAL, FIRST, TURN_NBITS, SerialModExpCtrl


class SerialModExp(Component):
    def construct(s, shape, processors=2):
        nbits, S, M = shape.nbits, shape.digit_nbits, shape.ndigits
        declare_streams(s, mk_keyed_req(nbits, (("square", nbits),)), mk_modexp_resp(nbits))

        s.ctrl = SerialModExpCtrl(shape, processors)
        check_operands(s, nbits)
        connect_checked(s)
        s.istream.msg.exp //= s.ctrl.in_exp

        # ---- the digits of the request

        s.in_base, s.in_mod, s.in_square = ([Wire(S) for _ in range(M)] for _ in range(3))
        connect_words(s.istream.msg.base, s.in_base)
        connect_words(s.istream.msg.mod, s.in_mod)
        connect_words(s.istream.msg.square, s.in_square)

        # ---- memory section

        memories = [DigitMemory(M, S) for _ in range(5)]  # memory_sum: 2B + N, at last P - N
        s.memory_n, s.memory_p, s.memory_z, s.memory_sum, s.memory_square = memories
        for memory in memories:
            memory.index //= s.ctrl.index
            if memory is not s.memory_sum:
                memory.write_index //= s.ctrl.index

        s.turn = Wire(TURN_NBITS)
        s.turn //= s.ctrl.turn

        @update
        def loads():
            s.memory_n.write @= s.ctrl.loads
            s.memory_n.write_digit @= s.in_mod[s.ctrl.index]
            s.memory_square.write @= s.ctrl.loads
            s.memory_square.write_digit @= s.in_square[s.ctrl.index]

        s.p_processor = DigitProcessor(shape)
        s.u_p = Wire(S)
        s.u_p //= s.p_processor.u
        s.memory_sum.write //= s.p_processor.sum_val
        s.memory_sum.write_index //= s.p_processor.sum_index
        s.memory_sum.write_digit //= s.p_processor.sum

        s.factors(S)

        s.operands_of_p(S)

        # ---- the products for Z, side by side with those for P or in turn

        if processors == 2:
            s.z_beside_p(shape)

        else:
            s.both_in_turn(S)

        answer_if_ok(s, s.p_processor.a[0:nbits])

    def factors(s, S):
        """The factors: B is R^2 at first, 1 at last, Z in the loop, and doubled digit by digit."""
        s.b = Wire(S)
        s.unity = Wire(S)  # the digits of 1
        s.doubled = Wire(S)
        s.top_of_b = Wire()

        @update
        def factor_b():
            s.unity @= zext(s.ctrl.index == 0, S)
            s.b @= s.memory_z.digit
            if s.turn == FIRST:
                s.b @= s.memory_square.digit
            elif s.turn == FINAL:
                s.b @= s.unity

        @update
        def doubles():
            s.doubled @= (s.b << 1) | zext(s.top_of_b, S) if s.ctrl.index != 0 else s.b << 1

        TOP = S - 1

        @update_ff
        def crosses_digits():
            s.top_of_b <<= s.b[TOP]

    def z_beside_p(s, shape):
        """The processor that squares, and what the two read and write."""
        s.z_processor = DigitProcessor(shape, reduces=False)
        s.z_processor.index //= s.ctrl.index
        s.z_processor.first //= s.ctrl.first_step
        s.z_processor.fetch //= s.ctrl.adds
        s.z_processor.load_a //= s.ctrl.fills

        @update
        def both_processors():
            s.p_processor.fetch @= (s.ctrl.adds & s.ctrl.multiplies) | s.ctrl.doubles | s.ctrl.reduces
            s.p_processor.shift_a @= s.ctrl.adds & s.ctrl.ends
            s.p_processor.load_a @= s.ctrl.fills | s.ctrl.reads
            s.p_processor.a_digit @= s.result_digit if s.ctrl.reads else s.p_digit
            s.z_processor.shift_a @= s.ctrl.adds & s.ctrl.ends

        @update
        def factor_z():
            s.z_processor.a_digit @= s.memory_z.digit if s.turn == FIRST else s.z_processor.u

        @update
        def operand_of_z():
            s.z_processor.v @= 0
            if s.z_processor.a_bit & s.z_processor.u_bit:
                s.z_processor.v @= s.memory_sum.digit
            elif s.z_processor.a_bit:
                s.z_processor.v @= s.doubled
            elif s.z_processor.u_bit:
                s.z_processor.v @= s.memory_n.digit

        @update
        def results_of_both():
            s.memory_p.write @= s.ctrl.fills & s.ctrl.multiplied & (s.turn != FIRST)
            s.memory_p.write_digit @= s.u_p
            s.memory_z.write @= s.ctrl.loads | (s.ctrl.fills & (s.turn != FIRST))
            s.memory_z.write_digit @= s.in_base[s.ctrl.index] if s.ctrl.loads else s.z_processor.u

    def both_in_turn(s, S):
        """Products in turn: U holds P or Z, as the product before was; before the first one there is none."""
        s.z_digit = Wire(S)
        s.started = Wire()

        @update
        def one_processor():
            s.p_processor.fetch @= s.ctrl.adds | s.ctrl.doubles | s.ctrl.reduces
            s.p_processor.shift_a @= s.ctrl.adds & s.ctrl.ends
            s.p_processor.load_a @= s.ctrl.fills | s.ctrl.reads
            s.z_digit @= s.u_p if s.ctrl.squared & s.started else s.memory_z.digit
            s.p_processor.a_digit @= s.p_digit
            if s.ctrl.reads:
                s.p_processor.a_digit @= s.result_digit
            elif s.ctrl.squares:
                s.p_processor.a_digit @= s.z_digit

        @update
        def results_of_one():
            s.memory_p.write @= s.ctrl.fills & s.started & s.ctrl.multiplied
            s.memory_p.write_digit @= s.u_p
            s.memory_z.write @= s.ctrl.loads | (s.ctrl.fills & s.started & s.ctrl.squared)
            s.memory_z.write_digit @= s.in_base[s.ctrl.index] if s.ctrl.loads else s.u_p

        @update_ff
        def first_product():
            if s.ctrl.loads:
                s.started <<= 0
            elif s.ctrl.adds:
                s.started <<= 1

    def operands_of_p(s, S):
        """The factor P, its result, and the second operand of an addition."""
        s.p_digit = Wire(S)  # digit of the current P
        s.result_digit = Wire(S)
        s.below = Wire()  # P is below N

        @update
        def factor_p():
            s.p_digit @= s.u_p if s.ctrl.multiplied else s.memory_p.digit
            if s.turn == FIRST:
                s.p_digit @= s.unity

        @update
        def chooses_result():
            s.below @= ~s.p_processor.carry if s.ctrl.index == 0 else ~s.p_processor.kept_carry
            s.result_digit @= s.u_p if s.below else s.memory_sum.digit

        s.p_processor.index //= s.ctrl.index
        s.p_processor.first //= s.ctrl.first_step
        s.p_processor.from_other //= s.ctrl.doubles
        s.p_processor.other //= s.memory_n.digit
        s.p_processor.subtract //= s.ctrl.reduces
        s.p_processor.to_u //= s.ctrl.adds

        @update
        def operand_of_p():
            s.p_processor.v @= 0
            if s.ctrl.doubles:
                s.p_processor.v @= s.doubled
            elif s.ctrl.reduces:
                s.p_processor.v @= s.memory_n.digit
            elif s.p_processor.a_bit & s.p_processor.u_bit:
                s.p_processor.v @= s.memory_sum.digit
            elif s.p_processor.a_bit:
                s.p_processor.v @= s.doubled
            elif s.p_processor.u_bit:
                s.p_processor.v @= s.memory_n.digit

    def line_trace(s):
        return f"{s.istream}|{s.ctrl.line_trace()}|{s.p_processor.line_trace()}|{s.ostream}"
