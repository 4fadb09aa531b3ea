"""Paper 000's accelerator with its own registers: padding and unpadding around the machine, lengths,
refusals, the interrupt.
"""

import itertools
from random import Random

import pytest
import rsa
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import AXI4LITE_000, answers
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.fl import pkcs1
from modexlab.fl.axi4lite import ALL_BYTES, NO_TRAITS, OKAY, SLVERR
from modexlab.fl.axi4lite_000 import (
    NO_RANDOM,
    WRONG_PADDING,
    Axi4Lite000FL,
    KeyPorts,
    as_accesses,
    outcome,
    push_key,
    register_map,
)
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.pkcs1 import Kind
from modexlab.fl.random_bytes import lfsr_not_random
from modexlab.fl.status import Status
from modexlab.rtl.interfaces.axi4lite_000 import Axi4Lite000
from modexlab.rtl.sim import Stall, lint

from tests.harness import accessed, one_now, parametrize, ran, refused, stepped
from tests.keys import rsa_keys
from tests.rtl.test_axi4lite import Bus
from tests.tables.keyed import EIGHT, FOUR

NBITS, NBYTES = 128, 16
MACHINE = find("mont").at(NBITS)
P, Q = (1 << 64) - 59, (1 << 63) + 29  # primes
N, E = P * Q, 5
D = pow(E, -1, (P - 1) * (Q - 1))
AT = {name: register.address for name, register in register_map().items()}
SHORT = 0x1F1
KEY = push_key(NBITS, (N, E, D))


def model():
    return Axi4Lite000FL(NBITS, MACHINE.fl, KeyPorts(N, E, D), lfsr_not_random(), has_raw=True)


def run(accesses, backend="native", stall=None, key=KEY):
    found = ran(MACHINE.wrapped(AXI4LITE_000), [*key, *accesses], backend, stall=stall)
    return [tuple(map(int, response)) for response in found.responses[len(key) :]], found


def answered(*operands, **how):
    """The outcome of accesses, which are answered as the model does."""
    accesses = as_accesses(NBITS, *operands, **how)
    found, _ = run(accesses)
    assert found == answers(model(), accesses)
    return outcome(NBITS, found)


def outcomes(ways, key=KEY):
    """The outcome of each of these sequences, which are equally long, and the cycles of its wait."""
    size = len(ways[0])
    found, timed = run(itertools.chain(*ways), key=key)
    (wait,) = (place for place, access in enumerate(ways[0], len(key)) if access[1])
    parts = [found[size * i :][:size] for i in range(len(ways))]
    return [outcome(NBITS, part) for part in parts], timed.latencies[wait::size]


def encoded(em):
    """A ciphertext of arbitrary bytes, a valid encoding or not."""
    return pow(int.from_bytes(em, "big"), E, N)


@parametrize("length", [0, 1, 5, NBYTES - 11, NBYTES])
def test_what_is_encrypted_is_decrypted(length):
    """Encryption and decryption in hardware, compared with `pow` in between; a length that is too long counts
    as the longest.
    """
    message = Random(length).getrandbits(8 * NBYTES)
    code, size, ciphertext = answered(message, length)
    assert (code, size) == (0, NBYTES)
    em = pow(ciphertext, D, N).to_bytes(NBYTES, "big")
    kept = min(length, NBYTES - 11)
    assert em[:2] == b"\0\2" and em.index(0, 2) == NBYTES - kept - 1
    assert int.from_bytes(em[NBYTES - kept :], "big") == message & ((1 << 8 * kept) - 1)
    assert answered(ciphertext, NBYTES, decrypt=True) == (0, kept, message & ((1 << 8 * kept) - 1))


def test_no_message_is_the_same_as_another():
    """Each encryption uses different random bytes."""
    found, _ = outcomes([as_accesses(NBITS, 77, 2)] * 3)
    assert len({output for _, _, output in found}) == 3


