"""JSON values: integers that a double cannot represent exactly become strings."""

from typing import Any

JSON_SAFE = 2**53 - 1  # largest integer up to which doubles are exact


def json_number(value: int | None) -> int | str | None:
    """A number as JSON readers can represent it: hexadecimal text where doubles are not exact."""
    if value is None or -JSON_SAFE <= value <= JSON_SAFE:
        return value
    return hex(value)


def attributes(value: Any, *names: str) -> dict[str, Any]:
    """These attributes of an object, by name."""
    return {name: getattr(value, name) for name in names}


def json_value(value: Any) -> Any:
    """The value of a parameter for JSON: numbers as `json_number`, strings and booleans unchanged."""
    return json_number(value) if isinstance(value, int) and not isinstance(value, bool) else value
