"""Stimuli and expected responses of a package's testbench: messages of a stream, or accesses of a bus.

Requests are those of the subject, of RSA machines those of the flow (eval/designs/machine_chip.py). Answers
are by the functional model. A bus is asked for more: what it must refuse, and to forget its fields.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....fl import axi4lite, axi4lite_000, pkcs1
from ....fl.axi4lite import ALL_BYTES, BYTES, Axi4LiteFL
from ....fl.axi4lite_000 import Axi4Lite000FL, KeyPorts, is_padded
from ....fl.random_bytes import LFSR_SEED, lfsr_not_random
from ....proc.software.seeded_keys import seeded_key
from ....rtl.sim.base import elaborate
from ....rtl.sim.ports import Ports
from ....rtl.units.padding.random_health import STARTUP
from ...designs.interfaces import AXI4LITE, AXI4LITE_000, answers
from .subject import Subject

# of an access: {write, wait, address, data[32], strobes[4]}, beside the address, and {write, data[32],
# refused}
REQUEST_NBITS, RESPONSE_NBITS = 38, 34


@dataclass(frozen=True)
class Vectors:
    """Packed messages side by side, with comments; what the testbench must know beside them."""

    request_nbits: int
    response_nbits: int
    requests: list[int]
    expected: list[int]
    comments: dict[int, str]  # before the row of a number
    longest: int  # cycles for one answer
    defines: dict[str, str] = field(default_factory=dict)
    constants: dict[str, tuple[int, int]] = field(default_factory=dict)  # name: bits, value

    @property
    def macros(self) -> str:
        """The text of vectors.svh."""
        return "\n".join(
            ["// made by modexlab", *(f"`define {name} {text}" for name, text in self.defines.items()), ""]
        )

    @property
    def rows(self) -> str:
        """The text of rows.svh, for the inside of a module."""
        lines = [
            "  // made by modexlab: what is sent, and what must come back",
            f"  localparam int ROWS = {len(self.requests)};",
            f"  localparam int REQUEST_NBITS = {self.request_nbits};",
            f"  localparam int RESPONSE_NBITS = {self.response_nbits};",
            f"  localparam int LONGEST = {self.longest};",
        ]
        lines += [
            f"  localparam logic [{nbits - 1}:0] {name} = {nbits}'h{value:x};"
            for name, (nbits, value) in self.constants.items()
        ]
        lines += [
            "  logic [REQUEST_NBITS-1:0] requests [0:ROWS-1];",
            "  logic [RESPONSE_NBITS-1:0] expected [0:ROWS-1];",
            "",
            "  initial begin",
        ]
        for place, (request, answer) in enumerate(zip(self.requests, self.expected, strict=True)):
            if place in self.comments:
                lines.append(f"    // {self.comments[place]}")
            lines.append(f"    requests[{place}] = {self.request_nbits}'h{request:x};")
            lines.append(f"    expected[{place}] = {self.response_nbits}'h{answer:x};")
        return "\n".join([*lines, "  end", ""])


def vectors(subject: Subject) -> Vectors:
    """The messages or accesses of this package's testbench."""
    machine, interface = subject.machine, subject.interface
    defines = {"DUT": machine.top(interface)}
    if interface is AXI4LITE:
        address_nbits = axi4lite.address_nbits(machine.shape)
        return _accesses(_of_bus(subject), subject.longest, defines, address_nbits=address_nbits)
    if interface is AXI4LITE_000:
        return _of_paper_bus(subject, defines)
    return _messages(subject, defines)


def _messages(subject: Subject, defines: dict[str, str]) -> Vectors:

    interface, shape = subject.interface, subject.machine.shape
    component = subject.machine.exported(interface)
    elaborate(component)
    ports = Ports.of(component)
    compute = subject.compute()
    requests: list[int] = []
    expected: list[int] = []
    comments = {}
    for name, request in subject.requests:
        comments[len(requests)] = name
        sent = interface.requests(shape, request)
        answers = interface.respond(shape, compute, sent)
        requests += [ports.request.pack(row, "request") for row in sent]
        expected += [ports.response.pack(tuple(map(int, answer)), "answer") for answer in answers]
    return Vectors(
        ports.request.nbits, ports.response.nbits, requests, expected, comments, subject.longest, defines
    )


