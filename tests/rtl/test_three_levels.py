"""Machines with controllers of their own, and the units of arrays: RTL, cycle-level model and formula agree
in every cycle, and a cycle more in one of them makes the comparison fail and name it.

ModExp and its multipliers have the same comparison in test_mod_exp.py.
"""

import re
from functools import partial

import pytest
from hypothesis import strategies as st
from modexlab.cl import (
    digit_serial,
    fold_exp,
    heap_mont,
    scaled_mod_exp,
    serial_exp,
    serial_mod_exp,
    systolic,
    tiny_exp,
)
from modexlab.eval.designs import own_controller
from modexlab.eval.designs.catalogue import find
from modexlab.fl.multipliers.row_fold import FoldShape
from modexlab.fl.multipliers.scaled import ScaledShape
from modexlab.fl.multipliers.systolic import SystolicShape
from modexlab.fl.status import Status
from modexlab.rtl.messages import declare_streams, mk_modexp_resp, mk_request
from modexlab.rtl.sim import Stall, simulate
from modexlab.rtl.units.heap.heap_mont import HeapMont
from modexlab.rtl.units.systolic.systolic_mont import SystolicMont
from pymtl3 import Component, Wire, update, update_ff

from tests.harness import agree_in_cycles, any_odd, any_word, case, draws, parametrize, ran

case_now = partial(case, later=False)
STALL = Stall(seed=7, source=0.3, sink=0.4)
# designs with the shapes of their words, digits and tables; the models have the stages of each
SHAPES = [
    case_now("systolic-002", 8),
    case_now("systolic-002", 9, digit_nbits=3, words=5),
    case_now("systolic-002", 12, digit_nbits=4, words=4),
    case("systolic-002", 12, digit_nbits=16),
    case_now("systolic", 8),
    case_now("systolic", 10, digit_nbits=5),
    case("systolic", 12, digit_nbits=16, doublings_per_cycle=4),
    case_now("serial-003", 13, digit_nbits=5),
    case_now("serial-003", 16, digit_nbits=6),
    case_now("serial-003-one", 14, digit_nbits=8),
    case("serial-003-one", 9, digit_nbits=2),
    case_now("serial", 13, digit_nbits=10, step_nbits=5),
    case_now("serial", 14, digit_nbits=8, step_nbits=4),
    case("serial", 33, digit_nbits=18, step_nbits=6),
    case_now("tiny", 8, digit_nbits=2),
    case("tiny", 9, digit_nbits=1),
    case_now("tiny", 8, digit_nbits=8),
    case_now("tiny-ct", 8, digit_nbits=4),
    case_now("fold", 8, residues_per_cycle=1),
    case_now("fold", 8, residues_per_cycle=2),
    case_now("fold", 9, residues_per_cycle=3),
    case("fold", 17, residues_per_cycle=4),
    case_now("fold-ct", 8, residues_per_cycle=3),
]


class CycleMore(Component):
    """A machine whose response is a cycle late."""

    def construct(s, Request, Response, rtl):
        declare_streams(s, Request, Response)
        s.machine = rtl()
        s.machine.istream //= s.istream
        s.full = Wire()
        s.response = Wire(Response)
        s.ostream.val //= s.full
        s.ostream.msg //= s.response

        @update
        def ready():
            s.machine.ostream.rdy @= ~s.full | s.ostream.rdy

        @update_ff
        def hold():
            if s.reset:
                s.full <<= 0
            elif s.machine.ostream.rdy:
                s.full <<= s.machine.ostream.val
                s.response <<= s.machine.ostream.msg


def late(work):
    """A generator that takes a cycle more."""

    def longer(*operands, **named):
        yield
        return (yield from work(*operands, **named))

    return longer


