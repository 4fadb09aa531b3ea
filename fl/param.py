"""Parameters of a design: defaults, legal values, and the error for an illegal value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import BadInput, unknown

BOOLS = (False, True)
MOST_NAMED = 20  # values; of more, which are steps of a range, the text names the ends
PAPER_NBITS = 32  # the width of paper 001, at which a default that depends on the width is quoted


@dataclass(frozen=True)
class Count:
    """Whole numbers from `least` on. Values that must divide a width are checked when the machine is made."""

    least: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= self.least

    def describe(self) -> str:
        return f"{self.least} or more"


@dataclass(frozen=True)
class Param:
    """One parameter of a design."""

    name: str
    standard: Any  # the default: a value, or a function of the width
    legal: tuple[Any, ...] | Count
    help: str

    def default_at(self, nbits: int) -> Any:
        """The default in a machine of nbits bits."""
        return self.standard(nbits) if callable(self.standard) else self.standard

    @property
    def default(self) -> Any:
        """The default at the paper's width."""
        return self.default_at(PAPER_NBITS)

    def describe_legal(self) -> str:
        if isinstance(self.legal, Count):
            return self.legal.describe()
        values = [str(value).lower() for value in self.legal]
        if len(values) > MOST_NAMED:
            values[3:-1] = ["..."]
        return "one of " + ", ".join(values)

    def parse(self, text: str) -> Any:
        """The value of `text`, as a user writes it on a command line."""
        if isinstance(self.legal, Count):
            try:
                return self.checked(int(text, 0))
            except ValueError:
                raise self.refusal(text) from None
        for value in self.legal:
            if text.strip().lower() == str(value).lower():
                return value
        raise self.refusal(text)

    def checked(self, value: Any) -> Any:
        """`value` if it is legal; otherwise raise BadInput."""
        if value not in self.legal or (isinstance(value, bool) != isinstance(self.default, bool)):
            raise self.refusal(value)
        return value

    def refusal(self, value: Any) -> BadInput:
        return BadInput(f"{self.name} = {value} is not possible; give {self.describe_legal()}")


def values_of(params: Iterable[Param], nbits: int, settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The values of all parameters of a design of this name, by default those at nbits; BadInput for an
    unknown parameter or an illegal value.
    """
    known = {param.name: param for param in params}
    for setting in settings:
        if setting not in known:
            raise unknown(f"parameter of {name}", setting, known)
    return {
        key: param.checked(settings[key]) if key in settings else param.default_at(nbits)
        for key, param in known.items()
    }


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`."""
    return max(d for d in range(1, min(most, number) + 1) if number % d == 0)


def must_divide(name: str, value: int, whole: int, what: str) -> None:
    """Raise BadInput unless `value`, the parameter `name`, divides `whole`."""
    if whole % value:
        nearest = largest_divisor(whole, min(value, whole))
        raise BadInput(
            f"{name} = {value} does not divide {what} ({whole}); the next smaller one that does is {nearest}"
        )
