"""ScaledMontCL and ScaledModExpCL: the cycle-level twins of product unit and machine on a scaled modulus, and
their formulas.

A product:            L + 1 + (1 in carry-save form)                 L = 1 + ceil((nbits + 2) / w)
                      of a unit that fits the modulus, L = 1 + ceil((len + 2) / w) for the len bits of N, or
                      as many as it is given
An exponentiation:    max(wide / doublings, w / halvings) + given_cycles + wide / halvings
                      wide = w * L, 2w for w with quotient delay
with doublings and halvings a cycle, and given_cycles of timing.py for the ProgramExp between the two
converters (or the formula of what
stands there in its place); a bad operand costs 1 cycle in each of the first two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pymtl3 import *

from ..fl.mod_exp import operand_status
from ..fl.multipliers.montgomery import Montgomery
from ..fl.multipliers.scaled import ScaledMontgomery, ScaledShape
from ..fl.status import Status
from ..rtl.messages import mk_entered_req, mk_entered_resp, mk_modexp_resp, mk_product_req
from .mod_exp import ConvertedModExpCL
from .one_at_a_time import OneAtATimeCL
from .timing import Blocks


@dataclass(frozen=True)
class ScaledMontTiming(Blocks):
    """ScaledMont: a digit a cycle, whatever the operands; a block is a digit, and `mod` is N, not its
    multiple.
    """

    nbits: int
    digit_nbits: int = 16
    state: str = "propagate"
    fits: bool = False

    @property
    def _block(self) -> int:
        return self.digit_nbits

    def blocks_of(self, mod: int) -> int:
        """The digits of R; they are more than those of the modulus."""
        return ScaledShape(max(1, mod.bit_length()), self.digit_nbits).ndigits if self.fits else 1

    def product_cycles(self, nblocks: int) -> int:
        ndigits = nblocks if self.fits else ScaledShape(self.nbits, self.digit_nbits).ndigits
        return ndigits + (2 if self.state == "carry-save" else 1)


def scaled_in_cycles(
    shape: ScaledShape, doublings_per_cycle: int, halvings_per_cycle: int, base: int, mod: int
) -> int:
    """ScaledConvertIn: doublings to R, and halvings to M' beside them."""
    if operand_status(base, mod, odd_only=True, reduced_only=True) != Status.OK:
        return 1
    return max(shape.wide // doublings_per_cycle, shape.scale_nbits // halvings_per_cycle)


def scaled_out_cycles(shape: ScaledShape, halvings_per_cycle: int) -> int:
    """ScaledConvertOut: halvings by R."""
    return shape.wide // halvings_per_cycle


def scaled_mod_exp_cycles(
    core: Callable[[int, int], int],
    shape: ScaledShape,
    base: int,
    exp: int,
    mod: int,
    *,
    doublings_per_cycle: int = 4,
    halvings_per_cycle: int = 4,
) -> int:
    """Return the cycles of ScaledModExp: three units in series; `core(exp, status)` are those of the middle
    one.
    """
    status = operand_status(base, mod, odd_only=True, reduced_only=True)
    return (
        scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        + core(exp, status)
        + scaled_out_cycles(shape, halvings_per_cycle)
    )


def ScaledMontCL(nbits, digit_nbits=16, state="propagate", fits=None):
    """The twin of ScaledMont."""
    shape = ScaledShape(nbits, digit_nbits)
    Product = mk_bits(shape.wide)
    timing = ScaledMontTiming(nbits, digit_nbits, state, bool(fits))

    def serve(msg, m_prime, ndigits=shape.ndigits):
        # M = M' * 2^w - 1 is all that a product needs to know of N
        wide = ndigits * digit_nbits
        modulus = Montgomery((m_prime << digit_nbits) - 1, wide)
        product = int(msg.a) * int(msg.b)
        quotient = product * modulus.n_prime % modulus.r
        return Product((product + quotient * modulus.n) >> wide), timing.product_cycles(ndigits)

    most_blocks = shape.ndigits if fits else 0
    return OneAtATimeCL(mk_product_req(shape.wide), Product, serve, True, shape.wide, most_blocks=most_blocks)


def ScaledModExpCL(core, shape, doublings_per_cycle=4, halvings_per_cycle=4):
    """The twin of ScaledModExp; N goes along as the modulus."""
    nbits, wide = shape.nbits, shape.wide
    Entered, Left, Response = mk_entered_req(wide), mk_entered_resp(wide), mk_modexp_resp(nbits)

    def convert_in(msg, _):
        base, exp, mod = int(msg.base), int(msg.exp), int(msg.mod)
        status = operand_status(base, mod, odd_only=True, reduced_only=True)
        one = entered = 0
        if status == Status.OK:
            one, entered = (1 << wide) % mod, (base << wide) % mod
        cycles = scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        return Entered(int(status), one, entered, exp, mod), cycles

    def exponentiate(msg, _):
        status, exp, mod = int(msg.status), int(msg.exp), int(msg.mod)
        result = 0
        if status == Status.OK:
            scaled = ScaledMontgomery(mod, shape)
            result = scaled.enter(pow(scaled.leave(int(msg.base)), exp, mod))
        return Left(status, result, mod), core(exp, status)

    def convert_out(msg, _):
        result = 0
        if msg.status == Status.OK:
            result = ScaledMontgomery(int(msg.mod), shape).leave(int(msg.result))
        return Response(msg.status, result), scaled_out_cycles(shape, halvings_per_cycle)

    return ConvertedModExpCL(nbits, wide, convert_in, exponentiate, convert_out)
