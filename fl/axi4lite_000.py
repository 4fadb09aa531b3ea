"""Axi4Lite000FL: functional model of paper 000's accelerator behind AXI4-Lite (section 4.5), with the
register map of axi4lite_000.rdl.

The key is not in a register: the paper generates the hardware for one key, and here the key comes by ports.
Encryption (E/D = 0) pads the input and uses the public exponent; decryption uses the private exponent and
unpads (PKCS#1 v1.5, type 2). Keys of at most 64 bits are used without padding. Input and output are words,
the least significant first. To write a word, write it to INPUT_FIFO and then its index to WRITE_ADDRESS. To
read a word, write its index to READ_ADDRESS and read OUTPUT_FIFO. The interrupt signals the end of an
operation.

An access is answered with OKAY or SLVERR. An access that is answered with SLVERR has no effect, and a read
then returns 0. The slave answers SLVERR to an address without a register, a write to a read-only register, a
read of a write-only one, an index beyond the last word, a read of OUTPUT_FIFO while there is no output, and
any write except to READ_ADDRESS while busy.

Two points that the paper leaves open are settled here: the next write of STATUS clears the interrupt, and a
failure is reported as OUTPUT_LENGTH 0 with a code. The paper's input of 30 words at 1,024 bits (section
4.5.2) is too short for a ciphertext of 32; ours is as long as the key.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import pkcs1
from .axi4lite import ALL_BYTES, BYTES, OKAY, SLVERR, strobed
from .errors import BadInput
from .register_map import Register, find_register, read_map
from .status import Status
from .xcel import MASK, WORD_NBITS, from_words, to_words, words_of

MAP = Path(__file__).with_name("axi4lite_000.rdl")
LONGEST_BARE = 64  # longest key in bits that is used without padding
NO_RANDOM, WRONG_PADDING = 14, 15  # codes in addition to those of Status, in four bits
MEANING = {
    NO_RANDOM: "the source of random bytes has failed its health test",
    WRONG_PADDING: "what was decrypted is no encoding",
}
# simulation only, after the registers: a write to these addresses pushes a word into a number of the key
KEY = 0x800
KEY_NUMBERS = ("modulus", "public", "private")  # followed by the given numbers


PORTS = """

