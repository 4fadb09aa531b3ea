"""The C driver, compiled for the host and run on the functional model of the registers, and its register
header.
"""

import re
import shutil
import subprocess
from ctypes import (
    CDLL,
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char_p,
    c_int,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
)

import pytest
from modexlab.fl.axi4lite import ALL_BYTES, OKAY, SLVERR, Axi4LiteFL, Traits
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import MEANING, Status
from modexlab.fl.xcel import MASK, to_words
from modexlab.proc.software.compiler import DRIVER, FLAGS, compiler
from modexlab.proc.software.register_header import HEADER, register_header

from tests.harness import expect, finished, parametrize
from tests.proc.test_software import compiled, exit_code_of

BASE = 0x4000_0000
NBITS = 72  # two words and a quarter
MOD, EXP = (1 << 72) - 93, 65537
GIVEN = 0x123456789ABCDEF012
PORT = """\
#include <stdint.h>
uint32_t (*port_read)(uint32_t);
void (*port_write)(uint32_t, uint32_t);
#define MODEXLAB_READ(address) port_read((uint32_t)(address))
#define MODEXLAB_WRITE(address, value) port_write((uint32_t)(address), (value))
#define MODEXLAB_FENCE() port_write(1, 0)
"""
CODES = {
    name: int(code)
    for name, code in re.findall(r"MODEXLAB_(\w+) = (-\d+)", (DRIVER / "modexlab.h").read_text())
} | {status.name: int(status) for status in MEANING}


Words = POINTER(c_uint32)
PROTECTIONS = ("crt", "message_blinded", "exponent_blinded", "checked")


def fields(kind, *names):
    """Fields of a structure that have the same type."""
    return [(name, kind) for name in names]


class Machine(Structure):
    """modexlab_t."""

    _fields_ = (
        ("base", c_size_t),
        *fields(c_uint32, "nbits", "words", "given"),
        *fields(c_bool, "constant_time", "odd_only", "reduced_only", *PROTECTIONS, "public_exponents"),
        *fields(c_uint32, "key_words", "result_words"),
        ("finished", c_bool),
    )


STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")


class Key(Structure):
    """modexlab_key_t."""

    _fields_ = (
        ("words", c_uint32),
        *fields(Words, "modulus", "exponent"),
        ("given_count", c_uint32),
        ("given", Words * 8),
    )


class Random(Structure):
    """modexlab_random_t."""

    _fields_ = fields(Words, "x", "kp", "kq")


WITH_CRT = ("p", "q", "dp", "dq", "qinv")
PRIVATE = ("modulus", "public_exponent", "private_exponent", "phi", *WITH_CRT)


class PrivateKey(Structure):
    """modexlab_private_key_t."""

    _fields_ = (("words", c_uint32), *fields(Words, *PRIVATE), ("random", Random))


class Device(Axi4LiteFL):
    """The model as seen on a bus, where a computation takes a number of STATUS reads. It records refused
    accesses.
    """

    lasts = 0

    def __init__(self, given=(), **private):
        traits = Traits(constant_time=True, reduced_only=True, **private)
        numbers = tuple((f"given_{place}", nbits) for place, nbits in enumerate(given))
        super().__init__(exponentiation(NBITS, numbers), self.mod_exp, traits)
        self.refused = []
        self.log = []
        self.left = 0
        self.named = {register.address: name for name, register in self.map.items()}

    def mod_exp(self, base, exp, mod, *given):
        self.computed = (base, exp, mod, *given)
        self.left = self.lasts
        if mod == 0:
            return Status.ZERO_MODULUS, 0
        return (Status.OK, pow(base, exp, mod)) if base < mod else (Status.BASE_TOO_LARGE, 0)

    def load(self, address):
        if self.left and self.named.get(address - BASE) == "STATUS":
            self.left -= 1
            return 1
        data, answer = self.read(address - BASE)
        if answer != OKAY or self.left:
            self.refused.append(("read", address - BASE))
        return data

    def store(self, address, data):
        if address == 1:  # a fence
            self.log.append((1, 0))
            return
        self.log.append((address - BASE, data))
        busy = self.left and address - BASE > self.map["IRQ_STATUS"].address
        if busy or self.write(address - BASE, data, ALL_BYTES) == SLVERR:
            self.refused.append(("write", address - BASE))


