"""Compiled C on the processor: its results, and every commit of the pipeline against the instruction-set
simulator.
"""

import binascii
import struct
from math import gcd

from modexlab.proc.sim import MemoryTiming
from modexlab.proc.software.compiler import OPTS, compile_program
from modexlab.proc.software.elf import load_elf
from modexlab.rtl.sim.protocol import Random

from tests.harness import expect, one_now, parametrize
from tests.paths import DATA
from tests.proc.examples import simulation
from tests.proc.formulas import signed
from tests.proc.programs import check, golden

SOURCE = DATA / "proc_mix.c"
TIMINGS = (MemoryTiming(), MemoryTiming(2, stall=0.3, extra=2))
M = 2**32 - 1


def quotient(a, b):
    """Division as in C, toward zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def expected():
    """The words that proc_mix.c must send."""
    draw = Random(2463534242).draw
    words = [binascii.crc32(b"123456789"), 2 * 6 + 3]
    values = sorted(signed(draw(), 16) for _ in range(50))
    words += [1, binascii.crc32(struct.pack("<50h", *values))]
    re, im, tag = 3, -2, 1
    for _ in range(5):
        re, im, tag = re * 2 - im, re + im * 2, tag + 7
    words += [re, im, tag]
    words += [quotient(-((9 + 2 - 3) * 4), 9), 7**2 * 5**2 - (9 * 8 // 4 ^ 0x5555)]
    product = 1
    for _ in range(20):
        product = product * (draw() | 1) % 2**64
        product = (product + draw()) % 2**64
    words += [product, product >> 32, product % 1_000_000_007]
    words += [quotient(signed(-product, 64), 12345), gcd(1 << 40, 6227020800)]
    sums = [0, 0, 0, 0]
    for i in range(100):
        a, b = draw(), draw()
        x, y = signed(a), signed(b) >> i % 31
        divisor = 1 if y == -1 else y
        sums[0] += quotient(x, divisor) if y else 0
        sums[1] ^= x - divisor * quotient(x, divisor) if y else 0
        sums[2] += x * y >> 32
        sums[3] ^= a // (y & M | 1) + (a * (y & M) >> 32) & M
    return [word & M for word in [*words, *sums]]


@parametrize("opt", one_now(OPTS, "-O2"))
def test_mix(opt):
    """A mix of compiled C constructs, at every optimisation level."""
    program = load_elf(compile_program([SOURCE], opt=opt))
    wanted = golden(program)
    expect(wanted, reason="exit", exit_code=0)
    assert wanted.output == expected()
    for timing in TIMINGS:
        check(wanted, simulation().run(program, timing=timing, record=True), f"proc_mix.c {opt}, {timing}")
