"""The order in which Yosys meets the names of a design: registers and inputs first.

Yosys puts the operands of an addition in the order in which it has met their names, and what abc makes of the sum depends on that order
by some percent. So the order says what the operands are, a word that is there from the beginning of the cycle before one that is
computed, and not only how they are spelled: with the addend first, mont-ct is 4 % smaller, mont 1 % at 16 and 32 bits, others as before.
"""

from __future__ import annotations

from typing import Any

REGISTERS = ("$dff", "$adff", "$sdff", "$aldff", "$dlatch", "$mem", "$_DFF", "$_SDFF", "$_ALDFF", "$_DLATCH")


def registers_first(design: dict[str, Any]) -> None:
    """The names of each module in this order, in place."""
    for module in design["modules"].values():
        computed = {
            bit
            for cell in module["cells"].values()
            if not cell["type"].startswith(REGISTERS)
            for pin, bits in cell["connections"].items()
            if cell["port_directions"][pin] == "output"
            for bit in bits
        }
        names = module["netnames"]
        module["netnames"] = dict(
            sorted(names.items(), key=lambda each: (_first(each[1]) in computed, each[0]))
        )


def _first(net: dict[str, Any]) -> int | None:
    """The lowest bit that is none of a constant."""
    return next((bit for bit in net["bits"] if isinstance(bit, int)), None)
