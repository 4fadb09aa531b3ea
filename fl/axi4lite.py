"""Axi4LiteFL: functional model of a machine behind AXI4-Lite, with the register map of axi4lite.rdl.

An access is answered with OKAY or SLVERR. An access that is answered with SLVERR has no effect, and a read
then returns 0. The slave answers SLVERR to

    an address without a register, a write to a read-only register, a read of a write-only register
    a write to an operand, or a start, while a computation is running
    a start with random numbers that have blinded a computation
    a read of the result before there is one

Operands are kept for the next computation (a modulus and its exponent are a key that is loaded once) and
cannot be read. Registers are addressed by word: the two lowest address bits are ignored. Bytes without their
strobe keep their value. A computation ends with a result, or with a status code and no result, and raises the
interrupt if it is enabled. Zeroise clears operands and result, then overwrites the machine by a request of
constants (base 0, exponent 3, modulus 1, given numbers 0; the modulus is the machine's own if that is fixed,
and 0 if a machine overwrites itself when it refuses), and raises the interrupt at the end (busy until then).
A running computation first runs to its end, and its result is discarded. Reset does the same without an
interrupt: the slave is busy, reads are answered, and a write waits for the end (an accelerator that is no
exponentiation may keep a state, and is not overwritten).

Given numbers, which a machine needs in addition to base, exponent and modulus, are loaded like operands: the
numbers of a private key, and the random numbers that blind an operation. A start uses up the random numbers:
the last word of each must be written again before the next one, unless that has a public exponent. A number
whose field is shorter than an operand is padded with zeros at the top.
"""

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

from .accelerator import Shape
from .errors import BadInput
from .mod_exp import is_exponentiation
from .register_map import Register, find_register, read_map
from .status import Status
from .xcel import MASK, MOST_GIVEN, WORD_NBITS, from_words, to_words, words_of

MAP = Path(__file__).with_name("axi4lite.rdl")


class Response(IntEnum):
    """The codes with which a slave answers."""

    OKAY = 0
    SLVERR = 2


OKAY, SLVERR = Response
ADDRESS_NBITS = 12  # the minimum, enough for three given numbers
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
WIPING_EXPONENT = 3  # every product unit gets operands of 0
ABOUT_KEYS = " (a modulus and its exponent are a key that is loaded once)"  # in the docstring of this module
MOST_WORDS = 128  # in the address range of an operand
GENERAL = {  # texts for other accelerators; those in the map describe exponentiations
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
        1  # clears the previous numbers: the machine computes modulo it, or refuses it if it has a fixed key
    )
    crt: bool = False  # a machine that takes a key, and its countermeasures
    message_blinded: bool = False
    exponent_blinded: bool = False
    checked: bool = False
    public_exponents: bool = field(default=False, repr=False)  # machines already differ in their given fields

    @property
    def keyed(self) -> bool:
        """Whether a request includes the numbers of a private key."""
        return self.crt or self.message_blinded or self.exponent_blinded or self.checked


NO_TRAITS = Traits()


def wiping(shape: Shape, traits: Traits) -> str:
    """The request by which zeroise overwrites an accelerator, in words."""
    if not is_exponentiation(shape):
        return "all fields 0"
    given = ", given numbers 0" if _ngiven(shape) else ""
    modulus = traits.modulus if traits.modulus < 2 else "that of the machine"
    return f"base 0, exponent {WIPING_EXPONENT}, modulus {modulus}{given}"


def rules(shape: Shape, traits: Traits) -> str:
    """The module docstring from "An access is" on; for other accelerators without the sentences
    about keys.
    """
    text = (__doc__ or "").partition("An access is")
    told = re.sub(r"(?<=\()base 0[^)]*", wiping(shape, traits), "".join(text[1:]))
    if is_exponentiation(shape):
        return told
    return told.partition("\n\nGiven numbers")[0].replace(ABOUT_KEYS, "")


@functools.cache
def _exponentiation_map(nbits: int, ngiven: int) -> dict[str, Register]:
    return read_map(MAP, {"W": words_of(nbits), "GIVEN": ngiven})


