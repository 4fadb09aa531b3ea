"""Reduction by rows of residues: the bounds of fl/multipliers/row_fold.py, its units, and the machine on
random operands.
"""

from random import Random

from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import find
from modexlab.fl.multipliers.row_fold import FoldShape, aligned, fold, remainder, residues
from modexlab.rtl.mod_exp.fold_exp import FoldExp
from modexlab.rtl.sim import Stall, simulate
from modexlab.rtl.units.fold.aligner import Aligner
from modexlab.rtl.units.fold.mod_quadruple import ModQuadruple
from modexlab.rtl.units.fold.product_pair import ProductPair
from modexlab.rtl.units.fold.row_fold import RowFold
from modexlab.rtl.units.fold.split_adder import AdderBack, AdderFront

from tests.harness import (
    any_word,
    bad_calls,
    check_powers,
    draws,
    evaluated,
    examples,
    one_now,
    parametrize,
    stepped,
)

DESIGN, CONSTANT_TIME = find("fold"), find("fold-ct")


@st.composite
def moduli(draw, nbits):
    """An arbitrary modulus, a short one, or a corner case."""
    top = (1 << nbits) - 1
    corners = st.sampled_from((1, 2, 3, 1 << nbits - 1, (1 << nbits - 1) + 1, top - 1, top))
    return draw(st.one_of(st.integers(1, top), st.integers(1, 1 << nbits // 2), corners))


# ---- the mathematics


@draws(300, st.data())
def test_folds_stay_below_their_bound(data):
    """Hypothesis: any pair of words of a product folds to its residue below the bound, products of which can
    be folded again; the final division completes it.
    """
    shape = FoldShape(data.draw(st.integers(8, 64)), data.draw(st.integers(1, 4)))
    mod = data.draw(moduli(shape.nbits))
    modulus, shift = aligned(shape, mod)
    assert modulus >> shape.nbits - 1 == 1 and modulus >> shift == mod
    table = residues(shape, modulus)
    assert table == [pow(2, shape.nbits + 2 * g, modulus) for g in range(shape.residues)]
    x, y = (data.draw(st.one_of(st.just(shape.bound - 1), st.integers(0, shape.bound - 1))) for _ in "xy")
    product = x * y
    assert product < 1 << shape.product_nbits
    ones = data.draw(st.one_of(st.just(0), st.just(product), st.integers(0, product)))
    for s in (ones, product & ~(-1 << product.bit_length() // 2)):
        folded = fold(shape, table, s, product - s)
        assert folded % mod == product % mod
        assert folded < min(shape.bound, (2 * shape.columns + 4) * modulus)
        assert remainder(shape, modulus, folded) == product % modulus


@parametrize("nbits", [8, 16, 32, 33, 64])
def test_the_largest_fold_of_all(nbits):
    """The sum of all largest rows is below the bound, and the number of columns is minimal."""
    shape = FoldShape(nbits)
    largest = (1 << nbits) - 2
    both = (1 << shape.product_nbits - 1) - 1
    for s, c in ((both, both), ((1 << shape.product_nbits) - 1, 0)):
        assert fold(shape, [largest] * shape.residues, s, c) < shape.bound
    fewer = shape.columns - 2
    assert (2 * fewer + 2) ** 2 > 1 << fewer - nbits if fewer > nbits else True


test_what_a_shape_refuses = bad_calls(
    (FoldShape, 7, "8 bits or more"),
    (FoldShape, 8, 5, "give 1 to 4"),
    (aligned, FoldShape(8), 256, "modulus 256"),
    (DESIGN.at, 256, "at most 128, or another design, such as mont"),
)


# ---- the units


def test_units():
    """Each unit on random words of 9 bits, compared with integers."""
    nbits, rng = 9, Random(9)
    shape = FoldShape(nbits)
    wide = (1 << shape.product_nbits) - 1
    product, folding = stepped(ProductPair(nbits)), stepped(RowFold(shape))
    steps, aligner = stepped(ModQuadruple(nbits)), stepped(Aligner(nbits))
    adders = [[stepped(part(nbits, levels)) for part in (AdderFront, AdderBack)] for levels in range(4)]
    for _ in range(30):
        x, y, mod = rng.getrandbits(nbits), rng.getrandbits(nbits), rng.randrange(1, 1 << nbits)
        evaluated(product, x=x, y=y)
        assert int(~product.sum) + int(~product.carry) == x * y

        s, c = rng.getrandbits(shape.product_nbits - 1), rng.getrandbits(shape.product_nbits - 1)
        table = [rng.getrandbits(nbits) for _ in range(shape.residues)]
        for port, residue in zip(folding.residue, table, strict=True):
            port @= residue
        evaluated(folding, sum=s ^ wide, carry=c ^ wide)
        assert int(~folding.next_sum) + int(~folding.next_carry) == fold(shape, table, s, c)

        evaluated(steps, x=x % mod, digit=y & 3, modulus=mod, thrice=3 * mod)
        assert steps.out == (4 * (x % mod) + (y & 3)) % mod

        zeros = nbits - mod.bit_length()
        evaluated(aligner, number=mod, back=0)
        assert (aligner.zeros, aligner.out) == (zeros, mod << zeros)
        assert evaluated(aligner, value=mod << zeros, shift=zeros, back=1).out == mod

        for front, back in adders:
            evaluated(front, sum=~product.x, carry=~product.y)
            assert evaluated(back, p=front.p, g=front.g, q=front.q).out == (x + y) % (1 << nbits)


# ---- the machine


def bytes_drawn(seed, count):
    """Random operands of 8 bits."""
    rng = Random(seed)
    return [(rng.getrandbits(8), rng.getrandbits(8), rng.randrange(1, 256)) for _ in range(count)]


def check_cycles(machine, operands):
    """Powers, in the cycles of the formula."""
    cycles = [machine.cycles(*operand) for operand in operands]
    assert check_powers(machine, operands).latencies == cycles


@parametrize("nbits", one_now((16, 9, 31, 32, 33, 47, 64), 16))
def test_drawn_operands(nbits):
    """Arbitrary moduli, even ones too, bases and exponents: the power, in the cycles of the formula."""
    rng, top = Random(nbits), (1 << nbits) - 1
    corners = (1, 2, 3, top, top - 1, 1 << nbits - 1)
    operands = []
    for _ in range(examples(500)):
        drawn = (rng.randrange(1, 1 << nbits // 2), *(rng.randrange(1, top) for _ in range(6)))
        mod = rng.choice((*corners, *drawn))
        base = rng.choice((0, 1, top, mod - 1, mod, rng.getrandbits(nbits), rng.getrandbits(nbits))) & top
        exp = rng.choice((0, 1, 2, 3, top, 65537 & top, rng.getrandbits(nbits), rng.getrandbits(nbits)))
        operands.append((base, exp, mod))
    check_cycles(DESIGN.at(nbits), operands)


@draws(50, st.data())
def test_functional_level_of_any_width(data):
    """Hypothesis: FL, which folds like the machine, and the same cycles for all exponents of a length."""
    nbits = data.draw(st.integers(8, 64))
    base, exp = (data.draw(any_word(nbits)) for _ in range(2))
    mod = data.draw(moduli(nbits))
    machine = DESIGN.at(nbits)
    assert machine.fl(base, exp, mod) == (0, pow(base, exp, mod))
    longest = (1 << exp.bit_length()) - 1
    assert machine.cycles(base, exp, mod) == machine.cycles(0, longest, 1)


def test_constant_time():
    """fold-ct: equal cycles for all exponents, bases and moduli of a width, at CL and RTL; only modulus 0 is
    answered at once.
    """
    machine = CONSTANT_TIME.at(8)
    operands = [(0, 0, 1), (255, 0, 255), (1, 1, 2), (7, 255, 128), (200, 128, 3), (3, 129, 254)]
    operands += bytes_drawn(4, 100)
    for make, backend in ((machine.cl, "python"), (machine.rtl, "native")):
        with simulate(make(), backend) as sim:
            run = sim.run(operands, stall=Stall(seed=2, source=0.3, sink=0.3))
            assert run.responses == [(0, pow(*operand)) for operand in operands]
            assert set(sim.run(operands).latencies) == {machine.cycles(2, 3, 5)}
    assert machine.cycles(2, 3, 0) == 1


@parametrize("residues_per_cycle", one_now((1, 3, 4), 1))
def test_other_chains(residues_per_cycle):
    """Fewer or more residues per cycle: different cycles, the same results."""
    check_cycles(DESIGN.at(8, residues_per_cycle=residues_per_cycle), bytes_drawn(residues_per_cycle, 200))


def test_one_cycle_of_reset_is_enough():
    """Reset in any cycle of an operation: the contents of the stages do not affect the next request."""
    machine = stepped(FoldExp(FoldShape(8)))
    machine.ostream.rdy @= 1

    def answer(base, exp, mod, ticks):
        """The result, if it is offered within this many cycles after a reset."""
        machine.reset @= 1
        machine.sim_tick()
        machine.reset @= 0
        machine.istream.val @= 1
        machine.istream.msg @= type(machine.istream.msg)(base, exp, mod)
        for _ in range(ticks):
            machine.sim_eval_combinational()
            if machine.ostream.val:
                return int(machine.ostream.msg.result)
            machine.sim_tick()
            machine.istream.val @= 0
        return None

    for ticks in range(1, DESIGN.at(8).cycles(201, 5, 251)):
        assert answer(201, 5, 251, ticks) is None
        assert answer(77, 6, 239, 100) == pow(77, 6, 239), ticks
