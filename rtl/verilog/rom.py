"""The ROM of a microprogram as a case: idle values of the fields, then what each microinstruction sets.

A simulator returns x for an element of an array if a bit of the index is x; a case returns its default.
Fields are assigned by name, since neither Yosys nor Icarus 11 reads an assignment pattern.
"""

from typing import Any

from pymtl3 import Component

from ...fl.program.ir import folded
from .tree import (
    Assign,
    Case,
    Comment,
    Element,
    Enum,
    Expr,
    Field,
    Member,
    Name,
    Number,
    Pattern,
    Statement,
    Struct,
    Type,
    commented,
)

COLUMNS = 96  # of a line of the ROM; print.py indents it


def microcode_of(component: Component) -> Any:
    """The microprogram of a ROM; None if the component is anything else."""
    return component.microcode if type(component).__name__ == "MicroRom" else None


def rom(microcode: Any, look_up: Statement) -> tuple[Statement, ...]:
    """look_up: the assignment of an element of the list of microinstructions."""
    assert isinstance(look_up, Assign) and isinstance(look_up.value, Element)
    target, address = look_up.target, look_up.value.index
    assert isinstance(target, Name) and isinstance(target.type, Struct)
    branches: list[tuple[Expr, tuple[Statement, ...]]] = []
    for pc, texts in enumerate(microcode.program.assembly):
        bits = range(1 + microcode.by_bit)
        is_split = microcode.inst(pc, 0) != microcode.inst(pc, 1)
        for group in [[bit] for bit in bits] if is_split else [bits]:
            note = f"exponent bit {group[0]}; " * is_split
            text = f"{pc}: {note}{'; '.join(filter(None, texts))}"
            body = _fields(target, microcode.settings(pc, group))
            about = Comment(above=tuple(folded(text, COLUMNS - len("    // "))))
            branches.append((_label(microcode, pc, group), commented(body, about)))
    assert not is_split, "the last microinstruction, which is the default, does not depend on the exponent"
    *others, (_, default) = branches
    idle = _fields(target, {name: value for name, value in microcode.defaults.items() if value})
    zeros = Assign(
        target,
        Number(target.width, 0),
        comment=Comment(above=("fields that a microinstruction does not use",)),
    )
    return zeros, *idle, Case(address, tuple(others), default, is_unique=True)


def _label(microcode: Any, pc: int, bits: Any) -> Pattern:
    """An address. The bit of the exponent may be unknown, as it is before the first exponent."""
    digits = f"{pc:0{microcode.pc_nbits}b}"
    if microcode.by_bit:
        digits = f"{'?' if len(bits) > 1 else bits[0]}{digits}"
    return Pattern(len(digits), digits, is_decimal=not microcode.by_bit)


def _fields(inst: Name, values: dict[str, int]) -> tuple[Statement, ...]:
    """Assignments to fields of a microinstruction."""
    assert isinstance(inst.type, Struct)
    types = dict(inst.type.fields)
    return tuple(
        Assign(Field(inst, name, types[name]), _value(types[name], value)) for name, value in values.items()
    )


def _value(kind: Type, value: int) -> Expr:
    if isinstance(kind, Enum) and (name := kind.member(value)):
        return Member(kind, name)
    return Number(kind.width, value)
