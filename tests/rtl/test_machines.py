"""Machines: every design of the catalogue runs the table of exponentiations under every schedule that it
allows.
"""

from contextlib import nullcontext

import pytest
from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.papers.published import by_name
from modexlab.fl.errors import BadInput
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.fl.status import Status
from modexlab.rtl.sim import Stall, simulate

from tests.harness import (
    NAME,
    WIDTHS,
    agreed,
    any_operation,
    any_word,
    case,
    check_fl_mod_exps,
    check_formula,
    check_native,
    draws,
    each_design,
    is_sibling,
    one_now,
    parametrize,
    ran,
    refused,
    regress,
    regress_if,
    run_mod_exps,
    run_native,
)
from tests.tables import mod_exp
from tests.tables.mod_exp import PAPER_001
from tests.tables.rows import ModExpRow

DESIGNS = designs()
OF_DOMAIN = {design.domain: design for design in reversed(DESIGNS)}  # the first design of each domain
CONVERTING = ("mont-001", "systolic")
EVERY_SCHEDULE = ("mont-001",)
# features of a controller, or the same in all units: tested on these designs in `make test`
SHOWN_BY = {"forward": ("mont",), "scan": ("mont-ct", "fold"), "gated": ("mont-001",)}


def choices(design, name):
    """The legal values of a parameter, or () if the design does not have it."""
    return next((param.legal for param in design.params if param.name == name), ())


# every design with every schedule, and with every other value of a parameter of the controller
SCHEDULED = [
    (design, {"schedule": schedule}) for design in DESIGNS for schedule in choices(design, "schedule")
]
VARIED = [
    (design, {"schedule": schedule, name: value})
    for design in DESIGNS
    for name, value in (
        ("conversion", "double"),
        ("conversion", "square"),
        ("forward", False),
        ("scan", "full"),
        ("scan", "length"),
    )
    if value in choices(design, name) and value != design.at(32).parameters[name]
    for schedule in choices(design, "schedule")
    if (name, value) != ("scan", "full") or SCHEDULES[schedule].full_scan
]
SHAPES = [
    {"steps_per_stage": 2, "nstages": 2, "pipelined": True},
    {"gated": True},
    {"multiplier_bits_per_cycle": 2},
    {"quotient_bits_per_cycle": 4},
    {"digit_nbits": 4, "words": 2},  # moduli have 6 bits
]
MORE_SHAPES = [  # also covered by the tests of their units
    {"steps_per_stage": 2, "nstages": 2, "pipelined": False},
    {"add_red": "carry-save"},
    {"doublings_per_cycle": 1},
    {"digit_nbits": 3, "words": 4},
]
SHAPED = [
    (design, settings_)
    for design in DESIGNS
    for settings_ in SHAPES + MORE_SHAPES
    if all(name in design.at(32).parameters for name in settings_)
]


def table(design, nbits, exp_nbits=None, **settings_):
    """The table for a design: all moduli, those that are short enough, or the one for which it is
    generated.
    """
    machine = design.at(nbits, **settings_)
    rows = mod_exp.table(machine.modulus_nbits, exp_nbits, mod=machine.modulus)
    if machine.modulus_nbits < nbits:
        longer = 1 << machine.modulus_nbits
        rows += [
            ModExpRow(f"modulus {name}", 2, 5, mod)
            for name, mod in (("too long", longer + 1), ("too long, even", longer))
        ]
        rows += mod_exp.drawn(machine.modulus_nbits, min(nbits, exp_nbits or nbits), 1)
    return rows


def chosen(cases, is_later):
    """Designs and settings as parameters; those that are later are left to `make regress`."""
    return [case(design, later=is_later(design, how), **how) for design, how in cases]


def is_later(design, how):
    """`make regress` has MORE_SHAPES, shapes of siblings, and schedules other than a design's own, which
    `make test` runs for one design (EVERY_SCHEDULE) if no other has it.
    """
    if how.get("schedule", design.schedule) == design.schedule:
        varied = any(name in how and design.name not in by for name, by in SHOWN_BY.items())
        again = design.paper == "000" and OF_DOMAIN[design.domain] is not design
        shaped = how in MORE_SHAPES or (is_sibling(design) and "schedule" not in how)
        return varied or shaped or (is_sibling(design) and again)
    return design.name not in EVERY_SCHEDULE or set(how) != {"schedule"} or how["schedule"] == "ladder"


