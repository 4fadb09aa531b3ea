"""`modexlab proc`: exit codes, figures and JSON at both levels, traces, commits, the accelerator, and
rejected options.
"""

import sys

from modexlab.eval.cli.commands import proc as command
from modexlab.proc.iss.outcome import CAUSES_OF_CYCLES
from modexlab.proc.software.compiler import compile_program

from tests.command_line import picked, refusals
from tests.harness import one_now, parametrize
from tests.paths import DATA

GCD = DATA / "gcd.c"
POWER = DATA / "power.c"
KEY = DATA / "rsa512.pem"
PYTHON = sys.executable
POWER_RESULT = pow(5, 117, 2603398711)

FL = "--level fl"
RTL = "--backend python"  # the fastest for a few dozen cycles
LEVELS = parametrize("level", [FL, RTL], ids=["fl", "rtl"])

TOHOST = """
    .globl tohost
    .data
tohost: .word 0
    .text
    .globl main
main:
    la a0, tohost
    li a1, {word}
    sw a1, 0(a0)
1:  j 1b
"""
TAKES_TWO = """
    csrr a0, 0xFC0
    csrr a1, 0xFC0
    add a0, a0, a1
    csrw 0x7C0, a0
    li a0, 0
    ret
"""


def assembly(directory, body):
    """A source file with this code as main; code with a label main is the whole file."""
    path = directory / "some.S"
    path.write_text(body if "main:" in body else f".globl main\nmain:\n{body}\n")
    return path


# ---- figures


def test_levels_and_stages_agree(cli):
    """The same program has equal instruction counts everywhere, and equal cycles at all levels with
    a clock.
    """
    reports = [cli.json(f"proc {GCD} {how}") for how in (FL, "", "--backend verilog", RTL)]
    fl, native, verilog, python = reports
    for report in reports:
        assert picked(report, "exit_code reason output") == (0, "exit", [21])
        assert report["instructions"] == fl["instructions"]
        assert report["window"]["instructions"] == fl["window"]["instructions"] > 0
    assert picked(fl, "level backend cycles cpi where") == ("fl", None, None, None, {})
    assert picked(native, "level backend") == ("rtl", "native")
    assert native | {"backend": "verilog"} == verilog
    assert native | {"backend": "python"} == python


def test_json_of_cycles(cli):
    report = cli.json(f"proc {GCD} {RTL}")
    assert report["cpi"] == round(report["cycles"] / report["instructions"], 4)
    for counted in (report, report["window"]):
        assert tuple(counted["where"]) == CAUSES_OF_CYCLES
        assert sum(counted["where"].values()) == counted["cycles"]
    assert report["where"]["divider"] > report["window"]["where"]["issue"]
    assert picked(report, "program xcel nbits") == ("gcd.c", "null", None)


def test_text(cli):
    report = cli.json(f"proc {GCD}")
    lines = cli(f"proc {GCD}").out.splitlines()
    assert lines[0] == "gcd.c (rtl, native; accelerator: null)"
    assert "exit code       0" in lines
    assert "output          21" in lines
    cells = {line.split()[0]: line.split()[1:] for line in lines[4:] if line}
    assert cells["instructions"] == [str(report["instructions"])]
    assert cells["cycles"] == [str(report["cycles"])]
    assert cells["CPI"] == [f"{report['cycles'] / report['instructions']:.2f}"]
    share = f"{100 * report['where']['divider'] / report['cycles']:.1f}"
    assert cells["divider"] == [str(report["where"]["divider"]), share]
    causes = [line for line in lines[lines.index("") :] if line.startswith(tuple(command.NAMES.values()))]
    assert len(causes) + 1 == len(CAUSES_OF_CYCLES) == len(command.NAMES)  # without a bus nothing sleeps
    assert causes[0].startswith("issue")


def test_data_that_look_like_a_call(cli, tmp_path):
    """Two bytes from a word's start, which no instruction is."""
    (tmp_path / "data.c").write_text(
        '_Alignas(4) volatile char text[] = "abs\\x10\\x10~";\nint main(void) { return text[0] != 97; }\n'
    )
    cli.reports(f"proc {tmp_path}/data.c", exit_code=0)


def test_stats(cli):
    """The stats window next to the whole run."""
    report = cli.json(f"proc {GCD} {RTL}")
    lines = cli(f"proc {GCD} {RTL} --stats").out.splitlines()
    (cycles,) = (line.split()[1:] for line in lines if line.startswith("cycles"))
    assert cycles == [str(report["cycles"]), str(report["window"]["cycles"])]
    (issue,) = (line.split()[1:] for line in lines if line.startswith("issue"))
    assert issue[2] == str(report["window"]["where"]["issue"])


