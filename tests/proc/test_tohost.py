"""Programs in the style of the RISC-V community's tests (rv32ui, rv32um): linked at 0x80000000 with the
symbol tohost, with numbered checks of every instruction, the number of the current check in gp, and its
report on failure.

The expected values come from formulas.py.
"""

import itertools
import random

from modexlab.proc.iss.iss import ISS
from modexlab.proc.sim import MemoryTiming
from modexlab.proc.software.compiler import compiler
from modexlab.proc.software.elf import load_elf

from tests.command_line import picked
from tests.harness import finished, parametrize
from tests.paths import DATA
from tests.proc.examples import simulation
from tests.proc.formulas import GOLDEN, TAKEN, signed
from tests.proc.programs import CORNERS, check, of_group

ENVIRONMENT = DATA / "tohost_env.S"
LINK_SCRIPT = """
OUTPUT_ARCH(riscv)
ENTRY(_start)
SECTIONS
{
  . = 0x80000000;
  .text.init : { *(.text.init) }
  . = ALIGN(0x1000);
  .tohost : { *(.tohost) }
  . = ALIGN(0x1000);
  .text : { *(.text) }
  . = ALIGN(0x1000);
  .data : { *(.data) }
  .bss : { *(.bss) }
}
"""
M = 0xFFFF_FFFF
FLAGS = ("-march=rv32g", "-mabi=ilp32", "-static", "-mcmodel=medany", "-nostdlib", "-nostartfiles")


def build(body, directory):
    """A program with this body, which starts at `test`."""
    directory.mkdir(exist_ok=True)
    source, script, product_ = (directory / name for name in ("test.S", "test.ld", "test.elf"))
    source.write_text("\n".join(["    .text", "    .globl test", "test:", *body, "    j pass", ""]))
    script.write_text(LINK_SCRIPT)
    command = [compiler(), *FLAGS, f"-T{script}", ENVIRONMENT, source, "-o", product_]
    done = finished([str(part) for part in command])
    assert done.returncode == 0, done.stderr
    return load_elf(product_)


class Checks:
    """Numbered checks; the first number is 2, as 1 means that all passed."""

    def __init__(self):
        self.lines = []
        self.number = 1

    def check(self, text, register, value):
        """Check that the register has this value after this text."""
        self.number += 1
        self.lines += [f"    li gp, {self.number}", *text.split(";")]
        self.lines += [f"    li t6, {value & M:#x}", f"    bne {register}, t6, fail"]


def pairs(name):
    """Pairs of operands."""
    draw = random.Random(name)
    corners = draw.sample(list(itertools.product(CORNERS, CORNERS)), 12)
    return corners + [(draw.getrandbits(32), draw.getrandbits(32)) for _ in range(4)]


def arithmetic():
    """Register and immediate instructions, with bypasses, rd = rs1, rd = rs2, rd = x0."""
    checks = Checks()
    for name, formula in GOLDEN.items():
        apart = name in of_group("mul", "div")
        edges = [(7, 0), (0x8000_0000, M), (0x8000_0000, 0), (M, 1)] if apart else []
        for a, b in [*pairs(name), *edges]:
            value = formula(a, b)
            checks.check(f"li a1, {a}; li a2, {b}; {name} a4, a1, a2", "a4", value)
            checks.check(f"li a1, {a}; li a2, {b}; nop; {name} a1, a1, a2", "a1", value)
            checks.check(f"li a2, {b}; li a1, {a}; {name} a2, a1, a2; nop; nop; mv a4, a2", "a4", value)
            checks.check(f"li a1, {a}; li a2, {b}; {name} zero, a1, a2", "zero", 0)
            if apart or name == "sub":  # without an immediate
                continue
            imm = b % 32 if name in ("sll", "srl", "sra") else signed(b & 0xFFF, 12)
            short = f"{name[:3]}iu" if name == "sltu" else f"{name}i"
            checks.check(f"li a1, {a}; {short} a4, a1, {imm}", "a4", formula(a, imm & M))
    checks.check("lui a1, 0xFFFFF; srai a1, a1, 1", "a1", 0xFFFF_F800)
    checks.check(".align 3; lla a0, 1f + 10000; jal a1, 1f; 1: sub a0, a0, a1", "a0", 10000)
    return checks


def memory():
    """Loads and stores of all sizes, at all bytes of a word, before and after each other."""
    checks = Checks()
    content = bytes((0x81 + 37 * i) & 0xFF for i in range(16))
    for name, nbytes, keep in (("lb", 1, 1), ("lbu", 1, 0), ("lh", 2, 1), ("lhu", 2, 0), ("lw", 4, 0)):
        for at in range(0, 16, nbytes):
            value = int.from_bytes(content[at : at + nbytes], "little", signed=bool(keep))
            checks.check(f"la a1, bytes; {name} a4, {at}(a1)", "a4", value)
            checks.check(f"la a1, bytes + 100; {name} a4, {at - 100}(a1); nop", "a4", value)
    written = bytearray(16)
    for name, nbytes in (("sw", 4), ("sh", 2), ("sb", 1)):
        for at in range(0, 16, nbytes):
            value = 0x1234_5678 + 0x0F1E_2D3C * at & M
            written[at : at + nbytes] = (value & (1 << 8 * nbytes) - 1).to_bytes(nbytes, "little")
            word = int.from_bytes(written[at & ~3 :][:4], "little")
            checks.check(
                f"la a1, area; li a2, {value}; {name} a2, {at}(a1); lw a4, {at & ~3}(a1)", "a4", word
            )
    checks.lines += [
        "    j pass",
        "    .data",
        "    .align 4",
        f"bytes: .byte {', '.join(map(str, content))}",
        "area: .space 16",
        "    .text",
    ]
    return checks


