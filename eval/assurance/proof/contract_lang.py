"""Contracts of units: SystemVerilog expressions over port names, widened so that no sum overflows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pymtl3 import Component

from ....fl.compression.bit_heap import HeapPlan
from .ports import ports

SPARE = 4  # bits above the widest port


@dataclass(frozen=True)
class Contract:
    """Contract of a unit: its assumptions and its assertions."""

    says: str
    holds: tuple[str, ...]
    given: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)  # numbers of its own, by name
    free: tuple[str, ...] = ()  # numbers of which it holds whatever they are
    registers: tuple[
        str, ...
    ] = ()  # those of a step, and nets; `old_NAME` is what a port or one of these was before it
    instead: Mapping[str, str] = field(
        default_factory=dict
    )  # modules with a contract of their own: what they do, by name
    nbits: int = 0  # of all numbers; 0: those of the widest port, and a few


def number(unit: Component, value: int, nbits: int = 0) -> str:
    """A constant, as wide as the numbers of a contract."""
    return f"{nbits or default_nbits(unit)}'d{value}"


def default_nbits(unit: Component) -> int:
    """The bits of the numbers of a contract that does not say how many."""
    return max(nbits for _, nbits, _ in ports(unit)) + SPARE


def sum_of_rows(plan: HeapPlan) -> str:
    """A bit heap of complements by its contract (heap_sum.py): the sum of its rows, and nothing beside it."""
    columns = plan.columns
    rows = [
        f"(~row[{i}] & {columns}'h{(1 << min(line.hi, columns)) - (1 << line.lo):x})"
        for i, line in enumerate(plan.lines)
    ]
    word = f"[{columns - 1}:0]"
    return "\n".join(
        [
            f"module BitHeap (input [{len(rows) - 1}:0]{word} row, output {word} sum, output {word} carry);",
            f"  assign sum = ~({' + '.join(rows)});",
            f"  assign carry = ~{columns}'d0;",
            "endmodule",
        ]
    )


def word(register: str) -> str:
    """Return the name of a register in a contract: words[2] is words_2."""
    return re.sub(r"\W+", "_", register).strip("_")
