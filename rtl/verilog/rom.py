"""The ROM of a microprogram as a case, with a line for each field that a microinstruction sets.

As an array it would stay unknown while a bit of its address is: the default of a case is a microinstruction.
The microcode groups its fields into lines (`Microcode.readable_rows`).
"""

from typing import Any

from pymtl3 import Component

from ...fl.program.ir import folded
from .tree import Assign, Case, Element, Enum, Expr, Member, Number, Pattern, Record, Statement, Struct

COLUMNS = 96  # of a line of the ROM; print.py indents it


def microcode_of(component: Component, block: str) -> Any:
    """The microprogram that a block looks up; None if it does anything else."""
    if type(component).__name__ != "MicroRom":
        return None
    written = component.verilog.get(block)
    return written.args[0] if written else None


def rom(microcode: Any, look_up: Statement) -> Case:
    """look_up: the assignment of an element of the list of microinstructions."""
    assert isinstance(look_up, Assign) and isinstance(look_up.value, Element)
    target, address = look_up.target, look_up.value.index
    assert isinstance(target.type, Struct)
    branches: list[tuple[Expr, tuple[Assign, ...]]] = []
    last = len(microcode.words) - 1
    for pc, texts in enumerate(microcode.program.assembly):
        bits = range(1 + microcode.by_bit)
        is_split = microcode.inst(pc, 0) != microcode.inst(pc, 1)
        for group in [[bit] for bit in bits] if is_split else [bits]:
            label = _label(microcode, pc, group)
            note = f"exponent bit {group[0]}; " * is_split
            text = f"{pc}: {note}{'; '.join(filter(None, texts))}"
            head = "default" if pc == last else label.text
            notes = folded(text, COLUMNS - len(f"  {head}: inst = {{  // "))
            value = _record(target.type, tuple(notes), [*microcode.readable_rows(pc, group)])
            branches.append((label, (Assign(target, value),)))
    *others, (_, default) = branches
    return Case(address, tuple(others), default, is_unique=True)


def _label(microcode: Any, pc: int, bits: Any) -> Pattern:
    """An address. The bit of the exponent may be unknown, as it is before the first exponent."""
    digits = f"{pc:0{microcode.pc_nbits}b}"
    if microcode.by_bit:
        digits = f"{'?' if len(bits) > 1 else bits[0]}{digits}"
    return Pattern(len(digits), digits, is_decimal=not microcode.by_bit)


def _record(kind: Struct, notes: tuple[str, ...], rows: list[tuple[str, str]]) -> Record:
    """rows: for each line its numbers, or the name of a code, and the names of its fields."""
    types = dict(kind.fields)
    parts: list[Expr] = []
    lines: list[tuple[int, str]] = []
    for values, name in rows:
        found = [_value(value, types.get(name)) for value in values.split(", ")]
        parts += found
        lines.append((len(found), name))
    return Record(tuple(parts), tuple(lines), notes)


def _value(text: str, kind: Any) -> Expr:
    if isinstance(kind, Enum):
        return Member(kind, text)
    size, number = text.split("'d")
    return Number(int(size), int(number))