@each_design()
def test_table_at_the_functional_level(design):
    """Every design with its defaults."""
    check_fl_mod_exps(design, table(design, 8), 8)


@parametrize("design, how", chosen(SCHEDULED + VARIED + SHAPED, is_later))
def test_table_at_every_level(design, how):
    """8 bits: FL, CL and RTL give the expected result; CL and native RTL in the same cycles, with stalls for
    the default parameters.
    """
    rows = table(design, 8, **how)
    check_fl_mod_exps(design, rows, 8, **how)
    stalls = [Stall(seed=5, source=0.2, sink=0.3)] if how == {"schedule": design.schedule} else []
    for stall in (None, *stalls):
        cl = run_mod_exps(design.at(8, **how).cl(), rows, design, 8, "python", stall, **how)
        assert cl == run_native(design, rows, 8, stall, **how)
        if stall is None:
            check_formula(design, rows, cl, 8, **how)


@each_design(*EVERY_SCHEDULE)
def test_backends_agree(design):
    """8 bits: simulation in Python, co-simulation in Verilog, and native simulation agree in every stamp,
    with delays and stalls.
    """
    everything = table(design, 8)
    rows = everything[::3] + [row for row in everything if "as usual" in row.name or "above" in row.name]
    rtl = design.at(8).rtl
    agreed(rtl, rtl, lambda top, *where: run_mod_exps(top, rows, design, 8, *where), ["verilog", "native"])


@parametrize(
    "name, base, cycles", [("mont-001", 5, 82), ("naive-001", 0x12345678, 55), ("naive-001", 0xBFFFFFE2, 69)]
)
@parametrize("schedule", one_now(("right-to-left-2", "right-to-left-1"), "right-to-left-2"))
def test_exponent_0_of_paper_001(name, base, cycles, schedule):
    """The published RTL tests the exponent after a step: exponent 0 takes the cycles of exponent 1, at all
    levels.
    """
    design = find(name)
    mod = 0xBFFFFFE3
    machine = design.at(32, schedule=schedule)
    assert machine.cycles(base, 0, mod) == cycles
    for make, backend in ((machine.cl, "python"), (machine.rtl, "python"), (machine.rtl, "native")):
        run = ran(make(), [(base, 0, mod), (base, 1, mod)], backend)
        assert run.latencies[0] == cycles
        assert [response[1] for response in run.responses] == [1, base]


MOST_NATIVE_CYCLES, MOST_PYTHON_CYCLES = 20_000_000, 1_000_000
MOST_NATIVE_BITS = 12_000_000_000  # cycles times width: 4,096 bits simulate some 12,000 cycles a second


def affordable(design, rows, nbits, most):
    """The rows, without those that would exceed this many cycles in total: wide digit-serial machines need
    millions for one.
    """
    kept, total = [], 0
    for row in rows:
        refused = row.golden(design, nbits)[0] != Status.OK
        cycles = 1 if refused else design.at(nbits).cycles(*row.request)
        if total + cycles <= most:
            kept.append(row)
            total += cycles
    return kept


def widths(design):
    """The widths that a design supports; only a few of the first design of a multiplier run outside `make
    regress`.
    """
    at_once = {"mont": 64, "naive": 64, "serial-003": 16}.get(design.name)
    cases = []
    for nbits in WIDTHS[1:]:
        try:
            design.at(nbits)
        except BadInput:
            continue
        cases.append(
            pytest.param(design, nbits, marks=regress_if(nbits != at_once), id=f"{design.name}-{nbits}")
        )
    return cases


