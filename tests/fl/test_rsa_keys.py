"""RSA keys: every input format, raw encryption and decryption, CRT with its check, and refusals.

The oracles are pow, rsa.core of the `rsa` package, and OpenSSL through `cryptography`: its PKCS#1 v1.5
signature is deterministic, so raw decryption of the padded digest must equal it bit for bit.
"""

import hashlib
import json
import math
import os
import random
import re
import threading

import pytest
import rsa
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import assume
from hypothesis import strategies as st
from modexlab.fl.mod_exp import mod_exp
from modexlab.fl.program.schedules import SCHEDULES
from modexlab.fl.rsa_keys import FaultDetected, RSAKey, numbers_of
from modexlab.proc.software.seeded_keys import primes_below

from tests.harness import bad_calls, draws, one_now, parametrize, refused
from tests.keys import openssl_key, prime_of, rsa_keys

N, E, D = 2603398711, 65537, 254738681  # paper 001, Figure 1
PRIMES = 27277, 95443
PAPER_KEY = RSAKey(N, E, D, *PRIMES)
SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")  # RFC 8017, section 9.2, note 1

OPENSSL_KEY = openssl_key(1024)
OUR_KEY = RSAKey(**numbers_of(OPENSSL_KEY))
PEM, DER, PKCS8 = Encoding.PEM, Encoding.DER, PrivateFormat.PKCS8
PKCS1, SPKI = PrivateFormat.TraditionalOpenSSL, PublicFormat.SubjectPublicKeyInfo
PRIVATE_FORMATS, PUBLIC_FORMATS = (PKCS1, PKCS8), (PublicFormat.PKCS1, SPKI)
PUBLIC_KEY = OPENSSL_KEY.public_key()


def private_bytes(encoding=PEM, private_format=PKCS8, key=OPENSSL_KEY, password=None):
    return key.private_bytes(
        encoding, private_format, BestAvailableEncryption(password) if password else NoEncryption()
    )


# input formats


@parametrize("encoding", [PEM, DER])
@parametrize("form", [*PRIVATE_FORMATS, *PUBLIC_FORMATS], ids=str)
def test_key_file(form, encoding, tmp_path):
    path, private = tmp_path / "key", form in PRIVATE_FORMATS
    path.write_bytes(private_bytes(encoding, form) if private else PUBLIC_KEY.public_bytes(encoding, form))
    key = RSAKey.load(path)
    assert key == RSAKey.load(str(path)) == (OUR_KEY if private else OUR_KEY.public)
    assert (key.is_private, key.nbits) == (private, 1024)


def test_text_around_a_pem_block_does_no_harm():
    assert RSAKey.from_bytes(b"the key of a test\n" + private_bytes() + b"\n") == OUR_KEY


@parametrize("nbits", [16, 32, 64, 128, 512])
@parametrize("encoding", ["PEM", "DER"])
def test_keys_of_the_rsa_package(nbits, encoding):
    public, private = rsa_keys(nbits)
    key = RSAKey(private.n, private.e, private.d, private.p, private.q)
    assert (key.dp, key.dq, key.qinv) == (private.exp1, private.exp2, private.coef)
    assert key.public == RSAKey(public.n, public.e)
    assert RSAKey.from_bytes(private.save_pkcs1(encoding)) == key
    if nbits > 16:  # OpenSSL requires e < n in a public key
        assert RSAKey.from_bytes(public.save_pkcs1(encoding)) == key.public


def test_numbers_without_primes_make_a_key():
    key = RSAKey(N, E, D)
    assert (key.decrypt(1460365373), key.p, key.dp) == (5745, None, None)


def test_private_numbers_do_not_show():
    assert repr(PAPER_KEY) == f"RSAKey(n={N}, e={E})"


def key_of(p, q, e, order):
    """A key without primes, which finds them, the larger one first."""
    key = RSAKey(p * q, e, pow(e, -1, order)).with_primes()
    assert (key.p, key.q) == (max(p, q), min(p, q))
    return key


