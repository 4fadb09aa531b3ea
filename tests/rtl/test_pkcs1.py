"""PKCS#1 v1.5: padding and unpadding at three levels, compared with `rsa`, `cryptography` and the encodings
of the test vectors.
"""

import itertools
from functools import partial
from random import Random

import rsa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding as reference
from hypothesis import strategies as st
from modexlab.cl.pkcs1 import Pkcs1UnpadCL
from modexlab.eval.exchange.vectors import encoding
from modexlab.fl.pkcs1 import Kind, Opened, Padded, longest, nbytes_of, pad, unpad
from modexlab.fl.random_bytes import WINDOW, lfsr_not_random, proportion_cutoff, repetition_cutoff
from modexlab.rtl.messages import declare_streams, mk_pad_req, mk_pad_resp
from modexlab.rtl.sim import Stall, lint, translate
from modexlab.rtl.units.padding.lfsr_not_random import LfsrNotRandom
from modexlab.rtl.units.padding.pkcs1_pad import Pkcs1Pad
from modexlab.rtl.units.padding.pkcs1_unpad import Pkcs1Unpad
from modexlab.rtl.units.padding.random_health import RandomHealth
from pymtl3 import Component, Wire, update, update_ff

from tests.harness import any_word, draws, one_now, parametrize, ran, refused, stepped
from tests.keys import openssl_key, rsa_keys

NBITS = 128
NBYTES = NBITS // 8
LONGEST = longest(NBYTES)
STALL = Stall(seed=5, source=0.3, sink=0.4)
PLAIN_BACKENDS = ("python", "native")


class PadWithLfsr(Component):
    """Pkcs1Pad with a deterministic byte source; every `pause`-th cycle has no byte.

    The source fails at its byte number `dead` (0: from the beginning, -1: never).
    """

    def construct(s, nbits, pause=0, dead=-1):
        declare_streams(s, mk_pad_req(nbits), mk_pad_resp(nbits))
        s.lfsr = LfsrNotRandom()
        s.unit = Pkcs1Pad(nbits)
        s.istream //= s.unit.istream
        s.unit.ostream //= s.ostream
        s.taken = Wire(16)
        last = dead if dead >= 0 else 0xFFFF
        s.lfsr.ostream.msg //= s.unit.random.msg
        s.count = Wire(4)

        @update
        def paused():
            s.unit.random.val @= s.lfsr.ostream.val & ((s.count != 0) | (pause == 0))
            s.lfsr.ostream.rdy @= s.unit.random.rdy & ((s.count != 0) | (pause == 0))

        @update
        def fails():
            s.unit.random_failed @= s.taken >= last

        @update_ff
        def counts():
            s.count <<= s.count + 1
            if s.reset | (s.count + 1 == pause):
                s.count <<= 0
            if s.reset:
                s.taken <<= 0
            elif s.unit.random.val & s.unit.random.rdy:
                s.taken <<= s.taken + 1


def pad_rows(nbytes, count=24):
    """{sign, length, message}: no bytes, one, the maximum, too many; messages of zeros, of ones, with bytes
    above their length.
    """
    rng, most = Random(nbytes), longest(nbytes)
    lengths = (0, 1, most - 1, most, most + 1, nbytes - 1)
    drawn = [(rng.randrange(2), rng.randrange(most + 1), rng.getrandbits(8 * nbytes)) for _ in range(count)]
    return [*itertools.product((0, 1), lengths, (0, (1 << 8 * nbytes) - 1)), *drawn]


def kind_of(sign):
    return Kind.SIGN if sign else Kind.ENCRYPT


# ---- padding


@parametrize("pause", one_now((0, 3), 3))
def test_padding_at_every_stage(pause):
    """Encodings and stamps are equal; without pauses the formula holds, where zero bytes count as waits."""
    rows = pad_rows(NBYTES) * 3
    zeros, source = 0, lfsr_not_random()

    def counted():
        nonlocal zeros
        for byte in source:
            zeros += byte == 0
            yield byte

    expected, cycles = [], []
    for sign, length, message in rows:
        before = zeros
        expected.append(pad(kind_of(sign), length, message, NBYTES, counted()))
        status, em = expected[-1]
        cycles.append(1 if length > LONGEST else NBYTES + 1 + zeros - before)
        if status is Padded.OK:
            assert unpad(kind_of(sign), em, NBYTES) == (True, length, message & (1 << 8 * length) - 1)
        else:
            assert length > LONGEST
    assert zeros
    component = partial(PadWithLfsr, NBITS, pause)
    run, native = (
        ran(component(), rows, backend, stall=STALL if pause else None) for backend in PLAIN_BACKENDS
    )
    assert run == native and run.responses == expected
    assert pause or run.latencies == cycles