@parametrize("design, nbits", [row for design in DESIGNS for row in widths(design)])
def test_all_widths(design, nbits):
    """The table natively at every width, with short exponents on wide machines."""
    rows = table(design, nbits, exp_nbits=min(nbits, max(3, 2048 // nbits)))
    rows = affordable(design, rows, nbits, min(MOST_NATIVE_CYCLES, MOST_NATIVE_BITS // nbits))
    check_fl_mod_exps(design, rows, nbits)
    check_native(design, rows, nbits)
    few = rows[::6] + [row for row in rows if row.name.startswith("paper")]
    few = affordable(design, few, nbits, MOST_PYTHON_CYCLES)
    twin = run_mod_exps(design.at(nbits).cl(), few, design, nbits, "python")
    assert twin == run_native(design, few, nbits)


@parametrize("nbits", one_now((15, 31, 33, 63, 100), 33))
@parametrize("name", one_now(["mont", "mont-001", "naive", "ssmm", "heap", "systolic"], "mont"))
def test_odd_widths(name, nbits):
    """Widths that are not powers of two, and one below a power (where widths of indices change)."""
    design = find(name)
    rows = table(design, nbits, exp_nbits=min(nbits, 12))
    check_native(design, rows, nbits)


@regress
@parametrize("nbits", [512, 1024, 2048])
@parametrize("name", ["mont", "mont-ct", "systolic"])
def test_full_length_exponents(name, nbits):
    """Exponents of the length of the modulus."""
    design = find(name)
    rows = [*mod_exp.drawn(nbits, nbits, 3), ModExpRow("all ones", 3, (1 << nbits) - 1, (1 << nbits) - 1)]
    check_native(design, rows, nbits)


# the cycles of the paper's own RTL without processor; the twins may differ by 5 %
@parametrize("design", [design for design in DESIGNS if design.paper == "001"], ids=NAME)
def test_twins_of_the_paper(design):
    """The twins of paper 001 have the cycles of the paper's RTL on its operands, within 5 %."""
    for row, published in zip(PAPER_001, by_name("001", "RTL")[design.name].values(), strict=True):
        (cycles,) = run_native(design, [row], 32).latencies
        assert abs(cycles - published) <= 0.05 * published, (row.name, cycles, published)


def test_ours_meets_its_goal():
    """At most 100 and 140 cycles on the paper's operands."""
    for row, most in zip(PAPER_001, (100, 140), strict=True):
        assert run_native(find("mont"), [row], 32).latencies[0] <= most


CONSTANT_TIME = [(design, how) for design, how in SCHEDULED if design.at(16, **how).promises.constant_time]


@parametrize(
    "design, how",
    chosen(
        CONSTANT_TIME,
        lambda design, how: (
            (is_sibling(design) and (design.name, how["schedule"]) != ("mont-ct", "ladder"))
            or not all(
                design.at(16, schedule=other).promises.regular for other in choices(design, "schedule")
            )
        ),
    ),
)
def test_constant_time(design, how):
    """All exponents of a length, or all exponents if promised, take the same cycles, for every base."""
    nbits = 16
    machine = design.at(nbits, **how)
    mod = machine.modulus or (1 << machine.modulus_nbits) - 15
    every = machine.promises.every_exponent
    staged = design.domain == "scaled" or machine.plan.screened
    longest = machine.cycles(1, (1 << nbits) - 1, mod) if staged else 0

    @draws(30, exps=st.lists(any_word(nbits), min_size=2, max_size=40), base=st.integers(0, mod - 1))
    def check(exps, base):
        requests = [machine.carried(base, exp, mod) for exp in exps]
        latencies = simulation.run(requests, source_delays=longest).latencies  # one at a time
        lengths = [0 if every else exp.bit_length() for exp in exps]
        by_length = set(zip(lengths, latencies, strict=True))
        assert len(by_length) == len(set(lengths)), by_length

    assert machine.check(0, 1, mod) is Status.OK
    with simulate(machine.rtl()) as simulation:
        check()

    try:
        full = design.at(8, scan="full", **how)
    except BadInput:  # no such parameter, or not with this schedule
        return
    assert full.promises.every_exponent
    with simulate(full.rtl()) as simulation:
        latencies = simulation.run([(7, exp, 251) for exp in range(256)]).latencies
        assert len(set(latencies)) == 1


def test_a_design_that_is_not_constant_time_is_found_out():
    """The check above can fail: the cycles of the plain machine distinguish exponents of a length."""
    run = ran(find("naive-001").at(8).rtl(), [(7, exp, 251) for exp in range(128, 256)])
    assert len(set(run.latencies)) > 1


@parametrize(
    "design, how",
    chosen(
        SCHEDULED,
        lambda design, how: design.name not in CONVERTING or how["schedule"] != design.schedule,
    ),
)
def test_any_exponentiation(design, how):
    any_operation(design, 8, **how)


def test_status_is_what_require_refuses():
    """`require` rejects exactly the operands that the hardware refuses with a status."""
    design = find("mont")
    for row in mod_exp.corners(16, 16):
        status = row.golden(design, 16)[0]
        assert design.at(16).check(*row.request) == status
        with nullcontext() if status == Status.OK else refused():
            design.at(16).require(*row.request)
