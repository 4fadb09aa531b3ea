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
    """The contract of a unit: assumptions and assertions."""

    says: str
    holds: tuple[str, ...]
    given: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)  # named subexpressions
    free: tuple[str, ...] = ()  # universally quantified numbers
    # registers and nets of a step; `old_NAME` is the value of one, or of a port, before the step
    registers: tuple[str, ...] = ()
    # by name, modules that are replaced by their own contracts
    instead: Mapping[str, str] = field(default_factory=dict)
    nbits: int = 0  # of all numbers; 0: a few more than the widest port


def number(unit: Component, value: int, nbits: int = 0) -> str:
    """A constant of the width of a contract's numbers."""
    return f"{nbits or default_nbits(unit)}'d{value}"


def default_nbits(unit: Component) -> int:
    """The width of the numbers of a contract that does not state one."""
    return max(nbits for _, nbits, _ in ports(unit)) + SPARE


def sum_of_rows(plan: HeapPlan) -> str:
    """A module that replaces a bit heap by the property that heap_sum.py proves: the pair adds up to its
    rows.
    """
    columns = plan.columns
    rows = [
        f"(~row[{i}] & {columns}'h{(1 << min(line.hi, columns)) - (1 << line.lo):x})"
        for i, line in enumerate(plan.lines)
    ]
    word = f"[{columns - 1}:0]"
    return "\n".join(
        [
            "module BitHeap (input clk, input reset,",
            f"    input [{len(rows) - 1}:0]{word} row, output {word} sum, output {word} carry);",
            f"  assign sum = ~({' + '.join(rows)});",
            f"  assign carry = ~{columns}'d0;",
            "endmodule",
        ]
    )


def word(register: str) -> str:
    """The name of a register in a contract: words[2] is words_2."""
    return re.sub(r"\W+", "_", register).strip("_")
