"""Axi4LiteFL: a machine behind AXI4-Lite as the bus sees it, with the register map of axi4lite.rdl.

An access is answered with OKAY or SLVERR. With SLVERR nothing has changed, and what was read is 0. That is
the answer to

    an address without a register; a write to a register that is only read, a read of one that is only written
    a write to an operand, or a start, while a computation is running
    a read of the result before there is one

Addresses are those of words: the last two bits do not count. Bytes without their strobe keep their value.
Operands stay for the next computation (a modulus and its exponent are a key that is loaded once) and cannot
be read. A computation ends with the interrupt, if it is enabled, with a result, or with a status code and no
result. Zeroise clears operands and result and then the machine, by a computation on zeros, whose end raises
the interrupt as well (busy until then); what is running goes on to its end first, without an answer.

What a machine takes as given is loaded as operands are, also the numbers of a private key, and the random
ones that blind an operation; these must be new for each. Numbers whose field is shorter than an operand have
zeros above it.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .accelerator import Shape
from .errors import BadInput
from .mod_exp import is_exponentiation
from .register_map import Register, find_register, read_map
from .status import Status
from .xcel import MASK, MOST_GIVEN, WORD_NBITS, from_words, to_words, words_of

MAP = Path(__file__).with_name("axi4lite.rdl")
OKAY, SLVERR = 0, 2
ADDRESS_NBITS = 12  # where few numbers are given
BYTES = WORD_NBITS // 8
ALL_BYTES = (1 << BYTES) - 1
OPERANDS = (
    "BASE",
    "EXPONENT",
    "MODULUS",
    *(f"GIVEN_{i}" for i in range(MOST_GIVEN)),
)  # in the order of a request
RESULT = "RESULT"
FIXED = (
    RESULT,
    "ID",
    "VERSION",
    "CAPABILITIES",
    "CONTROL",
    "STATUS",
    "IRQ_ENABLE",
    "IRQ_STATUS",
    "CYCLES_LOW",
    "CYCLES_HIGH",
)
ABOUT_KEYS = " (a modulus and its exponent are a key that is loaded once)"  # in the text above
MOST_WORDS = 128  # of a window
GENERAL = {  # fields of registers whose text in the map is about exponentiations
    "nbits": "bits of the widest field of a request",
    "start": "compute; refused while busy",
    "zeroise": "clear the fields, the results, and then the accelerator (busy); "
    "a computation that is running gives no answer",
}


@dataclass(frozen=True)
class Traits:
    """Properties that a machine reports in its registers."""

    constant_time: bool = False
    odd_only: bool = False
    reduced_only: bool = False
    modulus: int = (
        1  # one by which it forgets what it had: for which it computes, or which a machine with a key refuses
    )
    crt: bool = False  # a machine that takes a key, and what it does with it
    message_blinded: bool = False
    exponent_blinded: bool = False
    checked: bool = False
    public_exponents: bool = field(default=False, repr=False)  # its given fields tell machines apart

    @property
    def keyed(self) -> bool:
        """It takes the numbers of a private key."""
        return self.crt or self.message_blinded or self.exponent_blinded or self.checked


NO_TRAITS = Traits()


def rules(shape: Shape) -> str:
    """The text above from "An access is" on; of other accelerators without the words about keys."""
    text = (__doc__ or "").partition("An access is")
    told = "".join(text[1:])
    if is_exponentiation(shape):
        return told
    return told.partition("\n\nWhat a machine takes")[0].replace(ABOUT_KEYS, "")


@functools.cache
def _exponentiation_map(nbits: int, ngiven: int) -> dict[str, Register]:
    return read_map(MAP, {"W": words_of(nbits), "GIVEN": ngiven})


@functools.cache
def register_map(shape: Shape, traits: Traits = NO_TRAITS) -> dict[str, Register]:
    """The map of an accelerator by name: that of an exponentiation, with a register for each field.

    The reset value of CAPABILITIES is that of a machine with these traits.
    """
    registers = dict(_exponentiation_map(shape.widest, _ngiven(shape)))
    values = {"nbits": shape.widest}
    if is_exponentiation(shape):
        values |= {"given": _ngiven(shape) & 3, "given_high": _ngiven(shape) >> 2}
        values |= {name: int(value) for name, value in vars(traits).items() if name != "modulus"}
    able = registers["CAPABILITIES"]
    known = tuple(dataclasses.replace(field, reset=values.get(field.name, 0)) for field in able.fields)
    registers["CAPABILITIES"] = dataclasses.replace(able, fields=known)
    if is_exponentiation(shape):
        return registers
    check_registers(shape)
    renamed = dict(zip(OPERANDS, operand_names(shape), strict=False))
    renamed |= dict.fromkeys(OPERANDS[len(shape.request) :], "")
    found = {}
    for name, register in registers.items():
        own = renamed.get(name, name)
        if own:
            count = words_of(shape.result_nbits) if name == RESULT else register.count
            fields = tuple(
                dataclasses.replace(field, text=GENERAL.get(field.name, field.text))
                for field in register.fields
                if name != "CAPABILITIES" or field.name == "nbits"
            )
            found[own] = dataclasses.replace(register, name=own, count=count, fields=fields)
    return found


def _ngiven(shape: Shape) -> int:
    """Fields behind the first three."""
    return max(0, len(shape.request) - 3)


def check_registers(shape: Shape) -> None:
    """BadInput if the map has no place for a shape."""
    if len(shape.request) > len(OPERANDS):
        raise BadInput(
            f"a request of {len(shape.request)} fields: AXI4-Lite has registers for {len(OPERANDS)}; "
            "give interface xcel or stream"
        )
    if words_of(shape.result_nbits) > MOST_WORDS:
        raise BadInput(
            f"results of {words_of(shape.result_nbits)} words: AXI4-Lite has registers for {MOST_WORDS}; "
            "give interface xcel or stream"
        )


def operand_names(shape: Shape) -> tuple[str, ...]:
    """The registers of the fields of a request, in their order."""
    if is_exponentiation(shape):
        return OPERANDS[: len(shape.request)]
    return tuple(
        f"{name.upper()}_FIELD" if name.upper() in FIXED else name.upper() for name, _ in shape.request
    )


@functools.cache
def address_nbits(shape: Shape) -> int:
    """Bits of a byte address in the map."""
    last = max(register.address for register in _exponentiation_map(1, _ngiven(shape)).values())
    return max(ADDRESS_NBITS, last.bit_length())


def strobed(old: int, new: int, strobes: int) -> int:
    """A word of which some bytes are written."""
    mask = sum(0xFF << (8 * byte) for byte in range(BYTES) if strobes >> byte & 1)
    return (old & ~mask | new & mask) & MASK


class Axi4LiteFL:
    """The registers over any accelerator: `compute(*request)` gives its response, at once."""

    def __init__(
        self, shape: Shape, compute: Callable[..., Sequence[int]], traits: Traits = NO_TRAITS
    ) -> None:
        self.shape, self.compute = shape, compute
        self.nbits = shape.widest
        self.operands = operand_names(shape)
        self.widths = [nbits for _, nbits in shape.request]
        self.map = register_map(shape, traits)
        self.address_nbits = address_nbits(shape)
        self.words: dict[tuple[str, int], int] = {}  # of operands
        self.zeroise()
        self.enabled = self.event = 0

    def zeroise(self) -> None:
        """Forget operands and result."""
        self.words.clear()
        self.status, self.done, self.result = int(Status.OK), False, 0

    @property
    def interrupt(self) -> bool:
        return bool(self.enabled & self.event)

    def write(self, address: int, data: int, strobes: int = ALL_BYTES) -> int:
        """A write access: its answer."""
        found = find_register(self.map, address)
        if found is None or not found[0].writable:
            return SLVERR
        register, place = found
        held = strobed(0, data, strobes)
        if register.name in self.operands:
            old = self.words.get((register.name, place), 0)
            self.words[register.name, place] = strobed(old, data, strobes)
        elif register.name == "IRQ_ENABLE":
            self.enabled = strobed(self.enabled, data, strobes) & 1
        elif register.name == "IRQ_STATUS":
            self.event &= ~held
        elif held >> register.field("zeroise").low & 1:
            self.zeroise()
            if not is_exponentiation(self.shape):  # which keeps nothing from one request to the next
                self.compute(*(0 for _ in self.operands))
            self.event = 1
        elif held >> register.field("start").low & 1:
            self._start()
        return OKAY

    def read(self, address: int) -> tuple[int, int]:
        """A read access: data and answer."""
        found = find_register(self.map, address)
        if found is None or not found[0].readable:
            return 0, SLVERR
        register, place = found
        if register.name == "RESULT":
            if not self.done or self.status != Status.OK:
                return 0, SLVERR
            return self.result >> (WORD_NBITS * place) & MASK, OKAY
        error = self.done and self.status != Status.OK
        values = {
            "STATUS": int(self.done) << 1 | int(error) << 2 | int(self.status) << 8,
            "IRQ_ENABLE": self.enabled,
            "IRQ_STATUS": self.event,
        }
        return values.get(register.name, register.reset), OKAY  # this level does not count cycles

    def _start(self) -> None:
        count = words_of(self.nbits)
        operands = [
            from_words(self.words.get((name, place), 0) for place in range(count)) for name in self.operands
        ]
        self.done, self.event, self.result = True, 1, 0
        if any(value >> nbits for value, nbits in zip(operands, self.widths, strict=True)):
            self.status = Status.TOO_WIDE
        else:
            self.status, self.result = self.shape.packed(tuple(self.compute(*operands)))


def as_accesses(shape: Shape, operands: Sequence[int]) -> list[tuple[Any, ...]]:
    """One computation as accesses {write, wait, address, data, strobes}: load, start, wait for the interrupt,
    read.
    """
    registers = register_map(shape)
    control, status, result = registers["CONTROL"], registers["STATUS"], registers["RESULT"]
    accesses = [
        (1, 0, registers[name].address + BYTES * place, word, ALL_BYTES)
        for name, value in zip(operand_names(shape), operands, strict=True)
        for place, word in enumerate(to_words(value, shape.widest))
    ]
    accesses.append((1, 0, registers["IRQ_ENABLE"].address, 1, ALL_BYTES))
    accesses.append((1, 0, control.address, 1 << control.field("start").low, ALL_BYTES))
    accesses.append((0, 1, 0, 0, 0))
    accesses.append((0, 0, status.address, 0, 0))
    accesses += [(0, 0, result.address + BYTES * place, 0, 0) for place in range(result.count)]
    accesses.append((1, 0, registers["IRQ_STATUS"].address, 1, ALL_BYTES))
    return accesses
