"""The C software: every kernel against `pow` on the instruction-set simulator, constant time, RSA, and the
compiler's cache.
"""

import os
import random
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY, Mock, call

import rsa
from hypothesis import given
from hypothesis import strategies as st
from modexlab.fl.axi4lite import Axi4LiteFL
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import Status
from modexlab.fl.xcel import BASE, EXP, GO, MOD, STATUS, XcelFL, from_words, to_words, words_of
from modexlab.proc.isa.isa import decode
from modexlab.proc.iss.iss import ISS
from modexlab.proc.software import compiler, seeded_keys
from modexlab.proc.software.compiler import LIBRARY, SOFTWARE, compile_program
from modexlab.proc.software.elf import load_elf
from modexlab.proc.software.kernels import KERNELS, RSA_KERNELS, kernel_program, patched, rsa_program
from modexlab.proc.software.memory import BUS_BASE
from modexlab.proc.software.seeded_keys import seeded_key

from tests.harness import draws, expect, finished, one_now, parametrize, refused, refuses, regress
from tests.tables.mod_exp import table

ARITHMETIC = ("naive", "montgomery", "montgomery-ct")
TOP = 0xFFFF_FFFF
# base^2 mod n where a quotient digit of Knuth's division is still one too large after its test, so that n is
# added back
ADD_BACK = [
    (96, 0xFFFF0000FFFF0000FFFFFFFF, 0xFFFF0000FFFFFFFFFFFFFFFF),
    (96, 0x800000007FFFFFFF00000000, 0xFFFFFFFEFFFFFFFFFFFFFFFF),
    (96, 0xFFFFFFFF0000000000000000, 0xFFFFFFFF0000000080000001),
    (
        256,
        0xFFFFFFFF7FFFFFFF00000001FFFFFFFE7FFFFFFFFFFFFFFE00000001FFFF0000,
        0xFFFFFFFFFFFFFFFE8000000151C4D43AFFFFFFFEFFFFFFFE000000020000FFFF,
    ),
]


def accelerator(nbits, status=Status.OK, protocol=XcelFL):
    """A machine that accepts every modulus, or refuses all requests."""
    return protocol(exponentiation(nbits), lambda *operands: (status, 0 if status else pow(*operands)))


def run_beside(program, nbits, status=Status.OK):
    """The outcome of a program beside an accelerator and with one on the bus."""
    return ISS(program, accelerator(nbits, status), bus=accelerator(nbits, status, Axi4LiteFL)).run()


def run(kernel, nbits, base, exp, mod, **options):
    """Run a kernel's program to its end and check the result here, independently of the program's
    own check.
    """
    outcome = ISS(kernel_program(kernel, nbits, base, exp, mod, **options), accelerator(nbits)).run()
    result = from_words(outcome.output)
    assert len(outcome.output) == words_of(nbits)
    assert (outcome.exit_code, result) == (0, pow(base, exp, mod)), (kernel, nbits, base, exp, mod)
    return outcome


def takes(kernel, mod):
    """Whether a kernel supports this modulus."""
    return mod > 0 and (mod % 2 == 1 or not KERNELS[kernel].odd_only)


NOTHING = "int main(void) { return 0; }"


def compiled(directory, text, name="program.c", opt="-O2"):
    """The ELF file of a source text."""
    source = directory / name
    source.write_text(text)
    return compile_program([source], opt=opt)


def exit_code_of(path):
    """The exit code of the program in an ELF file, at the functional level."""
    return ISS(load_elf(path)).run().exit_code


@parametrize("nbits", one_now([32, 64, 96, 256], 32))
@parametrize("kernel", [*ARITHMETIC, "xcel"])
def test_directed_rows(kernel, nbits):
    """The table of all machines, and corner cases of software: borrows, carries, and short moduli in long
    operands.
    """
    rows = [row.request for row in table(nbits, min(nbits, 12))]
    all_ones = (1 << nbits) - 1
    for mod in (1, 2, 3, TOP, TOP - 1, 1 << (nbits - 1), all_ones, (1 << (nbits - 1)) + 1, 0x8000_0001):
        rows += [(all_ones, 0, mod), (all_ones, 5, mod), (mod - 1, 6, mod), (mod, 1, mod), (mod >> 1, 3, mod)]
    for base, exp, mod in rows:
        if takes(kernel, mod):
            run(kernel, nbits, base, exp, mod, exp_nbits=max(exp.bit_length(), 1))


