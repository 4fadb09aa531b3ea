"""What is published beside the five papers (field.toml), and what a core of ours is to reach (goals.toml): two files of data, read once."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

import msgspec

from ....fl.errors import BadInput
from ....flow import typed_toml

HERE = Path(__file__).parent
FIELD, GOALS = "field.toml", "goals.toml"


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


class FieldFile(msgspec.Struct, forbid_unknown_fields=True):
    """field.toml."""

    figure: list[Figure]


class GoalsFile(msgspec.Struct, forbid_unknown_fields=True):
    """goals.toml."""

    goal: list[Goal]


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
