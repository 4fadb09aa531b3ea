"""The systolic array (paper 002): products by tables of named rows, the paper's counts, and the effect of its
condition on R.
"""

import re
from functools import partial

from hypothesis import strategies as st
from modexlab.cl.systolic import SystolicMontCL, systolic_timing
from modexlab.eval.designs.catalogue import find
from modexlab.fl.domains import Redundant
from modexlab.fl.multipliers.systolic import SystolicShape, product
from modexlab.fl.status import Status
from modexlab.rtl.mod_exp.systolic.systolic_mod_exp_ctrl import SystolicModExpCtrl
from modexlab.rtl.sim.translation.translate import translate
from modexlab.rtl.units.systolic.systolic_mont import SystolicMont

from tests.harness import RTL_BACKENDS, agreed, any_odd, draws, one_now, parametrize, ran, refused, regress
from tests.tables import unsubtracted

DESIGN = find("systolic-002")
SHAPES = [
    SystolicShape(*item) for item in ((8, 4, 2), (8, 4, 3), (9, 3, 4), (12, 2, 7), (30, 16, 2), (32, 16, 3))
]


def run_products(unit, shape, rows, backend, stall=None):
    """Run all rows through a unit and check each response."""
    statics = [{"modulus": row.mod} for row in rows]
    if isinstance(unit, SystolicMont):
        statics = [static | {"n_prime": shape.inverse(static["modulus"])} for static in statics]
    run = ran(unit, [row.request for row in rows], backend, statics=statics, stall=stall)
    for row, answer in zip(rows, run.responses, strict=True):
        assert row.right(answer, 1 << shape.wide), row
    return run


@parametrize("shape", one_now(SHAPES, SHAPES[1]), ids=lambda shape: f"{shape.nwords}x{shape.digit_nbits}")
def test_systolic_products_at_every_level(shape):
    """FL, CL and RTL give a product of each row; CL and RTL in the same cycles, with stalls, and in
    4s + 1.
    """
    rows = unsubtracted.corners(shape.modulus_nbits) + unsubtracted.drawn(shape.modulus_nbits, 30)
    for row in rows:
        made = product(shape, row.a, row.b, row.mod)
        assert row.right(made, 1 << shape.wide), row
        assert made == Redundant(row.mod, shape.nbits, shape.wide).product(row.a, row.b), row
    run = agreed(
        partial(SystolicMontCL, shape),
        partial(SystolicMont, shape),
        lambda unit, *where: run_products(unit, shape, rows, *where),
        RTL_BACKENDS if shape is SHAPES[1] else ["native"],
    )
    assert set(run.latencies) == {systolic_timing(shape).fixed}


@draws(200, st.data())
def test_systolic_product_of_any_shape(data):
    """Hypothesis: any number and length of words; the product, below 2m."""
    k, s = data.draw(st.integers(2, 20)), data.draw(st.integers(2, 9))
    shape = SystolicShape(k * s, k, s)
    m = data.draw(any_odd(shape.modulus_nbits))
    x, y = (data.draw(st.integers(0, 2 * m - 1)) for _ in range(2))
    row = unsubtracted.UnsubtractedRow("drawn", x, y, m)
    assert row.right(product(shape, x, y, m), 1 << shape.wide)


# the paper's sections 3 and 5, Tables 1 to 3: width -> elements, multipliers (DSPs), cycles of a product
PUBLISHED = {512: (32, 34, 98), 1024: (64, 66, 194), 2048: (128, 130, 386)}


@parametrize("nbits", one_now(PUBLISHED, 512))
def test_systolic_counts_of_the_paper(nbits):
    """The instances in the Verilog, and the multiplications in their modules, are those of the paper."""
    elements, multipliers, cycles = PUBLISHED[nbits]
    machine = DESIGN.at(nbits)
    text = translate(machine.multiplier(), "dut")
    rows = r"(?:i < (\d+); i\+\+\) begin : \w+\n)?^ +SystolicPE\w* \w+ \($"
    pes = sum(int(count or 1) for count in re.findall(rows, text, re.MULTILINE))
    assert pes == elements
    quotient = re.search(r"^module QuotientUnit\b.*?^endmodule", text, re.MULTILINE | re.DOTALL)
    assert quotient is not None
    body = re.sub(r"//.*|/\*.*?\*/", "", quotient[0])
    assert pes + body.count(" * ") == multipliers
    assert machine.product_cycles == cycles


