"""AXI4-Lite: the register map, every access as in the model, channels in any order, and refusals without
effects.
"""

import itertools
import re
from random import Random

import pytest
from modexlab.eval.designs.catalogue import entry, find
from modexlab.eval.designs.interfaces import AXI4LITE, AXI4LITE_000
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.fl.axi4lite import (
    ALL_BYTES,
    BYTES,
    OKAY,
    OPERANDS,
    SLVERR,
    Traits,
    address_nbits,
    as_accesses,
    register_map,
    strobed,
    wiping,
)
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import Status
from modexlab.proc.software.seeded_keys import seeded_key
from modexlab.rtl.interfaces.axi4lite import Axi4Lite
from modexlab.rtl.interfaces.registers.wiping_request import WipingRequest
from modexlab.rtl.sim import Stall, lint

from tests.harness import accessed, each_design, evaluated, later, parametrize, regress, signals_of, stepped
from tests.paths import ROOT
from tests.programs import machine_of
from tests.tables.keyed import EIGHT, KEYED, good
from tests.verilog_ports import port_lines

GCD = ROOT / "eval" / "examples" / "gcd"
NBITS = 40  # a word and a quarter
MACHINE = find("mont").at(NBITS)
KEY = (65537, (1 << 40) - 87)  # an odd modulus of full length
MAP = register_map(MACHINE.shape, MACHINE.traits)
AT = {name: register.address for name, register in MAP.items()}
NAMES = {address: name for name, address in AT.items()}
START, ZEROISE = (1 << MAP["CONTROL"].field(name).low for name in ("start", "zeroise"))


def with_given(nbits, ngiven):
    return exponentiation(nbits, tuple((f"given_{place}", nbits) for place in range(ngiven)))


# ---- the map


