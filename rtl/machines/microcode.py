"""Microcode: the words of a program (fl/program/ir.py) as fields of a ROM, and what a machine must have
to execute them.

Only what the program uses is there: a field has as many bits as its values need, one that never changes is a
wire, a multiplexer has the sources that are named. Where a word does not look at a field it takes the value
that is most common, so that the field may go. A field whose value hangs on the exponent's bit at hand has two
planes (`one`, `zero`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from pymtl3 import clog2

from ...fl.program.ir import (
    SKIPPED,
    WINDOW,
    Add,
    Check,
    Clear,
    Fetch,
    Keep,
    KeepEntry,
    Move,
    Multiplication,
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
from ...fl.status import STATUS_NBITS
from ..units.scaled.scaled_setup import KINDS

Value = int | None  # None: nobody looks


@dataclass(frozen=True)
class Field:
    """A field of the words: its value in each, where the exponent's bit is 1 and where it is 0."""

    name: str
    one: tuple[int, ...]
    zero: tuple[int, ...]
    least: int = 1  # bits that it has in any case

    @property
    def nbits(self) -> int:
        return max(self.least, max(*self.one, *self.zero).bit_length())

    @property
    def fixed(self) -> bool:
        """It is the same in all words."""
        return len({*self.one, *self.zero}) == 1

    @property
    def by_bit(self) -> bool:
        return self.one != self.zero


def field(name: str, one: Sequence[Value], zero: Sequence[Value], least: int = 1) -> Field:
    """With the most common value where nobody looks."""
    told = Counter(value for value in (*one, *zero) if value is not None)
    usual = told.most_common(1)[0][0] if told else 0

    def filled(values: Sequence[Value], other: Sequence[Value]) -> tuple[int, ...]:
        # a value that only one plane looks at is that of both
        pairs = zip(values, other, strict=True)
        return tuple(next((value for value in pair if value is not None), usual) for pair in pairs)

    return Field(name, filled(one, zero), filled(zero, one), least)


def _has(*kinds: type) -> cached_property[bool]:
    """Whether the program has actions of these kinds."""
    return cached_property(lambda code: bool(code.program.find(*kinds)))


def _first(word: Word, get: Callable[[Any], Value], *kinds: type) -> Value:
    """What `get` makes of the word's first action of these kinds; without one nobody looks."""
    return next(map(get, word.find(*kinds)), None)


