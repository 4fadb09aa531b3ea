"""cocotbext-axi on a slave: random accesses compared with the model, back-pressure on every channel,
concurrent reads and writes, zeroise.

tests/rtl/test_axi4lite_cocotb.py runs the simulation, and describes the machine in environment variables.
"""

import itertools
import os
from collections import Counter
from random import Random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from modexlab.eval.designs.catalogue import find
from modexlab.fl.axi4lite import ALL_BYTES, BYTES, OKAY, OPERANDS, SLVERR, Axi4LiteFL, register_map
from modexlab.fl.axi4lite_000 import Axi4Lite000FL, KeyPorts
from modexlab.fl.axi4lite_000 import register_map as paper_map
from modexlab.fl.random_bytes import lfsr_not_random

NBITS = int(os.environ["MODEXLAB_NBITS"])
COUNT = int(os.environ["MODEXLAB_ACCESSES"])
MANY = int(os.environ["MODEXLAB_MANY"])
WATCHED = ("awvalid", "wvalid", "bvalid", "bready", "rvalid", "rready")
MACHINE = find(os.environ["MODEXLAB_DESIGN"]).at(NBITS)
PAPER = os.environ["MODEXLAB_INTERFACE"] == "axi4lite-000"
MAP = paper_map() if PAPER else register_map(MACHINE.shape)
NAMES = {
    register.address + BYTES * place: register.name
    for register in MAP.values()
    for place in range(register.count)
}
KEY = KeyPorts(((1 << NBITS) - 87) | 1, 65537, 0x1F1)
ANSWERS = {AxiResp.OKAY: OKAY, AxiResp.SLVERR: SLVERR}
LONGEST = 1_000_000  # maximum cycles of an access, so that a hanging bus fails
CYCLE_NS = 3


def pauses(rng, patience):
    while True:
        yield rng.random() > patience


class Bench:
    """A slave after reset, its master, and the model."""

    def __init__(self, dut, seed, patience=1.0):
        self.dut, self.rng = dut, Random(seed)
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.aclk, dut.aresetn, False)
        for channel in (
            self.master.write_if.aw_channel,
            self.master.write_if.w_channel,
            self.master.write_if.b_channel,
            self.master.read_if.ar_channel,
            self.master.read_if.r_channel,
        ):
            if patience < 1:
                channel.set_pause_generator(pauses(Random(self.rng.random()), patience))
        self.model = (
            Axi4Lite000FL(NBITS, MACHINE.fl, KEY, lfsr_not_random(), has_raw=True)
            if PAPER
            else Axi4LiteFL(MACHINE.shape, MACHINE.fl, MACHINE.traits)
        )

    async def begin(self):
        cocotb.start_soon(Clock(self.dut.aclk, CYCLE_NS, "ns").start())
        if PAPER:
            for name in ("modulus", "public", "private"):
                getattr(self.dut, f"key_{name}").value = getattr(KEY, name)
        self.dut.aresetn.value = 0
        await ClockCycles(self.dut.aclk, 5)
        self.dut.aresetn.value = 1
        await RisingEdge(self.dut.aclk)

    async def write(self, address, data, strobes=ALL_BYTES):
        """The bytes of the strobes, which must be side by side: so the master makes strobes."""
        first = (strobes & -strobes).bit_length() - 1
        length = strobes.bit_length() - first
        value = (data >> 8 * first).to_bytes(8, "little")[:length]
        answer = await with_timeout(self.master.write(address + first, value), LONGEST * CYCLE_NS, "ns")
        return ANSWERS[answer.resp]

    async def read(self, address):
        answer = await with_timeout(self.master.read(address, BYTES), LONGEST * CYCLE_NS, "ns")
        return int.from_bytes(answer.data, "little"), ANSWERS[answer.resp]

    async def end(self):
        """Wait for the interrupt."""
        for _ in range(LONGEST):
            if self.dut.irq.value:
                return
            await RisingEdge(self.dut.aclk)
        raise AssertionError("no interrupt")


def side_by_side(strobes):
    """Whether the strobes select adjacent bytes, as a master generates them."""
    return strobes > 0 and (strobes + (strobes & -strobes)) & strobes == 0


STROBES = [index for index in range(1, 16) if side_by_side(index)]