# ---- on a bus

Access = tuple[Any, ...]
Commented = tuple[str, list[tuple[Access, Access]]]  # accesses with their answers


def _accesses(
    parts: Iterable[Commented],
    longest: int,
    defines: dict[str, str],
    constants: dict[str, tuple[int, int]] | None = None,
    *,
    address_nbits: int = axi4lite.ADDRESS_NBITS,
) -> Vectors:
    requests: list[int] = []
    expected: list[int] = []
    comments = {}
    for comment, part in parts:
        comments[len(requests)] = comment
        for (write, wait, address, data, strobes), (wrote, found, fault) in part:
            begins = (write << 1 | wait) << address_nbits | address
            requests.append(begins << 36 | data << 4 | strobes)
            expected.append(wrote << 33 | found << 1 | fault)
    return Vectors(
        REQUEST_NBITS + address_nbits,
        RESPONSE_NBITS,
        requests,
        expected,
        comments,
        longest,
        defines,
        {**(constants or {}), "ADDRESS_NBITS": (32, address_nbits)},
    )


def _read(address: int) -> Access:
    return 0, 0, address, 0, 0


def _write(address: int, data: int, strobes: int = ALL_BYTES) -> Access:
    return 1, 0, address, data, strobes


def _of_bus(subject: Subject) -> Iterator[Commented]:
    """Axi4Lite: who it is, what it refuses, requests, fields that are used twice, and zeroise."""
    shape = subject.machine.shape
    model = Axi4LiteFL(shape, subject.compute(), subject.machine.traits)
    registers = axi4lite.register_map(shape)
    at = {name: register.address for name, register in registers.items()}
    readable = [
        register
        for register in registers.values()
        if register.readable and not register.name.startswith("CYCLES")
    ]

    def part(comment: str, accesses: Sequence[Access]) -> Commented:
        return comment, list(zip(accesses, answers(model, accesses), strict=True))

    yield part("every register that can be read", [_read(item.address) for item in readable])
    yield part(
        "refused: what cannot be read, what cannot be written, what is no register",
        [
            *(_read(register.address) for register in registers.values() if not register.readable),
            *(_write(register.address, 1) for register in registers.values() if not register.writable),
            _read(0x024),
            _write(0x024, 1),
            _read(0x1FC),
            _read(at["RESULT"] + BYTES * registers["RESULT"].count),
        ],
    )
    yield part(
        "bytes by strobes, in a word that can be read back",
        [
            *(_write(at["IRQ_ENABLE"], 0xFFFF_FFFF, strobes) for strobes in (0b1110, 0b0000)),
            _read(at["IRQ_ENABLE"]),
            _write(at["IRQ_ENABLE"], 1, 0b0001),
            _read(at["IRQ_ENABLE"]),
        ],
    )
    for name, request in subject.requests:
        yield part(name, axi4lite.as_accesses(shape, request))
    reuse = subject.reuse
    fields = zip(axi4lite.operand_names(shape), (name for name, _ in shape.request), strict=True)
    kept = [registers[name] for name, field in fields if field not in reuse.rewritten]
    held = {item.address + BYTES * place for item in kept for place in range(item.count)}
    whole = axi4lite.as_accesses(shape, reuse.first)
    again = axi4lite.as_accesses(shape, reuse.second)
    first, second, zeros = reuse.comments
    yield part(first, whole)
    yield part(second, [access for access in again if access[1] or access[2] not in held])
    forget = 1 << registers["CONTROL"].field("zeroise").low
    start = 1 << registers["CONTROL"].field("start").low
    wait = [(0, 1, 0, 0, 0), _write(at["IRQ_STATUS"], 1)]
    yield part(
        f"zeroise: no result, and {zeros}",
        [
            _write(at["CONTROL"], forget),
            *wait,
            _read(at["RESULT"]),
            _read(at["STATUS"]),
            _write(at["CONTROL"], start),
            *wait,
            _read(at["STATUS"]),
            _read(at["RESULT"]),
        ],
    )
    yield part("and a computation after it", whole)


