"""Product units of every kind: FL, CL and RTL at all stages run the table of products, equal in value and in cycles."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modexlab.cl.mont_mul_rem import MontMulRemCL
from modexlab.cl.mul_rem import MulRemCL
from modexlab.cl.timing import MontMulRemTiming, MulRemTiming
from modexlab.rtl.mont_mul_rem import MontMulRem
from modexlab.rtl.mul_rem import MulRem
from modexlab.rtl.sim import Stall, simulate

from tests.harness import WIDTHS, check_fl_products, examples, residue, run_products, stamps
from tests.tables import products
from tests.tables.rows import ProductRow


def mul_rem(divider: str, quotient_bits: int, multiplier_bits: int) -> tuple:
    shape = {
        "divider": divider,
        "quotient_bits_per_cycle": quotient_bits,
        "multiplier_bits_per_cycle": multiplier_bits,
    }
    return "identity", MulRem, MulRemCL, MulRemTiming, shape


def mont_mul_rem(steps: int, nstages: int, add_red: str, pipelined: bool) -> tuple:
    shape = {"steps_per_stage": steps, "nstages": nstages, "add_red": add_red, "pipelined": pipelined}
    return "montgomery", MontMulRem, MontMulRemCL, MontMulRemTiming, shape


UNITS = {
    "aligned divider": mul_rem("aligned", 1, 0),
    "restoring divider, 1 bit": mul_rem("restoring", 1, 0),
    "restoring divider, 4 bits, iterative multiplier": mul_rem("restoring", 4, 2),
    "Montgomery, Koc, 4 stages pipelined": mont_mul_rem(2, 4, "koc", True),
    "Montgomery, textbook, folded": mont_mul_rem(2, 1, "textbook", False),
    "Montgomery, carry-save, folded ring of 2": mont_mul_rem(2, 2, "carry-save", True),
    "Montgomery, carry-save, unrolled, one product": mont_mul_rem(4, 2, "carry-save", False),
    "Montgomery, Koc, one step a cycle": mont_mul_rem(1, 1, "koc", False),
    "Montgomery, textbook, all steps in a cycle": mont_mul_rem(8, 1, "textbook", True),
}
KINDS = pytest.mark.parametrize("kind", UNITS)


def timing_of(kind: str, nbits: int):
    _, _, _, timing, shape = UNITS[kind]
    return timing(nbits, **{name: value for name, value in shape.items() if name != "add_red"})


@KINDS
def test_table_at_every_level_and_stage(kind: str) -> None:
    """8 bits: the stamps of CL and of RTL at every stage are the same, delays and stalls included."""
    domain, rtl, cl, _, shape = UNITS[kind]
    rows = products.table(8, domain == "montgomery")
    check_fl_products(rows, domain, 8)
    for stall in (None, Stall(seed=3, source=0.3, sink=0.4)):
        expected = stamps(run_products(cl(8, **shape), rows, domain, 8, "python", stall))
        for stage in ("python", "verilog", "native"):
            assert stamps(run_products(rtl(8, **shape), rows, domain, 8, stage, stall)) == expected, stage


@KINDS
def test_formula(kind: str) -> None:
    """A product alone takes as many cycles as the formula says; two in a row as many as `pair` says."""
    _domain, rtl, _, _, shape = UNITS[kind]
    timing = timing_of(kind, 8)
    rows = products.corners(8) + products.drawn(8, 40)
    with simulate(rtl(8, **shape), "native") as sim:
        for row in rows:
            alone = sim.run([row.request], statics={"modulus": row.mod})
            assert alone.latencies == [timing.latency(row.a, row.b, row.mod)], row
            second = (row.b // 2, row.a)
            both = sim.run([row.request, second], statics={"modulus": row.mod})
            assert both.done[1] - both.accepted[0] == timing.pair(row.request, second, row.mod), row
            if timing.fixed is not None:
                assert alone.latencies == [timing.fixed]


@pytest.mark.parametrize("nbits", WIDTHS)
@pytest.mark.parametrize(
    "kind", ["restoring divider, 4 bits, iterative multiplier", "Montgomery, carry-save, folded ring of 2"]
)
def test_all_widths(kind: str, nbits: int) -> None:
    """The table natively at every width from 8 to 4096 bits."""
    domain, rtl, cl, _, shape = UNITS[kind]
    shape = {**shape, **({"steps_per_stage": 4} if domain == "montgomery" and nbits >= 8 else {})}
    rows = products.table(nbits, domain == "montgomery")
    check_fl_products(rows, domain, nbits)
    native = run_products(rtl(nbits, **shape), rows, domain, nbits, "native")
    if nbits <= 256:
        assert stamps(run_products(cl(nbits, **shape), rows, domain, nbits, "python")) == stamps(native)


OPERANDS = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(1, 2**32 - 1))


@KINDS
def test_any_product(kind: str) -> None:
    """Hypothesis: any operands, at 32 bits natively, against the product of Python's integers."""
    domain, rtl, _, _, shape = UNITS[kind]
    with simulate(rtl(32, **shape), "native") as sim:

        @settings(max_examples=examples(2000))
        @given(OPERANDS)
        def check(operands: tuple[int, int, int]) -> None:
            a, b, mod = operands
            if domain == "montgomery":
                mod |= 1
                b %= mod
            run = sim.run([(a, b)], statics={"modulus": mod})
            assert run.responses == [residue(ProductRow("drawn", a, b, mod), domain, 32)]

        check()


@KINDS
def test_any_stream(kind: str) -> None:
    """Hypothesis: any stream of products with any delays and stalls: CL and RTL agree in every stamp."""
    domain, rtl, cl, _, shape = UNITS[kind]
    montgomery = domain == "montgomery"
    row = st.tuples(
        st.integers(0, 255), st.integers(0, 255), st.integers(1, 255), st.integers(0, 9), st.integers(0, 9)
    )
    with simulate(rtl(8, **shape), "native") as rtl_sim, simulate(cl(8, **shape), "python") as cl_sim:

        @settings(max_examples=examples(60))
        @given(
            rows=st.lists(row, min_size=1, max_size=8),
            seed=st.integers(0, 2**31),
            source=st.sampled_from([0.0, 0.3, 0.8]),
            sink=st.sampled_from([0.0, 0.3, 0.8]),
        )
        def check(rows: list, seed: int, source: float, sink: float) -> None:
            moduli = [mod | 1 if montgomery else mod for _, _, mod, _, _ in rows]
            table = [
                ProductRow("drawn", a, b % mod if montgomery else b, mod, before, after)
                for (a, b, _, before, after), mod in zip(rows, moduli, strict=True)
            ]
            how = {
                "statics": [{"modulus": each.mod} for each in table],
                "source_delays": [each.source_delay for each in table],
                "sink_delays": [each.sink_delay for each in table],
                "stall": Stall(seed, source, sink),
            }
            runs = [sim.run([each.request for each in table], **how) for sim in (rtl_sim, cl_sim)]
            golden = [residue(each, domain, 8) for each in table]
            assert runs[0].responses == runs[1].responses == golden
            assert stamps(runs[0]) == stamps(runs[1])

        check()
