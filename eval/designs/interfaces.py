"""Interfaces: how operands reach a machine, and how its answers come back.

An Interface is one of the four axes of a design. It says how a machine is wrapped in hardware, how the operands of an operation
become requests, and how responses are read; nothing else asks which interface there is. To add one, write its component in
rtl/interfaces and append an entry to INTERFACES.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...fl import axi4lite_000
from ...fl.axi4lite import NO_TRAITS, OKAY, Axi4LiteFL, Traits, as_accesses
from ...fl.axi4lite_000 import KEY, Axi4Lite000FL, KeyPorts, is_padded, push_key
from ...fl.errors import BadInput, unknown
from ...fl.random_bytes import lfsr_not_random
from ...fl.status import Status
from ...fl.xcel import GIVEN, GO, STATUS, WORD_NBITS, XcelFL, operand_registers, to_words, words_of
from .verilog_header import PROTOCOL, bus, messages, paper_bus, registers

if TYPE_CHECKING:
    from pymtl3 import Component

Operands = tuple[int, int, int]  # base, exponent, modulus
Carried = tuple[int, ...]  # those three, and what the machine takes as given
Message = tuple[int, ...]  # the fields of a request or a response
MakeMachine = Callable[[], "Component"]  # a machine, istream {base, exp, mod} -> ostream {status, result}
Compute = Callable[..., tuple[Status, int]]  # status and result of what is carried
GivenFields = tuple[tuple[str, int], ...]  # names and bits of what a machine takes as given


@dataclass(frozen=True)
class Interface(ABC):
    """How operands are carried."""

    name: str  # as `--interface` has it
    title: str  # for readers: what a figure is one of
    summary: str  # for --help
    counts_accesses: bool = False  # an operation takes several requests, which a user wants to see counted

    @property
    def suffix(self) -> str:
        """The end of a top module's name."""
        return f"_{self.name}"

    @property
    def behind(self) -> str:
        """What a sentence says of a machine with this interface."""
        return f", {self.title}"

    def protocol(self, component: Component, nbits: int, given: GivenFields = ()) -> list[str]:
        """Messages and protocol for the header of the Verilog."""
        return [*messages(component), "", *PROTOCOL.split("\n")]

    def place_of_given(self, number: int) -> str:
        """Where a number goes that the machine takes as given, in words."""
        return f"behind registers: xr{GIVEN + number}"

    @property
    def statuses(self) -> str:
        """The sentence before the list of statuses."""
        return "Statuses:"

    def require(self, traits: Traits) -> None:  # noqa: B027
        """BadInput if such a machine cannot be behind it; most take all."""

    def more_statuses(self, nbits: int, given: GivenFields = ()) -> Collection[Status]:
        """The statuses that the interface adds to those of the machine."""
        return ()

    def further_codes(self, nbits: int) -> Mapping[int, str]:
        """Codes of the interface's own, beside the statuses of machines, with their meaning."""
        return {}

    def transfers(self, nbits: int, operands: Carried) -> int:
        """How many requests an operation takes of who uses the hardware."""
        return len(self.requests(nbits, operands))

    @abstractmethod
    def wrap(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        """A new machine in hardware, behind this interface; it has istream, ostream and no other ports."""

    def exported(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        """The same as others take it: without what drives it here."""
        return self.wrap(nbits, mk_machine, given, traits)

    @abstractmethod
    def requests(self, nbits: int, operands: Carried) -> list[Message]:
        """The requests of one operation, in order; each is answered by one response."""

    @abstractmethod
    def outcome(self, nbits: int, responses: Sequence[Any]) -> tuple[Status, int]:
        """Status and result of one operation, from the responses to its requests."""

    @abstractmethod
    def respond(
        self, nbits: int, compute: Compute, requests: Sequence[Message], given: GivenFields = ()
    ) -> list[Message]:
        """The functional level: the responses to the requests of one operation."""


class _Stream(Interface):
    """The machine's own streams."""

    suffix = ""
    behind = ""
    statuses = "A status other than 0 says why there is no result, which then reads as 0:"

    def wrap(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        return mk_machine()

    def requests(self, nbits: int, operands: Carried) -> list[Message]:
        return [operands]

    def outcome(self, nbits: int, responses: Sequence[Any]) -> tuple[Status, int]:
        ((status, result),) = responses
        return Status(status), result

    def respond(
        self, nbits: int, compute: Compute, requests: Sequence[Message], given: GivenFields = ()
    ) -> list[Message]:
        return [compute(*request) for request in requests]


class _Registers(Interface):
    """Accelerator registers as a processor asks for them (fl/xcel.py).

    Push base, exponent and modulus, go, pop the result, read the status: 3 W + 1 writes and W + 1 reads for operands of W words, and
    W writes more for each number that the machine takes as given, of whatever length it is.
    """

    def protocol(self, component: Component, nbits: int, given: GivenFields = ()) -> list[str]:
        return [*super().protocol(component, nbits), *registers()]

    def more_statuses(self, nbits: int, given: GivenFields = ()) -> Collection[Status]:
        return (Status.WORD_COUNT, Status.NO_RESULT, *_too_wide(nbits, given))

    def wrap(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        from ...rtl.interfaces.rsa_xcel import RSAXcel

        return RSAXcel(nbits, lambda _: mk_machine(), given)

    def requests(self, nbits: int, operands: Carried) -> list[Message]:
        pushed = zip(operand_registers(len(operands) - 3), operands, strict=True)
        writes = [(1, addr, word) for addr, value in pushed for word in to_words(value, nbits)]
        return [*writes, (1, GO, 0), *([(0, GO, 0)] * words_of(nbits)), (0, STATUS, 0)]

    def outcome(self, nbits: int, responses: Sequence[Any]) -> tuple[Status, int]:
        *words, status = [data for write, data in responses if not write]
        assert len(words) == words_of(nbits), responses
        return Status(status), sum(word << (WORD_NBITS * i) for i, word in enumerate(words))

    def respond(
        self, nbits: int, compute: Compute, requests: Sequence[Message], given: GivenFields = ()
    ) -> list[Message]:
        registers = XcelFL(nbits, compute, [wide for _, wide in given])
        responses: list[Message] = []
        for write, addr, data in requests:
            if write:
                registers.write(addr, data)
                responses.append((1, 0))
            else:
                responses.append((0, registers.read(addr)))
        return responses


class _Bus(Interface):
    """AXI4-Lite (fl/axi4lite.py): load the operands, start, wait for the interrupt, read status and result.

    In simulation a master stands before the slave (rtl/interfaces/axi4lite_system.py); what is exported is the slave.
    """

    def protocol(self, component: Component, nbits: int, given: GivenFields = ()) -> list[str]:
        return bus(nbits, given)

    def place_of_given(self, number: int) -> str:
        return f"in GIVEN_{number}"

    def more_statuses(self, nbits: int, given: GivenFields = ()) -> Collection[Status]:
        return _too_wide(nbits, given)

    def wrap(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        from ...rtl.interfaces.axi4lite_system import Axi4LiteSystem

        return Axi4LiteSystem(nbits, lambda _: mk_machine(), given, traits)

    def exported(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        from ...rtl.interfaces.axi4lite import Axi4Lite

        return Axi4Lite(nbits, lambda _: mk_machine(), given, traits)

    def requests(self, nbits: int, operands: Carried) -> list[Message]:
        return as_accesses(nbits, operands)

    def transfers(self, nbits: int, operands: Carried) -> int:
        return sum(not wait for _, wait, *_ in self.requests(nbits, operands))

    def outcome(self, nbits: int, responses: Sequence[Any]) -> tuple[Status, int]:
        # status and result are read after the wait, before the last write
        status, *words = [data for write, data, _ in responses[-2 - words_of(nbits) : -1]]
        return Status(status >> 8), sum(word << (WORD_NBITS * i) for i, word in enumerate(words))

    def respond(
        self, nbits: int, compute: Compute, requests: Sequence[Message], given: GivenFields = ()
    ) -> list[Message]:
        return answers(Axi4LiteFL(nbits, compute, [wide for _, wide in given]), requests)


class _PaperBus(_Bus):
    """Paper 000's own registers (fl/axi4lite_000.py), without padding: exponentiations as all other interfaces carry them.

    The key, which the paper has in hardware, is pushed first.
    """

    def protocol(self, component: Component, nbits: int, given: GivenFields = ()) -> list[str]:
        return paper_bus()

    def place_of_given(self, number: int) -> str:
        return "at a port key_*"

    def further_codes(self, nbits: int) -> Mapping[int, str]:
        return axi4lite_000.MEANING if is_padded(nbits) else {}

    def require(self, traits: Traits) -> None:
        if traits.keyed:
            raise BadInput(
                f"interface {self.name}: paper 000's registers have no place for the numbers of a private key, which a machine with CRT, "
                "blinding or a check takes; give the interface xcel, axi4lite or stream"
            )

    def more_statuses(self, nbits: int, given: GivenFields = ()) -> Collection[Status]:
        return ()

    def wrap(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        from ...rtl.interfaces.axi4lite_000_system import Axi4Lite000System

        self.require(traits)
        is_padded(nbits)
        return Axi4Lite000System(nbits, lambda _: mk_machine(), given)

    def exported(
        self, nbits: int, mk_machine: MakeMachine, given: GivenFields = (), traits: Traits = NO_TRAITS
    ) -> Component:
        from ...rtl.interfaces.axi4lite_000 import Axi4Lite000

        self.require(traits)
        is_padded(nbits)
        return Axi4Lite000(nbits, lambda _: mk_machine(), given)

    def requests(self, nbits: int, operands: Carried) -> list[Message]:
        base, exp, mod, *given = operands
        key = push_key(nbits, (mod, exp, 0, *given))
        return [*key, *axi4lite_000.as_accesses(nbits, base, nbits // 8, raw=True)]

    def transfers(self, nbits: int, operands: Carried) -> int:
        # the key comes by ports
        return sum(not wait and address < KEY for _, wait, address, *_ in self.requests(nbits, operands))

    def outcome(self, nbits: int, responses: Sequence[Any]) -> tuple[Status, int]:
        code, _, value = axi4lite_000.outcome(nbits, responses)
        return Status(code), value

    def respond(
        self, nbits: int, compute: Compute, requests: Sequence[Message], given: GivenFields = ()
    ) -> list[Message]:
        pushes = [each for each in requests if each[0] and each[2] >= KEY]
        numbers = [0] * (3 + len(given))
        for _, _, address, data, _ in reversed(pushes):
            number = (address - KEY) // 4
            numbers[number] = numbers[number] << WORD_NBITS | data
        modulus, public, private, *more = numbers
        model = Axi4Lite000FL(
            nbits, compute, KeyPorts(modulus, public, private, more), lfsr_not_random(), has_raw=True
        )
        rest = requests[len(pushes) :]
        return [*([(1, 0, 0)] * len(pushes)), *answers(model, rest)]


def _too_wide(nbits: int, given: GivenFields) -> tuple[Status, ...]:
    """The status of ones above a field, if words have more bits than some field."""
    room = WORD_NBITS * words_of(nbits)
    return (Status.TOO_WIDE,) if any(wide < room for _, wide in (("", nbits), *given)) else ()


def answers(model: Axi4LiteFL | Axi4Lite000FL, requests: Sequence[Message]) -> list[Message]:
    """The answers of a slave to accesses {write, wait, address, data, strobes}."""
    responses: list[Message] = []
    for write, wait, address, data, strobes in requests:
        if write:
            responses.append((1, 0, int(model.write(address, data, strobes) != OKAY)))
        elif wait:
            responses.append((0, 0, 0))
        else:
            found, answer = model.read(address)
            responses.append((0, found, int(answer != OKAY)))
    return responses


STREAM = _Stream("stream", "machine alone", "a request and its response")
XCEL = _Registers(
    "xcel", "behind registers", "accelerator registers of 32 bits in front", counts_accesses=True
)
AXI4LITE = _Bus("axi4lite", "behind AXI4-Lite", "an AXI4-Lite slave with an interrupt", counts_accesses=True)
AXI4LITE_000 = _PaperBus(
    "axi4lite-000",
    "behind paper 000's registers",
    "paper 000's AXI4-Lite registers, the key at ports, padding",
    counts_accesses=True,
)
INTERFACES: dict[str, Interface] = {each.name: each for each in (STREAM, XCEL, AXI4LITE, AXI4LITE_000)}
DEFAULT = STREAM
PROCESSOR_PORT = XCEL  # what a machine has behind the processor
SYSTEM = "system"  # in the place of an interface: the machine with the processor in front
SYSTEM_TITLE = "with processor"
UNIT = "unit"  # likewise: a multiplier without its machine, which does products and no exponentiations
UNIT_TITLE = "multiplier alone"
UNIT_SUMMARY = "a product and its result, the modulus at a static port: the multiplier without its machine"


def find(name: str) -> Interface:
    """The interface of this name; BadInput if there is none."""
    if name not in INTERFACES:
        raise unknown("interface", name, INTERFACES)
    return INTERFACES[name]


def titles() -> dict[str, str]:
    """The words of readers for all interfaces, for systems and for multipliers alone."""
    return {**{name: each.title for name, each in INTERFACES.items()}, SYSTEM: SYSTEM_TITLE, UNIT: UNIT_TITLE}