@parametrize("nbits, base, mod", ADD_BACK)
@parametrize("kernel", ["naive", "montgomery"])
def test_quotient_digit_too_large(kernel, nbits, base, mod):
    run(kernel, nbits, base, 2, mod)


def words(count):
    """Random numbers of this many words, many of them corner values."""
    word = st.sampled_from([0, 1, TOP, TOP - 1, 0x8000_0000, 0x7FFF_FFFF, 0xFFFF]) | st.integers(0, TOP)
    return st.lists(word, min_size=count, max_size=count).map(from_words)


@parametrize("count", one_now([1, 2, 3, 8], 1, 3))
@parametrize("kernel", ARITHMETIC)
def test_drawn_operands(kernel, count):
    @draws(25)
    @given(words(count), st.integers(0, 0x3FF), words(count))
    def check(base, exp, mod):
        mod |= KERNELS[kernel].odd_only
        run(kernel, 32 * count, base, exp, mod or 1, exp_nbits=10)

    check()


@regress
@parametrize(
    "nbits, exp_nbits",
    {
        512: 512,
        1024: 17,
        2048: 5,
        4096: 2,
    }.items(),
)
@parametrize("kernel", [*ARITHMETIC, "xcel"])
def test_long_operands(kernel, nbits, exp_nbits):
    rng = random.Random(nbits)
    mod = rng.getrandbits(nbits) | 1 << (nbits - 1) | 1
    exp = rng.getrandbits(exp_nbits) | 1 << (exp_nbits - 1)
    run(kernel, nbits, rng.randrange(mod), exp, mod, exp_nbits=exp_nbits)


@parametrize("nbits", [32, 64, 256])
def test_dummy_is_the_call_and_the_answer(nbits):
    outcome = run("dummy", nbits, 3, 5, 1007)
    # call, address, load and return, or a load and a store per word; and the csrwi that closes the window
    assert outcome.window.instructions <= (5 if nbits == 32 else 6 + 3 * words_of(nbits))


def window_of(outcome):
    """(pc, addr, name) of the instructions inside the stats window."""
    inside, found = False, []
    for commit in outcome.commits:
        name = decode(commit.inst).name
        if inside:
            found.append((commit.pc, commit.addr, name))
        if name == "csrrwi" and commit.inst >> 20 == 0x7C1:
            inside = bool(commit.inst >> 15 & 31)
    return found


def traced(kernel, nbits, operands, exp_nbits):
    outcome = ISS(kernel_program(kernel, nbits, *operands, exp_nbits=exp_nbits)).run(record=True)
    assert outcome.exit_code == 0
    found = window_of(outcome)
    assert len(found) == outcome.window.instructions
    return found


@parametrize("nbits", one_now([32, 64, 96], 32, 64))
def test_constant_time(nbits):
    """For all operands, the same instructions run at the same addresses, with the same addresses of loads and
    stores, and no division.
    """
    top, bits = (1 << nbits) - 1, 9
    reference = traced("montgomery-ct", nbits, (2, 5, 7), bits)
    assert not {name for _, _, name in reference} & {"div", "divu", "rem", "remu"}
    rng = random.Random(nbits)
    rows = [(0, 0, 1), (top, 0x1FF, top), (top - 1, 0x100, top), (top, 0x155, (1 << (nbits - 1)) + 1)]
    rows += [(rng.getrandbits(nbits), rng.getrandbits(bits), rng.getrandbits(nbits) | 1) for _ in range(10)]
    for row in rows:
        assert traced("montgomery-ct", nbits, row, bits) == reference, row


@draws(10)
@given(words(2), words(2), words(2))
def test_constant_time_counts(base, exp, mod):
    """With a full-length exponent, the number of instructions is the same for all operands."""
    drawn, zeros = (run("montgomery-ct", 64, *operands) for operands in ((base, exp, mod | 1), (0, 0, 1)))
    assert drawn.window.instructions == zeros.window.instructions


