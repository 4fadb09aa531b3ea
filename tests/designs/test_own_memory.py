"""Own accelerators with memory ports: at all levels, on the processor, as gates, and their mistakes."""

import pickle
import random
import re
import shutil
from dataclasses import replace

import modexlab
import pytest
from modexlab.eval.api.machine import Machine
from modexlab.eval.designs import own_template
from modexlab.eval.designs.interfaces import COUPLINGS
from modexlab.eval.designs.runnable import Runnable
from modexlab.eval.designs.soc_system import System, Xcel
from modexlab.fl.accelerator import Row, Shape
from modexlab.fl.errors import BadInput
from modexlab.fl.memory import Left, Memory, MemoryPort, OnMemory, difference, words
from modexlab.proc.sim import MemoryTiming
from modexlab.proc.sim.base import AcceleratorFault
from modexlab.proc.software.call_header import call_header
from modexlab.proc.software.compiler import compile_program
from modexlab.proc.software.elf import load_elf

from tests.harness import one_now, parametrize, refused
from tests.paths import ROOT
from tests.rtl.sim.memory_examples import ANSWER, ASK, COPY, DONE, CopyRTL, OneAccessRTL, ports_of_copy

VVADD = ROOT / "eval" / "examples" / "vvadd"
DESIGN = modexlab.accelerator(VVADD)


class Access(Runnable):
    """One access as the request says."""

    name = "access"

    @property
    def shape(self):
        return Shape(ASK, ANSWER, memory=(MemoryPort(),), pointers=("address",))

    def fl(self, kind, len, address, data, late, memory):
        if kind:
            memory.write(address, data, len or 4)
        return 0 if kind else memory.read(address, len or 4)

    def rtl(self):
        return OneAccessRTL()

    def drawn(self, generator):
        return OnMemory((0, 0, 4 * generator.randrange(8), 0, 0), {0: list(range(8))})


class Copy(Runnable):
    """Copies words; several accesses are on the way."""

    name = "copy"

    @property
    def shape(self):
        ports = ports_of_copy(32)
        return Shape(COPY, DONE, memory=ports, pointers=("source", "target"), memory_nbytes=1 << 10)

    def fl(self, source, target, n, memory):
        for place in range(0, 4 * n, 4):
            memory.write(target + place, memory.read(source + place))
        return n

    def cycles(self, source, target, n):
        return n + 3 if n else 1

    backends = ("python", "native")

    def rtl(self):
        return CopyRTL(32)

    def drawn(self, generator):
        n = generator.randrange(10)
        return OnMemory((0, 512, n), {0: [generator.getrandbits(32) for _ in range(n)]})


def image_of(design, program, folder, name="test.c", interface="xcel"):
    """A program that calls an accelerator, with its call header."""
    (folder / name).write_text(f'#include "{design.name}.h"\n{program}')
    headers = Xcel(design, interface=interface).header()
    return load_elf(compile_program([folder / name], headers=headers))


def ran(design, image, level="rtl", backend="native", timing=None, interface="xcel"):
    """A program on the processor with an accelerator."""
    xcel = Xcel(design, interface=interface)
    with System(xcel, level=level, backend=backend if level == "rtl" else None) as system:
        return system.run(image, timing=timing, manager=())


def numbers(data):
    """The 32-bit words of bytes."""
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


# ---- the example


def test_the_example_at_all_levels():
    passed = modexlab.check_levels(DESIGN.at(32))
    assert {run.where.partition(",")[0] for run in passed} == {"cl", "python", "verilog", "native"}


@parametrize("interface", ["stream", "xcel", "axi4lite"])
def test_the_example_behind_interfaces(interface):
    """Responses and the memory that is left, compared with a second implementation."""
    machine = DESIGN.at(32)
    generator = random.Random(3)
    requests = [machine.drawn(generator) for _ in range(5)]
    with machine.session(interface=interface) as session:
        (ran,) = session.operate([requests])
    for request, response in zip(requests, ran.responses, strict=True):
        a, b, total, n = request
        memory = bytearray(machine.shape.memory_nbytes)
        memory[:] = ran.responses[0].memory  # of earlier requests
        x, y = (numbers(request.image[address]) for address in (a, b))
        sums = [one + other & 0xFFFFFFFF for one, other in zip(x, y, strict=True)]
        assert response == Left((n,), response.memory)
        assert response.memory[total : total + 4 * n] == words(sums)
    assert ran.responses == machine.answers(requests)
    alone = sum(6 * request[3] + 1 for request in requests) + 4
    if interface != "axi4lite":  # a bus takes longer
        assert ran.cycles == alone + (8 * len(requests) if interface == "xcel" else 0)


