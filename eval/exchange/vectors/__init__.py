"""Readers of third-party test vectors, one per format, selected by the content of the file."""

import json
from dataclasses import dataclass
from typing import Any

from ....fl.errors import BadInput
from ....fl.input_file import read_bytes
from . import bn_text, wycheproof
from .items import Item

MOST_DIGITS = 4000  # of an integer in JSON: Python converts at most 4300 by default


@dataclass(frozen=True)
class VectorFile:
    """A vector file: its path as the user gave it, its format, and one item per vector.

    `announced` is the number of vectors that the file claims to have, if any; fewer items may be an excerpt
    or an accident.
    """

    path: str
    format: str
    items: list[Item]
    announced: int | None = None


def known_formats() -> str:
    """The known formats as text, for messages and help."""
    return f"{wycheproof.DESCRIPTION}; {bn_text.DESCRIPTION}"


def load(path: str) -> VectorFile:
    """Read a vector file of any known format."""
    try:
        return _load(path)
    except RecursionError:  # from the parsers of JSON and of keys in DER
        raise BadInput(f"{path}: nested too deeply; restore the file from its origin") from None


def _load(path: str) -> VectorFile:
    data = read_bytes(path, "give the path of a vector file")
    try:
        text = _decoded(data)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not text; known formats: {known_formats()}") from None
    if not text.strip():
        raise BadInput(f"{path}: the file is empty; known formats: {known_formats()}")
    if text.lstrip()[0] in "[{":
        document = _json(text, path)
        if not wycheproof.recognise(document):
            raise BadInput(f"{path}: this JSON is of no known format; known formats: {known_formats()}")
        announced = document.get("numberOfTests")
        number = announced if isinstance(announced, int) else None
        return _loaded(path, wycheproof.FORMAT, wycheproof.read(document, path), number)
    if not bn_text.recognise(text):
        raise BadInput(f"{path}: this text is of no known format; known formats: {known_formats()}")
    return _loaded(path, bn_text.FORMAT, bn_text.read(text, path))


def _decoded(data: bytes) -> str:
    """The text of a UTF-8 file; comments behind a `#` may be in Latin-1, for the names of authors."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        lines = [line.partition(b"#") for line in data.split(b"\n")]
        try:
            return "\n".join(
                head.decode("utf-8-sig") + (mark + comment).decode("latin-1") for head, mark, comment in lines
            )
        except UnicodeDecodeError:
            raise error from None


def _loaded(path: str, name: str, items: list[Item], announced: int | None = None) -> VectorFile:
    if not items:
        raise BadInput(f"{path}: it looks like {name}, but holds no vector; is the file cut off?")
    return VectorFile(path, name, items, announced)


def _json(text: str, path: str) -> Any:
    """The document; BadInput if it is not valid."""

    def integer(digits):
        if len(digits) > MOST_DIGITS:
            raise BadInput(
                f"{path}: this JSON has an integer of {len(digits)} digits; write it as hexadecimal text"
            )
        return int(digits)

    try:
        return json.loads(text, parse_int=integer)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{path}: line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}; "
            f"restore the file from its origin"
        ) from None
