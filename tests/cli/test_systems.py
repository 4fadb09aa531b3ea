"""`modexlab proc systems`: the paper's Table 1 at 32 bits, the same at other widths, and rejected options."""

from dataclasses import replace
from functools import partial

import pytest
from modexlab.eval.designs import catalogue, system_catalogue
from modexlab.eval.designs.system_catalogue import (
    DEFAULT_SYSTEMS,
    PUBLISHED,
    find_system,
    system_names,
    workloads,
)
from modexlab.proc.software import kernels

from tests.command_line import picked, refusals
from tests.harness import expect, parametrize, regress
from tests.proc.assembler import encode, of_words

KEYS = {"system", "operation", "nbits", "cycles", "normalised", "published", "ratio", "backend"}


def by_name(rows):
    return {(row["system"], row["operation"]): row for row in rows}


def check(rows):
    """Check a property of every row that was run."""
    for row in rows:
        assert row.keys() >= KEYS
        assert row["ok"] is True
        assert picked(row, "level note") == ("rtl", "")
        assert row["normalised"] == row["cycles"] - row["dummy"] > 0
        assert sum(row["where"].values()) == row["cycles"]
        assert row["cpi"] == round(row["cycles"] / row["instructions"], 4)


@regress
def test_the_papers_table(cli):
    names = [name for name in PUBLISHED if name != "procxcel-naive"]
    rows = cli.passes(f"proc systems {' '.join(names)} --json").json()
    assert [(row["system"], row["operation"]) for row in rows] == [
        (name, operation) for name in names for operation in ("encrypt", "decrypt")
    ]
    check(rows)
    assert {(row["nbits"], row["backend"]) for row in rows} == {(32, "native")}
    named = by_name(rows)
    published = {
        "proc-naive": (3523, 8148),
        "proc-montgomery": (3581, 5135),
        "procxcel-naive-001": (1062, 1840),
        "procxcel-mont-001": (169, 234),
        "procxcel-mont": (169, 234),  # the paper's system of the same kind
    }
    for system, figures in published.items():
        for operation, figure in zip(("encrypt", "decrypt"), figures, strict=True):
            row = named[system, operation]
            assert row["published"] == figure
            assert row["ratio"] == round(row["normalised"] / figure, 3)
            naive = named["proc-naive", operation]["normalised"]
            assert row["speedup"] == round(naive / row["normalised"], 4)
            if system.startswith("proc-"):
                assert row["ratio"] <= 1, "our software is not slower"
            if system.endswith("-001"):
                assert row["ratio"] == pytest.approx(1, abs=0.05), "our twin is near the published machine"
    for operation in ("encrypt", "decrypt"):
        ours = named["procxcel-mont", operation]
        assert ours["ratio"] < 0.6
        assert ours["where"]["accelerator"] > ours["cycles"] / 2


def test_text_and_progress(cli, tmp_path):
    path = tmp_path / "systems.txt"
    result = cli(f"proc systems proc-naive --output {path}")
    lines = result.out.splitlines()
    assert lines[0].split()[:4] == ["system", "operation", "bits", "result"]
    for operation, line in zip(("encrypt", "decrypt"), lines[2:4], strict=True):
        words = line.split()
        assert [*words[:4], words[-1]] == ["proc-naive", operation, "32", "ok", "native"]
    assert lines[2].split()[6] == "3523"
    assert "paper 001, Table 1" in result.out
    assert all(len(line) <= 120 for line in lines)
    assert "[1/2] proc-naive, 32 bits, encrypt: " in result.err
    assert path.read_text() == result.out


