"""Program: an exponentiation as microinstructions over residue registers, for the functional model, the
cycle-level twin and the hardware.

A microinstruction (class Word) has products, actions that run in parallel with them, and a flow that selects
the next one. It reads all operands before it writes anything; an action takes effect when the
microinstruction ends. The hardware in addition to the multiplier follows from the names that the program
uses:

    working registers   r, b, s: flip-flops, operands of products; s also receives the table entry for a
                        secret digit
    slots               words of a memory: the table (entry i), and numbers by name
    modulus, exponent   registers; the exponent moves by one bit to the right, or by one digit to the left
    fields              of the request: base, exp, mod, and further numbers of a key

Operands of products are registers, "1" (one), and Choice("b", "r"): b if the current bit of the exponent is
1, otherwise r, in the same time. A product with `when` is executed only if that bit is 1, which leaks. A
`wide` product uses all blocks of the machine's width, whatever the modulus, so that one of its factors may be
any word (units with a run-time width).

A machine on a scaled modulus (scaled_entry.py) has two more constants, "unit" and "half", which are powers of
2. Its conversions are "scale", "double", "halve" and "clear". `lifted` factors are shifted up. With modulus
"ones" there is no modulus, and products add the halves of an integer. If a program `joins`, its units are
half as wide as the operands: base and modulus are read as "in.base.low" and "in.base.high", and the result is
s, r.

A program is assembled from items, which nest: Word, Loop (over the digits of the exponent) and Repeat (a
number of times, counted by `index`). `assemble` turns items into a Program.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..errors import BadInput
from ..status import Status


class Choice(NamedTuple):
    """A register selected by the current bit of the exponent."""

    one: str
    zero: str

    def __str__(self) -> str:
        return f"({self.one}|{self.zero})"


Operand = str | Choice


def at_bit(operand: Operand, bit: int) -> str:
    """The register that an operand names for this value of the exponent's bit."""
    if isinstance(operand, str):
        return operand
    return operand.one if bit else operand.zero


@dataclass(frozen=True)
class Product:
    """dst becomes x * y in the domain of the multiplier; an empty dst discards the product."""

    dst: Operand
    x: Operand
    y: Operand
    when: bool = False
    wide: bool = False
    also: str = ""  # a second destination register
    lifted: bool = False

    def __str__(self) -> str:
        also = f" {self.also}" if self.also else ""
        name = f"{'mulw' if self.wide else 'mul'}{'.up' if self.lifted else ''}{'.if' if self.when else ''}"
        return f"{name} {self.dst or '-'}{also}, {self.x}, {self.y}"

    @property
    def choices(self) -> tuple[Operand, ...]:
        return (self.dst, self.x, self.y)

    @property
    def by_bit(self) -> bool:
        """Whether it depends on the current bit of the exponent."""
        return self.when or any(isinstance(choice, Choice) for choice in self.choices)


# ---- actions


class Action:
    """An action of a microinstruction, in parallel with its products; `text` is its assembly."""

    text = ""

    def __str__(self) -> str:
        return self.text.format(self)


@dataclass(frozen=True)
class Move(Action):
    """dst becomes src: a register, "0", "1" (modulo the modulus), or a field of the request, "in.base"."""

    dst: str
    src: str
    text = "mov {0.dst}, {0.src}"


@dataclass(frozen=True)
class Setup(Action):
    """A conversion unit computes dst from src: "double" doubles it modulo the modulus. Conversions on a
    scaled modulus: see scaled_entry.py.

    It runs fixed + per_block * (blocks of the modulus) times; that is constant for a machine without a
    run-time width.
    """

    kind: str
    dst: str
    src: str
    fixed: int
    per_block: int = 0

    def __str__(self) -> str:
        blocks = f"+{self.per_block}*blocks" if self.per_block else ""
        return f"{self.kind} {self.dst}, {self.src}, {self.fixed}{blocks}"

    def times(self, nblocks: int) -> int:
        return self.fixed + self.per_block * nblocks


