"""Program: an exponentiation as microinstructions over residue registers, for the oracle, the cycle-level
twin and the hardware.

A word makes products and, beside them, actions, then says which word is next. All operands of a word are read
before anything is written; an action takes effect when the word ends. What a machine has beside its
multiplier follows from what its program names:

    working registers   r, b, s: flip-flops, operands of products; s also takes the table's entry for a secret
                        digit
    slots               words of a memory: the table (entry i), and numbers by name
    modulus, exponent   registers; the exponent moves by a bit to the right, or by a digit to the left
    fields              of the request: base, exp, mod, and what a key has beside them

Operands of products are registers, "1" (one), and Choice("b", "r"): b if the exponent's bit at hand is 1,
else r, in the same time. A product with `when` is made only if that bit is 1, which leaks. `wide`: it takes
all blocks of the machine's width, whatever the modulus, so that one of its factors may be any word (units
with a run-time width).

A machine on a scaled modulus (scaled_entry.py) has two more numbers, "unit" and "half", powers of 2; its
conversions are "scale", "double", "halve" and "clear"; `lifted` factors are shifted up, modulus "ones" is
none, but products add the halves of an integer. If it `joins`, its units are half as wide as what it is asked
for: base and modulus come as "in.base.low" and "in.base.high", the result leaves as s, r.

Words come from items, which nest: a Word, Loop (over the exponent's digits), Repeat (a fixed number of times,
which `index` counts), and Checked (a comparison whose failure ends the program with a status). `assemble`
makes a Program of items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ..errors import BadInput
from ..status import Status


class Choice(NamedTuple):
    """A register by the bit of the exponent at hand."""

    one: str
    zero: str

    def __str__(self) -> str:
        return f"({self.one}|{self.zero})"


Operand = str | Choice


def at_bit(operand: Operand, bit: int) -> str:
    """The register that is meant where this is the exponent's bit."""
    return operand if isinstance(operand, str) else (operand.one if bit else operand.zero)


@dataclass(frozen=True)
class Product:
    """dst becomes x * y in the domain of the multiplier; an empty dst drops it."""

    dst: Operand
    x: Operand
    y: Operand
    when: bool = False
    wide: bool = False
    also: str = ""  # a second register that takes it
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
        """The exponent's bit decides what it does."""
        return self.when or any(isinstance(choice, Choice) for choice in self.choices)


# ---- actions


class Action:
    """An action of a word beside its products; `text` is its assembly."""

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
    """A unit of its own makes dst of src: "double" doubles it, modulo the modulus. On a scaled modulus: see
    scaled_entry.py.

    times: fixed + per_block * (blocks of the modulus), which is fixed for a machine without a run-time width.
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
    """dst becomes x + y modulo the modulus, or x - y."""

    dst: str
    x: str
    y: str
    subtract: bool = False

    def __str__(self) -> str:
        return f"{'sub' if self.subtract else 'add'} {self.dst}, {self.x}, {self.y}"


@dataclass(frozen=True)
class Fetch(Action):
    """A register from a slot."""

    dst: str
    slot: str
    text = "ld {0.dst}, [{0.slot}]"


@dataclass(frozen=True)
class Keep(Action):
    """A slot from a register, a field of the request or "0"; it is written in the word's first cycle."""

    slot: str
    src: str
    text = "st [{0.slot}], {0.src}"


@dataclass(frozen=True)
class KeepEntry(Action):
    """The table's entry `index` from a register."""

    src: str
    text = "st table[index], {0.src}"


@dataclass(frozen=True)
class Clear(Action):
    """The memory's word `index` becomes 0."""

    src = "0"
    text = "clr mem[index]"


@dataclass(frozen=True)
class Scan(Action):
    """s becomes the table's entry for the exponent's digit at hand; all entries are read. It goes on beside
    the next words.
    """

    text = "scan s, table[digit]"


@dataclass(frozen=True)
class Pick(Action):
    """s becomes the table's entry for the window at hand, an odd number; no other entry is read, which
    leaks.
    """

    dst = "s"
    text = "pick s, table[window]"


@dataclass(frozen=True)
class Skip(Action):
    """Leading blocks of the exponent go, as many as neither the modulus nor the exponent fills: one whenever
    the word is repeated.
    """

    text = "skip blocks"


