"""Memory of an accelerator: ports in its shape, contents of a test, and the memory that its function uses.

A memory is an array of bytes from address 0; numbers are little-endian. An image maps addresses to the
contents that are loaded there before a request; the other addresses keep theirs:

    {0x100: [1, 2, 3]}      32-bit words from this address on
    {0x100: b"text"}        bytes

A request comes with an image as `OnMemory(fields, image)`, a tuple like any other request. The memory is
loaded when all earlier requests are answered, and it keeps what requests write. A response of an accelerator
with memory is a `Left`: its fields and, if an image follows or it is the last one, a copy of the memory at
that time.
"""

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from .errors import BadInput, shown

WORD_NBYTES = 4
MEMORY_NBYTES = 1 << 16  # of the memory in tests, unless a shape states another size
MOST_MEMORY_NBYTES = 1 << 24
WIDTHS = tuple(1 << place for place in range(4, 11))  # of a port, in bits
OPAQUE_NBITS = 8  # the requester's own number of a memory request, which comes back with the answer
ADDRESS_NBITS = 32
# names that a component uses itself
RESERVED = (
    "istream",
    "ostream",
    "clk",
    "reset",
    "construct",
    "elaborate",
    "apply",
    "line_trace",
    "advance",
    "s",
)
READ, WRITE = 0, 1  # types of memory requests, as numbered by PyMTL3

Image = Mapping[int, "Sequence[int] | bytes"]
NO_IMAGE: Image = MappingProxyType({})


@dataclass(frozen=True)
class MemoryPort:
    """A port of an accelerator to memory: the attribute of the component, and the width of its words."""

    name: str = "mem"
    nbits: int = 32
    writes: bool = True  # False: it reads only

    @property
    def nbytes(self) -> int:
        """The bytes of a word."""
        return self.nbits // 8

    def wrong(self) -> str:
        """A reason why an accelerator cannot have this port; "" if it can."""
        if not isinstance(self.name, str) or not self.name.isidentifier():
            return f"{self.name!r:.60} is not a valid name for a memory port; give letters and digits"
        if keyword.iskeyword(self.name) or self.name in RESERVED:
            return (
                f"memory port {self.name} has a name that Python or the component uses; choose another name"
            )
        if self.nbits not in WIDTHS:
            widths = ", ".join(map(str, WIDTHS))
            return f"memory port {self.name} has {self.nbits!r:.60} bits; give one of {widths}"
        return ""

    def refusal(self, address: int, nbytes: int, writes: bool, size: int) -> str:
        """Why a memory of `size` bytes refuses this access; "" if it does not."""
        if writes and not self.writes:
            return "this port is read-only; write through another port, or declare it with writes=True"
        if address + nbytes > size:
            return f"the memory has {size:,} bytes; stay below {size:#x}, or enlarge memory_nbytes"
        if address % self.nbytes + nbytes > self.nbytes:
            return f"it crosses a boundary of {self.nbytes}-byte words; make one access per word"
        return ""


def words(values: Iterable[int], nbits: int = 8 * WORD_NBYTES) -> bytes:
    """Numbers of `nbits` bits, a multiple of 8, as the bytes of an image."""
    return b"".join(value.to_bytes(nbits // 8, "little") for value in values)


def bytes_of(contents: Sequence[int] | bytes) -> bytes:
    """Contents of an image as bytes."""
    return bytes(contents) if isinstance(contents, bytes | bytearray) else words(contents)


def wrong_image(image: Any, size: int) -> str:
    """A reason why a memory of `size` bytes cannot be loaded with this; "" if it can."""
    if not isinstance(image, Mapping):
        return f"{image!r:.60} is not a memory image; map addresses to words, as in {{0x100: [1, 2]}}"
    for address in image:
        if not isinstance(address, int) or address < 0:
            return f"{address!r:.60} is not an address; give a whole number of 0 or more"
    end = 0
    for address in sorted(image):
        contents = image[address]
        try:
            data = bytes_of(contents) if isinstance(contents, Sequence) else None
        except (TypeError, AttributeError, OverflowError):
            data = None
        if data is None:
            return (
                f"the contents at {address:#x} are {contents!r:.60}; give bytes, or whole numbers of "
                "32 bits (modexlab.words makes bytes of wider ones)"
            )
        if address < end:
            return f"the contents at {address:#x} overlap those before it; move them"
        end = address + len(data)
        if end > size:
            return (
                f"the contents at {address:#x} end at {end:#x}, and the memory has {size:,} bytes; "
                "move them, or enlarge memory_nbytes"
            )
    return ""


class OnMemory(tuple[int, ...]):
    """A request, and the contents of the memory before it, as bytes."""

    image: Mapping[int, bytes]

    def __new__(cls, request: Iterable[int], image: Image) -> "OnMemory":
        """BadInput for contents that are none."""
        if wrong := wrong_image(image, 1 << ADDRESS_NBITS):
            raise BadInput(wrong)
        made = super().__new__(cls, request)
        made.image = {address: bytes_of(contents) for address, contents in image.items()}
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return OnMemory, (tuple(self), dict(self.image))

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and dict(image_of(other)) == dict(self.image)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)


class Left(tuple[int, ...]):
    """A response, and the memory that the accelerator left; None if the next request uses it as it is."""

    memory: bytes | None

    def __new__(cls, response: Iterable[int], memory: bytes | None = None) -> "Left":
        made = super().__new__(cls, response)
        made.memory = memory
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Left, (tuple(self), self.memory)

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other) is True and memory_of(other) == self.memory

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)


