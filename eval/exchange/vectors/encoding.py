"""RSA encodings, which decide whether base^exp mod n is a valid signature or ciphertext.

PKCS#1 v1.5, PSS and OAEP follow RFC 8017 (sections 7.1, 7.2, 8, 9), PSS with SHAKE follows RFC 8702. They are
written in plain Python on `hashlib`, so that the verdict on a vector depends on no library that could share a
mistake with ours. Nothing here is constant time, nor needs to be: all inputs are published test vectors.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

PKCS1, PSS, OAEP = "PKCS#1 v1.5", "PSS", "OAEP"

# DER prefixes of DigestInfo: SEQUENCE { SEQUENCE { OID, NULL }, OCTET STRING }, RFC 8017 section 9.2 note 1
_NIST_HASHES = (  # 2.16.840.1.101.3.4.2.x, x from 1
    "sha256",
    "sha384",
    "sha512",
    "sha224",
    "sha512_224",
    "sha512_256",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
)
_OIDS = {
    "md5": bytes.fromhex("2a864886f70d0205"),
    "sha1": bytes.fromhex("2b0e03021a"),
    **{name: bytes.fromhex("6086480165030402") + bytes([arc]) for arc, name in enumerate(_NIST_HASHES, 1)},
}
_SHAKE_BYTES = {"shake_128": 32, "shake_256": 64}  # the output length of SHAKE as a hash in RFC 8702


class Inapplicable(Exception):
    """A vector needs something that is not available; the message is the reason."""


def hash_name(text: str) -> str | None:
    """`hashlib`'s name for the spellings in vector files (SHA-256, SHA512/256, SHA3-224), or None if
    `hashlib` lacks the hash.
    """
    name = text.strip().lower().replace("/", "_")
    name = name.replace("sha3-", "sha3_").replace("sha-3-", "sha3_").replace("sha-", "sha")
    name = name.replace("sha512-", "sha512_").replace("shake-", "shake").replace("shake1", "shake_1")
    name = name.replace("shake2", "shake_2")
    if name not in hashlib.algorithms_available:
        return None
    try:
        hashlib.new(name)
    except ValueError:  # known to OpenSSL, but disabled
        return None
    return name


def hash_of(written: str, scheme: str = "") -> str:
    """`hash_name` of a hash; raises Inapplicable without one, or if the scheme does not define signatures
    with it.
    """
    name = hash_name(written)
    if name is None:
        raise Inapplicable(f"the hash {written or '(none given)'} is not available in this Python")
    if scheme == PKCS1 and name not in _OIDS:
        raise Inapplicable(f"{scheme} with {written} is not defined")
    return name


def digest(name: str, data: bytes) -> bytes:
    """The hash of `data`; the output of SHAKE has the length of RFC 8702."""
    state: Any = hashlib.new(name, data)  # a SHAKE takes a length
    return state.digest(_SHAKE_BYTES[name]) if name in _SHAKE_BYTES else state.digest()


def mask(name: str, seed: bytes, length: int) -> bytes:
    """MGF1 with the hash `name` (RFC 8017 B.2.1); for SHAKE its own output, as RFC 8702 defines."""
    if name in _SHAKE_BYTES:
        shake: Any = hashlib.new(name, seed)
        return shake.digest(length)
    blocks = range(-(-length // len(digest(name, b""))))
    return b"".join(digest(name, seed + block.to_bytes(4, "big")) for block in blocks)[:length]


def octets(nbits: int) -> int:
    """The number of bytes that hold `nbits` bits."""
    return (nbits + 7) // 8


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


def pkcs1_encode(name: str, message: bytes, nbytes: int) -> bytes | None:
    """EMSA-PKCS1-v1_5 for a modulus of `nbytes`, or None if it is too short or the hash has no identifier."""
    if name not in _OIDS:
        return None
    oid = _OIDS[name]
    value = digest(name, message)
    algorithm = bytes([0x30, len(oid) + 4, 0x06, len(oid)]) + oid + b"\x05\x00"
    info = algorithm + bytes([0x04, len(value)]) + value
    info = bytes([0x30, len(info)]) + info
    if nbytes < len(info) + 11:
        return None
    return b"\x00\x01" + b"\xff" * (nbytes - len(info) - 3) + b"\x00" + info


def pss_encode(name: str, message: bytes, nbits: int, salt: bytes, mgf: str | None = None) -> bytes | None:
    """EMSA-PSS for a modulus of `nbits`, or None if the modulus is too short."""
    em_bits = nbits - 1
    em_len, size = octets(em_bits), len(digest(name, b""))
    if em_len < size + len(salt) + 2:
        return None
    inner = digest(name, bytes(8) + digest(name, message) + salt)
    block = bytes(em_len - len(salt) - size - 2) + b"\x01" + salt
    block = _xor(block, mask(mgf or name, inner, len(block)))
    block = bytes([block[0] & (0xFF >> (8 * em_len - em_bits))]) + block[1:]
    return block + inner + b"\xbc"


def pss_holds(
    name: str, message: bytes, nbits: int, value: int, salt_len: int | None = None, mgf: str | None = None
) -> bool:
    """Whether `value` = signature^e mod n is a PSS encoding of `message`; salt_len None allows any salt."""
    em_bits = nbits - 1
    em_len, size = octets(em_bits), len(digest(name, b""))
    if value >> (8 * em_len) or em_len < size + 2:
        return False
    em = value.to_bytes(em_len, "big")
    masked, inner = em[: em_len - size - 1], em[em_len - size - 1 : -1]
    block = _xor(masked, mask(mgf or name, inner, len(masked)))
    _, one, salt = bytes([block[0] & (0xFF >> (8 * em_len - em_bits)), *block[1:]]).partition(b"\x01")
    fits = one and salt_len in (None, len(salt))
    return bool(fits) and em == pss_encode(name, message, nbits, salt, mgf)


def oaep_decode(name: str, mgf: str, value: int, nbytes: int, label: bytes = b"") -> bytes | None:
    """EME-OAEP decoding of `value` = ciphertext^d mod n, or None if the padding is wrong."""
    size = len(digest(name, b""))
    if nbytes < 2 * size + 2 or value >> (8 * nbytes):
        return None
    em = value.to_bytes(nbytes, "big")
    seed = _xor(em[1 : 1 + size], mask(mgf, em[1 + size :], size))
    block = _xor(em[1 + size :], mask(mgf, seed, nbytes - size - 1))
    rest = block[size:]
    start = rest.find(b"\x01")
    if em[0] or block[:size] != digest(name, label) or start < 0 or any(rest[:start]):
        return None
    return rest[start + 1 :]


def pkcs1_decode(value: int, nbytes: int, kind: int = 2) -> bytes | None:
    """The message of a PKCS#1 v1.5 encoding of type 2 (`value` = ciphertext^d mod n) or 1, or None if the
    padding is wrong.
    """
    if value >> (8 * nbytes):
        return None
    em = value.to_bytes(nbytes, "big")
    end = em.find(b"\x00", 2)
    if em[:2] != bytes([0, kind]) or end < 10 or (kind == 1 and em[2:end].strip(b"\xff")):
        return None
    return em[end + 1 :]


@dataclass(frozen=True)
class Signed:
    """A message and the parameters of its signature."""

    scheme: str
    written: str  # the hash as the file spells it
    message: bytes
    salt_len: int | None = None  # for PSS; None: any
    mgf: str | None = None  # the hash of the mask, if it differs

    def __post_init__(self) -> None:
        """Raise Inapplicable if the hash is not available."""
        _ = self.sha

    @cached_property
    def sha(self) -> str:
        return hash_of(self.written, self.scheme)

    def encoded(self, n: int) -> int | None:
        """The PKCS#1 v1.5 encoding of the message, or None if the modulus is too short."""
        em = pkcs1_encode(self.sha, self.message, octets(n.bit_length()))
        return None if em is None else int.from_bytes(em, "big")

    def holds(self, n: int, value: int) -> bool:
        """Whether `value` = signature^e mod n is the encoded message."""
        if self.scheme == PSS:
            return pss_holds(self.sha, self.message, n.bit_length(), value, self.salt_len, self.mgf)
        return value == self.encoded(n)