@dataclass(frozen=True)
class SetModulus(Action):
    """The modulus from a slot, from a field of the request, "0" or "ones"."""

    src: str
    text = "modulus {0.src}"

    @property
    def slot(self) -> str:
        """The memory's word that it is."""
        return "" if self.src in ("0", "ones") or self.src.startswith("in.") else self.src


@dataclass(frozen=True)
class SetExponent(Action):
    """The exponent from a register, a field of the request or "0", and the digits that are scanned.

    count 0: as many bits as are left of it (to the right). even: its lowest bit becomes 0. top: its digits
    are put to the top. add: it is added to what is there.
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
    """A step of exponent + random * src: it is doubled, and src (its lowest bit 0) is added if the random
    word's top bit is 1.
    """

    src: str
    top = even = True
    text = "expstep {0.src}"


@dataclass(frozen=True)
class Random(Action):
    """The random factor of an exponent, from a field of the request."""

    src: str
    text = "random {0.src}"


@dataclass(frozen=True)
class Check(Action):
    """x must be y (a register, "0" or "1"), else the program goes on at its end with this status, without a
    result.
    """

    x: str
    y: str
    status: Status
    final: bool = False  # without it no result leaves
    text = "cmp {0.x}, {0.y}, {0.status.name}"


# ---- what comes after a word


WINDOW, SKIPPED = -1, -2  # in the place of the last index of a repetition


@dataclass(frozen=True)
class Flow:
    """The next word.

    next    `to`
    enter   `to`, the first word of a loop, or `out` if the exponent has no digits left
    back    the same behind a digit, by which the exponent moves
    repeat  the same word, until `index` is `last`, or the length of the window at hand (WINDOW), or as long
            as there is a block
            to be skipped (SKIPPED); then `to`
    answer  the result is offered, until it is taken; then word 0
    ask     `out` if the request says that its exponent is public, else `to`
    """

    kind: str = "next"
    to: int = 0
    out: int = 0
    last: int = 0

    @property
    def loops(self) -> bool:
        """It enters a loop, or goes back in it."""
        return self.kind in ("enter", "back")


class Multiplication(NamedTuple):
    """A product, and the registers that it has at a bit of the exponent."""

    product: Product
    dst: str
    x: str
    y: str


@dataclass(frozen=True)
class Word:
    """Products side by side (or one behind the other on one unit), actions, and what comes next, by the
    exponent's bit.
    """

    products: tuple[Product, ...] = ()
    actions: tuple[Action, ...] = ()
    note: str = ""
    takes: bool = False  # it waits for a request; `accepts` ends its stay at the port
    accepts: bool = False
    aligns: bool = False  # it waits until the exponent's highest 1 is at the top
    start: int = 0  # `index` when the word is entered
    flow: Flow = Flow()
    flow_at_zero: Flow | None = None  # where the exponent's bit decides

    def flow_at(self, bit: int) -> Flow:
        """Return the microinstruction that follows if the exponent's bit is this one."""
        return self.flow if bit or self.flow_at_zero is None else self.flow_at_zero

    def made(self, bit: int) -> list[Multiplication]:
        """The products that are made where this is the exponent's bit."""
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
        """It reads s, so it waits for a scan under way."""
        read = [operand for product in self.products for operand in (product.x, product.y)]
        read += [action.src for action in self.find(Move, Setup, Keep)]
        return any("s" in (at_bit(choice, 0), at_bit(choice, 1)) for choice in read)

    @property
    def settles(self) -> bool:
        """It changes the modulus, or what units know of it, which a product sees in the cycle after."""
        return bool(self.find(SetModulus)) or (self.setup is not None and self.setup.kind == "scale")

    def __str__(self) -> str:
        parts = [*map(str, self.products), *map(str, self.actions)]
        if self.takes:
            parts.insert(0, "take" if self.accepts else "look")
        if self.aligns:
            parts.append("align")
        return " | ".join(parts) or "nop"


def word(*parts: Product | Action, **more: Any) -> Word:
    """A word of these products and actions; more: its other fields."""
    products = tuple(part for part in parts if isinstance(part, Product))
    return Word(products, tuple(part for part in parts if isinstance(part, Action)), **more)


# ---- items, which nest