random (where keys are padded) is a stream of random bytes, val/rdy, from a true source. Its health is tested
here as in NIST SP 800-90B, 4.4; the first 1,024 bytes are tested and thrown away. Where it gives none, an
encryption waits for ever. random__rdy is the one output that comes from logic. key_* must stay. Padding takes
two cycles more than there are bytes in a key, unpadding as many."""


def rules() -> str:
    """The module docstring from "The key is" on, and the ports in addition to the bus."""
    return "The key is" + (__doc__ or "").partition("The key is")[2].rstrip() + PORTS


@functools.cache
def register_map(has_raw: bool = False) -> dict[str, Register]:
    """The registers by name, which are the same for all widths. has_raw: with the mode without padding."""
    return read_map(MAP, {"RAW": int(has_raw)})


def is_padded(nbits: int) -> bool:
    """Whether keys of nbits bits are padded; BadInput if they must be padded and cannot be."""
    if nbits % 8:
        raise BadInput(f"{nbits} bits: paper 000's accelerator takes whole bytes; give a multiple of 8")
    if nbits <= LONGEST_BARE:
        return False
    pkcs1.nbytes_of(nbits)
    return True


@dataclass
class KeyPorts:
    """The values at the key ports."""

    modulus: int = 0
    public: int = 0
    private: int = 0
    given: Sequence[int] = ()


class Axi4Lite000FL:
    """The registers in front of any machine; `compute(base, exp, mod, ...)` returns (status, result)
    immediately.

    has_raw: with the mode without padding, in which simulations compare machines.
    """

    def __init__(
        self,
        nbits: int,
        compute: Callable[..., Sequence[int]],
        key: KeyPorts,
        random: Iterator[int] | None = None,
        *,
        has_raw: bool = False,
    ) -> None:
        self.nbits = nbits
        self.nbytes = nbits // 8
        self.compute = compute
        self.key = key
        self.random = random
        self.padded = is_padded(nbits)
        self.map = register_map()
        self.input = [0] * words_of(nbits)
        self.fifo = self.length = self.place = self.code = self.output_length = self.output = 0
        self.decrypt = self.raw = 0
        self.raw_bit = (
            register_map(True)["STATUS"].field("raw").low if has_raw else WORD_NBITS
        )  # beyond the word if there is none
        self.interrupt = False

    def write(self, address: int, data: int, strobes: int = ALL_BYTES) -> int:
        """Perform a write access and return its response code."""
        found = find_register(self.map, address, "w")
        if found is None:
            return SLVERR
        name = found[0].name
        held = strobed(0, data, strobes)
        if name == "INPUT_FIFO":
            self.fifo = strobed(self.fifo, data, strobes)
        elif name == "INPUT_LENGTH":
            self.length = min(held, self.nbytes)
        elif name in ("WRITE_ADDRESS", "READ_ADDRESS"):
            if held >= len(self.input):
                return SLVERR
            if name == "WRITE_ADDRESS":
                self.input[held] = self.fifo
            else:
                self.place = held
        else:
            self._status(held, strobes)
        return OKAY

    def read(self, address: int) -> tuple[int, int]:
        """Perform a read access and return data and response code."""
        found = find_register(self.map, address, "r")
        if found is None:
            return 0, SLVERR
        name = found[0].name
        if name == "OUTPUT_FIFO":
            if not self.output_length:
                return 0, SLVERR
            return self.output >> WORD_NBITS * self.place & MASK, OKAY
        return self.output_length if name == "OUTPUT_LENGTH" else self.code << 8, OKAY

    def _status(self, held: int, strobes: int) -> None:
        self.interrupt = False
        if strobes & 1:
            self.decrypt, self.raw = held & 1, held >> self.raw_bit & 1
        if held >> 2 & 1:
            self.code, self.output_length, self.output = self._operate()
            self.interrupt = True

    def _operate(self) -> tuple[int, int, int]:
        """Code, length and value of the output."""
        frames = self.padded and not self.raw
        base = from_words(self.input) & (1 << 8 * self.length) - 1
        if frames and not self.decrypt:
            length = min(self.length, pkcs1.longest(self.nbytes))
            padded, base = pkcs1.pad(pkcs1.Kind.ENCRYPT, length, base, self.nbytes, self.random)
            if padded is not pkcs1.Padded.OK:
                return NO_RANDOM, 0, 0
        key = self.key
        status, result = self.compute(
            base, key.private if self.decrypt else key.public, key.modulus, *key.given
        )
        if status != Status.OK:
            return int(status), 0, 0
        if not (frames and self.decrypt):
            return 0, self.nbytes, result
        opened = pkcs1.unpad(pkcs1.Kind.ENCRYPT, result, self.nbytes)
        return (0 if opened.good else WRONG_PADDING), opened.length, opened.message


def push_key(nbits: int, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    """Accesses that load the numbers of a key: modulus, public and private exponent, given numbers."""
    return [
        (1, 0, KEY + BYTES * number, word, ALL_BYTES)
        for number, value in enumerate(numbers)
        for word in to_words(value, nbits)
    ]


def as_accesses(
    nbits: int, value: int, length: int, *, decrypt: bool = False, raw: bool = False
) -> list[tuple[Any, ...]]:
    """One operation as accesses {write, wait, address, data, strobes}; the last ones read status, output
    length and all words of the output.
    """
    at = {name: register.address for name, register in register_map().items()}
    raw_bit = register_map(True)["STATUS"].field("raw").low
    command = int(decrypt) | 1 << 2 | int(raw) << raw_bit

    def write(name: str, data: int) -> tuple[Any, ...]:
        return 1, 0, at[name], data, ALL_BYTES

    accesses = []
    for place, word in enumerate(to_words(value, nbits)):
        accesses += [write("INPUT_FIFO", word), write("WRITE_ADDRESS", place)]
    accesses += [write("INPUT_LENGTH", length), write("STATUS", command), (0, 1, 0, 0, 0)]
    accesses += [write("STATUS", 0), (0, 0, at["STATUS"], 0, 0), (0, 0, at["OUTPUT_LENGTH"], 0, 0)]
    for place in range(words_of(nbits)):
        accesses += [write("READ_ADDRESS", place), (0, 0, at["OUTPUT_FIFO"], 0, 0)]
    return accesses


def outcome(nbits: int, responses: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    """Code, length and value of the output, from the responses to `as_accesses`."""
    count = words_of(nbits)
    status, length = (data for _, data, _ in responses[-2 * count - 2 : -2 * count])
    words = (data for write, data, _ in responses[-2 * count :] if not write)
    return status >> 8, length, from_words(words)