def test_loosely_coupled(cli, tmp_path):
    """The same machine at the port and on the bus, in all variants: cycles are call, transfer and work; the
    work is equal.
    """
    path = tmp_path / "couplings.txt"
    argv = "proc systems --interface axi4lite procxcel-mont --operation encrypt"
    rows = cli(f"{argv} --json --output {path}").json()
    lines = path.read_text().splitlines()
    assert all(len(line) <= 120 for line in lines)
    check(rows)
    names = ["procxcel-mont", "procbus-mont", "procbus-irq-mont", "procbus-key-mont"]
    assert [row["system"] for row in rows] == names == [line.split()[0] for line in lines[2:6]]
    machine = catalogue.find("mont").at(32)
    work, _ = workloads(32)
    for row, line in zip(rows, lines[2:6], strict=True):
        assert row["cycles"] == row["call"] + row["transfer"] + row["work"]
        assert row["work"] == machine.cycles(*work.operands)
        assert [row[name] for name in ("cycles", "call", "transfer", "work")] == list(
            map(int, line.split()[4:8])
        )
    tight, polls, sleeps, keyed = rows
    assert tight["slower_percent"] is None
    assert polls["slower_percent"] == round(100 * (polls["normalised"] / tight["normalised"] - 1), 3) > 0
    assert 0 < tight["transfer"] < keyed["transfer"] < polls["transfer"] < sleeps["transfer"]
    assert polls["where"]["data_memory"] > 0 == polls["where"]["sleep"]
    assert sleeps["where"]["sleep"] > sleeps["work"] / 2


@regress
def test_wider_operands(cli):
    """They have no published figures; the rows state their backend."""
    rows = cli.json("proc systems --nbits 64 --nbits 96 proc-montgomery-ct")
    check(rows)
    assert [row["nbits"] for row in rows] == [64, 64, 96, 96]
    assert all(row["published"] is row["ratio"] is row["speedup"] is None for row in rows)
    for encrypt, decrypt in (rows[:2], rows[2:]):
        # 17 bits of the public exponent are scanned, and all of the private one
        assert 2 < decrypt["normalised"] / encrypt["normalised"] < decrypt["nbits"] / 17


@regress
def test_a_machine_that_takes_a_private_key_only_decrypts(cli):
    """Encryption is not run, and the table states the reason."""
    argv = "proc systems --nbits 16 procxcel-mont-keyed --set verify=true"
    encrypt, decrypt = cli.json(argv)
    assert encrypt["cycles"] is None and "only decrypts with it" in encrypt["note"]
    assert decrypt["ok"] and decrypt["cycles"] > 0
    said = " ".join(cli(argv).out.split())
    assert "procxcel-mont-keyed: not run: a machine with the numbers" in said and "--full" not in said


def test_constant_time_hides_the_private_exponent(cli, monkeypatch):
    """The note states which bits are scanned; decryption takes the same cycles for any exponent."""
    argv = "proc systems --nbits 32 proc-montgomery-ct --operation"
    cli.shows(
        f"{argv} decrypt",
        "proc-montgomery-ct scans all bits of the width for the private exponent, and only the bits",
    )
    assert "scans" not in cli("proc systems proc-montgomery --operation encrypt").out
    encrypt, decrypt = workloads(32)
    cycles = []
    for exp in (3, decrypt.exp):
        works = encrypt, replace(decrypt, exp=exp)
        monkeypatch.setattr(system_catalogue, "workloads", lambda _, works=works: works)
        (row,) = cli.json(f"{argv} decrypt")
        cycles.append(row["normalised"])
    assert cycles[0] == cycles[1]


@parametrize(
    "words, why",
    [
        ((encode("addi", rd=10, imm=3), encode("ecall")), "the program ended with exit code 3"),
        ((encode("ecall"),), "its stats window has no cycles"),
        ((encode("ebreak"),), "ebreak (mcause 3, mtval 0x0) at pc 0x200"),
    ],
)
def test_a_dummy_that_fails_is_not_subtracted(cli, monkeypatch, words, why):
    def program(kernel, *operands, **options):
        return of_words(words) if kernel == "dummy" else whole(kernel, *operands, **options)

    whole = kernels.kernel_program
    monkeypatch.setattr(kernels, "kernel_program", program)
    result = cli("proc systems proc-naive --operation encrypt")
    expect(result, code=1, out="")
    assert f"error: the dummy of 32 bits, encrypt, which normalises all cycles: {why}" in result.err


def test_backends_agree(cli):
    native, python = (
        cli.json(f"proc systems proc-montgomery --operation encrypt {backend}")
        for backend in ("", "--backend python")
    )
    assert [row | {"backend": "native"} for row in python] == native
    assert python[0]["backend"] == "python"


