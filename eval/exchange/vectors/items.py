"""Items of a vector file: exponentiations, products, and vectors that are neither.

A reader turns every vector of its file into exactly one of these: counts add up and nothing is dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ....fl.pkcs1 import Kind
from . import encoding
from .encoding import OAEP, PKCS1, Inapplicable, Signed
from .numbers import Key


class Frame(NamedTuple):
    """A PKCS#1 v1.5 encoding of so many bytes."""

    kind: Kind
    nbytes: int


class Verdict(NamedTuple):
    """A second judge beside the golden value: what an encoding (a padding, a signature) makes of the result.

    `holds` decides on the number that the hardware computed, `expect` is the file's own word on it (None
    where the file allows either), and `claim` says in words what was asked. `frame` says that the number is
    an encoding of PKCS#1 v1.5, which the unit for unpadding opens as well.
    """

    holds: Callable[[int], bool]
    expect: bool | None
    claim: str
    frame: Frame | None = None


@dataclass(frozen=True)
class ModExp:
    """base^exp mod `mod`, with the file's result, or its verdict, or both; `key`: of which `exp` is the
    private exponent.
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
    """A vector that asks for something which is neither, with the reason."""

    name: str
    reason: str


Item = ModExp | ModMul | NotApplicable


def item(name: str, make: Callable[[], Item]) -> Item:
    """The item that `make` returns, or the reason why there is none."""
    try:
        return make()
    except Inapplicable as reason:
        return NotApplicable(name, str(reason))


def private_power(
    name: str, base: int, key: Key, expected: int | None, verdict: Verdict | None = None
) -> ModExp:
    """base^d mod n."""
    if key.d is None:
        raise Inapplicable("the group has no private exponent")
    return ModExp(name, base, key.d, key.n, expected, verdict, key)


def verification(
    name: str, signed: Signed, signature: int, key: Key, expect: bool | None, result: str, *, valid: bool
) -> ModExp:
    """signature^e mod n, and what the scheme says of it; `valid`: the signature is a number that it may be.

    result: the file's own word.
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
    """ciphertext^d mod n, from which the message is decoded; decode: by the number and its bytes."""
    size = encoding.octets(key.n.bit_length())
    frame = None if scheme == OAEP else Frame(Kind.ENCRYPT, size)
    verdict = Verdict(lambda number: valid and decode(number, size) == message, expect, claim, frame)
    return private_power(name, ciphertext, key, None, verdict)
