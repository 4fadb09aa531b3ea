"""MicroRom: the microinstructions of a program (microcode.py).

Ports: pc, exponent_bit (if a microinstruction depends on it) -> inst. Combinational: synthesis turns the
constants into gates. Addresses above the program read its last microinstruction.
"""

import itertools
from functools import partial

from pymtl3 import *

from ...fl.program.ir import folded

COLUMNS = 96  # of a line here; it is indented by four more


class MicroRom(Component):
    """The microinstructions of a program, one line per field."""

    def construct(s, microcode):
        depth, last = 1 << microcode.pc_nbits, len(microcode.words) - 1
        s.pc = InPort(microcode.pc_nbits)
        s.inst = OutPort(microcode.inst_type)
        s.address = Wire(microcode.pc_nbits + microcode.by_bit)
        s.address[0 : microcode.pc_nbits] //= s.pc
        if microcode.by_bit:
            s.exponent_bit = InPort()
            s.address[microcode.pc_nbits] //= s.exponent_bit
        insts = [
            microcode.inst(min(pc, last), bit) for bit in range(1 + microcode.by_bit) for pc in range(depth)
        ]
        s.insts = [Wire(microcode.inst_type.nbits) for _ in insts]
        for wire, inst in zip(s.insts, insts, strict=True):
            wire //= inst.to_bits()

        @update
        def look_up():
            s.inst @= s.insts[s.address]

        s.verilog = {"look_up": partial(verilog_case, microcode)}


def verilog_case(microcode, exported):
    """The ROM as a concatenation for each microinstruction, with its assembly.

    exported: for readers, a line for each field that matters; the text of results joins idle fields.
    """
    nbits = microcode.pc_nbits + microcode.by_bit
    yield "unique casez (address)"
    for pc, texts in enumerate(microcode.program.assembly):
        bits = range(1 + microcode.by_bit)
        split = microcode.inst(pc, 0) != microcode.inst(pc, 1)
        for group in [[bit] for bit in bits] if split else [bits]:
            labels = f"{nbits}'d{pc + (group[0] << microcode.pc_nbits)}"
            if len(group) > 1:  # the bit may be unknown, as it is before the first exponent
                labels = f"{nbits}'b?{pc:0{microcode.pc_nbits}b}"
            note = f"exponent bit {group[0]}; " * split
            if pc == len(microcode.words) - 1:
                labels = "default"
            head = f"  {labels}: inst = {{  // "
            first, *more = folded(f"{pc}: {note}{'; '.join(filter(None, texts))}", COLUMNS - len(head))
            yield head + first
            if exported:
                yield from (f"{'//':>{len(head) - 1}} {line}" for line in more)
            *rows, last = (readable_rows if exported else joined_rows)(microcode.fields, pc, group)
            yield from (f"    {value + ',':<28} // {name}" for value, name in rows)
            yield f"    {last[0]:<28} // {last[1]}"
            yield "  };"
    yield "endcase"


def readable_rows(fields, pc, bits):
    """The values of the fields that a microinstruction sets, with their names.

    A row for the fields between them says "idle" if all are 0, or "no effect" if any is not: it is not read.
    """
    bit = bits[0]

    def shown(field):
        number = field.labels or (field.nbits > 1 and not field.mask)
        return any(field.used[pc][at] for at in bits) and bool(number or field.value(pc, bit))

    for named, neighbours in itertools.groupby(fields, shown):
        group = list(neighbours)
        if named:
            yield from ((field.verilog(pc, bit), field.name) for field in group)
        else:
            value = "".join(f"{field.value(pc, bit):0{field.nbits}b}" for field in group)
            names = group[0].name + f" to {group[-1].name}" * (len(group) > 1)
            base, kind = ("h", "no effect") if "1" in value else ("d", "idle")
            yield f"{len(value)}'{base}{int(value, 2):x}", f"{kind}: {names}"


def joined_rows(fields, pc, bits):
    """The values of a microinstruction's fields; idle neighbours are one number."""
    for idle, neighbours in itertools.groupby(fields, lambda field: field.idle(pc, bits[0])):
        group = list(neighbours)
        if idle and len(group) > 1:
            value = "".join(f"{field.value(pc, bits[0]):0{field.nbits}b}" for field in group)
            yield f"{len(value)}'h{int(value, 2):x}", f"{group[0].name} to {group[-1].name}"
        else:
            yield from ((field.verilog(pc, bits[0]), field.name) for field in group)