def test_software_of_long_operands_is_not_run_unasked(cli, monkeypatch):
    assert system_catalogue.MOST_SOFTWARE_NBITS == 1024
    monkeypatch.setattr(system_catalogue, "MOST_SOFTWARE_NBITS", 48)
    argv = "proc systems --nbits 64 proc-montgomery --operation encrypt"
    (row,) = cli.json(argv)
    assert row["cycles"] is row["normalised"] is row["backend"] is row["ok"] is None
    assert row["note"] == "not run; --full runs it"
    out = cli(f"{argv}").out
    assert out.splitlines()[2].split() == ["proc-montgomery", "encrypt", "64", *["-"] * 8]
    assert "Not run (-): software at 64 bits; --full runs it." in out
    check(cli.json(f"{argv} --full"))


def test_a_machine_for_one_modulus_is_made_for_it(cli):
    check(cli.json("proc systems procxcel-dm-m-000 --operation encrypt --backend python"))


def test_a_machine_that_takes_no_key_works_on_a_modulus_of_its_own(cli):
    """The output states that this is not RSA."""
    system = "procxcel-dm-pm-000 --set modulus=0x55555555"
    argv = f"proc systems {system} --operation encrypt --backend python"
    (row,) = cli.json(argv)
    caveat = "not RSA: the base and the exponent of the key's operations on modulus 1431655765"
    assert row["ok"] and row["normalised"] > 17 and row["note"] == caveat
    assert f"procxcel-dm-pm-000: {caveat}." in " ".join(cli(argv).out.split())


def test_a_wrong_result_is_exit_1(cli, monkeypatch):
    monkeypatch.setattr(kernels, "kernel_program", partial(kernels.kernel_program, expected=1))
    argv = "proc systems proc-naive --operation encrypt"
    assert cli.json(argv)[0]["ok"] is False
    result = cli.finds(argv)
    assert "WRONG" in result.out and "WRONG" in result.err


def test_operands_go_together():
    for nbits in (32, 64, 256):
        encrypt, decrypt = workloads(nbits)
        assert (encrypt.exp, encrypt.mod.bit_length()) == (65537, nbits)
        assert encrypt.golden == decrypt.base
        assert (decrypt.golden == encrypt.base) is (nbits != 32), "the paper's d is of another key"
    encrypt, decrypt = workloads(32)
    operands = (encrypt.mod, decrypt.exp, encrypt.base, decrypt.base)
    assert operands == (2603398711, 0x3A48D459, 5745, 1460365373)


def test_names():
    names = system_names()
    assert set(DEFAULT_SYSTEMS) <= set(names)
    assert {f"procxcel-{design.name}" for design in catalogue.designs()} <= set(names)
    assert [find_system(name).name for name in names] == names


def test_help_has_the_widths(cli):
    assert "width in bits (even, 16 to 4096;" in " ".join(cli("proc systems --help").out.split())


test_refusals = refusals(
    "proc systems",
    {
        "proc-niave": "unknown system 'proc-niave': did you mean 'proc-naive'?",
        "proc-dummy": "unknown system 'proc-dummy'",
        "procxcel-mnt": "did you mean 'procxcel-mont'?",
        "procxcel-dm-pm-000 --operation encrypt --backend python": "modulus 2603398711 does not divide "
        "2^32 - 1",
        "--operation sign": "argument --operation: invalid choice: 'sign'",
        "--nbits 8": "an RSA key of 8 bits is not possible; give an even number, 16 to 4096",
        "--nbits 65": "an RSA key of 65 bits is not possible; give an even number, 16 to 4096",
        "--nbits 4098": "an RSA key of 4098 bits is not possible",
        "--backend spice": "unknown backend 'spice'",
        "--output ''": "--output '': this is not the name of a file",
        "--output /nowhere/x": "there is no such directory",
    },
)


@regress
@parametrize("nbits", [32, 64, 128, 256])
def test_all_default_systems(cli, nbits):
    rows = cli.json(f"proc systems --nbits {nbits}")
    assert len(rows) == 2 * len(DEFAULT_SYSTEMS)
    check(rows)


@regress
@parametrize("nbits", [512, 1024])
def test_long_software_and_our_accelerator(cli, nbits):
    rows = cli.json(f"proc systems --nbits {nbits} proc-naive proc-montgomery procxcel-mont")
    check(rows)
    normalised = {name: row["normalised"] for name, row in by_name(rows).items()}
    for operation in ("encrypt", "decrypt"):
        naive, montgomery, xcel = (
            normalised[system, operation] for system in ("proc-naive", "proc-montgomery", "procxcel-mont")
        )
        assert naive > montgomery > 20 * xcel