@dataclass(frozen=True)
class Microcode:
    """The fields of a program for a machine with so many product units."""

    program: Program
    nunits: int
    per_cycle: int = 1  # doublings
    forward: bool = True  # products are sent from the word that is entered, not from the word at hand

    def __post_init__(self) -> None:
        # a conversion starts from what its source has or moves in, never from a product that arrives
        for word, bit in itertools.product(self.words, (0, 1)):
            flow = word.flow_at(bit)
            made = {name for product, dst, *_ in word.made(bit) for name in (dst, product.also)}
            again = [word] if flow.kind == "repeat" else []
            for after in (self.words[flow.to], self.words[flow.out], *again):
                assert after.setup is None or after.setup.src not in made, "a product that arrives"
                # ... and nothing is sent ahead of what comes late
                late = any(self._late(register, word) for register in self.program.registers)
                assert not (late and (after.setup or after.made(0) or after.made(1))), "what comes late"
        # the word to which a refusal goes makes no product and no conversion, and reads no memory
        refused = self.words[self.program.failure]
        assert not self.scaled or not (refused.products or refused.setup or self._reads(refused))

    @property
    def words(self) -> tuple[Word, ...]:
        return self.program.words

    @property
    def pc_nbits(self) -> int:
        return max(1, clog2(len(self.words)))

    @property
    def address_nbits(self) -> int:
        """Of the memory."""
        return max(1, clog2(self.program.depth or 1))

    @property
    def index_nbits(self) -> int:
        """Of the counter of repetitions, which addresses the memory too."""
        lasts = [word.flow.last + 1 for word in self.words if word.flow.kind == "repeat"]
        return max(1, self.program.depth, self.program.digit_nbits + 1, *lasts).bit_length()

    @property
    def counts(self) -> bool:
        """There is something to count."""
        return any(map(self._indexed, self.words))

    converts = _has(Setup)  # there is a unit for conversions
    checks = _has(Check)  # residues are compared
    stretches = _has(Stretch)  # the exponent is blinded
    skips = _has(Skip)  # blocks of the exponent are skipped
    scans = _has(Scan)  # the table is read as a whole

    @cached_property
    def scaled(self) -> bool:
        """The unit for conversions makes a scaled modulus."""
        return any(setup.kind == "scale" for setup in self.program.find(Setup))

    @cached_property
    def sums(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The terms of modular sums, first and second; None where there are none."""
        return (self.named(Add, "x"), self.named(Add, "y")) if self.program.find(Add) else None

    @cached_property
    def doublings(self) -> int | None:
        """Of a conversion; None where they are not the same for all."""
        counts = {(setup.fixed, setup.per_block) for setup in self.program.find(Setup)}
        ((fixed, per_block),) = counts if len(counts) == 1 else ((0, 1),)
        return None if per_block else fixed

    @cached_property
    def doublings_per_block(self) -> int:
        """... for each block of the modulus, where they follow it."""
        return max((setup.per_block for setup in self.program.find(Setup)), default=0)

    @cached_property
    def loops(self) -> bool:
        """There are loops over the exponent."""
        return any(word.flow_at(bit).loops for word in self.words for bit in (0, 1))

    @cached_property
    def repeats(self) -> bool:
        """Words are repeated."""
        return any(word.flow.kind == "repeat" for word in self.words)

    @cached_property
    def aligning(self) -> int | None:
        """The word that waits until the exponent is aligned."""
        return next((pc for pc, word in enumerate(self.words) if word.aligns), None)

    @cached_property
    def shielded(self) -> bool:
        """No word of the memory shows while others are read: a number of the key would, though its use is
        blinded.
        """
        return bool(self.program.random_nbits)

    @cached_property
    def exponent_sources(self) -> tuple[str, ...]:
        """What the exponent is loaded from, or blinded with."""
        return tuple(dict.fromkeys((*self.named(SetExponent, "src"), *self.named(Stretch, "src"))))

    # ---- fields, where they are read

    @cached_property
    def _of_words(self) -> dict[str, list[Field]]:
        """The fields by the word that they belong to.

        now: the word at hand; entered: the next one, in the cycle in which it is entered; ahead: the word
        that is entered, or the one at hand if none is; sending: the word whose products are sent.
        """
        return {
            "now": self._now(),
            "entered": self._entered(),
            "ahead": self._ahead(),
            "sending": self._sending(),
        }

    @cached_property
    def fields(self) -> dict[str, Field]:
        """All, by their names."""
        return {field.name: field for field in itertools.chain(*self._of_words.values())}

    @cached_property
    def _sequenced(self) -> dict[str, bool]:
        """The fields that the sequencer reads, if there is use for them."""
        always = ("takes", "accepts", "answers", "passes", "to", "sets_exponent", "sets_modulus")
        return dict.fromkeys((*always, *(f"makes{at}" for at in range(self.positions))), True) | {
            "settles": self.forward,
            "loops": self.loops,
            "moves_on": self.loops,
            "out": self.loops,
            "aligns": self.aligning is not None,
            "repeats": self.repeats,
            "last": self.repeats,
            "start": self.counts,
            "converts": self.converts,
            "setup_kind": self.scaled,
            "stores": self.program.depth > 0,
            "scans": self.scans,
            "by_window": self.program.sliding,
            "skips": self.skips,
            "waits": self.scans,
            "holds_entry": self.scans,
            "stretches": self.stretches,
            "sets_random": self.stretches,
            "compares": self.checks,
            "reason": self.checks,
            "releases": self.program.verified,
        }

    @cached_property
    def handed(self) -> tuple[str, ...]:
        """The fields that the datapath reads, but for those that are the same in all words."""
        return tuple(
            name for name, field in self.fields.items() if name not in self._sequenced and not field.fixed
        )

    @cached_property
    def read(self) -> dict[str, list[Field]]:
        """Return the fields that differ between words, split by their reader: sequencer or datapath."""
        return {
            when: [field for field in fields if self._sequenced.get(field.name, field.name in self.handed)]
            for when, fields in self._of_words.items()
        }

    @cached_property
    def by_bit(self) -> bool:
        """What a word does hangs on the exponent's bit at hand."""
        return any(field.by_bit for field in (*self.read["now"], *self.read["sending"]))

    @cached_property
    def by_bit_ahead(self) -> bool:
        """... and what a word does when it is entered."""
        ahead = self.read["sending"] if self.forward else ()
        return any(field.by_bit for field in (*self.read["entered"], *ahead))

    @cached_property
    def places(self) -> bool:
        """Some exponents are loaded at the bottom of their register, some so that digits from its top end
        with their last.
        """
        loads = self.program.find(SetExponent)
        digits = max((load.count for load in loads), default=0) * self.program.digit_nbits
        return len({load.top for load in loads}) > 1 and self.program.scanned_nbits > digits

    # ---- sources, in the order in which the program names them

    @cached_property
    def positions(self) -> int:
        """Products of a word."""
        return max(1, self.program.width)

    def factors(self, position: int, which: str) -> tuple[str, ...]:
        """What the first (x) or second (y) factor of the products at this place may be."""
        made = (self._at(word, position, bit) for word in self.words for bit in (1, 0))
        return tuple(dict.fromkeys(getattr(product, which) for product in made if product)) or ("r",)

    @staticmethod
    def _at(word: Word, position: int, bit: int) -> Multiplication | None:
        wanted = word.products[position : position + 1]
        return next((made for made in word.made(bit) if wanted and made.product is wanted[0]), None)

    @cached_property
    def _factors(self) -> set[str]:
        """All of all products."""
        return {name for at in range(self.positions) for which in "xy" for name in self.factors(at, which)}

    @cached_property
    def _sources_now(self) -> set[str]:
        """What memory, comparisons, sums and registers take, but for products."""
        moved = {source for register in self.program.registers for source in self.moves_to(register)}
        return {*self.written, *self.named(Check, "y"), *self.named(Add, "x"), *self.named(Add, "y"), *moved}

    @cached_property
    def reads_one(self) -> bool:
        """Something but a product takes 1 modulo the modulus; on a scaled one it is a word as any other."""
        return not self.scaled and "1" in {*self._sources_now, *self.named(Setup, "src")}

    @cached_property
    def read_now(self) -> frozenset[str]:
        """The registers of which somebody reads the value that they have; r is the result."""
        named = {"r", *self._sources_now, *self.modulus_sources, *self.named(SetExponent, "src")}
        named |= {"s"} if self.stretches or self.program.joins else set()
        named |= {"b"} if self.program.verified else set()
        named |= {name.partition(".")[0] for name in named if not name.startswith("in.")}
        return frozenset(named if self.forward else named | self._factors)

    @cached_property
    def read_next(self) -> frozenset[str]:
        """... and that which they will take."""
        return frozenset(self._factors if self.forward else ())

    def moves_late(self, register: str) -> bool:
        """What is moved to a register comes with a modulus, so that no product is sent ahead of it, and no
        conversion.
        """
        moving = [word for word in self.words if self._moved(register, word)]
        if register in ("s", *self.named(Setup, "src")) or self.late_to(register):
            return False
        return bool(moving) and all(word.settles for word in moving)

    def late_to(self, register: str) -> tuple[str, ...]:
        """What a register takes of which nothing is sent ahead: "left", a number that leaves the form, and
        "sum".
        """
        return self._sources(partial(self._late, register))

    def moves_to(self, register: str) -> tuple[str, ...]:
        """What else a register takes at the end of a word: registers, constants, fields, "setup", "sum",
        "memory".
        """
        return self._sources(partial(self._moved, register))

    def _sources(self, taken: Callable[[Word], str | None]) -> tuple[str, ...]:
        """All that words take so, in their order."""
        return tuple(dict.fromkeys(filter(None, map(taken, self.words))))

    def _late(self, register: str, word: Word) -> str | None:
        """A product on a scaled modulus is so short that no sum, and no such number, may go before it in its
        first cycle.
        """
        for action in word.find(Add, Setup) if self.scaled else ():
            if action.dst == register and getattr(action, "kind", "halve") == "halve":
                return "sum" if isinstance(action, Add) else "left"
        return None

    def _moved(self, register: str, word: Word) -> str | None:
        if self._late(register, word):
            return None
        for action in word.find(Pick, *_MADE_BY, Move):
            if getattr(action, "dst", "s") == register:
                return action.src if isinstance(action, Move) else _MADE_BY.get(type(action), "memory")
        return None

    def named(self, kind: type, attribute: str) -> tuple[str, ...]:
        """The sources of actions of a kind."""
        return tuple(dict.fromkeys(map(attrgetter(attribute), self.program.find(kind))))

    @cached_property
    def modulus_sources(self) -> tuple[str, ...]:
        """Where the modulus comes from: a field, "0", "memory"."""
        return self._sources(self._modulus)

    @staticmethod
    def _modulus(word: Word) -> str | None:
        for change in word.find(SetModulus):
            # which M' a modulus 0 comes with is another field
            return "memory" if change.slot else "0" if change.src == "ones" else change.src
        return None

    @cached_property
    def written(self) -> tuple[str, ...]:
        """What the memory takes: registers, fields, "0"."""
        return self._sources(self._stored)

    @staticmethod
    def _stored(word: Word) -> str | None:
        """What a word leaves in the memory."""
        return next((getattr(action, "src", "0") for action in word.find(Keep, KeepEntry, Clear)), None)

    # ---- fields

    def _by_bit(self, name: str, of: Callable[[Word, int], Value], least: int = 1) -> Field:
        return field(name, [of(word, 1) for word in self.words], [of(word, 0) for word in self.words], least)

    def _each(self, name: str, of: Callable[[Word], Value], least: int = 1) -> Field:
        return self._by_bit(name, lambda word, _: of(word), least)

    def _flag(self, name: str, of: Callable[[Word], object]) -> Field:
        return self._each(name, lambda word: int(bool(of(word))))

    def _done(self, name: str, *kinds: type) -> Field:
        """Whether the word has actions of these kinds."""
        return self._flag(name, lambda word: word.find(*kinds))

    def _choice(self, name: str, taken: Callable[[Word], str | None]) -> Field:
        """Which of its sources the word takes."""
        sources = self._sources(taken)
        return self._each(name, lambda word: sources.index(source) if (source := taken(word)) else None)

    @staticmethod
    def _passes(word: Word, bit: int) -> int:
        """It ends by itself, in its first cycle unless it waits for a scan."""
        other = word.takes or word.aligns or word.setup is not None or word.flow.kind == "answer"
        return int(not other and not word.made(bit))

    def _sending(self) -> list[Field]:
        """Of the products that are sent."""
        places = range(self.positions)
        return [
            *(
                self._by_bit(f"{which}{at}", partial(self._factor, at, which, self.factors(at, which)))
                for at in places
                for which in "xy"
            ),
            *(self._each(f"lifts{at}", partial(self._lifts, at)) for at in places),
            self._each("waits", lambda word: int(word.needs_entry) if word.products else None),
        ]

    def _entered(self) -> list[Field]:
        """Of the word that is next."""
        return [
            *(self._by_bit(f"makes{at}", partial(self._makes, at)) for at in range(self.positions)),
            self._flag("converts", lambda word: word.setup),
            self._choice("setup_from", _attribute(Setup, "src")),
            self._each("setup_kind", self._kind, 2),
            self._done("scans", Scan),
            self._each("start", lambda word: word.start if self._indexed(word) else None, self.index_nbits),
        ]

    def _ahead(self) -> list[Field]:
        """Of the memory that is read for the word that is entered, or for the one at hand if none is."""
        return [
            self._done("picks", Pick),
            *([self._flag("reads", self._reads)] if self.shielded else []),
            self._each("read_at", self._read_at, self.address_nbits),
        ]

    def _reads(self, word: Word) -> bool:
        return self._read_at(word) is not None or bool(word.find(Pick))

    def _factor(self, at: int, which: str, sources: tuple[str, ...], word: Word, bit: int) -> Value:
        made = self._at(word, at, bit)
        return sources.index(getattr(made, which)) if made else None

    def _makes(self, at: int, word: Word, bit: int) -> Value:
        """The product at this place."""
        return int(self._at(word, at, bit) is not None)

    def _kind(self, word: Word) -> Value:
        """Of a conversion on a scaled modulus."""
        return KINDS.index(word.setup.kind) if word.setup and self.scaled else None

    @staticmethod
    def _lifts(at: int, word: Word) -> Value:
        """The first factor of the product at this place is shifted up."""
        return int(word.products[at].lifted) if at < len(word.products) else None

    @staticmethod
    def _indexed(word: Word) -> bool:
        return word.flow.kind == "repeat" or bool(word.find(KeepEntry, Clear))

    def _read_at(self, word: Word) -> Value:
        slots = (action.slot for action in word.find(Fetch, SetModulus))
        return next((self.program.address(slot) for slot in slots if slot), None)

    def _now(self) -> list[Field]:
        """Of the word at hand."""
        right = [self._right(pc) for pc in range(len(self.words))]
        fields = [
            self._flag("takes", lambda word: word.takes),
            self._flag("accepts", lambda word: word.accepts),
            self._flag("answers", lambda word: word.flow.kind == "answer"),
            self._flag("aligns", lambda word: word.aligns),
            self._by_bit("passes", self._passes),
            self._flag("settles", lambda word: word.settles),
            self._by_bit("repeats", lambda word, bit: int(word.flow_at(bit).kind == "repeat")),
            self._each("by_window", _by_window),
            self._done("skips", Skip),
            self._each(
                "last", lambda word: word.flow.last if _by_window(word) == 0 else None, self.index_nbits
            ),
            self._by_bit("loops", lambda word, bit: int(word.flow_at(bit).loops)),
            self._by_bit("moves_on", lambda word, bit: int(word.flow_at(bit).kind == "back")),
            self._by_bit("to", lambda word, bit: word.flow_at(bit).to, self.pc_nbits),
            self._by_bit("out", self._out, self.pc_nbits),
            field("right", right, right),
            self._flag("wide", lambda word: any(product.wide for product in word.products)),
            self._flag("holds_entry", lambda word: word.needs_entry and not word.products),
        ]
        for register in self.program.registers:
            moved, late = partial(self._moved, register), partial(self._late, register)
            fields += [
                self._by_bit(f"{register}_takes", partial(self._takes, register), self.positions),
                self._flag(f"{register}_moves", moved),
                self._flag(f"{register}_late", late),
                self._choice(f"{register}_late_from", late),
                self._choice(f"{register}_from", moved),
            ]
        return [*fields, *self._of_memory(), *self._of_exponent(), *self._of_checks()]

    def _takes(self, register: str, word: Word, bit: int) -> Value:
        """A bit for each product of which the register becomes the value; nobody looks where none arrives."""
        made = [self._at(word, at, bit) for at in range(self.positions)]
        if not any(made):
            return None
        return sum(
            1 << at for at, found in enumerate(made) if found and register in (found.dst, found.product.also)
        )

    @staticmethod
    def _out(word: Word, bit: int) -> Value:
        flow = word.flow_at(bit)
        return flow.out if flow.loops else None

    def _right(self, pc: int) -> Value:
        word = self.words[pc]
        return int(pc in self.program.right_words) if word.by_bit or word.flow.loops else None

    def _of_memory(self) -> list[Field]:
        address = self.program.address
        return [
            self._done("stores", Keep, KeepEntry, Clear),
            self._choice("store_from", self._stored),
            self._each("by_index", lambda word: _either(word.find(KeepEntry, Clear), word.find(Keep))),
            self._each(
                "write_at",
                lambda word: _first(word, lambda keep: address(keep.slot), Keep),
                self.address_nbits,
            ),
            self._done("sets_modulus", SetModulus),
            self._flag("scales", lambda word: word.setup and word.setup.kind == "scale"),
            self._flag(
                "sets_ones", lambda word: any(change.src == "ones" for change in word.find(SetModulus))
            ),
            self._choice("modulus_from", self._modulus),
        ]

    def _of_exponent(self) -> list[Field]:
        def of(word: Word, name: str) -> Value:
            # a step of the blinding puts its sum to the top, and adds an even number
            return _first(word, lambda load: int(getattr(load, name, 1)), Stretch, SetExponent)

        def source(word: Word) -> Value:
            return _first(word, lambda load: self.exponent_sources.index(load.src), SetExponent, Stretch)

        return [
            self._done("sets_exponent", SetExponent),
            self._each("exponent_from", source),
            self._each("at_top", lambda word: of(word, "top") if self.places else None),
            self._each("even", lambda word: of(word, "even")),
            self._each("adds", lambda word: _first(word, lambda load: int(load.add), SetExponent)),
            self._done("stretches", Stretch),
            self._done("sets_random", Random),
        ]

    def _of_checks(self) -> list[Field]:
        def counted(word: Word, get: Callable[[Setup], int]) -> Value:
            """How far a conversion goes, where words say so."""
            return None if self.scaled else _first(word, get, Setup)

        return [
            self._done("compares", Check),
            self._choice("compare_with", _attribute(Check, "y")),
            self._each(
                "reason", lambda word: _first(word, lambda check: int(check.status), Check), STATUS_NBITS
            ),
            self._flag("releases", lambda word: any(check.final for check in word.find(Check))),
            self._each("subtracts", lambda word: _first(word, lambda add: int(add.subtract), Add)),
            *(self._choice(f"sum_{which}_from", _attribute(Add, which)) for which in ("x", "y")),
            self._each("setup_cycles", lambda word: counted(word, lambda made: made.fixed // self.per_cycle)),
            self._each("setup_by_block", lambda word: counted(word, lambda made: int(made.per_block > 0))),
        ]


_MADE_BY = {Setup: "setup", Add: "sum", Fetch: "memory"}


def _attribute(kind: type, name: str) -> Callable[[Word], str | None]:
    """An attribute of the word's first action of a kind."""
    return lambda word: next(map(attrgetter(name), word.find(kind)), None)


def _by_window(word: Word) -> Value:
    """The last index is the length of the window at hand."""
    repeated = word.flow.kind == "repeat" and word.flow.last != SKIPPED
    return int(word.flow.last == WINDOW) if repeated else None


def _either(one: object, other: object) -> Value:
    """1, 0, or nobody looks."""
    return 1 if one else 0 if other else None
