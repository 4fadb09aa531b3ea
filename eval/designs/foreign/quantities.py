"""Quantities: the numbers that a core wants of an operation, as expressions over base, exponent, modulus and what is known before.

A Field is one of them with its width; the adapter's request carries the fields that its steps use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....fl.errors import BadInput, shown
from ...papers.expression import Expression

OPERANDS = ("base", "exp", "mod")


@dataclass(frozen=True)
class Field:
    """A number of an operation; without an expression it is the operand of its name."""

    name: str
    nbits: int
    expression: Expression | None = None
    where: str = ""  # in the manifest, for messages

    def of(self, values: Mapping[str, Any]) -> int:
        """Its value; BadInput if it has none, or does not fit."""
        if self.expression is None:
            return int(values[self.name])
        try:
            value = self.expression.value(values)
        except BadInput as error:
            raise BadInput(f"{self.where}: {error}") from None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or value < 0 or value.bit_length() > self.nbits:
            told = shown(value) if isinstance(value, int) else repr(value)
            raise BadInput(
                f'{self.where}: "{self.expression.text}" is {told}, which is no number of {self.nbits} bits; '
                "mend the expression, or the width"
            )
        return int(value)


def number(given: int | str, values: Mapping[str, Any]) -> int:
    """A number, or an expression whose names are all known; BadInput for what is none."""
    if isinstance(given, int):
        return given
    expression = Expression(given)
    expression.require(values)
    value = expression.value(values)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise BadInput(f'expression "{given}" is {value!r}, and no whole number')
    return int(value)
