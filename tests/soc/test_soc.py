"""Chips made with LiteX: round trips by polling and by interrupt on both CPUs, the output of the command, the
folder that builds by itself, and accesses that the machine refuses.
"""

import importlib.util
import json
import os
import re
import subprocess
from dataclasses import replace

import pytest
from modexlab.eval.designs.catalogue import entry, find
from modexlab.eval.designs.own_template import files
from modexlab.eval.exchange.soc import chip as chips
from modexlab.eval.exchange.soc.chip import Chip, ChipError, round_trip, table_calls, works
from modexlab.eval.exchange.soc.program import CPUS, operands_header
from modexlab.fl.axi4lite import register_map
from modexlab.rtl.sim import toolchain

from tests.command_line import picked, refusals
from tests.harness import expect, parametrize, regress

from ..paths import ROOT

MONT = find("mont").at(16)
SMALL = "proc soc mont --nbits 16"
EXAMPLES = ROOT / "eval" / "examples"
UNTOUCHED = 0xA5A5_A5A5
MOST_WORDS = 4096 // 32
ILLEGAL_INSTRUCTION = 2  # mcause on VexRiscv; interrupt 1 of PicoRV32


@pytest.fixture(name="printing")
def bench_that_prints(tmp_path, monkeypatch):
    """A function that replaces the simulation by a script that prints these lines."""

    def printing(lines):
        (tmp_path / "lines").write_text(lines)
        script = tmp_path / "bench"
        script.write_text(f"#!/bin/sh\ncat {tmp_path / 'lines'}\n")
        script.chmod(0o755)
        monkeypatch.setattr(Chip, "model", script)

    return printing


def lines_of(results, code):
    """The lines that a chip with 16 bits would print."""
    for i, result in enumerate(results):
        yield from (f"mark {mark} {100 * i + 10 * mark}\n" for mark in range(1, 6))
        yield f"word {20 + i}\nword 0\nword {result}\n"
    yield f"text decrypt: so it ends\nstop {code} 777\n"


# ---- quick: one small chip, and tests without a simulation


@regress
def test_round_trip_of_a_small_chip(cli):
    told = cli.passes("proc soc mont --nbits 16 --cpu picorv32 --wait interrupt --json").json()
    assert picked(told, "ok exit_code key_nbits") == (True, 0, 16)
    assert told["text"] == ["encrypt: ok", "decrypt: ok"]
    encrypt, decrypt = works(MONT)
    for call, work in zip(told["calls"], (encrypt, decrypt), strict=True):
        assert call["ok"] and call["result"] == call["expected"] == work.golden
        # the machine is busy for one cycle more than its formula
        assert call["machine"] == MONT.cycles(*work.operands) + 1
        assert call["whole"] == call["load"] + call["start"] + call["wait"] + call["read"]
        assert 0 < call["machine"] < call["wait"] + call["start"]
    assert decrypt.golden == encrypt.base, "a round trip"


def test_a_chip_is_the_same_whatever_was_made_before():
    """LiteX has tables that are shared in a process, and stamps its Verilog with time and place."""
    # with LiteX loaded, Hypothesis waits for two seconds at the end of the collection
    from modexlab.eval.exchange.soc.board import make_board

    boards = [make_board("accelerator", cpu) for cpu in (*CPUS, *reversed(CPUS))]
    assert boards == boards[::-1]
    assert boards[0] != boards[1]
    # PicoRV32 reserves interrupts 0 to 2; the other chips must not inherit them
    assert [board.interrupt for board in boards] == [0, 3, 3, 0]
    for board in boards:
        memories = json.loads(board.map_json)["memories"]
        assert memories["sram"]["base"] == 0x1000_0000 and memories["modexlab"]["base"] == 0x9000_0000
        assert "accelerator accelerator" in board.verilog


@parametrize("cpu", CPUS)
@parametrize("interrupt", [False, True])
def test_programs_compile_without_a_warning(cpu, interrupt):
    chip = Chip(find("systolic-002").at(72), cpu)  # takes three precomputed inputs
    program = round_trip(chip, interrupt).software()
    assert program.files["operands.h"].count("[WORDS] = {") == 5 + 3
    assert ("-DBY_INTERRUPT" in program.command, "-DPICORV32" in program.command) == (
        interrupt,
        cpu == "picorv32",
    )
    image = program.image()
    assert 500 < len(image) < 2000 and image[4] not in (0, image[0]), "PicoRV32's interrupts begin at 0x10"