def test_without_random_bytes_there_is_no_encryption():
    """Signatures need no random bytes."""
    rows, none = [(0, 3, 7), (1, 3, 7), (0, LONGEST, 1)], (Padded.NO_RANDOM, 0)
    run = ran(PadWithLfsr(NBITS, 0, 0), rows, "python")
    assert run.responses == [none, pad(Kind.SIGN, 3, 7, NBYTES), none]
    assert run.latencies == [2, NBYTES + 1, 2]
    assert pad(Kind.ENCRYPT, 3, 7, NBYTES, iter((1, 2))) == none


@parametrize("dead", range(0, 2 * (NBYTES - 3 - 2) + 2))
def test_a_source_that_fails_in_the_middle(dead):
    """The source fails at any byte, the last one of the padding included: from then on there is no
    encoding.
    """
    rows = [(0, 2, 0x1234)] * 3
    status = [answer[0] for answer in ran(PadWithLfsr(NBITS, 0, dead), rows, "python").responses]
    good = status.count(Padded.OK)
    assert status == [Padded.OK] * good + [Padded.NO_RANDOM] * (3 - good)
    # those succeed whose last byte was taken, and whose end was reached, before byte number `dead`
    drawn = [place for place, byte in enumerate(itertools.islice(lfsr_not_random(), 200), 1) if byte]
    ends = [drawn[(number + 1) * (NBYTES - 5) - 1] for number in range(3)]
    assert good == sum(end < dead for end in ends)


# ---- unpadding


def unpad_rows(nbytes):
    """{sign, em}: valid encodings, and each possible single error."""
    rng = Random(nbytes)
    source = lfsr_not_random(nbytes + 1)
    rows = []
    for sign, length in itertools.product((0, 1), (0, 1, 3, longest(nbytes) - 1, longest(nbytes))):
        _, em = pad(kind_of(sign), length, rng.getrandbits(8 * nbytes), nbytes, source)
        good = em.to_bytes(nbytes, "big")
        rows.append((sign, em))
        rows.append((1 - sign, em))  # another type
        for place, byte in itertools.product(range(nbytes), (0, 1, 2, 0xFE, 0xFF)):
            rows.append((sign, em ^ (good[place] ^ byte) << 8 * (nbytes - 1 - place)))
    endless = (b"\0\2".ljust(nbytes, b"\7"), b"\0\1".ljust(nbytes, b"\xff"))  # padding to the end
    rows += [(sign, int.from_bytes(em, "big")) for sign, em in enumerate(endless)]
    return [*rows, (1, 0), (0, 0), (0, (1 << 8 * nbytes) - 1)]


def judged(sign, em, nbytes):
    """The expected result, by the encodings of the test vectors, which are independent of fl/pkcs1.py; for
    type 1, by its possible messages.
    """
    if not sign:
        found = encoding.pkcs1_decode(em, nbytes)
    else:
        data = em.to_bytes(nbytes, "big")
        messages = (data[nbytes - length :] for length in range(longest(nbytes) + 1))
        found = next(
            (m for m in messages if data == b"\0\1" + b"\0".rjust(nbytes - 2 - len(m), b"\xff") + m), None
        )
    return Opened(False, 0, 0) if found is None else Opened(True, len(found), int.from_bytes(found, "big"))


@parametrize("implicit", [False, True])
def test_unpadding_at_every_level_and_stage(implicit):
    """All malformed encodings give the same response, in the cycles of a valid one."""
    rows = unpad_rows(NBYTES)
    expected = [judged(sign, em, NBYTES) for sign, em in rows]
    assert 20 < sum(opened.good for opened in expected) < len(rows) - 200
    if implicit:
        rows = [(sign, place % 4, place, em) for place, (sign, em) in enumerate(rows)]
        expected = [
            Opened(True, place % 4, opened.message if opened.good and opened.length == place % 4 else place)
            for place, opened in enumerate(expected)
        ]
    assert [unpad(kind_of(sign), em, NBYTES, fallback or None) for sign, *fallback, em in rows] == expected
    for unit, backend, every in (
        (Pkcs1UnpadCL, "python", 7),
        (Pkcs1Unpad, "python", 7),
        (Pkcs1Unpad, "native", 1),
    ):
        run = ran(unit(NBITS, implicit), rows[::every], backend)
        assert run.responses == expected[::every], backend
        assert set(run.latencies) == {NBYTES + 2}


@draws(60, st.integers(12, 512), st.sampled_from(Kind), st.integers(1, (1 << 32) - 1), st.data())
def test_any_key_and_message(nbytes, kind, seed, data):
    """FL over widths: a padded message is recovered, and an encoding with a changed frame is not."""
    length = data.draw(st.integers(0, longest(nbytes)))
    message = data.draw(any_word(8 * length))
    status, em = pad(kind, length, message, nbytes, lfsr_not_random(seed))
    assert status is Padded.OK and unpad(kind, em, nbytes) == (True, length, message)
    place = data.draw(st.integers(nbytes - 2 - 8, nbytes - 1))
    changed = em & ~(0xFF << 8 * place) | (0 if place < nbytes - 2 else 9) << 8 * place
    assert unpad(kind, changed, nbytes) == (False, 0, 0)