def operands(machine):
    """Base, exponent and modulus, legal or not."""
    nbits = machine.nbits
    word = any_word(nbits)
    exp = st.one_of(st.sampled_from((0, 1, 2, (1 << nbits) - 1, 1 << nbits - 1)), word)
    mod = st.one_of(st.sampled_from((0, 1, 2, 3)), any_odd(machine.modulus_nbits), word)
    base = st.one_of(word, st.integers(0, (1 << nbits) - 1))
    legal = st.tuples(base, exp, mod).map(lambda drawn: (drawn[0] % (drawn[2] or 1), *drawn[1:]))
    return st.one_of(legal, st.tuples(base, exp, mod))


def fresh(name, nbits, **how):
    """A machine that is planned anew, from the formulas of now."""
    machine = find(name).at(nbits, **how)
    return machine.design.planned(nbits, machine.values)


def compared(machine, requests, rtl=None):
    """Compare results with `pow`, and the cycles of the levels; with stalls the stamps of RTL and CL."""
    with (
        simulate(rtl or machine.rtl(), "python") as hardware,
        simulate(machine.cl(), "python") as model,
    ):
        for request in requests:
            carried = [machine.carried(*request)]
            status = machine.check(*request)
            expected = status, pow(*request) if status == Status.OK else 0
            run, other = hardware.run(carried), model.run(carried)
            assert run.responses == other.responses == [expected], request
            taken, modelled, formula = run.latencies[0], other.latencies[0], machine.cycles(*request)
            agree_in_cycles(request, RTL=taken, CL=modelled, formula=formula)
        carried = [machine.carried(*request) for request in requests]
        assert hardware.run(carried, stall=STALL) == model.run(carried, stall=STALL)


@parametrize("name, nbits, how", SHAPES)
def test_any_exponentiation(name, nbits, how):
    machine = find(name).at(nbits, **how)

    @draws(3, st.lists(operands(machine), min_size=6, max_size=6))
    def check(requests):
        compared(machine, requests)

    check()


# ---- a cycle more in one level

# a design, and in its model the generator of a part that each operation has
MODELS = [
    ("systolic-002", {}, systolic, "systolic_product"),
    ("systolic", {}, scaled_mod_exp, "scaled_product"),
    ("serial-003", {}, serial_mod_exp, "products"),
    ("serial", {}, serial_exp.Passes, "scaled"),
    ("tiny", {"digit_nbits": 4}, tiny_exp, "one_pass"),
    ("fold", {}, fold_exp.FoldPipeline, "divide"),
]
REQUEST = 5, 0b101, 13
DESIGNS = parametrize("name, how", [row[:2] for row in MODELS], ids=[row[0] for row in MODELS])


@parametrize("name, how, owner, part", MODELS, ids=[row[0] for row in MODELS])
def test_a_wrong_model_is_named(name, how, owner, part, monkeypatch):
    monkeypatch.setattr(owner, part, late(getattr(owner, part)))
    with pytest.raises(
        AssertionError, match=r"RTL takes (\d+) cycles, CL takes (?!\1 )\d+ .*formula takes \1 "
    ):
        compared(find(name).at(8, **how), [REQUEST])


@DESIGNS
def test_a_wrong_formula_is_named(name, how, monkeypatch):
    find(name).at(8, **how)  # other tests get this machine, with the right formulas
    for formula in (formula for formula in dir(own_controller) if formula.endswith("_exp_cycles")):
        right = getattr(own_controller, formula)
        monkeypatch.setattr(own_controller, formula, lambda *of, right=right, **by: right(*of, **by) + 1)
    with pytest.raises(
        AssertionError, match=r"RTL takes (\d+) cycles, CL takes \1 cycles, formula takes (?!\1 )\d+ "
    ):
        compared(fresh(name, 8, **how), [REQUEST])


@DESIGNS
def test_wrong_hardware_is_named(name, how):
    machine = find(name).at(8, **how)
    slow = CycleMore(mk_request(machine.shape), mk_modexp_resp(8), machine.rtl)
    with pytest.raises(
        AssertionError, match=r"RTL takes (\d+) cycles, CL takes (?!\1 )(\d+) .*formula takes \2 "
    ):
        compared(machine, [REQUEST], slow)


