"""Parameters of a design: defaults, legal values, and the error for an illegal value."""

from collections.abc import Callable, Iterable, Mapping
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
    implied: Callable[[Mapping[str, Any]], Any] | None = None  # default by the values of parameters before it

    def default_at(self, nbits: int, values: Mapping[str, Any] | None = None) -> Any:
        """The default in a machine of nbits bits, with these values of the parameters before it."""
        if self.implied is not None and values is not None:
            return self.implied(values)
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
        return "one of " * (len(values) > 1) + ", ".join(values)

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
    values: dict[str, Any] = {}
    for key, param in known.items():
        values[key] = param.checked(settings[key]) if key in settings else param.default_at(nbits, values)
    return values


def spelled_out(params: Iterable[Param], nbits: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without those at their standard default; a default that other settings imply is added.

    The result selects the same hardware if an implied default changes. Values are not checked.
    """
    values, found = dict(settings), dict(settings)
    for param in params:
        default, standard = param.default_at(nbits, values), param.default_at(nbits)
        value = values.setdefault(param.name, default)
        if same(value, default) and same(value, standard):
            found.pop(param.name, None)
        else:
            found[param.name] = value
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; True and 1 differ."""
    return bool(one == other and isinstance(one, bool) == isinstance(other, bool))


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