# ---- others' words on it


def test_the_rsa_package_reads_what_we_pad():
    """Encrypted with `pow` and decrypted by the package, and vice versa."""
    public, private = rsa_keys(512)
    nbytes = 64
    for message in (b"", b"x", b"\0\0zero", bytes(range(53))):
        value = int.from_bytes(message, "big")
        status, em = pad(Kind.ENCRYPT, len(message), value, nbytes, lfsr_not_random(77))
        assert status is Padded.OK
        assert rsa.decrypt(pow(em, public.e, public.n).to_bytes(nbytes, "big"), private) == message
        theirs = pow(int.from_bytes(rsa.encrypt(message, public), "big"), private.d, private.n)
        assert unpad(Kind.ENCRYPT, theirs, nbytes) == (True, len(message), value)


def test_signatures_as_cryptography_has_them():
    key = openssl_key(1024)
    n, d = key.public_key().public_numbers().n, key.private_numbers().d
    theirs = key.sign(b"to be signed", reference.PKCS1v15(), hashes.SHA256())
    em = pow(int.from_bytes(theirs, "big"), 65537, n)
    opened = unpad(Kind.SIGN, em, 128)
    assert opened.good and pad(Kind.SIGN, opened.length, opened.message, 128) == (Padded.OK, em)
    assert pow(em, d, n).to_bytes(128, "big") == theirs


@parametrize("nbits", [8, 64, 88, 100, 1025])
def test_keys_without_room_are_refused(nbits):
    with refused("multiple of 8 from 96"):
        nbytes_of(nbits)


def test_lint():
    for component in (Pkcs1Pad(1024), Pkcs1Unpad(96), Pkcs1Unpad(256, True), RandomHealth(), LfsrNotRandom()):
        lint(translate(component))


# ---- the source


def test_cutoffs():
    """SP 800-90B, 4.4: for one bit the 21 and 311 of the table; for eight bits 4, and 13 in 512."""
    assert [repetition_cutoff(entropy) for entropy in (1, 8, 0.5)] == [21, 4, 41]
    assert [proportion_cutoff(entropy) for entropy in (1, 8)] == [311, 13]


def streams():
    rng = Random(9)
    yield "good", [rng.randrange(256) for _ in range(4 * WINDOW)]
    yield "stuck", [*range(100), *([7] * 6), *range(50)]
    yield "three in a row are chance", [*range(100), 7, 7, 7, *range(50)]
    biased = [rng.randrange(256) for _ in range(4 * WINDOW)]
    biased[WINDOW::30] = [biased[WINDOW]] * len(biased[WINDOW::30])
    yield "biased", biased


def fails_at(sent, place):
    """Whether a source of 8 bits per byte fails: 4 equal in a row, or 13 equal to the first of a window."""
    in_a_row = sent[max(0, place - 3) : place + 1]
    window = sent[place - place % WINDOW : place + 1]
    return in_a_row == [sent[place]] * 4 or window.count(window[0]) == 13


@parametrize("name, sent", list(streams()))
@parametrize("startup", [0, 16])
def test_health(name, sent, startup):
    """The stream ends after the byte that fails."""
    fails = [place for place in range(len(sent)) if fails_at(sent, place)]
    assert bool(fails) == (name in ("stuck", "biased"))
    unit = stepped(RandomHealth(8, startup))
    passed = []
    rng = Random(startup)
    queue = list(sent)
    for _ in range(3 * len(sent)):
        unit.istream.val @= int(bool(queue) and rng.random() < 0.8)
        unit.istream.msg @= queue[0] if queue else 0
        unit.ostream.rdy @= int(rng.random() < 0.8)
        unit.sim_eval_combinational()
        if unit.istream.val and unit.istream.rdy:
            queue.pop(0)
        if unit.ostream.val and unit.ostream.rdy:
            passed.append(int(unit.ostream.msg))
        unit.sim_tick()
    assert passed == sent[startup : fails[0] + 1 if fails else None]
    assert unit.failed == bool(fails)


def test_the_sequence_that_is_not_random():
    """The hardware equals the model, and both the polynomial: a recurrence of bits."""
    found = list(itertools.islice(lfsr_not_random(), 300))
    unit = stepped(LfsrNotRandom())
    for byte, taken in itertools.product(found, (1, 0, 0)):
        unit.ostream.rdy @= taken
        unit.sim_eval_combinational()
        assert not taken or unit.ostream.msg == byte
        unit.sim_tick()
    bits = [byte >> (7 - i) & 1 for byte in found for i in range(8)]
    for t in range(32, len(bits)):
        assert bits[t] == bits[t - 32] ^ bits[t - 22] ^ bits[t - 2] ^ bits[t - 1]