def test_everything_wrong_is_one_answer_in_the_same_cycles():
    """Bleichenbacher's attack: status, length, output and cycles do not reveal what is wrong."""
    good = b"\0\2" + bytes(range(1, 10)) + b"\0" + b"mess"
    assert len(good) == NBYTES
    wrong = [
        b"\0\1" + good[2:],
        b"\1" + good[1:],
        good[:5] + b"\0" + good[6:],  # 3 bytes of padding
        good[:9] + b"\0" + good[10:],  # 7
        b"\0\2" + b"\1" * (NBYTES - 2),  # no end
        b"\0" * NBYTES,
    ]
    ways = [as_accesses(NBITS, encoded(em), NBYTES, decrypt=True) for em in (good, *wrong)]
    (first, *others), cycles = outcomes(ways)
    assert first == (0, 4, int.from_bytes(b"mess", "big"))
    assert others == [(WRONG_PADDING, 0, 0)] * len(wrong)
    # the exponent is the same, and the cycles of mont do not depend on the base
    assert len(cycles) == len(ways) and len(set(cycles)) == 1


@parametrize("nbits", one_now((NBITS, 512), NBITS))
def test_messages_of_the_rsa_package(nbits):
    """The `rsa` package encrypts and the accelerator decrypts, and vice versa."""
    public, private = rsa_keys(nbits)
    nbytes, machine = nbits // 8, find("mont").at(nbits)
    key = push_key(nbits, (public.n, public.e, private.d))
    theirs = int.from_bytes(rsa.encrypt(b"chip", public), "big")
    there = as_accesses(nbits, int.from_bytes(b"from", "big"), 4)
    back = as_accesses(nbits, theirs, nbytes, decrypt=True)
    found = accessed(machine.wrapped(AXI4LITE_000), [*key, *back, *there])
    decrypted = outcome(nbits, found[len(key) : -len(there)])
    assert decrypted == (0, 4, int.from_bytes(b"chip", "big"))
    code, size, ciphertext = outcome(nbits, found[-len(there) :])
    assert (code, size) == (0, nbytes)
    assert rsa.decrypt(ciphertext.to_bytes(nbytes, "big"), private) == b"from"


def drawn(rng, count):
    """Random accesses near the registers; after a start, wait for the interrupt."""
    accesses = []
    for _ in range(count):
        address = rng.randrange(0, 0x28)
        write = rng.random() < 0.7
        data = rng.choice((rng.getrandbits(32), rng.randrange(20), rng.randrange(8)))
        strobes = rng.choice((0, 1, 2, ALL_BYTES, ALL_BYTES, ALL_BYTES))
        accesses.append((int(write), 0, address, data, strobes if write else 0))
        if write and address < 4 and data & 4 and strobes & 1:
            accesses.append((0, 1, 0, 0, 0))
    return accesses


@parametrize("backend", ["python", "native"])
def test_every_access_as_the_model_has_it(backend):
    accesses = drawn(Random(backend), 60 if backend == "python" else 4000)
    found, _ = run(accesses, backend, Stall(seed=3, source=0.3, sink=0.4))
    wanted = zip(accesses, answers(model(), accesses), strict=True)
    assert [*zip(accesses, found, strict=True)] == [*wanted]
    faults = sum(answer[2] for answer in found)
    assert 0.2 < faults / len(found) < 0.8


def test_refusals_of_the_model():
    """Each refusal alone, without effects."""
    slave = model()
    for name in ("OUTPUT_LENGTH", "OUTPUT_FIFO"):
        assert slave.write(AT[name], 1) == SLVERR
    for name in ("INPUT_LENGTH", "WRITE_ADDRESS", "READ_ADDRESS", "INPUT_FIFO", "OUTPUT_FIFO"):
        assert slave.read(AT[name]) == (0, SLVERR)
    assert slave.read(0x1C) == (0, SLVERR) and slave.write(0x1C, 0) == SLVERR
    assert slave.write(AT["WRITE_ADDRESS"], 4) == slave.write(AT["READ_ADDRESS"], 4) == SLVERR
    assert slave.read(AT["OUTPUT_LENGTH"]) == slave.read(AT["STATUS"]) == (0, OKAY)


@pytest.fixture
def bus():
    """The hardware alone, with a random source that is stuck."""
    unit = stepped(Axi4Lite000(NBITS, lambda _: MACHINE.rtl(), (), startup=0))
    unit.key.modulus @= N
    unit.key.public @= E
    unit.key.private @= SHORT  # short, as Python simulates slowly
    unit.random.val @= 1
    unit.random.msg @= 0x55
    return Bus(unit, Random(2), 1.0, AT)


