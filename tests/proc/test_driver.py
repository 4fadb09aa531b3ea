"""The C driver, compiled for the host and run on the functional model of the registers, and its register
header. Private keys are in tests/package/test_packaged_keys.py, on the RTL.
"""

import re
import subprocess
from ctypes import CFUNCTYPE, byref, c_int, c_size_t, c_void_p, cast

import pytest
from modexlab.fl.axi4lite import ALL_BYTES, OKAY, SLVERR, Axi4LiteFL, Traits
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import MEANING, Status
from modexlab.fl.xcel import MASK, to_words
from modexlab.proc.software.compiler import DRIVER, FLAGS, FREESTANDING, compiler
from modexlab.proc.software.register_header import HEADER, register_header

from tests.drivers import (
    BASE,
    CODES,
    PRIVATE,
    STRICT,
    Driver,
    PrivateKey,
    PublicKey,
    Random,
    host_library,
    key_of,
    numbers,
    pointer,
)
from tests.harness import expect, finished, parametrize
from tests.proc.test_software import compiled, exit_code_of

NBITS = 72  # two words and a quarter
MOD, EXP = (1 << 72) - 93, 65537
GIVEN = 0x123456789ABCDEF012


class Device(Axi4LiteFL):
    """The model as seen on a bus, where a computation takes a number of STATUS reads. It records refused
    accesses.
    """

    lasts = 0

    def __init__(self, given=()):
        traits = Traits(constant_time=True, reduced_only=True)
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


class UsualDriver(Driver):
    """A driver whose numbers have three words."""

    def load(self, mod=MOD, exp=EXP, words=3, given=()):
        return self("load_key", key_of(mod, exp, words, given))

    def start(self, base, words=3):
        return super().start(base, words)

    def read(self, words=3):
        return super().read(words)


def power(base):
    """The answer of a machine to the usual key."""
    return "OK", pow(base, EXP, MOD)


@pytest.fixture(name="library", scope="module")
def make_library(tmp_path_factory):
    return host_library(tmp_path_factory.mktemp("driver"))


@pytest.fixture(name="ready")
def make_ready(library):
    """A function that makes an initialised driver; at the end no access must have been refused."""
    made = []

    def ready(given=()):
        made.append(UsualDriver(library, Device(given)))
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
    driver = UsualDriver(library, Device())
    said = {name: driver.lib.modexlab_message(code).decode() for name, code in CODES.items()}
    assert said.items() >= {status.name: text for status, text in MEANING.items()}.items()
    assert len(set(said.values())) == len(CODES) == len(Status) + 13
    assert sorted(CODES.values()) == list(range(-13, len(Status)))
    for code in (len(Status), 1 << 30, -14, -(1 << 31)):
        assert b"unknown" in driver.lib.modexlab_message(code)


# ---- bare metal


@parametrize("opt", ["-O0", "-O2", "-Os"])
def test_bare_metal_wants_nothing_from_outside(tmp_path, opt):
    flags = [flag for flag in FLAGS if not flag.startswith("-std") and "loop" not in flag]
    made = tmp_path / "driver.o"
    subprocess.run(
        [
            str(compiler()),
            *flags,
            *STRICT,
            f"-idirafter{FREESTANDING}",
            opt,
            "-c",
            str(DRIVER / "modexlab.c"),
            "-o",
            str(made),
        ],
        check=True,
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


def private_key():
    return PrivateKey(3, **{name: pointer(value, 3) for value, name in enumerate(PRIVATE, 0x1000)})


def public_key():
    return PublicKey(3, pointer(MOD, 3), pointer(EXP, 3))


@parametrize("kind, key", [("private", private_key()), ("public", public_key())])
def test_a_key_for_a_machine_without_one(library, ready, kind, key):
    """A machine with numbers derived from the modulus, which the key does not have, refuses it. One that
    needs only modulus and exponent accepts it.
    """
    load = f"load_{kind}_key"
    assert UsualDriver(library, Device([NBITS, NBITS]))(load, key) == "NO_INIT"
    assert ready([NBITS, NBITS])(load, key) == "GIVEN_COUNT"
    driver = ready()
    driver.device.lasts = 3
    assert driver(load, key) == driver.start(2) == "OK"
    assert driver(load, key) == driver("load_random", Random()) == "BUSY"
    mod, _, exponent = (0x1000, 0x1001, 0x1002) if kind == "private" else (MOD, 0, EXP)
    assert driver("wait", 0) == "OK" and driver.device.computed == (2, exponent, mod)


def test_cycles_do_not_tear(library):
    """The low word of the counter overflows between the reads of its words."""

    class Counting(Device):
        values = iter((0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 0x1_0000_0001, 0x1_0000_0002, 0x1_0000_0003))

        def load(self, address):
            name = self.named[address - BASE]
            if not name.startswith("CYCLES"):
                return super().load(address)
            return next(self.values) >> (32 if name == "CYCLES_HIGH" else 0) & MASK

    driver = UsualDriver(library, Counting())
    assert driver.raw("cycles") == 0, "not initialised"
    assert driver.init() == "OK" and driver.raw("cycles") == 0x1_0000_0002


# ---- errors


def test_no_device_at_the_address(library):
    driver = UsualDriver(library, Device())
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

    driver = UsualDriver(library, Newer())
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
    driver = UsualDriver(host_library(tmp_path, platform, example), Device())
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
