"""The machine on a scaled modulus: every schedule runs the table of exponentiations, at all levels, in the
same cycles.
"""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from modexlab.cl.scaled_mont import ScaledModExpCL, ScaledMontTiming, scaled_mod_exp_cycles
from modexlab.cl.timing import given_cycles
from modexlab.fl.multipliers.scaled import ScaledShape
from modexlab.fl.program.plan import Plan
from modexlab.fl.program.schedules import BINARY
from modexlab.fl.status import Status
from modexlab.rtl.machines.scaled_mod_exp import ScaledModExp
from modexlab.rtl.sim import Stall, simulate
from modexlab.rtl.units.scaled.scaled_mont import ScaledMont

from tests.harness import check_native, examples, one_now, regress_if, run_mod_exps, run_native, stamps
from tests.tables import mod_exp
from tests.tables.rows import ModExpRow


class Machine:
    """One machine: its levels, its formula, and what it refuses."""

    odd_only = reduced_only = True
    modulus = 0  # any

    def __init__(
        self,
        nbits,
        w,
        schedule,
        form="propagate",
        forward=True,
        full_scan=False,
        doublings=1,
        halvings=1,
    ):
        self.nbits = nbits
        self.unit = (nbits, w, form)
        self.shape = ScaledShape(nbits, w)
        self.plan = Plan(self.shape.wide, schedule, "given", forward=forward, full_scan=full_scan)
        self.timing = ScaledMontTiming(*self.unit)
        self.core = partial(given_cycles, self.plan, self.timing)
        self.converters = {"doublings_per_cycle": doublings, "halvings_per_cycle": halvings}

    def at(self, _nbits):
        return self

    @property
    def modulus_nbits(self):
        return self.nbits

    def carried(self, *operands):
        return operands

    def rtl(self):
        return ScaledModExp(self.plan, lambda _: ScaledMont(*self.unit), self.shape, **self.converters)

    def cl(self):
        return ScaledModExpCL(self.core, self.shape, **self.converters)

    def cycles(self, base, exp, mod):
        return scaled_mod_exp_cycles(self.core, self.shape, base, exp, mod, **self.converters)


MACHINES = [
    *(Machine(8, 4, schedule, doublings=4, halvings=4) for schedule in BINARY),
    *(Machine(8, 5, schedule, forward=False) for schedule in BINARY),
    *(Machine(8, 9, schedule, "carry-save", doublings=3, halvings=9) for schedule in BINARY),
    *(Machine(8, 4, schedule, full_scan=True, doublings=2, halvings=2) for schedule in ("always", "ladder")),
    Machine(8, 32, "ladder", doublings=32, halvings=1),  # M' is made last
]


def label(machine):
    plan = machine.plan
    return (
        f"w={machine.unit[1]} {machine.unit[2]} {plan.schedule} forward={plan.forward} full={plan.full_scan}"
    )


def is_later(machine):
    """Control does not see the form of the unit's sums, that it forwards nothing, or whether all bits of an
    exponent are scanned: one schedule shows each."""
    plain = machine.unit[1] == 4 and not machine.plan.full_scan
    return machine.unit[2] == "carry-save" or machine.plan.schedule != (
        "right-to-left-2" if plain else "ladder"
    )


@pytest.mark.parametrize(
    "machine",
    [pytest.param(machine, id=label(machine), marks=regress_if(is_later(machine))) for machine in MACHINES],
)
def test_table_at_every_level(machine):
    """8 bits: CL and native RTL give the row's answer in the same cycles, stalls included; the formula says
    how many.
    """
    rows = mod_exp.table(8)
    for stall in (None, Stall(seed=9, source=0.2, sink=0.3)):
        cl = run_mod_exps(machine.cl(), rows, machine, machine.nbits, "python", stall)
        rtl = run_native(machine, rows, machine.nbits, stall)
        assert stamps(cl) == stamps(rtl)
    with simulate(machine.rtl(), "native") as sim:
        for row in rows:
            assert sim.run([row.request]).latencies == [machine.cycles(*row.request)], row


