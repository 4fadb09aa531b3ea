"""PKCS#1 v1.5 (RFC 8017, 7.2 and 9.2): an encoding of k bytes is 00, the block type, padding, 00, and the
message.

Type 2, for encryption, is padded with random non-zero bytes. Type 1, for signatures, is padded with FF; its
message is a DigestInfo. The padding has at least 8 bytes, so a message has at most k - 11. Numbers here are
those on which RSA operates: the first byte of an encoding is the most significant one.

A malformed encoding gives the same answer, without a message, whatever is wrong with it. A service that
decrypts for others must not even reveal that an encoding is malformed (Bleichenbacher, 1998): with
`fallback`, a message chosen by the caller (as in RFC 5246, 7.4.7.1) replaces a malformed encoding and a
message of another length, and the answer is good. Python is not constant-time; the hardware
(rtl/units/padding/pkcs1_unpad.py) is.
"""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from .errors import BadInput

FRAME = 3  # bytes around padding and message
LEAST_PADDING = 8
OVERHEAD = FRAME + LEAST_PADDING
NBYTES_MIN = OVERHEAD + 1


class Kind(IntEnum):
    """Block types."""

    SIGN = 1
    ENCRYPT = 2


class Padded(IntEnum):
    """Result of padding; there is an encoding only with OK."""

    OK = 0
    TOO_LONG = 1  # the message is too long
    NO_RANDOM = 2  # the source has failed its health test


class Opened(NamedTuple):
    """The content of an encoding."""

    good: bool
    length: int
    message: int


def nbytes_of(nbits: int) -> int:
    """The length in bytes of an encoding for a key of nbits bits; BadInput if the key is too short or not
    whole bytes.
    """
    if nbits % 8 or nbits // 8 < NBYTES_MIN:
        raise BadInput(
            f"{nbits} bits: PKCS#1 v1.5 takes keys of whole bytes, {NBYTES_MIN} or more; give a multiple of "
            f"8 from {8 * NBYTES_MIN} on"
        )
    return nbits // 8


def longest(nbytes: int) -> int:
    """The length in bytes of the longest message (paper 000, Equation 27)."""
    return nbytes - OVERHEAD


def pad(
    kind: Kind, length: int, message: int, nbytes: int, random: Iterator[int] | None = None
) -> tuple[Padded, int]:
    """Status and encoding of a message. Bytes of the message above `length` are ignored. `random` yields
    bytes, and stops when its source has failed.

    Padding is filled from its end: the first random byte is placed before the 00 of the message. Zero bytes
    are replaced by further ones.
    """
    if length > longest(nbytes):
        return Padded.TOO_LONG, 0
    em = message & (1 << 8 * length) - 1
    for place in range(length + 1, nbytes - 2):
        byte = 0xFF if kind is Kind.SIGN else next((value for value in random or () if value), None)
        if byte is None:
            return Padded.NO_RANDOM, 0
        em |= byte << 8 * place
    return Padded.OK, em | kind << 8 * (nbytes - 2)


def unpad(kind: Kind, em: int, nbytes: int, fallback: tuple[int, int] | None = None) -> Opened:
    """The message in an encoding. fallback: length and message that replace everything but a valid message of
    that length.
    """
    found = _open(kind, em.to_bytes(nbytes, "big"))
    if fallback is None:
        return found if found.good else Opened(False, 0, 0)
    length, other = fallback
    return Opened(True, length, found.message if found.good and found.length == length else other)


def _open(kind: Kind, em: bytes) -> Opened:
    end = em.find(0, 2)
    padding = em[2:end]
    good = em[:2] == bytes([0, kind]) and end >= 0 and len(padding) >= LEAST_PADDING
    if kind is Kind.SIGN:
        good = good and set(padding) <= {0xFF}
    return Opened(good, len(em) - end - 1, int.from_bytes(em[end + 1 :], "big"))
