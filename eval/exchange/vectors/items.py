"""Items of a vector file: exponentiations, products, and vectors that are neither.

A reader turns every vector of its file into exactly one item, so counts add up and nothing is dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ....fl.pkcs1 import Kind
from .encoding import Inapplicable
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


def private_power(name: str, base: int, key: Key, verdict: Verdict) -> ModExp:
    """base^d mod n, a private operation."""
    if key.d is None:
        raise Inapplicable("the group has no private exponent")
    return ModExp(name, base, key.d, key.n, None, verdict, key)
