"""CompressionTree: the products of two words (or of one with itself, or a word) compressed to two rows modulo
m.

It is the plan of fl/compression/compression.py, instantiated bit by bit: `bits_L_C` holds the bits of column
C before level L, in the order of their places; `five_L`, `full_L` and `half_L` are the compressors of level
L, side by side from the lowest column upward; `product_W` are the products of weight 2^W (`modexlab draw`
draws the same plan).

Ports: a, b (a alone for a square or a residue) -> row_a, row_b, with row_a + row_b = result mod m;
combinational. The modulus is fixed. Area order: n^2 AND gates and as many full adders for 2^n - 1 and 2^n +
1, half of it for 2^n; for 2^n - k and 2^n + k more with every one in k.
"""

from pymtl3 import *

from ...fl.compression.compression import make_plan
from ...fl.compression.compression_plan import CELLS, OUTPUTS, SIZE, product_range
from ...fl.errors import BadInput
from ...fl.moduli import classify
from ..wide import MAX_NBITS
from .heap.full_adders import FullAdders, HalfAdders

MAX_OPERAND_NBITS = {"multiply": 136, "square": 136, "reduce": 272}
OUTPUT_NAMES = ("sum", "carry", "four")


def check_size(plan):
    """BadInput for a tree that is too large to translate."""
    nbits, most = plan.operand_nbits, MAX_OPERAND_NBITS[plan.operation]
    if nbits > most:
        raise BadInput(
            f"a tree for operands of {nbits} bits is too large to translate: "
            f"give up to {most} bits, or only plan it (modexlab draw, fl.compression)"
        )
    largest = max((level.total(kind) for level in plan.levels for kind in CELLS), default=0)
    if largest > MAX_NBITS:
        fewer = int(nbits * (MAX_NBITS / largest) ** (1 / 3))
        raise BadInput(
            f"the tree for {plan.modulus} has {sum(plan.heights(0))} bits, which is too large to translate: "
            f"give a k with fewer ones, or up to about {fewer} bits"
        )


