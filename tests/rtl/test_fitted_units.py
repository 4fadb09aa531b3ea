"""MontMulRem with a width that follows the modulus (`fits`): products and cycles for moduli of every length,
also with more blocks than needed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from hypothesis import strategies as st
from modexlab.cl.mont_mul_rem import MontMulRemCL
from modexlab.cl.timing import MontMulRemTiming, MulRemTiming, ShiftSubTiming, UnitTiming
from modexlab.eval.designs.catalogue import designs
from modexlab.rtl.messages import declare_streams
from modexlab.rtl.sim import Stall, lint, simulate, translate
from modexlab.rtl.sim.ports import Ports
from modexlab.rtl.units.block_count import BlockCount
from modexlab.rtl.units.mont_mul_rem import MontMulRem
from pymtl3 import Component, clog2, mk_bits

from tests.harness import agreed, any_word, draws, of_every_length, parametrize, ran, regress

# in `make test`, machines with `fit=modulus` in tests/rtl/keyed/test_program_exp.py cover this
pytestmark = regress

WIDTHS = (8, 16, 24, 40)


@dataclass(frozen=True)
class Row:
    """A product on nblocks blocks, any number into which the modulus fits."""

    a: int
    b: int
    mod: int
    nblocks: int


@dataclass(frozen=True)
class Case:
    """A unit in one shape, with its expected properties."""

    name: str
    nbits: int
    rtl: type[Component]
    cl: type[Component]
    timing: UnitTiming
    least: Callable  # blocks for a modulus of this many bits, independent of the timing
    cycles: Callable  # of this many blocks, likewise
    operands: Callable  # for a modulus, blocks and a generator: corners and random operands
    check: Callable  # whether a response to a row is right
    odd: bool = True

    @property
    def most(self):
        """The number of blocks of the widest modulus."""
        return self.least(self.nbits)

    def sent(self, *rows):
        """The arguments of a run of these rows."""
        statics = [{"modulus": row.mod, "nblocks": row.nblocks} for row in rows]
        return {"requests": [(row.a, row.b) for row in rows], "statics": statics}


def ceil_div(a, b):
    return -(-a // b)


def blocks(block):
    """A function from a length to its number of blocks of this many bits, at least one."""
    return lambda length: max(1, ceil_div(length, block))


def mont(nbits, steps, add_red="koc", pipelined=True):
    """MontMulRem of one stage."""

    def operands(mod, nblocks, rng):
        ones = (1 << nbits) - 1
        return [0, 1, mod - 1, ones, rng.getrandbits(nbits)], [0, 1 % mod, mod - 1, rng.randrange(mod)]

    def check(answer, row):
        r = 1 << steps * row.nblocks
        return answer < row.mod and (answer * r - row.a % r * row.b) % row.mod == 0

    shape = nbits, steps, 1, add_red, pipelined
    return Case(
        f"mont {nbits} {steps} {add_red} {pipelined}",
        nbits,
        partial(MontMulRem, *shape),
        partial(MontMulRemCL, *shape),
        MontMulRemTiming(nbits, steps, 1, pipelined, fits=True),
        blocks(steps),
        lambda nblocks: nblocks,
        operands,
        check,
    )


CASES = {
    case.name: case
    for case in (
        *(mont(nbits, 4) for nbits in WIDTHS),
        mont(8, 8, "textbook", False),
        mont(24, 1, "textbook", False),
        mont(40, 8, "carry-save", False),
    )
}
EVERY = parametrize("name", CASES)
SOME = ("mont 24 1 textbook False", "mont 40 8 carry-save False")


def moduli(case, rng):
    """Moduli of every length."""
    return list(dict.fromkeys(mod | case.odd for mod in of_every_length(case.nbits, rng)))


def rows_of(case):
    """All corner operands on the blocks that each modulus needs; a few on more blocks."""
    rng = Random(case.name)
    rows = []
    for mod in moduli(case, rng):
        least = case.least(mod.bit_length())
        for nblocks in dict.fromkeys((least, rng.randint(least, case.most), case.most)):
            first, second = case.operands(mod, nblocks, rng)
            pairs = [(a, b) for a in first for b in second]
            if nblocks != least:
                pairs = [(first[2], second[2]), (first[-1], second[-1])]
            rows += [Row(a, b, mod, nblocks) for a, b in pairs]
    return rows


@EVERY
def test_products_and_cycles(name):
    """Natively, one product at a time: the cycles depend only on the blocks."""
    case = CASES[name]
    rows = rows_of(case)
    apart = case.cycles(case.most) + 2
    with simulate(case.rtl(fits=True)) as sim:
        run = sim.run(**case.sent(*rows), source_delays=apart)
        for row, answer, latency in zip(rows, run.responses, run.latencies, strict=True):
            assert case.check(answer, row), row
            assert latency == case.cycles(row.nblocks) == case.timing.product_cycles(row.nblocks), row
            if row.nblocks == case.timing.blocks_of(row.mod):
                assert latency == case.timing.latency(row.a, row.b, row.mod)
        for row in [row for row in rows if row.nblocks == case.timing.blocks_of(row.mod)][::29]:
            twice = case.sent(row, row)
            both = sim.run(**twice)
            assert both.done[1] - both.accepted[0] == case.timing.pair(*twice["requests"], row.mod)


@parametrize("name", SOME)
def test_every_level_and_stage(name):
    """The stamps of CL and of RTL with every backend are equal, with and without stalls."""
    case = CASES[name]
    # twice each, so that some rows follow one another without a change of statics
    rows = [row for row in Random(name).sample(rows_of(case), 60) for _ in range(2)]
    run = agreed(
        partial(case.cl, fits=True),
        partial(case.rtl, fits=True),
        lambda unit, backend, stall: ran(unit, backend=backend, stall=stall, **case.sent(*rows)),
    )
    assert all(map(case.check, run.responses, rows))


@parametrize("name", SOME)
def test_all_blocks_are_the_unit_as_it_was(name):
    """With all blocks, a fitted unit equals one with a fixed width in results and cycles."""
    case = CASES[name]
    rng = Random(name)
    rows = [
        Row(operands[0][-1], operands[1][-1], mod, case.most)
        for mod in moduli(case, rng)
        for operands in [case.operands(mod, case.most, rng)] * 2
    ]
    sent = {**case.sent(*rows), "stall": Stall(seed=9, source=0.2, sink=0.2)}
    fitted = ran(case.rtl(fits=True), **sent)
    for static in sent["statics"]:
        del static["nblocks"]
    assert fitted == ran(case.rtl(), **sent)


@parametrize("name", SOME)
def test_any_product(name):
    """Hypothesis: arbitrary operands below an arbitrary modulus, with any sufficient number of blocks."""
    case = CASES[name]
    with simulate(case.rtl(fits=True)) as sim:

        @draws(
            100,
            st.integers(1, case.nbits).flatmap(
                lambda length: st.integers(1 << length - 1, (1 << length) - 1)
            ),
            any_word(60),
            any_word(60),
            st.integers(0, 60),
        )
        def check(mod, a, b, more):
            mod |= case.odd
            least = case.timing.blocks_of(mod)
            row = Row(a % mod, b % mod, mod, least + more % (case.most - least + 1))
            run = sim.run(**case.sent(row))
            assert case.check(run.responses[0], row), row
            assert run.latencies == [case.timing.product_cycles(row.nblocks)]

        check()


@EVERY
def test_ports_and_verilog(name):
    """A unit that fits has the port, wide enough for all blocks; other units do not. Lint has no
    complaint.
    """
    case = CASES[name]
    fitted = case.rtl(fits=True)
    fitted.elaborate()
    widths = {port: kind.nbits for port, kind in Ports.of(fitted).statics}
    assert widths.keys() == {"modulus", "nblocks"}
    assert widths["nblocks"] == clog2(case.most + 1)
    lint(translate(fitted))
    for plain in (case.rtl(), case.rtl(fits=False)):
        plain.elaborate()
        assert [port for port, _ in Ports.of(plain).statics] == ["modulus"]
    code = re.sub(r"//.*", "", translate(case.rtl()))
    assert "nblocks" not in code and "fits" not in code


# ---- the number of blocks


class Counted(Component):
    """BlockCount between streams."""

    def construct(s, nbits, block_nbits):
        s.count = BlockCount(nbits, block_nbits)
        declare_streams(s, mk_bits(nbits), mk_bits(clog2(ceil_div(nbits, block_nbits) + 1)))
        s.istream.val //= s.ostream.val
        s.istream.rdy //= s.ostream.rdy
        s.istream.msg //= s.count.value
        s.ostream.msg //= s.count.nblocks


@parametrize(
    "nbits, block", [(8, 8), (16, 8), (24, 8), (40, 8), (8, 1), (13, 1), (42, 16), (10, 8), (42, 5), (72, 8)]
)
def test_block_count(nbits, block):
    """Every length, with only the highest bit set and with others below it, with two backends; and 0."""
    values = [0, *of_every_length(nbits, Random(f"{nbits} {block}"))]
    lint(translate(BlockCount(nbits, block)))
    for backend in ("python", "native"):
        run = ran(Counted(nbits, block), values, backend)
        assert run.responses == [max(1, ceil_div(value.bit_length(), block)) for value in values]


def test_block_counts_are_those_of_the_timing():
    """The counts that hardware would compute, of N."""
    for case in CASES.values():
        assert case.most == case.timing.blocks_of((1 << case.nbits) - 1)
        for length in range(1, case.nbits + 1):
            mod = (1 << length) - 1
            assert case.timing.blocks_of(mod) == case.least(length)
        assert case.timing.blocks_of(0) >= 1


def test_timing():
    """No latency is fixed if it depends on the modulus; every unit that does not fit is one block with an
    unchanged latency.
    """
    for case in CASES.values():
        assert case.timing.fits and case.timing.fixed is None
    for design in designs():
        timing = design.at(16).timing
        blocks = timing.block_nbits, timing.blocks_of(0), timing.blocks_of(0xFFFF)
        assert (timing.fits, *blocks) == (False, 0, 1, 1)
        assert timing.product_cycles(1) == timing.fixed
    assert MontMulRemTiming(64, 8, 2, True).fixed == 8
    assert MontMulRemTiming(64, 8, 1, True, fits=True).latency(0, 0, 1 << 40) == 6
    assert ShiftSubTiming(64, 2, "spent").product_cycles(1) is None
    assert MulRemTiming(64, "aligned", 1, 0).product_cycles(1) is None