def test_busy_and_a_source_that_is_stuck(bus):
    """While busy, accesses are refused; without random bytes there is no ciphertext, but decryption works."""
    for place in range(4):
        assert bus.write("INPUT_FIFO", 9) == bus.write("WRITE_ADDRESS", place) == OKAY
    assert bus.write("INPUT_LENGTH", 4) == bus.write("STATUS", 0b101) == OKAY
    assert bus.read("STATUS") == (2, OKAY)
    for name in ("STATUS", "INPUT_FIFO", "WRITE_ADDRESS", "INPUT_LENGTH"):
        assert bus.write(name, 0) == SLVERR
    assert bus.read("OUTPUT_FIFO") == (0, SLVERR)
    assert bus.read("OUTPUT_LENGTH") == (0, OKAY)
    bus.until_interrupt()
    em = pow(9, SHORT, N)  # INPUT_LENGTH is 4
    opened = pkcs1.unpad(Kind.ENCRYPT, em, NBYTES)
    assert not opened.good and bus.read("STATUS") == (WRONG_PADDING << 8, OKAY)
    assert bus.write("STATUS", 0b100) == OKAY and not bus.slave.irq
    bus.until_interrupt()
    assert bus.read("STATUS") == (NO_RANDOM << 8, OKAY)
    assert bus.read("OUTPUT_FIFO") == (0, SLVERR)
    assert bus.write("STATUS", 0b1101) == OKAY  # the mode without padding exists only in simulation
    bus.until_interrupt()
    assert bus.read("STATUS") == (WRONG_PADDING << 8, OKAY)


def test_what_the_machine_refuses():
    """An input that is not below the modulus gives no output, and the machine's status as the code."""
    found, _ = run(as_accesses(NBITS, N, NBYTES, decrypt=True))
    assert outcome(NBITS, found) == (Status.BASE_TOO_LARGE, 0, 0)
    assert [item[2] for item in found[-8:]] == [0, 1] * 4, "places are written, words refused"


@parametrize("nbits", [72, 88, 129])
def test_widths_without_room(nbits):
    with refused("multiple of 8"):
        find("naive").at(nbits).wrapped(AXI4LITE_000)


@parametrize("settings", [EIGHT, FOUR])
def test_no_place_for_a_private_key(settings):
    machine = find("mont-keyed").at(96, **settings)
    for call in (
        lambda interface: machine.session(interface=interface.name, level="fl"),
        machine.wrapped,
        machine.exported,
    ):
        with refused(r"axi4lite-000.*private key.*give the interface xcel, axi4lite or stream"):
            call(AXI4LITE_000)


def test_no_port_for_another_number():
    """A machine whose requests hold more than paper 000's key."""
    with refused("no number but one, square and n_prime; give xcel, axi4lite or stream"):
        AXI4LITE_000.require(exponentiation(8, (("other", 8),)), NO_TRAITS)


def test_codes_are_beside_those_of_machines():
    assert not {NO_RANDOM, WRONG_PADDING} & set(map(int, Status))


@parametrize("nbits", one_now((8, 64, 96), 64, 96))
def test_verilog_is_clean(nbits):
    """Other tools accept the Verilog of the slave with its key at ports."""
    text = verilog(find("mont").at(nbits), AXI4LITE_000.name)
    lint(text)
    assert "key_modulus" in text and ("random__msg" in text) == (nbits > 64)


def test_what_padding_takes():
    """As stated in the header: two cycles more than the key has bytes, and one cycle for each random byte
    that is 0.
    """
    ways = [
        as_accesses(NBITS, 5, 1, raw=True),
        as_accesses(NBITS, 5, 1),
        as_accesses(NBITS, 5, NBYTES, decrypt=True),
    ]
    _, (raw, padded, unpadded) = outcomes(ways, push_key(NBITS, (N, E, E)))
    drawn = [place for place, byte in enumerate(itertools.islice(lfsr_not_random(), 100)) if byte]
    zeros = drawn[NBYTES - 5] - (NBYTES - 5)
    assert (padded - raw, unpadded - raw) == (NBYTES + 2 + zeros, NBYTES + 2)