def test_a_wrong_result_is_exit_1(cli, printing):
    """The exit code is 1 even if the program itself did not notice the wrong result."""
    encrypt, decrypt = works(MONT)
    printing("".join(lines_of([encrypt.golden, decrypt.golden], 0)))
    good = cli.passes(SMALL).out.splitlines()
    assert good[4].split() == ["encrypt", "ok", "10", "10", "10", "10", "40", "20", "50.0"]
    printing("".join(lines_of([encrypt.golden, decrypt.golden ^ 1], 0)))
    assert cli.finds(SMALL).out.splitlines()[5].split()[:2] == ["decrypt", "WRONG"]
    printing("".join(lines_of([encrypt.golden], 2)))
    stopped = cli.shows(SMALL, "the program ended with exit code 2: decrypt: so it ends", code=1)
    assert "decrypt" not in stopped.splitlines()[5]


def test_a_program_that_does_not_end(cli, printing):
    printing("text encrypt: ok\ncycles 1024\nlimit 99\n")
    error = cli.finds(SMALL).err
    assert "the program has not ended after" in error and "it printed: encrypt: ok" in error
    assert "Traceback" not in error
    with pytest.raises(ChipError):
        round_trip(Chip(MONT, "vexriscv"), True).run()


def test_calls_of_an_accelerator(cli, printing):
    """The program compiles, responses are compared with those of the functional model, and all calls must be
    made.
    """
    answers = table_calls(Chip(entry(str(EXAMPLES / "inverse")).at(16), "vexriscv")).expected
    assert {status for status, _ in answers} == {0, 1, 3}, "results, and refused requests"

    def calls(change, count, code):
        lines = "".join(
            f"mark 1 {100 * i}\nmark 2 {100 * i + 30 + i}\nword {status}\nword {x ^ change}\n"
            for i, (status, x) in enumerate(answers[:count])
        )
        printing(f"{lines}stop {code} 999\n")
        good = (change, count) == (0, len(answers))
        result = cli.passes(f"proc soc --accelerator {EXAMPLES}/inverse --nbits 16", code=0 if good else 1)
        return [line.split()[-2:] for line in result.out.splitlines() if re.search(r" (ok|WRONG) ", line)]

    cycles = [str(30 + i) for i in range(len(answers))]
    assert calls(0, len(answers), 0) == [["ok", count] for count in cycles]
    wrong = [["ok" if status else "WRONG", count] for count, (status, _) in zip(cycles, answers, strict=True)]
    assert calls(1, len(answers), 0) == wrong
    assert calls(0, 3, 3) == [["ok", count] for count in cycles[:3]]


def test_without_litex(cli, monkeypatch):
    whole = importlib.util.find_spec
    for module in ("litex", "pythondata_cpu_picorv32"):
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, module=module: None if name == module else whole(name)
        )
        message = cli.fails("proc soc mont --cpu picorv32")
        assert f"{module.replace('_', '-')} is not installed: run `make setup`" in message


test_refusals = refusals(
    "proc soc",
    {
        "mnt": "did you mean 'mont'",
        "mont --nbits 63": "an RSA key of 63 bits is not possible; give an even number, 16 to 4096",
        "mont --cpu arm": "argument --cpu: invalid choice: 'arm'",
        "mont --wait sleep": "argument --wait: invalid choice",
        "mont --output /nowhere/chip": "there is no such directory; make it first",
        f"mont --output {__file__}": "this is a file; give a directory",
        "dm-pm-000 --nbits 64": "does not divide 2^64 - 1",
        "mont --set nstage=2": "nstage",
        f"--accelerator {EXAMPLES}/gcd --wait interrupt": "the call of gcd in C polls; drop it",
        "": "no design; give one of the catalogue",
        "mont-keyed --set verify=true": "leave out crt, blind and verify, or run `modexlab proc systems`",
    },
)


# ---- in the long regression


@regress
@parametrize("cpu", CPUS)
@parametrize("name, nbits", {"mont": 32, "mont-ct": 64, "systolic-002": 72, "dm-m-000": 32}.items())
def test_round_trips(cli, cpu, name, nbits):
    """The machine takes equal cycles whether the program polls or sleeps."""
    soc = f"proc soc {name} --nbits {nbits} --cpu {cpu} --wait"
    polling, interrupt = (cli.json(f"{soc} {wait}") for wait in ("polling", "interrupt"))
    assert polling["ok"] and interrupt["ok"]
    for one, other in zip(polling["calls"], interrupt["calls"], strict=True):
        assert one["machine"] == other["machine"] and one["result"] == other["result"]


