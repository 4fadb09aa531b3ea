"""Loops of schedules as program items (ir.py): the microinstructions for each digit of the exponent.

r is the result, b the base. When a loop starts, r holds 1 and b the base, in the domain of the multiplier; it
leaves the result in r. A LoopShape describes its other requirements. schedules.py lists the schedules, with
the products that each loop must compute.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from .ir import (
    WINDOW,
    Choice,
    Fetch,
    Item,
    Keep,
    KeepEntry,
    Loop,
    Move,
    Pick,
    Product,
    Repeat,
    Scan,
    word,
)

Items = tuple[Item, ...]


@dataclass(frozen=True)
class LoopShape:
    """The loop of a schedule. plain_result: r starts as 1 and ends outside Montgomery form, as only b is in
    it.
    """

    # arguments: bits of the window, whether it aligns, whether the base is reduced first
    items: Callable[[int, bool, bool], Items]
    digit: bool = False  # it uses a table and digits of several bits
    sliding: bool = False  # it uses a table of odd powers and windows
    plain_result: bool = False
    right: bool = False


SQUARE = Product("r", "r", "r")
TIMES = Product("r", "r", "b")


# r * b for a 1, b * b for each bit
RIGHT_STEP = word(replace(TIMES, when=True), Product("b", "b", "b"))


def right_to_left(window: int, aligns: bool, reduces: bool) -> Items:
    """A step for each bit."""
    return (Loop((RIGHT_STEP,), right=True),)


# the same in series on one unit; for a 0 the first microinstruction has no product
BIT_BY_BIT = (Loop((word(replace(TIMES, when=True)), word(Product("b", "b", "b"))), right=True),)


def left_to_right(window: int, aligns: bool, reduces: bool) -> Items:
    """r * r for each bit below the highest 1, r * b for each 1 among them."""
    top = word(replace(TIMES, also="b")) if reduces else word(Move("r", "b"))
    body = (word(SQUARE), word(replace(TIMES, when=True)))
    return (Loop(body, first=(top,), aligns=aligns),)


def always(window: int, aligns: bool, reduces: bool) -> Items:
    """r * r and r * b for each bit; for a 0 the second is discarded."""
    return (Loop((word(SQUARE), word(replace(TIMES, dst=Choice("r", "")))), aligns=aligns),)


def ladder(window: int, aligns: bool, reduces: bool) -> Items:
    """r * b, and the square of b for a 1 or of r for a 0; b stays r times the base."""
    low, high = Choice("r", "b"), Choice("b", "r")
    return (Loop((word(Product(low, "r", "b"), Product(high, high, high)),), aligns=aligns),)


def fixed_window(window: int, aligns: bool, reduces: bool) -> Items:
    """For each digit of k bits, k squares and a product with its table entry; all entries are read."""
    most = (1 << window) - 1
    build = [Repeat(word(TIMES, KeepEntry("r")), 1, most - 1)] if most > 1 else []
    return (
        word(KeepEntry("r"), Move("r", "b"), note="the table: powers of the base"),
        *build,
        word(KeepEntry("r"), start=most),
        word(Scan(), note="the first digit"),
        Loop(
            (
                Repeat(word(SQUARE, Scan()), 1, window),
                word(Product("r", "r", "s")),
            ),
            first=(word(Move("r", "s")),),
        ),
    )


def sliding_window(window: int, aligns: bool, reduces: bool) -> Items:
    """A square for each bit, and for each window a product with its entry in the table of odd powers."""
    last = (1 << window - 1) - 1
    more: list[Item] = []
    if last:
        more = [
            word(Product("b", "b", "b"), Move("r", "b"), note="the table: odd powers of the base"),
            Repeat(word(TIMES, KeepEntry("r")), 0, last - 1),
        ]
    return (
        word(Keep("one", "r"), *([] if more else [Move("r", "b")])),
        *more,
        word(KeepEntry("r"), start=last),
        word(Fetch("r", "one")),
        Loop(
            (Repeat(word(SQUARE, Pick()), 1, WINDOW), word(Product("r", "r", "s", when=True))),
            first=(word(Pick(), note="the first window"), word(Move("r", "s"))),
            aligns=aligns,
        ),
    )


RIGHT_TO_LEFT = LoopShape(right_to_left, plain_result=True, right=True)
LEFT_TO_RIGHT = LoopShape(left_to_right)
ALWAYS = LoopShape(always)
LADDER = LoopShape(ladder)
FIXED_WINDOW = LoopShape(fixed_window, digit=True)
SLIDING_WINDOW = LoopShape(sliding_window, sliding=True)
