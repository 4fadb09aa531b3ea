"""JSON values: integers that a double cannot represent exactly become strings."""

import json
from typing import Any

Json = dict[str, Any]  # a JSON object
JSON_SAFE = 2**53 - 1  # largest integer up to which doubles are exact


def json_number(value: int | None) -> int | str | None:
    """A number as JSON readers can represent it: hexadecimal text where doubles are not exact."""
    if value is None or -JSON_SAFE <= value <= JSON_SAFE:
        return value
    return hex(value)


def canonical(value: Any) -> str:
    """The JSON text of a value with sorted keys, equal for equal values."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def spelled(value: Any) -> str:
    """A value in the syntax of the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def attributes(value: Any, *names: str) -> dict[str, Any]:
    """These attributes of an object, by name."""
    return {name: getattr(value, name) for name in names}


def json_value(value: Any) -> Any:
    """The value of a parameter for JSON: numbers as `json_number`, strings and booleans unchanged."""
    return json_number(value) if isinstance(value, int) and not isinstance(value, bool) else value