@parametrize(
    "name, owner, constant",
    [
        ("serial-003", digit_serial, "serial_product_cycles"),
        ("serial", digit_serial, "scaled_serial_product_cycles"),
        ("tiny", tiny_exp, "tiny_product_cycles"),
        ("systolic-002", systolic, "systolic_interval"),
    ],
    ids=["serial-003", "serial", "tiny", "systolic-002"],
)
def test_models_owe_nothing_to_the_formulas(name, owner, constant, monkeypatch):
    """A model does not follow a part of the formula that is wrong."""
    monkeypatch.setattr(owner, constant, lambda *of: 1)
    with pytest.raises(AssertionError, match=r"RTL takes (\d+) cycles, CL takes \1 cycles, formula takes "):
        compared(find(name).at(8), [REQUEST])


@parametrize("constant", ["lead_cycles", "tail_cycles"])
def test_model_of_fold_owes_nothing_to_the_constants_of_its_hardware(constant, monkeypatch):
    right = getattr(FoldShape, constant).fget
    monkeypatch.setattr(FoldShape, constant, property(lambda shape: right(shape) + 1))
    shape = FoldShape(8)
    formula = fold_exp.fold_exp_cycles(shape, False, *REQUEST)
    with simulate(fold_exp.FoldExpCL(shape, False), "python") as model:
        assert model.run([REQUEST]).latencies == [formula - 1]


# ---- the units of arrays


FACTORS, MODULUS = (5, 6), 13
WORDS = SystolicShape(8, 4, 3)
SCALED = ScaledShape(8, 4)
HEAP = partial(HeapMont, 8, 4), partial(heap_mont.HeapMontCL, 8, 4), partial(heap_mont.HeapMontTiming, 8, 4)
M_PRIME = pow(1 << SCALED.scale_nbits, -1, MODULUS)


def compared_products(rtl, cl, timing, modulus, **statics):
    """Compare the product, and the cycles of the levels."""
    hardware = ran(rtl, [FACTORS], "python", statics=[{"modulus": modulus, **statics}])
    model = ran(cl, [FACTORS], "python", statics=[{"modulus": modulus}])
    assert hardware.responses == model.responses
    agree_in_cycles(FACTORS, RTL=hardware.latencies[0], CL=model.latencies[0], formula=timing.fixed)


def systolic_products():
    rtl, cl = SystolicMont(WORDS), systolic.SystolicMontCL(WORDS)
    n_prime = WORDS.inverse(MODULUS)
    compared_products(rtl, cl, systolic.systolic_timing(WORDS), MODULUS, n_prime=n_prime)


def test_units_agree():
    rtl, cl, timing = HEAP
    compared_products(rtl(), cl(), timing(), M_PRIME)
    systolic_products()


@parametrize("changed, others", [("RTL", "CL formula"), ("CL", "RTL formula"), ("formula", "RTL CL")])
@parametrize("how", [{"loads": 2}, {"adds": 2}], ids=["loads", "adds"])
def test_a_level_of_heap_mont_with_a_cycle_more_is_named(changed, others, how):
    levels = dict(zip(("RTL", "CL", "formula"), HEAP, strict=True))
    made = {name: make(**how) if name == changed else make() for name, make in levels.items()}
    with pytest.raises(AssertionError) as wrong:
        compared_products(*made.values(), M_PRIME)
    cycles = dict(re.findall(r"(\w+) takes (\d+) cycles", str(wrong.value)))
    assert len({cycles[name] for name in others.split()}) == 1
    assert int(cycles[changed]) == int(cycles[others.split()[0]]) + 1


def test_a_wrong_model_of_systolic_mont_is_named(monkeypatch):
    monkeypatch.setattr(systolic, "systolic_product", late(systolic.systolic_product))
    with pytest.raises(AssertionError, match="RTL takes 13 cycles, CL takes 14 cycles, formula takes 13 "):
        systolic_products()