@regress
@parametrize("cpu", CPUS)
@parametrize("name", ["gcd", "crc", "inverse", "many"])
def test_calls_of_accelerators(cli, tmp_path, name, cpu):
    folder = EXAMPLES / name
    if name == "many":  # more registers than an exponentiation, and results wider than a word
        folder = tmp_path / name
        folder.mkdir()
        fields = tuple((f"f{i}", 30 + i) for i in range(8))
        for file, text in files(name, fields, (("x", 40), ("y", 7))).items():
            (folder / file).write_text(text)
    told = cli.passes(f"proc soc --accelerator {folder} --cpu {cpu} --json").json()
    assert told["ok"] and len(told["calls"]) == chips.MOST_ROWS
    assert all(call["ok"] and call["response"] for call in told["calls"])


@regress
@parametrize("interrupt", [False, True])
def test_errors_on_the_chip(interrupt):
    """The program ends with the driver's message for the machine's error codes and for a missing input, and
    detects a wrong expected value.
    """
    chip = Chip(MONT, "picorv32")
    good = {"modulus": 40001, "public_exponent": 3, "private_exponent": 5, "message": 2, "ciphertext": 8}
    cases = (
        (
            good | {"modulus": 40000},
            [],
            2,
            "encrypt: the modulus is even, and a Montgomery machine needs an odd one",
        ),
        (good | {"message": 40001}, [], 2, "encrypt: the base is not below the modulus"),
        (good | {"ciphertext": 9}, [], 1, "encrypt: WRONG"),
        (good, [7], 2, "encrypt: not as many numbers are given as the machine takes"),
    )
    for numbers, given, code, said in cases:
        operands = operands_header(16, numbers, given)
        output = chip.run(chip.software("round_trip.c", operands, by_interrupt=interrupt), 50_000)
        expect(output, code=code, text=[said])


@regress
@parametrize("wait", ["polling", "interrupt"])
def test_rsa_of_1024_bits(cli, wait):
    result = cli.json(f"proc soc systolic --nbits 1024 --wait {wait}")
    assert result["ok"] and result["key_nbits"] == 1024
    assert result["calls"][1]["machine"] > 0.99 * result["calls"][1]["wait"]


@regress
@parametrize("cpu", CPUS)
def test_the_folder_builds_by_itself(cli, tmp_path, cpu):
    """The simulation and the program are rebuilt with the tools alone."""
    folder = tmp_path / "chip"
    cli.shows(
        f"proc soc systolic-002 --nbits 64 --cpu {cpu} --wait interrupt -o {folder}", "(see README.md there)"
    )
    image = folder / "soc_rom.init"
    rom = image.read_text()
    image.unlink()
    root = toolchain.verilator_root()

    def make(*argv):
        environment = os.environ | {"VERILATOR_ROOT": str(root)}
        return subprocess.check_output(["make", *argv], cwd=folder, env=environment, text=True)

    make("program")
    assert image.read_text() == rom
    output = make("run", f"VERILATOR={root / 'bin' / 'verilator_bin'}")
    assert "text encrypt: ok\n" in output and "text decrypt: ok\n" in output and "\nstop 0 " in output
    named = {
        line.split("`")[1] for line in (folder / "README.md").read_text().splitlines() if line[:3] == "| `"
    }
    assert all((folder / name).exists() for name in named) and "map.json" in named


@regress
@parametrize(
    "cpu, error", [("vexriscv", r"\.dBusWishbone_ERR\s*\((\w+)\)"), ("picorv32", r"assign (\w*idbus_err) =")]
)
def test_refused_accesses(cpu, error):
    """The bus error reaches the port of the CPU, which ignores it: a read returns 0, a write has no effect,
    and there is no trap.
    """
    chip = Chip(find("mont").at(256), cpu)
    (line,) = re.findall(error, chip.board.verilog)
    seen = f'\nalways @(posedge sys_clk) if ({line}) $display("text refused");\nendmodule'
    told = replace(chip.board, verilog=chip.board.verilog.replace("\nendmodule", seen))
    chip.__dict__["board"] = told  # before the first use of the cached property
    output = chip.run(chip.software("refused.c"), 100_000)
    assert output.code == 0
    found = [tuple(output.words[at : at + 3]) for at in range(0, len(output.words), 3)]
    idle, busy = 0, 1
    assert found == [
        (register_map(chip.machine.shape)["ID"].reset, 0, idle),
        *[(0, 0, idle)] * 3,
        *[(UNTOUCHED, 0, idle)] * 2,
        *[(UNTOUCHED, 0, busy)] * 2,
        (UNTOUCHED, ILLEGAL_INSTRUCTION, busy),
    ]
    beyond = 2 * (MOST_WORDS - 256 // 32)  # words of operands that this machine does not have
    assert output.text == ["refused"] * (3 + 2 + beyond + 2)
