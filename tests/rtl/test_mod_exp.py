"""ModExp under any plan: RTL, cycle-level model and formula agree in every result and every cycle.

A plan is drawn with a schedule, a conversion, forwarding, a scan and a multiplier; the operands with corners
of the exponent and the modulus. The Python simulation of the RTL is compared here; other backends run the
tables of the designs (test_machines.py).
"""

from dataclasses import replace

import pytest
from hypothesis import strategies as st
from modexlab.cl import mod_exp as model
from modexlab.cl import timing
from modexlab.cl.mont_mul_rem import MontMulRemCL
from modexlab.cl.mul_rem import MulRemCL
from modexlab.cl.serial import ShiftSubCL
from modexlab.eval.designs.catalogue import find
from modexlab.fl.mod_exp import operand_status
from modexlab.fl.program.plan import Plan
from modexlab.fl.program.schedules import BINARY, SCHEDULES
from modexlab.fl.status import Status
from modexlab.rtl.mod_exp.mod_exp import ModExp
from modexlab.rtl.mod_exp.shape import ALL_STATES, ModExpShape
from modexlab.rtl.sim import Stall, simulate
from modexlab.rtl.units.mont_mul_rem import MontMulRem
from modexlab.rtl.units.mul_rem import MulRem
from modexlab.rtl.units.shift_sub import ShiftSub

from tests.harness import agree_in_cycles, draws, parametrize, refused

NBITS = 8
STALL = Stall(seed=11, source=0.3, sink=0.4)
# multipliers: RTL, cycle-level model, formula
MULTIPLIERS = {
    "identity": (MulRem, MulRemCL, timing.MulRemTiming(NBITS, "restoring", 1, 0)),
    "residue": (
        lambda nbits: ShiftSub(nbits, 1, "noticed"),
        lambda nbits: ShiftSubCL(nbits, 1, "noticed"),
        timing.ShiftSubTiming(NBITS, 1, "noticed"),
    ),
    "montgomery": (
        lambda nbits: MontMulRem(nbits, 2, 1, "koc", False),
        lambda nbits: MontMulRemCL(nbits, 2, 1, "koc", False),
        timing.MontMulRemTiming(NBITS, 2, 1, False),
    ),
    "pipelined": (  # two products of one unit overlap
        lambda nbits: MontMulRem(nbits, 2, 4, "koc", True),
        lambda nbits: MontMulRemCL(nbits, 2, 4, "koc", True),
        timing.MontMulRemTiming(NBITS, 2, 4, True),
    ),
}


@st.composite
def plans(draw):
    """A plan and its multiplier."""
    kind = draw(st.sampled_from([*MULTIPLIERS]))
    schedule = draw(st.sampled_from(BINARY))
    right = schedule.startswith("right")
    forward = draw(st.booleans())
    full_scan = SCHEDULES[schedule].full_scan and draw(st.booleans())
    plan = Plan(NBITS, schedule, forward=forward, full_scan=full_scan, doublings_per_cycle=2)
    if kind in ("identity", "residue"):
        once = right and not forward and draw(st.booleans())
        return kind, replace(plan, reduced_only=kind == "residue", steps_once=once)
    conversion = draw(st.sampled_from(("double", "square", "shift-sub")))
    squarings = draw(st.integers(0, 2)) if conversion == "square" else 0
    return kind, replace(plan, conversion=conversion, squarings=squarings, plain_result=draw(st.booleans()))


@st.composite
def operands(draw):
    """Base, exponent and modulus: small, all ones, powers of two, or any."""
    word = st.integers(0, (1 << NBITS) - 1)
    exp = draw(st.one_of(st.sampled_from((0, 1, 2, 3, 128, 129, 254, 255)), word))
    mod = draw(st.one_of(st.sampled_from((0, 1, 2, 3, 127, 128, 255)), word, word.map(lambda n: n | 1)))
    base = draw(st.one_of(word, word.map(lambda n: n % (mod or 1)), st.just(max(0, mod - 1))))
    return base, exp, mod


