"""Exhaustive operands and expected results of units with streams.

ANSWERS has an entry for each class. A unit of few bits is run on all its operands (stream_checks.py), and the
results are judged by numpy's multiplication and remainder, not by a model of the unit. The conditions on
operands are stated once, as expressions that are valid in Python and in SystemVerilog, so that simulation and
proof have the same operands. If a unit has too many, a narrower one is run in its place; the check is named
after the unit that is run.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymtl3 import Component

from ....fl.multipliers.scaled import ScaledShape
from ....rtl.mod_exp.fixed_mod_exp import Remainder
from ....rtl.sim.ports import Message, Ports
from ....rtl.units.direct_mul import DirectMul
from ....rtl.units.div_rem import AlignedDivRem, DivRem
from ....rtl.units.heap.heap_mont import HeapMont
from ....rtl.units.mm_mul import MMMul
from ....rtl.units.mm_red import MMRed
from ....rtl.units.mod_double import ModDouble
from ....rtl.units.mod_halve import ModHalve
from ....rtl.units.mont_mul_rem import MontMulRem
from ....rtl.units.mul_rem import MulRem
from ....rtl.units.multiplier import Multiplier
from ....rtl.units.pseudo_mul import PseudoMul, PseudoReduce, PseudoSquare
from ....rtl.units.scaled.scaled_setup import ConvertKind, ScaledSetup
from ....rtl.units.shift_sub import ShiftSub
from ....rtl.units.shift_sub_carry_save import ShiftSubCarrySave
from ....rtl.units.square_of_r import SquareOfR
from ....rtl.units.systolic.scaled_array import ScaledArray
from ....rtl.units.systolic.systolic_array import SystolicArray
from .ports import arguments, width
from .wrappers import ArrayStream, SetupStream

Words = NDArray[np.int64]
Fields = tuple[Words, ...]
Statics = dict[str, int]
# gets the fields of requests, those of their answers, and the modulus if it is a static port
Right = Callable[..., NDArray[np.bool_]]

ALONE = "request"  # name of a request without fields
AT_ONCE = 1 << 20  # most operands of a sweep
DIVIDENDS = 24  # most bits of dividend and divisor together that are run
# bits of a digit, and of operands and modulus together, of the stand-in of a unit on a scaled modulus
SMALL_DIGIT, SMALL_NBITS = 4, 22
SMALL_ARRAY = 2, 4  # bits of a word, and words


@dataclass(frozen=True)
class Sweep:
    """The requests under one value of the static ports, each field as a vector."""

    statics: Statics
    fields: Fields

    def __len__(self) -> int:
        return len(self.fields[0])


@dataclass(frozen=True)
class Answers:
    """The expected answer, and conditions on requests and static ports as expressions in Python and
    SystemVerilog.

    below: upper bounds of some fields and static ports. parts: names of the chained units that it consists
    of. stand_in: a narrower unit, or one with streams around it, that is run in its place; mutants are
    planted in its module `inner`. constant: every answer takes the same number of cycles, which is `cycles`
    unless that is 0.
    """

    says: str
    right: Right
    given: tuple[str, ...] = ()
    below: Mapping[str, int] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    stand_in: Component | None = None
    inner: str = ""
    constant: bool = False
    cycles: int = 0

    def in_constant_time(self, cycles: int) -> "Answers":
        """The same with the latency that the unit's timing promises; the latency of a stand-in differs."""
        if self.stand_in is not None:
            return replace(self, constant=True, says=f"{self.says}; in the same number of cycles")
        return replace(self, constant=True, cycles=cycles, says=f"{self.says}; in {cycles} cycles")

    @property
    def conditions(self) -> tuple[str, ...]:
        return (*(f"{name} < {bound}" for name, bound in self.below.items()), *self.given)

    @property
    def names(self) -> frozenset[str]:
        """The names in the conditions."""
        told = (compile(condition, "condition", "eval").co_names for condition in self.conditions)
        return frozenset(itertools.chain.from_iterable(told))

    def listed(self, ports: Ports) -> int:
        """The number of combinations of values that `sweeps` tests."""
        return math.prod(len(words) for of in self._words(ports) for words in of.values())

    def sweeps(self, ports: Ports) -> Iterator[Sweep]:
        """All values of the fields and static ports that meet the conditions."""
        asked, held = self._words(ports)
        first, *others = asked.values()
        step = max(1, AT_ONCE // math.prod(map(len, others)))
        codes = [compile(condition, "condition", "eval") for condition in self.conditions]
        of_fields = [code for code in codes if asked.keys() & set(code.co_names)]
        for values in itertools.product(*held.values()):
            statics = dict(zip(held, values, strict=True))
            if not all(eval(code, {}, statics) for code in codes if code not in of_fields):
                continue
            for at in range(0, len(first), step):
                grid = np.meshgrid(np.array(first[at : at + step]), *map(np.array, others), indexing="ij")
                words = dict(zip(asked, (item.ravel() for item in grid), strict=True))
                meets = np.ones(grid[0].size, np.bool_)
                for code in of_fields:
                    meets &= eval(code, {}, statics | words)
                if meets.any():
                    yield Sweep(statics, tuple(word[meets] for word in words.values()))

    def _words(self, ports: Ports) -> list[dict[str, range]]:
        """The ranges of the request's fields, and those of static ports."""
        statics = {name: kind.nbits for name, kind in ports.statics}
        return [
            {name: range(self.below.get(name, 1 << nbits)) for name, nbits in of.items()}
            for of in (fields(ports.request), statics)
        ]


def fields(message: Message, alone: str = ALONE) -> dict[str, int]:
    """The fields of a message with their widths; a message without fields is one field named `alone`."""
    return dict(message.fields) or {alone: message.nbits}


ODD = "(modulus & 1) == 1"


def _montgomery(r: int, bound: int = 1) -> Right:
    """The result is a * b / r modulo n, and below bound * n."""

    return lambda a, b, p, n: (p < bound * n) & (p * (r % n) % n == a * b % n)


def _reduced(unit: Component, operands: str, *given: str) -> Answers:
    """A Montgomery product below an odd modulus."""
    nbits = width(unit.modulus)
    says = f"p = a b / 2^{nbits} mod n, for {operands}, n odd"
    return Answers(says, _montgomery(1 << nbits), (ODD, "modulus > 1", *given))


def _mm_mul(unit: Component) -> Answers:
    nbits = width(unit.modulus)
    if arguments(unit)["subtracts"]:
        return _reduced(unit, "a < n, any b", "a < modulus")
    return Answers(
        f"p = a b / 2^{nbits + 1} mod n below 2n, for a, b < 2n, n odd of {nbits - 1} bits",
        _montgomery(2 << nbits, 2),
        (ODD, "a < 2 * modulus", "b < 2 * modulus"),
        {"modulus": 1 << nbits - 1},
    )


BELOW = ("a < modulus", "b < modulus")
MODULAR = Answers("p = a b mod n, for a, b < n", lambda a, b, p, n: p == a * b % n, BELOW)
PRODUCT = Answers("p = a b", lambda a, b, p, _: p == a * b)


def _div_rem(unit: Component) -> Answers:
    given = arguments(unit)
    nbits, dbits = given["nbits"], given["dbits"]
    if nbits + dbits > DIVIDENDS:
        fewer = {"nbits": 2 * DIVIDENDS // 3, "dbits": DIVIDENDS // 3}
        stand_in = type(unit)(**(given | fewer))
        stand_in.elaborate()
        return replace(_div_rem(stand_in), stand_in=stand_in)

    def right(a: Words, d: Words, q: Words, r: Words, _: int) -> NDArray[np.bool_]:
        by_zero = (q == (1 << nbits) - 1) & (r == a % (1 << dbits))
        return np.where(d == 0, by_zero, (q * d + r == a) & (r < d))

    return Answers("a = q d + r, r < d; for d = 0 as RISC-V has it", right)


def _mod_double(unit: Component) -> Answers:
    factor = arguments(unit)["doublings"]
    return Answers(
        f"x 2^{factor} mod n, for x < n",
        lambda x, p, n: p == x * pow(2, factor, n) % n,
        ("request < modulus",),
    )


def _mod_halve(unit: Component) -> Answers:
    halvings = arguments(unit)["halvings"]

    def right(x: Words, p: Words, n: int) -> NDArray[np.bool_]:
        return (
            (p % n * pow(2, halvings, n) % n == x % n)
            & (p <= (x >> halvings) + n)
            & ((x == 0) | (x >= n) | (p < n))
        )

    says = f"x / 2^{halvings} mod n, at most x / 2^{halvings} + n, and below n for 0 < x < n; n odd"
    return Answers(says, right, (ODD,))


def _square_of_r(unit: Component) -> Answers:
    nbits = arguments(unit)["nbits"]
    return Answers("R^2 mod n", lambda _, p, n: p == pow(2, 2 * nbits, n), ("modulus > 0",))


def _fixed(unit: Component) -> Answers:
    """The answers of a unit with a built-in modulus."""
    m = arguments(unit)["modulus"]
    operation = getattr(unit, "OPERATION", "multiply" if isinstance(unit, DirectMul) else "reduce")
    rights: dict[str, tuple[str, Right]] = {
        "multiply": ("a b", lambda a, b, p, _: p == a * b % m),
        "square": ("a a", lambda a, p, _: p == a * a % m),
        "reduce": ("a", lambda a, p, _: p == a % m),
    }
    said, right = rights[operation]
    return Answers(f"p = {said} mod {m}", right)


# ---- on a scaled modulus M, a multiple of N by less than 2^v with M = -1 modulo 2^v; the static port has
# M' = (M + 1) / 2^v


def _scaled(nbits: int, v: int, wide: int) -> Answers:
    most = (((1 << v) - 1) * ((1 << nbits) - 1) + 1) >> v  # M'
    twice = 2 * ((most << v) - 1)

    def right(a: Words, b: Words, p: Words, m_prime: int) -> NDArray[np.bool_]:
        m = (m_prime << v) - 1
        return (p < 2 * m) & (p * ((1 << wide) % m) % m == a * b % m)

    says = f"p = a b / 2^{wide} mod M, below 2M, for a, b < 2M, M = 2^{v} M' - 1"
    less = f"{2 << v} * modulus - 2"
    return Answers(
        says,
        right,
        ("modulus > 0", f"a < {less}", f"b < {less}"),
        {"modulus": most + 1, "a": twice, "b": twice},
    )


def _small(delay: int) -> ScaledShape:
    """The shape whose operands are all run."""
    ones = SMALL_DIGIT * (delay + 1)
    return ScaledShape((SMALL_NBITS - 2 * ones) // 3, SMALL_DIGIT, delay)


def _heap_mont(unit: Component) -> Answers:
    given = arguments(unit)
    shape = _small(given["quotient_delay"])
    stand_in = type(unit)(**(given | {"nbits": shape.nbits, "digit_nbits": shape.digit_nbits}))
    return replace(_scaled(shape.nbits, shape.scale_nbits, shape.wide), stand_in=stand_in)


def _scaled_array(unit: Component) -> Answers:
    k, nwords = SMALL_ARRAY
    said = _scaled(k * (nwords - 1) - 2, k, k * nwords)
    return replace(said, stand_in=ArrayStream(ScaledArray, k, nwords), inner=type(unit).__name__)


def _systolic_array(unit: Component) -> Answers:
    k, nwords = SMALL_ARRAY
    return Answers(
        f"p = a b / 2^{k * nwords} mod m, below 2m, for a, b < 2m, m odd of {k * nwords - 2} bits",
        _montgomery(1 << k * nwords, 2),
        (ODD, f"((modulus * n_prime + 1) & {(1 << k) - 1}) == 0", "a < 2 * modulus", "b < 2 * modulus"),
        {"modulus": 1 << k * nwords - 2},
        stand_in=ArrayStream(SystolicArray, k, nwords),
        inner=type(unit).__name__,
    )


def _scaled_setup(unit: Component) -> Answers:
    entry = arguments(unit)["entry"]
    entry = replace(entry, shape=replace(entry.shape, nbits=SMALL_DIGIT))
    scale, double, _, clear = ConvertKind
    top, v = entry.word_nbits - 1, entry.shape.scale_nbits

    def right(kind: Words, x: Words, m_prime: Words, p: Words, n: int) -> NDArray[np.bool_]:
        high = n << top - n.bit_length()
        # the power of 2 that is doubled is N' itself for N = 1
        started = (p <= high) & (p % high == pow(2, entry.first_nbits + entry.chain.doublings, high))
        made = (m_prime <= n) & ((m_prime << v) % n == 1 % n)
        doubled = (x >= high) | (p == (x << entry.doublings_per_cycle) % high)
        halved = (x >= n << entry.halvings) | (p < n) & (p * pow(2, entry.halvings, n) % n == x % n)
        return np.select([kind == scale, kind == double], [started & made, doubled], halved)

    return Answers(
        f"N' = N 2^i of {top} bits: 2^{entry.first_nbits + entry.chain.doublings} mod N' and M' = 2^-{v} "
        "mod N; "
        f"{1 << entry.doublings_per_cycle} x mod N' for x < N'; x / 2^{entry.halvings} mod N for x < "
        f"2^{entry.halvings} N; N odd",
        right,
        (ODD,),
        {"kind": clear},
        stand_in=SetupStream(entry),
        inner=type(unit).__name__,
    )


ANSWERS: Mapping[type[Component], Callable[[Any], Answers]] = {
    MontMulRem: lambda unit: _reduced(unit, "any a, b < n", "b < modulus"),
    MMMul: _mm_mul,
    MMRed: lambda unit: _reduced(unit, "a, b < n", *BELOW),
    MulRem: lambda _: replace(MODULAR, parts=("multiplier", "divider")),
    ShiftSub: lambda _: MODULAR,
    ShiftSubCarrySave: lambda _: MODULAR,
    HeapMont: _heap_mont,
    ScaledArray: _scaled_array,
    SystolicArray: _systolic_array,
    ScaledSetup: _scaled_setup,
    Multiplier: lambda _: PRODUCT,
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


def answers_of(unit: Component) -> Answers | None:
    """The answers of a unit by its class; None if they depend on more than a request and the modulus."""
    given = arguments(unit)
    known = type(unit) in ANSWERS and not (given.get("fits") or given.get("counted"))
    return ANSWERS[type(unit)](unit) if known else None
