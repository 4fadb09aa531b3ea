"""A netlist in Yosys' JSON, as synthesis rewrites it and proofs read it.

It is Yosys' own format (`write_json`), with more keys than are named here; none is lost on the way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict, cast

from ...fl.errors import BadInput

Bit = int | str  # the number of a net, or "0", "1", "x" or "z"


class Bits(TypedDict, total=False):
    """Some bits, and how Verilog numbers them."""

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
    """An array that has not become registers."""

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
    """The whole file."""

    creator: str
    modules: dict[str, Module]


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


def load(path: Path | str) -> Document:
    """The netlist in a file; BadInput for what is none."""
    try:
        read = json.loads(Path(path).read_text())
        if not isinstance(read["modules"], dict):
            raise TypeError("modules is no object")
    except OSError as error:
        raise BadInput(f"the netlist {path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no netlist in yosys' JSON ({error}): write it with write_json") from None
    return cast(Document, read)


def module(path: Path | str, top: str) -> Module:
    """One of its modules."""
    return load(path)["modules"][top]
