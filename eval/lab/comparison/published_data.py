"""Figures published outside the five papers (published_data.toml)."""

import functools
import re
from pathlib import Path
from typing import Literal

import msgspec

from ....fl.errors import BadInput
from ....flow import typed_toml

HERE = Path(__file__).parent
IN_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+, ")  # owner/name, and the file
FIELD = "published_data.toml"
UNKNOWN = "unknown"  # a URL or commit that nobody stated


class Figure(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, frozen=True):
    """Figures of one design at one width from one source; published_data.toml documents the fields."""

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
    area_um2: float | None = None
    instructions: int | None = None
    exponent_nbits: int | None = None  # None: as long as the modulus
    limits: str = ""  # of the modulus
    constant_time: Literal["", "yes", "of a length", "no"] = ""  # "": not stated; likewise below
    crt: bool | None = None
    blinded: str = ""
    checked: bool | None = None
    obtained: str  # how the figure was obtained: simulated, timed, by formula, ...
    url: str = ""  # "": unknown
    commit: str = ""
    note: str = ""


class FieldFile(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of published_data.toml."""

    figure: list[Figure]
    unread: list[str] = []  # relevant works whose tables could not be read


@functools.cache
def field_file() -> FieldFile:
    """The parsed file."""
    return typed_toml.parse((HERE / FIELD).read_text(), FieldFile)


@functools.cache
def figures() -> tuple[Figure, ...]:
    """All figures in file order; BadInput for one without technology, source or commit."""
    found = tuple(field_file().figure)
    for figure in found:
        name = f"{FIELD}: {figure.design}, {figure.nbits} bits"
        if not (figure.technology and figure.source):
            raise BadInput(f"{name}, without technology and source")
        if IN_REPOSITORY.match(figure.source) and not figure.commit:
            raise BadInput(
                f"{name}: {figure.source} has no commit; add the one that has this figure, or 'unknown'"
            )
    return found
