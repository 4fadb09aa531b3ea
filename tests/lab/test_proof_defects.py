"""Defects planted in the sources of hardware: the check that promises to find them does."""

import functools
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from modexlab.cl.timing import MontMulRemTiming
from modexlab.eval.assurance.proof import guards
from modexlab.eval.assurance.proof.exhaustive import ANSWERS
from modexlab.eval.assurance.proof.machine_checks import stream
from modexlab.eval.assurance.proof.registry import checks
from modexlab.eval.assurance.proof.unit_checks import unit_checks
from modexlab.eval.designs import catalogue, design
from modexlab.eval.designs.interfaces import AXI4LITE
from modexlab.eval.designs.multipliers import mont_mul_rem
from modexlab.eval.designs.multipliers.multiplier import Unit
from modexlab.eval.designs.protection import private_settings
from modexlab.fl.status import Status
from modexlab.flow.prove.assertions import Outcome
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.rtl.machines import program_exp, residue_dpath
from modexlab.rtl.sim.translation import translated
from modexlab.rtl.sim.translation.translate import translate
from modexlab.rtl.units import shift_sub
from modexlab.rtl.units.mont_mul_rem import MontMulRem

SECONDS = 60.0  # CPU seconds of a check
GOES_AROUND = "s.again @= s.valid[LAST] & (s.turn[LAST] != LAST_PASS)"
Planting = Callable[[str, str, str], ModuleType]


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """A copy of a module with one text in place of another; caches would take it for the right one."""
    monkeypatch.setattr(translated, "entry_name", lambda *_: None)
    monkeypatch.setattr(design, "_planned", design._planned.__wrapped__)  # a kept machine has the right unit

    def planted(name, old, new):
        source = importlib.import_module(name).__file__
        text = Path(source).read_text()
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
    return check.run(SECONDS, lambda *_: None)


@pytest.fixture
def hasty(plant, monkeypatch):
    """MontMulRem that ends at once for b = 0; its answers are right."""
    changed = plant(
        "modexlab.rtl.units.mont_mul_rem", GOES_AROUND, f"{GOES_AROUND} & (s.b[0] != 0)"
    ).MontMulRem
    monkeypatch.setattr(mont_mul_rem, "MontMulRem", changed)
    monkeypatch.setitem(ANSWERS, changed, ANSWERS[MontMulRem])
    return changed


def answers(unit):
    """The check of products of 4 bits, in two passes."""
    timing = MontMulRemTiming(4, 2, 1, False)
    multiplier = Unit(lambda nbits: unit(nbits, 2, 1, "textbook", False), lambda _: unit(), timing)
    hardware = multiplier.rtl(4)
    hardware.elaborate()
    return next(check for check in unit_checks(hardware, multiplier, 4) if "answers" in check.name)


def test_a_product_that_is_too_fast(hasty):
    """A promised latency is exact: its timing says two cycles."""
    right = answers(MontMulRem)
    assert right.says.endswith("; in 2 cycles") and run(right).verdict == PROVED
    found = run(answers(hasty))
    assert found.verdict == REFUTED
    assert found.counterexample[0]["b"] == 0 and found.counterexample[0]["cycles"] == 1


def test_time_of_a_machine_with_such_a_unit(hasty):
    """Disproved by two operations, and no longer undecided."""
    machine = catalogue.find("mont").at(8, steps_per_stage=2, nstages=1)
    time = checks(machine, ["time"])[0]
    assert time.says == "as many cycles for all bases and all exponents of a length"
    found = run(time)
    assert found.verdict == REFUTED
    one, other = found.counterexample
    assert one["cycles"] != other["cycles"] and one["exp"].bit_length() == other["exp"].bit_length()


def test_a_unit_without_reset(plant, monkeypatch):
    """Its handshakes and the machine's are disproved: an answer of before the reset would be the next one."""
    load = "if s.load:\n                s.st <<= STEP"
    changed = plant(
        "modexlab.rtl.units.serial_ctrl",
        f"if s.reset:\n                s.st <<= IDLE\n            el{load}",
        load,
    )
    monkeypatch.setattr(shift_sub, "SerialCtrl", changed.SerialCtrl)
    machine = catalogue.find("ssmm").at(8)
    for check in checks(machine, ["protocol", "ShiftSub"]):
        if "answers" not in check.name:
            found = run(check)
            assert (found.verdict, found.how) == (REFUTED, "a unit is not at rest after a reset")


@functools.cache
def slave():
    """mont of 8 bits behind AXI4-Lite."""
    made = catalogue.find("mont").at(8).exported(AXI4LITE)
    made.elaborate()
    return translate(made)


def zeroised(old="", new=""):
    """The check of a changed slave."""
    assert not old or slave().count(old) == 1
    text = slave().replace(old, new) if old else slave()
    return guards.zeroise(catalogue.find("mont").at(8), SECONDS, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            "if ( reset | zeroise ) begin\n        words",
            "if ( reset ) begin\n        words",
            id="operands kept",
        ),
        pytest.param("( over & ( ~dropped ) ) & ( ~wiping )", "over & ( ~wiping )", id="answer delivered"),
        *(
            pytest.param(old, new, id=name, marks=pytest.mark.regress)
            for name, old, new in (
                (
                    "result kept",
                    "( reset | zeroise ) | start ) begin\n      result",
                    "reset | start ) begin\n      result",
                ),
                ("machine not overwritten", "wants_wiping <= 1'd1", "wants_wiping <= 1'd0"),
                ("start while busy", "& ( ~busy );", ";"),
            )
        ),
    ],
)
def test_zeroise_that_leaves_something(old, new):
    assert zeroised(old, new).verdict == REFUTED