class Driver:
    """The library with a device at its port; a call returns the name of its code."""

    def __init__(self, library, device):
        self.lib = CDLL(str(library))
        self.lib.modexlab_message.restype = c_char_p
        self.lib.modexlab_cycles.restype = c_uint64
        for name in ("finished", "irq_handle"):
            getattr(self.lib, f"modexlab_{name}").restype = c_bool
        self.device, self.machine = device, Machine()
        self.kept = (
            CFUNCTYPE(c_uint32, c_uint32)(device.load),
            CFUNCTYPE(None, c_uint32, c_uint32)(device.store),
        )
        for name, function in zip(("port_read", "port_write"), self.kept, strict=True):
            c_void_p.in_dll(self.lib, name).value = cast(function, c_void_p).value

    def raw(self, name, *arguments):
        """Call a function of the driver; structures are passed by reference."""
        arguments = [
            byref(argument) if isinstance(argument, Structure) else argument
            for argument in (self.machine, *arguments)
        ]
        return getattr(self.lib, f"modexlab_{name}")(*arguments)

    def __call__(self, name, *arguments):
        code = self.raw(name, *arguments)
        return next(item for item, value in CODES.items() if value == code)

    def init(self):
        return self("init", c_size_t(BASE))

    def load(self, mod=MOD, exp=EXP, words=3, given=()):
        return self("load_key", key_of(mod, exp, words, given))

    def start(self, base, words=3):
        return self("start", numbers(base, words), words)

    def read(self, words=3):
        room = (c_uint32 * (words + 1))(*[0xA5A5_A5A5] * (words + 1))
        code = self("read", room, words)
        assert room[words] == 0xA5A5_A5A5, "written past the end"
        return code, sum(word << (32 * i) for i, word in enumerate(room[:words]))


def numbers(value, words):
    return (c_uint32 * max(words, 1))(*to_words(value, 32 * words))


def power(base):
    """The answer of a machine to the usual key."""
    return "OK", pow(base, EXP, MOD)


def pointer(value, words):
    return cast(numbers(value, words), Words)


def key_of(mod, exp, words, given=()):
    pointers = [pointer(value, words) for value in given]
    return Key(words, pointer(mod, words), pointer(exp, words), len(given), (Words * 8)(*pointers))


def host_library(directory, *more):
    """The driver and additional C, compiled for the host, with the port in Python."""
    (directory / "port.h").write_text(PORT)
    (directory / "all.c").write_text("\n".join(('#include "modexlab.c"', *more)))
    gcc = shutil.which("gcc") or "cc"
    flags = [*STRICT, "-Wconversion", "-O2", "-fPIC", "-shared", "-include", "port.h", f"-I{DRIVER}"]
    subprocess.run([gcc, *flags, "all.c", "-o", "driver.so"], cwd=directory, check=True)
    return directory / "driver.so"


@pytest.fixture(name="library", scope="module")
def make_library(tmp_path_factory):
    return host_library(tmp_path_factory.mktemp("driver"))


@pytest.fixture(name="ready")
def make_ready(library):
    """A function that makes an initialised driver; at the end no access must have been refused."""
    made = []

    def ready(given=(), **private):
        made.append(Driver(library, Device(given, **private)))
        assert made[-1].init() == "OK" and made[-1].machine.given == len(given)
        return made[-1]

    yield ready
    assert not any(driver.device.refused for driver in made)


@pytest.fixture(name="driver")
def make_driver(ready):
    """An initialised driver."""
    return ready()


# ---- the header of registers


def test_the_header_is_that_of_the_map():
    remedy = "run `python -m modexlab.proc.software.register_header`"
    assert HEADER.read_text() == register_header(), remedy


def test_every_code_has_its_words(library):
    driver = Driver(library, Device())
    said = {name: driver.lib.modexlab_message(code).decode() for name, code in CODES.items()}
    assert said.items() >= {status.name: text for status, text in MEANING.items()}.items()
    assert len(set(said.values())) == len(CODES) == len(Status) + 11
    assert sorted(CODES.values()) == list(range(-11, len(Status)))
    for code in (len(Status), 1 << 30, -12, -(1 << 31)):
        assert b"unknown" in driver.lib.modexlab_message(code)


# ---- bare metal


