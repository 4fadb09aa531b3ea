"""Product units: those of the catalogue's designs, in many shapes, run the table of products at every level
and backend.

The units are found in the catalogue: the designs' parameters in all combinations of a few values, with a
sample for each family. Values and cycles must be equal at all levels and backends.
"""

import itertools
import random

import pytest
from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import designs
from modexlab.eval.designs.control import PROTECTIONS
from modexlab.fl.errors import BadInput
from modexlab.fl.param import Count
from modexlab.rtl.sim import simulate

from tests.harness import (
    WIDTHS,
    agreed,
    any_stream,
    any_word,
    check_fl_products,
    draws,
    is_sibling,
    parametrize,
    regress_if,
    residue,
    run_products,
)
from tests.tables import products
from tests.tables.rows import ProductRow

SHAPES_A_FAMILY = 4  # in addition to those of the designs; all but the first in `make regress`
# the others have separate tests
PLAIN = [design for design in designs() if design.plain_unit and design.family != "Interleaved"]


def candidates(param):
    """Values to try: all values of a choice, small powers of two of a count."""
    if isinstance(param.legal, Count):
        return [value for value in (0, 1, 2, 4, 8) if value in param.legal]
    return list(param.legal)


def unit_of(design, nbits, how):
    """The key of a unit: its class and parameters."""
    machine = design.at(nbits, **how)
    form = [machine.parameters.get(name) for name in ("add_red", "gated")]
    return f"{design.family} {machine.timing} {form}"


def shapes(nbits):
    """Units by name: those of the designs, with one other shape of each family; and more of the
    other shapes.
    """
    units, more, known = {}, {}, set()
    for design in PLAIN:
        if (key := unit_of(design, nbits, {})) not in known:
            known.add(key)
            units[design.name] = (design, {})
    others = {design.family: {} for design in PLAIN}
    for design in PLAIN:
        # a unit alone is not told the length of the modulus: tests/rtl/test_fitted_units.py
        of_machine = ("schedule", "scan", "forward", "conversion", "fit")
        own = {
            param.name: candidates(param)
            for param in design.params
            if param.name not in of_machine and param not in PROTECTIONS
        }
        for values in itertools.product(*own.values()):
            how = dict(zip(own, values, strict=True))
            try:
                key = unit_of(design, nbits, how)
            except BadInput:
                continue  # incompatible parameters
            if key not in known:
                known.add(key)
                name = " ".join(f"{k}={v}" for k, v in how.items() if k != "doublings_per_cycle")
                others[design.family][f"{design.name} {name}"] = (design, how)
    for family, found in others.items():
        sample = random.Random(family).sample(sorted(found), min(SHAPES_A_FAMILY, len(found)))
        units |= {name: found[name] for name in sample[:1]}
        more |= {name: found[name] for name in sample[1:]}
    return units, more


def table(design, nbits):
    """The table for a design's unit; only units that divide accept factors above the modulus."""
    return products.table(nbits, reduced=design.reduced_only)


def factors(design, a, b, mod):
    """Two arbitrary words as factors that the design's unit accepts."""
    return (a % mod, b % mod) if design.reduced_only else (a, b)


def any_modulus(design, nbits):
    return st.integers(1, (1 << nbits) - 1).map(lambda mod: mod | design.odd_only)


FEW, MORE = shapes(8)
UNITS = FEW | MORE


def kinds(also_shapes):
    """All units as cases; `make test` has the first design of each family, and one other shape on request."""
    for kind, (design, how) in UNITS.items():
        later = is_sibling(design)
        if how:
            later = kind not in FEW or "add_red" not in kind or not also_shapes
        yield pytest.param(kind, marks=regress_if(later, of="" if how else design.name))


KINDS = parametrize("kind", [*kinds(also_shapes=True)])
AS_THEY_ARE = parametrize("kind", [*kinds(also_shapes=False)])


@KINDS
def test_table_at_every_level_and_stage(kind):
    """8 bits: the stamps of CL and of RTL with every backend are equal, with delays and stalls."""
    design, how = UNITS[kind]
    machine, rows = design.at(8, **how), table(design, 8)
    check_fl_products(rows, design.domain, 8)
    agreed(
        machine.multiplier_cl,
        machine.multiplier,
        lambda unit, *where: run_products(unit, rows, design.domain, 8, *where),
    )


@KINDS
def test_formula(kind):
    """The cycles of a single product equal the formula, those of two in sequence `pair`."""
    design, how = UNITS[kind]
    timing = design.at(8, **how).timing
    rows = products.corners(8) + products.drawn(8, 40)
    with simulate(design.at(8, **how).multiplier()) as sim:
        for row in rows:
            pair = row.request, (row.b // 2, row.a)
            alone, both = (sim.run(pair[:count], statics={"modulus": row.mod}) for count in (1, 2))
            assert alone.latencies == [timing.latency(*row.request, row.mod)], row
            assert timing.fixed in (None, *alone.latencies)
            assert both.done[1] - both.accepted[0] == timing.pair(*pair, row.mod), row


FAMILIES = {
    design.family: design for design in sorted(PLAIN, key=lambda design: not design.paper)
}  # ours, if there is one


@parametrize(
    "family, nbits",
    [
        # the effects of width are the same for all
        pytest.param(family, nbits, marks=regress_if(family != "MontMulRem" or nbits != 4096))
        for family in FAMILIES
        for nbits in WIDTHS
    ],
)
def test_all_widths(family, nbits):
    """The table natively at every width from 8 to 4096 bits."""
    design = FAMILIES[family]
    rows = table(design, nbits)
    check_fl_products(rows, design.domain, nbits)
    native = run_products(design.at(nbits).multiplier(), rows, design.domain, nbits, "native")
    if nbits <= 256:
        twin = design.at(nbits).multiplier_cl()
        assert run_products(twin, rows, design.domain, nbits, "python") == native


@AS_THEY_ARE
def test_any_product(kind):
    """Hypothesis: arbitrary operands, at 32 bits natively, against Python's integers."""
    design, how = UNITS[kind]
    moduli = any_modulus(design, 32)
    with simulate(design.at(32, **how).multiplier()) as sim:

        @draws(50, st.lists(st.tuples(any_word(32), any_word(32), moduli), min_size=1, max_size=40))
        def check(drawn):
            rows = [ProductRow("drawn", *factors(design, a, b, mod), mod) for a, b, mod in drawn]
            run = sim.run([row.request for row in rows], statics=[{"modulus": row.mod} for row in rows])
            assert run.responses == [residue(row, design.domain, 32) for row in rows]

        check()


@AS_THEY_ARE
def test_any_stream(kind):
    """Hypothesis: arbitrary streams of products with arbitrary delays and stalls: CL and RTL agree in every
    stamp.
    """
    design, how = UNITS[kind]
    machine = design.at(8, **how)

    def judge(n, factors, answer):
        assert answer == residue(ProductRow("drawn", *factors, n), design.domain, 8)

    any_stream(
        machine.multiplier(),
        machine.multiplier_cl(),
        any_modulus(design, 8),
        any_word(8),
        lambda n, a, b: (factors(design, a, b, n), {"modulus": n}),
        judge,
    )