def _of_paper_bus(subject: Subject, defines: dict[str, str]) -> Vectors:
    """Axi4Lite000, with one key: what it refuses, encryptions and decryptions, and encodings that are
    wrong.
    """
    machine = subject.machine
    nbits, nbytes = machine.nbits, machine.nbits // 8
    padded = is_padded(nbits)
    base, _, mod = machine.some_operands()
    public, private, back = 0x11, 0x1D3, 0  # short: what is tested here is what is around the machine
    if padded and not machine.modulus and machine.modulus_nbits == nbits:
        pair = seeded_key(nbits)
        assert pair.d is not None
        mod, private, back = pair.n, pair.e, pair.d  # encodings are hidden by d, and found by e
        base %= mod
    key = KeyPorts(mod, public, private, machine.given_of(mod))
    random = itertools.islice(lfsr_not_random(), STARTUP, None)  # the first bytes are thrown away
    model = Axi4Lite000FL(nbits, subject.compute(), key, random)
    at = {name: register.address for name, register in axi4lite_000.register_map().items()}

    def part(comment: str, accesses: Sequence[Access]) -> Commented:
        return comment, list(zip(accesses, answers(model, accesses), strict=True))

    def operation(value: int, length: int, decrypt: bool = False) -> list[Access]:
        return axi4lite_000.as_accesses(nbits, value, length, decrypt=decrypt)

    parts = [
        part("refused: what cannot be read or written, places without a word", [
            *(_read(at[name]) for name in ("INPUT_LENGTH", "WRITE_ADDRESS", "READ_ADDRESS", "INPUT_FIFO", "OUTPUT_FIFO")),
            *(_write(at[name], 0) for name in ("OUTPUT_LENGTH", "OUTPUT_FIFO")),
            _write(at["WRITE_ADDRESS"], 200),
            _write(at["READ_ADDRESS"], 200),
            _read(0x1C),
        ]),
    ]  # fmt: skip
    most = pkcs1.longest(nbytes) if padded else nbytes
    for length in sorted({0, 1, most // 2, most, most + 1, nbytes}):
        parts.append(part(f"encrypt {length} bytes", operation(base, length)))
    if back:
        for comment, em in _encodings(nbytes):
            parts.append(part(f"decrypt {comment}", operation(pow(em, back, mod), nbytes, True)))
    parts.append(part("decrypt anything", operation(base, nbytes, True)))
    parts.append(part("an input that is not below the modulus", operation(mod, nbytes, True)))
    constants = {
        f"KEY_{name.upper()}": (nbits, getattr(key, name)) for name in ("modulus", "public", "private")
    }
    constants["RANDOM_SEED"] = (32, LFSR_SEED)
    more = {"KEYED": "", **({"RANDOM": ""} if padded else {})}
    if machine.given:
        pins = []
        for given_field, value in zip(machine.given_fields, key.given, strict=True):
            name, wide = given_field
            constants[f"KEY_{name.upper()}"] = (wide, value)
            pins.append(f".key_{name}(KEY_{name.upper()}),")
        more["KEY_GIVEN_PORTS"] = " ".join(pins)
    return _accesses(parts, subject.longest, {**defines, **more}, constants)


def _encodings(nbytes: int) -> Iterator[tuple[str, int]]:
    good = b"\0\2" + b"\x5a" * (nbytes - 7) + b"\0mess"
    yield "a good encoding", int.from_bytes(good, "big")
    yield "another type", int.from_bytes(b"\0\1" + good[2:], "big")
    yield "too little padding", int.from_bytes(good[:6] + b"\0" + good[7:], "big")
    yield "no end of the padding", int.from_bytes(good.replace(b"\0mess", b"\7mess"), "big")