@parametrize("opt", ["-O0", "-O2", "-Os"])
def test_bare_metal_wants_nothing_from_outside(tmp_path, opt):
    flags = [flag for flag in FLAGS if not flag.startswith("-std") and "loop" not in flag]
    made = tmp_path / "driver.o"
    subprocess.run(
        [str(compiler()), *flags, *STRICT, opt, "-c", str(DRIVER / "modexlab.c"), "-o", str(made)], check=True
    )
    symbols = finished(["nm", str(made)], check=True).stdout
    assert " U " not in symbols and " T modexlab_init" in symbols
    assert not re.search(r" [BbDdCc] ", symbols), "no memory of its own"


def test_a_program_gets_the_driver_with_its_header(tmp_path):
    text = """
    #include "modexlab.h"
    static uint32_t none[1024];
    int main(void) {
      modexlab_t machine;
      return -modexlab_init(&machine, (uintptr_t)none);
    }
    """
    assert exit_code_of(compiled(tmp_path, text)) == -CODES["NO_DEVICE"]


# ---- valid calls


def test_init_finds_what_the_machine_can(driver):
    expect(
        driver.machine, nbits=NBITS, words=3, given=0, constant_time=True, odd_only=False, reduced_only=True
    )


def test_polling(driver):
    driver.device.lasts = 5
    assert driver.load() == "OK"
    for base in (2, MOD - 1):  # the key stays
        assert driver.start(base) == driver("wait", 6) == "OK"
        assert driver.read() == power(base)
    assert driver.device.computed == (MOD - 1, EXP, MOD)
    assert driver.read(5) == power(MOD - 1), "what is above the result is 0"


def test_short_numbers_are_filled_up(driver):
    assert driver.load() == driver.start(MOD - 1) == driver.load(0xFFFF_FFFB, 3, words=1) == "OK"
    assert driver.read(3) == power(MOD - 1), "of the key with which it was started"
    assert driver.start(7, words=1) == "OK"
    assert driver.device.computed == (7, 3, 0xFFFF_FFFB)
    assert driver.read(1) == ("OK", 343)


def test_interrupt(driver):
    device = driver.device
    assert driver("irq_enable", True) == driver.load() == driver.start(2) == "OK"
    assert device.interrupt and not driver.raw("finished")
    assert driver.raw("irq_handle") and driver.raw("finished") and not device.interrupt
    assert not driver.raw("irq_handle"), "it is of another device"
    assert driver.read() == power(2)
    assert driver.start(3) == "OK" and not driver.raw("finished"), "that was the computation before"
    assert driver("irq_enable", False) == "OK" and not device.interrupt
    assert not driver.raw("irq_handle"), "not enabled: of another device"
    assert driver("irq_enable", True) == "OK" and device.interrupt, "what is over raises it at once"
    assert driver.init() == "OK" and not device.interrupt


def test_order_of_a_start(driver):
    """The operand is written and the old event cleared, then a fence, the start, and another fence."""
    driver.load()
    driver.device.log.clear()
    driver.start(2)
    where = {name: register.address for name, register in driver.device.map.items()}
    row = [(where["BASE"] + 4 * i, word) for i, word in enumerate(to_words(2, NBITS))]
    assert driver.device.log == [*row, (where["IRQ_STATUS"], 1), (1, 0), (where["CONTROL"], 1), (1, 0)]


def test_given_numbers(ready):
    driver = ready((NBITS, NBITS))
    for wrong in ((), (1,), (1, 2, 3)):
        assert driver.load(given=wrong) == "GIVEN_COUNT"
    assert driver.start(2) == "NO_KEY"
    assert driver.load(given=(GIVEN, 5)) == driver.start(2) == "OK"
    assert driver.device.computed == (2, EXP, MOD, GIVEN, 5)


def private_key(lacks="", **random):
    """A private key whose numbers identify themselves; one may be missing."""
    values = {name: (0x1000 + i, 2 if name in WITH_CRT else 3) for i, name in enumerate(PRIVATE)}
    pointers = {name: pointer(*value) for name, value in values.items() if name != lacks}
    return PrivateKey(words=3, random=random_of(lacks, **random), **pointers)


def random_of(lacks="", **other):
    words = {"x": 3, "kp": 2, "kq": 2}
    values = RANDOM | other
    return Random(**{name: pointer(values[name], words[name]) for name in words if name != lacks})


def expected(*names):
    return [0x1000 + PRIVATE.index(name) for name in names]