def test_text_without_a_clock_and_without_a_window(cli, tmp_path):
    path = assembly(tmp_path, "li a0, 0\nret")
    out = cli(f"proc {path} --level fl --stats").out
    assert out.startswith("some.S (fl; accelerator: null)\n")
    assert "The stats window was never open" in out
    assert "This level has no clock.\n" in out
    assert "where the cycles went" not in out


def test_many_words_of_output_are_cut_in_text_only(cli, tmp_path):
    path = assembly(tmp_path, "li a0, 0\n" + "csrw 0x7C0, a0\naddi a0, a0, 1\n" * 20 + "li a0, 0\nret")
    cli.reports(f"proc {path} --level fl", output=list(range(20)))
    cli.shows(f"proc {path} --level fl", " 14 15 and 4 more (all with --json)\n")


def test_optimization(cli):
    plain, best = (cli.json(f"proc {GCD} -O{opt} --level fl") for opt in "02")
    assert plain["instructions"] > best["instructions"]
    assert best == cli.json(f"proc {GCD} --level fl")


# ---- exit codes


@LEVELS
@parametrize(
    "body, reason, exit_code, code",
    [
        ("li a0, 3\nret", "exit", 3, 1),
        ("li a0, 256\nret", "exit", 256, 1),
        (TOHOST.format(word=1), "tohost", 0, 0),
        (TOHOST.format(word=11), "tohost", 5, 1),
    ],
)
def test_exit_codes(cli, tmp_path, level, body, reason, exit_code, code):
    result = cli(f"proc {assembly(tmp_path, body)} {level} --json")
    assert result.code == code
    report = result.json()
    assert picked(report, "reason exit_code") == (reason, exit_code)
    assert report["level"] == ("fl" if level is FL else "rtl")


def test_a_failed_test_is_named(cli, tmp_path):
    path = assembly(tmp_path, TOHOST.format(word=11))
    out = cli.shows(f"proc {path} --level fl", "exit code       5: test 5 failed\n", code=1)
    assert "last trap" not in out, "there was none"


@LEVELS
@parametrize(
    "body, message",
    {
        "csrr a0, 0x123\nret": "csrrs a0, 0x123, zero; there is no CSR 0x123; see the table of CSRs",
        "csrw cycle, a0\nret": "csrrw zero, cycle, a0; cycle is read only",
        "jr zero": "(mcause 1, mtval 0x0) at pc 0x0; the instruction before it was at 0x234 (main); stay in",
        ".word 0": ".word 0x00000000; this is not an instruction of RV32IM",
        "li a1, 0x1001\nlw a0, 0(a1)": "misaligned load (mcause 4, mtval 0x1001)",
        "sw a0, 0(zero)": "sw a0, 0(zero); stay in memory, which is 0x200 to 0x3fffff and 0x80000000 to",
        "ebreak": "ebreak; in compiled C, gcc puts an ebreak where the C has no meaning, such as a "
        "division by",
    }.items(),
)
def test_traps_name_pc_instruction_and_cause(cli, tmp_path, level, body, message):
    said = cli.fails(f"proc {assembly(tmp_path, body)} {level} --json")
    assert said.startswith("some.S: ")
    assert all(words in said for words in (" (mcause ", " at pc 0x", "(main", message))


@LEVELS
def test_a_program_that_does_not_end(cli, tmp_path, level):
    path = assembly(tmp_path, "nop\n1:  j 1b")
    said = cli.fails(f"proc {path} {level} --max-cycles 400 --json")
    assert said.startswith("some.S: no end after ")
    assert "last pcs: 0x" in said
    assert "main+0x4; if it only takes long, give a larger --max-cycles" in said


@LEVELS
@parametrize("limit", ["", "--max-cycles 100000"])
def test_a_trap_loop(cli, tmp_path, level, limit):
    path = assembly(tmp_path, "la a0, 1f\ncsrw mtvec, a0\n.align 2\n1:  .word 0")
    said = cli.fails(f"proc {path} {level} {limit} --json")
    assert said.startswith("some.S: nothing has retired ")
    assert (
        "trap loop, the handler's first instruction traps: illegal instruction (mcause 2, mtval 0x0)" in said
    )
    assert said.endswith("; set mtvec to the first instruction of a handler that can run")