def test_stages_agree():
    """8 bits: simulated in Python, co-simulated in Verilator, and native, in every stamp."""
    rows = mod_exp.table(8)
    machine = Machine(8, 4, "right-to-left-2", doublings=4, halvings=4)
    runs = [
        stamps(run_mod_exps(machine.rtl(), rows, machine, machine.nbits, stage))
        for stage in ("python", "verilog", "native")
    ]
    assert runs[0] == runs[1] == runs[2]


def test_operations_follow_each_other():
    """Three operations with three moduli are under way at once, and each leaves by its own."""
    machine = Machine(16, 4, "ladder", doublings=4, halvings=1)
    requests = [(5, 40000 + i, 0xFFF1 - 2 * i) for i in range(8)]
    with simulate(machine.rtl(), "native") as sim:
        run = sim.run(requests)
    assert run.responses == [(Status.OK, pow(*request)) for request in requests]
    assert any(run.accepted[i + 2] < run.done[i] for i in range(6))
    assert run.cycles < sum(machine.cycles(*request) for request in requests)


@pytest.mark.parametrize(
    ("nbits", "w", "schedule"),
    [
        pytest.param(*case, marks=regress_if(case[0] != 63))
        for case in (
            # widths just below a power of two: constants of the translation must not wrap around
            (15, 4, "ladder"),
            (63, 16, "right-to-left-1"),
            (16, 16, "left-to-right"),
            (32, 16, "right-to-left-2"),
            (64, 8, "ladder"),
            (128, 16, "always"),
            (256, 32, "right-to-left-1"),
            (512, 16, "right-to-left-2"),
            (1024, 32, "ladder"),
            (2048, 32, "right-to-left-2"),
            (4096, 32, "right-to-left-2"),
        )
    ],
)
def test_wide(nbits, w, schedule):
    """The table natively at larger widths; exponents are short where the machine is wide."""
    rows = mod_exp.table(nbits, exp_nbits=min(nbits, max(3, 2048 // nbits)))
    machine = Machine(nbits, w, schedule, doublings=4, halvings=4)
    check_native(machine, rows, nbits)


@pytest.mark.regress
@pytest.mark.parametrize(("nbits", "w"), [(512, 16), (1024, 16), (1024, 32), (2048, 32)])
def test_full_length_exponents(nbits, w):
    """Exponents as long as the modulus."""
    rows = [*mod_exp.drawn(nbits, nbits, 3), ModExpRow("all ones", 3, (1 << nbits) - 1, (1 << nbits) - 1)]
    machine = Machine(nbits, w, "right-to-left-2", doublings=4, halvings=4)
    run_native(machine, rows, nbits)


@pytest.mark.parametrize(
    "schedule",
    one_now(BINARY, "right-to-left-2"),
)
def test_any_exponentiation(schedule):
    """Hypothesis: any operands at all at 16 bits, legal or not: status, result and formula."""
    machine = Machine(16, 6, schedule, doublings=3, halvings=2)
    word = st.integers(0, 2**16 - 1)
    with simulate(machine.rtl(), "native") as simulation:

        @settings(max_examples=examples(300))
        @given(st.tuples(word, word, word), st.booleans())
        def check(operands, legal):
            base, exp, mod = operands
            if legal:
                mod |= 1
                base %= mod
            run = simulation.run([(base, exp, mod)])
            assert run.responses == [ModExpRow("drawn", base, exp, mod).golden(machine, machine.nbits)]
            assert run.latencies == [machine.cycles(base, exp, mod)]

        check()


@pytest.mark.parametrize("schedule", one_now(("always", "ladder"), "ladder"))
def test_constant_time(schedule):
    """All exponents, bases and moduli take the same cycles where all bits are scanned."""
    machine = Machine(8, 4, schedule, full_scan=True, doublings=4, halvings=4)
    with simulate(machine.rtl(), "native") as simulation:
        by_exponent = [simulation.run([(7, exp, 251)]).latencies[0] for exp in range(256)]
        by_modulus = [simulation.run([(mod // 2, 77, mod)]).latencies[0] for mod in range(1, 256, 2)]
    assert len({*by_exponent, *by_modulus}) == 1