RANDOM = {"x": 77, "kp": 1 << 63, "kq": 99}
TAKERS = [
    (dict.fromkeys(PROTECTIONS, True), WITH_CRT, ("x", "kp", "kq")),
    ({"crt": True}, WITH_CRT, ()),
    ({"crt": True, "message_blinded": True}, WITH_CRT, ("x",)),
    ({"checked": True}, ("public_exponent",), ()),
    (dict.fromkeys(PROTECTIONS[1:], True), ("public_exponent", "phi"), ("x", "kp")),
    ({"exponent_blinded": True}, ("phi",), ("kp",)),
]


@parametrize("private, of_key, random", TAKERS)
def test_private_key(ready, private, of_key, random):
    """Numbers are passed by name and written in the order of the machine; those that it does not need may be
    missing.
    """
    given = [36 if name in WITH_CRT else NBITS for name in of_key]
    given += [NBITS if name == "x" else 64 for name in random]
    driver = ready(given, **private)
    for name in PROTECTIONS:
        assert getattr(driver.machine, name) == (name in private)
    exponent = "public_exponent" if "crt" in private else "private_exponent"
    for name in (exponent, *of_key, *random):
        assert driver("load_private_key", private_key(name)) == "KEY_LACKS", name
    assert driver("load_random", random_of()) == driver.start(2) == "NO_KEY"
    for name in set(PRIVATE) - {"modulus", exponent, *of_key}:
        assert driver("load_private_key", private_key(name)) == "OK"
    assert driver.start(2) == "OK"
    key = expected(exponent, "modulus", *of_key)
    assert driver.device.computed == (2, *key, *(RANDOM[name] for name in random))
    for name in random:
        assert driver("load_random", random_of(name)) == "KEY_LACKS"
    new = {"x": 5, "kp": 6, "kq": 7}
    assert driver("load_random", random_of(**new)) == driver.start(3) == "OK"
    assert driver.device.computed == (3, *key, *(new[name] for name in random))


def test_a_private_key_for_another_machine(library, ready):
    """A machine with numbers derived from the modulus, which the key does not have, refuses it."""
    key = private_key()
    assert Driver(library, Device([NBITS, NBITS]))("load_private_key", key) == "NO_INIT"
    assert ready([NBITS, NBITS])("load_private_key", key) == "GIVEN_COUNT"
    driver = ready()
    driver.device.lasts = 3
    assert driver("load_private_key", key) == driver.start(2) == "OK"
    assert driver.device.computed == (2, *expected("private_exponent", "modulus"))
    assert driver("load_private_key", key) == driver("load_random", random_of()) == "BUSY"


class PublicKey(Structure):
    """modexlab_public_key_t."""

    _fields_ = (("words", c_uint32), *fields(Words, "modulus", "exponent"))


def public_key():
    return PublicKey(3, pointer(MOD, 3), pointer(EXP, 3))


def test_public_key(library, ready):
    """A public key clears the numbers of a private key, and a private key clears the flag; random numbers
    stay in front of it.
    """
    public = public_key()
    assert Driver(library, Device())("load_public_key", public) == "NO_INIT"
    driver = ready([NBITS, NBITS, NBITS, 64, 1], public_exponents=True, **TAKERS[4][0])
    assert driver.machine.public_exponents
    key = expected("private_exponent", "modulus", "public_exponent", "phi")
    for _ in range(2):
        assert driver("load_private_key", private_key()) == driver.start(2) == "OK"
        assert driver.device.computed == (2, *key, 77, 1 << 63, 0)
        assert driver("load_random", random_of(x=5, kp=6)) == driver.start(3) == "OK"
        assert driver.device.computed == (3, *key, 5, 6, 0)
        assert driver("load_public_key", public) == driver.start(4) == "OK"
        assert driver.device.computed == (4, EXP, MOD, 0, 0, 0, 0, 1)
    driver.device.lasts = 3
    assert driver.start(2) == "OK" and driver("load_public_key", public) == "BUSY"


def test_a_public_key_for_another_machine(ready, driver):
    """A machine that needs only modulus and exponent accepts it; one that needs more does not."""
    assert driver("load_public_key", public_key()) == driver.start(2) == "OK"
    assert driver.device.computed == (2, EXP, MOD)
    assert ready([NBITS])("load_public_key", public_key()) == "GIVEN_COUNT"