def jumps():
    """Branches in both directions with both outcomes, jal, jalr, and self-modifying code."""
    checks = Checks()
    for name, formula in TAKEN.items():
        for a, b in pairs(name) + [(value, value) for value in CORNERS[:5]]:
            taken = int(formula(a, b))
            text = f"li a0, 5; li a1, {a}; li a2, {b}; {name} a1, a2, 1f; addi a0, a0, 1; 1: addi a0, a0, 8"
            checks.check(text, "a0", 14 - taken)
            text = (
                f"li a0, 0; li a1, {a}; li a2, {b}; j 2f; 1: addi a0, a0, 1; j 3f; 2: {name} a1, a2, 1b; 3:"
            )
            checks.check(text, "a0", taken)
    checks.check("li a0, 0; jal a1, 1f; 2: addi a0, a0, 1; 1: la a2, 2b; sub a1, a1, a2", "a1", 0)
    checks.check("la a1, 1f; jalr a1, a1, 0; 2: j fail; 1: la a2, 2b; sub a1, a1, a2", "a1", 0)
    checks.check(
        "li a0, 3; la a1, 1f - 8; jalr a0, a1, 9; j fail; .align 2; 1: la a1, 1b; sltu a0, a0, a1", "a0", 1
    )
    patch = "la a1, 1f; la a2, 2f; lh a3, 0(a2); lh a4, 2(a2); sh a3, 0(a1); sh a4, 2(a1); fence.i"
    checks.check(f"{patch}; 1: li a0, 1; j 3f; 2: li a0, 2; 3:", "a0", 2)
    return checks


def run_both(program):
    """How the program ends, at both levels."""
    assert program.entry == 0x8000_0000
    wanted = ISS(program).run(100_000, record=True)
    for timing in (MemoryTiming(), MemoryTiming(stall=0.3, extra=2)):
        check(
            wanted, simulation().run(program, timing=timing, max_cycles=1_000_000, record=True), program.name
        )
    return wanted.reason, wanted.exit_code


@parametrize("program", [arithmetic, memory, jumps])
def test_pass_and_fail(program, tmp_path):
    """All checks pass; with one wrong value, the exit code is the number of that check."""
    checks = program()
    lines = checks.lines
    assert run_both(build(lines, tmp_path)) == ("tohost", 0)
    wrong = random.Random(program.__name__).randint(2, checks.number)
    line = next(i for i in range(lines.index(f"    li gp, {wrong}"), len(lines)) if "li t6, " in lines[i])
    lines[line] = f"    li t6, {int(lines[line].split()[-1], 0) ^ 4}"
    assert run_both(build(lines, tmp_path)) == ("tohost", wrong)


def test_traps(tmp_path):
    """An unexpected trap fails; a program's own handler receives expected traps."""
    code = (1337 | 3) >> 1
    for text in ("lw a0, 1(sp)", ".word 0", "ebreak", "csrw 0x3A0, a0"):
        assert run_both(build(["    li gp, 3", f"    {text}"], tmp_path)) == ("tohost", code)
    handler = (
        "    .align 2; .globl own_handler; own_handler: csrr t5, mepc; addi t5, t5, 4; csrw mepc, t5; "
        "addi a0, a0, 1; mret"
    )
    body = [
        "    li gp, 2; li a0, 0",
        "    .word 0; ebreak; lw a1, 1(zero)",
        "    li t6, 3; bne a0, t6, fail; j pass",
    ]
    assert run_both(build([*body, handler], tmp_path)) == ("tohost", 0)


@parametrize(
    "text, mcause, said",
    [("lw a0, 1(sp)", 4, "misaligned load (mcause 4"), ("sh a0, 1(sp)", 6, "misaligned store (mcause 6")],
)
def test_misaligned_accesses_fail_by_design(text, mcause, said, cli, tmp_path):
    """The community's `ma_data` needs misaligned accesses, which trap here; the report names the trap."""
    pc = build(["    li gp, 2; li sp, 0x80003000", f"access: {text}"], tmp_path).symbols["access"]
    for level in ("fl", "rtl"):
        how = f"proc {tmp_path}/test.elf --level {level}"
        assert f"last trap       {said}, mtval 0x80003001) at pc 0x{pc:x}" in cli.finds(how).out
        assert picked(cli.json(how)["last_trap"], "mcause mtval pc") == (mcause, 0x8000_3001, pc)


def test_command_line(cli, tmp_path):
    """`modexlab proc` at both levels: exit code 0 if all checks pass, otherwise 1 with the number of the
    check.
    """
    good, wrong = (
        ["    li gp, 6", f"    li a0, {value}; addi a0, a0, 1", "    li a1, 8; bne a0, a1, fail"]
        for value in (7, 8)
    )
    for body, code, exit_code in ((good, 0, 0), (wrong, 1, 6)):
        build(body, tmp_path)
        for level in ("fl", "rtl"):
            result = cli.passes(f"proc {tmp_path}/test.elf --level {level} --json", code=code)
            assert result.json()["exit_code"] == exit_code