def test_plain_montgomery_is_not_constant_time():
    """The comparison above can detect a difference."""
    assert traced("montgomery", 64, (2, 5, 7), 9) != traced("montgomery", 64, (2, 4, 7), 9)


@parametrize("nbits", [8, 32, 40, 96])
def test_accelerator_protocol(nbits):
    xcel = Mock(wraps=accelerator(nbits))
    assert ISS(kernel_program("xcel", nbits, 3, 200, 253), xcel).run().exit_code == 0
    count = words_of(nbits)
    pushes = [call.write(register, ANY) for register in (BASE, EXP, MOD) for _ in range(count)]
    assert xcel.mock_calls == [*pushes, call.write(GO, ANY), call.read(STATUS), *[call.read(GO)] * count]


@parametrize("nbits", [32, 96])
@parametrize("kernel", KERNELS)
def test_a_warm_up_precedes_the_window(kernel, nbits):
    """The kernel is called twice, and the window has the second call only."""
    xcel = Mock(wraps=accelerator(nbits))
    outcomes = []
    for warm_up in (None, 0xA5A5):
        program = kernel_program(kernel, nbits, 3, 200, (1 << nbits) - 1, warm_up=warm_up)
        outcomes.append(ISS(program, xcel, bus=accelerator(nbits, protocol=Axi4LiteFL)).run())
    alone, second = outcomes
    assert (alone.exit_code, second.exit_code) == (0, 0) and alone.output[: words_of(nbits)] == second.output[
        : words_of(nbits)
    ]
    assert alone.window.instructions == second.window.instructions < second.instructions
    if kernel != "dummy":
        assert second.instructions - alone.instructions >= alone.window.instructions
    if kernel == "xcel":
        bases = [args[1] for name, args, _ in xcel.mock_calls if name == "write" and args[0] == BASE]
        assert bases[:: words_of(nbits)] == [3, 0xA5A5, 3]


@parametrize("nbits", [32, 64])
def test_a_refusing_accelerator_fails_the_program(nbits):
    """A refusal fails the program even if the zeros are the expected result."""
    program = kernel_program("xcel", nbits, 3, 5, 1)
    assert run_beside(program, nbits, Status.EVEN_MODULUS).exit_code == 1
    assert run_beside(program, nbits).exit_code == 0


@parametrize("kernel", [name for name, item in KERNELS.items() if item.bus])
def test_a_bus_that_refuses(kernel):
    """A refused request fails the program; without a machine, its first access traps."""
    program = kernel_program(kernel, 96, 3, 5, 1)
    assert run_beside(program, 96, Status.EVEN_MODULUS).exit_code == 1
    assert ISS(program).run().trap.tval == BUS_BASE


@parametrize("nbits", [32, 96])
@parametrize("kernel", KERNELS)
def test_a_wrong_result_fails_the_program(kernel, nbits):
    base, exp, mod = 3, 5, (1 << nbits) - 1
    for bit in (0, nbits - 1):
        program = kernel_program(kernel, nbits, base, exp, mod, expected=pow(base, exp, mod) ^ 1 << bit)
        assert run_beside(program, nbits).exit_code == (kernel != "dummy")


@parametrize(
    "message, arguments",
    {
        "did you mean 'naive'": ("naiv", 32, 3, 5, 7),
        "operands of 0 bits: give 1 to 4096": ("naive", 0, 0, 0, 0),
        "base 4294967296 is not a number of 32 bits": ("naive", 32, 1 << 32, 5, 7),
        "exponent -1 is not": ("naive", 32, 3, -1, 7),
        "modulus 0": ("naive", 32, 3, 5, 0),
        "modulus 8 is even: kernel montgomery takes odd ones, kernel naive any": ("montgomery", 32, 3, 5, 8),
        "modulus 8 is even": ("montgomery-ct", 64, 3, 5, 8),
    }.items(),
)
def test_refused_operands(arguments, message):
    refuses(lambda: kernel_program(*arguments), message)


