"""ScaledModExpCL: the cycle-level model of ScaledModExp, and its formula.

The model has the three units of the machine, each with one operation: doublings and halvings, a wavefront on
the scaled modulus (systolic.py), and halvings.

The cycles of the formula are max(wide / doublings, w / halvings) + those of SystolicExp + wide / halvings,
with the numbers of doublings and halvings per cycle and wide = w * L. An invalid operand takes 1 cycle in
each of the first two units.
"""

from pymtl3 import *

from ..fl.multipliers.bit_by_bit import reduced
from ..fl.multipliers.scaled import ScaledShape, word_step
from ..fl.status import STATUS_NBITS, Status
from ..fl.words import number_of
from ..rtl.messages import (
    connect_in_series,
    declare_streams,
    mk_message,
    mk_modexp_req,
    mk_modexp_resp,
    trace_conversions,
)
from .mod_exp import doublings
from .one_at_a_time import OneAtATimeCL, counted, together
from .systolic import Wavefront, alignment, bits_of, into, shifted_at_once, systolic_exp_cycles
from .timing import montgomery_status


def scaled_in_cycles(
    shape: ScaledShape, doublings_per_cycle: int, halvings_per_cycle: int, base: int, mod: int
) -> int:
    """Cycles of ScaledConvertIn: doublings to R, and halvings to M' in parallel."""
    if montgomery_status(base, mod):
        return 1
    return max(shape.wide // doublings_per_cycle, shape.scale_nbits // halvings_per_cycle)


def scaled_mod_exp_cycles(
    shape: ScaledShape,
    base: int,
    exp: int,
    mod: int,
    *,
    doublings_per_cycle: int,
    halvings_per_cycle: int,
) -> int:
    """Cycles of ScaledModExp: three units in series, the last of which divides by R by halvings."""
    return (
        scaled_in_cycles(shape, doublings_per_cycle, halvings_per_cycle, base, mod)
        + systolic_exp_cycles(shape, exp, montgomery_status(base, mod))
        + shape.wide // halvings_per_cycle
    )


# ---- the model


def scaled_product(shape, row, x, y, m_prime, store):
    """The cycles of a product: two for each digit of x, and for a digit 0 after them. The next product begins
    directly after it, on words that come from the elements meanwhile. `store` gets each word and its index.
    """
    s = [0] * (shape.ndigits + 1)

    def leave(last_step):
        for j in last_step:
            if j:
                store(j - 1, s[j - 1])
            yield
        store(j, s[j])

    for i in range(shape.ndigits + 1):
        q = s[0]
        yield  # the first element multiplies q, and digit x_i arrives
        digit = x[i] if i < shape.ndigits else 0
        added = word_step(shape, s, q, m_prime, digit, y)
        row.enter(added if i < shape.ndigits else leave(added))
        yield  # the first element adds


def scaled_power(shape, one, base, exp, m_prime):
    """The work of SystolicExp: a square and a product for each bit."""
    power, x, m = map(shape.words, (one, base, m_prime))
    row = Wavefront()

    def control():
        zeros = shape.nbits - exp.bit_length()
        yield from alignment(zeros, shifted_at_once(shape.nbits, shape.digit_nbits))
        for bit in bits_of(exp):
            yield from scaled_product(shape, row, power, power, m, into(power))
            yield from scaled_product(shape, row, x, power, m, into(power if bit else None))

    yield  # the operands are stored
    yield from row.run(control())
    return number_of(power, shape.digit_nbits)


def halvings(x, n, count, per_cycle):
    """x / 2^count mod n, below n if x is; otherwise below x / 2^count + n."""
    for _ in range(count // per_cycle):
        for _ in range(per_cycle):
            x = (x + (x & 1) * n) >> 1
        yield
    return x


class ScaledModExpCL(Component):
    """The model of ScaledModExp: conversion, exponentiation, and conversion back. The modulus N goes along
    with an operation.
    """

    def construct(s, shape, doublings_per_cycle, halvings_per_cycle):
        nbits, wide = shape.nbits, shape.wide
        Request, Response = mk_modexp_req(nbits), mk_modexp_resp(nbits)
        words = (("status", STATUS_NBITS), ("one", wide), ("base", wide), ("exp", nbits))
        residues = (("m_prime", nbits), ("mod", nbits))
        Entered = mk_message(f"ScaledReq_{nbits}_{wide}", (*words, *residues))
        result = (("status", STATUS_NBITS), ("result", wide), ("mod", nbits))
        Power = mk_message(f"ScaledResp_{nbits}_{wide}", result)

        def convert_in(msg, _):
            base, mod = int(msg.base), int(msg.mod)
            if status := montgomery_status(base, mod):
                return Entered(int(status), 0, 0, msg.exp, 0, mod), 1
            numbers, cycles = counted(
                together(
                    doublings(int(mod != 1), mod, wide, doublings_per_cycle),
                    doublings(base, mod, wide, doublings_per_cycle),
                    halvings(1, mod, shape.scale_nbits, halvings_per_cycle),
                )
            )
            one, base, m_prime = numbers
            return Entered(int(status), one, base, msg.exp, m_prime, mod), cycles

        def exponentiate(msg, _):
            if msg.status != Status.OK:
                return Power(msg.status, 0, msg.mod), 1
            result, cycles = counted(
                scaled_power(shape, int(msg.one), int(msg.base), int(msg.exp), int(msg.m_prime))
            )
            return Power(msg.status, result, msg.mod), cycles

        def convert_out(msg, _):
            mod = int(msg.mod)
            result, cycles = counted(halvings(int(msg.result), mod, wide, halvings_per_cycle))
            return Response(msg.status, reduced(result, mod)), cycles

        declare_streams(s, Request, Response)
        s.convert_in = OneAtATimeCL(Request, Entered, convert_in, False)
        s.mod_exp = OneAtATimeCL(Entered, Power, exponentiate, False)
        s.convert_out = OneAtATimeCL(Power, Response, convert_out, False)
        connect_in_series(s, s.convert_in, s.mod_exp, s.convert_out)

    line_trace = trace_conversions
