"""Schedules: the modular products of an exponentiation, for every domain and machine.

A schedule plans before it multiplies. The plan depends only on the exponent and is a list of steps. A step is
a tuple of Op(dst, x, y), "register dst becomes x * y", whose products may run in parallel (all operands are
read before any register is written). Initial registers: "b" is the base, "r" and "one" are the domain's one.
Window tables are in "t2", "t3", ...: "t<i>" is the base to the i. `plan.result` names the result's register.

    plan = SCHEDULES["ladder"].plan(exp, nbits=32)         # no arithmetic: 4096 bits in milliseconds
    value = SCHEDULES["ladder"](base, exp, product, one)   # the same plan, computed with product(a, b)
    ...(..., trace=steps)                                  # and recorded: a list of tuples of Product

A schedule is defined by the loop that machines execute (schedule_loops.py), from which its plan is derived; a
custom schedule is one more entry with a loop.

Sources: right-to-left is paper 001, Algorithm 1; left-to-right (here started at the highest bit), fixed and
sliding window are Menezes, van Oorschot and Vanstone, Handbook of Applied Cryptography, Algorithms 14.79,
14.82 and 14.85; "always" is Coron, CHES 1999; the ladder is Montgomery's as in Joye and Yen, CHES 2002.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import BadInput, shown
from .ir import WINDOW, Fetch, Item, Keep, KeepEntry, Loop, Move, Pick, Repeat, Scan, Word
from .schedule_loops import (
    ALWAYS,
    FIXED_WINDOW,
    LADDER,
    LEFT_TO_RIGHT,
    RIGHT_TO_LEFT,
    SLIDING_WINDOW,
    LoopShape,
)

MAX_WINDOW = (
    16  # bits; a table of 2^16 entries exceeds any machine, and a wider one exhausts the memory of the host
)


class Op(NamedTuple):
    """A planned product: register dst becomes x * y."""

    dst: str
    x: str
    y: str


class Product(NamedTuple):
    """An executed product: an Op with its operand values a, b and its result p."""

    dst: str
    x: str
    y: str
    a: int
    b: int
    p: int


Step = tuple[Product, ...]


@dataclass(frozen=True)
class Plan:
    """The exact sequence of products for one exponent."""

    steps: list[tuple[Op, ...]]
    result: str = "r"

    @property
    def nproducts(self) -> int:
        """The number of products; the number of steps, where two may run in parallel, is len(plan.steps)."""
        return sum(map(len, self.steps))


@dataclass(frozen=True)
class Schedule:
    """One way of processing the bits of an exponent."""

    name: str
    loop: LoopShape  # what a machine executes
    multipliers: int  # the number of products of a step that run in parallel
    options: tuple[str, ...] = ()  # of "nbits" and "k"

    @property
    def windows(self) -> bool:
        """Whether it uses digits of several bits and a table of powers."""
        return "k" in self.options

    @property
    def full_scan(self) -> bool:
        """Whether it can scan leading zeros of the exponent."""
        return "nbits" in self.options

    @property
    def regular(self) -> bool:
        """Whether a 0 of the exponent takes the same products as a 1."""
        return not self.loop.sliding and not any(made.when for word in self._body for made in word.products)

    @property
    def steady(self) -> bool:
        """Whether a 0 takes as many steps as a 1: a product for a 1 only runs in parallel with another."""
        return not self.loop.sliding and all(
            not any(made.when for made in word.products)
            or (len(word.products) <= self.multipliers and not all(made.when for made in word.products))
            for word in self._body
        )

    @property
    def _body(self) -> list[Word]:
        """The microinstructions of the loop for one digit."""
        (loop,) = (item for item in self.loop.items(1, False, False) if isinstance(item, Loop))
        return [item.word if isinstance(item, Repeat) else item for item in loop.body]

    def plan(self, exp: int, *, nbits: int | None = None, k: int | None = None) -> Plan:
        """The products for `exp`; nbits: number of its bits to scan (default: its length), k: width of the
        window.
        """
        if exp < 0:
            raise BadInput(f"exponent {shown(exp)}: give 0 or more")
        given = {key: value for key, value in (("nbits", nbits), ("k", k)) if value is not None}
        for key in sorted(given.keys() - self.options):
            able = [schedule.name for schedule in SCHEDULES.values() if key in schedule.options]
            raise BadInput(
                f"schedule {self.name!r} has no option {key} = {given[key]}: leave it out, "
                f"or take one of {', '.join(able)}"
            )
        if nbits is not None and nbits < exp.bit_length():
            raise BadInput(
                f"exponent {shown(exp)} does not fit in the {nbits} bits that are scanned: "
                f"scan at least {exp.bit_length()}"
            )
        if k is not None and not 1 <= k <= MAX_WINDOW:
            raise BadInput(f"window of {k} bits: give 1 to {MAX_WINDOW}")
        scanned = exp.bit_length() if nbits is None else nbits
        if scanned == 0:
            return Plan([])
        loop = self.loop
        k = k or (best_sliding_window if loop.sliding else best_fixed_window)(scanned)
        planner = _Planner(loop.digit or loop.sliding)
        planner.carry_out(loop.items(k, False, False), _digits(loop, exp, scanned, k))
        steps = planner.steps
        if self.multipliers == 1:
            steps = [(op,) for step in steps for op in step]
        return Plan(steps, planner.held["r"])

    def __call__(
        self,
        base: int,
        exp: int,
        product: Callable[[int, int], int],
        one: int,
        *,
        nbits: int | None = None,
        k: int | None = None,
        trace: list[Step] | None = None,
    ) -> int:
        """base to the exp in the domain of `product` and `one`; every executed step is appended to
        `trace`.
        """
        return execute(self.plan(exp, nbits=nbits, k=k), base, product, one, trace)


def execute(
    plan: Plan, base: int, product: Callable[[int, int], int], one: int, trace: list[Step] | None = None
) -> int:
    """The result of a plan. Every step reads its operands, multiplies, then writes its registers."""
    held = {"b": base, "r": one, "one": one}
    for ops in plan.steps:
        step = tuple([Product(dst, x, y, held[x], held[y], product(held[x], held[y])) for dst, x, y in ops])
        for made in step:
            held[made.dst] = made.p
        if trace is not None:
            trace.append(step)
    return held[plan.result]


class _Digit(NamedTuple):
    """A digit of the exponent as a loop sees it: its lowest bit, its table entry, and its length."""

    bit: int
    entry: int = 0
    nbits: int = 1


def _digits(loop: LoopShape, exp: int, scanned: int, k: int) -> list[_Digit]:
    """The digits in the order of the loop."""
    if loop.right:
        return [_Digit(exp >> i & 1) for i in range(exp.bit_length())]
    bits = f"{exp:0{scanned}b}"
    if loop.digit:
        bits = bits.zfill(-(-scanned // k) * k)
        values = [int(bits[i : i + k], 2) for i in range(0, len(bits), k)]
        return [_Digit(value & 1, value, k) for value in values]
    digits = []
    while bits:
        # a 0, or with windows up to k bits that begin and end with a 1
        window = bits[:k].rstrip("0") if loop.sliding and bits[0] == "1" else bits[0]
        value = int(window, 2)
        digits.append(_Digit(value & 1, value >> 1, len(window)))
        bits = bits[len(window) :]
    return digits


@dataclass
class _Planner:
    """Symbolic execution of a loop with names in place of numbers: "t<i>" is the base to the i."""

    tabled: bool  # before the loop, when products compute the powers of a table
    steps: list[tuple[Op, ...]] = field(default_factory=list)
    held: dict[str, str] = field(init=False)  # register contents
    kept: dict[str | int, str] = field(default_factory=dict)  # contents of slots and table entries
    powers: dict[str, int] = field(default_factory=lambda: {"one": 0, "b": 1})

    def __post_init__(self) -> None:
        self.held = {"r": "one" if self.tabled else "r", "b": "b", "s": "s"}

    def carry_out(self, items: Iterable[Item], digits: list[_Digit]) -> None:
        """Execute items, one of which is the loop over the digits."""
        for item in items:
            if isinstance(item, Loop):
                self.tabled = False
                for place, digit in enumerate(digits):
                    for part in item.body if place or not item.first else item.first:
                        self._item(part, digit)
            else:
                self._item(item, digits[0])

    def _item(self, item: Word | Repeat, digit: _Digit) -> None:
        if isinstance(item, Repeat):
            last = digit.nbits if item.last == WINDOW else item.last
            for index in range(item.start, last + 1):
                self._word(item.word, digit, index)
        else:
            self._word(item, digit, item.start)

    def _word(self, word: Word, digit: _Digit, index: int) -> None:
        ops = []
        after: dict[str, str] = {}
        held, kept = self.held, self.kept
        for product, dst, x, y in word.made(digit.bit):
            op = Op(dst or "dummy", held[x], held[y])
            if self.tabled:
                exponent = self.powers[op.x] + self.powers[op.y]
                op = op._replace(dst=power(exponent))
                self.powers[op.dst] = exponent
            ops.append(op)
            after |= {name: op.dst for name in (dst, product.also) if name}
        if ops:
            self.steps.append(tuple(ops))
        for action in word.actions:
            match action:
                case Move(dst, src):
                    after[dst] = held[src]
                case Fetch(dst, slot):
                    after[dst] = kept[slot]
                case Scan() | Pick():
                    after["s"] = kept[digit.entry]
                case Keep(slot, src):
                    kept[slot] = held[src]
                case KeepEntry(src):
                    kept[index] = held[src]
        held |= after


def power(i: int) -> str:
    """The name of the register that holds the base to the i in a window schedule."""
    return {0: "one", 1: "b"}.get(i, f"t{i}")


def best_fixed_window(nbits: int) -> int:
    """The k with the fewest products for nbits: 2^k - 2 for the table, then k + 1 for each digit but the
    highest.
    """
    return min(range(1, MAX_WINDOW + 1), key=lambda k: (1 << k) - 2 + (-(-nbits // k) - 1) * (k + 1))


def best_sliding_window(nbits: int) -> int:
    """The k with the fewest products on average: 2^(k-1) for the table (none for k = 1), and a window every k
    + 1 bits.
    """
    return min(range(1, MAX_WINDOW + 1), key=lambda k: (1 << k - 1 if k > 1 else 0) + nbits / (k + 1))


SCHEDULES = {
    schedule.name: schedule
    for schedule in (
        Schedule("right-to-left-2", RIGHT_TO_LEFT, 2),
        Schedule("right-to-left-1", RIGHT_TO_LEFT, 1),
        Schedule("left-to-right", LEFT_TO_RIGHT, 1),
        Schedule("always", ALWAYS, 1, ("nbits",)),
        Schedule("ladder", LADDER, 2, ("nbits",)),
        Schedule("fixed-window", FIXED_WINDOW, 1, ("nbits", "k")),
        Schedule("sliding-window", SLIDING_WINDOW, 1, ("k",)),
    )
}
# one bit per step; closed formulas give their numbers of products
BINARY = ("right-to-left-2", "right-to-left-1", "left-to-right", "always", "ladder")
