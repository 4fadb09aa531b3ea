"""Interfaces: how a machine receives its operands and delivers its results.

An Interface is one of the four axes of a design. It wraps a machine in hardware, turns the operands of an
operation into requests, and reads the responses; no other code depends on which interface is used. To add
one, write its component in rtl/interfaces and append an entry to INTERFACES.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...fl import axi4lite, axi4lite_000
from ...fl.accelerator import Message, Shape
from ...fl.axi4lite import NO_TRAITS, OKAY, Axi4LiteFL, Traits
from ...fl.axi4lite_000 import KEY, Axi4Lite000FL, KeyPorts, is_padded
from ...fl.errors import BadInput, unknown
from ...fl.mod_exp import is_exponentiation
from ...fl.random_bytes import lfsr_not_random
from ...fl.register_map import Register
from ...fl.status import MEANING, STATUS_NBITS, Status
from ...fl.xcel import (
    GIVEN,
    GO,
    STATUS,
    WORD_NBITS,
    XcelFL,
    from_words,
    operand_registers,
    to_words,
    words_of,
)
from .verilog_header import bus, registers, streams

if TYPE_CHECKING:
    from pymtl3 import Component

Operands = tuple[int, int, int]  # base, exponent, modulus
Carried = tuple[int, ...]  # those three, and further numbers of the request
Make = Callable[[], "Component"]  # a new accelerator
Compute = Callable[..., Any]  # the response to a request


@dataclass(frozen=True)
class Interface(ABC):
    """How an accelerator is wrapped, and how its operands and results are transferred."""

    name: str  # the value of `--interface`
    title: str  # for readers, in tables
    summary: str  # for --help
    counts_accesses = False  # an operation takes several requests, whose number is reported
    request_cycles = 1  # upper bound from request to response, without the machine's own cycles
    on_bus = False  # an AXI4-Lite slave, with that standard's clock and reset
    keeps_request = False  # it holds a request until the answer
    clock, reset = "clk", "reset"  # ports of the exported module
    clocking = "One clock; reset is synchronous and active high."

    @property
    def suffix(self) -> str:
        """The end of a top module's name."""
        return f"_{self.name}"

    @property
    def behind(self) -> str:
        """The phrase that describes a machine with this interface."""
        return f", {self.title}"

    def protocol(self, component: "Component", shape: Shape, traits: Traits) -> list[str]:
        """Messages and protocol for the header of the Verilog."""
        return streams(component)

    def registers(self, shape: Shape, traits: Traits) -> dict[str, Register]:
        """The register map by name; empty if the interface is not a bus."""
        return {}

    def rules(self, shape: Shape, traits: Traits) -> str:
        """The behaviour of these registers in words."""
        return ""

    def place_of_given(self, number: int) -> str:
        """Text for users: the registers that receive the number with this index."""
        return f"behind registers: xr{GIVEN + number}"

    def require(self, shape: Shape, traits: Traits) -> None:  # noqa: B027
        """BadInput if the interface cannot carry this shape with these traits."""

    def more_statuses(self, shape: Shape) -> Mapping[int, str]:
        """The statuses that the interface adds to those of the machine, in words."""
        return {}

    def transfers(self, shape: Shape, request: Message) -> int:
        """The number of requests that a user of the hardware issues for one operation."""
        return len(self.requests(shape, request))

    @abstractmethod
    def wrap(self, shape: Shape, make: Make, traits: Traits = NO_TRAITS) -> "Component":
        """A new component: the machine behind this interface, with the ports istream and ostream only."""

    def exported(self, shape: Shape, make: Make, traits: Traits = NO_TRAITS) -> "Component":
        """The component to export: like `wrap`, without the bus master that drives it in simulation."""
        return self.wrap(shape, make, traits)

    @abstractmethod
    def requests(self, shape: Shape, request: Message) -> list[Message]:
        """The requests of one operation, in order; each is answered by one response."""

    @abstractmethod
    def outcome(self, shape: Shape, responses: Sequence[Any]) -> Message:
        """Status and result of one operation, from the responses to its requests."""

    @abstractmethod
    def respond(self, shape: Shape, compute: Compute, requests: Sequence[Message]) -> list[Message]:
        """The functional level's responses to the requests of one operation."""


class Stream(Interface):
    """The accelerator's own streams, without a wrapper."""

    suffix = behind = ""

    def wrap(self, shape, make, traits=NO_TRAITS):
        return make()

    def requests(self, shape, request):
        return [request]

    def outcome(self, shape, responses):
        (response,) = responses
        return response

    def respond(self, shape, compute, requests):
        return [tuple(compute(*request)) for request in requests]


