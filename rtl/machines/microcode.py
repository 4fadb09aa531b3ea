"""Microcode: the words of a program (fl/program/ir.py) as fields of a ROM, and what a machine must have
to execute them.

Only what the program uses is there: a field has as many bits as its values need, one that never changes is a
wire, a multiplexer has the sources that are named. Where a word does not look at a field it takes the value
that is most common, so that the field may go. A field whose value hangs on the exponent's bit at hand has two
planes (`one`, `zero`).
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

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


def field(name: str, one: Sequence[Value], zero: Sequence[Value] | None = None, least: int = 1) -> Field:
    """With the most common value where nobody looks."""
    zero = one if zero is None else zero
    told = Counter(value for value in (*one, *zero) if value is not None)
    usual = told.most_common(1)[0][0] if told else 0

    def filled(values: Sequence[Value], other: Sequence[Value]) -> tuple[int, ...]:
        # a value that only one plane looks at is that of both
        return tuple(
            value if value is not None else by if by is not None else usual
            for value, by in zip(values, other, strict=True)
        )

    return Field(name, filled(one, zero), filled(zero, one), least)


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
                late = any(self._late(word, register) for register in self.program.registers)
                assert not (late and (after.setup or after.made(0) or after.made(1))), "what comes late"
        assert not self.scaled or self.refuses_silently

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
        counted = [word.flow.last for word in self.words if word.flow.kind == "repeat"]
        counted.append(self.program.digit_nbits)
        return max(1, max([self.program.depth, *(last + 1 for last in counted)]).bit_length())

    @property
    def counts(self) -> bool:
        """There is something to count."""
        return any(self._indexed(word) for word in self.words)

    @cached_property
    def converts(self) -> bool:
        """There is a unit for conversions."""
        return bool(self.program.find(Setup))

    @cached_property
    def scaled(self) -> bool:
        """The unit for conversions makes a scaled modulus."""
        return any(setup.kind == "scale" for setup in self.program.find(Setup))

    @cached_property
    def checks(self) -> bool:
        """Residues are compared."""
        return bool(self.program.find(Check))

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
        return any(word.flow_at(bit).kind in ("enter", "back") for word in self.words for bit in (0, 1))

    @cached_property
    def repeats(self) -> bool:
        """Words are repeated."""
        return any(word.flow.kind == "repeat" for word in self.words)

    @cached_property
    def aligning(self) -> int | None:
        """The word that waits until the exponent is aligned."""
        return next((pc for pc, word in enumerate(self.words) if word.aligns), None)

    @cached_property
    def stretches(self) -> bool:
        """The exponent is blinded."""
        return bool(self.program.find(Stretch))

    @cached_property
    def shielded(self) -> bool:
        """No word of the memory shows while others are read: a number of the key would, though its use is
        blinded.
        """
        return bool(self.program.random_nbits)

    @cached_property
    def skips(self) -> bool:
        """Blocks of the exponent are skipped."""
        return bool(self.program.find(Skip))

    @cached_property
    def exponent_sources(self) -> tuple[str, ...]:
        """What the exponent is loaded from, or blinded with."""
        return tuple(dict.fromkeys((*self.named(SetExponent, "src"), *self.named(Stretch, "src"))))

    @cached_property
    def scans(self) -> bool:
        """The table is read as a whole."""
        return bool(self.program.find(Scan))

    # ---- fields, where they are read

    @cached_property
    def fields(self) -> dict[str, Field]:
        """All, by their names."""
        every = (*self._now(), *self._entered(), *self._ahead(), *self._sending())
        return {field.name: field for field in every}

    def _wanted(self, name: str) -> bool:
        """The sequencer reads it, or the datapath does as it is not the same in all words."""
        always = {"takes", "accepts", "answers", "passes", "to", "sets_exponent", "sets_modulus"}
        always |= {f"makes{at}" for at in range(self.positions)}
        optional = {
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
        return name in always or optional.get(name, name in self.handed)

    SEQUENCED = frozenset(
        (
            *(
                "takes",
                "accepts",
                "answers",
                "passes",
                "settles",
                "to",
                "sets_exponent",
                "sets_modulus",
                "loops",
            ),
            *(
                "moves_on",
                "out",
                "aligns",
                "repeats",
                "last",
                "start",
                "converts",
                "stores",
                "scans",
                "waits",
            ),
            *(
                "skips",
                "holds_entry",
                "by_window",
                "stretches",
                "sets_random",
                "compares",
                "reason",
                "releases",
                "makes0",
                "makes1",
                "setup_kind",
            ),
        )
    )

    @property
    def refuses_silently(self) -> bool:
        """The word to which a refusal goes makes no product and no conversion, and reads no memory."""
        word = self.words[self.program.failure]
        return not (word.products or word.setup or self._reads(word))

    @cached_property
    def handed(self) -> tuple[str, ...]:
        """The fields that the datapath reads, but for those that are the same in all words."""
        return tuple(
            name for name, field in self.fields.items() if name not in self.SEQUENCED and not field.fixed
        )

    @cached_property
    def now(self) -> list[Field]:
        """Of the word at hand."""
        return [field for field in self._now() if self._wanted(field.name)]

    @cached_property
    def entered(self) -> list[Field]:
        """Of the word that is next; they count in the cycle in which it is entered."""
        return [field for field in self._entered() if self._wanted(field.name)]

    @cached_property
    def ahead(self) -> list[Field]:
        """Of the word that is entered, or of the one at hand if none is."""
        return [field for field in self._ahead() if self._wanted(field.name)]

    @cached_property
    def sending(self) -> list[Field]:
        """Of the products that are sent."""
        return [field for field in self._sending() if self._wanted(field.name)]

    @cached_property
    def by_bit(self) -> bool:
        """What a word does hangs on the exponent's bit at hand."""
        return any(field.by_bit for field in (*self.now, *self.sending))

    @cached_property
    def by_bit_ahead(self) -> bool:
        """... and what a word does when it is entered."""
        return any(field.by_bit for field in (*self.entered, *(self.sending if self.forward else ())))

    @cached_property
    def places(self) -> bool:
        """Some exponents are loaded at the bottom of their register, some so that digits from its top end
        with their last.
        """
        loads = [
            set_exponent
            for set_exponent in self.program.find(SetExponent)
            if isinstance(set_exponent, SetExponent)
        ]
        digits = max((load.count for load in loads), default=0) * self.program.digit_nbits
        return len({load.top for load in loads}) > 1 and self.program.scanned_nbits > digits

    # ---- sources, in the order in which the program names them

    @cached_property
    def positions(self) -> int:
        """Products of a word."""
        return max(1, self.program.width)

    def factors(self, position: int, which: str) -> tuple[str, ...]:
        """What the first (x) or second (y) factor of the products at this place may be."""
        named: dict[str, None] = {}
        for word in self.words:
            for bit in (1, 0):
                made = self._at(word, position, bit)
                if made is not None:
                    named[made[2] if which == "x" else made[3]] = None
        return tuple(named) or ("r",)

    @staticmethod
    def _at(word: Word, position: int, bit: int) -> tuple | None:
        if position >= len(word.products):
            return None
        wanted = word.products[position]
        return next((name for name in word.made(bit) if name[0] is wanted), None)

    @cached_property
    def _factors(self) -> set[str]:
        """All of all products."""
        return {name for at in range(self.positions) for which in "xy" for name in self.factors(at, which)}

    @cached_property
    def reads_one(self) -> bool:
        """Something but a product takes 1 modulo the modulus; on a scaled one it is a word as any other."""
        if self.scaled:
            return False
        named = {*self.written, *self.named(Check, "y"), *self.named(Setup, "src")}
        named |= {source for register in self.program.registers for source in self.moves_to(register)}
        return "1" in named | {name for terms in self.sums or () for name in terms}

    @cached_property
    def read_now(self) -> frozenset[str]:
        """The registers of which somebody reads the value that they have; r is the result."""
        named = {"r", *self.written, *self.modulus_sources, *self.named(SetExponent, "src")}
        named |= {*self.named(Check, "y"), *(name for terms in self.sums or () for name in terms)}
        named |= {source for register in self.program.registers for source in self.moves_to(register)}
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
        moving = [word for word in self.words if self._moved(word, register) is not None]
        starts = register in self.named(Setup, "src")
        if starts or register == "s" or self.late_to(register):
            return False
        return bool(moving) and all(word.settles for word in moving)

    def late_to(self, register: str) -> tuple[str, ...]:
        """What a register takes of which nothing is sent ahead: "left", a number that leaves the form, and
        "sum".
        """
        return self._sources(self._late, register)

    def moves_to(self, register: str) -> tuple[str, ...]:
        """What else a register takes at the end of a word: registers, constants, fields, "setup", "sum",
        "memory".
        """
        return self._sources(self._moved, register)

    def _sources(self, taken: Callable[[Word, str], str | None], register: str) -> tuple[str, ...]:
        """All that words take so, in their order."""
        found = (taken(word, register) for word in self.words)
        return tuple(dict.fromkeys(action for action in found if action is not None))

    def _late(self, word: Word, register: str) -> str | None:
        """A product on a scaled modulus is so short that no sum, and no such number, may go before it in its
        first cycle.
        """
        for action in word.actions if self.scaled else ():
            if isinstance(action, Add) and action.dst == register:
                return "sum"
            if isinstance(action, Setup) and action.kind == "halve" and action.dst == register:
                return "left"
        return None

    def _moved(self, word: Word, register: str) -> str | None:
        if self._late(word, register) is not None:
            return None
        for action in word.actions:
            if isinstance(action, Pick) and register == "s":
                return "memory"
            if isinstance(action, Move | Setup | Add | Fetch) and action.dst == register:
                if isinstance(action, Move):
                    return action.src
                return (
                    "setup" if isinstance(action, Setup) else "sum" if isinstance(action, Add) else "memory"
                )
        return None

    def named(self, kind: type, attribute: str) -> tuple[str, ...]:
        """The sources of actions of a kind."""
        found = (action for action in self.program.all_actions if isinstance(action, kind))
        return tuple(dict.fromkeys(getattr(move, attribute) for move in found))

    @cached_property
    def modulus_sources(self) -> tuple[str, ...]:
        """Where the modulus comes from: a field, "0", "memory"."""
        sources = (self._modulus_source(set_modulus.src) for set_modulus in self.program.find(SetModulus))
        return tuple(dict.fromkeys(sources))

    @staticmethod
    def _modulus_source(source: str) -> str:
        if source in ("0", "ones"):
            return "0"  # which M' it comes with is another field
        return source if source.startswith("in.") else "memory"

    @cached_property
    def written(self) -> tuple[str, ...]:
        """What the memory takes: registers, fields, "0"."""
        sources = (self._stored(word) for word in self.words)
        return tuple(dict.fromkeys(source for source in sources if source is not None))

    @staticmethod
    def _stored(word: Word) -> str | None:
        """What a word leaves in the memory."""
        for action in word.actions:
            if isinstance(action, Keep | KeepEntry):
                return action.src
            if isinstance(action, Clear):
                return "0"
        return None

    # ---- fields

    def _each(self, name: str, of: Callable[[Word], Value], least: int = 1) -> Field:
        return field(name, [of(word) for word in self.words], least=least)

    def _by_bit(self, name: str, of: Callable[[Word, int], Value], least: int = 1) -> Field:
        return field(name, [of(word, 1) for word in self.words], [of(word, 0) for word in self.words], least)

    def _flag(self, name: str, of: Callable[[Word], object]) -> Field:
        return self._each(name, lambda word: int(bool(of(word))))

    @staticmethod
    def _passes(word: Word, bit: int) -> bool:
        """It ends by itself, in its first cycle unless it waits for a scan."""
        other = word.takes or word.aligns or word.setup is not None or word.flow.kind == "answer"
        return not other and not word.made(bit)

    def _sending(self) -> list[Field]:
        """Of the products that are sent."""
        fields = []
        for at in range(self.positions):
            for which, place in (("x", 2), ("y", 3)):
                sources = self.factors(at, which)

                def index(
                    word: Word, bit: int, at: int = at, place: int = place, sources: tuple = sources
                ) -> Value:
                    made = self._at(word, at, bit)
                    return None if made is None else sources.index(made[place])

                fields.append(self._by_bit(f"{which}{at}", index))
        fields += [
            self._each(f"lifts{at}", functools.partial(self._lifts, at)) for at in range(self.positions)
        ]
        fields.append(self._each("waits", lambda word: int(word.needs_entry) if word.products else None))
        return fields

    def _entered(self) -> list[Field]:
        """Of the word that is next."""
        fields = [
            self._by_bit(f"makes{at}", functools.partial(self._makes, at)) for at in range(self.positions)
        ]
        starts = self.named(Setup, "src")
        fields += [
            self._flag("converts", lambda word: word.setup),
            self._each("setup_from", lambda word: starts.index(word.setup.src) if word.setup else None),
            self._each("setup_kind", self._kind, 2),
            self._flag("scans", lambda word: word.find(Scan)),
            self._each("start", lambda word: word.start if self._indexed(word) else None, self.index_nbits),
        ]
        return fields

    def _ahead(self) -> list[Field]:
        """Of the memory that is read for the word that is entered, or for the one at hand if none is."""
        return [
            self._flag("picks", lambda word: word.find(Pick)),
            *([self._flag("reads", self._reads)] if self.shielded else []),
            self._each("read_at", self._read_at, self.address_nbits),
        ]

    def _reads(self, word: Word) -> bool:
        return self._read_at(word) is not None or bool(word.find(Pick))

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
        for action in word.actions:
            if isinstance(action, Fetch):
                return self.program.address(action.slot)
            if isinstance(action, SetModulus) and self._modulus_source(action.src) == "memory":
                return self.program.address(action.src)
        return None

    def _now(self) -> list[Field]:
        """Of the word at hand."""
        program = self.program
        fields = [
            self._flag("takes", lambda word: word.takes),
            self._flag("accepts", lambda word: word.accepts),
            self._flag("answers", lambda word: word.flow.kind == "answer"),
            self._flag("aligns", lambda word: word.aligns),
            self._by_bit("passes", lambda word, bit: int(self._passes(word, bit))),
            self._flag("settles", lambda word: word.settles),
            self._by_bit("repeats", lambda word, bit: int(word.flow_at(bit).kind == "repeat")),
            self._each("by_window", _by_window),
            self._flag("skips", lambda word: word.find(Skip)),
            self._each(
                "last",
                lambda word: word.flow.last if _by_window(word) == 0 else None,
                self.index_nbits,
            ),
            self._by_bit("loops", lambda word, bit: int(word.flow_at(bit).kind in ("enter", "back"))),
            self._by_bit("moves_on", lambda word, bit: int(word.flow_at(bit).kind == "back")),
            self._by_bit("to", lambda word, bit: word.flow_at(bit).to, self.pc_nbits),
            self._by_bit("out", self._out, self.pc_nbits),
            field("right", [self._right(pc) for pc in range(len(self.words))]),
            self._flag("wide", lambda word: any(product.wide for product in word.products)),
            self._flag("holds_entry", lambda word: word.needs_entry and not word.products),
        ]
        for register in program.registers:

            def takes(word: Word, bit: int, register: str = register) -> Value:
                return self._takes(word, bit, register)

            fields.append(self._by_bit(f"{register}_takes", takes, self.positions))

            moves, source = self._choice(self._moved, register)
            late, late_source = self._choice(self._late, register)
            fields.append(self._flag(f"{register}_moves", moves))
            fields.append(self._flag(f"{register}_late", late))
            fields.append(self._each(f"{register}_late_from", late_source))
            fields.append(self._each(f"{register}_from", source))
        fields += self._of_memory()
        fields += self._of_exponent()
        fields += self._of_checks()
        return fields

    def _choice(
        self, taken: Callable[[Word, str], str | None], register: str
    ) -> tuple[Callable[[Word], bool], Callable[[Word], Value]]:
        """Whether a word takes something so, and which of the sources."""
        sources = self._sources(taken, register)

        def takes(word: Word) -> bool:
            return taken(word, register) is not None

        def source(word: Word) -> Value:
            found = taken(word, register)
            return None if found is None else sources.index(found)

        return takes, source

    def _takes(self, word: Word, bit: int, register: str) -> Value:
        """A bit for each product of which the register becomes the value; nobody looks where none arrives."""
        made = [self._at(word, at, bit) for at in range(self.positions)]
        if not any(made):
            return None
        return sum(1 << at for at, name in enumerate(made) if name and register in (name[1], name[0].also))

    @staticmethod
    def _out(word: Word, bit: int) -> Value:
        flow = word.flow_at(bit)
        return flow.out if flow.kind in ("enter", "back") else None

    def _right(self, pc: int) -> Value:
        word = self.words[pc]
        looks = word.by_bit or word.flow.kind in ("enter", "back")
        return int(pc in self.program.right_words) if looks else None

    def _of_memory(self) -> list[Field]:
        written = self.written

        def source(word: Word) -> Value:
            stored = self._stored(word)
            return None if stored is None else written.index(stored)

        def address(word: Word) -> Value:
            return next(
                (self.program.address(action.slot) for action in word.actions if isinstance(action, Keep)),
                None,
            )

        return [
            self._flag("stores", lambda word: word.find(Keep, KeepEntry, Clear)),
            self._each("store_from", source),
            self._each("by_index", lambda word: _either(word.find(KeepEntry, Clear), word.find(Keep))),
            self._each("write_at", address, self.address_nbits),
            self._flag("sets_modulus", lambda word: word.find(SetModulus)),
            self._flag("scales", lambda word: word.setup and word.setup.kind == "scale"),
            self._flag(
                "sets_ones",
                lambda word: any(set_modulus.src == "ones" for set_modulus in word.find(SetModulus)),
            ),
            self._each(
                "modulus_from",
                lambda word: next(
                    (
                        self.modulus_sources.index(self._modulus_source(action.src))
                        for action in word.actions
                        if isinstance(action, SetModulus)
                    ),
                    None,
                ),
            ),
        ]

    def _of_exponent(self) -> list[Field]:
        sources = self.exponent_sources

        def of(word: Word, get: Callable[[SetExponent], int]) -> Value:
            return next((get(action) for action in word.actions if isinstance(action, SetExponent)), None)

        def at_top(word: Word) -> Value:
            if not self.places:
                return None
            return 1 if word.find(Stretch) else of(word, lambda action: int(action.top))

        def source(word: Word) -> Value:
            found = (action for action in word.actions if isinstance(action, SetExponent | Stretch))
            return next((sources.index(set_exponent.src) for set_exponent in found), None)

        return [
            self._flag("sets_exponent", lambda word: word.find(SetExponent)),
            self._each("exponent_from", source),
            self._each("at_top", at_top),
            self._each(
                "even",
                lambda word: of(word, lambda action: int(action.even)) if not word.find(Stretch) else 1,
            ),
            self._each("adds", lambda word: of(word, lambda action: int(action.add))),
            self._flag("stretches", lambda word: word.find(Stretch)),
            self._flag("sets_random", lambda word: word.find(Random)),
        ]

    def _counted(self, word: Word, of: Callable[[Setup], int]) -> Value:
        """How far a conversion goes, where words say so."""
        return None if word.setup is None or self.scaled else of(word.setup)

    def _term(self, which: str) -> Field:
        """Of a sum."""
        sources = self.named(Add, which)
        return self._each(
            f"sum_{which}_from",
            lambda word: next(
                (sources.index(getattr(action, which)) for action in word.actions if isinstance(action, Add)),
                None,
            ),
        )

    def _of_checks(self) -> list[Field]:
        others = self.named(Check, "y")

        def of(word: Word, get: Callable[[Check], int]) -> Value:
            return next((get(action) for action in word.actions if isinstance(action, Check)), None)

        return [
            self._flag("compares", lambda word: word.find(Check)),
            self._each("compare_with", lambda word: of(word, lambda check: others.index(check.y))),
            self._each("reason", lambda word: of(word, lambda check: int(check.status)), STATUS_NBITS),
            self._flag(
                "releases",
                lambda word: any(isinstance(action, Check) and action.final for action in word.actions),
            ),
            self._each(
                "subtracts",
                lambda word: next(
                    (int(action.subtract) for action in word.actions if isinstance(action, Add)), None
                ),
            ),
            *(self._term(which) for which in ("x", "y")),
            self._each(
                "setup_cycles", lambda word: self._counted(word, lambda made: made.fixed // self.per_cycle)
            ),
            self._each(
                "setup_by_block", lambda word: self._counted(word, lambda made: int(made.per_block > 0))
            ),
        ]


def _by_window(word: Word) -> Value:
    """The last index is the length of the window at hand."""
    repeated = word.flow.kind == "repeat" and word.flow.last != SKIPPED
    return int(word.flow.last == WINDOW) if repeated else None


def _either(one: object, other: object) -> Value:
    """1, 0, or nobody looks."""
    return 1 if one else 0 if other else None