def test_cycles_do_not_tear(library):
    """The low word of the counter overflows between the reads of its words."""

    class Counting(Device):
        values = iter((0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 0x1_0000_0001, 0x1_0000_0002, 0x1_0000_0003))

        def load(self, address):
            name = self.named[address - BASE]
            if not name.startswith("CYCLES"):
                return super().load(address)
            return next(self.values) >> (32 if name == "CYCLES_HIGH" else 0) & MASK

    driver = Driver(library, Counting())
    assert driver.raw("cycles") == 0, "not initialised"
    assert driver.init() == "OK" and driver.raw("cycles") == 0x1_0000_0002


# ---- errors


def test_no_device_at_the_address(library):
    driver = Driver(library, Device())
    assert driver("init", c_size_t(BASE + 4)) == "NO_DEVICE"
    every = (
        driver.load,
        lambda: driver.start(2),
        lambda: driver("wait", 1),
        lambda: driver("irq_enable", True),
        lambda: driver.read()[0],
        lambda: driver("zeroise"),
    )
    driver.device.refused.clear()
    assert [call() for call in every] == ["NO_INIT"] * len(every)
    assert not driver.raw("irq_handle")
    assert driver.device.log == driver.device.refused == []


def test_another_version_of_the_map(library):
    class Newer(Device):
        def load(self, address):
            return super().load(address) + (self.named[address - BASE] == "VERSION")

    driver = Driver(library, Newer())
    assert driver.init() == "NEW_DEVICE" and driver.load() == "NO_INIT"


def test_lengths(driver):
    assert driver.load(words=0) == "TOO_SHORT"
    assert driver.load(words=4) == "TOO_LONG"
    assert driver.start(2) == "NO_KEY"
    driver.load()
    assert driver.start(2, words=0) == "TOO_SHORT"
    assert driver.start(2, words=4) == "TOO_LONG"
    assert driver.read() == ("NOT_STARTED", 0)
    driver.start(2)
    assert driver.read(2) == ("TOO_SHORT", 0)
    assert driver.read() == power(2)


def test_busy(driver):
    driver.device.lasts = 6
    driver.load()
    driver.start(2)
    assert driver.load() == driver.start(3) == "BUSY"
    assert driver.read() == ("BUSY", 0)
    assert driver("wait", 2) == "TIMEOUT", "two of six are left"
    assert driver("wait", 0) == "OK"
    assert driver.read() == power(2)


@parametrize(
    "mod, base, status", [(0, 0, "ZERO_MODULUS"), (MOD, MOD, "BASE_TOO_LARGE"), (MOD, 1 << NBITS, "TOO_WIDE")]
)
def test_what_the_machine_refuses(driver, mod, base, status):
    driver.load(mod)
    assert driver.start(base) == "OK"
    assert driver("wait", 1) == status
    assert driver.read() == (status, 0)


def test_zeroise(driver):
    driver.load()
    driver.start(2)
    assert driver("zeroise") == "OK"
    assert driver("wait", 1) == "NOT_STARTED"
    assert driver.read() == ("NOT_STARTED", 0)
    assert driver.start(2) == "NO_KEY"
    assert driver.device.words == {} and driver.device.result == 0


# ---- the example of the header


def test_the_example_of_the_header(tmp_path):
    text = (DRIVER / "modexlab.h").read_text()
    (example,) = re.findall(r"/\* example[^\n]*\n(.*?)end of the example \*/", text, re.DOTALL)
    platform = (
        "int (*interrupt_line)(void);\n"
        "void on_interrupt(void);\n"
        "static void sleep_until(const volatile bool *flag) { while (!*flag) if (interrupt_line()) "
        "on_interrupt(); }\n"
        "int encrypt_twice(uintptr_t, const modexlab_key_t *, const uint32_t *, uint32_t *);\n"
    )
    driver = Driver(host_library(tmp_path, platform, example), Device())
    device = driver.device
    device.lasts = 3

    def sleep():
        """Sleep until the computation has ended."""
        device.left = 0
        return int(device.interrupt)

    line = CFUNCTYPE(c_int)(sleep)
    c_void_p.in_dll(driver.lib, "interrupt_line").value = cast(line, c_void_p).value
    cipher, key = numbers(0, 3), key_of(MOD, EXP, 3)
    code = driver.lib.encrypt_twice(c_size_t(BASE), byref(key), numbers(5, 3), cipher)
    assert code == CODES["OK"] and device.refused == []
    assert list(cipher) == to_words(pow(pow(5, EXP, MOD), EXP, MOD), NBITS)
    assert device.words == {} and device.result == 0, "zeroised at the end"