def test_values_between_requests_stay():
    """A request without an image finds what the one before it has left."""
    machine = DESIGN.at(32)
    first = OnMemory((0x100, 0x200, 0x300, 2), {0x100: [1, 2], 0x200: [10, 20]})
    requests = [first, (0x300, 0x300, 0x400, 2)]
    with machine.session() as session:
        (ran,) = session.operate([requests])
    assert ran.responses[0].memory is None and ran.responses == machine.answers(requests)
    assert ran.responses[1].memory[0x400:0x408] == words([22, 44])


@parametrize("interface", COUPLINGS)
@parametrize("level", ["fl", "rtl"])
def test_the_example_on_the_processor(level, interface):
    headers = Xcel(DESIGN, interface=interface).header()
    image = load_elf(compile_program([VVADD / "vvadd.c"], headers=headers))
    outcome = ran(DESIGN, image, level, interface=interface)
    assert outcome.exit_code == 0
    if level == "rtl" and interface == "xcel":  # without contention an access takes as long as in tests
        assert outcome.where["accelerator"] == 6 * 20 + 2


def test_the_example_as_gates(cli, tmp_path):
    """Synthesis, all rows at RTL and at the netlist with their memory, and energy."""
    report = cli.json(f"asic --accelerator {VVADD} --to power --output {tmp_path / 'flow'}")
    assert report["tests_failed"] == 0 and report["tests_passed"] == len(DESIGN.at(32).rows()) + 1
    assert report["cycles"] == {"vvadd hundred": 601}
    assert report["energy_nj"]["vvadd hundred"] > 0


def test_a_wrong_word_fails_at_gates(cli, tmp_path):
    """The expected memory counts, not only the response."""
    folder = changed(tmp_path, ("memory.read(b + offset))", "memory.read(b + offset) + (n == 2))"))
    report = cli.finds(f"asic --accelerator {folder} --to rtl-sim --output {tmp_path / 'flow'} --json").json()
    assert report["tests_failed"] > 0


# ---- on the processor


READS = """
uint32_t numbers[4] = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c};

int main(void) {
  char *bytes = (char *)numbers;
  uint32_t sum = 0;
  for (uint32_t at = 0; at < 16; at++) sum = sum * 31 + access_call(0, 1, bytes + at, 0, 0);
  for (uint32_t at = 0; at < 16; at += 2) sum = sum * 31 + access_call(0, 2, bytes + at, 0, 0);
  for (uint32_t at = 0; at < 16; at++)
    if (at % 4 < 2) sum = sum * 31 + access_call(0, 3, bytes + at, 0, 0);
  for (uint32_t at = 0; at < 16; at += 4) sum = sum * 31 + access_call(0, 0, bytes + at, 0, 0);
  for (uint32_t at = 0; at < 16; at++) {
    (void)access_call(1, at % 4 == 0 ? 0 : 1, bytes + at, sum + at, 0);
    sum = sum * 31 + numbers[at / 4];
  }
  return sum % 251;
}
"""


@parametrize("interface", COUPLINGS)
@parametrize("latency", [1, 7])
def test_bytes_and_words_from_a_program(tmp_path, latency, interface):
    """Both ways to the data memory give what the function gives, whatever the memory's delays."""
    design = modexlab.register(Access)
    image = image_of(design, READS, tmp_path, interface=interface)
    expected = ran(design, image, "fl", interface=interface).exit_code
    timing = MemoryTiming(latency, 0.4 if latency > 1 else 0.0, 5 if latency > 1 else 0)
    assert expected and ran(design, image, timing=timing, interface=interface).exit_code == expected