@parametrize("exp_nbits", [2, 33])
def test_refused_lengths_of_the_exponent(exp_nbits):
    with refused(f"{exp_nbits} bits of the exponent: give 3, its length, to 32"):
        kernel_program("montgomery-ct", 32, 3, 5, 7, exp_nbits=exp_nbits)


def test_operands_are_patched_where_there_is_room():
    program = kernel_program("naive", 32, 3, 5, 7)
    end = max(addr + len(content) for addr, content in program.segments)
    beyond = type(program)(program.name, program.entry, program.segments, {"late": end - 4})
    with refused("no room for 8 bytes at symbol late"):
        patched(beyond, {"late": [1, 2]})


@parametrize("nbits", one_now([16, 32, 64, 128], 16, 64))
@parametrize("kernel", RSA_KERNELS)
def test_rsa_program(kernel, nbits):
    """Random messages, paper 001, section 4.5: the decrypted message is the original."""
    key = seeded_key(nbits)
    message = random.Random(nbits).randrange(key.n)
    outcome = run_beside(rsa_program(kernel, key, message), nbits)
    assert outcome.output == [*to_words(key.encrypt(message), nbits), *to_words(message, nbits)]
    assert outcome.exit_code == 0 < outcome.window.instructions < outcome.instructions


def test_rsa_program_sees_a_wrong_key():
    program = rsa_program("montgomery", seeded_key(32), 1234)
    assert ISS(patched(program, {"rsa_d": [3]})).run().exit_code == 1


def test_rsa_program_as_it_stands():
    """The unmodified program has the key, message and ciphertext of paper 001, Figure 1."""
    outcome = ISS(load_elf(compile_program([SOFTWARE / "rsa.c"]))).run()
    expect(outcome, exit_code=0, output=[1460365373, 5745])


def test_refused_rsa_programs():
    key = seeded_key(32)
    refuses(lambda: rsa_program("dummy", key, 5), "kernel dummy in the RSA program: give one of naive")
    refuses(lambda: rsa_program("naive", key.public, 5), "is public")
    refuses(lambda: rsa_program("naive", key, 5, nbits=16), "does not fit in 16 bits: give 32 or more")
    refuses(lambda: rsa_program("naive", key, key.n), "is not in 0..n-1")
    refuses(lambda: seeded_key(33), "RSA key of 33 bits")


def test_seeded_keys():
    assert seeded_key(64) == seeded_key(64) != seeded_key(64, seed=2)
    for nbits in (16, 18, 32, 128, 512):
        key = seeded_key(nbits)
        assert key.nbits == nbits and key.decrypt(key.encrypt(42)) == 42


@parametrize("nbits, seed", seeded_keys.PLACES)
def test_places_are_those_of_primes(nbits, seed):
    key = seeded_key(nbits, seed)
    assert key.nbits == nbits and all(map(rsa.prime.is_prime, (key.p, key.q)))


@regress
@parametrize("nbits, seed", seeded_keys.PLACES)
def test_the_search_finds_the_same_primes(nbits, seed):
    key = seeded_key(nbits, seed)
    assert seeded_keys.searched(nbits, seed, key.e) == (key.p, key.q)


def test_primes_of_a_long_key_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path))
    monkeypatch.setattr(seeded_keys, "QUICK_NBITS", 0)
    made = seeded_key(256)
    monkeypatch.setattr(seeded_keys, "_primes", None)
    assert seeded_key(256) == made
    monkeypatch.undo()
    assert seeded_key(256) == made


@parametrize("count", one_now((1, 2, 32), 2))
def test_our_software_compiles_without_warnings(count):
    for defines in (["-DKERNEL=mod_exp"], ["-DKERNEL=mod_exp_words", "-DBY_ADDRESS"], ["-DQEMU"]):
        sources = [*LIBRARY, SOFTWARE / "rsa.c", SOFTWARE / "dummy.c"]
        sources += [] if "-DQEMU" in defines else [SOFTWARE / "kernel_main.c"]
        flags = [*compiler.FLAGS, "-O3", f"-DWORDS={count}", *defines, "-Wall", "-Wextra", "-Werror"]
        command = [str(compiler.compiler()), *flags, f"-I{SOFTWARE}", "-S", "-o", os.devnull]
        command.append(f"-idirafter{compiler.FREESTANDING}")
        for source in sources if count == 2 else [*sources[-2:]]:
            subprocess.run([*command, str(source)], check=True)