@dataclass(frozen=True)
class Loop:
    """The body once for each digit of the exponent; `first` stands in for it for the first digit.

    right: bits from the lowest on, until no 1 is left. Otherwise from the top: as many digits as SetExponent
    says; aligns: its leading zeros are dropped first, in the cycles from the request on. once: the body is
    entered without a look at the exponent.
    """

    body: tuple[Word | Repeat, ...]
    first: tuple[Word, ...] = ()
    right: bool = False
    aligns: bool = False
    once: bool = False


@dataclass(frozen=True)
class Repeat:
    """A word for each index from `start` to `last`; last = WINDOW: to the length of the window at hand;
    SKIPPED: while it skips.
    """

    word: Word
    start: int
    last: int


Item = Word | Loop | Repeat


@dataclass(frozen=True)
class Program:
    """Words, and what a machine must have for them."""

    words: tuple[Word, ...]
    digit_nbits: int = 1  # of a digit from the top
    block_nbits: int = 0  # of the modulus, where blocks are skipped
    given: bool = False  # the request has 1 in the domain beside the base
    sliding: bool = False  # digits are windows of up to so many bits: a 0, or what begins and ends with a 1
    scanned_nbits: int = 0  # bits of the exponent's register
    table: int = 0  # entries
    slots: tuple[str, ...] = ()  # the memory's words behind them
    failure: int = 0  # the word at which it goes on without a result
    fields: tuple[tuple[str, int], ...] = ()  # of the request behind base, exp, mod, with their bits
    random_nbits: int = 0  # of the factor that stretches an exponent
    verified: bool = False  # a result leaves only behind a final Check, from two registers that agree
    joins: bool = False  # the result is two words, and when it is verified the modulus is the second's twin
    right_words: frozenset[int] = frozenset()  # words of loops to the right

    @cached_property
    def all_products(self) -> tuple[Product, ...]:
        return tuple(product for word in self.words for product in word.products)

    def find(self, *kinds: type) -> list[Any]:
        """All actions of these kinds."""
        return [action for word in self.words for action in word.find(*kinds)]

    @cached_property
    def width(self) -> int:
        """The most products of a word."""
        return max((len(word.products) for word in self.words), default=0)

    @property
    def public(self) -> int:
        """The word at which a request with a public exponent goes on; 0: requests do not say that."""
        flow = self.words[0].flow
        return flow.out if flow.kind == "ask" else 0

    @cached_property
    def depth(self) -> int:
        """Words of the memory: the slots, behind the table."""
        return self.table + len(self.slots)

    def address(self, slot: str) -> int:
        """Return the address of a slot in the memory."""
        return self.table + self.slots.index(slot)

    @cached_property
    def registers(self) -> tuple[str, ...]:
        """The working registers that it names."""
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
        """For the headers of modules."""
        return f"of {len(self.words)} words"

    @cached_property
    def assembly(self) -> tuple[tuple[str, str, str], ...]:
        """The microinstructions as text: what each does, which one is next, and a note."""
        return tuple((str(word), _flows_text(pc, word), word.note) for pc, word in enumerate(self.words))

    def listing(self) -> list[str]:
        """Readable assembly, a line a microinstruction."""
        wide = len(str(len(self.words) - 1))
        most = max((len(text) for text, *_ in self.assembly), default=0)
        return [
            f"{pc:>{wide}}  {text:<{min(most, 60)}}  {flow:<24} {note and f'; {note}'}".rstrip()
            for pc, (text, flow, note) in enumerate(self.assembly)
        ]


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
    """A program of these items. failure: the item with which it goes on when it ends without a result;
    public: the one to which the first word sends a request with a public exponent.
    """
    words: list[Word] = []
    right = set()
    failure_at = 0

    def straight(item: Word | Repeat, to: int) -> Word:
        if isinstance(item, Repeat):
            return replace(item.word, start=item.start, flow=Flow("repeat", to, last=item.last))
        return replace(item, flow=Flow("next", to)) if item.flow.kind != "answer" else item

    def digit(parts: Sequence[Word | Repeat], body: int, out: int) -> list[Word]:
        """Return the microinstructions of a digit; those that are empty where its bit is 0 are skipped."""
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
            words[-1] = replace(words[-1], flow=Flow("next" if item.once else "enter", aligned, out))
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
