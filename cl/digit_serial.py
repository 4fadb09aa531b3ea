"""SerialModExpCL: the cycle-level twin of paper 003's digit-serial processor, and its formulas.

With M = ceil((K + 3) / S) digits:
    a product:          (2M + 2) + (K + 3) M
    an exponentiation:  (len + 2) products, with one processor 3 + len + ones of them, then M + (M + 1)
A request is taken M cycles after it has been seen: until then its numbers go into the memories.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..fl.digit_serial import SerialShape
from ..fl.mod_exp import mod_exp, operand_status
from ..fl.status import Status
from ..rtl.messages import mk_keyed_req, mk_modexp_resp
from .one_at_a_time import OneAtATimeCL


@dataclass(frozen=True)
class DigitSerialTiming:
    """A product, whatever the operands."""

    shape: SerialShape

    @property
    def fixed(self) -> int:
        return self.shape.product_cycles

    def latency(self, a: int = 0, b: int = 0, mod: int = 0) -> int:
        return self.fixed

    def pair(self, first: tuple[int, int] = (0, 0), second: tuple[int, int] = (0, 0), mod: int = 0) -> int:
        return 2 * self.fixed


def serial_products(processors: int, exp: int) -> int:
    """Products that follow one another."""
    length = exp.bit_length()
    return length + 2 if processors == 2 else length + exp.bit_count() + 3


def serial_mod_exp_cycles(shape: SerialShape, processors: int, base: int, exp: int, mod: int) -> int:
    """SerialModExp."""
    if operand_status(base, mod, odd_only=True, reduced_only=True) != Status.OK:
        return 1
    return serial_products(processors, exp) * shape.product_cycles + 2 * shape.ndigits + 1


def SerialModExpCL(shape, processors, given):
    """The twin of SerialModExp; what is given it makes itself."""
    Response = mk_modexp_resp(shape.nbits)

    def status_of(msg):
        return operand_status(int(msg.base), int(msg.mod), odd_only=True, reduced_only=True)

    def waits(msg):
        return shape.ndigits if status_of(msg) == Status.OK else 0

    def serve(msg, _):
        base, exp, mod = int(msg.base), int(msg.exp), int(msg.mod)
        status = status_of(msg)
        result = 0
        if status == Status.OK:
            result = mod_exp(base, exp, mod, domain="redundant", nbits=shape.nbits)
        return Response(int(status), result), serial_mod_exp_cycles(shape, processors, base, exp, mod)

    return OneAtATimeCL(mk_keyed_req(shape.nbits, given), Response, serve, False, waits=waits)