def test_there_is_a_limit_without_being_asked(cli, tmp_path, monkeypatch):
    monkeypatch.setitem(command.LIMITS, None, 3000)
    path = assembly(tmp_path, "1:  j 1b")
    said = cli.fails(f"proc {path} --level fl")
    assert "no end after 3000 instructions" in said
    assert said.endswith("if it only takes long, give --max-cycles")


# ---- around the processor


@LEVELS
def test_words_of_the_manager(cli, tmp_path, level):
    path = assembly(tmp_path, TAKES_TWO)
    cli.reports(f"proc {path} {level} --input 5,0x10", output=[21])
    assert "word 2" in cli.fails(f"proc {path} {level} --input 5 --max-cycles 1500 --json")


def test_memory_and_units_cost_cycles(cli):
    ideal = cli.json(f"proc {GCD} {RTL}")
    slow = cli.reports(
        f"proc {GCD} {RTL} --latency 4 --extra 2 --stall 0.3 --seed 9", instructions=ideal["instructions"]
    )
    assert slow["where"]["fetch"] > 0 == ideal["where"]["fetch"]
    fast = cli.json(f"proc {GCD} {RTL} --div-bits 8")
    assert fast["where"]["divider"] < ideal["where"]["divider"]
    assert fast["output"] == ideal["output"] == slow["output"]


@LEVELS
def test_an_accelerator(cli, level):
    report = cli.reports(
        f"proc {POWER} --xcel mont --set nstages=2 {level}", exit_code=0, output=[POWER_RESULT]
    )
    assert (report["xcel"], report["nbits"], report["params"]["nstages"]) == ("mont", 32, 2)
    if level is RTL:
        assert report["window"]["where"]["accelerator"] > report["window"]["instructions"]


# ---- what is shown of a run


def test_trace(cli):
    report = cli.json(f"proc {GCD} {RTL}")
    out = cli(f"proc {GCD} --trace").out
    head, *lines = out.splitlines()
    assert head.split() == ["cycle", "F", "D", "X", "M", "W"]
    cycles = [line for line in lines if line.partition(":")[0].strip().isdigit()]
    assert len(cycles) == report["cycles"]
    assert any("remu" in line for line in cycles)
    assert "gcd.c (rtl, python; " in out


def test_trace_goes_to_stderr_beside_json(cli):
    result = cli(f"proc {GCD} --trace --json")
    assert result.json()["backend"] == "python"
    assert "\n     0: " in result.err


def test_commits(cli, tmp_path):
    """One line per retired instruction, the same at both levels."""
    body = "li a1, 0x1234\nsw a1, -4(sp)\nlbu a0, -3(sp)\nli a0, 0\nret"
    texts = []
    for name, level in (("fl", FL), ("rtl", RTL)):
        log = tmp_path / f"{name}.log"
        report = cli.json(f"proc {assembly(tmp_path, body)} {level} --commits {log}")
        texts.append(log.read_text())
        assert len(texts[-1].splitlines()) == report["instructions"]
    assert texts[0] == texts[1]
    stored, loaded = (line for line in texts[0].splitlines() if "(sp)" in line)
    assert "sw a1, -4(sp)" in stored and stored.endswith("[0x003ffffc]=0x00001234")
    assert "lbu a0, -3(sp)" in loaded and loaded.endswith("a0=0x00000012 [0x003ffffd]")


@parametrize("backend", one_now(("native", "verilog"), "native"))
def test_vcd_on_a_full_disk(cli, tmp_path, backend):
    path = tmp_path / "full.vcd"
    path.symlink_to("/dev/full")
    result = cli(f"proc {GCD} --backend {backend} --vcd {path}")
    assert result.code == 2
    assert "full.vcd: cannot be written (No space left on device); free some space" in result.err


def test_vcd(cli, tmp_path):
    path = tmp_path / "waves.vcd"
    cli.passes(f"proc {GCD} --backend python --vcd {path}")
    assert "$enddefinitions" in path.read_text()


# ---- what it refuses


