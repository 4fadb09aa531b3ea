"""Defects planted in the hardware sources are caught by the proof check that claims to find them."""

import functools
import importlib
import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from modexlab.cl.timing import MontMulRemTiming
from modexlab.eval.assurance.proof import benches, exhaustive, guards
from modexlab.eval.assurance.proof.registry import checks
from modexlab.eval.assurance.proof.unit_checks import unit_checks
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.claims import claims_of
from modexlab.eval.designs.interfaces import AXI4LITE
from modexlab.eval.designs.machine import _planned
from modexlab.eval.designs.multipliers import mont_mul_rem
from modexlab.eval.designs.multipliers.multiplier import Unit
from modexlab.eval.designs.protection import private_settings
from modexlab.flow.prove.assertions import Decision
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.rtl.keyed import residue_dpath
from modexlab.rtl.mod_exp import mod_exp
from modexlab.rtl.sim.translation import translated
from modexlab.rtl.sim.translation.translate import translate
from modexlab.rtl.units import shift_sub
from modexlab.rtl.units.mont_mul_rem import MontMulRem

from tests.harness import later, parametrize, regress, regress_if

from .test_proof import changed

SECONDS = 60.0  # CPU seconds of a check
GOES_AROUND = "s.again @= s.valid[LAST] & (s.turn[LAST] != s.last_pass)"


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """A function that loads a copy of a module with one text replaced; caches would return the original."""
    monkeypatch.setattr(translated, "entry_name", lambda *_: None)
    # a cached machine has the original unit
    monkeypatch.setattr("modexlab.eval.designs.machine._planned", _planned.__wrapped__)

    def planted(name, old, new):
        text = Path(importlib.import_module(name).__file__).read_text()
        assert text.count(old) == 1
        parts = name.split(".")
        absolute = re.sub(
            r"^from (\.+)", lambda dots: f"from {'.'.join(parts[: -len(dots[1])])}.", text, flags=re.MULTILINE
        )
        path = tmp_path / f"planted_{parts[-1]}.py"
        path.write_text(absolute.replace(old, new))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, made)
        spec.loader.exec_module(made)
        return made

    return planted


def run(check):
    return check.run(SECONDS)


def found(kind, name="mont", nbits=8, **settings):
    """The outcome of the first check of this kind for a machine."""
    return run(checks(find(name).at(nbits, **settings), [kind])[0])


@pytest.fixture
def hasty(plant, monkeypatch):
    """A MontMulRem that ends at once for b = 0, with right answers."""
    changed = plant(
        "modexlab.rtl.units.mont_mul_rem", GOES_AROUND, f"{GOES_AROUND} & (s.b[0] != 0)"
    ).MontMulRem
    monkeypatch.setattr(mont_mul_rem, "MontMulRem", changed)
    monkeypatch.setitem(exhaustive.ANSWERS, changed, exhaustive.ANSWERS[MontMulRem])
    return changed


def answers(unit):
    """The check of 4-bit products in two passes."""
    timing = MontMulRemTiming(4, 2, 1, False)
    multiplier = Unit(lambda nbits: unit(nbits, 2, 1, "textbook", False), lambda _: unit(), timing)
    hardware = multiplier.rtl(4)
    hardware.elaborate()
    return next(check for check in unit_checks(hardware, (multiplier, 4)) if "answers" in check.name)


def test_a_product_that_is_too_fast(hasty):
    """A promised latency is exact: the timing promises two cycles."""
    right = answers(MontMulRem)
    assert right.says.endswith("; in 2 cycles") and run(right).verdict == PROVED
    outcome = run(answers(hasty))
    (wrong,) = outcome.counterexample
    assert outcome.verdict == REFUTED and wrong["b"] == 0 and wrong["cycles"] == 1


def test_time_of_a_machine_with_such_a_unit(hasty):
    """The counterexample is a pair of operations with different latencies; the check is not undecided."""
    time = checks(find("mont").at(8, steps_per_stage=2, nstages=1), ["time"])[0]
    assert time.says == "as many cycles for all bases and all exponents of a length"
    outcome = run(time)
    assert outcome.verdict == REFUTED
    one, other = outcome.counterexample
    assert one["cycles"] != other["cycles"] and one["exp"].bit_length() == other["exp"].bit_length()


def test_a_unit_without_reset(plant, monkeypatch):
    """The handshakes of the unit and of the machine are disproved: an answer from before the reset would be
    the next one.
    """
    load = "if s.load:\n                s.st <<= STEP"
    changed = plant(
        "modexlab.rtl.units.serial_ctrl",
        f"if s.reset:\n                s.st <<= IDLE\n            el{load}",
        load,
    )
    monkeypatch.setattr(shift_sub, "SerialCtrl", changed.SerialCtrl)
    for check in checks(find("ssmm").at(8), ["protocol", "ShiftSub"]):
        if "answers" not in check.name:
            outcome = run(check)
            assert outcome.verdict == REFUTED and outcome.how == "a unit is not at rest after a reset"


