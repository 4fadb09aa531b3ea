"""Tests of the encodings that judge vectors, against signatures and ciphertexts made by `cryptography`."""

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from modexlab.eval.exchange.vectors import encoding

from tests.harness import parametrize
from tests.keys import openssl_key

HASHES = {
    "SHA-1": hashes.SHA1(),
    "SHA-224": hashes.SHA224(),
    "SHA-256": hashes.SHA256(),
    "SHA-384": hashes.SHA384(),
    "SHA-512": hashes.SHA512(),
    "SHA-512/256": hashes.SHA512_256(),
    "SHA3-256": hashes.SHA3_256(),
}
MESSAGE = b"a message"


@pytest.fixture(scope="module", params=[1024, 1031])
def key(request):
    """With 1031 bits, neither the modulus nor the PSS block fills its bytes."""
    return openssl_key(request.param)


def public(key, signature):
    """(signature^e mod n, n)."""
    numbers = key.public_key().public_numbers()
    return pow(int.from_bytes(signature, "big"), numbers.e, numbers.n), numbers.n


def private(key, ciphertext):
    numbers = key.private_numbers()
    n = numbers.public_numbers.n
    return pow(int.from_bytes(ciphertext, "big"), numbers.d, n), (n.bit_length() + 7) // 8


@parametrize("name", HASHES)
def test_pkcs1_signature(key, name):
    sha = encoding.hash_name(name)
    value, n = public(key, key.sign(MESSAGE, padding.PKCS1v15(), HASHES[name]))
    em = encoding.pkcs1_encode(sha, MESSAGE, (n.bit_length() + 7) // 8)
    assert int.from_bytes(em, "big") == value


@parametrize("name", HASHES)
@parametrize("salt_len", [0, 20])
def test_pss_signature(key, name, salt_len):
    sha = encoding.hash_name(name)
    scheme = padding.PSS(mgf=padding.MGF1(HASHES[name]), salt_length=salt_len)
    value, n = public(key, key.sign(MESSAGE, scheme, HASHES[name]))

    def holds(value, *salt_len, message=MESSAGE):
        return encoding.pss_holds(sha, message, n.bit_length(), value, *salt_len)

    assert holds(value, salt_len)
    assert holds(value), "a salt of any length"
    assert not holds(value, salt_len + 1)
    assert not holds(value, salt_len, message=MESSAGE + b".")
    assert not holds(value ^ 1 << 300, salt_len)
    assert not holds(value ^ 1, salt_len), "the last byte is not bc"


def test_pss_encode_is_what_pss_holds_accepts(key):
    asked = "sha256", MESSAGE, key.key_size
    em = int.from_bytes(encoding.pss_encode(*asked, b"salt", "sha1"), "big")
    assert encoding.pss_holds(*asked, em, 4, "sha1")
    assert not encoding.pss_holds(*asked, em, 4, "sha256")
    assert encoding.pss_encode("sha512", MESSAGE, 1024, bytes(63)) is None, "the modulus is too short"


@parametrize("name, mgf", [("SHA-1", "SHA-1"), ("SHA-256", "SHA-1"), ("SHA-1", "SHA-512")])
@parametrize("label", [b"", b"label"])
def test_oaep(key, name, mgf, label):
    scheme = padding.OAEP(mgf=padding.MGF1(HASHES[mgf]), algorithm=HASHES[name], label=label)
    value, size = private(key, key.public_key().encrypt(b"secret", scheme))
    names = encoding.hash_name(name), encoding.hash_name(mgf)
    assert encoding.oaep_decode(*names, value, size, label) == b"secret"
    assert encoding.oaep_decode(*names, value, size, b"other") is None
    assert encoding.oaep_decode(*names, value ^ 1 << 100, size, label) is None


def test_pkcs1_decryption(key):
    value, size = private(key, key.public_key().encrypt(b"secret", padding.PKCS1v15()))
    assert encoding.pkcs1_decode(value, size) == b"secret"
    assert encoding.pkcs1_decode(value ^ 1 << 8 * (size - 2), size) is None, "block type 3"
    short = b"\0\2" + b"\x11" * 7 + b"\0" + bytes(size - 10)
    assert encoding.pkcs1_decode(int.from_bytes(short, "big"), size) is None, "less than 8 bytes of padding"
    endless = b"\0\2" + b"\x11" * (size - 2)
    assert encoding.pkcs1_decode(int.from_bytes(endless, "big"), size) is None, "no end of the padding"


@parametrize(
    "written, name",
    [
        ("SHA-1", "sha1"),
        ("SHA1", "sha1"),
        ("SHA256", "sha256"),
        ("SHA-512/256", "sha512_256"),
        ("SHA512/224", "sha512_224"),
        ("SHA3-384", "sha3_384"),
        ("SHAKE128", "shake_128"),
        ("SHAKE256", "shake_256"),
        ("SHA-3-224", "sha3_224"),
        ("SHA512-256", "sha512_256"),
        ("SHA-3.14", None),
        ("SHA-51-2", None),
        ("sha3-84", None),
        ("SHA-25/6", None),
        ("", None),
    ],
)
def test_hash_names(written, name):
    assert encoding.hash_name(written) == name


def test_shake_as_rfc_8702_has_it():
    assert len(encoding.digest("shake_128", b"")) == 32
    assert len(encoding.digest("shake_256", b"")) == 64
    em = encoding.pss_encode("shake_128", MESSAGE, 1024, bytes(32))
    assert encoding.pss_holds("shake_128", MESSAGE, 1024, int.from_bytes(em, "big"), 32)
