"""Files of data, read once: what is published beside the five papers (field.toml), what a core of ours is to reach (goals.toml), and where
searches of a clock begin (clocks.toml)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

import msgspec

from ....fl.errors import BadInput
from ....flow import typed_toml

HERE = Path(__file__).parent
FIELD, GOALS, CLOCKS = "field.toml", "goals.toml", "clocks.toml"


class Figure(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, frozen=True):
    """What a source says of one design at one width; field.toml says what the names mean."""

    design: str
    nbits: int
    technology: str
    source: str
    taken: Literal["read", "abstract", "quoted", "measured"]
    product_cycles: int | None = None
    product_ns: float | None = None
    operation_cycles: int | None = None
    operation_us: float | None = None
    public_cycles: int | None = None
    public_us: float | None = None
    note: str = ""


class Goal(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, frozen=True):
    """At most so much, of a core of this width."""

    nbits: int
    product_ns: float | None = None
    area_time: float | None = None
    operation_us: float | None = None


class Clock(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, frozen=True):
    """Periods by width, of a core alone or of its machine."""

    core: str
    part: str
    ns: dict[int, float]


class FieldFile(msgspec.Struct, forbid_unknown_fields=True):
    """field.toml."""

    figure: list[Figure]


class GoalsFile(msgspec.Struct, forbid_unknown_fields=True):
    """goals.toml."""

    goal: list[Goal]


class ClocksFile(msgspec.Struct, forbid_unknown_fields=True):
    """clocks.toml."""

    clock: list[Clock]


@functools.cache
def figures() -> tuple[Figure, ...]:
    """All of them, in the order of the file."""
    found = tuple(typed_toml.parse((HERE / FIELD).read_text(), FieldFile).figure)
    for each in found:
        if not (each.technology and each.source):
            raise BadInput(f"{FIELD}: {each.design}, {each.nbits} bits, without technology and source")
    return found


@functools.cache
def goals() -> dict[int, Goal]:
    """By width."""
    return {each.nbits: each for each in typed_toml.parse((HERE / GOALS).read_text(), GoalsFile).goal}


@functools.cache
def clocks() -> dict[tuple[str, str, int], float]:
    """By core, part and width."""
    found = typed_toml.parse((HERE / CLOCKS).read_text(), ClocksFile).clock
    return {(each.core, each.part, nbits): ns for each in found for nbits, ns in each.ns.items()}