@dataclass(frozen=True)
class Add(Action):
    """dst becomes x + y or x - y modulo the modulus."""

    dst: str
    x: str
    y: str
    subtract: bool = False

    def __str__(self) -> str:
        return f"{'sub' if self.subtract else 'add'} {self.dst}, {self.x}, {self.y}"


@dataclass(frozen=True)
class Fetch(Action):
    """Load a register from a slot."""

    dst: str
    slot: str
    text = "ld {0.dst}, [{0.slot}]"


@dataclass(frozen=True)
class Keep(Action):
    """Store a register, a field of the request or "0" in a slot; it is written in the first cycle of the
    microinstruction.
    """

    slot: str
    src: str
    text = "st [{0.slot}], {0.src}"


@dataclass(frozen=True)
class KeepEntry(Action):
    """Store a register in entry `index` of the table."""

    src: str
    text = "st table[index], {0.src}"


@dataclass(frozen=True)
class Clear(Action):
    """Set word `index` of the memory to 0."""

    src = "0"
    text = "clr mem[index]"


@dataclass(frozen=True)
class Scan(Action):
    """Set s to the table entry for the current digit, reading all entries. It continues during the following
    microinstructions.
    """

    text = "scan s, table[digit]"


@dataclass(frozen=True)
class Pick(Action):
    """Set s to the table entry for the current window, an odd number, reading no other entry, which leaks."""

    dst = "s"
    text = "pick s, table[window]"


@dataclass(frozen=True)
class Skip(Action):
    """Drop one leading block of the exponent. It is repeated while the top block is zero and above the length
    of the modulus.
    """

    text = "skip blocks"


@dataclass(frozen=True)
class SetModulus(Action):
    """Set the modulus from a slot, from a field of the request, to "0" or to "ones"."""

    src: str
    text = "modulus {0.src}"

    @property
    def slot(self) -> str:
        """The name of the slot that it reads, or ""."""
        return "" if self.src in ("0", "ones") or self.src.startswith("in.") else self.src


@dataclass(frozen=True)
class SetExponent(Action):
    """Set the exponent from a register, a field of the request or "0", and the number of digits to scan.

    count 0: bits are scanned to the right until none is left. even: the lowest bit is cleared. top: the
    digits are shifted to the top. add: the value is added to the exponent.
    """

    src: str
    count: int = 0
    top: bool = False
    even: bool = False
    add: bool = False

    def __str__(self) -> str:
        even = ", even" if self.even else ""
        count = f", {self.count} digits" if self.count else ""
        return f"{'expadd' if self.add else 'exp'} {self.src}{even}{count}"


@dataclass(frozen=True)
class Stretch(Action):
    """One step of exponent + random * src: double the exponent, and add src (with its lowest bit cleared) if
    the top bit of the random word is 1.
    """

    src: str
    top = even = True
    text = "expstep {0.src}"


@dataclass(frozen=True)
class Random(Action):
    """Set the random factor of an exponent from a field of the request."""

    src: str
    text = "random {0.src}"


@dataclass(frozen=True)
class Check(Action):
    """Compare x with y (a register, "0" or "1"); if they differ, the program goes to its end with this status
    and without a result.
    """

    x: str
    y: str
    status: Status
    final: bool = False  # no result is released without it
    text = "cmp {0.x}, {0.y}, {0.status.name}"


# ---- the next microinstruction


WINDOW, SKIPPED = -1, -2  # replace the last index of a repetition


@dataclass(frozen=True)
class Flow:
    """The next microinstruction, by kind.

    next    `to`
    enter   `to`, the first one of a loop, or `out` if the exponent has no digits left
    back    the same after a digit, when the exponent moves on
    repeat  the same one until `index` is `last`, or the length of the current window (WINDOW), or while a
            block can be skipped (SKIPPED); then `to`
    answer  offer the result until it is accepted; then microinstruction 0
    ask     `out` if the request says that its exponent is public, else `to`
    """

    kind: str = "next"
    to: int = 0
    out: int = 0
    last: int = 0

    @property
    def loops(self) -> bool:
        """Whether it enters a loop or goes back in it."""
        return self.kind in ("enter", "back")


