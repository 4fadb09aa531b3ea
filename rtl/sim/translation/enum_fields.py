"""Enumerated fields of messages: a class names their values by `ENUMS = {"field": ("NAME", ...)}`, 0 first.

The Verilog declares one type for each enumerated field, `field_e`, whose values are called FIELD_NAME.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRDataType as rdt
from pymtl3.passes.rtlir import RTLIRType as rt

from .nodes import value_of


def value_name(field: str, name: str) -> str:
    return f"{field}_{name.removeprefix(f'{field}_'.upper())}".upper()


def enumerations(message: type) -> Iterator[str]:
    """The declarations of these types."""
    for field, names in _enums(message).items():
        nbits = message.__bitstruct_fields__[field].nbits  # type: ignore[attr-defined]
        yield declaration(field, nbits, {name: number for number, name in enumerate(names)})


def declaration(kind: str, nbits: int, values: Mapping[str, int]) -> str:
    lines = (f"  {value_name(kind, name)} = {nbits}'d{number}" for name, number in values.items())
    return f"typedef enum logic [{nbits - 1}:0] {{\n" + ",\n".join(lines) + f"\n}} {kind}_e;\n"


def with_enums(message: type, declaration: str) -> str:
    """The declaration of a message, whose enumerated fields have these types."""
    for field in _enums(message):
        declaration = re.sub(rf"\blogic *(\[[^\]]*\])? *{field};", f"{field}_e {field};", declaration)
    return declaration


def enum_value(signal: Any, constant: Any) -> str | None:
    """The name of a constant to which an enumerated field is compared."""
    if not isinstance(signal, bir.Attribute) or (value := value_of(constant)) is None:
        return None
    names = _enums(_message(getattr(signal.value, "Type", None))).get(signal.attr, ())
    return value_name(signal.attr, names[value]) if value < len(names) else None


def _message(kind: Any) -> Any:
    """The class of the message that a signal of this kind holds."""
    message = kind.get_dtype() if isinstance(kind, rt.Signal) else None
    return message.cls if isinstance(message, rdt.Struct) else None


def _enums(message: Any) -> Mapping[str, tuple[str, ...]]:
    return getattr(message, "ENUMS", {})
