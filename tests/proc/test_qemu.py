"""An independent judge: qemu-riscv32 (Debian's qemu-user) runs the same user-level programs.

A random program is built twice, with the same instructions and data at the same addresses. At its end it
saves its registers beside its data. Under qemu they go to standard output by write(2), on the processor to
the manager, a word each.
"""

import shutil
import struct
import subprocess

import pytest
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.proc.isa.csrs import PROC2MNGR
from modexlab.proc.iss.iss import ISS
from modexlab.proc.sim import MemoryTiming, simulate_proc
from modexlab.proc.software.compiler import OPTS, compile_program
from modexlab.proc.software.elf import load_elf

from tests.harness import examples
from tests.proc.programs import DATA, EXIT, GP, NUMBER, RandomProgram
from tests.proc.test_c import SOURCE

pytestmark = pytest.mark.regress

CODE = 0x1_0000  # the lowest page that an operating system gives a program
AREA = DATA - 2048  # what a program reaches from gp
SAVED = AREA + 4096  # registers, behind the data
SAVED_BYTES = 4 * 32
WRITE = 64
A0, A1, A2, A7 = (NUMBER[name] for name in ("a0", "a1", "a2", "a7"))


def qemu():
    """The judge."""
    found = shutil.which("qemu-riscv32")
    assert found, "qemu-riscv32 is missing: run `apt-get install qemu-user`"
    return found


def save_registers(asm):
    """All registers but gp, which is needed to do so."""
    asm.li(GP, SAVED)
    for register in range(32):
        if register != GP:
            asm.emit("sw", 0, GP, register, 4 * register)


def end_under_qemu(asm):
    """write(1, data and registers); exit(0)."""
    save_registers(asm)
    asm.li(A0, 1)
    asm.li(A1, AREA)
    asm.li(A2, 4096 + SAVED_BYTES)
    asm.li(A7, WRITE)
    asm.emit("ecall")
    asm.li(A0, 0)
    asm.li(A7, EXIT)
    asm.emit("ecall")


def end_on_the_processor(asm):
    """The same words to the manager."""
    save_registers(asm)
    asm.li(A1, AREA)
    asm.li(A2, AREA + 4096 + SAVED_BYTES)
    top = asm.label()
    asm.emit("lw", A0, A1)
    asm.emit("csrrw", 0, A0, imm=PROC2MNGR)
    asm.emit("addi", A1, A1, imm=4)
    asm.emit("bne", 0, A1, A2, top)
    asm.li(A0, 0)
    asm.li(A7, EXIT)
    asm.emit("ecall")


def write_elf(program, path):
    """An ELF file of the program for a system with pages of 4 KiB: code that may be modified, and whole pages
    of data.
    """
    header, entry, page = 52, 32, 4096
    ((base, code), (first, data)) = program.segments
    whole = bytearray(3 * page)
    start = AREA & -page
    whole[first - start : first - start + len(data)] = data
    place = page + (len(code) + page - 1) // page * page
    everything = 7  # may be read, written and executed
    table = b"".join(
        struct.pack("<8I", 1, offset, addr, addr, size, size, everything, page)
        for offset, addr, size in ((page, base, len(code)), (place, start, len(whole)))
    )
    identity = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    head = identity + struct.pack(
        "<HHIIIIIHHHHHH", 2, 243, 1, program.entry, header, 0, 0, header, entry, 2, 0, 0, 0
    )
    path.write_bytes((head + table).ljust(page, b"\0") + code.ljust(place - page, b"\0") + whole)
    path.chmod(0o755)


def words(raw):
    """Little-endian words."""
    return list(struct.unpack(f"<{len(raw) // 4}I", raw))


def run_qemu(path):
    """Return the output of the program."""
    done = subprocess.run([qemu(), str(path)], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b""), path
    return words(done.stdout)


def test_random_programs(tmp_path):
    """Memory and registers at the end of random programs of at least 200 instructions: qemu, simulator of
    instructions, pipeline.
    """
    path = tmp_path / "program"
    with simulate_proc(ProcXcel(Proc, NullXcel), "native") as sim:
        for seed in range(examples(50)):
            write_elf(RandomProgram(seed, user=True, base=CODE).program(end_under_qemu), path)
            expected = run_qemu(path)
            assert len(expected) == 1024 + 32
            program = RandomProgram(seed, user=True, base=CODE).program(end_on_the_processor)
            timing = MemoryTiming(1 + seed % 3, stall=0.2 * (seed % 2), seed=seed)
            for outcome in (ISS(program).run(), sim.run(program, timing=timing)):
                assert (outcome.reason, outcome.exit_code) == ("exit", 0), outcome.explain(program)
                assert outcome.instructions > 200
                assert outcome.output == expected, f"random program {seed} at level {outcome.level}"


@pytest.mark.parametrize("opt", OPTS)
def test_compiled(opt):
    """C that a compiler made something else of for qemu only where it sends a word."""
    expected = run_qemu(compile_program([SOURCE], defines={"QEMU": 1}, opt=opt))
    assert ISS(load_elf(compile_program([SOURCE], opt=opt))).run().output == expected