def image_of(request: object) -> Image:
    """The contents that come with a request; none with a plain tuple."""
    return request.image if isinstance(request, OnMemory) else NO_IMAGE


def memory_of(response: object) -> bytes | None:
    """The memory that comes with a response; None with a plain tuple."""
    return response.memory if isinstance(response, Left) else None


def like(request: Sequence[int], fields: Iterable[int]) -> tuple[int, ...]:
    """Other fields on the memory of this request."""
    return OnMemory(fields, request.image) if isinstance(request, OnMemory) else tuple(fields)


def snapshots(requests: Sequence[object]) -> list[bool]:
    """For each request, whether the memory is read when its response has left: before the next image, and at
    the end.
    """
    following = [bool(image_of(request)) for request in requests[1:]]
    return [*following, True] if requests else []


@dataclass
class Memory:
    """The memory that a function uses: `read` and `write` numbers at addresses."""

    size: int = MEMORY_NBYTES
    data: bytearray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.data = bytearray(self.size)

    def load(self, image: Image) -> None:
        """Set the contents of an image, and keep the others."""
        for address, contents in image.items():
            data = bytes_of(contents)
            self.data[address : address + len(data)] = data

    def read(self, address: int, nbytes: int = WORD_NBYTES) -> int:
        """The number of so many bytes at an address."""
        self._require(address, nbytes, "reads")
        return int.from_bytes(self.data[address : address + nbytes], "little")

    def write(self, address: int, value: int, nbytes: int = WORD_NBYTES) -> None:
        """Write the lowest bytes of a number to an address."""
        self._require(address, nbytes, "writes")
        self.data[address : address + nbytes] = (value & (1 << 8 * nbytes) - 1).to_bytes(nbytes, "little")

    def words(self, address: int, count: int, nbytes: int = WORD_NBYTES) -> list[int]:
        """So many numbers from an address on."""
        return [self.read(address + nbytes * place, nbytes) for place in range(count)]

    def _require(self, address: int, nbytes: int, what: str) -> None:
        if not 0 <= address <= self.size - nbytes:
            raise BadInput(
                f"fl {what} {nbytes} bytes at {hex(address)}, and the memory has {self.size:,} bytes; "
                "correct the request, or enlarge memory_nbytes"
            )


def difference(found: bytes, expected: bytes) -> str:
    """The first word that differs between two memories, in words; "" if they are equal."""
    if found == expected:
        return ""
    at = next(place for place, (one, other) in enumerate(zip(found, expected, strict=True)) if one != other)
    at -= at % WORD_NBYTES
    count = sum(
        found[place : place + WORD_NBYTES] != expected[place : place + WORD_NBYTES]
        for place in range(0, len(found), WORD_NBYTES)
    )
    one, other = (int.from_bytes(data[at : at + WORD_NBYTES], "little") for data in (found, expected))
    more = f", and {count - 1} more word{'s differ' if count > 2 else ' differs'}" if count > 1 else ""
    return f"the word at {at:#x} is {shown(one)}, not {shown(other)}{more}"