test_refusals = refusals(
    "proc",
    {
        "/nowhere.elf": "cannot read /nowhere.elf: No such file",
        "/nowhere.c": "/nowhere.c: there is no such file; give the path of a file of C or assembly",
        f"{KEY}": "rsa512.pem is not an ELF file",
        f"{PYTHON}": "is for another machine",
        "": "PROGRAM",
        "''": "PROGRAM '': this is not the name of a file",
        f"{GCD} --level cl": "argument --level: invalid choice: 'cl'",
        f"{GCD} --level fl --backend native": "the functional level has no backend native",
        f"{GCD} --level fl --trace": "the functional level has no clock to trace",
        f"{GCD} --level fl --latency 2": "--latency: the functional level has no clock",
        f"{GCD} --level fl --div-bits 4": "--div-bits: the functional level has no clock",
        f"{GCD} --backend spice": "unknown backend 'spice'",
        f"{GCD} --backend native --trace": "backend native has no line trace",
        f"{GCD} --latency 0": "latency must be 1 or more cycles",
        f"{GCD} --stall 1": "stall probability must be in [0, 1), not 1.0",
        f"{GCD} --stall often": "'often' is not a number; write it as in 0.2",
        f"{GCD} --mul-latency 0": "a multiplier with a latency of 0 is not possible; give 1 to 32",
        f"{GCD} --div-bits 3": "argument --div-bits: invalid choice: ",
        f"{GCD} --max-cycles 0": "0 is too few; give a number from 1 up",
        f"{GCD} --max-cycles {2**63}": "9223372036854775808 is out of range; give less than 2^63",
        f"{GCD} --input 5,six": "'six' is not a whole number",
        f"{GCD} --input {2**32}": "4294967296 is not a word; give numbers below 2^32",
        f"{GCD} --xcel mnt": "unknown design 'mnt': did you mean 'mont'?",
        f"{GCD} --xcel mont --nbits 4": "a width of 4 bits is out of range",
        f"{GCD} --xcel mont --set nstages=3": "nstages = 3 does not divide the width",
        f"{GCD} --set nstages=2": "--set without an accelerator; name one with --xcel",
        POWER: "power.c calls an accelerator; name one, as in --xcel mont",
        f"{GCD} --nbits 0": "a width of 0 bits is out of range",
        f"{GCD} --vcd /nowhere/x.vcd": "--vcd /nowhere/x.vcd: there is no such directory",
        f"{GCD} --commits /nowhere/x": "--commits /nowhere/x: there is no such directory",
    },
)


@parametrize("option, value", [("-O", "3"), ("--nbits", 64)])
def test_a_compiled_program_is_not_compiled(cli, tmp_path, option, value):
    path = tmp_path / "gcd.elf"
    path.write_bytes(compile_program([GCD]).read_bytes())
    assert "gcd.elf is compiled already; drop it" in cli.fails(f"proc {path} {option} {value}")


@parametrize("size", [4, 60, 200, 1000])
def test_a_truncated_elf_file(cli, tmp_path, size):
    path = tmp_path / "cut.elf"
    path.write_bytes(compile_program([GCD]).read_bytes()[:size])
    message = cli.fails(f"proc {path}")
    assert message.startswith("cut.elf ends inside its ")
    assert message.endswith(": the file is cut short; build it again")


def test_a_directory_with_the_name_of_a_source(cli, tmp_path):
    (tmp_path / "d.c").mkdir()
    assert "d.c: this is a directory; give a file of C" in cli.fails(f"proc {tmp_path}/d.c")


def test_an_exit_code_below_0(cli, tmp_path):
    """As unsigned word, and as the signed value that main returned."""
    path = assembly(tmp_path, "li a0, -1\nret")
    cli.shows(f"proc {path} --level fl", "exit code       4294967295 (-1)\n", code=1)
    cli.reports(f"proc {path} --level fl", exit_code=2**32 - 1)


def test_warnings_of_the_compiler(cli, tmp_path):
    """They are printed on stderr in every run, also if the program is cached, and are not errors."""
    path = tmp_path / "some.c"
    path.write_text("int main(void) { int unused; return 0; }\n")
    for _ in range(2):
        result = cli.passes(f"proc {path} --level fl --json")
        assert result.json()["exit_code"] == 0
        assert "some.c:1:22: warning: unused variable 'unused' [-Wunused-variable]" in result.err
    assert cli(f"proc {GCD} --level fl --json").err == ""


def test_an_ebreak_of_the_compiler(cli, tmp_path):
    """The compiler inserted it; its warning and the message explain why."""
    path = tmp_path / "undefined.c"
    path.write_text("int main(void) { return 5 / 0; }\n")
    result = cli(f"proc {path} --level fl")
    assert "warning: division by zero [-Wdiv-by-zero]" in result.err
    assert "gcc puts an ebreak where the C has no meaning, such as a division by a constant 0" in result.err