MEMORY = """
#include <stddef.h>
#include <stdint.h>
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
static unsigned char a[64], b[64];

int main(void) {
  for (int size = 0; size < 24; size++)
    for (int from = 0; from < 6; from++)
      for (int to = 0; to < 6; to++) {
        for (int i = 0; i < 64; i++)
          a[i] = b[i] = 7 * i + 1;
        memmove(a + to, a + from, size); // overlaps
        for (int i = 0; i < 64; i++)
          if (a[i] != (i >= to && i < to + size ? b[i - to + from] : b[i]))
            return 1;
        memset(a, 0, 64);
        memset(a + from, 0x105, 8 * size / 4 + 3);
        for (int i = 0; i < 64; i++)
          if (a[i] != (i >= from && i < from + 8 * size / 4 + 3 ? 5 : 0))
            return 3;
        memset(a, 0x105, 64);
        memcpy(a + to, b + from, size);
        for (int i = 0; i < 64; i++)
          if (a[i] != (i >= to && i < to + size ? b[i - to + from] : 5))
            return 2;
      }
  memcpy(a, b, 64);
  a[9] = 200, b[9] = 100;
  return memcmp(a, b, 9) != 0 || memcmp(a, b, 10) <= 0 || memcmp(b, a, 64) >= 0 || memcmp(a, b, 0) != 0;
}
"""


@parametrize("opt", one_now(["-O0", "-O3"], "-O3"))
def test_memory_functions(opt, tmp_path):
    assert exit_code_of(compiled(tmp_path, MEMORY, opt=opt)) == 0


def test_a_program_of_a_user(tmp_path):
    """Words from and to the manager, the stats window, a library function, and .bss and .data as in C."""
    text = """
    #include "manager.h"
    #include "modexp.h"
    #include "stats.h"
    int zeros[100], ones[2] = {1, 1};
    int main(void) {
      unsigned base = take(), exponent = take();
      stats_on();
      unsigned result = mod_exp(base, exponent, 1000);
      stats_off();
      emit(result);
      return zeros[99] + ones[1] + 41;
    }
    """
    program = load_elf(compiled(tmp_path, text))
    first, end = program.symbols["__bss_start"], program.symbols["__bss_end"]
    assert end - first >= 400
    for item in (program, replace(program, segments=(*program.segments, (first, b"\xff" * (end - first))))):
        outcome = ISS(item, manager=[7, 13]).run()
        expect(outcome, exit_code=42, output=[pow(7, 13, 1000)])
        assert 13 < outcome.window.instructions < outcome.instructions


def test_what_a_program_brings_itself_is_taken(tmp_path):
    """A program's own function replaces the library's, and an assembly program's own start code replaces
    ours.
    """
    text = """
    #include <stddef.h>
    void *memcpy(void *to, const void *from, size_t size) {
      for (char *t = to; size--;) *t++ = 3;
      return to;
    }
    void *memset(void *, int, size_t);
    unsigned mod_exp(unsigned a) { return a + 1; }
    char buffer[4];
    int main(void) { memset(buffer, 0, 4); memcpy(buffer, "abc", 4); return buffer[1] + mod_exp(3); }
    """
    assert exit_code_of(compiled(tmp_path, text, opt="-O1")) == 7
    start = "_start: .globl _start\n li a0, 5\n li a7, 93\n ecall\n"
    for name in ("start.S", "start.s"):
        program = load_elf(compiled(tmp_path, start, name))
        assert ISS(program).run().exit_code == 5
        assert sum(len(content) for _, content in program.segments) == 12
    assert exit_code_of(compiled(tmp_path, start.replace("5", "6"), "start.s")) == 6


