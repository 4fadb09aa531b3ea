"""Types and helpers for netlists in Yosys' JSON format (`write_json`), which synthesis rewrites and proofs
read.

The format has more keys than are named here; they are preserved.
"""

import json
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any, TypedDict

from ...fl.errors import BadInput

Bit = int | str  # the number of a net, or "0", "1", "x" or "z"
SEPARATOR = "."  # between the names of instances in a path


class Bits(TypedDict, total=False):
    """Bits with their numbering in Verilog."""

    bits: list[Bit]
    offset: int
    upto: int


class Port(Bits, total=False):
    """A port of a module."""

    direction: str


class Cell(TypedDict, total=False):
    """An instance."""

    hide_name: int
    type: str
    parameters: dict[str, Any]  # texts of bits, or numbers
    attributes: dict[str, Any]
    port_directions: dict[str, str]
    connections: dict[str, list[Bit]]


class NetName(Bits, total=False):
    """A name of some bits."""

    hide_name: int
    attributes: dict[str, Any]


class Memory(TypedDict, total=False):
    """An array that is not mapped to registers."""

    width: int
    size: int
    attributes: dict[str, Any]


class Module(TypedDict, total=False):
    """A module with its cells."""

    attributes: dict[str, Any]
    ports: dict[str, Port]
    cells: dict[str, Cell]
    netnames: dict[str, NetName]
    memories: dict[str, Memory]


class Document(TypedDict, total=False):
    """The content of a netlist file."""

    modules: dict[str, Module]


def joined(path: str, name: str) -> str:
    """The path of a name inside the instance at `path`; the top's path is ""."""
    return f"{path}{SEPARATOR}{name}" if path else name


def enclosing(path: str, known: Container[str]) -> Iterator[str]:
    """The known paths among a path and its prefixes, longest first, then that of the top, ""."""
    while path:
        if path in known:
            yield path
        path = path.rpartition(SEPARATOR)[0]
    yield ""


def made_cell(
    kind: str, pins: Mapping[str, Sequence[Bit]], outputs: Container[str], *, hide_name: int = 0
) -> Cell:
    """A new cell without parameters; all pins other than `outputs` are inputs."""
    return {
        "hide_name": hide_name,
        "type": kind,
        "parameters": {},
        "attributes": {},
        "port_directions": {pin: "output" if pin in outputs else "input" for pin in pins},
        "connections": {pin: list(bits) for pin, bits in pins.items()},
    }


def instances(design: Document, top: str) -> Iterator[tuple[str, str]]:
    """(path, module) of the top and of all module instances below it, outer before inner."""
    todo = [("", top)]
    for path, module in todo:  # grows
        yield path, module
        for name, cell in design["modules"][module]["cells"].items():
            if cell["type"] in design["modules"]:
                todo.append((joined(path, name), cell["type"]))


def cell_bits(cell: Cell, direction: str) -> Iterator[Bit]:
    """The bits of a cell's inputs or outputs."""
    for pin, bits in cell["connections"].items():
        if cell["port_directions"].get(pin) == direction:
            yield from bits


def port_bits(module: Module, direction: str) -> Iterator[Bit]:
    """The bits of a module's inputs or outputs."""
    for port in module["ports"].values():
        if port["direction"] == direction:
            yield from port["bits"]


def operands(cell: Cell) -> tuple[tuple[Bit, ...], tuple[Bit, ...]]:
    """A and B of an operator, extended to the width of Y; as in yosys, they are signed only if both are."""
    pins = cell["connections"]
    parameters = cell["parameters"]
    width = len(cell["connections"]["Y"])
    signed = all(int(parameters.get(f"{pin}_SIGNED", "0"), 2) for pin in "AB")
    a, b = (tuple((pins[pin] + [pins[pin][-1] if signed else "0"] * width)[:width]) for pin in "AB")
    return a, b


def readers(module: Module) -> dict[Bit, set[str]]:
    """{net: the cells that read it, and "" if a port does}."""
    found = defaultdict(set, {bit: {""} for bit in port_bits(module, "output")})
    for name, cell in module["cells"].items():
        for bit in cell_bits(cell, "input"):
            found[bit].add(name)
    return found


def fresh_nets(module: Module) -> Iterator[int]:
    """Unused net numbers of a module, ascending."""
    named = (net["bits"] for net in (*module["ports"].values(), *module["netnames"].values()))
    pins = (bits for cell in module["cells"].values() for bits in cell["connections"].values())
    numbers = (bit for bits in chain(named, pins) for bit in bits if isinstance(bit, int))
    return count(max(numbers, default=1) + 1)


def load(path: Path) -> Document:
    """Read a netlist file; BadInput if it is invalid."""
    try:
        read = json.loads(path.read_text())
        if not isinstance(read["modules"], dict):
            raise TypeError("modules is no object")
        return read
    except OSError as error:
        raise BadInput(f"the netlist {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no netlist in yosys' JSON ({error}): write it with write_json") from None


def module(path: Path, top: str) -> Module:
    """The module `top` of a netlist file."""
    return load(path)["modules"][top]
