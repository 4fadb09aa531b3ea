"""Items of a vector file: exponentiations, products, and vectors that contain neither.

A reader turns every vector of its file into exactly one of these: counts add up and nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ....fl.pkcs1 import Kind
from .numbers import Key


@dataclass(frozen=True)
class Frame:
    """A PKCS#1 v1.5 encoding of so many bytes."""

    kind: Kind
    nbytes: int


@dataclass(frozen=True)
class Verdict:
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


@dataclass(frozen=True)
class NotApplicable:
    """A vector that asks for something which is neither, with the reason."""

    name: str
    reason: str


Item = ModExp | ModMul | NotApplicable