TOGETHER = """
uint32_t from[40], to[40], mine[40];

int main(void) {
  for (uint32_t i = 0; i < 40; i++) from[i] = i * i + 3;
  XCEL_WRITE(1, from);
  XCEL_WRITE(2, to);
  XCEL_WRITE(3, 40);
  __asm__ volatile("" ::: "memory");
  XCEL_WRITE(XCEL_GO, 0); // the accelerator copies while the program stores and loads
  for (uint32_t i = 0; i < 40; i++) {
    mine[i] = 5 * i;
    if (i && mine[i - 1] != 5 * (i - 1)) return 1;
  }
  if (XCEL_READ(XCEL_STATUS)) return 2;
  __asm__ volatile("" ::: "memory");
  for (uint32_t i = 0; i < 40; i++)
    if (to[i] != i * i + 3 || mine[i] != 5 * i) return 3 + i;
  return 0;
}
"""


@parametrize("backend", one_now(("native", "python", "verilog"), "native"))
@parametrize("seed", range(4))
def test_program_and_accelerator_at_the_same_time(tmp_path, backend, seed):
    """Two ports that keep the memory busy, and a program that uses it meanwhile."""
    design = modexlab.register(Copy)
    image = image_of(design, TOGETHER, tmp_path)
    timing = MemoryTiming(1 + 2 * seed, 0.3 if seed else 0.0, seed, seed=seed)
    assert ran(design, image, backend=backend, timing=timing).exit_code == 0


@parametrize("backend", one_now(("native", "python", "verilog"), "native", "python"))
@parametrize(
    "arguments, words_", [("0, a, a", "reads at 0x0"), ("a, a, (void *)0x7ffffff0", "writes at 0x7ffffff0")]
)
def test_a_pointer_to_no_memory(tmp_path, arguments, words_, backend):
    program = f"uint32_t a[1];\nint main(void) {{ return vvadd_call({arguments}, 1) == 1; }}\n"
    with pytest.raises(AcceleratorFault, match=f"the accelerator {words_} in cycle .* correct the pointer"):
        ran(DESIGN, image_of(DESIGN, program, tmp_path), backend=backend)


def test_a_pointer_of_the_processor_to_no_memory(tmp_path):
    """It stops the program, as without an accelerator."""
    program = "int main(void) { return *(volatile int *)4 + vvadd_call(0, 0, 0, 0); }\n"
    outcome = ran(DESIGN, image_of(DESIGN, program, tmp_path))
    assert outcome.reason == "trap" and outcome.trap.cause == 5


def test_a_pointer_to_no_memory_at_the_functional_level(tmp_path):
    image = image_of(DESIGN, "int main(void) { return vvadd_call(0, 0, 0, 1); }\n", tmp_path)
    with pytest.raises(BadInput, match=r"the accelerator: address 0x0 is not mapped; .* correct the pointer"):
        ran(DESIGN, image, "fl")


def test_the_header_has_pointers():
    text = call_header("vvadd", 32, DESIGN.at(32).shape)
    pointer = "const volatile void *"
    assert f"vvadd_call({pointer}a, {pointer}b, {pointer}total, uint32_t n)" in text
    assert text.count('"memory"') == 2


# ---- other accelerators


def test_two_ports_and_a_formula():
    """A copy with an interval of one: the table, the formula, and cycles of requests in series."""
    machine = modexlab.register(Copy).at(32)
    assert len(modexlab.check_levels(machine)) == 6
    requests = [OnMemory((0, 512, 3), {0: list(range(5))}), (0, 512, 0), (0, 512, 5)]
    with machine.session() as session:
        (ran,) = session.operate([requests])
    assert ran.cycles == machine.total_cycles(requests) == (6 + 1 + 8) + 2
    assert (ran.latency, ran.interval) == (8, (2 + 9) / 2)


def test_a_port_that_the_processor_lacks():
    class Wide(Copy):
        name = "wide"

        @property
        def shape(self):
            return Shape(COPY, DONE, memory=ports_of_copy(64), pointers=("source", "target"))

        def rtl(self):
            return CopyRTL(64)

    with pytest.raises(BadInput, match=r"memory port target has 64 bits, and the data memory .* has 32"):
        Xcel(modexlab.register(Wide)).system()


def test_a_new_accelerator_passes(tmp_path):
    folder = tmp_path / "sum-of"
    folder.mkdir()
    for name, text in own_template.memory_files("sum-of").items():
        (folder / name).write_text(text)
    design = modexlab.accelerator(folder)
    assert design.name == "sum-of"
    assert modexlab.check_levels(design.at(32), ["cl", "native"])
    image = load_elf(compile_program([folder / "sum_of.c"], headers=Xcel(design).header()))
    assert ran(design, image).exit_code == 0


# ---- mistakes


