"""Reader of register maps in SystemRDL: registers by name, with their fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Field:
    """A field of a register."""

    name: str
    low: int
    high: int
    text: str
    reset: int = 0

    @property
    def bits(self) -> str:
        """Its bit range, as high:low or a single bit."""
        return f"{self.high}:{self.low}" if self.high > self.low else str(self.low)


@dataclass(frozen=True)
class Register:
    """A register, or an array of registers."""

    name: str
    address: int
    count: int
    readable: bool
    writable: bool
    fields: tuple[Field, ...]
    text: str
    clears: bool = False  # writing 1 clears a bit, writing 0 leaves it

    @property
    def reset(self) -> int:
        """Its value after reset."""
        return sum(field.reset << field.low for field in self.fields)

    @property
    def access(self) -> str:
        """r, w, rw or, if writing 1 clears, rw1c."""
        return "r" * self.readable + "w" * self.writable + "1c" * self.clears

    @property
    def last(self) -> int:
        """The address of the last word."""
        return self.address + 4 * (self.count - 1)

    def field(self, name: str) -> Field:
        """The field with this name."""
        return next(field for field in self.fields if field.name == name)


def read_map(path: Path, parameters: Mapping[str, int]) -> dict[str, Register]:
    """The registers of the address map in a file by name, elaborated with these parameters."""
    from systemrdl import RDLCompiler
    from systemrdl.node import RegNode
    from systemrdl.rdltypes import OnWriteType

    compiler = RDLCompiler()
    compiler.compile_file(str(path))
    top = compiler.elaborate(parameters=dict(parameters)).top
    found = {}
    for node in top.children(unroll=False):
        assert isinstance(node, RegNode)
        array = node.is_array
        fields = []
        for field in node.fields():
            reset = field.get_property("reset")
            number = reset if isinstance(reset, int) else 0
            fields.append(
                Field(field.inst_name, field.low, field.high, field.get_property("desc") or "", number)
            )
        found[node.inst_name] = Register(
            node.inst_name,
            node.raw_address_offset,
            node.array_dimensions[0] if array and node.array_dimensions else 1,
            node.has_sw_readable,
            node.has_sw_writable,
            tuple(fields),
            node.get_property("name"),
            any(field.get_property("onwrite") == OnWriteType.woclr for field in node.fields()),
        )
    return found


def find_register(
    registers: Mapping[str, Register], address: int, access: str
) -> tuple[Register, int] | None:
    """The register at a byte address, and the index in its array; None if none there has this access (r or
    w). The lowest two bits are ignored.
    """
    word = address // 4
    for register in registers.values():
        place = word - register.address // 4
        if 0 <= place < register.count and access in register.access:
            return register, place
    return None
