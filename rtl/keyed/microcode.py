"""Microcode: the contents of the ROM for a program (fl/program/ir.py), a microinstruction for each `Word`.

A microinstruction is a bitstruct of enables, multiplexer selects, addresses and counts, listed in
`Microcode.fields`. A field exists only if the machine has the box that it controls: no address without a
memory, no select for a multiplexer with one source. A field may depend on the exponent's current bit. In a
microinstruction that does not use a field, the field has its most common value, which keeps the ROM small.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from pymtl3 import clog2, mk_bits, mk_bitstruct

from ...fl.multipliers.scaled_entry import ScaledEntry
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
from ...fl.status import STATUS_NBITS, Status
from ..messages import fields_of, mk_keyed_req, mk_modexp_req, mk_modexp_resp
from ..units.scaled.scaled_setup import ConvertKind

Value = int | None  # None: the microinstruction does not use the field


@dataclass(frozen=True)
class ExpShape:
    """Shape of a machine that executes programs, apart from its product units."""

    nbits: int  # of the operands
    forward: bool  # factors come from the registers' inputs, a cycle earlier
    odd_only: bool
    reduced_only: bool
    block_nbits: int = 0  # of a product unit that adapts to the modulus
    doublings_per_cycle: int = 4
    form: ScaledEntry | None = None  # of product units on a scaled modulus

    @property
    def described(self) -> str:
        forwarding = "forwarding" if self.forward else "not forwarding"
        return f"of {self.nbits} bits, {forwarding}"

    @property
    def residue_nbits(self) -> int:
        return self.form.word_nbits if self.form else self.nbits

    @property
    def modulus_nbits(self) -> int:
        return self.form.shape.nbits if self.form else self.nbits

    @property
    def factor_nbits(self) -> int:
        """Width of a product unit's first factor."""
        return self.form.shape.wide if self.form else self.nbits

    @property
    def nblocks(self) -> int:
        """Most blocks of a modulus."""
        return -(-self.residue_nbits // self.block_nbits) if self.block_nbits else 0


@dataclass(frozen=True)
class Field:
    """A field of all microinstructions: its values for an exponent bit of 1, and for a 0, by address."""

    name: str
    nbits: int
    one: tuple[int, ...]
    zero: tuple[int, ...]
    used: tuple[tuple[bool, bool], ...]  # for a 0, and for a 1
    labels: tuple[str, ...] = ()  # of an enumeration
    mask: bool = False  # each bit enables something

    def value(self, pc: int, bit: int) -> int:
        return (self.one if bit else self.zero)[pc]

    def is_set(self, pc: int, bits: Sequence[int]) -> bool:
        """Whether a microinstruction uses the field and a reader wants to see it: no zero enables."""
        is_number = bool(self.labels) or (self.nbits > 1 and not self.mask)
        return any(self.used[pc][bit] for bit in bits) and (is_number or self.value(pc, bits[0]) > 0)


def _has(*kinds: type) -> cached_property[bool]:
    """Whether the program has actions of these kinds."""
    return cached_property(lambda code: bool(code.program.find(*kinds)))


@dataclass(frozen=True)
class Microcode:
    """A program for a machine of a shape: its microinstructions, and the boxes that they control."""

    program: Program
    shape: ExpShape

    def __post_init__(self) -> None:
        # a conversion starts from a register or from an operand that it loads, never from an arriving product
        for word, bit in itertools.product(self.words, (0, 1)):
            made = {name for product, dst, *_ in word.made(bit) for name in (dst, product.also)}
            for after in self._successors(word, bit):
                assert after.setup is None or after.setup.src not in made, "a product that arrives"
                # ... and no product is sent in the cycle of a late load
                late = any(self._late_source(register, word) for register in self.program.registers)
                assert not (late and (after.setup or after.made(0) or after.made(1))), "a late load"
        # an exponent is loaded for loops of one direction
        right = None
        for pc, word in enumerate(self.words):
            for load in word.find(SetExponent):
                right = not load.count
            assert not word.flow.loops or right is (pc in self.program.right_words), "direction"
        # a refused request goes on with a microinstruction without product, conversion and memory access
        refused = self.words[self.program.failure]
        assert not (refused.products or refused.setup or self._reads(refused))

    @property
    def words(self) -> tuple[Word, ...]:
        return self.program.words

    def _successors(self, word: Word, bit: int) -> list[Word]:
        flow = word.flow_at(bit)
        return [self.words[flow.to], self.words[flow.out], *[word] * (flow.kind == "repeat")]

    # ---- widths

    @property
    def nproducts(self) -> int:
        """Most products of a microinstruction."""
        return max(1, self.program.width)

    @property
    def pc_nbits(self) -> int:
        return max(1, clog2(len(self.words)))

    @property
    def address_nbits(self) -> int:
        """Width of an address of the memory."""
        return max(1, clog2(self.program.depth or 1))

    @property
    def index_nbits(self) -> int:
        """Width of the repetition counter, which also addresses the memory."""
        lasts = [word.flow.last for word in self.words if word.flow.kind == "repeat"]
        return max(1, self.program.depth - 1, self.program.digit_nbits, *lasts).bit_length()

    @property
    def exponent_nbits(self) -> int:
        """Width of the exponents that are loaded."""
        return min(self.shape.residue_nbits, self.program.scanned_nbits)

    @cached_property
    def ndigits(self) -> int:
        """Digits of the exponent that are scanned from the top; 0: it is scanned from the right alone."""
        (ndigits,) = {load.count for load in self.program.find(SetExponent) if load.count} or {0}
        return ndigits

    # ---- boxes

    has_converter = _has(Setup)
    has_comparator = _has(Check)
    has_adder = _has(Add)
    blinds_exponent = _has(Stretch)
    skips_blocks = _has(Skip)  # leading blocks of the exponent
    scans_table = _has(Scan)  # reads every entry

    @cached_property
    def scaled(self) -> bool:
        """The converter makes a scaled modulus."""
        return any(setup.kind == "scale" for setup in self.program.find(Setup))

    @property
    def shares_unit(self) -> bool:
        """The unit computes both products of a microinstruction, one after the other."""
        return self.nproducts > 1

    @cached_property
    def has_counter(self) -> bool:
        """Whether some microinstructions repeat or index the memory."""
        return any(map(self._indexed, self.words))

    @cached_property
    def has_repeats(self) -> bool:
        return any(word.flow.kind == "repeat" for word in self.words)

    @cached_property
    def stores_fields(self) -> bool:
        """Fields of a request are stored when it is accepted."""
        return any(word.takes and word.find(*_WRITES) for word in self.words)

    @cached_property
    def align_pc(self) -> int | None:
        """Address of the microinstruction that shifts out the exponent's leading zeros; never 0."""
        return next((pc for pc, word in enumerate(self.words) if word.aligns), None)

    @property
    def shielded(self) -> bool:
        """Idle words of the memory cause no switching, which would show a key whose use is blinded."""
        return bool(self.program.random_nbits)

    @property
    def clears_lowest(self) -> bool:
        """The lowest bit of some exponents is cleared."""
        return self.blinds_exponent or any(load.even for load in self.program.find(SetExponent))

    @property
    def two_directions(self) -> bool:
        """The exponent is shifted to the right in one loop, to the left in another."""
        return bool(self.program.right_words) and self.ndigits > 0

    @property
    def ends_early(self) -> bool:
        """The end of a scan to the right is found ahead of the shift, which is the longest path otherwise."""
        return self.program.public > 0 and not any(
            word.flow.loops for word in self.words if word.find(*_LOADS)
        )

    @cached_property
    def doublings(self) -> int | None:
        """Doublings of a conversion; None if conversions differ, or depend on the modulus."""
        counts = {(setup.fixed, setup.per_block) for setup in self.program.find(Setup)}
        ((fixed, per_block),) = counts if len(counts) == 1 else ((0, 1),)
        return None if per_block else fixed

    @property
    def counts_doublings(self) -> bool:
        """The microinstruction says how many doublings a conversion has."""
        return self.has_converter and not self.scaled and self.doublings is None

    @cached_property
    def doublings_per_block(self) -> int:
        """Doublings of a conversion for each block of the modulus."""
        return max((setup.per_block for setup in self.program.find(Setup)), default=0)

    @cached_property
    def reads_one(self) -> bool:
        """A box other than a product unit reads 1 modulo the modulus."""
        return not self.scaled and any(
            "1" in sources for select, sources in self.sources.items() if select[0] not in "xy"
        )

    @cached_property
    def reads_ahead(self) -> bool:
        """The memory, or a forwarded product, needs the microinstruction of the next cycle."""
        issue = self.shape.forward and (
            self.scaled or any(len(self.sources[name]) > 1 for name, _ in self._factors)
        )
        return issue or self.program.depth > 0

    # ---- messages

    @cached_property
    def request_type(self) -> type:
        nbits, fields = self.shape.nbits, self.program.fields
        return mk_keyed_req(nbits, fields) if fields else mk_modexp_req(nbits)

    @cached_property
    def response_type(self) -> type:
        return mk_modexp_resp(self.shape.nbits)

    # ---- multiplexers

    @cached_property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """The sources of each multiplexer, by its select field, in the order of the program."""
        found = {name: [source(word) for word in self.words] for name, source in self._selects.items()}
        for name, factor in self._factors:
            found[name] = [factor(word, bit) for word in self.words for bit in (1, 0)]
        sources = {name: tuple(dict.fromkeys(filter(None, values))) for name, values in found.items()}
        return sources | {name: sources[name] or ("r",) for name, _ in self._factors}

    @cached_property
    def _selects(self) -> dict[str, Callable[[Word], Any]]:
        registers = self.program.registers
        return {
            **{f"{register}_from": partial(self._forwarded_source, register) for register in registers},
            **{
                f"{register}_late_from": partial(self._unforwarded_source, register) for register in registers
            },
            "write_from": _value(_SRC, *_WRITES),
            "modulus_from": _modulus,
            "exponent_from": _value(_SRC, SetExponent, Stretch),
            "sum_x_from": _value(_X, Add),
            "sum_y_from": _value(_Y, Add),
            "convert_from": _value(_SRC, Setup),
            "compare_with": _value(_Y, Check),
        }

    @cached_property
    def _factors(self) -> list[tuple[str, Callable[[Word, int], str | None]]]:
        """The factors of products by their select fields."""
        return [
            (f"{name}{at}", partial(_factor, at, get))
            for at in range(self.nproducts)
            for name, get in (("x", _X), ("y", _Y))
        ]

    def _late_source(self, register: str, word: Word) -> str | None:
        """The source ("sum" or "halved") that is too late to be forwarded, on a scaled modulus."""
        if self.scaled and any(add.dst == register for add in word.find(Add)):
            return "sum"
        halved = (setup.dst for setup in word.find(Setup) if setup.kind == "halve")
        return "halved" if register in halved else None

    def _load_source(self, register: str, word: Word) -> str | None:
        if self._late_source(register, word):
            return None
        for action in word.find(Pick, *_RESULT_OF, Move):
            if action.dst == register:
                return action.src if isinstance(action, Move) else _RESULT_OF.get(type(action), "memory")
        return None

    @cached_property
    def _all_late(self) -> set[str]:
        """Registers all loads of which come with a new modulus, so that none is forwarded."""
        loaded: set[str] = set()
        early = {"s", *(setup.src for setup in self.program.find(Setup))}
        for register, word in itertools.product(self.program.registers, self.words):
            if self._late_source(register, word):
                early.add(register)
            elif self._load_source(register, word):
                (loaded if word.settles else early).add(register)
        return loaded - early

    def _forwarded_source(self, register: str, word: Word) -> str | None:
        """The source of a register's load that is forwarded to products."""
        return None if register in self._all_late else self._load_source(register, word)

    def _unforwarded_source(self, register: str, word: Word) -> str | None:
        """The source of a register's load that is not forwarded."""
        return (self._load_source if register in self._all_late else self._late_source)(register, word)

    # ---- the microinstruction

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields in the order of the struct, from its most significant bits on."""
        return (
            *self._flow(),
            *self._products(),
            *self._registers(),
            *self._memory(),
            *self._exponent(),
            *self._conversions(),
            *self._checks(),
        )

    @cached_property
    def by_bit(self) -> bool:
        """The exponent's current bit changes microinstructions."""
        return any(field.one != field.zero for field in self.fields)

    @cached_property
    def constants(self) -> dict[str, int]:
        """The fields that are the same in all microinstructions."""
        return {field.name: field.one[0] for field in self.fields if len({*field.one, *field.zero}) == 1}

    @cached_property
    def inst_type(self) -> type:
        labels = {field.name: field.labels for field in self.fields if field.labels}
        return mk_bitstruct(
            "Microinstruction",
            {field.name: mk_bits(field.nbits) for field in self.fields},
            namespace={"ENUMS": labels, "CONSTANTS": self.constants},
            # PyMTL3 returns an earlier class of the same fields, labels apart, unless a setting differs
            add_repr=(True, *labels.items(), *self.constants.items()),
        )

    def signals(self, inst: Any) -> dict[str, Any]:
        """The fields of a signal of `inst_type`, by name."""
        return fields_of(inst, ((field.name, field.nbits) for field in self.fields))

    def inst(self, pc: int, bit: int) -> Any:
        """A microinstruction as the ROM has it."""
        return self.inst_type(*(field.value(pc, bit) for field in self.fields))

    @cached_property
    def defaults(self) -> dict[str, int]:
        """The values of the fields in microinstructions that do not use them; no constant fields."""
        values = {}
        places = [*itertools.product(range(len(self.words)), (0, 1))]
        for name, field in self._printed.items():
            unset = Counter(field.value(pc, bit) for pc, bit in places if not field.is_set(pc, [bit]))
            values[name] = unset.most_common(1)[0][0] if unset else 0
        return values

    @cached_property
    def _printed(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields if field.name not in self.constants}

    def settings(self, pc: int, bits: Sequence[int]) -> dict[str, int]:
        """The values of the fields that a microinstruction uses, or that differ from their defaults."""
        return {
            name: field.value(pc, bits[0])
            for name, field in self._printed.items()
            if field.is_set(pc, bits) or field.value(pc, bits[0]) != self.defaults[name]
        }

    def _field(
        self, name: str, value: Callable[[Word, int], Value], nbits: int = 1, labels: Any = ()
    ) -> Field:
        """A field of at least nbits bits."""
        pairs = [(value(word, 1), value(word, 0)) for word in self.words]
        used = Counter(value for pair in pairs for value in pair if value is not None)
        ((usual, _),) = used.most_common(1) or [(0, 0)]
        # a value for one bit alone is used for both
        one, zero = (
            tuple(next((value for value in pair if value is not None), usual) for pair in ordered)
            for ordered in (pairs, [pair[::-1] for pair in pairs])
        )
        found = tuple((at_zero is not None, at_one is not None) for at_one, at_zero in pairs)
        return Field(name, max(nbits, max(*one, *zero).bit_length()), one, zero, found, tuple(labels))

    def _number(self, name: str, value: Callable[[Word], Value], nbits: int = 1, labels: Any = ()) -> Field:
        return self._field(name, lambda word, _: value(word), nbits, labels)

    def _mask(self, name: str, value: Callable[[Word, int], Value]) -> Field:
        """A field with a bit for each product."""
        return replace(self._field(name, value, self.nproducts), mask=True)

    def _flag(self, name: str, value: Callable[[Word], object]) -> Field:
        return self._number(name, lambda word: int(bool(value(word))))

    def _action(self, name: str, *kinds: type) -> Field:
        """A flag of microinstructions with an action of these kinds."""
        return self._flag(name, lambda word: word.find(*kinds))

    def _select(self, name: str) -> Iterator[Field]:
        """The select of a multiplexer, if there is more than one source."""
        sources = self.sources[name]
        source = dict(self._factors).get(name) or (lambda word, _: self._selects[name](word))
        if len(sources) > 1:
            labels = [LABELS.get(item, item).replace(".", "_").upper() for item in sources]

            def index(word: Word, bit: int) -> Value:
                found = source(word, bit)
                return sources.index(found) if found else None

            yield self._field(name, index, clog2(len(sources)), labels)

    def _flow(self) -> Iterator[Field]:
        """Fields of the sequencer: the end of the microinstruction, and the next one."""
        yield self._flag("needs_request", lambda word: word.takes)
        yield self._flag("accept", lambda word: word.accepts)
        yield self._flag("answer", lambda word: word.flow.kind == "answer")
        if self.program.public:
            yield self._flag("ask", lambda word: word.flow.kind == "ask")
        yield self._field("one_cycle", _one_cycle)
        yield self._field("target", lambda word, bit: word.flow_at(bit).to, self.pc_nbits)
        yield self._field("in_loop", lambda word, bit: int(word.flow_at(bit).loops))
        yield self._field("next_digit", lambda word, bit: int(word.flow_at(bit).kind == "back"))
        yield self._field("loop_exit", _loop_exit, self.pc_nbits)
        if self.shape.forward:
            yield self._flag("no_forward", lambda word: word.settles)
        if self.align_pc:
            yield self._flag("align", lambda word: word.aligns)
        if self.has_repeats:
            yield self._field("repeats", lambda word, bit: int(word.flow_at(bit).kind == "repeat"))
            yield self._number(
                "last_index", lambda word: None if _by_window(word) != 0 else word.flow.last, self.index_nbits
            )
        if self.program.sliding:
            yield self._number("to_window_end", _by_window)
        if self.skips_blocks:
            yield self._action("skip", Skip)
        if self.has_counter:
            yield self._number(
                "first_index", lambda word: word.start if self._indexed(word) else None, self.index_nbits
            )

    def _products(self) -> Iterator[Field]:
        yield self._mask("products", self._products_issued)
        for at in range(self.nproducts):
            yield from self._select(f"x{at}")
            yield from self._select(f"y{at}")
            if self.scaled:
                yield self._number(f"shift_factor{at}", partial(_lifted, at))
        if self.shape.block_nbits:
            yield self._flag("all_blocks", lambda word: any(product.wide for product in word.products))

    def _registers(self) -> Iterator[Field]:
        for register in self.program.registers:
            yield self._mask(f"{register}_load_product", partial(self._products_loaded, register))
            for kind in ("", "late_"):
                name = f"{register}_{kind}from"
                if self.sources[name]:
                    yield self._flag(f"{register}_{kind}load", self._selects[name])
                    yield from self._select(name)

    def _memory(self) -> Iterator[Field]:
        address = self.program.address
        if self.program.depth:
            yield self._number("read_at", self._read_at, self.address_nbits)
            yield self._action("write", Keep, KeepEntry, Clear)
            yield from self._select("write_from")
            yield self._number("write_at", _value(lambda keep: address(keep.slot), Keep), self.address_nbits)
            yield self._number(
                "write_at_index", _value(lambda action: int(not isinstance(action, Keep)), *_WRITES)
            )
        if self.shielded:
            yield self._flag("read", self._reads)
        if self.program.sliding:
            yield self._action("read_at_window", Pick)
        if self.scans_table:
            yield self._action("start_scan", Scan)
            yield self._number("sends_entry", lambda word: int(word.needs_entry) if word.products else None)
            yield self._flag("reads_entry", lambda word: word.needs_entry and not word.products)

    def _exponent(self) -> Iterator[Field]:
        """Fields of the modulus and of the exponent."""
        yield self._action("load_modulus", SetModulus)
        yield from self._select("modulus_from")
        yield self._action("load_exponent", SetExponent)
        yield from self._select("exponent_from")
        if self.two_positions:
            # a step of the blinding puts its sum to the top, and adds an even number
            yield self._number("at_top", _value(lambda load: int(load.top), *_LOADS))
        if self.clears_lowest:
            yield self._number("clear_lowest", _value(lambda load: int(load.even), *_LOADS))
        if self.blinds_exponent:
            yield self._number("add_exponent", _value(lambda load: int(load.add), SetExponent))
            yield self._action("blind_step", Stretch)
            yield self._action("load_random", Random)
        if self.two_directions:
            yield self._number("load_right", _value(lambda load: int(not load.count), SetExponent))

    @cached_property
    def two_positions(self) -> bool:
        """Some exponents are loaded at the bottom of their register, others at its top, so that the scan ends
        with their last digit.
        """
        loads = self.program.find(SetExponent)
        digits = self.ndigits * self.program.digit_nbits
        return len({load.top for load in loads}) > 1 and self.program.scanned_nbits > digits

    def _conversions(self) -> Iterator[Field]:
        if self.has_converter:
            yield self._flag("convert", lambda word: word.setup)
            yield from self._select("convert_from")
        if self.scaled:
            kind = _value(lambda setup: ConvertKind[setup.kind.upper()], Setup)
            yield self._number("convert_kind", kind, 2, ConvertKind.__members__)
            yield self._flag("load_m_prime", lambda word: word.setup and word.setup.kind == "scale")
            yield self._flag(
                "load_ones", lambda word: any(load.src == "ones" for load in word.find(SetModulus))
            )
        if self.counts_doublings:
            per_cycle = self.shape.doublings_per_cycle
            yield self._number("convert_cycles", _value(lambda setup: setup.fixed // per_cycle, Setup))
            if self.doublings_per_block:
                yield self._number("convert_blocks", _value(lambda setup: int(setup.per_block > 0), Setup))

    def _checks(self) -> Iterator[Field]:
        if self.has_adder:
            yield from self._select("sum_x_from")
            yield from self._select("sum_y_from")
            yield self._number("subtract", _value(lambda add: int(add.subtract), Add))
        if self.has_comparator:
            yield self._action("compare", Check)
            yield from self._select("compare_with")
            yield self._number("fail", _value(attrgetter("status"), Check), STATUS_NBITS, Status.__members__)
        if self.program.verified:
            yield self._flag("release_result", lambda word: any(check.final for check in word.find(Check)))

    def _products_issued(self, word: Word, bit: int) -> Value:
        """The products that it issues, a bit for each."""
        return sum(1 << at for at in range(self.nproducts) if _product(word, at, bit))

    def _products_loaded(self, register: str, word: Word, bit: int) -> Value:
        """The products that a register loads, a bit for each."""
        made = [_product(word, at, bit) for at in range(self.nproducts)]
        if not any(made):
            return None
        return sum(
            1 << at for at, found in enumerate(made) if found and register in (found.dst, found.product.also)
        )

    @staticmethod
    def _indexed(word: Word) -> bool:
        return word.flow.kind == "repeat" or bool(word.find(KeepEntry, Clear))

    def _read_at(self, word: Word) -> Value:
        slots = (action.slot for action in word.find(Fetch, SetModulus))
        return next((self.program.address(slot) for slot in slots if slot), None)

    def _reads(self, word: Word) -> bool:
        return self._read_at(word) is not None or bool(word.find(Pick))


LABELS = {"0": "zero", "1": "one", "setup": "converter"}  # of sources whose names are no identifiers
_RESULT_OF = {Setup: "setup", Add: "sum", Fetch: "memory"}
_WRITES = (Keep, KeepEntry, Clear)
_LOADS = (Stretch, SetExponent)


_SRC, _X, _Y = (attrgetter(name) for name in ("src", "x", "y"))


def _value(get: Callable[[Any], Any], *kinds: type) -> Callable[[Word], Any]:
    """A value by the first action of these kinds."""
    return lambda word: next(map(get, word.find(*kinds)), None)


def _factor(at: int, get: Callable[[Any], Any], word: Word, bit: int) -> Any:
    made = _product(word, at, bit)
    return made and get(made)


def _product(word: Word, position: int, bit: int) -> Multiplication | None:
    """The product at this place."""
    wanted = word.products[position : position + 1]
    return next((made for made in word.made(bit) if made.product in wanted), None)


def _lifted(at: int, word: Word) -> Value:
    return int(word.products[at].lifted) if at < len(word.products) else None


def _modulus(word: Word) -> str | None:
    """The source of the modulus; "ones" is a modulus 0 with another M'."""
    for change in word.find(SetModulus):
        return "memory" if change.slot else "0" if change.src == "ones" else change.src
    return None


def _one_cycle(word: Word, bit: int) -> int:
    """It ends in its first cycle, or when a scan ends."""
    other = word.takes or word.aligns or word.setup is not None or word.flow.kind == "answer"
    return int(not other and not word.made(bit))


def _loop_exit(word: Word, bit: int) -> Value:
    flow = word.flow_at(bit)
    return flow.out if flow.loops else None


def _by_window(word: Word) -> Value:
    """The last index is the length of the window."""
    repeated = word.flow.kind == "repeat" and word.flow.last != SKIPPED
    return int(word.flow.last == WINDOW) if repeated else None
