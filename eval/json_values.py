"""JSON values: integers that a double cannot represent exactly become strings."""

from typing import Any

JSON_SAFE = 2**53 - 1  # readers that hold numbers as doubles are exact up to here


def json_number(value: int | None) -> int | str | None:
    """A number as JSON readers can take it: hexadecimal text where doubles are not exact."""
    if value is None or -JSON_SAFE <= value <= JSON_SAFE:
        return value
    return hex(value)


def attributes(value: Any, *names: str) -> dict[str, Any]:
    """These attributes by their names."""
    return {name: getattr(value, name) for name in names}


def json_value(value: Any) -> Any:
    """The value of a parameter for JSON: numbers as `json_number`, words and booleans as they are."""
    return json_number(value) if isinstance(value, int) and not isinstance(value, bool) else value