def changed(tmp_path, *changes, file="accelerator.py"):
    """A copy of the example with these replacements."""
    folder = tmp_path / "vvadd"
    shutil.copytree(VVADD, folder)
    text = (folder / file).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / file).write_text(text)
    return folder


@parametrize(
    "old, new, words_",
    [
        ("memory.read(a + offset) +", "memory.read(a + offset) ^", "FAILED: vvadd at cl, row"),
        ("return 6 * n + 1", "return 6 * n + 2", "cl and python have .* correct the formula"),
        (
            "yield from memory.write(total + offset, x + y)",
            "yield from memory.request_write(total + offset, x + y)",
            "FAILED: vvadd at cl",
        ),
    ],
)
def test_levels_that_differ(cli, tmp_path, old, new, words_):
    out = cli.finds(f"check --accelerator {changed(tmp_path, (old, new))}").out
    assert re.search(words_, out), out


@parametrize(
    "old, new, words_",
    [
        (
            '("mem"),',
            '("other"),',
            "has memory ports mem:32, and the shape has other:32; make them the same",
        ),
        ('MemoryPort("mem")', 'MemoryPort("mem", 24)', "memory port mem has 24 bits; give one of 16, 32, 64"),
        ('pointers=("a", "b", "total")', 'pointers=("c",)', "pointers has 'c', which is not a field"),
        ('(MemoryPort("mem"),)', 'MemoryPort("mem")', "give a tuple of modexlab.MemoryPort"),
        ("memory={A: [5], B: [7]}", "memory={A: [5], B: [-7]}", "give bytes, or whole numbers of 32 bits"),
        (
            "memory={A: [5], B: [7]}",
            "memory={0xffff: [5]}",
            "end at 0x10003, and the memory has 65,536 bytes",
        ),
        ("memory_delay=7", "memory_delay=-7", "a delay is a whole number of cycles"),
        (
            "    def drawn(",
            "    def undrawn(",
            "uniformly random fields are not valid addresses; define drawn",
        ),
        ("    def steps(", "    def unsteps(", "vvadd has no cycle-level model: define steps"),
        ('("a", 32)', '("a", 16)', "pointer a has 16 bits; give it 32"),
        ('MemoryPort("mem")', 'MemoryPort("class")', "has a name that Python or the component uses"),
        (
            "memory.read(a + offset)\n",
            "memory.read(a + offset, 8)\n",
            "an access of 8 bytes at memory port mem",
        ),
        (
            "memory.read(a + offset) +",
            "memory.read(1 << 20) +",
            "fl reads 4 bytes at 0x100000, and the memory",
        ),
    ],
)
def test_mistakes(cli, tmp_path, old, new, words_):
    assert words_ in cli.fails(f"check --accelerator {changed(tmp_path, (old, new))}")


def test_the_cycle_level_alone(cli, tmp_path):
    """Before there is hardware."""
    folder = changed(tmp_path, ("return VVAddRTL()", "raise NotImplementedError"))
    report = cli.json(f"check --accelerator {folder} --level cl")
    assert report["ok"] and {run["where"] for run in report["runs"]} == {"cl", "cl, stalled"}


def test_a_warm_up_has_the_same_requests_on_other_data():
    (request,), (warm_up,) = DESIGN.at(32).workloads()["hundred"], DESIGN.at(32).warm_up("hundred")
    assert tuple(request) == tuple(warm_up) and {*request.image} == {*warm_up.image}
    assert request.image != warm_up.image


def test_an_access_outside_of_the_memory(cli, tmp_path):
    folder = changed(tmp_path, ("s.mem.req.msg.addr @= s.b", "s.mem.req.msg.addr @= s.b << 8"), file="rtl.py")
    out = cli.finds(f"check --accelerator {folder}").out
    assert (
        "row 'no element'" not in out
        and "row 'one element': memory port mem in cycle" in out
        and "the memory has 65,536 bytes; stay below 0x10000" in out
    )


@parametrize(
    "command, words_",
    [
        (
            "verilog --package {} -o ip",
            "vvadd has memory ports (mem), which the testbench of a package does not",
        ),
        ("attack faults {}", "vvadd has memory ports (mem), which this attack does not drive yet"),
        ("attack leakage {}", "vvadd has memory ports (mem), which this attack does not drive yet"),
        ("proc soc {}", "vvadd has memory ports (mem), which a chip of LiteX does not connect yet"),
    ],
)
def test_commands_that_do_without_memory(cli, command, words_):
    assert words_ in cli.fails(command.format(f"--accelerator {VVADD}"))


