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
    """The microinstructions of a program, by field; idle and unread fields share lines."""

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

    exported: for readers, a line for each field that matters, and no field that is constant; the text of
    results joins idle fields.
    """
    fields = [field for field in microcode.fields if not exported or field.name not in microcode.constants]
    nbits = microcode.pc_nbits + microcode.by_bit
    yield "unique casez (address)"
    for pc, texts in enumerate(microcode.program.assembly):
        bits = range(1 + microcode.by_bit)
        split = microcode.inst(pc, 0) != microcode.inst(pc, 1)
        for group in [[bit] for bit in bits] if split else [bits]:
            label = pc + (group[0] << microcode.pc_nbits)
            labels = f"{nbits}'b{label:0{nbits}b}" if exported and microcode.by_bit else f"{nbits}'d{label}"
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
            *rows, last = (readable_rows if exported else joined_rows)(fields, pc, group)
            yield from (f"    {value + ',':<28} // {name}" for value, name in rows)
            yield f"    {last[0]:<28} // {last[1]}"
            yield "  };"
    yield "endcase"


def readable_rows(fields, pc, bits):
    """The values of the fields that a microinstruction sets, with their names.

    The other fields share lines, and zeros share one number. Nonzero values among them are not read.
    """
    bit = bits[0]

    def shown(field):
        number = field.labels or (field.nbits > 1 and not field.mask)
        return any(field.used[pc][at] for at in bits) and (number or field.value(pc, bit))

    def row(group):
        first = group[0]
        if shown(first):
            return first.verilog(pc, bit), first.name
        runs = itertools.groupby(group, lambda field: field.value(pc, bit) and field)
        values, names = zip(*(joined([*run], pc, bit, "dd") for _, run in runs), strict=True)
        kinds = sorted({"unread" if field.value(pc, bit) else "idle" for field in group})
        return ", ".join(values), f"{' or '.join(kinds)}: {', '.join(names)}"

    rows = [fields[:1]]
    for field in fields[1:]:
        more = *rows[-1], field
        if any(map(shown, more)) or len(row(more)[1]) > 58:  # as much as fits if aligned
            rows.append((field,))
        else:
            rows[-1] = more
    return map(row, rows)


def joined_rows(fields, pc, bits):
    """The values of a microinstruction's fields; idle neighbours are one number."""
    bit = bits[0]
    for idle, neighbours in itertools.groupby(fields, lambda field: field.idle(pc, bit)):
        group = list(neighbours)
        if idle and len(group) > 1:
            yield joined(group, pc, bit, "hx")
        else:
            yield from ((field.verilog(pc, bit), field.name) for field in group)


def joined(group, pc, bit, base):
    """Neighbours as one number, and the names of the first and the last."""
    value = "".join(f"{field.value(pc, bit):0{field.nbits}b}" for field in group)
    number = f"{len(value)}'{base[0]}{int(value, 2):{base[1]}}"
    return number, group[0].name + f" to {group[-1].name}" * (len(group) > 1)
