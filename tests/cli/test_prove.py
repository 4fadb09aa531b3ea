"""`modexlab prove`: output, exit codes and rejected options."""

from dataclasses import replace

import pytest
from modexlab.eval.assurance.proof import registry
from modexlab.eval.assurance.proof.check import Check
from modexlab.eval.cli.commands import prove as command
from modexlab.eval.designs import catalogue
from modexlab.eval.lab.store import reference_verdicts as reference
from modexlab.eval.lab.store.entries import text_of
from modexlab.eval.lab.store.lines import sealed
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.verdicts import Verdict
from modexlab.eval.report import proofs
from modexlab.flow.prove.assertions import Decision
from modexlab.flow.prove.report import PROVED, REFUTED, UNDECIDED

from tests.command_line import picked, refusals
from tests.harness import expect, parametrize, regress

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def three(monkeypatch):
    """A catalogue of three designs: elaborating all of them takes longer than the proofs."""
    few = [catalogue.find(name) for name in ("mont-001", "mmred-004", "naive")]
    monkeypatch.setattr(catalogue, "designs", lambda: few)


def test_proved(cli, monkeypatch):
    """A later run estimates the time of a check by that of this one."""
    (found,) = cli.passes("prove mont --check CondSub --json").json()
    assert found.keys() == {"check", "verdict", "seconds", "how", "says"}
    assert picked(found, "check verdict") == ("CondSub nbits=8", "proved")
    learned = []
    monkeypatch.setattr(
        "modexlab.eval.lab.task.Estimate.learn", lambda _, cost, seconds: learned.append(cost)
    )
    cli("prove mont --check CondSub")
    assert learned[0] == learned[1]


@parametrize("check", ["mont --check CondSub", "proc --check reg"])
def test_a_proof_has_the_time_that_was_given(check, cli, monkeypatch):
    """The engines get the seconds; here a check reports them instead."""
    monkeypatch.setattr(Check, "run", lambda _, seconds: Decision(UNDECIDED, f"{seconds} s"))
    (found,) = cli(f"prove {check} --timeout 7 --json").json()
    assert picked(found, "verdict how") == (UNDECIDED, "7 s")


def test_a_long_name_is_cut_in_the_table(cli, monkeypatch):
    monkeypatch.setattr(command, "LONGEST", 10)
    cli.shows("prove mont --check CondSub", "\nCondSub...  proved")


def test_refuted(cli):
    """Exit code 1, and two exponents with their cycles."""
    (found,) = cli.finds("prove mont --set schedule=left-to-right --check time --json").json()
    assert found["verdict"] == "disproved"
    first, second = found["counterexample"]
    assert first["cycles"] != second["cycles"] and first["exp"].bit_length() == second["exp"].bit_length()


def test_all_go_to_the_store_once(cli, three, monkeypatch):
    """And to the report's table."""
    told = cli.json("prove all --check AddRedKoc Halve")
    assert told and all(item["verdict"] == "proved" for item in told)
    monkeypatch.setattr("modexlab.eval.assurance.proof.registry.prove", None)
    assert cli.json("prove all --check AddRedKoc Halve") == told
    with Store() as store:
        table = proofs.table(proofs.proven(store.verdicts()))
    assert [line.cells[0].text for line in table.lines] == sorted({item["design"] for item in told})
    assert all(line.cells[2].text == "1 of 1" for line in table.lines)


def test_known_verdicts_have_their_place_among_new_ones(cli, three):
    """The order is that of the designs and their checks."""
    cli.passes("prove all --check DivStep")
    command = "prove all --check CondSub DivStep"
    told = cli.json(command)
    assert told[-1]["check"].startswith("DivStep") and cli.json(command) == told


def test_a_check_that_was_proved_and_is_undecided(cli, tmp_path, monkeypatch):
    """Exit code 1, with its name; --record makes the new verdict the reference."""
    monkeypatch.setattr(reference, "FILE", tmp_path / "proofs.jsonl")
    verdict = {"subject": "proc", "family": "processor", "nbits": 32, "kind": "processor"}

    def recorded(name):
        text = text_of("verdict", name=name, verdict="proved", **verdict)
        reference.FILE.write_bytes(sealed(text))

    recorded("reg")

    def undecided(check, *_):
        return registry.Proof(check, Decision(UNDECIDED, "not found"))

    monkeypatch.setattr(registry, "prove", undecided)
    command = "prove proc --check reg ill"
    told = cli.finds(command)
    assert told.err.count("is undecided now") == told.err.count("proc reg: was proved, is undecided now") == 1
    cli.passes(f"{command} --record")
    assert reference.recorded() == dict.fromkeys([("proc", 32, "ill"), ("proc", 32, "reg")], UNDECIDED)
    cli.passes(command)
    recorded("insn of old")
    cli.passes(command)
    told = cli.finds("prove proc")
    assert "proc insn of old: is recorded, but no longer exists" in told.err


