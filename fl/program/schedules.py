"""Schedules: the modular products of an exponentiation, for every domain and machine.

A schedule plans before it multiplies: the plan depends on the exponent only and is a list of steps; a step
is a tuple of Op(dst, x, y), "register dst becomes x * y", whose products may go in parallel (all operands are
read before any register is written). Registers at the start: "b" the base, "r" and "one" the domain's one.
Window tables live in "t2", "t3", ...: "t<i>" is the base to the i. `plan.result` names the result's register.

    plan = SCHEDULES["ladder"].plan(exp, nbits=32)         # no arithmetic: 4096 bits in milliseconds
    value = SCHEDULES["ladder"](base, exp, product, one)   # the same plan, computed with product(a, b)
    ...(..., trace=steps)                                  # and recorded: a list of tuples of Product

Each has the loop that machines execute (schedule_loops.py). A schedule of one's own is an entry with a loop
and no more; those here have their products by an algorithm on the exponent as well, quick at any length and
another than the loop's.

Sources: right-to-left is paper 001, Algorithm 1; left-to-right (here started at the highest bit), fixed and
sliding window are Menezes, van Oorschot and Vanstone, Handbook of Applied Cryptography, Algorithms 14.79,
14.82 and 14.85; "always" is Coron, CHES 1999; the ladder is Montgomery's as in Joye and Yen, CHES 2002.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import BadInput, shown
from .interpreter import Executed, run
from .ir import (
    Fetch,
    Flow,
    Keep,
    KeepEntry,
    Loop,
    Move,
    Pick,
    Program,
    Repeat,
    Scan,
    SetExponent,
    Word,
    assemble,
    word,
)
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
    16  # bits; a table of 2^16 entries is beyond any machine, and wider ones fill this computer's memory
)


class Op(NamedTuple):
    """A planned product: register dst becomes x * y."""

    dst: str
    x: str
    y: str


class Product(NamedTuple):
    """A product that was made: an Op with the operands a, b that its registers held, and what came out."""

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
        """Products in all; the number of steps, where two go in parallel, is len(plan.steps)."""
        return sum(map(len, self.steps))


@dataclass(frozen=True)
class Schedule:
    """One way through the bits of an exponent."""

    name: str
    loop: LoopShape  # what a machine executes
    multipliers: int  # how many products of a step go in parallel
    options: frozenset[str]  # of "nbits" and "k"
    build: Callable[..., Plan] | None = (
        None  # the same products by another algorithm; None: as the loop makes them
    )

    @property
    def windows(self) -> bool:
        """It takes digits of several bits, and a table of powers."""
        return "k" in self.options

    @property
    def full_scan(self) -> bool:
        """Leading zeros of the exponent can be scanned."""
        return "nbits" in self.options

    @property
    def regular(self) -> bool:
        """A 0 of the exponent takes the same products as a 1."""
        return not self.loop.sliding and not any(made.when for word in self._body for made in word.products)

    @property
    def steady(self) -> bool:
        """A 0 takes as many steps as a 1: products for a 1 alone run in parallel with another."""
        return not self.loop.sliding and all(
            not any(made.when for made in word.products)
            or (len(word.products) <= self.multipliers and not all(made.when for made in word.products))
            for word in self._body
        )

    @property
    def _body(self) -> list[Word]:
        """The words of the loop for one digit."""
        (loop,) = (item for item in self.loop.items(1, False, False) if isinstance(item, Loop))
        return [item.word if isinstance(item, Repeat) else item for item in loop.body]

    def plan(self, exp: int, *, nbits: int | None = None, k: int | None = None) -> Plan:
        """The products for `exp`; nbits: bits of it to scan (default: its length), k: width of the window."""
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
        return self.build(exp, **given) if self.build is not None else self.made_by_loop(exp, nbits, k)

    def made_by_loop(self, exp: int, nbits: int | None = None, k: int | None = None) -> Plan:
        """The plan as the loop makes it: the program is run, and what it multiplies is written down."""
        scanned = exp.bit_length() if nbits is None else nbits
        if scanned == 0:
            return Plan([])
        loop = self.loop
        window = k or (best_sliding_window if loop.sliding else best_fixed_window)(scanned)
        digit = window if loop.digit else 1
        count = 0 if loop.right else -(-scanned // digit)
        take = word(SetExponent("in.exp", count, top=loop.digit), takes=True, accepts=True)
        items = [take, *loop.items(window, False, False), word(flow=Flow("answer"))]
        entries = 1 << window - 1 if loop.sliding else 1 << window if loop.digit else 0
        program = assemble(
            items,
            digit_nbits=window if loop.sliding else digit,
            sliding=loop.sliding,
            table=entries,
            slots=("one",) if loop.sliding else (),
        )
        trace: list[Executed] = []
        run(program, {"exp": exp}, None, trace=trace)
        return _written_down(program, trace, self.multipliers)

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
        """base to the exp in the domain of `product` and `one`; every step made is appended to `trace`."""
        return execute(self.plan(exp, nbits=nbits, k=k), base, product, one, trace)


def execute(
    plan: Plan, base: int, product: Callable[[int, int], int], one: int, trace: list[Step] | None = None
) -> int:
    """Compute a plan: every step reads its operands, multiplies, then writes its registers."""
    held = {"b": base, "r": one, "one": one}
    for ops in plan.steps:
        step = tuple([Product(dst, x, y, held[x], held[y], product(held[x], held[y])) for dst, x, y in ops])
        for made in step:
            held[made.dst] = made.p
        if trace is not None:
            trace.append(step)
    return held[plan.result]


def _written_down(program: Program, trace: list[Executed], multipliers: int) -> Plan:
    """The products of a trace: registers by their names, the numbers of a table as power() calls them."""
    loop_at = next(entry.flow.to for entry in program.words if entry.flow.kind == "enter")
    held = {"r": "one" if program.table else "r", "b": "b", "s": "s"}
    powers = {"one": 0, "b": 1}
    kept: dict[str, str] = {}
    steps: list[tuple[Op, ...]] = []
    for pc, executed, _, made, _, index, chosen in trace:
        ops: list[Op] = []
        after: dict[str, str] = {}
        for product in made:
            x, y = held[product.x], held[product.y]
            dst = product.dst or "dummy"
            if program.table and pc < loop_at:
                dst = power(powers[x] + powers[y])
                powers[dst] = powers[x] + powers[y]
            ops.append(Op(dst, x, y))
            after |= {product.dst: dst} if product.dst else {}
        if ops:
            steps += [tuple(ops)] if multipliers > 1 else [(op,) for op in ops]
        for action in executed.actions:
            if isinstance(action, Move):
                after[action.dst] = held[action.src]
            elif isinstance(action, Fetch):
                after[action.dst] = kept[action.slot]
            elif isinstance(action, Scan | Pick):
                after["s"] = kept[str(chosen)]
            elif isinstance(action, Keep):
                kept[action.slot] = held[action.src]
            elif isinstance(action, KeepEntry):
                kept[str(index)] = held[action.src]
        held |= after
    return Plan(steps, held["r"])


def power(i: int) -> str:
    """The register that holds the base to the i in a window schedule."""
    return {0: "one", 1: "b"}.get(i, f"t{i}")


# the operations of the binary schedules
TIMES = Op("r", "r", "b")
SQUARE = Op("r", "r", "r")
SQUARE_BASE = Op("b", "b", "b")


def right_to_left_2(exp: int) -> Plan:
    """Paper 001, Algorithm 1: r * b for each 1 and beside it b * b for each bit, the last one's too.

    Nobody reads that last square, but the paper's loop makes it (line 8), and so does its hardware.
    """
    steps: list[tuple[Op, ...]] = []
    while exp > 0:
        steps.append((TIMES, SQUARE_BASE) if exp & 1 else (SQUARE_BASE,))
        exp >>= 1
    return Plan(steps)


def right_to_left_1(exp: int) -> Plan:
    """The same products in the same order with one multiplier: a step for each."""
    return Plan([(op,) for step in right_to_left_2(exp).steps for op in step])


def left_to_right(exp: int) -> Plan:
    """Square for each bit below the highest, times the base for each 1 among them; the highest is free."""
    steps: list[tuple[Op, ...]] = []
    result = "b" if exp else "r"
    for bit in f"{exp:b}"[1:]:
        steps.append((Op("r", result, result),))
        result = "r"
        if bit == "1":
            steps.append((TIMES,))
    return Plan(steps, result)


def always(exp: int, nbits: int | None = None) -> Plan:
    """Square and times the base for every bit from the left; for a 0 the second product goes to "dummy"."""
    times = {"1": (TIMES,), "0": (Op("dummy", "r", "b"),)}
    return Plan([step for bit in _scanned(exp, nbits) for step in ((SQUARE,), times[bit])])


def ladder(exp: int, nbits: int | None = None) -> Plan:
    """Keeps "b" = "r" times the base: for every bit from the left r * b, beside it a square, of b or of r."""
    steps = {"1": (TIMES, SQUARE_BASE), "0": (Op("b", "r", "b"), SQUARE)}
    return Plan([steps[bit] for bit in _scanned(exp, nbits)])


def fixed_window(exp: int, nbits: int | None = None, k: int | None = None) -> Plan:
    """All powers below 2^k in a table; for each digit of k bits, k squares and a product by its power.

    The highest digit is read from the table. A digit 0 costs a product by one, so that all digits look alike.
    """
    bits = _scanned(exp, nbits)
    if not bits:
        return Plan([])
    k = k or best_fixed_window(len(bits))
    steps: list[tuple[Op, ...]] = [(Op(power(i), power(i - 1), "b"),) for i in range(2, 1 << k)]
    bits = bits.zfill(-(-len(bits) // k) * k)
    top, *digits = (int(bits[i : i + k], 2) for i in range(0, len(bits), k))
    result = power(top)
    for digit in digits:
        for _ in range(k):
            steps.append((Op("r", result, result),))
            result = "r"
        steps.append((Op("r", "r", power(digit)),))
    return Plan(steps, result)


def sliding_window(exp: int, k: int | None = None) -> Plan:
    """Odd powers below 2^k in a table; windows of at most k bits that start and end with a 1, else zeros.

    A square for each bit below the first window, a product for each window but the first.
    """
    bits = f"{exp:b}" if exp else ""
    if not bits:
        return Plan([])
    k = k or best_sliding_window(len(bits))
    steps: list[tuple[Op, ...]] = []
    if k > 1:
        steps.append((Op("t2", "b", "b"),))
        steps += [(Op(power(i), power(i - 2), "t2"),) for i in range(3, 1 << k, 2)]
    result = ""  # nothing to square before the first window
    while bits:
        window = bits[:k].rstrip("0") if bits[0] == "1" else "0"
        if result:
            for _ in window:
                steps.append((Op("r", result, result),))
                result = "r"
        if window != "0":
            entry = power(int(window, 2))
            if result:
                steps.append((Op("r", "r", entry),))
            else:
                result = entry
        bits = bits[len(window) :]
    return Plan(steps, result)


def best_fixed_window(nbits: int) -> int:
    """The k with the fewest products for nbits: table 2^k - 2, then k + 1 for each digit but the highest."""
    return min(range(1, MAX_WINDOW + 1), key=lambda k: (1 << k) - 2 + (-(-nbits // k) - 1) * (k + 1))


def best_sliding_window(nbits: int) -> int:
    """The k with the fewest products on average: table 2^(k-1) (none for 1), a window every k + 1 bits."""
    return min(range(1, MAX_WINDOW + 1), key=lambda k: (1 << k - 1 if k > 1 else 0) + nbits / (k + 1))


def _scanned(exp: int, nbits: int | None) -> str:
    """The bits that a scan from the left sees: nbits of them, or from the highest 1; none for exponent 0."""
    if nbits is None:
        nbits = exp.bit_length()
    return f"{exp:0{nbits}b}" if nbits else ""


def _schedule(
    name: str, loop: LoopShape, multipliers: int, *options: str, build: Callable[..., Plan] | None = None
) -> Schedule:
    return Schedule(name, loop, multipliers, frozenset(options), build)


SCHEDULES = {
    schedule.name: schedule
    for schedule in (
        _schedule("right-to-left-2", RIGHT_TO_LEFT, 2, build=right_to_left_2),
        _schedule("right-to-left-1", RIGHT_TO_LEFT, 1, build=right_to_left_1),
        _schedule("left-to-right", LEFT_TO_RIGHT, 1, build=left_to_right),
        _schedule("always", ALWAYS, 1, "nbits", build=always),
        _schedule("ladder", LADDER, 2, "nbits", build=ladder),
        _schedule("fixed-window", FIXED_WINDOW, 1, "nbits", "k", build=fixed_window),
        _schedule("sliding-window", SLIDING_WINDOW, 1, "k", build=sliding_window),
    )
}
# a bit a step, with an algorithm on the exponent, of which closed formulas know the products
BINARY = tuple(
    name for name, schedule in SCHEDULES.items() if schedule.build is not None and not schedule.windows
)