class Multiplication(NamedTuple):
    """A product, and its registers for one value of the bit of the exponent."""

    product: Product
    dst: str
    x: str
    y: str


@dataclass(frozen=True)
class Word:
    """A microinstruction: products, in parallel or in series on one unit, actions, and the flow, which may
    depend on the bit of the exponent.
    """

    products: tuple[Product, ...] = ()
    actions: tuple[Action, ...] = ()
    note: str = ""
    takes: bool = False  # it waits for a request; one that also `accepts` completes the handshake
    accepts: bool = False
    aligns: bool = False  # it waits until the highest 1 of the exponent is at the top
    start: int = 0  # `index` when it is entered
    flow: Flow = Flow()
    flow_at_zero: Flow | None = None  # the flow for bit 0, if different

    def flow_at(self, bit: int) -> Flow:
        """The flow for this value of the bit of the exponent."""
        return self.flow if bit or self.flow_at_zero is None else self.flow_at_zero

    def made(self, bit: int) -> list[Multiplication]:
        """The products that are executed for this value of the bit of the exponent."""
        return [
            Multiplication(product, *(at_bit(operand, bit) for operand in product.choices))
            for product in self.products
            if bit or not product.when
        ]

    @property
    def by_bit(self) -> bool:
        return self.flow_at_zero is not None or any(product.by_bit for product in self.products)

    def find(self, *kinds: type) -> list[Any]:
        """Its actions of these kinds."""
        return [action for action in self.actions if isinstance(action, kinds)]

    @property
    def setup(self) -> Setup | None:
        return next(iter(self.find(Setup)), None)

    @property
    def needs_entry(self) -> bool:
        """Whether it reads s, and so waits for a scan in progress."""
        read = [operand for product in self.products for operand in (product.x, product.y)]
        read += [action.src for action in self.find(Move, Setup, Keep)]
        return any("s" in (at_bit(choice, 0), at_bit(choice, 1)) for choice in read)

    @property
    def settles(self) -> bool:
        """Whether it changes the modulus, or a constant of it in the units, which a product sees one cycle
        later.
        """
        return bool(self.find(SetModulus)) or (self.setup is not None and self.setup.kind == "scale")

    def __str__(self) -> str:
        parts = [*map(str, self.products), *map(str, self.actions)]
        if self.takes:
            parts.insert(0, "take" if self.accepts else "look")
        if self.aligns:
            parts.append("align")
        return " | ".join(parts) or "nop"


def word(*parts: Product | Action, **more: Any) -> Word:
    """A microinstruction with these products and actions; more: its other fields."""
    products = tuple(part for part in parts if isinstance(part, Product))
    return Word(products, tuple(part for part in parts if isinstance(part, Action)), **more)


# ---- items, which nest


@dataclass(frozen=True)
class Loop:
    """The body, once for each digit of the exponent; `first` replaces it for the first digit.

    right: bits from the lowest upward, until no 1 is left. Otherwise digits from the top, as many as
    SetExponent says. aligns: leading zeros are dropped first, one per cycle from the request on.
    """

    body: tuple[Word | Repeat, ...]
    first: tuple[Word | Repeat, ...] = ()
    right: bool = False
    aligns: bool = False


@dataclass(frozen=True)
class Repeat:
    """A microinstruction for each index from `start` to `last`, or to the length of the current window
    (WINDOW), or while it skips (SKIPPED).
    """

    word: Word
    start: int
    last: int


Item = Word | Loop | Repeat


