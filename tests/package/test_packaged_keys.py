"""Private keys in packages: the C driver on the packaged Verilog, and Bellcore attacks by faulty keys."""

import itertools
import math
import random
import re
import subprocess

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import AXI4LITE, STREAM, XCEL
from modexlab.eval.exchange.package.package import Package, register_rdl
from modexlab.fl.axi4lite import BYTES, OPERANDS, register_map
from modexlab.fl.status import Status
from modexlab.fl.xcel import from_words, words_of
from modexlab.rtl.sim.base import Options, elaborate
from modexlab.rtl.sim.native import NativeSimulation
from modexlab.rtl.sim.nativemodel import ModuleText
from modexlab.rtl.sim.ports import Ports

from tests.drivers import (
    PRIVATE,
    STRICT,
    Driver,
    PackagedDevice,
    PrivateKey,
    PublicKey,
    Random,
    host_library,
    key_of,
    pointer,
)
from tests.harness import expect, finished, later, parametrize, regress
from tests.programs import PROTECTIONS

WINDOWED = {"schedule": "fixed-window"}
BLINDED = {**WINDOWED, "crt": True, "blind": "both"}  # checked by default
MESSAGE = 0x1234
ATTACKS = ("dq", "dp", "qinv", "q")  # fields of the key with one bit flipped


def named(name, nbits, settings, marks=()):
    """A machine as a case."""
    words = (f"{key}={value}" for key, value in settings.items() if key != "schedule")
    values = name, nbits, {**WINDOWED, **settings}
    return pytest.param(*values, id=" ".join((name, str(nbits), *words)), marks=marks)


# every protection; widths of which half a number has fewer words than all of it, and widths of one word
EVERY = [
    named(name, nbits, how, regress)
    for (name, nbits), how in itertools.product(
        (("heap", 40), ("mont-keyed", 72), ("mont-keyed", 16)), PROTECTIONS
    )
]
PUBLIC = {**WINDOWED, "blind": "both", "public": True}
NOW = [named("heap", 40, BLINDED), named("mont-keyed", 40, PUBLIC)]


class Packaged:
    """A package behind AXI4-Lite, and its driver on its Verilog."""

    def __init__(self, folder, name, nbits, settings):
        self.machine = find(name).at(nbits, **settings)
        package = Package(self.machine, AXI4LITE)
        for file, text in package.subject.software.items():
            (folder / file).write_text(text)
        self.folder, self.words = folder, words_of(nbits)
        self.sheet = "\n".join(package.subject.cycles())
        self.map = register_map(self.machine.shape, self.machine.traits)
        self.device = PackagedDevice(package.hardware, package.name)
        self.driver = Driver(host_library(folder, sources=folder), self.device)
        assert self.driver.init() == "OK"

    @property
    def lengths(self):
        """The words of each field of a private key."""
        return {name: words_of(nbits) for name, nbits in self.machine.given_fields}

    def key(self, lacks="", **changes):
        """The key of the machine in the caller's memory, and the values of the request; both with changes."""
        key, request = self.machine.key, self.machine.carried(MESSAGE, self.machine.key.d, self.machine.key.n)
        fields = self.machine.programmed.named(request) | changes
        values = {"modulus": key.n, "public_exponent": key.e, "private_exponent": key.d}
        words = dict.fromkeys(values, self.words) | self.lengths
        values |= {name: fields[name] for name in PRIVATE if name in fields}
        pointers = {
            name: pointer(value, words[name])
            for name, value in values.items()
            if name in PRIVATE and name != lacks
        }
        return PrivateKey(self.words, **pointers, random=self.random(lacks, **fields)), fields

    def random(self, lacks="", **values):
        """Random numbers in the caller's memory."""
        names = {"k": "kp"}  # without CRT there is one factor
        return Random(
            **{
                names.get(name, name): pointer(values[name], self.lengths[name])
                for name in ("x", "k", "kp", "kq")
                if name in self.lengths and names.get(name, name) != lacks
            }
        )

    def written(self, name):
        """The number that the device has received for a field of the request."""
        place = [field for field, _ in self.machine.shape.request].index(name)
        register = self.map[OPERANDS[place]]
        words = (self.device.written[register.address + BYTES * i] for i in range(register.count))
        return from_words(words)

    def operate(self, base=MESSAGE):
        """The status and the result of an operation."""
        assert self.driver.start(base, self.words) == "OK"
        status = self.driver("wait", 0)
        code, result = self.driver.read(self.words)
        assert code == status
        return status, result


@pytest.fixture(name="packaged")
def make_packaged(tmp_path):
    """A function that packs a machine; no access of its driver is refused."""
    made = []

    def packed(name, nbits, settings):
        made.append(Packaged(tmp_path, name, nbits, settings))
        return made[-1]

    yield packed
    assert not any(package.device.refused for package in made)


# ---- the driver