@parametrize(
    "text, message",
    [
        ('#include "none.h"\nint main(void) { return 0; }', "none.h: No such file"),
        ("int main(void) { return x; }", r"bad.c:1:25: error: 'x' undeclared"),
        ("int f(void); int main(void) { return f(); }", "undefined: f; there is no C library"),
        ("int f(void) { return 0; }", "undefined: main"),
        ("char a[5 << 20]; int main(void) { return a[3]; }", "bytes larger than the memory"),
        ("char a[0x3fe000]; int main(void) { return a[3]; }", "less than 16 KiB are left for the stack"),
        ('int main(void) { return 0; }\n__asm__("f");', "unrecognized opcode `f'"),
    ],
)
def test_compile_errors(text, message, tmp_path):
    with refused(message) as error:
        compiled(tmp_path, text, "bad.c")
    assert str(error.value).startswith("bad.c does not compile: ") and "\n" not in str(error.value)


def test_two_sources_with_the_same_function(tmp_path):
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("int main(void) { return 0; }")
    with refused(r"^a.c b.c does not compile: defined twice: main$"):
        compile_program([tmp_path / "a.c", tmp_path / "b.c"])


def test_refused_sources(tmp_path):
    with refused("there is no such file"):
        compile_program([tmp_path / "none.c"])
    with refused(r"give a file of C or assembly \(.c, .S, .s\)"):
        compile_program([tmp_path / "program.o"])
    with refused("give one of -O0"):
        compiled(tmp_path, NOTHING, opt="-Ofast")


def test_no_compiler(tmp_path, monkeypatch):
    for name in ("compiler", "fingerprint"):
        monkeypatch.setattr(compiler, name, getattr(compiler, name).__wrapped__)
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused("run `apt-get install gcc-riscv64-unknown-elf`, or set RISCV_CC"):
        compiled(tmp_path, NOTHING)
    broken = tmp_path / "broken-gcc"
    broken.write_text("no program")
    broken.chmod(0o755)
    monkeypatch.setenv("RISCV_CC", str(broken))
    with refused("broken-gcc cannot be run: Exec format error; set RISCV_CC"):
        compiled(tmp_path, NOTHING)


def test_builds_are_kept(tmp_path, monkeypatch):
    """A build is reused if nothing has changed; a changed header gives another program."""
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path / "cache"))
    header = tmp_path / "value.h"
    header.write_text("#define VALUE 5\n")
    text = '#include "value.h"\nint main(void) { return VALUE; }\n'
    first = compiled(tmp_path, text)
    stamp = first.stat().st_mtime_ns
    assert compiled(tmp_path, text) == first and first.stat().st_mtime_ns == stamp
    header.write_text("#define VALUE 6\n")
    second = compiled(tmp_path, text)
    assert [*map(exit_code_of, (first, second))] == [5, 6]
    assert compiled(tmp_path, text, opt="-O1") != second
    assert compile_program([tmp_path / "program.c"], defines={"X": 1}) != second


INCLUDING = {
    "incbin.c": 'extern unsigned char data[];\n__asm__(".data\\ndata: .incbin \\"value.bin\\"\\n.text");\n'
    "int main(void) { return data[0]; }\n",
    "incbin.S": '.globl main\nmain: la a0, data\nlbu a0, 0(a0)\nret\n.data\ndata: .incbin "value.bin"\n',
    "include.s": '.include "value.inc"\n.globl main\nmain: li a0, VALUE\nret\n',
}


@parametrize("name", INCLUDING)
def test_files_that_the_assembler_reads_are_inputs(name, tmp_path, monkeypatch):
    """Files that the preprocessor does not know: a changed one, and one with the same name in another
    directory.
    """

    def exit_code(directory, value):
        place = tmp_path / directory
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        Path(name).write_text(INCLUDING[name])
        if value is not None:
            Path("value.bin").write_bytes(bytes([value]))
            Path("value.inc").write_text(f".equ VALUE, {value}\n")
        return exit_code_of(compile_program([name]))

    assert [exit_code("one", 5), exit_code("one", 6), exit_code("two", 7)] == [5, 6, 7]
    assert exit_code("one", None) == 6
    monkeypatch.chdir(tmp_path)
    with refused(r"value\.(bin|inc)"):
        compile_program([tmp_path / "one" / name])