@dataclass(frozen=True)
class Program:
    """Microinstructions, and the resources that a machine needs for them."""

    words: tuple[Word, ...]
    digit_nbits: int = 1  # of a digit that is scanned from the top
    block_nbits: int = 0  # of the modulus, if blocks are skipped
    sliding: bool = (
        False  # digits are windows of up to digit_nbits bits: a 0, or bits that begin and end with 1
    )
    scanned_nbits: int = 0  # width of the exponent register
    table: int = 0  # number of entries
    slots: tuple[str, ...] = ()  # words of the memory after the table
    failure: int = 0  # the microinstruction at which a program without a result continues
    fields: tuple[tuple[str, int], ...] = ()  # of the request after base, exp, mod, with widths
    random_nbits: int = 0  # of the factor that blinds an exponent
    verified: bool = False  # a result is released only after a final Check, from two equal registers
    # bits of the lower word of a result of two words; if it is verified, the modulus is compared with the
    # upper word
    joins: int = 0
    right_words: frozenset[int] = frozenset()  # microinstructions of loops to the right

    @property
    def wipes_when_refused(self) -> bool:
        """Whether a refused request goes on with the wiping of a key, as the machine does after reset."""
        return self.words[self.failure].flow.kind != "answer"

    @cached_property
    def all_products(self) -> tuple[Product, ...]:
        return tuple(product for word in self.words for product in word.products)

    def find(self, *kinds: type) -> list[Any]:
        """All actions of these kinds."""
        return [action for word in self.words for action in word.find(*kinds)]

    @cached_property
    def width(self) -> int:
        """The maximum number of products in a microinstruction."""
        return max((len(word.products) for word in self.words), default=0)

    @property
    def public(self) -> int:
        """The microinstruction at which a request with a public exponent continues; 0 if requests have no
        such flag.
        """
        flow = self.words[0].flow
        return flow.out if flow.kind == "ask" else 0

    @cached_property
    def depth(self) -> int:
        """The number of words in the memory: the table, then the slots."""
        return self.table + len(self.slots)

    def address(self, slot: str) -> int:
        """The address of a slot in the memory."""
        return self.table + self.slots.index(slot)

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """The working registers that it uses."""
        named = set()
        for product in self.all_products:
            named |= {at_bit(choice, bit) for choice in (*product.choices, product.also) for bit in (0, 1)}
        for action in (action for word in self.words for action in word.actions):
            named |= {getattr(action, name, "").partition(".")[0] for name in ("dst", "src", "x", "y")}
        if self.find(Scan, Pick):
            named.add("s")
        return tuple(name for name in ("r", "b", "s") if name in named)

    @property
    def described(self) -> str:
        """Its size, for the headers of Verilog modules."""
        return f"of {len(self.words)} words"

    @cached_property
    def assembly(self) -> tuple[tuple[str, str, str], ...]:
        """The microinstructions as text: the operation, the next one, and a note."""
        return tuple((str(word), _flows_text(pc, word), word.note) for pc, word in enumerate(self.words))

    def listing(self) -> list[str]:
        """Readable assembly, one line per microinstruction."""
        wide = len(str(len(self.words) - 1))
        most = max((len(text) for text, *_ in self.assembly), default=0)
        return [
            f"{pc:>{wide}}  {text:<{min(most, 60)}}  {flow:<24} {note and f'; {note}'}".rstrip()
            for pc, (text, flow, note) in enumerate(self.assembly)
        ]


def folded(text: str, columns: int) -> list[str]:
    """Assembly in lines, with no break inside an operation."""
    solid = re.sub("([|;])\xa0", r"\1 ", text.replace(" ", "\xa0"))
    return [line.replace("\xa0", " ") for line in textwrap.wrap(solid, columns, break_on_hyphens=False)]


def _flows_text(pc: int, word: Word) -> str:
    if word.flow_at_zero is None:
        return _flow_text(pc, word, word.flow)
    one, zero = (_flow_text(pc, word, flow) or "next" for flow in (word.flow, word.flow_at_zero))
    return f"1: {one}; 0: {zero}"