class CompressionTree(Component):
    def construct(s, operation, m, operand_nbits, strategy, adder):
        plan = make_plan(operation, classify(m), operand_nbits, strategy, adder)
        check_size(plan)
        s.a = InPort(operand_nbits)
        if operation == "multiply":
            s.b = InPort(operand_nbits)
        s.row_a = OutPort(plan.columns)
        s.row_b = OutPort(plan.columns)

        runs = plan.all_runs
        sources = s.connect_products(plan, runs[0])
        constants = iter(plan.constants)
        for number in range(len(plan.levels) + 1):
            for column, height in enumerate(plan.heights(number)):
                if not height:
                    continue
                bits = Wire(height)
                setattr(s, f"bits_{number}_{column}", bits)
                place = 0
                for run in runs[number][column]:
                    end = place + run.count
                    if run.kind == "correction":
                        bits[place] //= next(constants)[1]
                    else:
                        bits[place:end] //= s.source(sources, run, number)
                    place = end
            if number < len(plan.levels):
                sources = s.connect_cells(plan, number)

        for row, port in enumerate((s.row_a, s.row_b)):
            for column, height in enumerate(plan.rows):
                if height > row:
                    port[column] //= getattr(s, f"bits_{len(plan.levels)}_{column}")[row]
                else:
                    port[column] //= 0

    def source(s, sources, run, number):
        """The bits that a run is made of; inverted ones are made once and then shared."""
        key = (run.kind, run.output, run.column)
        if run.inverted and (*key, "inverted") not in sources:
            inverter = Inverters(run.count)
            setattr(s, f"not_{run.kind}_{OUTPUT_NAMES[run.output]}_{number}_{run.column}", inverter)
            inverter.x //= sources[key]
            sources[(*key, "inverted")] = inverter.out
        return sources[(*key, "inverted")] if run.inverted else sources[key]

    def connect_products(s, plan, runs):
        """The AND gates of each weight, and the bits that they make."""
        n, operation = plan.operand_nbits, plan.operation
        used = {run.column: run for item in runs for run in item if run.kind == "product"}
        if operation == "reduce":
            return {("product", 0, weight): s.a[weight : weight + 1] for weight in used}
        # with one factor backward, the pairs of a weight lie side by side
        s.backward = Wire(n)
        for i in range(n):
            s.backward[i] //= s.b[n - 1 - i] if operation == "multiply" else s.a[n - 1 - i]
        sources = {}
        for weight, run in sorted(used.items()):
            first, count, total = product_range(operation, n, weight)
            bits = Wire(run.count)
            setattr(s, f"product_{weight}", bits)
            if count:
                row = AndGates(count)
                setattr(s, f"and_{weight}", row)
                there = n - 1 - total + first
                row.x //= s.a[first : first + count]
                row.y //= s.backward[there : there + count]
                bits[0:count] //= row.out
            if run.count > count:  # the square of a bit is the bit
                bits[count] //= s.a[weight // 2]
            sources["product", 0, weight] = bits
        return sources

    def connect_cells(s, plan, number):
        """The compressors of a level, and the bits that they make or that pass them."""
        level = plan.levels[number]
        sources = {}
        for kind in CELLS:
            total = level.total(kind)
            if not total:
                continue
            cells = COMPRESSORS[kind](total)
            setattr(s, f"{kind}_{number}", cells)
            inputs = [getattr(cells, name) for name in INPUT_NAMES[: SIZE[kind]]]
            outputs = [getattr(cells, name) for name in OUTPUT_NAMES[: OUTPUTS[kind]]]
            at = 0
            for column, count in enumerate(level.cells[kind]):
                if not count:
                    continue
                bits = getattr(s, f"bits_{number}_{column}")
                place = level.first(kind, column)
                for item in inputs:
                    item[at : at + count] //= bits[place : place + count]
                    place += count
                for output, item in enumerate(outputs):
                    sources[kind, output, column] = item[at : at + count]
                at += count
        for column in range(plan.columns):
            if level.passing(column):
                first = level.first("pass", column)
                bits = getattr(s, f"bits_{number}_{column}")
                sources["pass", 0, column] = bits[first : level.heights[column]]
        return sources


class AndGates(Component):
    """out = x & y, bit by bit."""

    def construct(s, count):
        s.x = InPort(count)
        s.y = InPort(count)
        s.out = OutPort(count)

        @update
        def gates():
            s.out @= s.x & s.y


class Inverters(Component):
    """out = ~x."""

    def construct(s, count):
        s.x = InPort(count)
        s.out = OutPort(count)

        @update
        def gates():
            s.out @= ~s.x


class FiveThreeCompressors(Component):
    """sum + 2 * carry + 4 * four = v + w + x + y + z in every bit: two full adders and a half adder."""

    def construct(s, count):
        s.v = InPort(count)
        s.w = InPort(count)
        s.x = InPort(count)
        s.y = InPort(count)
        s.z = InPort(count)
        s.sum = OutPort(count)
        s.carry = OutPort(count)
        s.four = OutPort(count)
        s.partial = Wire(count)
        s.first = Wire(count)
        s.second = Wire(count)

        @update
        def add_three():
            s.partial @= s.v ^ s.w ^ s.x
            s.first @= (s.v & s.w) | (s.v & s.x) | (s.w & s.x)

        @update
        def add_two():
            s.sum @= s.partial ^ s.y ^ s.z
            s.second @= (s.partial & s.y) | (s.partial & s.z) | (s.y & s.z)

        @update
        def add_carries():
            s.carry @= s.first ^ s.second
            s.four @= s.first & s.second


INPUT_NAMES = ("v", "w", "x", "y", "z")
COMPRESSORS = {"five": FiveThreeCompressors, "full": FullAdders, "half": HalfAdders}
