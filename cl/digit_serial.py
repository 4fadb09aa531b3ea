"""SerialModExpCL and SerialExpCL: cycle-level twins of paper 003's digit-serial processor and of ours, with
their formulas.

With M = ceil((K + 3) / S) digits:
    a product:          (2M + 2) + (K + 3) M
    an exponentiation:  (len + 2) products, with one processor 3 + len + ones of them, then M + (M + 1)
A request is taken M cycles after it has been seen: until then its numbers go into the memories.

Our own (fl/multipliers/scaled_serial.py), with M words, G of which hold the digits of a factor, and s
squarings:
    a product:          P = G + (L + 1) M
    an exponentiation:  k + M + doublings (M + 2) + (s + 3 + 2 len) P + 1 + (M + 2) + 2 (M + 2) + M + 1
"""

from __future__ import annotations

from ..fl.mod_exp import mod_exp, operand_status
from ..fl.multipliers.digit_serial import SerialShape
from ..fl.multipliers.scaled_serial import ScaledSerialShape
from ..fl.status import Status
from ..rtl.messages import mk_keyed_req, mk_modexp_req, mk_modexp_resp
from .one_at_a_time import OneAtATimeCL


def serial_products(processors: int, exp: int) -> int:
    """Products that follow one another."""
    length = exp.bit_length()
    return length + 2 if processors == 2 else length + exp.bit_count() + 3


def serial_mod_exp_cycles(shape: SerialShape, processors: int, base: int, exp: int, mod: int) -> int:
    """SerialModExp."""
    if operand_status(base, mod, odd_only=True, reduced_only=True) != Status.OK:
        return 1
    return serial_products(processors, exp) * shape.product_cycles + 2 * shape.ndigits + 1


def serial_exp_products(shape: ScaledSerialShape, exp: int) -> int:
    """Squarings to R^2, two into the domain, two for each bit, and one out of it."""
    return shape.squarings + 3 + 2 * exp.bit_length()


def serial_exp_cycles(shape: ScaledSerialShape, base: int, exp: int, mod: int) -> int:
    """SerialExp."""
    if operand_status(base, mod, odd_only=True, reduced_only=True) != Status.OK:
        return 1
    words = shape.nwords
    set_up = shape.digit_nbits + words + shape.doublings * (words + 2)
    way_out = 1 + 3 * (words + 2) + words + 1
    return set_up + serial_exp_products(shape, exp) * shape.product_cycles + way_out


def loaded_cl(Request, nbits, nloads, serve):
    """A machine that takes a request of good operands when its numbers are in the memories."""

    def status_of(msg):
        return operand_status(int(msg.base), int(msg.mod), odd_only=True, reduced_only=True)

    def waits(msg):
        return nloads if status_of(msg) == Status.OK else 0

    Response = mk_modexp_resp(nbits)

    def answer(msg, _):
        status = status_of(msg)
        operands = int(msg.base), int(msg.exp), int(msg.mod)
        result, cycles = serve(status, *operands)
        return Response(int(status), result), cycles

    return OneAtATimeCL(Request, Response, answer, False, waits=waits)


def SerialModExpCL(shape, processors, given):
    """The twin of SerialModExp; what is given it makes itself."""

    def serve(status, base, exp, mod):
        good = status == Status.OK
        result = mod_exp(base, exp, mod, domain="redundant", nbits=shape.nbits) if good else 0
        return result, serial_mod_exp_cycles(shape, processors, base, exp, mod)

    return loaded_cl(mk_keyed_req(shape.nbits, given), shape.nbits, shape.ndigits, serve)


def SerialExpCL(shape):
    """The twin of SerialExp."""

    def serve(status, base, exp, mod):
        result = mod_exp(base, exp, mod, schedule="always") if status == Status.OK else 0
        return result, serial_exp_cycles(shape, base, exp, mod)

    return loaded_cl(mk_modexp_req(shape.nbits), shape.nbits, shape.nwords, serve)