class _Accessed(Interface):
    """32-bit registers: an operation takes several accesses."""

    counts_accesses = True
    further: tuple[Status, ...] = ()

    def require(self, shape, traits):
        """BadInput if the status is too wide for the status register."""
        if shape.has_status and shape.response[0][1] > STATUS_NBITS:
            raise BadInput(
                f"interface {self.name}: a status of {shape.response[0][1]} bits; give it at most "
                f"{STATUS_NBITS}, or take interface stream"
            )

    def more_statuses(self, shape):
        """The interface's own statuses, and TOO_WIDE if the words of a field can hold a value that is wider
        than the field.
        """
        room = WORD_NBITS * words_of(shape.widest)
        wide = [Status.TOO_WIDE] * any(nbits < room for _, nbits in shape.request)
        return {status: MEANING[status] for status in (*self.further, *wide)}


class _Registers(_Accessed):
    """Accelerator registers, accessed as by a processor (fl/xcel.py).

    Push base, exponent and modulus, go, pop the result, read the status: 3 W + 1 writes and W + 1 reads for
    operands of W words. Each further number of the request takes W writes, whatever its length.
    """

    request_cycles = 2
    further = (Status.WORD_COUNT, Status.NO_RESULT)

    def protocol(self, component, shape, traits):
        return [*super().protocol(component, shape, traits), *registers()]

    def require(self, shape, traits):
        super().require(shape, traits)
        operand_registers(shape)

    def wrap(self, shape, make, traits=NO_TRAITS):
        from ...rtl.interfaces.xcel import Xcel

        return Xcel(shape, make)

    def requests(self, shape, request):
        pushed = zip(operand_registers(shape), request, strict=True)
        writes = [(1, addr, word) for addr, value in pushed for word in to_words(value, shape.widest)]
        return [*writes, (1, GO, 0), *([(0, GO, 0)] * words_of(shape.result_nbits)), (0, STATUS, 0)]

    def outcome(self, shape, responses):
        *words, status = [data for write, data in responses if not write]
        assert len(words) == words_of(shape.result_nbits), responses
        return shape.unpacked(status, from_words(words))

    def respond(self, shape, compute, requests):
        registers = XcelFL(shape, compute)
        responses = []
        for write, addr, data in requests:
            if write:
                registers.write(addr, data)
            responses.append((1, 0) if write else (0, registers.read(addr)))
        return responses


class _Bus(_Accessed):
    """AXI4-Lite (fl/axi4lite.py): load the operands, start, wait for the interrupt, read status and result.

    In simulation a bus master drives the slave (rtl/interfaces/axi4lite_system.py); only the slave is
    exported.
    """

    on_bus = keeps_request = True
    request_cycles = 6  # one per state of the master (rtl/interfaces/axi4lite_master.py), two in the slave
    clock, reset = "aclk", "aresetn"
    clocking = "One clock, aclk; aresetn is synchronous to it and active low."

    def protocol(self, component, shape, traits):
        return bus(self.registers(shape, traits), self.rules(shape, traits))

    def registers(self, shape, traits):
        return axi4lite.register_map(shape, traits)

    def rules(self, shape, traits):
        return axi4lite.rules(shape, traits)

    def place_of_given(self, number):
        return f"in GIVEN_{number}"

    def require(self, shape, traits):
        super().require(shape, traits)
        axi4lite.check_registers(shape)

    def wrap(self, shape, make, traits=NO_TRAITS):
        from ...rtl.interfaces.axi4lite_system import Axi4LiteSystem

        return Axi4LiteSystem(shape, make, traits)

    def exported(self, shape, make, traits=NO_TRAITS):
        from ...rtl.interfaces.axi4lite import Axi4Lite

        return Axi4Lite(shape, make, traits)

    def requests(self, shape, request):
        return axi4lite.as_accesses(shape, request)

    def transfers(self, shape, request):
        return sum(not wait for _, wait, *_ in self.requests(shape, request))

    def outcome(self, shape, responses):
        # status and result are read after the wait, before the last write
        status, *words = [data for write, data, _ in responses[-2 - words_of(shape.result_nbits) : -1]]
        return shape.unpacked(status >> 8, from_words(words))

    def respond(self, shape, compute, requests):
        return answers(Axi4LiteFL(shape, compute), requests)


