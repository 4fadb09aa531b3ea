"""The table of products on a scaled modulus: factors up to 2M for M = c*N, at any width and digit."""

import random

from modexlab.fl.multipliers.scaled import ScaledMontgomery, ScaledShape

from tests.harness import sent

from . import products
from .rows import ProductRow, with_delays


def corner_moduli(nbits, w):
    """Moduli whose multiple M is the smallest, the largest, or has a c of a special form; by name."""
    top = (1 << nbits) - 1
    moduli = {"modulus 1": 1, "modulus 3": 3, "largest modulus": top, "top bit only": (1 << (nbits - 1)) + 1}
    if nbits > w:
        # N = 1 mod 2^w gives the largest c, 2^w - 1, and with it the largest M, just below 2^(nbits + w)
        moduli["largest M"] = (1 << nbits) - (1 << w) + 1
        moduli["c = 2^w - 1, small N"] = (1 << w) + 1
    return moduli


def table(nbits, w, count=6, quotient_delay=0):
    """All rows for a unit of nbits bits and digits of w bits on a scaled modulus; mod is N."""
    shape = ScaledShape(nbits, w, quotient_delay)
    rows = list(products.corners(nbits))
    for name, n in corner_moduli(nbits, shape.scale_nbits).items():
        m = ScaledMontgomery(n, shape).m
        rows += [
            ProductRow(f"{name}, (2M - 1)^2", 2 * m - 1, 2 * m - 1, n),
            ProductRow(f"{name}, 0 * largest", 0, 2 * m - 1, n),
            ProductRow(f"{name}, M * M is 0 mod M", m, m, n),
            ProductRow(f"{name}, M * 1", m, 1, n),
            ProductRow(f"{name}, largest * 1", 2 * m - 1, 1, n),
            ProductRow(f"{name}, N * c is 0 mod M", n, m // n, n),
        ]
    rng = random.Random(f"scaled {nbits} {w}")
    for i in range(count):
        n = rng.getrandbits(rng.randint(1, nbits)) | 1
        m = ScaledMontgomery(n, shape).m
        rows.append(ProductRow(f"random {i}", rng.randrange(2 * m), rng.randrange(2 * m), n))
    return with_delays(rows, every=4)


def constants(n, w, delay=0):
    """M = c*n = -1 mod 2^w (and as many more with a quotient delay) and M', by what they are."""
    ones = w * (1 + delay)
    m = -pow(n, -1, 1 << ones) % (1 << ones) * n
    assert (m + 1) % (1 << ones) == 0
    return m, (m + 1) >> ones


def check_product(answer, a, b, n, nbits, w, delay=0):
    """By integers alone: answer = (a*b + Q*M) / R for the one Q in 0..R-1, and it is below 2M."""
    m, _ = constants(n, w, delay)
    r = 1 << w * (1 + delay - (-(nbits + 2) // w))
    quotient, left = divmod(answer * r - a * b, m)
    assert (left, 0 <= quotient < r, answer < 2 * m) == (0, True, True), (answer, a, b, n, nbits, w)


def run_products(unit, rows, nbits, w, backend, stall=None, delay=0):
    """All rows through a unit, whose static port takes M'."""
    statics = [{"modulus": constants(row.mod, w, delay)[1]} for row in rows]
    run = sent(unit, rows, backend, stall, statics=statics)
    for row, answer in zip(rows, run.responses, strict=True):
        check_product(answer, row.a, row.b, row.mod, nbits, w, delay)
    return run
