"""Comparison with an independent simulator: qemu-riscv32 (Debian's qemu-user) runs the same user-level
programs.

A random program is built twice, with the same instructions and data at the same addresses. At its end it
stores its registers after its data. Under qemu, data and registers go to standard output by write(2); on the
processor they go to the manager, word by word.
"""

import shutil
import struct
import subprocess

from modexlab.proc.iss.iss import ISS
from modexlab.proc.sim import MemoryTiming
from modexlab.proc.software.compiler import OPTS, compile_program
from modexlab.proc.software.elf import load_elf

from tests.harness import examples, parametrize, regress
from tests.proc.assembler import DATA, EXIT
from tests.proc.examples import simulation
from tests.proc.programs import GP, RandomProgram
from tests.proc.test_c import SOURCE
from tests.proc.test_elf import File, Segment

pytestmark = regress

CODE = 0x1_0000  # the lowest page that an operating system allows
AREA = DATA - 2048  # the start of the range that offsets from gp reach
SAVED = AREA + 4096  # registers, after the data
SAVED_BYTES = 4 * 32
WRITE = 64


def qemu():
    """The path of qemu."""
    found = shutil.which("qemu-riscv32")
    assert found, "qemu-riscv32 is missing: run `apt-get install qemu-user`"
    return found


# all registers except gp, which addresses the others
SAVE = f"li gp, {SAVED};" + "".join(f"sw x{i}, {4 * i}(gp);" for i in range(32) if i != GP)


def end_under_qemu(asm):
    """write(1, data and registers), then exit(0)."""
    asm.text(f"{SAVE} li a0, 1; li a1, {AREA}; li a2, {4096 + SAVED_BYTES}; li a7, {WRITE}; ecall")
    asm.text(f"li a0, 0; li a7, {EXIT}; ecall")


def end_on_the_processor(asm):
    """Send the same words to the manager, and exit."""
    asm.text(f"{SAVE} li a1, {AREA}; li a2, {AREA + 4096 + SAVED_BYTES}; send:")
    asm.text("lw a0, 0(a1); csrrw zero, proc2mngr, a0; addi a1, a1, 4; bne a1, a2, send")
    asm.text(f"li a0, 0; li a7, {EXIT}; ecall")


def write_elf(program, path):
    """Write an ELF file of the program for a system with pages of 4 KiB, with writable code and whole pages
    of data.
    """
    page, everything = 4096, 7  # may be read, written and executed
    ((base, code), (first, data)) = program.segments
    start = AREA & -page
    whole = bytes(first - start) + data
    segments = Segment(base, code, everything), Segment(start, whole.ljust(3 * page, b"\0"), everything)
    File(segments, program.entry, align=page).write(path).chmod(0o755)


def words(raw):
    """The little-endian words of some bytes."""
    return list(struct.unpack(f"<{len(raw) // 4}I", raw))


def run_qemu(path):
    """The output of the program under qemu."""
    done = subprocess.run([qemu(), str(path)], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b""), path
    return words(done.stdout)


def test_random_programs(tmp_path):
    """Memory and registers at the end of random programs of at least 200 instructions: qemu, instruction-set
    simulator, pipeline.
    """
    path = tmp_path / "program"
    for seed in range(examples(50)):
        write_elf(RandomProgram(seed, user=True, base=CODE).program(end_under_qemu), path)
        expected = run_qemu(path)
        assert len(expected) == 1024 + 32
        program = RandomProgram(seed, user=True, base=CODE).program(end_on_the_processor)
        timing = MemoryTiming(1 + seed % 3, stall=0.2 * (seed % 2), seed=seed)
        for outcome in (ISS(program).run(), simulation().run(program, timing=timing)):
            assert (outcome.reason, outcome.exit_code) == ("exit", 0), outcome.explain(program)
            assert outcome.instructions > 200
            assert outcome.output == expected, f"random program {seed} at level {outcome.level}"


@parametrize("opt", OPTS)
def test_compiled(opt):
    """Compiled C, which differs for qemu only in how a word is sent."""
    expected = run_qemu(compile_program([SOURCE], defines={"QEMU": 1}, opt=opt))
    assert ISS(load_elf(compile_program([SOURCE], opt=opt))).run().output == expected
