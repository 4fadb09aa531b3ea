"""Requests of an attack in two parts: the secret fields, and the public ones, which an attacker may choose.

A request is a mapping of names to values. Public fields are drawn anew for each operation unless they are
held. Their values must not reveal the class of an operation: they come from requests whose secret is the
fixed one, whatever the secret of the operation is.

Random values alone rarely meet a special case of the hardware. `chosen` therefore prefers corners, small
numbers, single bits, values of the last request, and the constants of the design's Verilog.
"""

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ....fl.accelerator import Message
from ....fl.errors import BadInput, shown, unknown
from ....rtl.sim.verilog_digests import without_comments
from ...designs.runnable import Runnable
from ...json_values import json_number

Values = dict[str, Any]  # by the name of a field; a key counts as one field
CONSTANT = re.compile(r"\d+'(?:d(\d+)|h([0-9a-f_]+)|b([01_]+))\b|\bint \w+ = (\d+)")
SMALL = 16


def constants(verilog: str) -> list[int]:
    """The numbers in a Verilog text that a field may be compared with."""
    numbers = CONSTANT.findall(without_comments(verilog))
    found = {int(d or plain or h or b, 10 if d or plain else 16 if h else 2) for d, h, b, plain in numbers}
    return sorted(found - {0, 1})


class Operands(ABC):
    """The requests of an accelerator, and the fields of them that are secret, held, and neither."""

    def __init__(self, machine: Runnable, fields: Mapping[str, int], secret: Sequence[str]) -> None:
        """fields: names and widths."""
        self.machine, self.fields, self.secret = machine, fields, tuple(secret)
        self.held: Values = {}
        self.numbers: Sequence[int] = ()  # constants of the Verilog

    @property
    def public(self) -> list[str]:
        """The names of the fields that are not secret."""
        return [name for name in self.fields if name not in self.secret]

    @property
    def drawn(self) -> list[str]:
        """The names of the public fields that are drawn for each operation."""
        return [name for name in self.public if name not in self.held]

    def hold(self, values: Mapping[str, int]) -> None:
        """Give public fields the same values in all operations."""
        for name, value in values.items():
            if name not in self.fields:
                raise unknown(f"field of {self.machine.name}", name, self.public)
            if name in self.secret:
                raise BadInput(f"--public {name}: this field is the secret; hold one of {self._listed}")
            if value >> self.fields[name]:
                raise BadInput(
                    f"--public {name}={shown(value)} does not fit in the {self.fields[name]} bits of {name}; "
                    "give a smaller number"
                )
            self.held[name] = value

    def held_as_json(self) -> dict[str, Any]:
        """The values that all operations share."""
        return {name: json_number(value) for name, value in self.held.items()}

    @property
    def _listed(self) -> str:
        return ", ".join(self.public) or "no field: all are secret"

    @abstractmethod
    def usual(self, draw: random.Random, given: Values) -> Values:
        """A random request that is accepted, with these values."""

    def free(self, draw: random.Random, given: Values) -> Values:
        """A random request with these values, which may be refused."""
        return self.usual(draw, given)

    @abstractmethod
    def request(self, values: Values) -> Message:
        """The request as the hardware receives it."""

    def golden(self, values: Values) -> Message | None:
        """The correct response; None: the response of `fl`."""
        return None

    def possible(self, values: Values) -> bool:
        """Whether the time of this request is comparable to that of others."""
        return True

    def legal(self, values: Values) -> Values:
        """These values, or similar ones that the machine accepts."""
        return values

    def secret_of(self, values: Values) -> Values:
        return {name: values[name] for name in self.secret}

    def public_of(self, values: Values) -> Values:
        return {name: values[name] for name in self.public}

    # ---- requests that meet special cases

    def varied(self, draw: random.Random, names: Sequence[str], usual: Values, last: Values) -> Values:
        """Draw some fields: usual values, those of the last request, special ones, or a mixture."""
        how = draw.choice(("usual", "last", "mixed", "mixed", "special", "special"))
        found = {name: usual[name] for name in names}
        for name in names:
            if name in last and (how == "last" or (how == "mixed" and draw.randrange(4) == 0)):
                found[name] = last[name]
            elif how == "special" or (how == "mixed" and draw.randrange(2)):
                seen = [value for value in (*usual.values(), *last.values()) if isinstance(value, int)]
                found[name] = self.chosen(draw, name, found[name], seen)
        return found

    def chosen(self, draw: random.Random, name: str, value: Any, seen: Sequence[int]) -> Any:
        """Draw a value that is likely to be a special case; seen: values of this request and the last."""
        nbits = self.fields[name]
        top = (1 << nbits) - 1
        fitting = [number for number in self.numbers if number <= top]
        match draw.randrange(6 if fitting else 4):
            case 0:
                return draw.choice((0, 1, top, top - 1, top >> 1, 1 << nbits - 1)) & top
            case 1:
                return draw.randrange(SMALL) & top
            case 2:
                return (1 << draw.randrange(nbits)) ^ draw.choice((0, top))
            case 3:
                return draw.choice(seen) + draw.choice((-1, 0, 0, 1)) & top
            case 4:
                return draw.choice(fitting)
            case _:  # a constant that is compared with some bits of the field
                number = draw.choice(fitting)
                place = draw.randrange(nbits - number.bit_length() + 1)
                mask = (1 << number.bit_length()) - 1 << place
                return value & ~mask | number << place


class FieldOperands(Operands):
    """The fields of any accelerator's request."""

    def __init__(self, machine: Runnable) -> None:
        super().__init__(machine, dict(machine.shape.request), machine.secret)

    def usual(self, draw: random.Random, given: Values) -> Values:
        return dict(zip(self.fields, self.machine.accepted(draw, given), strict=True))

    def free(self, draw: random.Random, given: Values) -> Values:
        return dict(zip(self.fields, self.machine.drawn(draw), strict=True)) | given

    def request(self, values: Values) -> Message:
        return tuple(values[name] for name in self.fields)