def cycles_of(plan, kind, request):
    """The closed formula."""
    return timing.mod_exp_cycles(plan, MULTIPLIERS[kind][2], *request)


def compared(kind, plan, requests):
    """Compare results with `pow`, and cycles of RTL, model and formula; with stalls the stamps of both."""
    rtl, cl, _ = MULTIPLIERS[kind]
    hardware, twin = simulate(ModExp(plan, rtl), "python"), simulate(model.ModExpCL(plan, cl), "python")
    ran, modelled = hardware.run(requests), twin.run(requests)
    for request, answer, taken, also in zip(
        requests, ran.responses, ran.latencies, modelled.latencies, strict=True
    ):
        base, exp, mod = request
        status = operand_status(base, mod, odd_only=plan.odd_only, reduced_only=plan.reduced_only)
        assert answer == (status, pow(base, exp, mod) if status == Status.OK else 0), (plan, request)
        agree_in_cycles(request, RTL=taken, CL=also, formula=cycles_of(plan, kind, request))
    assert ran.responses == modelled.responses
    assert hardware.run(requests, stall=STALL) == twin.run(requests, stall=STALL)


@draws(6, plans(), st.lists(operands(), min_size=8, max_size=8))
def test_any_plan(drawn, requests):
    compared(*drawn, requests)


PLAN = Plan(NBITS, "right-to-left-2", "double", forward=True)
REQUESTS = [(5, 0b1101, 13)]


def test_a_wrong_formula_is_named(monkeypatch):
    monkeypatch.setattr(timing, "loop_cycles", lambda *of: 1)
    with pytest.raises(
        AssertionError, match=r"RTL takes 19 cycles, CL takes 19 cycles, formula takes 4 cycles"
    ):
        compared("montgomery", replace(PLAN, doublings_per_cycle=4), REQUESTS)


def test_a_wrong_model_is_named(monkeypatch):
    right = model.doublings

    def late(*of):
        yield
        return (yield from right(*of))

    monkeypatch.setattr(model, "doublings", late)
    with pytest.raises(
        AssertionError, match=r"RTL takes (\d+) cycles, CL takes (?!\1)\d+ .*formula takes \1 "
    ):
        compared("montgomery", PLAN, REQUESTS)


def test_wrong_hardware_is_named():
    """A controller that forwards no product."""
    rtl, cl, formula = MULTIPLIERS["montgomery"]
    slow = simulate(ModExp(replace(PLAN, forward=False), rtl), "python").run(REQUESTS)
    quick = simulate(model.ModExpCL(PLAN, cl), "python").run(REQUESTS)
    with pytest.raises(
        AssertionError, match=r"RTL takes (\d+) cycles, CL takes (?!\1)(\d+) .*formula takes \2 "
    ):
        agree_in_cycles(
            REQUESTS[0],
            RTL=slow.latencies[0],
            CL=quick.latencies[0],
            formula=timing.mod_exp_cycles(PLAN, formula, *REQUESTS[0]),
        )


@parametrize(
    "name, how, states",
    [
        ("mont", {}, "IDLE CONVERT STEP DONE"),
        ("naive-001", {}, "IDLE STEP DONE"),
        ("mmmul-004", {}, "IDLE CONSTANT ENTER STEP LEAVE DONE"),
        (
            "mont",
            {"schedule": "left-to-right"},
            "IDLE CONVERT CONVERT_ONE ALIGN COPY SQUARE MULTIPLY LEAVE DONE",
        ),
        ("naive", {"schedule": "left-to-right"}, "IDLE ALIGN REDUCE SQUARE MULTIPLY DONE"),
    ],
)
def test_states(name, how, states):
    """A machine has the states of its figure and no other."""
    assert ModExpShape(find(name).at(32, **how).plan).states == tuple(states.split())
    assert set(states.split()) <= set(ALL_STATES)


@parametrize("how", [{"crt": True}, {"schedule": "fixed-window"}, {"blind": "both"}, {"fit": "modulus"}])
def test_settings_of_programs_name_the_designs_that_have_them(how):
    with refused("give mont-keyed or heap, which have a program"):
        find("mont").at(32, **how)
