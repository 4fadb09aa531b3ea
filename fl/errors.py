"""User errors: every room raises BadInput; the command line prints it and exits with code 2.

A message names the value and the remedy. `shown` abbreviates values of thousands of bits; `unknown` is the
common error for a name that is not in a list.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class BadInput(ValueError):
    """A request that cannot be served; the message names the value and the remedy."""


def shown(value: int) -> str:
    """`value` as text for a message: decimal up to 64 bits, otherwise both ends in hex and the length in
    bits.
    """
    if value.bit_length() <= 64:
        return str(value)
    digits = f"{abs(value):x}"
    return f"{'-' if value < 0 else ''}0x{digits[:8]}...{digits[-8:]} ({value.bit_length()} bits)"


def bits(count: int) -> str:
    """A number of bits as text for a message."""
    return f"{shown(count).partition(' (')[0]} bits"


def some(items: Sequence[str], most: int, between: str = ", ") -> str:
    """The first items of a list, and how many more there are."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def unknown(kind: str, name: str, known: Iterable[str]) -> BadInput:
    """The error for a `name` that is not in `known`: it proposes the nearest name and lists all."""
    known = list(known)
    nearest = get_close_matches(name, known, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return BadInput(f"unknown {kind} {name!r}: {hint}there are {', '.join(known)}")


def require_nbits(what: str, nbits: int, legal: range) -> None:
    """Raise BadInput, with the nearest legal length, for an illegal one."""
    if nbits not in legal:
        nearest = min(max(nbits, legal[0]), legal[-1])
        raise BadInput(f"{what} of {bits(nbits)}: give {legal[0]} to {legal[-1]}; the nearest is {nearest}")