def _flow_text(pc: int, word: Word, flow: Flow) -> str:
    if flow.kind == "answer":
        return "answer"
    if flow.kind == "repeat":
        return f"repeat {word.start}..{ {WINDOW: 'window', SKIPPED: 'skipped'}.get(flow.last, flow.last) }"
    if flow.kind == "ask":
        return f"public: goto {flow.out}"
    if flow.kind in ("enter", "back"):
        return f"{'loop' if flow.kind == 'back' else 'enter'} {flow.to}, else {flow.out}"
    return "" if flow.to == pc + 1 else f"goto {flow.to}"


def assemble(
    items: Sequence[Item], *, failure: Item | None = None, public: Item | None = None, **more: Any
) -> Program:
    """The program of these items. failure: the item at which a program without a result continues; public:
    the item to which the first microinstruction sends a request with a public exponent.
    """
    words: list[Word] = []
    right = set()
    failure_at = 0

    def straight(item: Word | Repeat, to: int) -> Word:
        if isinstance(item, Repeat):
            return replace(item.word, start=item.start, flow=Flow("repeat", to, last=item.last))
        return replace(item, flow=Flow("next", to)) if item.flow.kind != "answer" else item

    def digit(parts: Sequence[Word | Repeat], body: int, out: int) -> list[Word]:
        """The microinstructions of a digit; if its bit is 0, trailing ones without effect are skipped."""
        made = []
        for at, part in enumerate(parts, 1):
            word = straight(part, len(words) + at)
            following = parts[at:]
            if not following:
                assert word.flow.kind == "next", "a digit ends with a word that is made once"
                word = replace(word, flow=Flow("back", body, out))
            elif all(map(_empty_at_zero, following)):
                word = replace(word, flow_at_zero=Flow("back", body, out))
            made.append(word)
        return made

    for item in items:
        if item is failure:
            failure_at = len(words)
        if item is public:
            words[0] = replace(words[0], flow=Flow("ask", 1, len(words)))
        if isinstance(item, Loop):
            entry = len(words)
            aligned = entry + item.aligns
            body = aligned + len(item.first)
            out = body + len(item.body)
            assert words and words[-1].flow.kind == "next", "a loop is entered from a word"
            words[-1] = replace(words[-1], flow=Flow("enter", aligned, out))
            if item.aligns:
                words.append(Word(aligns=True, flow=Flow("enter", aligned, out)))
            if item.first:
                words += digit(item.first, body, out)
            words += digit(item.body, body, out)
            if item.right:
                right |= {entry - 1, *range(entry, out)}
        else:
            words.append(straight(item, len(words) + 1))
    assert words[-1].flow.kind == "answer", "a program ends with an answer"
    program = Program(tuple(words), failure=failure_at, right_words=frozenset(right), **more)
    check(program)
    return program


def _empty_at_zero(item: Word | Repeat) -> bool:
    word = item.word if isinstance(item, Repeat) else item
    return bool(word.products) and all(product.when for product in word.products) and not word.actions


def check(program: Program) -> None:
    """Check the assumptions of the hardware, so that a mistake in a program is reported when it is built."""
    for pc, word in enumerate(program.words):
        reads = [action for action in word.find(Fetch, Pick, SetModulus) if getattr(action, "slot", "s")]
        if len(reads) > 1 or len(word.find(Keep, KeepEntry, Clear)) > 1:
            raise BadInput(
                f"word {pc}, {word}: the memory has one port to read and one to write; make it two words"
            )
        if word.setup and word.products:
            raise BadInput(f"word {pc}, {word}: a product beside a conversion unit; make it two words")
        kept = {keep.slot for keep in word.find(Keep)}
        for flow in (word.flow, word.flow_at_zero or word.flow):
            for to in (flow.to, flow.out) if flow.loops else (flow.to,):
                read = {action.slot for action in program.words[to].find(Fetch, SetModulus)}
                if kept & read and not word.products and flow.kind != "answer":
                    raise BadInput(
                        f"word {pc}, {word}: {(kept & read).pop()} is read in the next word, before it is "
                        "there; put a word between"
                    )