@parametrize("name, nbits, settings", [*NOW, *EVERY])
def test_the_driver_loads_a_private_key(packaged, name, nbits, settings):
    """All numbers have the lengths of their fields; random numbers serve one operation."""
    package = packaged(name, nbits, settings)
    machine, driver, key = package.machine, package.driver, package.machine.key
    promises = machine.promises
    expect(
        driver.machine,
        nbits=nbits,
        given=len(machine.given_fields),
        crt=promises.key == "crt",
        message_blinded=promises.message_blinded,
        exponent_blinded=promises.exponent_blinded,
        checked=promises.checked,
    )
    private, fields = package.key()
    assert driver("load_private_key", private) == "OK"
    for field in machine.programmed.names[1:]:
        assert package.written(field) == fields[field], field
    assert package.operate() == ("OK", pow(MESSAGE, key.d, key.n))
    assert f"CYCLES then reads {driver.raw('cycles'):,}:" in package.sheet
    drawn = [field for field in ("x", "k", "kp", "kq") if field in package.lengths]
    if drawn:
        for _ in range(2):
            assert driver.start(5, package.words) == "STALE_RANDOM"
        # as long as their fields
        fresh = {field: (1 << dict(machine.given_fields)[field]) - 1 for field in drawn}
        fresh |= {"x": random.Random(1).getrandbits(dict(machine.given_fields)["x"])} if "x" in drawn else {}
        while math.gcd(fresh.get("x", 1), key.n) > 1 or fresh.get("x", 0) >= key.n:
            fresh["x"] //= 2
        assert driver("load_random", package.random(**fresh)) == "OK"
        assert [package.written(field) for field in drawn] == [*fresh.values()]
    assert package.operate(5) == ("OK", pow(5, key.d, key.n))
    assert driver("load_random", package.random(**fields)) == "OK", "none is no error"
    for lacks in {*package.lengths, "public_exponent"} - {"k", "e", "public"}:
        wanted = lacks != "public_exponent" or "e" in package.lengths or promises.key == "crt"
        assert driver("load_private_key", package.key(lacks)[0]) == ("KEY_LACKS" if wanted else "OK")
    assert driver("zeroise") == "OK" and driver("wait", 0) == "NOT_STARTED"
    assert driver.start(5, package.words) == "NO_KEY"


def test_a_short_key(packaged):
    """A key of one word on a machine of two: its numbers have as many words as the caller states."""
    package = packaged("mont-keyed", 40, PUBLIC)
    short = find("mont-keyed").at(32, **PUBLIC).key
    machine, driver = package.machine.with_key(short), package.driver
    fields = machine.programmed.named(machine.carried(7, short.d, short.n))
    one = {"modulus": short.n, "private_exponent": short.d, "public_exponent": short.e, "phi": fields["phi"]}
    drawn = Random(x=pointer(fields["x"], 1), kp=pointer(fields["k"], 2))
    key = PrivateKey(1, **{name: pointer(value, 1) for name, value in one.items()}, random=drawn)
    assert driver("load_private_key", key) == "OK"
    assert package.written("x") == fields["x"] and package.written("phi") == fields["phi"]
    assert driver.start(7, 1) == "OK" and driver("wait", 0) == "OK"
    assert driver.read(1) == ("OK", pow(7, short.d, short.n))


def test_public_and_private_keys_take_turns(packaged):
    """A public key clears the numbers of a private key, and needs no random numbers."""
    package = packaged("mont-keyed", 40, PUBLIC)
    driver, key = package.driver, package.machine.key
    public = PublicKey(package.words, *(pointer(number, package.words) for number in (key.n, key.e)))
    for _ in range(2):
        assert driver("load_private_key", package.key()[0]) == "OK"
        assert package.written("public") == 0
        assert package.operate() == ("OK", pow(MESSAGE, key.d, key.n))
        assert driver.start(5, 2) == "STALE_RANDOM"
        assert driver("load_public_key", public) == "OK"
        assert [package.written(name) for name in ("phi", "x", "k", "public")] == [0, 0, 0, 1]
        for base in (5, 6):
            assert package.operate(base) == ("OK", pow(base, key.e, key.n))


def test_the_header_of_another_machine_is_detected(packaged, tmp_path):
    """The driver with the header of all machines, or of another one, does not guess lengths."""
    package = packaged("heap", 40, BLINDED)
    general = tmp_path / "general"
    general.mkdir()
    driver = Driver(host_library(general), package.device)
    assert driver.init() == "OK" and not driver.machine.fields
    private, fields = package.key()
    assert driver("load_private_key", private) == "NO_FIELDS"
    raw = [fields[name] for name in package.lengths]
    assert driver("load_key", key_of(fields["mod"], fields["exp"], package.words, raw)) == "OK"
    assert driver("load_random", package.random(**fields)) == "NO_FIELDS"
    for code in ("OK", "STALE_RANDOM"):
        assert driver.start(MESSAGE, package.words) == code
        assert driver("wait", 0) == "OK"
    assert driver.read(package.words) == ("OK", pow(MESSAGE, package.machine.key.d, fields["mod"]))


