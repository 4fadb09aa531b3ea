"""`modexlab verilog`: one self-contained file, whole or not at all."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from modexlab.eval import progress
from modexlab.eval.cli.commands import verilog as command
from modexlab.eval.designs import catalogue
from modexlab.eval.designs.protection import MEANINGS, costs
from modexlab.eval.designs.workloads import some_operands
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.proc.isa.csrs import CSRS
from modexlab.proc.sim import VerilogText, simulate_proc
from modexlab.proc.software.kernels import kernel_program
from modexlab.rtl.sim import ToolError, lint

from tests.harness import is_sibling, regress_if

from ..command_line import Cli


@pytest.fixture(name="cli")
def make_cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


def test_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mont.sv"
    result = cli("verilog", "mont", "--nbits", 16, "--set", "nstages=2", "-o", path)
    text = path.read_text()
    assert result.code == 0
    assert result.out == f"{path}: mont, 16 bits, {len(text.splitlines())} lines\n"
    assert text.startswith("// mont_16: ")
    assert re.search(r"^module mont_16\b", text, re.MULTILINE)
    assert list(tmp_path.iterdir()) == [path], "nothing else is left behind"


def test_header_says_parameters_ports_and_protocol(cli: Cli) -> None:
    header = cli("verilog", "mont-001", "--nbits", 64).out.partition("\nmodule")[0]
    assert "//   nbits = 64: " in header
    assert "//   nstages = 4: " in header
    assert "istream__msg  { base[63:0], exp[63:0], mod[63:0] }" in header
    assert "ostream__msg  { status[3:0], result[63:0] }" in header
    assert "istream__rdy" in header
    assert "//   2  the modulus is even" in header
    assert all(len(line) <= 140 for line in header.splitlines())


def test_header_says_the_answers_of_this_machine(cli: Cli) -> None:
    header = cli("verilog", "naive").out.partition("\nmodule")[0]
    assert "//   1  the modulus is 0" in header
    assert "the modulus is even" not in header


def test_header_says_what_concerns_this_machine(cli: Cli) -> None:
    """Figures of this machine; nothing about the files it was made from."""
    text = cli("verilog", "mont-ct", "--set", "scan=full").out
    header = " ".join(text.partition("\nmodule")[0].replace("//", " ").split())
    base, _, mod = some_operands(catalogue.find("mont-ct").at(32))
    for exp, name in ((65537, "exp = 65537"), (2**32 - 1, "exp = 2^32 - 1, all ones")):
        operands = ("--base", base, "--exp", exp, "--mod", mod, "--set", "scan=full")
        assert f"{cli('cycles', 'mont-ct', *operands, '--json').json()['cycles']} for {name}" in header
    assert "Computes base^exp mod mod, for odd moduli and bases below the modulus" in header
    assert "Constant time yes: as many cycles for all exponents" in header
    assert "all exponents of a length" not in header
    for design in ("mont-001", "scaled", "dm-m-000"):
        assert ".py" not in cli("verilog", design, "--nbits", 16).out


def test_header_of_a_machine_for_one_modulus(cli: Cli) -> None:
    header = cli("verilog", "dm-m-000", "--nbits", 16).out.partition("\nmodule")[0]
    assert "base^exp mod mod, for the modulus 0x5555 and bases below" in header
    assert "65537" not in header, "longer than the exponents of this machine"
    assert "//   0  the result is valid\n//   3  the base is not below the modulus\n//   7  " in header


@pytest.mark.parametrize(("design", "nbits"), [("mont", 64), ("naive", 40), ("dm-m-000", 8)])
def test_accelerator(cli: Cli, design: str, nbits: int) -> None:
    """The whole of it, with registers in front."""
    text = cli("verilog", design, "--nbits", nbits, "--interface", "xcel").out
    header = text.partition("\nmodule")[0]
    name = f"{design.replace('-', '_')}_{nbits}_xcel"
    assert text.startswith(f"// {name}: ")
    assert re.search(rf"^module {name}\b", text, re.MULTILINE)
    assert "//     xr1  write  push the next word of the base" in header
    assert "istream__msg  { write[0:0], addr[4:0], data[31:0] }" in header
    assert "//   4  an operand was pushed with the wrong number of words" in header
    assert ("//   5  an operand has ones above" in header) == (nbits % 32 != 0)
    assert ".py" not in text and "modexlab.fl" not in text
    lint(text)


KEYED = ("--nbits", 16, "--set", "schedule=fixed-window", "--set", "crt=true", "--set", "verify=true")


def test_header_of_a_machine_with_a_key(cli: Cli) -> None:
    """Its fields, its answers, its program, and the cycles of a private operation."""
    text = cli("verilog", "mont", *KEYED).out
    header = text.partition("\ntypedef")[0].replace("//", " ")
    assert all(len(line) <= 140 for line in header.splitlines())
    words = " ".join(header.split())
    machine = catalogue.find("mont").at(16, schedule="fixed-window", crt=True, verify=True)
    found = costs(machine)
    assert f"Cycles {found.cycles} for a key of 16 bits (from request to response); before, " in words
    assert (
        "Constant time yes: as many cycles for all messages and all private keys of the same length" in words
    )
    assert (
        "base^d mod mod with an RSA key, for odd moduli and bases below the modulus; exp is the public"
        in words
    )
    for name, nbits in machine.programmed.program.fields:
        assert f"{name} {nbits} bits {MEANINGS[name]} (" in words
    assert "for the modulus" not in header and "another modulus" not in header
    statuses = [line.split()[0] for line in header.splitlines() if re.match(r" {4}\d  [a-z]", line)]
    assert statuses == ["0", "1", "2", "3", "8", "9"]
    command = "modexlab program mont --nbits 16 --set schedule=fixed-window --set crt=True --set verify=True"
    assert f"Program ({command}):" in words
    for line in machine.programmed.program.listing():
        assert " ".join(line.split()) in words
    assert cli(*command.split()[1:]).out.startswith(machine.programmed.program.listing()[0])
    assert "Word(" not in text and "Field(" not in text, "programs in the headers of modules"


@pytest.mark.parametrize(
    ("options", "constant"),
    [
        (["mont"], "no: the number of cycles depends on the operands"),
        (["mont", "--set", "schedule=fixed-window"], "yes: as many cycles for all exponents\n"),
        (["mont", "--set", "schedule=ladder"], "yes: as many cycles for all exponents of a length\n"),
        (["ssmm", "--set", "schedule=fixed-window"], "no: the number of cycles depends on the operands"),
        (["mont-001"], "no: the number of cycles depends on the operands"),
    ],
)
def test_header_says_whether_cycles_tell(cli: Cli, options: list[str], constant: str) -> None:
    header = cli("verilog", *options, "--nbits", 16).out.partition("\ntypedef")[0]
    assert f"// Constant time  {constant}" in header
    assert ("// Program (modexlab program " in header) == (options[0] != "mont-001")
    assert "//   8  " not in header and "//   9  " not in header


def test_progress(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> str:
        time.sleep(0.2)
        return "text\n"

    monkeypatch.setattr(command, "verilog", slow)
    monkeypatch.setattr(progress, "DELAY", 0.05)
    result = cli("verilog", "mont", "--nbits", 64)
    assert (result.out, result.err) == ("text\n", "mont, 64 bits: 0 s\n")


def test_stdout_is_the_text_alone(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "naive.sv"
    cli("verilog", "naive", "-o", path)
    assert cli("verilog", "naive").out == path.read_text() == cli("verilog", "naive", "-o", "-").out


@pytest.mark.parametrize(
    ("nbits", "design"),
    [
        # a compression tree of 64 bits takes Verilator a minute
        pytest.param(
            nbits,
            design.name,
            marks=regress_if((nbits > 8 and design.name != "mont") or (nbits == 8 and is_sibling(design))),
        )
        for nbits in (8, 64)
        for design in catalogue.designs()
    ],
)
def test_lint_clean_and_self_contained(cli: Cli, design: str, nbits: int) -> None:
    """Verilator finds every module and type, and has nothing to complain about."""
    lint(cli("verilog", design, "--nbits", nbits).out)


@pytest.mark.parametrize(
    ("options", "top", "words", "absent"),
    [
        ([], "proc", ["the null accelerator: one register, xr0", "output proc_Commit commit"], "xcel_req"),
        (
            ["--xcel", "none", "--mul-latency", 3],
            "proc_open",
            ["output proc_open_XcelReq xcel_req__msg", "mul_latency = 3: ", "xcel_resp__msg  { write"],
            "null accelerator",
        ),
        (
            ["--xcel", "mont", "--nbits", 16, "--set", "nstages=2", "--div-bits", 4, "--no-commit"],
            "proc_mont_16",
            ["mont, 16 bits: ", "nstages = 2: ", "div_bits = 4: ", "xr1  write  push the next word of"],
            "commit",
        ),
        (
            ["--xcel", "naive", "--nbits", 16, "--interface", "axi4lite"],
            "proc_naive_16_axi4lite",
            ["naive, 16 bits, on the bus", "mie          read, write: bit 11", "0x010          STATUS"],
            "no interrupts",
        ),
    ],
)
def test_processor(cli: Cli, options: list[object], top: str, words: list[str], absent: str) -> None:
    """Self-contained and clean as the designs are; the header has the ports, what moves on them, and the CSRs."""
    text = cli("verilog", "proc", *options).out
    header = text.partition("\nmodule")[0].partition("\n\n")[0]
    assert header.startswith(f"// {top}: a pipelined RV32IM processor")
    assert re.search(rf"^module {top}\b", text, re.MULTILINE)
    for each in (*words, "imem_req__msg   { write[0:0], strobe[3:0], addr[31:0], data[31:0] }"):
        assert each in header
    assert absent not in header
    for csr in CSRS:
        assert f"0x{csr.number:03X}" in header and csr.name in header
    assert all(len(line) <= 140 for line in header.splitlines())
    assert ".py" not in text and "functional level" not in header
    lint(text)


def test_processor_in_a_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "proc.sv"
    result = cli("verilog", "proc", "-o", path)
    assert result.out == f"{path}: proc, {len(path.read_text().splitlines())} lines\n"
    assert path.read_text() == cli("verilog", "proc").out


def test_the_processors_verilog_runs_programs(cli: Cli) -> None:
    """What a user gets is what we simulate."""
    text = cli("verilog", "proc").out
    program = kernel_program("montgomery", 32, 3, 65537, 1007)
    expected = None
    for component in (VerilogText(text, "proc"), ProcXcel(Proc, NullXcel)):
        with simulate_proc(component, "native") as sim:
            outcome = sim.run(program)
        assert outcome.exit_code == 0
        expected = expected or outcome.cycles
        assert outcome.cycles == expected


def test_lint_complains_about_what_is_missing(cli: Cli) -> None:
    text = cli("verilog", "mont", "--nbits", 8).out
    with pytest.raises(ToolError):
        lint(text.replace("module mont_8_Sequencer", "module Other"))


def test_a_directory_is_no_file(cli: Cli, tmp_path: Path) -> None:
    assert f"{tmp_path}: cannot be written: Is a directory" in cli.fails("verilog", "mont", "-o", tmp_path)
    assert list(tmp_path.parent.glob(".*.partial")) == []


def test_a_device_is_written_and_not_replaced(cli: Cli, tmp_path: Path) -> None:
    """The pipe is still one afterwards, and the link a link."""
    pipe, link, target = tmp_path / "pipe", tmp_path / "link.sv", tmp_path / "target.sv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert cli("verilog", "naive", "--nbits", 8, "-o", pipe).code == 0
    assert os.read(reader, 10) == b"// naive_8"
    os.close(reader)
    assert pipe.is_fifo()
    link.symlink_to(target)
    assert cli("verilog", "naive", "--nbits", 8, "-o", link).code == 0
    assert link.is_symlink() and target.read_text().startswith("// naive_8")


def test_an_error_leaves_the_old_file(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mont.sv"
    path.write_text("old")

    def fails(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "verilog", fails)
    assert cli("verilog", "mont", "-o", path).code == 130
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["mont", "-o", "/nowhere/mont.sv"],
            "/nowhere/mont.sv: there is no such directory",
        ),
        (["mont", "-o", ""], "--output '': this is not the name of a file"),
        (["mont", "-o", ".."], "--output '..': this is not the name of a file"),
        (["mont", "-o", "sub/"], "--output 'sub/': this is not the name of a file"),
        (["mont", "--nbits", 4097], "out of range"),
        (["mont", "--nbits", 30, "--set", "steps_per_stage=8"], "does not divide the width of 30 bits"),
        (["mnot"], "did you mean 'mont'?"),
        (["mont", "--xcel", "mont"], "--xcel: only the processor has it; give proc, or drop it"),
        (["mont", "--no-commit"], "--no-commit: only the processor has it"),
        (["mont", "--mul-latency", 2], "--mul-latency: only the processor has it"),
        (
            ["proc", "--interface", "axi4lite-000"],
            "a machine stands behind the processor by xcel or axi4lite",
        ),
        (["proc", "--interface", "axi4lite"], "--interface axi4lite without an accelerator; name one with"),
        (["proc", "--nbits", 32], "--nbits without an accelerator; name one with --xcel DESIGN"),
        (["proc", "--set", "nstages=2"], "--set without an accelerator"),
        (["proc", "--xcel", "none", "--no-commit"], "--no-commit with --xcel none: only a whole system"),
        (["proc", "--xcel", "mnt"], "did you mean 'mont'?"),
        (["proc", "--mul-latency", 0], "a multiplier with a latency of 0 is not possible"),
        (["proc", "--div-bits", 3], "argument --div-bits: invalid choice: 3"),
        (["proc", "-o", "/nowhere/proc.sv"], "there is no such directory"),
    ],
)
def test_refusals(cli: Cli, argv: list[object], message: str) -> None:
    assert message in cli.fails("verilog", *argv)


def test_what_is_given_is_told(cli: Cli) -> None:
    """What comes beside base, exponent and modulus, in words, and where behind registers; and which moduli are too long."""
    header = cli("verilog", "systolic-002", "--nbits", 512).out.partition("typedef")[0]
    for line in (
        "// Given with an operation, made from its modulus n once, and not checked:",
        "//   one = 2^512 mod n (behind registers: xr4)",
        "//   n_prime = -n^-1 mod 2^16 (behind registers: xr6)",
        "//   5  an operand has ones above the width of the machine",
    ):
        assert line in header, line
    assert "for odd moduli of up to 510 bits" in header
    assert "Given" not in cli("verilog", "systolic", "--nbits", 64).out


@pytest.mark.parametrize("name", ["pkcs1-pad", "pkcs1-unpad", "pkcs1-unpad-implicit"])
def test_units_of_padding(name: str, cli: Cli) -> None:
    """A file each, clean, with what one must know in its header."""
    done = cli("verilog", name, "--nbits", 96)
    top = f"{name.replace('-', '_')}_96"
    assert done.code == 0 and f"module {top}\n" in done.out and "messages 1 at most" in done.out
    assert "Cycles: nbytes" in done.out and "istream__msg  {" in done.out
    assert ("fallback[95:0]" in done.out) == name.endswith("implicit")
    lint(done.out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--nbits", 100], "multiple of 8 from 96"),
        (["--set", "a=1"], "--set: pkcs1-pad has a width"),
        (["--interface", "xcel"], "streams of its own"),
        (["--xcel", "mont"], "--xcel: pkcs1-pad has a width"),
    ],
)
def test_units_of_padding_have_a_width_alone(options: list[object], words: str, cli: Cli) -> None:
    done = cli("verilog", "pkcs1-pad", *options)
    assert done.code == 2 and words in done.err