async def compare(bench, count):
    """Random accesses, one after the other, each as the model has it; how many were refused."""
    rng, refused = bench.rng, 0
    if not PAPER:
        assert await bench.write(MAP["IRQ_ENABLE"].address, 1) == bench.model.write(
            MAP["IRQ_ENABLE"].address, 1
        )
    for number in range(count):
        register = rng.choice(list(MAP.values()))
        address = (register.address + BYTES * rng.randrange(register.count + 1)) % 4096
        name = NAMES.get(address, "")
        if rng.random() < 0.65:
            data, strobes = rng.choice((rng.getrandbits(32), rng.randrange(16))), rng.choice(STROBES)
            if name == "IRQ_ENABLE":
                continue
            if name == "MODULUS" and rng.random() < 0.7:
                data |= 1
            expected = bench.model.write(address, data, strobes)
            found = await bench.write(address, data, strobes)
            started = name in ("CONTROL", "STATUS") and expected == OKAY and bench.model.interrupt
            if started and not PAPER:
                await bench.end()
                await bench.write(MAP["IRQ_STATUS"].address, 1)
                bench.model.write(MAP["IRQ_STATUS"].address, 1)
            elif started:
                await bench.end()
        else:
            if name.startswith("CYCLES"):
                continue
            expected = bench.model.read(address)
            found = await bench.read(address)
        assert found == expected, (
            f"access {number}: {name} at {address:#x}: {found}, the model has {expected}"
        )
        answer = expected if isinstance(expected, int) else expected[1]
        refused += answer == SLVERR
    return refused


@cocotb.test()
async def accesses_as_the_model_has_them(dut):
    """A master that never waits."""
    bench = Bench(dut, 1)
    await bench.begin()
    assert await compare(bench, COUNT) > COUNT // 20


async def watch(dut, seen):
    """Count cycles in which a response waits for the master, a write has one half, and a read is offered
    next to a write.
    """
    while True:
        await RisingEdge(dut.aclk)
        value = {name: int(getattr(dut, f"s_axi_{name}").value) for name in WATCHED}
        for channel in "br":
            seen[f"{channel} waits"] += value[f"{channel}valid"] and not value[f"{channel}ready"]
        seen["address without data"] += value["awvalid"] and not value["wvalid"]
        seen["data without address"] += value["wvalid"] and not value["awvalid"]


@cocotb.test()
async def the_same_with_back_pressure(dut):
    """Every channel pauses in half of the cycles, each by itself; it is seen that they do."""
    bench = Bench(dut, 2, 0.5)
    await bench.begin()
    seen = Counter()
    watching = cocotb.start_soon(watch(dut, seen))
    await compare(bench, MANY)
    watching.cancel()
    assert len(seen) == 4 and all(count > MANY // 20 for count in seen.values()), seen


@cocotb.test()
async def reads_beside_writes(dut):
    """Two tasks on one bus: every access has one answer, and it is its own."""
    bench = Bench(dut, 3, 0.7)
    await bench.begin()
    target = MAP["INPUT_FIFO" if PAPER else "BASE"].address
    source, nothing = MAP["STATUS" if PAPER else "ID"].address, 0x7C
    wanted, _ = bench.model.read(source)

    async def reads():
        for number in range(COUNT // 2):
            address = source if number % 3 else nothing
            assert await bench.read(address) == ((wanted, OKAY) if number % 3 else (0, SLVERR))
        return COUNT // 2

    task = cocotb.start_soon(reads())
    for number in range(COUNT // 2):
        address = target if number % 4 else nothing
        assert await bench.write(address, number) == (OKAY if number % 4 else SLVERR)
    assert await task == COUNT // 2


@cocotb.test(skip=PAPER)
async def a_key_that_is_loaded_once(dut):
    """Load, start, wait for the interrupt, read; busy refuses; zeroise forgets; the key cannot be read."""
    bench = Bench(dut, 4, 0.8)
    await bench.begin()
    start, zeroise = (1 << MAP["CONTROL"].field(name).low for name in ("start", "zeroise"))
    words = MAP["BASE"].count
    modulus, exponent = KEY.modulus, 0x1234567

    async def load(name, value):
        for place in range(words):
            assert (
                await bench.write(MAP[name].address + BYTES * place, value >> 32 * place & 0xFFFF_FFFF)
                == OKAY
            )

    async def result():
        read = [await bench.read(MAP["RESULT"].address + BYTES * place) for place in range(words)]
        assert all(answer == OKAY for _, answer in read)
        return sum(word << 32 * place for place, (word, _) in enumerate(read))

    await load("MODULUS", modulus)
    await load("EXPONENT", exponent)
    assert await bench.write(MAP["IRQ_ENABLE"].address, 1) == OKAY
    for _ in range(3):
        base = bench.rng.randrange(modulus)
        await load("BASE", base)
        assert await bench.write(MAP["CONTROL"].address, start) == OKAY
        assert await bench.write(MAP["CONTROL"].address, start) == SLVERR
        assert await bench.read(MAP["RESULT"].address) == (0, SLVERR)
        await bench.end()
        assert await bench.write(MAP["IRQ_STATUS"].address, 1) == OKAY
        assert await result() == pow(base, exponent, modulus)
    for name, place in itertools.product(OPERANDS[:3], range(words)):
        assert await bench.read(MAP[name].address + BYTES * place) == (0, SLVERR)
    assert await bench.write(MAP["CONTROL"].address, zeroise) == OKAY
    assert await bench.read(MAP["RESULT"].address) == (0, SLVERR)
