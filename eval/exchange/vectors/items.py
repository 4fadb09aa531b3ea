"""Items of a vector file: exponentiations, products, and vectors that are neither.

A reader turns every vector of its file into exactly one item, so counts add up and nothing is dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ....fl.pkcs1 import Kind
from . import encoding
from .encoding import OAEP, PKCS1, Inapplicable, Signed
from .numbers import Key


class Frame(NamedTuple):
    """A PKCS#1 v1.5 encoding of `nbytes` bytes."""

    kind: Kind
    nbytes: int


class Verdict(NamedTuple):
    """A second check besides the golden value: whether the result is a valid encoding (a padding, a
    signature).

    `holds` decides on the number that the hardware computed, `expect` is the verdict of the file (None if the
    file allows either), and `claim` describes the test. `frame` is set if the number is a PKCS#1 v1.5
    encoding, which the unpadding unit also decodes.
    """

    holds: Callable[[int], bool]
    expect: bool | None
    claim: str
    frame: Frame | None = None


@dataclass(frozen=True)
class ModExp:
    """base^exp mod `mod`, with the file's result, its verdict, or both. `key` is the key whose private
    exponent is `exp`.
    """

    name: str
    base: int
    exp: int
    mod: int
    expected: int | None = None
    verdict: Verdict | None = None
    key: Key | None = None

    def golden(self) -> int:
        return pow(self.base, self.exp, self.mod)


@dataclass(frozen=True)
class ModMul:
    """a * b mod `mod`, with the file's result."""

    name: str
    a: int
    b: int
    mod: int
    expected: int

    def golden(self) -> int:
        return self.a * self.b % self.mod


class NotApplicable(NamedTuple):
    """A vector that is neither an exponentiation nor a product, with the reason."""

    name: str
    reason: str


Item = ModExp | ModMul | NotApplicable


def item(name: str, make: Callable[[], Item]) -> Item:
    """The item that `make` returns, or NotApplicable with the reason that it raises."""
    try:
        return make()
    except Inapplicable as reason:
        return NotApplicable(name, str(reason))


def private_power(
    name: str, base: int, key: Key, expected: int | None, verdict: Verdict | None = None
) -> ModExp:
    """base^d mod n, a private operation."""
    if key.d is None:
        raise Inapplicable("the group has no private exponent")
    return ModExp(name, base, key.d, key.n, expected, verdict, key)


def verification(
    name: str, signed: Signed, signature: int, key: Key, expect: bool | None, result: str, *, valid: bool
) -> ModExp:
    """signature^e mod n, with the verdict of the signature scheme.

    valid: the signature is in range; result: the verdict as the file words it.
    """
    if key.e is None:
        raise Inapplicable("the group has no public exponent")
    claim = f"{signed.scheme} signature with {signed.written}: {result}"
    frame = Frame(Kind.SIGN, encoding.octets(key.n.bit_length())) if signed.scheme == PKCS1 else None
    verdict = Verdict(lambda number: valid and signed.holds(key.n, number), expect, claim, frame)
    return ModExp(name, signature, key.e, key.n, None, verdict)


def decryption(
    name: str,
    scheme: str,
    decode: Callable[[int, int], bytes | None],
    ciphertext: int,
    message: bytes,
    key: Key,
    expect: bool | None,
    claim: str,
    *,
    valid: bool = True,
) -> ModExp:
    """ciphertext^d mod n, from which the message is decoded. `decode` takes the number and its length in
    bytes.
    """
    size = encoding.octets(key.n.bit_length())
    frame = None if scheme == OAEP else Frame(Kind.ENCRYPT, size)
    verdict = Verdict(lambda number: valid and decode(number, size) == message, expect, claim, frame)
    return private_power(name, ciphertext, key, None, verdict)
