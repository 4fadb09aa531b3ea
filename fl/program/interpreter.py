"""Interpreter of programs (ir.py): executes each microinstruction on Python integers.

    outcome = run(program, {"base": 3, "exp": 5, "mod": 7}, Arithmetic("montgomery", 8))
    outcome.status, outcome.result

`trace` records every executed microinstruction with the factors of its products, from which the cycle-level
twin computes cycles. Without an Arithmetic no products are computed; the trace is the same, because control
flow depends on exponents and not on residues.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ..errors import BadInput
from ..multipliers.scaled_entry import ScaledEntry
from ..status import Status
from .ir import (
    SKIPPED,
    WINDOW,
    Action,
    Add,
    Check,
    Clear,
    Fetch,
    Flow,
    Keep,
    KeepEntry,
    Move,
    Pick,
    Program,
    Random,
    Scan,
    SetExponent,
    SetModulus,
    Setup,
    Skip,
    Stretch,
    Word,
)

Value = int | None  # None: not computed

MOST_WORDS = 1 << 24  # executed microinstructions, after which a program counts as endless


@dataclass(frozen=True)
class Arithmetic:
    """Products of a domain in a machine of nbits bits, whose multiplier works in blocks of block_nbits.

    fits: the multiplier uses as many blocks as the modulus needs (which also determines R of a Montgomery
    domain), unless a product is `wide`. scaled: products are on a scaled modulus, with the word sizes and
    bounds of the hardware.
    """

    domain: str  # "identity", "residue", "montgomery" or "scaled"
    nbits: int
    block_nbits: int = 0  # 0: the width
    fits: bool = False
    scaled: ScaledEntry | None = None

    @property
    def block(self) -> int:
        return self.block_nbits or self.nbits

    @property
    def most_blocks(self) -> int:
        return -(-self.nbits // self.block)

    def blocks(self, modulus: int) -> int:
        """The number of blocks that a modulus needs."""
        return max(1, -(-modulus.bit_length() // self.block)) if self.fits else self.most_blocks

    def product(
        self, x: int, y: int, modulus: int, wide: bool = False, lifted: bool = False, m_prime: int = 0
    ) -> int:
        """x * y in the domain; 0 without a modulus, when the result of the hardware does not matter."""
        if self.scaled is not None:
            return self.scaled.product(x << self.scaled.lift_nbits if lifted else x, y, m_prime)
        if modulus == 0:
            return 0
        if self.domain != "montgomery":
            return x * y % modulus
        nbits = self.block * (self.most_blocks if wide else self.blocks(modulus))
        return (x % (1 << nbits)) * y * pow(1 << nbits, -1, modulus) % modulus


class Made(NamedTuple):
    """An executed product: its factors, and whether it used all blocks."""

    a: Value
    b: Value
    wide: bool


class Executed(NamedTuple):
    """An executed microinstruction."""

    pc: int
    word: Word
    made: tuple[Made, ...]
    modulus: int


class Outcome(NamedTuple):
    status: Status
    result: int


@dataclass
class _State:
    program: Program
    fields: Mapping[str, int]
    arithmetic: Arithmetic | None
    registers: dict[str, Value] = field(default_factory=lambda: dict.fromkeys("rbs", 0))
    slots: dict[str, Value] = field(default_factory=dict)
    table: dict[int, Value] = field(default_factory=dict)
    modulus: int = 0
    m_prime: int = 0  # of a scaled modulus
    exponent: int = 0
    left: int = 0  # remaining digits of the exponent
    random: int = 0
    status: Status = Status.OK
    checked: bool = False

    @property
    def scaled(self) -> ScaledEntry | None:
        return self.arithmetic.scaled if self.arithmetic is not None else None

    def value(self, name: str) -> Value:
        """The value of a register, a constant, or a field of the request."""
        if name in ("0", "1"):
            return int(name)
        if name in ("unit", "half"):
            form = self.scaled
            return None if form is None else 1 << (form.halvings if name == "unit" else form.shape.nbits)
        outside = name.startswith("in.")
        where, _, part = name.removeprefix("in.").partition(".")
        whole = self.fields[where] if outside else self.registers[where]
        if not part or whole is None:
            return whole
        if outside:
            nbits = self.program.joins
            return whole >> nbits if part == "high" else whole & (1 << nbits) - 1
        return None if self.scaled is None else self.scaled.part(whole, part)

    def one(self, name: str) -> Value:
        """The value of a source, where 1 is a residue: 0 modulo 1. On a scaled modulus 1 is an
        ordinary word.
        """
        if name == "1" and self.scaled is None:
            return int(self.modulus != 1)
        return self.value(name)

    def multiply(self, word: Word, bit: int) -> tuple[tuple[Made, ...], list[tuple[str, Value]]]:
        """Compute the products of a microinstruction; return them, and the registers that change."""
        made = []
        after = []
        for product, dst, x, y in word.made(bit):
            a, b = self.value(x), self.value(y)
            p = None
            if self.arithmetic is not None:
                assert a is not None and b is not None
                p = self.arithmetic.product(a, b, self.modulus, product.wide, product.lifted, self.m_prime)
            made.append(Made(a, b, product.wide))
            after += [(name, p) for name in (dst, product.also) if name]
        return tuple(made), after

    def set_modulus(self, change: SetModulus) -> None:
        """Set the modulus. The constant of a scaled modulus is not yet known then."""
        ones = change.src == "ones"
        value = self.slots.get(change.slot, 0) if change.slot else self.value("0" if ones else change.src)
        self.modulus = value or 0  # None if it was computed, when no products are computed
        self.m_prime = self.scaled.ones if ones and self.scaled is not None else 0

    def set_up(self, action: Setup) -> Value:
        """The result of a conversion."""
        value = self.one(action.src)
        scaled = self.scaled
        if self.arithmetic is None:
            return None
        assert value is not None
        if scaled is None:
            times = action.times(self.arithmetic.blocks(self.modulus))
            return (value << times) % self.modulus if self.modulus else 0
        if action.kind == "scale":
            value, self.m_prime = scaled.scale(self.modulus)
            return value
        if action.kind == "double":
            return scaled.doubled(value, self.modulus)
        return scaled.leave(value, self.modulus) if action.kind == "halve" else 0

    def add(self, action: Add) -> Value:
        """The sum or difference of numbers below the modulus; for other numbers, the result of the
        hardware.
        """
        x, y = self.value(action.x), self.value(action.y)
        if x is None or y is None:
            return None
        made = x - y if action.subtract else x + y
        if made < 0:
            made += self.modulus
        elif not action.subtract and made >= self.modulus:
            made -= self.modulus
        assert self.scaled is None or 0 <= made < 1 << self.scaled.word_nbits, "a sum that is no word"
        return made

    def known(self, name: str) -> int:
        """A value that determines the control flow, and is therefore never a product."""
        value = self.value(name)
        if value is None:
            raise BadInput(f"{name} is computed, and an exponent is made of it: give the run an Arithmetic")
        return value

    def window(self) -> tuple[int, int]:
        """Length and value of the current window: a single 0, or up to digit_nbits bits that begin and end
        with 1.
        """
        nbits = self.program.digit_nbits
        top = self.exponent << nbits >> self.left if self.left else 0
        if not top >> nbits - 1:
            return 1, 0
        zeros = (top & -top).bit_length() - 1
        return nbits - zeros, top >> zeros

    def entry(self) -> int:
        """The index of the table entry for the current digit or window."""
        return self.window()[1] >> 1 if self.program.sliding else self.digit()

    def skips(self) -> bool:
        """Whether the top block of the exponent is zero and above the length of the modulus."""
        block, digit = self.program.block_nbits, self.program.digit_nbits
        blocks = max(1, -(-self.modulus.bit_length() // block))
        return self.left * digit > blocks * block and self.exponent >> self.left * digit - block == 0

    def again(self, flow: Flow, index: int) -> bool:
        """Whether a repeated microinstruction is executed once more."""
        if flow.last == SKIPPED:
            return self.skips()
        return index != (self.window()[0] if flow.last == WINDOW else flow.last)

    def bit(self, right: bool) -> int:
        """The current bit of the exponent."""
        if self.program.sliding:
            return self.window()[1] & 1
        return (self.exponent if right else self.digit()) & 1

    def digit(self) -> int:
        """The current digit of the exponent."""
        nbits = self.program.digit_nbits
        return self.exponent >> nbits * (self.left - 1) & (1 << nbits) - 1 if self.left else 0

    def moves(self, right: bool) -> None:
        """Advance the exponent by one bit, digit or window."""
        if right:
            self.exponent >>= 1
        elif self.program.sliding:
            self.left -= self.window()[0]
            self.exponent &= (1 << self.left) - 1
        else:
            self.left -= 1
            self.exponent &= (1 << self.program.digit_nbits * self.left) - 1

    def act(self, action: Action, index: int, after: list[tuple[str, Value]]) -> None:
        """Execute an action. Register writes are appended to `after`, because other actions of the
        microinstruction must not see them.
        """
        match action:
            case Move(dst, src):
                after.append((dst, self.one(src)))
            case Fetch(dst, slot):
                after.append((dst, self.slots.get(slot, 0)))
            case Setup():
                after.append((action.dst, self.set_up(action)))
            case Add():
                after.append((action.dst, self.add(action)))
            case Scan() | Pick():
                after.append(("s", self.table.get(self.entry(), 0)))
            case Keep(slot, src):
                self.slots[slot] = self.value(src)
            case KeepEntry(src):
                self.table[index] = self.value(src)
            case Clear():
                if index < self.program.table:
                    self.table[index] = 0
                else:
                    self.slots[self.program.slots[index - self.program.table]] = 0
            case SetExponent(src):
                value = self.known(src) & (~1 if action.even else -1)
                self.exponent = (self.exponent if action.add else 0) + value
                self.left = action.count
            case Stretch(src):
                nbits = self.program.random_nbits
                top = self.random >> (nbits - 1) & 1
                self.exponent = 2 * self.exponent + (self.known(src) & ~1) * top
                self.random = self.random << 1 & (1 << nbits) - 1
            case Random(src):
                self.random = self.known(src)
            case Check():
                x, y = self.value(action.x), self.one(action.y)
                if x is not None and y is not None and x != y and self.status is Status.OK:
                    self.status = action.status
                elif action.final:
                    self.checked = True

    def answer(self) -> Outcome:
        """The answer that is offered at the end."""
        result = self.registers["r"]
        agree = result == self.registers["b"]
        if self.program.joins:
            high = self.registers["s"]
            agree = agree and high == self.modulus
            if result is not None and high is not None:
                result += high << self.program.joins
        if self.status is Status.OK and self.program.verified and not (self.checked and agree):
            self.status = Status.FAULT
        return Outcome(self.status, (result or 0) if self.status is Status.OK else 0)


def run(
    program: Program,
    fields: Mapping[str, int],
    arithmetic: Arithmetic | None,
    status: Status = Status.OK,
    trace: list[Executed] | None = None,
) -> Outcome:
    """Execute the program from the request to its answer; `status` is the status with which the request is
    refused, or OK.
    """
    state = _State(program, fields, arithmetic)
    pc, index = 0, program.words[0].start
    for _ in range(MOST_WORDS):
        word = program.words[pc]
        right = pc in program.right_words
        bit = state.bit(right)
        if word.aligns:
            state.left = min(state.left, state.exponent.bit_length())
            bit = state.bit(right)
        if word.flow.kind == "answer":
            if trace is not None:
                trace.append(Executed(pc, word, (), state.modulus))
            return state.answer()
        made, after = state.multiply(word, bit)
        # set the modulus first: a 1 in the same microinstruction is 1 modulo it
        for change in word.find(SetModulus):
            state.set_modulus(change)
        for action in word.actions:
            state.act(action, index, after)
        for name, value in after:
            state.registers[name] = value
        if trace is not None:
            trace.append(Executed(pc, word, made, state.modulus))
        flow = word.flow_at(bit)
        if word.accepts and status is not Status.OK:
            state.status = status
        to = flow.to
        if state.status is not Status.OK and (word.accepts or word.find(Check)):
            to = program.failure
        elif flow.kind == "ask" and fields["public"]:
            to = flow.out
        elif flow.kind == "repeat" and state.again(flow, index):
            if word.find(Skip):
                state.left -= program.block_nbits // program.digit_nbits
            index += 1
            continue
        elif flow.loops:
            if flow.kind == "back":
                state.moves(right)
            # a loop that aligns is entered through its aligning microinstruction
            aligns = flow.kind == "enter" and not word.aligns and program.words[to - 1].aligns
            left = state.exponent if right else state.left
            if aligns:
                to -= 1
            elif not left:
                to = flow.out
        pc, index = to, program.words[to].start
    raise BadInput(f"the program did not end within {MOST_WORDS} words; look for a loop that is never left")