@functools.cache
def register_map(shape: Shape, traits: Traits = NO_TRAITS) -> dict[str, Register]:
    """The registers of an accelerator by name: those of an exponentiation, with one register per field of the
    request.

    The reset value of CAPABILITIES describes a machine with these traits.
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
        for own, (name, nbits) in zip(OPERANDS[3:], shape.request[3:], strict=False):
            if name != own.lower():
                text = f"word of {name}, a number of {nbits} bits; write-only, kept for the next computation"
                registers[own] = dataclasses.replace(registers[own], text=text)
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


def random_operands(shape: Shape, traits: Traits) -> tuple[int, ...]:
    """The places of the operands that blind an operation, and must be new for each."""
    count = traits.message_blinded + traits.exponent_blinded * (2 if traits.crt else 1)
    end = len(shape.request) - traits.public_exponents
    return tuple(range(end - count, end))


def _ngiven(shape: Shape) -> int:
    """The number of fields after base, exponent and modulus."""
    return max(0, len(shape.request) - 3)


def check_registers(shape: Shape) -> None:
    """Raise BadInput if the map has no room for a shape."""
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
    """The names of the registers for the fields of a request, in the same order."""
    if is_exponentiation(shape):
        return OPERANDS[: len(shape.request)]
    return tuple(
        f"{name.upper()}_FIELD" if name.upper() in FIXED else name.upper() for name, _ in shape.request
    )


@functools.cache
def address_nbits(shape: Shape) -> int:
    """The width of a byte address in the map."""
    last = max(register.address for register in _exponentiation_map(1, _ngiven(shape)).values())
    return max(ADDRESS_NBITS, last.bit_length())


def strobed(old: int, new: int, strobes: int) -> int:
    """The word `old`, with the bytes selected by the strobes replaced by those of `new`."""
    mask = sum(0xFF << (8 * byte) for byte in range(BYTES) if strobes >> byte & 1)
    return (old & ~mask | new & mask) & MASK


class Axi4LiteFL:
    """The registers in front of any accelerator; `compute(*request)` returns its response immediately."""

    def __init__(
        self, shape: Shape, compute: Callable[..., Sequence[int]], traits: Traits = NO_TRAITS
    ) -> None:
        self.shape, self.compute = shape, compute
        self.nbits = shape.widest
        self.operands = operand_names(shape)
        self.widths = [nbits for _, nbits in shape.request]
        self.map = register_map(shape, traits)
        self.randoms = {self.operands[place] for place in random_operands(shape, traits)}
        self.public_exponents = traits.public_exponents
        self.address_nbits = address_nbits(shape)
        self.words: dict[tuple[str, int], int] = {}  # of operands
        self.zeroise()
        self.enabled = self.event = 0

    def zeroise(self) -> None:
        """Clear operands and result."""
        self.words.clear()
        self.fresh: set[str] = set()  # random numbers that no start has used
        self.status = int(Status.OK)
        self.done = False
        self.result = 0

    @property
    def interrupt(self) -> bool:
        return bool(self.enabled & self.event)

    def write(self, address: int, data: int, strobes: int = ALL_BYTES) -> int:
        """Perform a write access and return its response code."""
        found = find_register(self.map, address, "w")
        if found is None:
            return SLVERR
        register, place = found
        held = strobed(0, data, strobes)
        if register.name in self.operands:
            old = self.words.get((register.name, place), 0)
            self.words[register.name, place] = strobed(old, data, strobes)
            if place == register.count - 1:
                self.fresh.add(register.name)
        elif register.name == "IRQ_ENABLE":
            self.enabled = strobed(self.enabled, data, strobes) & 1
        elif register.name == "IRQ_STATUS":
            self.event &= ~held
        elif held >> register.field("zeroise").low & 1:
            self.zeroise()
            if not is_exponentiation(self.shape):  # an exponentiation keeps no state between requests
                self.compute(*(0 for _ in self.operands))
            self.event = 1
        elif held >> register.field("start").low & 1:
            public = self.public_exponents and self.words.get((self.operands[-1], 0), 0) & 1
            if not (public or self.randoms <= self.fresh):
                return SLVERR
            self.fresh.clear()
            self._start()
        return OKAY

    def read(self, address: int) -> tuple[int, int]:
        """Perform a read access and return data and response code."""
        found = find_register(self.map, address, "r")
        if found is None:
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
