"""What units with streams answer: the operands that they take, all of them, and what is right.

ANSWERS has an entry for each class; a unit of few bits is run on every one of its operands (unit_checks.py). What is right is said by
multiplications and remainders of numpy, by no model of the unit. `given` is the same condition on operands, for a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymtl3 import Component

from ....rtl.machines.fixed_mod_exp import Remainder
from ....rtl.units.direct_mul import DirectMul
from ....rtl.units.div_rem import AlignedDivRem, DivRem
from ....rtl.units.mm_mul import MMMul
from ....rtl.units.mm_red import MMRed
from ....rtl.units.mod_double import ModDouble
from ....rtl.units.mod_halve import ModHalve
from ....rtl.units.mont_mul_rem import MontMulRem
from ....rtl.units.mul_rem import MulRem
from ....rtl.units.multiplier import Multiplier
from ....rtl.units.pseudo_mul import PseudoMul, PseudoReduce, PseudoSquare
from ....rtl.units.shift_sub import ShiftSub
from ....rtl.units.shift_sub_carry_save import ShiftSubCarrySave
from ....rtl.units.square_of_r import SquareOfR
from .ports import arguments, width

Words = NDArray[np.int64]
Fields = tuple[Words, ...]
Statics = dict[str, int]
Right = Callable[[Fields, Fields, Statics], NDArray[np.bool_]]  # of requests, answers and statics


@dataclass(frozen=True)
class Sweep:
    """The requests under one value of the static ports, each field as a vector."""

    statics: Statics
    fields: Fields

    def __len__(self) -> int:
        return len(self.fields[0])


@dataclass(frozen=True)
class Answers:
    """How many operands a unit takes, which they are, what is right, and the condition on a request in SystemVerilog."""

    says: str
    count: int
    sweeps: Callable[[], Iterator[Sweep]]
    right: Right
    given: tuple[str, ...] = ()


def _pairs(a: int, b: int) -> Fields:
    """All pairs below these."""
    return tuple(each.ravel() for each in np.meshgrid(np.arange(a), np.arange(b), indexing="ij"))


def _by_modulus(
    unit: Component, says: str, right: Right, *, odd: bool, whole: str = "", reduced: str = "b"
) -> Answers:
    """A product of two factors, of which `whole` may be any word and the others are below the modulus."""
    nbits = width(unit.modulus)
    moduli = range(3 if odd else 1, 1 << nbits, 2 if odd else 1)

    def sweeps() -> Iterator[Sweep]:
        for n in moduli:
            yield Sweep({"modulus": n}, _pairs(*(1 << nbits if each == whole else n for each in "ab")))

    field = {"a": f"request[{2 * nbits - 1}:{nbits}]", "b": f"request[{nbits - 1}:0]"}
    given = [f"{field[each]} < modulus" for each in "ab" if each != whole]
    if odd:
        given.append("modulus[0] && modulus > 1")
    half, top = 1 << nbits - 1, (1 << nbits) - 1  # odd moduli, and the largest of all
    if whole:
        count = (half * half - 1 if odd else top * (top + 1) // 2) << nbits
    else:
        count = (4 * half**3 - half) // 3 - 1 if odd else top * (top + 1) * (2 * top + 1) // 6
    return Answers(says, count, sweeps, right, tuple(given))


def _montgomery(r: int, bound: int = 1) -> Right:
    """a * b / r modulo n, below so many times n."""

    def right(request: Fields, answer: Fields, statics: Statics) -> NDArray[np.bool_]:
        (a, b), (p,), n = request, answer, statics["modulus"]
        return (p < bound * n) & (p * (r % n) % n == a * b % n)

    return right


def _product(request: Fields, answer: Fields, statics: Statics) -> NDArray[np.bool_]:
    return answer[0] == request[0] * request[1] % statics["modulus"]


def _mont_mul_rem(unit: Component) -> Answers | None:
    if arguments(unit)["fits"]:
        return None
    nbits = width(unit.modulus)
    says = f"p = a b / 2^{nbits} mod n, for any a, b < n, n odd"
    return _by_modulus(unit, says, _montgomery(1 << nbits), odd=True, whole="a")


def _mm_mul(unit: Component) -> Answers | None:
    if not arguments(unit)["subtracts"]:
        return None
    nbits = width(unit.modulus)
    return _by_modulus(
        unit,
        f"p = a b / 2^{nbits} mod n, for a < n, any b, n odd",
        _montgomery(1 << nbits),
        odd=True,
        whole="b",
    )


def _mm_red(unit: Component) -> Answers:
    nbits = width(unit.modulus)
    return _by_modulus(
        unit, f"p = a b / 2^{nbits} mod n, for a, b < n, n odd", _montgomery(1 << nbits), odd=True
    )


def _modular(unit: Component) -> Answers | None:
    if arguments(unit).get("fits"):
        return None
    return _by_modulus(unit, "p = a b mod n, for a, b < n", _product, odd=False)


def _multiplier(unit: Component) -> Answers:
    nbits = arguments(unit)["nbits"]

    def right(request: Fields, answer: Fields, _: Statics) -> NDArray[np.bool_]:
        return answer[0] == request[0] * request[1]

    return Answers(
        "p = a b", 1 << 2 * nbits, lambda: iter([Sweep({}, _pairs(1 << nbits, 1 << nbits))]), right
    )


def _div_rem(unit: Component) -> Answers | None:
    given = arguments(unit)
    if given.get("fits"):
        return None
    nbits, dbits = given["nbits"], given["dbits"]

    def sweeps() -> Iterator[Sweep]:
        for top in range(0, 1 << nbits, 1 << min(nbits, 12)):
            dividends, divisors = _pairs(1 << min(nbits, 12), 1 << dbits)
            yield Sweep({}, (dividends + top, divisors))

    def right(request: Fields, answer: Fields, _: Statics) -> NDArray[np.bool_]:
        (a, d), (q, r) = request, answer
        by_zero = (q == (1 << nbits) - 1) & (r == a % (1 << dbits))
        return np.where(d == 0, by_zero, (q * d + r == a) & (r < d))

    return Answers("a = q d + r, r < d; for d = 0 as RISC-V has it", 1 << nbits + dbits, sweeps, right)


def _one_word(nbits: int, below: int = 0) -> Words:
    return np.arange(below or 1 << nbits)


def _mod_double(unit: Component) -> Answers | None:
    given = arguments(unit)
    if given["counted"]:
        return None
    nbits, factor = given["nbits"], given["doublings"]

    def right(request: Fields, answer: Fields, statics: Statics) -> NDArray[np.bool_]:
        n = statics["modulus"]
        return answer[0] == request[0] * pow(2, factor, n) % n

    return Answers(
        f"x 2^{factor} mod n, for x < n",
        (1 << nbits) * ((1 << nbits) - 1) // 2,
        lambda: (Sweep({"modulus": n}, (_one_word(nbits, n),)) for n in range(1, 1 << nbits)),
        right,
        ("request < modulus",),
    )


def _mod_halve(unit: Component) -> Answers | None:
    given = arguments(unit)
    if given["counted"]:
        return None
    nbits, value_nbits, halvings = given["nbits"], given["value_nbits"], given["halvings"]

    def right(request: Fields, answer: Fields, statics: Statics) -> NDArray[np.bool_]:
        (x,), (p,), n = request, answer, statics["modulus"]
        return (
            (p % n * pow(2, halvings, n) % n == x % n)
            & (p <= (x >> halvings) + n)
            & ((x == 0) | (x >= n) | (p < n))
        )

    return Answers(
        f"x / 2^{halvings} mod n, at most x / 2^{halvings} + n, and below n for 0 < x < n; n odd",
        1 << nbits - 1 + value_nbits,
        lambda: (Sweep({"modulus": n}, (_one_word(value_nbits),)) for n in range(1, 1 << nbits, 2)),
        right,
        ("modulus[0]",),
    )


def _square_of_r(unit: Component) -> Answers:
    nbits = arguments(unit)["nbits"]

    def right(request: Fields, answer: Fields, statics: Statics) -> NDArray[np.bool_]:
        return answer[0] == pow(2, 2 * nbits, statics["modulus"])

    return Answers(
        "R^2 mod n",
        (1 << nbits) - 1,
        lambda: (Sweep({"modulus": n}, (np.zeros(1, np.int64),)) for n in range(1, 1 << nbits)),
        right,
        ("modulus != 0",),
    )


def _fixed(unit: Component) -> Answers:
    """Of one modulus, which the hardware has in it."""
    given = arguments(unit)
    nbits, m = given["nbits"], given["modulus"]
    operation = getattr(unit, "OPERATION", "multiply" if isinstance(unit, DirectMul) else "reduce")
    two = operation == "multiply"

    def right(request: Fields, answer: Fields, _: Statics) -> NDArray[np.bool_]:
        x = request[0]
        value = x * request[1] if two else x * x if operation == "square" else x
        return answer[0] == value % m

    def sweeps() -> Iterator[Sweep]:
        yield Sweep({}, _pairs(1 << nbits, 1 << nbits) if two else (_one_word(nbits),))

    said = {"multiply": "a b", "square": "a a", "reduce": "a"}[operation]
    return Answers(f"p = {said} mod {m}", 1 << (2 * nbits if two else nbits), sweeps, right)


ANSWERS: Mapping[type[Component], Callable[[Any], Answers | None]] = {
    MontMulRem: _mont_mul_rem,
    MMMul: _mm_mul,
    MMRed: _mm_red,
    MulRem: _modular,
    ShiftSub: _modular,
    ShiftSubCarrySave: _modular,
    Multiplier: _multiplier,
    DivRem: _div_rem,
    AlignedDivRem: _div_rem,
    ModDouble: _mod_double,
    ModHalve: _mod_halve,
    SquareOfR: _square_of_r,
    PseudoMul: _fixed,
    PseudoSquare: _fixed,
    PseudoReduce: _fixed,
    DirectMul: _fixed,
    Remainder: _fixed,
}
