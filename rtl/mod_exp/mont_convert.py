"""MontConvertIn and MontConvertOut: conversion into and out of Montgomery form by dedicated units (paper 001,
Figures 11 and 12). Both hold one operation at a time; `mk_unit(nbits)` makes a product unit.

MontConvertIn: R^2 mod n is the remainder of 2^(2 nbits), from a divider; two product units make base * R and
1 * R of it. Operands that cannot be computed go on with their status and without conversion. MontConvertOut:
the product of the result with 1. `gated`: the divider's registers and the operands have an enable alone, for
clock gates; otherwise a reset goes before it.

Ports: MontConvertIn has istream {base, exp, mod} -> ostream {status, one, base, exp, mod}; MontConvertOut has
istream {status, result, mod} -> ostream {status, result}. Cycles: in, divider + product, or 1 for a bad
operand; out, product. Area order: three units and a divider of 2n + 1 bits.
"""

from pymtl3 import *
from pymtl3.stdlib.basic_rtl import RegEn, RegEnRst

from ...fl.status import STATUS_NBITS
from ..messages import (
    answer_stays,
    declare_streams,
    mk_entered_req,
    mk_entered_resp,
    mk_modexp_req,
    mk_modexp_resp,
)
from ..states import states
from ..units.div_rem import AlignedDivRem
from .operand_check import check_operands


class MontConvertIn(Component):
    """Converts a base to Montgomery form with R^2 mod n from a divider (paper 001, Figure 11)."""

    def construct(s, nbits, mk_unit, gated=True):
        declare_streams(s, mk_modexp_req(nbits), mk_entered_req(nbits))

        s.st = Wire(2)
        s.operands = (RegEn if gated else RegEnRst)(mk_bits(STATUS_NBITS + 3 * nbits))
        s.mod = Wire(nbits)
        s.mod //= s.operands.out[0:nbits]
        s.handed_over = Wire()
        s.converted = Wire()
        s.leaves = Wire()

        check_operands(s, nbits)
        answer_stays(s)
        s.add_divider(nbits, gated)
        s.add_units(nbits, mk_unit)
        s.add_controller()

    def add_divider(s, nbits, gated):
        """The divider that computes R^2 mod n."""
        dividend_nbits = 2 * nbits + 1
        s.divider = AlignedDivRem(dividend_nbits, nbits, gated)
        s.divider.istream.msg.dividend //= mk_bits(dividend_nbits)(1 << (2 * nbits))
        s.divider.istream.msg.divisor //= s.istream.msg.mod

    def add_units(s, nbits, mk_unit):
        """The units of the products 1 * R^2 and base * R^2, whose results leave with the operands."""
        s.units = [mk_unit(nbits) for _ in range(2)]
        for unit in s.units:
            unit.modulus //= s.mod
            unit.istream.val //= s.handed_over
            unit.istream.msg.b //= s.divider.ostream.msg.remainder
            unit.ostream.rdy //= s.leaves
        s.units[0].istream.msg.a //= 1
        s.units[1].istream.msg.a //= s.operands.out[2 * nbits : 3 * nbits]
        s.ostream.msg.one //= s.units[0].ostream.msg
        s.ostream.msg.base //= s.units[1].ostream.msg
        s.ostream.msg.exp //= s.operands.out[nbits : 2 * nbits]
        s.ostream.msg.mod //= s.mod
        s.ostream.msg.status //= s.operands.out[3 * nbits : 3 * nbits + STATUS_NBITS]

    def add_controller(s):
        """The states, and the handshakes of the streams, the divider and the units."""
        IDLE, DIVIDE, MULTIPLY, BAD = states(s.st, IDLE=0, DIVIDE=1, MULTIPLY=2, BAD=3)

        @update
        def arrival():
            s.istream.rdy @= (s.st == IDLE) & s.divider.istream.rdy
            s.divider.istream.val @= (s.st == IDLE) & s.istream.val & (s.operand_check.status == 0)

        @update
        def hold_operands():
            s.operands.en @= s.istream.val & s.istream.rdy
            s.operands.in_ @= concat(
                s.operand_check.status, s.istream.msg.base, s.istream.msg.exp, s.istream.msg.mod
            )

        @update
        def both_units():
            s.divider.ostream.rdy @= s.units[0].istream.rdy & s.units[1].istream.rdy
            s.handed_over @= s.divider.ostream.val & s.units[0].istream.rdy & s.units[1].istream.rdy

        @update
        def departure():
            s.converted @= s.units[0].ostream.val & s.units[1].ostream.val
            s.ostream.val @= (s.st == BAD) | ((s.st == MULTIPLY) & s.converted)

        @update
        def let_go():
            s.leaves @= (s.st == MULTIPLY) & s.converted & s.ostream.rdy

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.divider.istream.val & s.divider.istream.rdy:
                    s.st <<= DIVIDE
                elif s.istream.val & s.istream.rdy:
                    s.st <<= BAD
            elif s.st == DIVIDE:
                if s.divider.ostream.val & s.divider.ostream.rdy:
                    s.st <<= MULTIPLY
            elif s.ostream.val & s.ostream.rdy:
                s.st <<= IDLE

    def line_trace(s):
        return f"{s.istream}|{'IDM!'[int(s.st)]}|{s.ostream}"


class ConvertOut(Component):
    """A unit that takes results out of a form, one at a time."""

    def hold(s, modulus):
        """The modulus of one operation must stay until its result has left."""
        s.busy = Wire()
        s.status = Wire(STATUS_NBITS)
        s.mod = Wire(modulus.get_type())
        s.next_mod = Wire(modulus.get_type())
        s.next_mod //= modulus
        answer_stays(s, "mod")
        s.assertions |= {"AnswersWhenBusy": "!ostream__val || busy"}

        @update
        def arrival():
            s.istream.rdy @= ~s.busy & s.unit.istream.rdy
            s.unit.istream.val @= ~s.busy & s.istream.val

        @update_ff
        def control():
            if s.reset:
                s.busy <<= 0
            elif s.istream.val & s.istream.rdy:
                s.busy <<= 1
            elif s.ostream.val & s.ostream.rdy:
                s.busy <<= 0
            if s.istream.val & s.istream.rdy:
                s.status <<= s.istream.msg.status
                s.mod <<= s.next_mod

    def line_trace(s):
        return f"{s.istream}|{'*' if s.busy else '.'}|{s.ostream}"


class MontConvertOut(ConvertOut):
    """Converts a result from Montgomery form by a product with 1 (paper 001, Figure 12)."""

    def construct(s, nbits, mk_unit):
        declare_streams(s, mk_entered_resp(nbits), mk_modexp_resp(nbits))

        s.hold(s.istream.msg.mod)
        s.unit = mk_unit(nbits)
        s.unit.modulus //= s.mod
        s.unit.istream.msg.a //= s.istream.msg.result
        s.unit.istream.msg.b //= 1
        s.unit.ostream.rdy //= s.ostream.rdy
        s.ostream.val //= s.unit.ostream.val
        s.ostream.msg.result //= s.unit.ostream.msg
        s.ostream.msg.status //= s.status
