"""Result of the equivalence proof of a netlist: equivalence.json."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from ..product import Product

Result = Literal["proved", "disproved", "undecided"]
PROVED: Result = "proved"
REFUTED: Result = "disproved"
UNDECIDED: Result = "undecided"


class Part(msgspec.Struct):
    """Verdict on the next value of a register, or on an output."""

    part: str
    bits: int
    result: Result
    seconds: float


class Equivalence(Product):
    """The content of equivalence.json."""

    FILE = "equivalence.json"
    STEP = "equivalence"

    equivalent: bool
    refuted: bool
    method: str
    summary: str
    parts: list[Part]
    unread_registers: int
    seconds: float


def summary(parts: Sequence[Part], steps: Sequence[str], seconds: float) -> str:
    """One line on all parts; `seconds` is the time limit of a part."""
    if not parts:
        return "nothing is proved: the design has no register and no output to compare"
    count = Counter(part.result for part in parts)
    told = f"proved {count[PROVED]} of {len(parts)} parts"
    if steps:
        told += f" ({', '.join(steps)})"
    if count[REFUTED]:
        told += f", {count[REFUTED]} disproved"
    if count[UNDECIDED]:
        told += f", {count[UNDECIDED]} undecided in {seconds:g} s of CPU time each"
    return told