def test_warnings_are_the_callers(tmp_path):
    """Warnings of each source are reported in every call; those of the library are tested above."""
    texts = []
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text(f"int {name[0]}(void) {{ int unused; return 0; }}\nint main(void);\n")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    sources = [tmp_path / name for name in ("a.c", "b.c", "main.c")]
    for _ in range(2):
        compile_program(sources, warned=texts.append)
    assert ["a.c" in text for text in texts] == [True, False] * 2
    assert all("-Wunused-variable" in text for text in texts)


@regress
@parametrize("kernel", ["mod_exp", "mont_mod_exp"])
@parametrize("opt", ["-O0", "-O2", "-O3", "-Os"])
def test_another_judge_runs_rsa(kernel, opt):
    """The same program under qemu-riscv32, which has none of our CSRs: its output goes to standard output."""
    program = compile_program([SOFTWARE / "rsa.c"], defines={"KERNEL": kernel, "QEMU": 1}, opt=opt)
    program.chmod(0o755)
    done = subprocess.run(["qemu-riscv32", str(program)], capture_output=True)
    expect(done, returncode=0, stdout=struct.pack("<2I", 1460365373, 5745))


def asked_for(nbits, program, given, result):
    """The exponents and given numbers that an accelerator receives from a program that succeeds."""
    seen = []

    def compute(base, exp, mod, *rest):
        seen.append((exp, *rest))
        return Status.OK, result(base, exp, mod)

    fields = tuple((f"given_{place}", nbits) for place in range(len(given)))
    assert ISS(program, XcelFL(exponentiation(nbits, fields), compute)).run().exit_code == 0
    return seen


@parametrize("nbits", one_now([32, 64], 64))
def test_rsa_program_with_given_numbers(nbits):
    """An accelerator that needs numbers derived from the modulus receives them before both operations. With
    eight numbers for the private operation, it also receives its exponent, and software encrypts.
    """
    key = seeded_key(nbits)
    given = tuple(key.n // (3 + i) for i in range(8))
    both = rsa_program("xcel", key, 5, given=given[:2])
    assert asked_for(nbits, both, given[:2], pow) == [(key.e, *given[:2]), (key.d, *given[:2])]
    alone = rsa_program("xcel", key, 5, given=given, private_exp=key.e)
    assert asked_for(nbits, alone, given, lambda base, exp, mod: pow(base, key.d, mod)) == [(key.e, *given)]


INTEGERS = """
#include <stdint.h>
#define BOTH(n) sizeof(int##n##_t), (int##n##_t)-1 < 0, INT##n##_MIN, INT##n##_MAX, \\
  sizeof(uint##n##_t), (uint##n##_t)-1 < 0, (int64_t)UINT##n##_MAX, \\
  sizeof(int_least##n##_t), sizeof(uint_least##n##_t), sizeof(int_fast##n##_t), sizeof(uint_fast##n##_t), \\
  sizeof INT##n##_C(1), sizeof UINT##n##_C(1), (int64_t)INT##n##_C(-1), (int64_t)UINT##n##_C(1)
int64_t values[] = {
  BOTH(8), BOTH(16), BOTH(32), BOTH(64), sizeof(intptr_t), sizeof(uintptr_t), sizeof(intmax_t),
  sizeof(uintmax_t), SIZE_MAX, INTPTR_MAX, UINTPTR_MAX, INTMAX_MAX, (int64_t)UINTMAX_MAX, PTRDIFF_MAX
};
"""


def test_integers_for_a_compiler_without_stdint():
    """Our `stdint.h` declares the types and limits of GCC's own, where GCC has one."""
    gcc = [compiler.compiler(), *compiler.FLAGS, "-Wall", "-Werror", "-S", "-x", "c", "-", "-o", "-"]
    ours = ["-nostdinc", f"-isystem{compiler.FREESTANDING}"]
    spare = f"-idirafter{compiler.FREESTANDING}"
    first, second = (finished([*gcc, *where], input=INTEGERS, check=True).stdout for where in (ours, [spare]))
    assert first == second and first.count(".word") > 60