def zeroised(*change):
    """The verdict on mont behind AXI4-Lite with a change in its slave."""
    machine = find("mont").at(8)
    slave = machine.exported(AXI4LITE)
    slave.elaborate()
    return guards.zeroise(machine, SECONDS, changed(translate(slave, whole=True), *change)).verdict


@parametrize(
    "change",
    [
        pytest.param(change, id=name, marks=regress_if(at > 1))
        for at, (name, *change) in enumerate((
            ("operands kept", "clear = (st == CLEAR) | (st == SETTLE)", "clear = 1'd0"),
            ("answer delivered", "ends = (st == RUN) & resp__val & ~drops", "ends = (st == RUN) & resp__val"),
            ("result kept", "reset | clear | (start & ~too_wide)", "reset | (start & ~too_wide)"),
            ("machine not overwritten",
             "if (drops) begin\n              st <= CLEAR", "if (drops) begin\n              st <= IDLE"),
            ("key kept over a reset",
             "if (reset) begin\n      st <= CLEAR", "if (reset) begin\n      st <= IDLE"),
            ("start while busy", "wen & starts & ~busy", "wen & starts"),
        ))
    ],
)  # fmt: skip
def test_zeroise_that_leaves_something(change):
    assert zeroised(change) == REFUTED


@regress
def test_zeroise():
    assert zeroised() == PROVED


def test_a_base_that_is_the_modulus(plant, monkeypatch):
    changed = plant("modexlab.rtl.mod_exp.operand_check", "s.base >= s.mod", "s.base > s.mod")
    monkeypatch.setattr(mod_exp, "check_operands", changed.check_operands)
    outcome = found("refusal")
    (wrong,) = outcome.counterexample
    assert outcome.verdict == REFUTED
    assert wrong["base"] == wrong["mod"] and wrong["status"] == 0


def guarded(guard, change, name="mont"):
    """The verdicts on a guard of a design, and on it with this change of its Verilog."""
    claims = claims_of(find(name).at(8))
    design = benches.Stream.of(claims.accelerator.rtl())
    wrong = replace(design, verilog=changed(design.verilog, change))
    return [guard(claims, claims.guards, item, SECONDS).verdict for item in (design, wrong)]


@regress
def test_refusals():
    """Proved; a comparison that is wrong for a single modulus, which no corner case covers, is disproved."""
    old = "too_large = base >= mod"
    assert guarded(guards.refusal, (old, f"{old} && mod != 8'd77")) == [PROVED, REFUTED]


@parametrize(
    "name, settings",
    [
        ("mont-keyed", {"crt": True, "verify": True}),
        *later(
            ("mont-keyed", {"verify": True}),
            ("mont-keyed", {"crt": True, "verify": False}),
        ),
    ],
)
def test_refusals_with_a_key(name, settings, monkeypatch):
    """A checked result is withheld for a bad base; CRT refuses an even modulus and even primes. Only the
    native corner cases decide.
    """
    monkeypatch.setattr(guards, "decide", lambda *_, **__: Decision(PROVED, "not asked"))
    assert found("refusal", name, 16, schedule="fixed-window", **settings).verdict == PROVED


def test_an_even_prime_with_another_status(plant):
    refusal = "msg.q[0]):\n                    s.in_status @= "
    changed = plant("modexlab.rtl.keyed.program_exp", f"{refusal}BAD_KEY", f"{refusal}6")
    machine = find("mont-keyed").at(16, schedule="fixed-window", crt=True, verify=False)
    rtl = machine.build.rtl
    assert isinstance(rtl, functools.partial)
    hardware = functools.partial(changed.ProgramExp, *rtl.args, **rtl.keywords)
    claims = claims_of(replace(machine, build=replace(machine.build, rtl=hardware)))
    wrong = guards.wrong_corner(claims, claims.guards.corners())
    assert not wrong["p"] & wrong["q"] & 1 and wrong["status"] == 6


def test_a_memory_that_is_not_wiped(plant, monkeypatch):
    """The memory of a table ignores writes of 0."""
    changed = plant(
        "modexlab.rtl.units.memory.residue_memory", "if s.write:", "if s.write & (s.in_data != 0):"
    )
    monkeypatch.setattr(residue_dpath, "ResidueMemory", changed.ResidueMemory)
    monkeypatch.setattr(guards, "MEMORIES", (changed.ResidueMemory,))
    outcome = found("wipe", "mont-keyed")
    assert outcome.verdict == REFUTED and "dpath.memory.words" in outcome.how


@regress
def test_wiping():
    """Proved; a memory that keeps a single value, which no operation shows, is disproved."""
    change = "if (write) begin", "if (write && !(words[write_at] == 8'd77)) begin"
    assert guarded(guards.wipe, change, "mont-keyed") == [PROVED, REFUTED]
    assert not [check for check in checks(find("mont").at(8)) if check.name == "wipe"]


@regress
def test_guards_of_a_private_operation():
    """The memory has the numbers of a key, and the result is checked."""
    design = find("mont-keyed")
    settings = private_settings(design, 16, {}, crt=False, blind="no", verify=True)
    for check in checks(design.at(16, **settings), ["wipe", "zeroise"]):
        assert run(check).verdict == PROVED, check.name