@parametrize("nbits", one_now([16, 20, 32, 64, 256, 1024], 16, 20, 32, 64, 256))
@parametrize("e", [3, 17, E])
def test_primes_from_d_and_e(nbits, e):
    """A key without primes: d modulo (p - 1)(q - 1), and modulo their least common multiple."""
    draw = random.Random(f"{nbits} {e}")
    p = q = prime_of(draw, nbits // 2, e)
    while p == q:
        q = prime_of(draw, nbits // 2, e)
    for order in ((p - 1) * (q - 1), math.lcm(p - 1, q - 1)):
        key = key_of(p, q, e, order)
        assert key.decrypt_crt(pow(5, e, key.n)) == 5


@parametrize("n, e, d, p", [(15, 3, 3, 5), (15, 5, 1, 5), (21, 7, 1, 7), (35, 13, 1, 7)])
def test_primes_of_the_smallest_keys(n, e, d, p):
    key = RSAKey(n, e, d).with_primes()
    assert (key.p, key.q) == (p, n // p)


@draws(200, st.sets(st.sampled_from(primes_below(500)[1:]), min_size=2, max_size=2), st.integers(3, 10**6))
def test_primes_of_any_small_key(primes, e):
    p, q = primes
    order = math.lcm(p - 1, q - 1)
    assume(math.gcd(e, order) == 1)
    key_of(p, q, e, order)


def test_a_key_with_primes_is_left_as_it_is():
    assert PAPER_KEY.with_primes() is PAPER_KEY


def test_the_same_primes_each_time():
    key = RSAKey(N, E, D)
    assert key.with_primes() == key.with_primes() == RSAKey(N, E, D, 95443, 27277)


THREE, PRIME = 1009 * 2003 * 3001, 1000003
OF_THREE = RSAKey(THREE, 17, pow(17, -1, 1008 * 2002 * 3000))
OF_ONE = RSAKey(PRIME, 5, pow(5, -1, PRIME - 1))
test_what_has_not_two_primes_to_find_is_refused = bad_calls(
    (PAPER_KEY.public.with_primes, f"n = {N} is public: give the private key to find its primes"),
    (OF_THREE.with_primes, f"RSA modulus {THREE}: d and e do not lead to two prime factors"),
    (OF_ONE.with_primes, "do not lead to two prime factors; give p and q"),
)


@parametrize("p, q", [(11, 13), (17, 19), (23, 29), (31, 37), (41, 43)])
def test_a_prime_and_a_composite_factor_are_not_two_primes(p, q):
    """The largest of three primes exceeds the product of the others, so the smaller factor is composite."""
    largest = 2**31 - 1
    order = math.lcm(p - 1, q - 1, largest - 1)
    with refused("do not lead to two prime factors"):
        RSAKey(p * q * largest, 65537, pow(65537, -1, order)).with_primes()


JSON_KEY = {"n": N, "e": hex(E), "d": "254738681", "p": 27277, "q": "0x174d3"}


def test_key_file_of_numbers(tmp_path):
    """Numbers in decimal or as 0x text; missing ones are derived."""
    path = tmp_path / "key.json"
    path.write_text(json.dumps(JSON_KEY))
    assert RSAKey.load(path) == PAPER_KEY
    path.write_text(json.dumps({"n": N, "e": E}))
    assert RSAKey.load(path) == PAPER_KEY.public


@parametrize(
    "text, words",
    [
        ("{", "is no JSON object of numbers"),
        ('{"n": "many", "e": 3}', "is no JSON object of numbers"),
        ('{"n": 33, "e": null}', "is no JSON object of numbers"),
        ('{"n": 3233.9, "e": 17}', "n = 3233.9 is not an integer"),
        ('{"n": 3233, "e": 1e400}', "e = Infinity is not an integer"),
        ('{"n": 3233, "e": true}', "e = true is not an integer"),
        ('{"n": 33}', "has no e: give n and e, and d, p and q of a private key"),
        ('{"n": 33, "e": 7, "dP": 3}', "unknown number of the key 'dP': did you mean 'd'"),
        (json.dumps(JSON_KEY | {"q": 95441}), f"the key holds a wrong key: p \\* q is not n = {N}"),
    ],
)
def test_wrong_key_files_of_numbers_are_refused(text, words):
    with refused(words):
        RSAKey.from_bytes(text.encode(), "the key")


def test_a_key_file_without_an_end_is_refused(tmp_path):
    """A device such as /dev/zero is read only up to a limit; a pipe is read like a file."""
    with refused(r"/dev/zero has more than 256 MiB, or does not end; give"):
        RSAKey.load("/dev/zero")
    path = tmp_path / "key.json"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text(json.dumps(JSON_KEY)))
    writer.start()
    assert RSAKey.load(path) == PAPER_KEY
    writer.join()


def test_unchecked_keys_are_as_they_are_given():
    """An unchecked key has only the numbers of the file, without derived ones, for machines that must detect
    errors.
    """
    wrong = JSON_KEY | {"q": 95441, "qinv": 1}
    key = RSAKey.from_bytes(json.dumps(wrong).encode(), unchecked=True)
    assert (key.n, key.p, key.q, key.dp, key.qinv) == (N, 27277, 95441, None, 1)
    assert RSAKey.from_bytes(private_bytes(), unchecked=True) == OUR_KEY


# encryption and decryption


@parametrize("message", [0, 1, 2, 5745, N - 1, N - 2, 27277, 95443, 27277 * 1000, 1 << 31])
def test_message_corner(message):
    check_by_the_rsa_package(PAPER_KEY, message)


@draws(100, st.integers(0, OUR_KEY.n - 1))
def test_against_the_rsa_package(message):
    check_by_the_rsa_package(OUR_KEY, message)


def check_by_the_rsa_package(key, message):
    cipher = key.encrypt(message)
    assert cipher == rsa.core.encrypt_int(message, key.e, key.n)
    assert message == rsa.core.decrypt_int(cipher, key.d, key.n)
    assert message == key.decrypt(cipher) == key.decrypt_crt(cipher)


@parametrize("nbits", one_now([1024, 2048, 3072], 1024))
def test_against_signatures_of_openssl(nbits):
    """A PKCS#1 v1.5 signature is the raw decryption of 00 01 ff..ff 00 and the digest (RFC 8017, 8.2.1)."""
    other = openssl_key(nbits)
    key = RSAKey(**numbers_of(other))
    tail = b"\x00" + SHA256_INFO + hashlib.sha256(b"modexlab").digest()
    padded = int.from_bytes(b"\x00\x01".ljust(nbits // 8 - len(tail), b"\xff") + tail, "big")
    signature = int.from_bytes(other.sign(b"modexlab", padding.PKCS1v15(), SHA256()), "big")
    assert key.decrypt(padded) == key.decrypt_crt(padded) == signature
    assert key.encrypt(signature) == padded


def test_against_encryption_of_openssl():
    """OpenSSL's encryptions decrypt to their padded messages (RFC 8017, 7.2.1), and OpenSSL decrypts ours."""
    cipher = PUBLIC_KEY.encrypt(b"modexlab", padding.PKCS1v15())
    padded = OUR_KEY.decrypt(int.from_bytes(cipher, "big")).to_bytes(128, "big")
    assert padded.startswith(b"\x00\x02") and padded.endswith(b"\x00modexlab")
    again = b"\x00\x02".ljust(119, b"\x5a") + b"\x00modexlab"
    ours = OUR_KEY.encrypt(int.from_bytes(again, "big")).to_bytes(128, "big")
    assert OPENSSL_KEY.decrypt(ours, padding.PKCS1v15()) == b"modexlab"


@parametrize("schedule", SCHEDULES)
def test_any_machine_can_exponentiate(schedule):
    calls = []

    def machine(base, exp, mod):
        calls.append((exp, mod))
        return mod_exp(base, exp, mod, domain="montgomery", schedule=schedule)

    key = OUR_KEY
    cipher = key.encrypt(12345, machine)
    assert cipher == pow(12345, E, key.n)
    assert key.decrypt(cipher, machine) == key.decrypt_crt(cipher, machine) == 12345
    assert calls == [(E, key.n), (key.d, key.n), (key.dp, key.p), (key.dq, key.q), (E, key.n)]


@parametrize("half", ["p", "q", "both"])
def test_a_fault_is_not_given_away(half):
    """Without the check, a fault in one half reveals a factor of n; with it, only that there was a fault."""
    key = OUR_KEY
    faulty = {"p": {key.p}, "q": {key.q}, "both": {key.p, key.q}}[half]
    seen = []

    def machine(base, exp, mod):
        result = pow(base, exp, mod)
        if mod in faulty:
            return result ^ 1
        seen.append(base)
        return result

    cipher = key.encrypt(12345)
    with pytest.raises(FaultDetected, match="withheld; repeat, or check the machine") as detected:
        key.decrypt_crt(cipher, machine)
    leaked = seen[-1]  # what would have been returned: the operand of the check
    assert f"{leaked:x}"[:8] not in str(detected.value)
    factor = math.gcd(key.n, pow(leaked, key.e, key.n) - cipher)
    assert factor == {"p": key.q, "q": key.p, "both": 1}[half]


# refused


OUT_OF_RANGE = rf".* is not in 0\.\.n-1 for n = {N}: cut it"
test_operations_that_a_key_refuses = bad_calls(
    *(
        (operation, number, what + OUT_OF_RANGE)
        for number in (-1, N, N + 1, 1 << 100)
        for operation, what in (
            (PAPER_KEY.encrypt, "message"),
            (PAPER_KEY.decrypt, "ciphertext"),
            (PAPER_KEY.decrypt_crt, "ciphertext"),
        )
    ),
    (PAPER_KEY.public.decrypt, 3, f"n = {N} is public: give the private key"),
    (PAPER_KEY.public.decrypt_crt, 3, f"n = {N} has no primes: give p and q"),
    (RSAKey(N, E, D).decrypt_crt, 3, f"n = {N} has no primes: give p and q"),
    (RSAKey.unchecked(n=N, e=E, p=3, q=5).decrypt_crt, 3, f"n = {N} lacks dp, dq, qinv: give all"),
)


WRONG_D = f"n = {N} and e = {E} do not go with this d"
WRONG_PRIMES, TOGETHER = f"p \\* q is not n = {N}", "give d, p and q together"
test_numbers_that_make_no_key_are_refused = bad_calls(
    (RSAKey, 10, 3, "RSA modulus 10: give a product of two"),
    (RSAKey, 9, 3, "RSA modulus 9: give a product of two"),
    (RSAKey, N, 65536, "public exponent 65536: give an odd number"),
    (RSAKey, N, 1, "public exponent 1: give an odd number"),
    (RSAKey, N, E, 977851481, WRONG_D),  # of another key, as in paper 001
    (RSAKey, N, E, 977851481, *PRIMES, WRONG_D),
    (RSAKey, N, E, -5, WRONG_D),
    (RSAKey, N, E, D, 27277, 95441, WRONG_PRIMES),
    (RSAKey, N, E, D, 1, N, WRONG_PRIMES),
    (RSAKey, 25, 3, 7, 5, 5, "p \\* q is not n = 25: give the two different"),
    (RSAKey, N, E, D, 27277, TOGETHER),
    (RSAKey, N, E, D, None, 95443, TOGETHER),
    (RSAKey, N, E, None, *PRIMES, TOGETHER),
    (RSAKey, N, E, D, *PRIMES, 1, f"dp of the key with n = {N} .* leave it out"),
    (RSAKey, N, E, D, *PRIMES, None, 1, f"dq of the key with n = {N} .* leave it out"),
    (RSAKey, N, E, D, *PRIMES, None, None, 1, "qinv of the key .* leave it out"),
)


def broken_files():
    pkcs8, der = private_bytes(), private_bytes(DER)
    curve = ec.derive_private_key(12345, ec.SECP256R1())
    encrypted = "is encrypted: decrypt it first, as with `openssl pkey"
    corrupt = r"cannot be read \(.+\): give an RSA key in PEM or DER"
    other_kind = r"is not of RSA \({}\): give an RSA key"
    d = OUR_KEY.d.to_bytes(128, "big").lstrip(b"\0")
    wrong_d = der.replace(d, d[:60] + bytes([d[60] ^ 1]) + d[61:])
    return {
        "encrypted PKCS#8 PEM": (private_bytes(password=b"secret"), encrypted),
        "encrypted PKCS#8 DER": (private_bytes(DER, password=b"secret"), encrypted),
        "encrypted PKCS#1 PEM": (private_bytes(PEM, PKCS1, password=b"secret"), encrypted),
        "elliptic curve, private PEM": (private_bytes(key=curve), other_kind.format("EC")),
        "elliptic curve, public DER": (curve.public_key().public_bytes(DER, SPKI), other_kind.format("EC")),
        "Ed25519": (private_bytes(key=ed25519.Ed25519PrivateKey.generate()), other_kind.format("Ed25519")),
        # SubjectPublicKeyInfo with the object identifier 1.2.3.4 and one byte of a bit string
        "algorithm that nobody knows": (
            bytes.fromhex("300b30050603 2a030403020000"),
            other_kind.format(r".*1\.2\.3\.4.*"),
        ),
        "OpenSSH": (
            private_bytes(PEM, PrivateFormat.OpenSSH),
            "is in OpenSSH's own format: convert it by `ssh-keygen",
        ),
        "certificate": (
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "holds CERTIFICATE: give an RSA key",
        ),
        "PEM label without an end": (b"-----BEGIN ", "holds no PEM block: give an RSA key"),
        "empty": (b"", corrupt),
        "text": (b"this is no key\n", corrupt),
        "cut PEM": (pkcs8[: len(pkcs8) // 2], corrupt),
        "cut DER": (der[: len(der) // 2], corrupt),
        "wrong character in base64": (PUBLIC_KEY.public_bytes(PEM, SPKI).replace(b"M", b"!"), corrupt),
        "wrong bit in d": (wrong_d, corrupt),
        "public key with an even modulus": (
            rsa.PublicKey(2 * N, E).save_pkcs1(),
            f"holds a wrong key: RSA modulus {2 * N}: give a product",
        ),
    }


BROKEN_FILES = broken_files()


@parametrize("data, words", BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_file_without_a_usable_key_is_refused(data, words, tmp_path):
    path = tmp_path / "broken.key"
    path.write_bytes(data)
    with refused(rf"key file {re.escape(str(path))} {words}"):
        RSAKey.load(path)
    with refused(f"the RSA key {words}"):
        RSAKey.from_bytes(data)


def test_a_missing_file_is_refused(tmp_path):
    with refused(r"none\.pem cannot be read: No such file or directory; give a file"):
        RSAKey.load(tmp_path / "none.pem")
    with refused(rf"{re.escape(str(tmp_path))} cannot be read: Is a directory; give a file"):
        RSAKey.load(tmp_path)
