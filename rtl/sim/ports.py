"""Ports of a component as seen by the drivers: one request stream, one response stream, static ports, and
memory ports.

`istream` and `ostream` are val/rdy streams (RecvIfcRTL, SendIfcRTL) whose message is Bits or a bitstruct.
Memory ports are MasterIfcRTL with PyMTL3's memory messages.
Every other input port of the component is static: it must be stable while an operation is in flight. A
message is passed as one integer (a packed bitstruct, with its first field in the most significant bits).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3 import Component, InPort
from pymtl3.datatypes import Bits, is_bitstruct_class

from ...fl.errors import BadInput
from .memory.access import MemoryMessages, memory_ports

Value = int | tuple[int, ...]


@dataclass(frozen=True)
class Message:
    """The type of a port: its width, and its fields (name, width) if it is a bitstruct."""

    nbits: int
    fields: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, signal_type: Any) -> "Message":
        if not is_bitstruct_class(signal_type):
            return cls(signal_type.nbits)
        fields = signal_type.__bitstruct_fields__.items()
        return cls(signal_type.nbits, tuple((name, kind.nbits) for name, kind in fields))

    def pack(self, value: Value, what: str) -> int:
        """The message as one integer; BadInput, naming `what`, if the value does not fit the type."""
        if not self.fields:
            return _fit(value, self.nbits, "", what)
        if not isinstance(value, tuple) or len(value) != len(self.fields):
            names = ", ".join(name for name, _ in self.fields)
            raise BadInput(f"{what} must be a tuple ({names}), not {value!r}")
        packed = 0
        for (name, nbits), part in zip(self.fields, value, strict=True):
            packed = packed << nbits | _fit(part, nbits, name, what)
        return packed

    def pack_all(self, values: Sequence[Value]) -> list[int]:
        """The requests of a run as integers, packed by column, which is several times faster than
        one by one.
        """
        columns = self._columns(values)
        if columns is None:
            return [self.pack(value, f"request {i}") for i, value in enumerate(values)]
        packed = [0] * len(values)
        for (_, nbits), column in zip(self.fields, columns, strict=True):
            packed = [above << nbits | part for above, part in zip(packed, column, strict=True)]
        return packed

    def _columns(self, values: Sequence[Any]) -> list[tuple[int, ...]] | None:
        """The fields of plain tuples of integers that fit; None if `pack` would convert or refuse a value."""
        if (
            not self.fields
            or set(map(type, values)) != {tuple}
            or set(map(len, values)) != {len(self.fields)}
        ):
            return None
        columns = list(zip(*values, strict=True))
        fit = all(
            set(map(type, column)) == {int} and min(column) >= 0 and not max(column) >> nbits
            for (_, nbits), column in zip(self.fields, columns, strict=True)
        )
        return columns if fit else None

    def unpack(self, packed: int) -> Value:
        """The inverse of `pack`."""
        (value,) = self.unpack_all([packed])
        return value

    def unpack_all(self, packed: list[int]) -> Sequence[Value]:
        """The inverse of `pack_all`."""
        if not self.fields:
            return packed
        columns = []
        for _, nbits in reversed(self.fields):
            mask = (1 << nbits) - 1
            columns.append([number & mask for number in packed])
            packed = [number >> nbits for number in packed]
        return list(zip(*reversed(columns), strict=True))


def _fit(value: Value, nbits: int, field: str, what: str) -> int:
    if type(value) is int and not value >> nbits:
        return value
    where = f"{field} of {what}" if field else what
    if not isinstance(value, int | Bits):
        raise BadInput(f"{where} must be an integer, not {value!r}")
    number = int(value)
    if number >> nbits:
        raise BadInput(f"{where} is {number:#x}, which does not fit into {nbits} bits")
    return number


@dataclass(frozen=True)
class Ports:
    """The ports of a design, as a driver needs them."""

    request: Message
    response: Message
    statics: tuple[tuple[str, Message], ...]
    memory: tuple[MemoryMessages, ...] = ()

    @classmethod
    def of(cls, component: Component) -> "Ports":
        """The ports of an elaborated component."""
        try:
            request, response = component.istream.msg, component.ostream.msg
        except AttributeError:
            raise BadInput(
                f"{type(component).__name__} cannot be driven: it needs the streams "
                "`istream` (RecvIfcRTL) and `ostream` (SendIfcRTL)"
            ) from None
        statics = tuple(
            (name, Message.of(port._dsl.Type))
            for name, port in vars(component).items()
            if isinstance(port, InPort) and name not in ("clk", "reset")
        )
        streams = Message.of(request._dsl.Type), Message.of(response._dsl.Type)
        return cls(*streams, statics, memory_ports(component))

    def pack_statics(self, values: Mapping[str, Value]) -> tuple[int, ...]:
        """One number per static port, 0 by default."""
        unknown = values.keys() - {name for name, _ in self.statics}
        if unknown:
            known = ", ".join(name for name, _ in self.statics) or "none"
            raise BadInput(f"no static port named {', '.join(sorted(unknown))} (there is: {known})")
        return tuple(
            kind.pack(values[name], f"static port {name}") if name in values else 0
            for name, kind in self.statics
        )

    @property
    def static_nbits(self) -> int:
        """The total width of the static ports (at least 1, even without static ports)."""
        return sum(kind.nbits for _, kind in self.statics) or 1

    def join_statics(self, values: tuple[int, ...]) -> int:
        """The static ports as one number, the first in the most significant bits."""
        joined = 0
        for (_, kind), value in zip(self.statics, values, strict=True):
            joined = joined << kind.nbits | value
        return joined