class _PaperBus(_Bus):
    """Paper 000's own registers (fl/axi4lite_000.py), without padding, for the same exponentiations as on the
    other interfaces.

    The key, which the paper has in hardware, is pushed first.
    """

    keeps_request = False

    def registers(self, shape, traits):
        return axi4lite_000.register_map()

    def rules(self, shape, traits):
        return axi4lite_000.rules()

    def place_of_given(self, number):
        return "at a port key_*"

    def require(self, shape, traits):
        if traits.keyed:
            raise BadInput(
                f"interface {self.name}: paper 000's registers have no place for the numbers of a private "
                "key, which a machine with CRT, blinding or a check takes; give the interface xcel, axi4lite "
                "or stream"
            )
        others = {name for name, _ in shape.request[3:]} - {"one", "square", "n_prime"}  # ports of KeyIfc
        if others or not is_exponentiation(shape):
            raise BadInput(
                f"interface {self.name}: paper 000's registers are those of an exponentiation, and "
                "its key has no number but one, square and n_prime; give xcel, axi4lite or stream"
            )

    def more_statuses(self, shape):
        return axi4lite_000.MEANING if is_padded(shape.widest) else {}

    def wrap(self, shape, make, traits=NO_TRAITS):
        from ...rtl.interfaces.axi4lite_000_system import Axi4Lite000System

        return self._made(Axi4Lite000System, shape, make, traits)

    def exported(self, shape, make, traits=NO_TRAITS):
        from ...rtl.interfaces.axi4lite_000 import Axi4Lite000

        return self._made(Axi4Lite000, shape, make, traits)

    def _made(self, kind, shape, make, traits):
        self.require(shape, traits)
        is_padded(shape.widest)  # BadInput unless the width is a whole number of bytes
        return kind(shape.widest, lambda _: make(), shape.request[3:])

    def requests(self, shape, request):
        base, exp, mod, *given = request
        nbits = shape.widest
        key = axi4lite_000.push_key(nbits, (mod, exp, 0, *given))
        return [*key, *axi4lite_000.as_accesses(nbits, base, nbits // 8, raw=True)]

    def transfers(self, shape, request):
        # the key arrives at ports
        return sum(not wait and address < KEY for _, wait, address, *_ in self.requests(shape, request))

    def outcome(self, shape, responses):
        code, _, value = axi4lite_000.outcome(shape.widest, responses)
        return code, value

    def respond(self, shape, compute, requests):
        pushes = [request for request in requests if request[0] and request[2] >= KEY]
        numbers = [0] * len(shape.request)
        for _, _, address, data, _ in reversed(pushes):
            number = (address - KEY) // 4
            numbers[number] = numbers[number] << WORD_NBITS | data
        modulus, public, private, *more = numbers
        key = KeyPorts(modulus, public, private, more)
        model = Axi4Lite000FL(shape.widest, compute, key, lfsr_not_random(), has_raw=True)
        return [*([(1, 0, 0)] * len(pushes)), *answers(model, requests[len(pushes) :])]


def answers(model: Axi4LiteFL | Axi4Lite000FL, requests: Sequence[Message]) -> list[Message]:
    """The responses of a slave to accesses {write, wait, address, data, strobes}."""

    def answer(write, wait, address, data, strobes):
        if wait:
            return 0, 0, 0
        found, code = (0, model.write(address, data, strobes)) if write else model.read(address)
        return write, found, int(code != OKAY)

    return [answer(*request) for request in requests]


STREAM = Stream("stream", "machine alone", "a request and its response")
XCEL = _Registers("xcel", "behind registers", "accelerator registers of 32 bits in front")
AXI4LITE = _Bus("axi4lite", "behind AXI4-Lite", "an AXI4-Lite slave with an interrupt")
AXI4LITE_000 = _PaperBus(
    "axi4lite-000",
    "behind paper 000's registers",
    "paper 000's AXI4-Lite registers, the key at ports, padding",
)
INTERFACES = {stream.name: stream for stream in (STREAM, XCEL, AXI4LITE, AXI4LITE_000)}
DEFAULT = STREAM
PROCESSOR_PORT = XCEL  # the interface of a machine at the processor's accelerator port
COUPLINGS = (PROCESSOR_PORT.name, AXI4LITE.name)  # with the processor: tightly, loosely
SYSTEM = "system"  # used like an interface: the machine at the processor's port
UNIT = "unit"  # likewise: a multiplier without its machine, which computes products only
UNIT_TITLE = "multiplier alone"
UNIT_SUMMARY = "the multiplier alone, the modulus at a static port"


def find(name: str) -> Interface:
    """The interface of this name; BadInput if there is none."""
    if name not in INTERFACES:
        raise unknown("interface", name, INTERFACES)
    return INTERFACES[name]


def titles() -> dict[str, str]:
    """Titles for readers of all interfaces, of systems and of bare multipliers, by name."""
    own = {name: interface.title for name, interface in INTERFACES.items()}
    return {**own, SYSTEM: "with processor", UNIT: UNIT_TITLE}