def test_a_check_that_was_proved_and_is_lost(tmp_path, monkeypatch):
    """A check disproved by nature is lost too; a recorded check that no complete run has is gone."""
    monkeypatch.setattr(reference, "FILE", tmp_path / "proofs.jsonl")
    reference.FILE.write_text("")
    verdict = Verdict("", "naive-001", "", 8, {}, "time", "time", REFUTED, "", 0.0)
    others = replace(verdict, subject="proc"), replace(verdict, nbits=16)
    reference.record([replace(verdict, verdict=PROVED), replace(verdict, name="old"), *others])
    assert verdict.by_nature
    assert reference.lost([verdict]) == ["naive-001 time: was proved, is disproved now"]
    assert reference.lost([replace(verdict, verdict=PROVED), replace(verdict, name="old")]) == []
    assert reference.gone([verdict], 8) == [("naive-001", 8, "old")]
    reference.record([verdict], reference.gone([verdict], 8))
    assert ("naive-001", 8, "old") not in reference.recorded()


@regress
def test_the_processor(cli):
    """Its checks have the same form, go to the store once, and have a line in the report."""
    found = cli.json("prove proc --check reg RegisterFile")
    assert {item["check"]: item["verdict"] for item in found} == dict.fromkeys(
        ("reg", "RegisterFile"), "proved"
    )
    assert "8 cycles from any state" in found[0]["how"]
    with Store() as store:
        table = proofs.table(proofs.proven(store.verdicts()))
    assert [[cell.text for cell in line.cells[:3]] for line in table.lines] == [["proc", "32", "2 of 2"]]


def test_ctrl_c_keeps_what_is_proved(cli, three, monkeypatch):
    """Exit code 130; the same command proves only the remaining checks."""
    own, ended = registry.prove, []

    def broken_off(check, *asked):
        ended.append(check)
        if len(ended) == 2:
            raise KeyboardInterrupt
        return own(check, *asked)

    monkeypatch.setattr("modexlab.eval.assurance.proof.registry.prove", broken_off)
    command = "prove all --check CondSub DivStep"
    told = cli(command)
    assert told.code == 130
    assert "interrupted: 1 of " in told.err and "the same command goes on from there" in told.err
    assert len(cli.json(command)) == len(ended) - 1 > 2


test_refused = pytest.mark.usefixtures("three")(
    refusals(
        "prove",
        {
            "mont --check Divider": "give one of units, protocol, axi4lite, time, refusal, zeroise, netlist,",
            "mont --check time --mutants": "faults are planted in units only",
            "mont --timeout 0": "0 is too few",
            "all --crt": "--crt with all: only defaults are proved",
            "mont --record": "give all or proc",
            "all --check Divider": "no design has such a check",
            "proc --check CondSub": "proc has no such check; give one of insn, ill, pc_fwd",
            "proc --nbits 8": "--nbits with proc: the processor has 32 bits",
        },
    )
)


def test_time_of_other_schedules_is_in_the_same_place_of_the_table():
    """A counterexample is a fault only if the design promises constant time."""

    def told(name, verdict):
        settings = {"schedule": "left-to-right"}
        return Verdict("key", "mmmul-004", "MMMul", 8, settings, name, "time", verdict, "SAT", 2.0, "")

    def cell(*found):
        (line,) = proofs.table([proofs.Proven(found, stale=False)]).lines
        return next(
            item for item, column in zip(line.cells, proofs.COLUMNS, strict=True) if column.head == "Time"
        )

    own, other = told("time", "disproved"), told("time schedule=ladder", "proved")
    expect(cell(own), text="disproved", tone="quiet")
    (line,) = proofs.table([proofs.Proven([replace(own, how="")], stale=False)]).lines
    assert line.cells[-1].text == "time disproved", "without a reason, nothing follows the verdict"
    expect(cell(other, own), text="disproved; other schedules 1 of 1", tone="quiet")
    broken = told("time schedule=ladder", "disproved")
    assert cell(own, broken).tone == "bad" and own.by_nature and not broken.by_nature
