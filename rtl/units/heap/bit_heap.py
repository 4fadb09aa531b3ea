"""BitHeap: reduces rows of bits to a pair by the row adders that fl/compression/bit_heap.py plans.

`full_K` and `half_K` are the full and half adders of row adder K, each a vector (full_adders.py). With
`complements` all rows, and the pair, are complements: gates that make rows invert for nothing, and full
adders do not mind; where a row of the pair has no bit it is 1. Ports: row_I, as wide as line I of the plan ->
sum, carry, as wide as the heap; combinational. Area order: a full adder for each bit of a row but for two a
column.
"""

from pymtl3 import *

from .full_adders import DualHalfAdders, FullAdders, HalfAdders

INPUTS = ("v", "w", "x")


class BitHeap(Component):
    def construct(s, plan, complements=False):
        outputs = {}
        for i, line in enumerate(plan.lines):
            port = InPort(min(line.hi, plan.columns) - line.lo)
            setattr(s, f"row_{i}", port)
            outputs["row", i] = port
        s.sum = OutPort(plan.columns)
        s.carry = OutPort(plan.columns)

        def connect_row(port, row, by_column):
            """The bits of a row, each at its column, or side by side."""
            place = 0
            for part in row:
                first = part.lo if by_column else place
                port[first : first + part.nbits] //= outputs[part.output, part.number][
                    part.at : part.at + part.nbits
                ]
                place = first + part.nbits

        for k, adder in enumerate(plan.adders):
            for kind, rows, Adders in (
                ("full", adder.full, FullAdders),
                ("half", adder.half, DualHalfAdders if complements else HalfAdders),
            ):
                count = sum(part.nbits for part in rows[0])
                if not count:
                    continue
                cells = Adders(count)
                setattr(s, f"{kind}_{k}", cells)
                for port, row in zip(INPUTS, rows, strict=False):
                    connect_row(getattr(cells, port), row, False)
                outputs[f"{kind}_sum", k] = cells.sum
                outputs[f"{kind}_carry", k] = cells.carry

        for port, row in zip((s.sum, s.carry), plan.pair, strict=True):
            connect_row(port, row, True)
            ends = [0, *(end for part in row for end in (part.lo, part.hi)), plan.columns]
            for lo, hi in zip(ends[::2], ends[1::2], strict=True):
                if hi > lo:
                    port[lo:hi] //= (1 << (hi - lo)) - 1 if complements else 0