def test_protocol_without_a_model_of_memory(cli):
    checks = cli(f"prove --accelerator {VVADD} --check protocol --json").json()
    assert [check["verdict"] for check in checks] == ["undecided"]


# ---- the memory of the function


def test_memory():
    memory = Memory(16)
    memory.load({0: b"abc", 8: [0x01020304]})
    assert memory.read(0, 3) == 0x636261 and memory.words(8, 4, 1) == [4, 3, 2, 1]
    memory.write(6, 0x12345678, 2)
    assert memory.data[6:8] == b"\x78\x56"
    with refused("fl writes 4 bytes at 0xd, and the memory has 16 bytes"):
        memory.write(13, 0)


def test_difference():
    one, other = words([1, 2, 3, 4]), words([1, 5, 3, 6])
    assert difference(one, other) == "the word at 0x4 is 2, not 5, and 1 more word differs"
    assert difference(one, one) == ""


def test_requests_pass_between_processes():
    request = OnMemory((1, 2), {4: [1], 8: b"ab"})
    assert pickle.loads(pickle.dumps(request)) == request == OnMemory((1, 2), {4: (1,), 8: b"ab"})
    assert pickle.loads(pickle.dumps(OnMemory((1,), {}))) == (1,)
    assert pickle.loads(pickle.dumps(Left((1,), b"a"))) == Left((1,), b"a")
    with refused("give bytes, or whole numbers of 32 bits"):
        OnMemory((1,), {0: iter([1])})
    with refused("row 'x' has two memories"):
        Row("x", request, memory={4: [2]})


def test_a_word_that_becomes_zero_again(cli, tmp_path):
    """The expected memory of the flow's rows goes on from row to row."""
    rows = 'Row("ones", (A, B, TOTAL, 1), memory={A: [5], B: [7]}), Row("zeros", (A, B, TOTAL, 1), '
    rows += "memory={A: [0], B: [0]}, memory_delay=90),"
    folder = changed(tmp_path, ("            *super().rows(),\n", f"            {rows}\n"))
    report = cli.json(f"asic --accelerator {folder} --to rtl-sim --output {tmp_path / 'flow'}")
    assert report["tests_failed"] == 0


def test_two_generators_on_one_port(cli, tmp_path):
    """Each gets its own answer, whatever the delay; the formula follows."""
    changes = (
        ("            x = yield from memory.read(a + offset)\n", ""),
        (
            "y = yield from memory.read(b + offset)",
            "x, y = yield from together(memory.read(a + offset), memory.read(b + offset))",
        ),
        ("from .rtl import", "from modexlab.cl.steps import together\nfrom .rtl import"),
    )
    design = modexlab.accelerator(changed(tmp_path, *changes))
    machine = design.at(32)
    rows = machine.rows()
    with machine.simulation(machine.interface("stream"), "cl", "python") as simulation:
        settings = replace(machine.memory, delays=[row.memory_delay for row in rows])
        run = simulation.run([row.request for row in rows], memory=settings, max_cycles=10_000)
    assert run.responses == machine.answers([row.request for row in rows])


def test_python_interface():
    machine = DESIGN.at(32)
    request = OnMemory((0, 8, 16, 2), {0: [1, 2], 8: [3, 4]})
    wrapped = Machine(machine)
    assert numbers(wrapped.fl(request).memory[16:24]) == [4, 6]
    assert wrapped.cycles(request) == wrapped.cycles(0, 8, 16, 2) == 13


def test_run_says_what_is_wrong_in_memory(cli, tmp_path):
    folder = changed(tmp_path, ("memory.read(b + offset))", "memory.read(b + offset) + 1)"))
    out = cli.finds(f"run --accelerator {folder}").out
    assert (
        "(in memory, the word at 0x3000 is 0, not 1, and 99 more words differ)  DIFFERS: count = 100" in out
    )


def test_rows_have_their_memory():
    row = Row("a", (1,), memory={4: [1]})
    assert row.request == OnMemory((1,), {4: [1]}) != OnMemory((1,), {4: [2]})
    assert row.request != (1,) and hash(row.request) == hash((1,))
    assert Left((1,), b"a") != Left((1,), b"b") != (1,)
