"""Reads TOML files into structs: msgspec checks types and keys; errors name the key and the nearest valid
one.
"""

import re
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from ..fl.errors import BadInput, unknown

T = TypeVar("T")
KINDS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "array": "a list",
    "object": "a table",
}


def parse(text: str, kind: type[T]) -> T:
    """Parse a whole file; BadInput with the invalid key."""
    try:
        return msgspec.toml.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise BadInput(explained(str(error), kind)) from None
    except msgspec.DecodeError as error:
        raise BadInput(f"this is no TOML: {error}") from None
    except (ValueError, RecursionError):  # from Python: thousands of digits or of nested brackets
        raise BadInput("a number with thousands of digits, or lists in lists") from None


def explained(message: str, kind: type) -> str:
    """A message of msgspec in the terms of the file."""
    text, _, path = message.partition(" - at `$")
    place = path.rstrip("`").lstrip(".")
    at = f"{place}: " if place else ""
    if surplus := re.search(r"unknown field `([^`]*)`", text):
        table = _struct_at(kind, place)
        words = f"key of [{place}]" if place else "key"
        return str(unknown(words, surplus[1], table.__struct_encode_fields__ if table else ()))
    if missing := re.search(r"missing required field `([^`]*)`", text):
        return f"{at}{missing[1]} is missing"
    if mismatch := re.fullmatch(r"Expected `([\w |]+)`, got `(\w+)`", text):
        *others, last = (KINDS.get(part, part) for part in mismatch[1].split(" | "))
        wanted = f"{', '.join(others)} or {last}" if others else last
        return f"{at}give {wanted}, not {KINDS.get(mismatch[2], mismatch[2])}"
    return at + text


def _struct_at(kind: Any, place: str) -> Any:
    """The struct for the table at a path like `part[0].nbits`."""
    for name in filter(None, re.sub(r"\[[^]]*\]", "", place).split(".")):
        if not _struct_in(kind):
            return None
        attribute = kind.__struct_fields__[kind.__struct_encode_fields__.index(name)]
        kind = _struct_in(get_type_hints(kind)[attribute])
    return _struct_in(kind)


def _struct_in(kind: Any) -> Any:
    """The struct in a type such as list[S] or S | None."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    return next(filter(None, map(_struct_in, get_args(kind))), None)
