"""Stimuli and expected responses of a package's testbench: messages of a stream, or accesses of a bus.

Requests come from the subject; those of RSA machines come from the flow (eval/designs/machine_chip.py). The
functional model computes the responses. A bus also receives accesses that it must refuse, and a zeroise
command.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....fl import axi4lite, axi4lite_000, pkcs1
from ....fl.accelerator import Shape
from ....fl.axi4lite import ALL_BYTES, BYTES, Axi4LiteFL, random_operands
from ....fl.axi4lite_000 import Axi4Lite000FL, KeyPorts, is_padded
from ....fl.random_bytes import LFSR_SEED, lfsr_not_random
from ....fl.xcel import WORD_NBITS, words_of
from ....proc.software.seeded_keys import seeded_key
from ....rtl.sim.ports import Ports
from ....rtl.units.padding.random_health import STARTUP
from ...designs.interfaces import AXI4LITE, AXI4LITE_000, answers
from .subject import Subject

# bits of an access {write, wait, address, data[32], strobes[4]} without the address, and of its answer
# {write, data[32], refused}
REQUEST_NBITS, RESPONSE_NBITS = 38, 34
Access = tuple[Any, ...]


class Vectors:
    """Packed requests and expected responses with their comments, and the constants of the testbench."""

    def __init__(self, subject: Subject, top: str, request_nbits: int, response_nbits: int) -> None:
        self.request_nbits, self.response_nbits = request_nbits, response_nbits
        self.longest = subject.longest  # cycles for one answer
        self.defines = {"DUT": top}
        self.constants: dict[str, tuple[int, int]] = {}  # name: bits, value
        self.requests: list[int] = []
        self.expected: list[int] = []
        self.comments: dict[int, str] = {}  # by row number: the comment before that row

    def add(self, comment: str, requests: Iterable[int], expected: Iterable[int]) -> None:
        self.comments[len(self.requests)] = comment
        self.requests += requests
        self.expected += expected

    @property
    def macros(self) -> str:
        """The text of vectors.svh."""
        return "\n".join(
            [
                "// made by modexlab\n// SPDX-License-Identifier: BSD-3-Clause",
                *(f"`define {name} {text}" for name, text in self.defines.items()),
                "",
            ]
        )

    @property
    def rows(self) -> str:
        """The text of rows.svh, for the inside of a module."""
        numbers = {
            "ROWS": len(self.requests),
            "REQUEST_NBITS": self.request_nbits,
            "RESPONSE_NBITS": self.response_nbits,
            "LONGEST": self.longest,
        }
        lines = ["  // SPDX-License-Identifier: BSD-3-Clause\n  // made by modexlab: requests and answers"]
        lines += [f"  localparam int {name} = {number};" for name, number in numbers.items()]
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


def vectors(subject: Subject, top: str) -> Vectors:
    """The messages or accesses of the testbench of this module."""
    if subject.interface is AXI4LITE:
        return _of_bus(subject, top)
    if subject.interface is AXI4LITE_000:
        return _of_paper_bus(subject, top)
    interface, shape = subject.interface, subject.machine.shape
    ports, compute = Ports.of(subject.component), subject.compute()
    found = Vectors(subject, top, ports.request.nbits, ports.response.nbits)
    for name, request in subject.requests:
        sent = interface.requests(shape, request)
        received = interface.respond(shape, compute, sent)
        found.add(
            name,
            (ports.request.pack(row, "request") for row in sent),
            (ports.response.pack(tuple(map(int, answer)), "answer") for answer in received),
        )
    return found


# ---- on a bus


class _Accesses(Vectors):
    """Accesses, with the answers of a model."""

    def __init__(self, subject: Subject, top: str, model: Any, address_nbits: int) -> None:
        super().__init__(subject, top, REQUEST_NBITS + address_nbits, RESPONSE_NBITS)
        self.constants["ADDRESS_NBITS"] = 32, address_nbits
        self._model, self._address_nbits = model, address_nbits

    def part(self, comment: str, accesses: Sequence[Access]) -> None:
        self.add(
            comment,
            (
                ((write << 1 | wait) << self._address_nbits | address) << 36 | data << 4 | strobes
                for write, wait, address, data, strobes in accesses
            ),
            (wrote << 33 | found << 1 | fault for wrote, found, fault in answers(self._model, accesses)),
        )


def _read(address: int) -> Access:
    return 0, 0, address, 0, 0


def _write(address: int, data: int, strobes: int = ALL_BYTES) -> Access:
    return 1, 0, address, data, strobes


def _of_bus(subject: Subject, top: str) -> Vectors:
    """Axi4Lite: identification, refused accesses, requests, reuse of stored fields, and zeroise."""
    shape, traits = subject.machine.shape, subject.machine.traits
    model = Axi4LiteFL(shape, subject.compute(), traits)
    vectors = _Accesses(subject, top, model, axi4lite.address_nbits(shape))
    registers = axi4lite.register_map(shape)
    at = {name: register.address for name, register in registers.items()}
    readable = [register for register in registers.values() if register.readable]
    vectors.part("a write waits until the slave has been overwritten", [_write(at["IRQ_STATUS"], 1)])
    vectors.part(
        "every register that can be read",
        [_read(register.address) for register in readable if not register.name.startswith("CYCLES")],
    )
    vectors.part(
        "refused: reads and writes that a register does not allow, and addresses without a register",
        [
            *(_read(register.address) for register in registers.values() if not register.readable),
            *(_write(register.address, 1) for register in registers.values() if not register.writable),
            _read(0x024),
            _write(0x024, 1),
            _read(0x1FC),
            _read(at["RESULT"] + BYTES * registers["RESULT"].count),
        ],
    )
    enable = at["IRQ_ENABLE"]
    vectors.part(
        "bytes by strobes, in a word that can be read back",
        [
            *(_write(enable, 0xFFFF_FFFF, strobes) for strobes in (0b1110, 0b0000)),
            _read(enable),
            _write(enable, 1, 0b0001),
            _read(enable),
        ],
    )
    if accesses := _all_ones(shape):
        vectors.part("ones in all words, also above the fields: too wide", accesses)
    for name, request in subject.requests:
        vectors.part(name, axi4lite.as_accesses(shape, request))
    _reuse_and_zeroise(vectors, subject)
    return vectors


def _all_ones(shape: Shape) -> list[Access]:
    """A request with ones in all bits of its words; it is refused if a field has fewer bits."""
    nbits = words_of(shape.widest) * WORD_NBITS
    accesses = axi4lite.as_accesses(shape, [(1 << nbits) - 1] * len(shape.request))
    spilt = any(width < nbits for _, width in shape.request)
    results = axi4lite.register_map(shape)["RESULT"].address
    # without a result, its registers cannot be read
    return [access for access in accesses if access[0] or access[1] or access[2] < results] if spilt else []


def _reuse_and_zeroise(vectors: _Accesses, subject: Subject) -> None:
    """Requests that reuse stored fields, and zeroise."""
    shape, traits, reuse = subject.machine.shape, subject.machine.traits, subject.reuse
    registers = axi4lite.register_map(shape)
    at = {name: register.address for name, register in registers.items()}
    fields = zip(axi4lite.operand_names(shape), (name for name, _ in shape.request), strict=True)
    kept = [registers[name] for name, field in fields if field not in reuse.rewritten]
    held = {item.address + BYTES * place for item in kept for place in range(item.count)}
    whole, again = (axi4lite.as_accesses(shape, request) for request in (reuse.first, reuse.second))
    first, second, zeros = reuse.comments
    vectors.part(first, whole)
    vectors.part(second, [access for access in again if access[1] or access[2] not in held])
    forget, start = (1 << registers["CONTROL"].field(name).low for name in ("zeroise", "start"))
    wait = [(0, 1, 0, 0, 0), _write(at["IRQ_STATUS"], 1)]
    randoms = random_operands(shape, traits)
    refused = "a start without new random numbers is refused"
    if randoms:
        vectors.part(refused, [_write(at["CONTROL"], start)])
    vectors.part(
        f"zeroise: no result, and {refused if randoms else zeros}",
        [
            _write(at["CONTROL"], forget),
            *wait,
            _read(at["RESULT"]),
            _read(at["STATUS"]),
            _write(at["CONTROL"], start),
            *([] if randoms else wait),
            _read(at["STATUS"]),
            _read(at["RESULT"]),
        ],
    )
    vectors.part("and a computation after it", whole)


def _of_paper_bus(subject: Subject, top: str) -> Vectors:
    """Axi4Lite000, with one key: refused accesses, encryptions and decryptions, and invalid encodings."""
    machine, nbits, nbytes = subject.machine, subject.machine.nbits, subject.machine.nbits // 8
    padded = is_padded(nbits)
    base, _, mod = machine.some_operands()
    public, private, back = 0x11, 0x1D3, 0  # short exponents: the interface is under test, not the machine
    if padded and not machine.modulus and machine.modulus_nbits == nbits:
        pair = seeded_key(nbits)
        mod, private, back = pair.n, pair.e, pair.d or 0  # d encrypts the encodings, e decrypts
        base %= mod
    _, _, _, *given = machine.carried(base, private, mod)
    key = KeyPorts(mod, public, private, given)
    random = itertools.islice(lfsr_not_random(), STARTUP, None)  # the first bytes are discarded
    model = Axi4Lite000FL(nbits, subject.compute(), key, random)
    vectors = _Accesses(subject, top, model, axi4lite.ADDRESS_NBITS)
    at = {name: register.address for name, register in axi4lite_000.register_map().items()}

    def operation(comment, value, length, decrypt=False):
        vectors.part(comment, axi4lite_000.as_accesses(nbits, value, length, decrypt=decrypt))

    vectors.part("refused: reads and writes that a register does not allow, indices without a word", [
        *(_read(at[name]) for name in ("INPUT_LENGTH", "WRITE_ADDRESS", "READ_ADDRESS")),
        *(_read(at[name]) for name in ("INPUT_FIFO", "OUTPUT_FIFO")),
        *(_write(at[name], 0) for name in ("OUTPUT_LENGTH", "OUTPUT_FIFO")),
        _write(at["WRITE_ADDRESS"], 200),
        _write(at["READ_ADDRESS"], 200),
        _read(0x1C),
    ])  # fmt: skip
    most = pkcs1.longest(nbytes) if padded else nbytes
    for length in sorted({0, 1, most // 2, most, most + 1, nbytes}):
        operation(f"encrypt {length} bytes", base, length)
    if back:
        for comment, em in _encodings(nbytes):
            operation(f"decrypt {comment}", pow(em, back, mod), nbytes, True)
    operation("decrypt anything", base, nbytes, True)
    operation("an input that is not below the modulus", mod, nbytes, True)
    keys = {"KEY_MODULUS": mod, "KEY_PUBLIC": public, "KEY_PRIVATE": private}
    constants = {name: (nbits, value) for name, value in keys.items()} | {"RANDOM_SEED": (32, LFSR_SEED)}
    for (name, wide), value in zip(machine.given_fields, given, strict=True):
        constants[f"KEY_{name.upper()}"] = (wide, value)
    vectors.constants = constants | vectors.constants
    vectors.defines |= {"KEYED": ""} | ({"RANDOM": ""} if padded else {})
    if given:
        pins = (f".key_{name}(KEY_{name.upper()})," for name, _ in machine.given_fields)
        vectors.defines["KEY_GIVEN_PORTS"] = " ".join(pins)
    return vectors


def _encodings(nbytes: int) -> Iterator[tuple[str, int]]:
    good = b"\0\2" + b"\x5a" * (nbytes - 7) + b"\0mess"
    for comment, encoding in {
        "a good encoding": good,
        "another type": b"\0\1" + good[2:],
        "too little padding": good[:6] + b"\0" + good[7:],
        "no end of the padding": good.replace(b"\0mess", b"\7mess"),
    }.items():
        yield comment, int.from_bytes(encoding, "big")