@pytest.mark.regress
def test_zeroise():
    assert zeroised().verdict == PROVED


def test_a_base_that_is_the_modulus(plant, monkeypatch):
    changed = plant("modexlab.rtl.machines.operand_check", "s.base >= s.mod", "s.base > s.mod")
    monkeypatch.setattr(program_exp, "check_operands", changed.check_operands)
    found = run(checks(catalogue.find("mont").at(8), ["refusal"])[0])
    assert found.verdict == REFUTED
    (wrong,) = found.counterexample
    assert wrong["base"] == wrong["mod"] and wrong["status"] == 0


@pytest.mark.regress
def test_refusals():
    """Proved; a comparison that is wrong for one modulus alone, which no corner shows, is disproved."""
    machine = catalogue.find("mont").at(8)
    design = stream(machine)
    assert guards.refusal(machine, design, SECONDS).verdict == PROVED
    old = "too_large = base >= mod"
    assert design.verilog.count(old) == 1
    text = design.verilog.replace(old, f"{old} && mod != 8'd77")
    assert guards.refusal(machine, replace(design, verilog=text), SECONDS).verdict == REFUTED


@pytest.fixture
def corners(monkeypatch):
    """The refusal check of a machine with a key, of which only the native corners decide."""
    monkeypatch.setattr(guards, "decide", lambda *_, **__: Outcome(PROVED, "not asked"))

    def asked(name, **settings):
        machine = catalogue.find(name).at(16, schedule="fixed-window", **settings)
        return run(checks(machine, ["refusal"])[0])

    return asked


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("naive", {"verify": True}),
        ("naive", {"crt": True, "verify": False}),
        ("naive", {"crt": True, "verify": True}),
        pytest.param("mont", {"crt": True, "verify": False}, marks=pytest.mark.regress),
    ],
)
def test_refusals_with_a_key(corners, name, settings):
    """A checked result withholds that of a bad base; CRT refuses an even modulus and even primes."""
    assert corners(name, **settings).verdict == PROVED


def test_an_even_prime_with_another_status(plant):
    changed = plant("modexlab.rtl.machines.program_exp", "s.in_status @= BAD_KEY", "s.in_status @= 6")
    machine = catalogue.find("naive").at(16, schedule="fixed-window", crt=True, verify=False)
    rtl = machine.build.rtl
    assert isinstance(rtl, functools.partial)
    hardware = functools.partial(changed.ProgramExp, *rtl.args, **rtl.keywords)
    wrong = guards.wrong_corner(replace(machine, build=replace(machine.build, rtl=hardware)))
    assert wrong is not None and not wrong["p"] & wrong["q"] & 1 and wrong["status"] == 6


def test_a_bad_base_whose_result_is_released(monkeypatch):
    """The promise of a checked result, with hardware that checks none."""
    unchecked = catalogue.find("naive").at(16, schedule="fixed-window", blind="message", verify=False)
    promises = replace(unchecked.promises, reduced_only=True, checked=True)
    monkeypatch.setitem(vars(unchecked), "promises", promises)
    wrong = guards.wrong_corner(unchecked)
    assert wrong is not None and wrong["base"] >= wrong["mod"] and wrong["status"] == Status.OK


def test_a_memory_that_is_not_wiped(plant, monkeypatch):
    """A table whose memory takes no 0."""
    changed = plant("modexlab.rtl.units.residue_memory", "if s.write:", "if s.write & (s.in_data != 0):")
    monkeypatch.setattr(residue_dpath, "ResidueMemory", changed.ResidueMemory)
    monkeypatch.setattr(guards, "MEMORIES", (changed.ResidueMemory,))
    found = run(checks(catalogue.find("mont").at(8, schedule="fixed-window"), ["wipe"])[0])
    assert found.verdict == REFUTED and "dpath.memory.words" in found.how


@pytest.mark.regress
def test_wiping():
    """Proved; a memory that keeps one value alone, which no operation shows, is disproved."""
    machine = catalogue.find("mont").at(8, schedule="fixed-window")
    design = stream(machine)
    assert guards.wipe(machine, design, SECONDS).verdict == PROVED
    text = design.verilog.replace("if ( write ) begin", "if ( write && !( words[write_at] == 8'd77 ) ) begin")
    assert text != design.verilog
    assert guards.wipe(machine, replace(design, verilog=text), SECONDS).verdict == REFUTED
    assert not [check for check in checks(catalogue.find("mont").at(8)) if check.name == "wipe"]


@pytest.mark.regress
def test_guards_of_a_private_operation():
    """The memory has the numbers of a key, and the result is checked."""
    design = catalogue.find("mont")
    settings = private_settings(design, 16, {"verify": True}, crt=False, blind="no")
    for check in checks(design.at(16, **settings), ["wipe", "zeroise"]):
        assert run(check).verdict == PROVED, check.name