@parametrize("nbits", [8, 32, 33, 1024, 4096])
@parametrize("ngiven", [0, 2, 3, 4, 8])
def test_the_map_has_room_for_every_width(nbits, ngiven):
    """Registers do not overlap, and all operands fit into 4 KiB, or into 8 KiB with the numbers of a private
    key.
    """
    shape = with_given(nbits, ngiven)
    registers = register_map(shape)
    taken = [
        register.address + BYTES * place for register in registers.values() for place in range(register.count)
    ]
    assert len(taken) == len(set(taken)) and max(taken) < 1 << address_nbits(shape)
    assert address_nbits(shape) == (13 if ngiven > 3 else 12)
    for name in (*OPERANDS[: 3 + ngiven], "RESULT"):
        assert registers[name].count == -(-nbits // 32)
    assert not set(OPERANDS[3 + ngiven :]) & registers.keys()


def test_what_it_says_of_itself():
    private = ("crt", "message_blinded", "exponent_blinded", "checked")
    for count, keyed in ((3, False), (8, True)):
        traits = Traits(constant_time=True, reduced_only=True, crt=keyed, checked=keyed)
        register = register_map(with_given(1024, count), traits)["CAPABILITIES"]
        found = {field.name: field.reset for field in register.fields}
        assert found.pop("given") | found.pop("given_high") << 2 == count
        assert [found.pop(name) for name in private] == [keyed, 0, 0, keyed]
        rest = {"nbits": 1024, "constant_time": 1, "odd_only": 0, "reduced_only": 1, "public_exponents": 0}
        assert found == rest


@parametrize(
    "name, interface",
    [("mont", AXI4LITE), *later(("fold-ct", AXI4LITE), (str(GCD), AXI4LITE), ("mont", AXI4LITE_000))],
)
def test_reset_values(name, interface):
    """After reset, the hardware has the values that header and data sheet state, including ID and
    CAPABILITIES.
    """
    machine = entry(name).at(8)
    found = interface.registers(machine.shape, machine.traits)
    readable = [register for register in found.values() if register.readable]
    accesses = [(0, 0, register.address, 0, 0) for register in readable]
    refused = ("RESULT", "OUTPUT_FIFO")  # no result yet
    assert accessed(machine.wrapped(interface), accesses) == [
        (0, 0 if register.name == "STATUS" else register.reset, register.name in refused)  # no longer busy
        for register in readable
    ]
    text = verilog(machine, interface.name)
    for register in found.values():
        row = rf"// +{register.address:#05x}\S* +{register.name} +{register.access} +{register.reset:#010x} "
        assert re.search(row, text), register
    if interface is AXI4LITE:
        assert found["ID"].reset == int.from_bytes(b"MXLB", "big") and found["VERSION"].reset == 1
        assert found["CAPABILITIES"].reset & 0xFFFF == 8


@parametrize(
    "name, settings, modulus",
    [("mont", {}, "1"), ("dm-m-000", {}, "that of the machine"), ("mont-keyed", EIGHT, "0, given numbers 0")],
)
def test_the_header_states_what_zeroise_sends(name, settings, modulus):
    machine = find(name).at(16, **settings)
    words = f"(base 0, exponent 3, modulus {modulus})"
    text = re.sub(r"\n// +", " ", verilog(machine, AXI4LITE.name))
    assert words == f"({wiping(machine.shape, machine.traits)})" and words in text
    unit = stepped(WipingRequest(machine.shape, machine.traits.modulus))
    sent = evaluated(unit, wiping=1).request
    expected = machine.traits.modulus if "that" in modulus else int(modulus[0])
    numbers = [int(getattr(sent, field)) for field, _ in machine.shape.request]
    assert numbers[:3] == [0, 3, expected] and not any(numbers[3:])


def test_the_ports_of_the_standard():
    """AMBA AXI4-Lite: aclk, aresetn, and all signals of the five channels in its order, under one prefix."""
    text = verilog(MACHINE, AXI4LITE.name)
    top = MACHINE.top(AXI4LITE)
    ports = [line.split()[-1] for line in port_lines(text, top)]
    channels = {"aw": "addr prot", "w": "data strb", "b": "resp", "ar": "addr prot", "r": "data resp"}
    signals = [
        f"s_axi_{channel}{name}"
        for channel, names in channels.items()
        for name in [*names.split(), "valid", "ready"]
    ]
    assert ports == ["aclk", "aresetn", *signals, "irq"]
    lint(text)


# ---- accesses one after the other, as the model answers them


def drawn(rng):
    """Random accesses, most near a register; after a start, wait for the interrupt."""
    yield 1, 0, AT["IRQ_ENABLE"], 1, ALL_BYTES
    while True:
        register = rng.choice(list(MAP.values()))
        address = register.address + BYTES * rng.randrange(register.count + 1) + rng.randrange(BYTES)
        write, data = rng.random() < 0.6, rng.getrandbits(32)
        strobes = rng.choice((0, 1, 6, ALL_BYTES, ALL_BYTES))
        if write and register.name == "MODULUS" and rng.random() < 0.5:
            data |= 1
        name = NAMES.get(address & ~3, "")
        if name == "IRQ_ENABLE" or (not write and name.startswith("CYCLES")):
            continue  # the interrupt stays enabled; the model does not count cycles
        yield int(write), 0, address % 4096, data, strobes if write else 0
        if write and name == "CONTROL" and strobed(0, data, strobes) & (START | ZEROISE):
            yield 0, 1, 0, 0, 0
            yield 1, 0, AT["IRQ_STATUS"], 1, ALL_BYTES


@parametrize("backend, count", [("native", 3000), *later(("python", 250), ("native", 100_000))])
def test_every_access_as_the_model_has_it(backend, count):
    """Operands are random, so the machine refuses most of them; requests and responses are delayed."""
    rng = Random(f"{backend} {count}")
    accesses = [row for row, _ in zip(drawn(rng), range(count), strict=False)]
    expected = AXI4LITE.respond(MACHINE.shape, MACHINE.fl, accesses)
    stall = Stall(seed=3, source=0.3, sink=0.4)
    found = accessed(MACHINE.wrapped(AXI4LITE), accesses, backend, stall=stall)
    for access, answer, wanted in zip(accesses, found, expected, strict=True):
        # the model of an interface has no traits
        traits = access[2] & ~3 == AT["CAPABILITIES"] and not access[0]
        assert traits or answer == wanted, access


def test_cycles_and_keys():
    """A key is loaded once; the cycles are those of the machine and its wrapper."""
    first, second = (as_accesses(MACHINE.shape, (base, *KEY)) for base in (3, 5))
    second = [access for access in second if not 0x400 <= access[2] < 0x800]
    asked = [(0, 0, AT[name], 0, 0) for name in ("CYCLES_LOW", "CYCLES_HIGH")]
    found = iter(accessed(MACHINE.wrapped(AXI4LITE), [*first, *second, *asked]))
    for base, row in ((3, first), (5, second)):
        answers = list(itertools.islice(found, len(row)))
        assert AXI4LITE.outcome(MACHINE.shape, answers) == (Status.OK, pow(base, *KEY))
    assert [data for _, data, _ in found] == [MACHINE.cycles(5, *KEY) + 1, 0]


# ---- channels on their own


class Bus:
    """A driver of a slave, cycle by cycle, which checks that the slave follows the rules.

    patience: the probability that the master is ready; registers: addresses by name.
    """

    def __init__(self, slave, rng, patience=0.5, registers=AT):
        self.slave, self.rng, self.patience, self.registers = slave, rng, patience, registers
        self.offers, self.kept = {}, {}
        self.answers = {"b": [], "r": []}

    def get(self, name):
        return int(getattr(self.slave.s_axi, name))

    def put(self, name, value):
        port = getattr(self.slave.s_axi, name)
        port @= value

    def cycle(self):
        """Simulate one clock cycle: offers stay until accepted, and responses must stay as well."""
        for channel, values in (("aw", ("awaddr",)), ("w", ("wdata", "wstrb")), ("ar", ("araddr",))):
            offered = self.offers.get(channel)
            self.put(f"{channel}valid", offered is not None)
            for name, value in zip(values, offered or [0] * len(values), strict=True):
                self.put(name, value)
        for channel in "br":
            self.put(f"{channel}ready", self.rng.random() < self.patience)
        self.slave.sim_eval_combinational()
        taken = [channel for channel in self.offers if self.get(f"{channel}ready")]
        for channel, values in (("b", ("bresp",)), ("r", ("rdata", "rresp"))):
            if not self.get(f"{channel}valid"):
                assert channel not in self.kept, f"{channel} has gone without being taken"
                continue
            answer = tuple(self.get(name) for name in values)
            assert self.kept.setdefault(channel, answer) == answer, f"{channel} has changed"
            if self.get(f"{channel}ready"):
                del self.kept[channel]
                self.answers[channel].append(answer if channel == "r" else answer[0])
        self.slave.sim_tick()
        for channel in taken:
            del self.offers[channel]

    def address_of(self, place):
        """The address of a register name, or the address itself."""
        return self.registers.get(place, place)

    def cycles(self, count):
        for _ in range(count):
            self.cycle()

    def until_interrupt(self):
        while not int(self.slave.irq):
            self.cycle()

    def answer(self, channel):
        """The next answer of a channel."""
        for _ in range(2000):
            if self.answers[channel]:
                return self.answers[channel].pop(0)
            self.cycle()
        raise AssertionError(f"no answer on {channel}")

    def write(self, place, data):
        """Send address and data in random order, with a pause between."""
        parts = [("aw", (self.address_of(place),)), ("w", (data, ALL_BYTES))]
        self.rng.shuffle(parts)
        for channel, values in parts:
            self.offers[channel] = values
            self.cycles(self.rng.randrange(4))
        return self.answer("b")

    def read(self, place):
        self.offers["ar"] = (self.address_of(place),)
        return self.answer("r")

    def status(self, mask, value):
        """Wait until these bits of STATUS have this value."""
        while self.read("STATUS")[0] & mask != value:
            pass

    def compute(self, *operands):
        """Load, start and wait; the result."""
        load(self, *operands)
        assert self.write("CONTROL", START) == OKAY
        self.status(2, 2)
        return self.read("RESULT")


@pytest.fixture
def bus():
    slave = stepped(Axi4Lite(exponentiation(16), find("naive").at(16).rtl, Traits()))
    return Bus(slave, Random(4))


def load(bus, base, exp, mod):
    for name, value in zip(OPERANDS, (base, exp, mod), strict=False):
        assert bus.write(name, value) == OKAY


def test_channels_in_any_order_and_slow_masters(bus):
    for _ in range(3):
        base, exp, mod = bus.rng.getrandbits(16), bus.rng.getrandbits(4), bus.rng.getrandbits(16) | 1
        assert bus.compute(base, exp, mod) == (pow(base, exp, mod), OKAY)


def test_reads_go_on_beside_writes(bus):
    """Many reads and writes in parallel: as many responses as requests, each on its channel."""
    writes = reads = 0
    for _ in range(600):
        if not {"aw", "w"} & bus.offers.keys() and bus.rng.random() < 0.5:
            bus.offers |= {"aw": (AT["BASE"],), "w": (writes & 0xFFFF, ALL_BYTES)}
            writes += 1
        if "ar" not in bus.offers and bus.rng.random() < 0.7:
            bus.offers["ar"] = (AT["ID"] if reads % 3 else 0x040,)
            reads += 1
        bus.cycle()
    bus.patience = 1.0
    bus.cycles(20)
    assert bus.answers["b"] == [OKAY] * writes and writes > 80
    assert bus.answers["r"] == [
        (MAP["ID"].reset, OKAY) if number % 3 else (0, SLVERR) for number in range(reads)
    ]


def test_what_is_refused_while_busy_changes_nothing(bus):
    load(bus, 7, 0xFFFF, 0xFFF1)
    assert bus.write("CONTROL", START) == OKAY
    assert bus.read("STATUS")[0] & 3 == 1
    for name in ("BASE", "EXPONENT", "MODULUS"):
        assert bus.write(name, 1) == SLVERR
    assert bus.write("CONTROL", START) == SLVERR
    assert bus.read("RESULT") == (0, SLVERR)
    assert bus.read("BASE") == (0, SLVERR), "never to be read"
    assert bus.write("STATUS", 0) == bus.write("RESULT", 0) == SLVERR
    assert not int(bus.slave.irq)
    assert bus.write("IRQ_ENABLE", 1) == OKAY
    bus.until_interrupt()
    assert bus.read("RESULT") == (pow(7, 0xFFFF, 0xFFF1), OKAY)
    assert bus.write("IRQ_STATUS", 1) == OKAY
    bus.cycle()
    assert not int(bus.slave.irq)


def test_zeroise_forgets_everything(bus):
    """Idle and busy; a running computation gives no result, and the next computation is a new one."""
    load(bus, 7, 0xFFFF, 0xFFF1)
    for pause in (0, 40, 700):
        assert bus.write("CONTROL", START) == OKAY
        bus.cycles(pause)
        assert bus.write("CONTROL", ZEROISE | START) == OKAY
        assert bus.write("BASE", 1) == SLVERR, "busy with it"
        bus.status(1, 0)
        assert not any(map(int, bus.slave.writes.operand))
        assert bus.read("STATUS") == bus.read("CYCLES_LOW") == (0, OKAY)
        assert bus.read("IRQ_STATUS") == (1, OKAY), "it tells when it is over"
        assert bus.read("RESULT") == (0, SLVERR)
        assert bus.compute(3, 5, 1000) == (243, OKAY)
        assert bus.write("IRQ_STATUS", 1) == OKAY
        load(bus, 7, 0xFFFF, 0xFFF1)


def after_overwriting(machine, key, at, resets=False):
    """The whole state of a slave after a computation with a key and a zeroise, or a reset, at a given cycle
    or at the end.
    """
    base, exp, mod = key
    slave = stepped(machine.exported(AXI4LITE))
    bus = Bus(slave, Random(1), 1.0)
    accesses = as_accesses(machine.shape, machine.carried(base % mod, exp, mod))
    for _, _, address, word, _ in itertools.takewhile(lambda access: not access[1], accesses):
        assert bus.write(address, word) == OKAY
    if at is None:
        bus.status(1, 0)
        assert bus.read("RESULT")[0] == pow(base % mod, exp, mod) & 0xFFFF_FFFF
    else:
        bus.cycles(at)
    if resets:
        slave.sim_reset()
        bus = Bus(slave, Random(1), 1.0)
    else:
        assert bus.write("CONTROL", ZEROISE) == OKAY
    while int(slave.control.busy):  # read directly: a bus access would change the state of the bus
        bus.cycle()
    bus.cycle()
    return signals_of(slave)


def forgets(design, nbits, *times, resets=False):
    """Check that after zeroise or reset at these times the states are equal for two keys, bit by bit."""
    top, machine = 1 << nbits - 1, design.at(nbits)
    keys = [(0x1234567 % top, top | 0x2F1, top | 0x3A9), (0x765432 % top, top | 0x155, top | 0x1F5)]
    for at in times:
        moduli = [machine.modulus or key[2] for key in keys]
        alike(
            *(
                after_overwriting(machine, (*key[:2], modulus), at, resets)
                for key, modulus in zip(keys, moduli, strict=True)
            )
        )


def alike(first, second):
    assert {name for name in first if first[name] != second[name]} == set(), "something was kept"


@each_design("mont")
def test_nothing_of_a_key_is_left(design):
    """No register of slave or machine depends on the key or on results of it."""
    forgets(design, 16, None, 30)


@each_design("mont")
def test_no_key_outlives_a_reset(design):
    """The slave overwrites itself and its machine, also if a computation was running."""
    forgets(design, 16, None, 30, resets=True)


def test_a_write_waits_for_the_end_of_a_reset(bus):
    """Reads are answered meanwhile, and no interrupt comes."""
    assert bus.read("STATUS") == (1, OKAY)
    assert bus.write("IRQ_ENABLE", 1) == OKAY
    assert bus.read("STATUS") == bus.read("IRQ_STATUS") == (0, OKAY)
    assert not int(bus.slave.irq)


@regress
@parametrize("name", ["serial", "serial-003", "systolic-002", "mont-001"])
def test_nothing_of_a_long_key_is_left(name):
    """Operands of two and more words, in memories of several digits."""
    forgets(find(name), 48, None)


# ---- private keys


@parametrize("name, nbits, settings", KEYED)
def test_a_private_key_is_loaded(name, nbits, settings):
    """The cycles equal those without a bus; none of the numbers can be read, and bits above a field give
    TOO_WIDE.
    """
    machine = machine_of(name, nbits, **settings)
    registers = register_map(machine.shape, machine.traits)
    row = AXI4LITE.requests(machine.shape, good(machine))
    start = next(access for access in row if access[2] == registers["CONTROL"].address)
    secret = OPERANDS[3 : 3 + len(machine.given_fields)]
    *asked, status = (
        (0, 0, registers[register].address, 0, 0)
        for register in ("CYCLES_LOW", "CAPABILITIES", *secret, "STATUS")
    )
    number = registers["GIVEN_0"]
    spilt = (1, 0, number.address + BYTES * (number.count - 1), 1 << 31, ALL_BYTES)
    load = list(itertools.takewhile(lambda access: not access[1], row))[:-2]  # without enable and start
    blinded = machine.promises.message_blinded or machine.promises.exponent_blinded
    used = [start] if blinded else []
    sent = [*row, *asked, *used, *load, spilt, start, status]
    answers = accessed(machine.wrapped(AXI4LITE), sent, max_cycles=200_000)
    (_, cycles, _), (_, able, _), *refused = answers[len(row) : len(row) + len(asked)]
    waits = machine.programmed.timing.loading_cycles
    assert cycles == machine.cycles(*good(machine)[:3]) + waits + 1
    assert able == registers["CAPABILITIES"].reset and machine.traits.keyed
    assert refused == [(0, 0, 1)] * len(secret), "never to be read"
    assert answers[len(row) + len(asked)] == (1, 0, int(blinded)), "random numbers serve once"
    assert answers[-1][1] == 0b110 | Status.TOO_WIDE << 8


@regress
@parametrize("name, nbits, settings", KEYED)
def test_nothing_of_a_private_key_is_left(name, nbits, settings):
    """In no register of slave or machine, after an operation and in the middle of one."""
    machine = machine_of(name, nbits, **settings)
    keys = [(base, seeded_key(nbits, seed)) for seed, base in ((1, 3), (2, 0x1234))]
    for at in (None, 100):
        alike(*(after_overwriting(machine.with_key(key), (base, key.d, key.n), at) for base, key in keys))
