"""Memory ports as drivers see them: their messages, the memory of a run, and accesses that are refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3 import Component
from pymtl3.stdlib.ifcs import MasterIfcRTL as EnableIfc
from pymtl3.stdlib.mem import MemMsgType, mk_mem_req_msg, mk_mem_resp_msg
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL

from ....fl.errors import BadInput
from ....fl.memory import ADDRESS_NBITS, MEMORY_NBYTES, READ, WRITE, Image, MemoryPort, bytes_of

CAPACITY = 16  # answers that wait at a port
MOST_PORTS = 8
MOST_OPAQUE_NBITS = 32
MOST_KEPT_NBYTES = 1 << 30  # of copies of the memory in a run


class MemoryFault(RuntimeError):
    """Error: the design made an access that the memory refuses."""

    answered = 0  # requests before it


@dataclass(frozen=True)
class Access:
    """A request at a memory port."""

    kind: int
    address: int
    nbytes: int

    @property
    def writes(self) -> bool:
        return self.kind == WRITE

    def fault(self, port: MemoryPort, size: int, *, in_flight: bool) -> str:
        """Why a memory of `size` bytes refuses it; "" if it does not."""
        if self.kind not in (READ, WRITE):
            name = MemMsgType.str.get(self.kind, str(self.kind))
            return f"sends a request of type {name}; send {READ} to read or {WRITE} to write"
        if self.writes and not in_flight:
            where = f"{self.nbytes} bytes at {self.address:#x}"
            return f"writes {where}, but no request is in flight; respond after the last write is accepted"
        if why := port.refusal(self.address, self.nbytes, self.writes, size):
            return f"{'writes' if self.writes else 'reads'} {self.nbytes} bytes at {self.address:#x}: {why}"
        return ""

    def error(self, port: MemoryPort, size: int, cycle: int, backend: str, *, in_flight: bool) -> MemoryFault:
        """The error for this access."""
        fault = self.fault(port, size, in_flight=in_flight)
        return MemoryFault(f"memory port {port.name} in cycle {cycle} with backend {backend} {fault}")


@dataclass(frozen=True)
class MemoryMessages:
    """The messages of a memory port of a component: the bits of their fields."""

    name: str
    opaque: int
    address: int
    data: int

    @classmethod
    def of(cls, component: Component, name: str, port: MasterIfcRTL) -> "MemoryMessages":
        """The messages of a port; BadInput if they are not PyMTL3's."""
        request = getattr(port.ReqType, "__bitstruct_fields__", {})
        widths = {field: kind.nbits for field, kind in request.items()}
        try:
            found = cls(name, widths["opaque"], widths["addr"], widths["data"])
            wanted = [mk_mem_req_msg(*found.widths), mk_mem_resp_msg(found.opaque, found.data)]
        except (KeyError, AssertionError, TypeError):
            wanted = []
        if wanted and (found.address != ADDRESS_NBITS or found.opaque > MOST_OPAQUE_NBITS):
            raise BadInput(
                f"{type(component).__name__}: memory port {name} has addresses of {found.address} bits and "
                f"{found.opaque} bits of opaque; give {ADDRESS_NBITS}, and at most {MOST_OPAQUE_NBITS}"
            )
        if [*map(_fields, (port.ReqType, port.RespType))] != [*map(_fields, wanted)]:
            raise BadInput(
                f"{type(component).__name__}: the messages of memory port {name} are not those of PyMTL3; "
                "declare it as MasterIfcRTL(*mk_mem_msg(8, 32, 32))"
            )
        return found

    @property
    def widths(self) -> tuple[int, int, int]:
        """The arguments of PyMTL3's mk_mem_msg."""
        return self.opaque, self.address, self.data

    @property
    def len(self) -> int:
        """The bits of the field len."""
        return (self.data // 8).bit_length() - 1

    @property
    def request_nbits(self) -> int:
        return 4 + self.opaque + self.address + self.len + self.data

    @property
    def response_nbits(self) -> int:
        return 4 + self.opaque + 2 + self.len + self.data

    def fields(self, request: int) -> tuple[Access, int, int]:
        """The access of a packed request, its number, and its data."""
        data, request = request & (1 << self.data) - 1, request >> self.data
        nbytes, request = request & (1 << self.len) - 1, request >> self.len
        address, request = request & (1 << self.address) - 1, request >> self.address
        opaque, kind = request & (1 << self.opaque) - 1, request >> self.opaque
        return Access(kind, address, nbytes or self.data // 8), opaque, data

    def response(self, access: Access, opaque: int, data: int) -> int:
        """The packed answer to an access."""
        nbytes = 0 if access.writes else access.nbytes % (self.data // 8)
        head = (access.kind << self.opaque | opaque) << 2
        return (head << self.len | nbytes) << self.data | data


def memory_ports(component: Component) -> tuple[MemoryMessages, ...]:
    """The memory ports of an elaborated component, in the order of their declaration."""
    found = []
    for name, port in vars(component).items():
        if isinstance(port, EnableIfc):
            raise BadInput(
                f"{type(component).__name__}: port {name} has en and rdy; use MasterIfcRTL of "
                "pymtl3.stdlib.stream.ifcs, which has val and rdy"
            )
        if isinstance(port, MasterIfcRTL):
            found.append(MemoryMessages.of(component, name, port))
    return tuple(found)


@dataclass(frozen=True)
class MemorySettings:
    """The memory behind a design in a run: ports, size in bytes, and extra cycles before each answer; item i
    holds while i requests are answered. With `settled`, a write while no request is in flight is a fault.
    """

    ports: tuple[MemoryPort, ...] = ()
    nbytes: int = MEMORY_NBYTES
    delays: int | Sequence[int] = 0
    settled: bool = True


@dataclass(frozen=True)
class MemoryPlan:
    """The memory of a run: ports, size, and for each request the contents to load before it, whether to copy
    the memory at its response, and the extra cycles before each answer until then.
    """

    ports: tuple[MemoryPort, ...] = ()
    size: int = MEMORY_NBYTES
    images: Sequence[Image] = ()
    kept: Sequence[bool] = ()
    delays: Sequence[int] = ()
    settled: bool = True  # a write while all requests are answered is refused

    def loads(self, index: int) -> bool:
        """Whether there are contents to load before a request."""
        return bool(self.images and self.images[index])

    def blocks(self, index: int) -> list[tuple[int, bytes]]:
        """Addresses and contents to load before a request."""
        image = self.images[index] if self.images else {}
        return [(address, bytes_of(contents)) for address, contents in image.items()]


def check_memory(found: Sequence[MemoryMessages], wanted: Sequence[MemoryPort], component: str) -> None:
    """BadInput if a component's memory ports are not those of a shape."""
    there = {port.name: port.data for port in found}
    asked = {port.name: port.nbits for port in wanted}
    if there != asked:
        raise BadInput(
            f"{component} has memory ports {_listed(there)}, and the shape has {_listed(asked)}; make them "
            "the same"
        )


def _listed(ports: Mapping[str, int]) -> str:
    return ", ".join(f"{name}:{nbits}" for name, nbits in ports.items()) or "none"


def _fields(kind: Any) -> list[tuple[str, int]]:
    return [(name, part.nbits) for name, part in getattr(kind, "__bitstruct_fields__", {}).items()]
