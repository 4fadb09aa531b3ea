"""Given: a number that a machine takes beside base, exponent and modulus, and that whoever has the key makes from the modulus once.

Papers 002 and 003 leave R mod n, R^2 mod n and -n^-1 to the outside. What is given stands in the request behind the three operands,
and behind registers it is pushed as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """One such number; of moduli that the machine refuses it is 0."""

    name: str  # of the field in the request
    nbits: int
    of: Callable[[int], int]  # the modulus
    meaning: str  # for readers