def test_systolic_exponentiation_of_the_paper():
    """Section 5: 2,050 products, 397,700 cycles of products; s - 1 more until the last word arrives. 65 words
    for full-length keys.
    """
    machine = DESIGN.at(1024)
    exp = (1 << 1024) - 1
    assert machine.products(exp) == 2050
    assert machine.products(exp) * 194 == 397_700
    assert machine.cycles(2, exp, 3) == 397_700 + 63
    full = DESIGN.at(1024, words=65)
    assert full.product_cycles == 197
    assert full.products(exp) * 197 == 403_850
    assert (machine.modulus_nbits, full.modulus_nbits) == (1022, 1024)


@parametrize("nbits", one_now((64, 1024), 64))
def test_systolic_product_follows_product(nbits):
    """In RTL, one more bit of the exponent is two products, each starting on the words of the previous one: 2
    (3s + 2) cycles.
    """
    machine = DESIGN.at(nbits)
    mod = (1 << machine.modulus_nbits) - 1
    run = ran(machine.rtl(), [machine.carried(3, exp, mod) for exp in (0b1011, 0b11011)])
    short, long = run.latencies
    assert [result for _, result in run.responses] == [pow(3, 0b1011, mod), pow(3, 0b11011, mod)]
    assert long - short == 2 * machine.product_cycles == 2 * (3 * machine.parameters["words"] + 2)


def test_systolic_condition_of_the_paper_is_too_weak():
    """2m < R < 4m: the machine refuses such moduli; otherwise results would not be valid operands."""
    shape = SystolicShape(8, 4, 2)
    machine = DESIGN.at(8, digit_nbits=4, words=2)
    beyond = range(65, 128, 2)  # of 7 bits: 2m < 256 < 4m
    for m in beyond:
        assert machine.check(1, 1, m) == Status.TOO_WIDE
        with refused(r"takes moduli of up to 6; give --nbits 9 or more"):
            machine.require(1, 1, m)
        with refused("give 3 words"):
            product(shape, 1, 1, m)
    r = 256
    too_large = sum(
        (x * x + -x * x * pow(m, -1, r) % r * m) // r >= 2 * m for m in beyond for x in (2 * m - 1, 2 * m - 2)
    )
    assert too_large > len(beyond) // 2


@parametrize(
    "how, message",
    [
        ({"words": 3}, "3 words of 16 bits do not hold 64 bits: give 4 words or more, or words of 22 bits"),
        ({"digit_nbits": 40}, "digit_nbits = 40 is not possible"),
        ({"words": 1}, "words = 1 is not possible; give 2 or more"),
    ],
)
def test_systolic_widths_that_cannot_be(how, message):
    with refused(message):
        DESIGN.at(64, **how)


@regress
@parametrize("nbits, count", [(64, 100_000), (1024, 1_000)])
def test_systolic_many_products(nbits, count):
    """Native RTL against Python's arithmetic."""
    shape = SystolicShape(nbits, 16, nbits // 16)
    run_products(SystolicMont(shape), shape, unsubtracted.drawn(shape.modulus_nbits, count), "native")


@parametrize("converts", [True, False])
def test_systolic_controller_of_digits_wider_than_its_counter(converts):
    """Digits may be wider than the exponent; the counter of its bits keeps its width."""
    for nbits, k in ((8, 16), (12, 16), (12, 32), (16, 32), (31, 32)):
        text = translate(SystolicModExpCtrl(nbits, k, 5, converts), "dut")
        assert f"logic [{nbits.bit_length() - 1}:0] nleft;" in text, (nbits, k)


@regress
@parametrize("name", ["systolic", "systolic-002"])
def test_systolic_machines_of_digits_wider_than_the_machine(name):
    machine = find(name).at(12, digit_nbits=16)
    operands = [(3, 5, 7), (1, 0, 3), (700, 0x3FF, 1021), (5, 1, 9)]
    with machine.session() as session:
        for row in operands:
            (answer,) = session.run([row])
            assert (answer.status, answer.result, answer.cycles) == (0, pow(*row), machine.cycles(*row))