def test_a_program_in_cpp_calls_the_driver(tmp_path):
    """The header gives C linkage to the functions."""
    package = Package(find("heap").at(40, **BLINDED), AXI4LITE)
    for file, text in package.subject.software.items():
        (tmp_path / file).write_text(text)
    (tmp_path / "main.cpp").write_text(
        '#include "modexlab.h"\nstatic uint32_t none[1024];\nint main() {\n  modexlab_t machine;\n'
        "  return -modexlab_init(&machine, reinterpret_cast<uintptr_t>(none));\n}\n"
    )
    strict = [flag for flag in STRICT if not flag.startswith("-std")]
    for command in (
        ["gcc", *STRICT, "-c", "modexlab.c"],
        ["g++", "-std=c++17", *strict, "main.cpp", "modexlab.o", "-o", "main"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    assert finished([tmp_path / "main"]).returncode == 1, "no device"


def test_the_map_names_the_numbers_of_a_key():
    machine = find("heap").at(40, **BLINDED)
    text = register_rdl("heap", "keyed", register_map(machine.shape, machine.traits))
    for place, (name, nbits) in enumerate(machine.given_fields):
        found = rf'name = "word of {name}, a number of {nbits} bits;[^}}]*}}[^}}]*}} GIVEN_{place}\b'
        assert re.search(found, text), name


# ---- Bellcore attacks


def factor_of(machine, base, result):
    """The factor of the modulus that a wrong result gives to an attacker with the public key; 1: none."""
    return math.gcd(pow(result, machine.key.e, machine.key.n) - base, machine.key.n)


def released(machine, interface):
    """A function that sends a request to the packaged Verilog and returns status and result."""
    package = Package(machine, interface)
    component = machine.exported(interface)
    elaborate(component)
    simulation = NativeSimulation(ModuleText(package.hardware, package.name, Ports.of(component)), Options())

    def send(request):
        accesses = interface.requests(machine.shape, request)
        answers = [
            answer if isinstance(answer, int) else tuple(map(int, answer))
            for answer in simulation.run(accesses, max_cycles=200_000).responses
        ]
        return interface.outcome(machine.shape, answers)

    return send


COUPLINGS = (STREAM, XCEL, AXI4LITE)
FORMS = [
    (name, nbits, blind)
    for (name, nbits), blind in itertools.product(
        (("heap", 40), ("mont-keyed", 32)), ("no", "message", "exponent", "both")
    )
]


@parametrize("name, nbits, blind", [("heap", 40, "both"), *later(*FORMS)])
@parametrize("interface", [AXI4LITE, *(pytest.param(one, marks=regress) for one in COUPLINGS[:2])])
def test_a_faulty_key_gives_no_factor(tmp_path, interface, name, nbits, blind):
    """By default, a package with CRT withholds every result of a faulty key."""
    settings = {**WINDOWED, "crt": True, "blind": blind}
    statuses = {
        field: outcome[0] for field, outcome, _ in attacked(tmp_path, interface, name, nbits, settings)
    }
    assert statuses["dq"] == statuses["dp"] == Status.FAULT
    assert all(statuses.values())


@parametrize("name, nbits, blind", [("heap", 40, "both"), *later(*FORMS)])
@parametrize("interface", [AXI4LITE, *(pytest.param(one, marks=regress) for one in COUPLINGS[:2])])
def test_hardware_without_the_check_gives_a_factor(tmp_path, interface, name, nbits, blind):
    """The attack works: with verify=false by name, a wrong result leaves and gives a factor."""
    settings = {**WINDOWED, "crt": True, "blind": blind, "verify": False}
    found = {
        field: factor
        for field, (status, _), factor in attacked(tmp_path, interface, name, nbits, settings)
        if not status
    }
    key = find(name).at(nbits, **settings).key
    assert found["dq"] == key.p and found["dp"] == key.q


def attacked(folder, interface, name, nbits, settings):
    """The outcome of an operation with each faulty key, and the factor of the modulus that it gives."""
    if interface is AXI4LITE:
        package = Packaged(folder, name, nbits, settings)
        machine = package.machine
    else:
        machine = find(name).at(nbits, **settings)
        send = released(machine, interface)
    good = machine.programmed.named(machine.carried(MESSAGE, machine.key.d, machine.key.n))
    for field in ATTACKS:
        wrong = good[field] ^ 2
        if interface is AXI4LITE:
            assert package.driver("load_private_key", package.key(**{field: wrong})[0]) == "OK"
            word, result = package.operate()
            outcome = Status[word], result
            if outcome[0]:  # an access of RESULT is refused
                register = package.map["RESULT"]
                for place in range(register.count):
                    assert package.device.lib.bus_read(register.address + BYTES * place) == 0
                    assert package.device.lib.bus_response() == 2
        else:
            outcome = send(tuple({**good, field: wrong}.values()))
        if outcome[0]:
            assert outcome[1] == 0
        yield field, outcome, factor_of(machine, MESSAGE, outcome[1]) if not outcome[0] else 1
