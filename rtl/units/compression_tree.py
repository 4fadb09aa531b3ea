"""CompressionTree: compresses the partial products of a * b or a * a, or the word a, to two rows modulo m.

It instantiates a plan of fl/compression/compression.py bit by bit: one TreeLevel per level, with the
compressors `five`, `full` and `half` in order from the lowest column upward. `modexlab show --tree` draws the
same plan.

Ports: a, b (a alone for a square or a residue) -> row_a, row_b, with row_a + row_b = result mod m;
combinational. The modulus is fixed. Area order: n^2 AND gates and as many full adders for 2^n - 1 and 2^n +
1, half of it for 2^n; for 2^n - k and 2^n + k more with every one in k.
"""

from itertools import accumulate, pairwise

from pymtl3 import *

from ...fl.compression.compression import make_plan
from ...fl.compression.compression_plan import CELLS, product_range
from ...fl.errors import BadInput
from ...fl.moduli import classify
from ..wide import MAX_NBITS
from .heap.full_adders import FullAdders, HalfAdders

MAX_OPERAND_NBITS = {"multiply": 136, "square": 136, "reduce": 272}


def check_size(plan):
    """BadInput for a tree that is too large to translate."""
    nbits, most = plan.operand_nbits, MAX_OPERAND_NBITS[plan.operation]
    if nbits > most:
        raise BadInput(
            f"a tree for operands of {nbits} bits is too large to translate: "
            f"give up to {most} bits, or only plan it (modexlab show --tree, fl.compression)"
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
        tree = operation, classify(m), operand_nbits, strategy, adder
        plan = make_plan(*tree)
        check_size(plan)
        s.a = InPort(operand_nbits)
        if operation == "multiply":
            s.b = InPort(operand_nbits)
        s.row_a = OutPort(plan.columns)
        s.row_b = OutPort(plan.columns)

        nlevels = len(plan.levels)
        width = max(sum(plan.heights(number)) for number in range(nlevels + 1))
        s.matrix = Wire(width)
        gather(s, plan, 0, s.multiply(plan), s.matrix)
        s.levels = [TreeLevel(*tree, number, width) for number in range(nlevels)]
        bits = s.matrix
        for level in s.levels:
            level.bits //= bits
            bits = level.out

        place = 0
        for column, height in enumerate(plan.rows):
            for row, port in enumerate((s.row_a, s.row_b)):
                port[column] //= bits[place + row] if row < height else 0
            place += height

    def multiply(s, plan):
        """Return the products of each weight; the AND gates are in the order of the weights."""
        n, operation = plan.operand_nbits, plan.operation
        used = sorted({run.column for item in plan.all_runs[0] for run in item if run.kind == "product"})
        if operation == "reduce":
            return {("product", 0, weight): [s.a[weight]] for weight in used}
        # with one factor backward, the pairs of a weight lie side by side
        s.backward = Wire(n)
        for i in range(n):
            s.backward[i] //= s.b[n - 1 - i] if operation == "multiply" else s.a[n - 1 - i]
        ranges = {weight: product_range(operation, n, weight) for weight in used}
        s.products = AndGates(sum(count for _, count, _ in ranges.values()))
        sources, low = {}, 0
        for weight, (first, count, total) in ranges.items():
            # the square of a bit is the bit
            made = [s.a[weight // 2]] if operation == "square" and weight % 2 == 0 else []
            if count:
                there, end = n - 1 - total + first, low + count
                s.products.x[low:end] //= s.a[first : first + count]
                s.products.y[low:end] //= s.backward[there : there + count]
                made.insert(0, s.products.out[low:end])
                low = end
            sources["product", 0, weight] = made
        return sources


def gather(s, plan, number, sources, bits):
    """Connect the bits of a level to their sources, lists of slices; above the last one they are 0.

    Bits that are used inverted are inverted once.
    """
    runs = [run for column in plan.all_runs[number] for run in column]
    inverted = {run[:3]: run.size for run in runs if run.inverted}
    if inverted:
        s.inverters = Inverters(sum(inverted.values()))
        low = 0
        for key, count in inverted.items():
            connect_slices(s.inverters.x, low, sources[key])
            sources[(*key, True)] = [s.inverters.out[low : low + count]]
            low += count
    corrections, place = iter(plan.constants), 0
    for run in runs:
        if run.kind == "correction":
            bits[place] //= next(corrections)[1]
        else:
            connect_slices(bits, place, sources[run[:3] + (True,) * run.inverted])
        place += run.size
    width = bits.get_type().nbits
    if place < width:
        bits[place:width] //= 0


def connect_slices(bits, place, slices):
    """Connect slices side by side, from a place on."""
    for part in slices:
        end = place + part.get_type().nbits
        bits[place:end] //= part
        place = end


class TreeLevel(Component):
    """One level of a compression tree: its compressors, and the bits that pass.

    A word has its columns side by side.
    """

    def construct(s, operation, modulus, operand_nbits, strategy, adder, number, width):
        plan = make_plan(operation, modulus, operand_nbits, strategy, adder)
        level = plan.levels[number]
        s.bits = InPort(width)
        s.out = OutPort(width)

        offsets = list(accumulate(level.heights, initial=0))
        sources = {
            ("pass", 0, column): [s.bits[offset + level.first("pass", column) : end]]
            for column, (offset, end) in enumerate(pairwise(offsets))
            if level.passing(column)
        }
        made = {}  # inputs and outputs of the compressors of a kind
        if count := level.total("five"):
            s.five = c = FiveThreeCompressors(count)
            made["five"] = [c.v, c.w, c.x, c.y, c.z], [c.sum, c.carry, c.four]
        if count := level.total("full"):
            s.full = c = FullAdders(count)
            made["full"] = [c.v, c.w, c.x], [c.sum, c.carry]
        if count := level.total("half"):
            s.half = c = HalfAdders(count)
            made["half"] = [c.v, c.w], [c.sum, c.carry]
        for kind, (inputs, outputs) in made.items():
            at = 0
            for column, count in enumerate(level.cells[kind]):
                place, end = offsets[column] + level.first(kind, column), at + count
                if not count:
                    continue
                for port in inputs:
                    port[at:end] //= s.bits[place : place + count]
                    place += count
                for output, port in enumerate(outputs):
                    sources[kind, output, column] = [port[at:end]]
                at = end
        gather(s, plan, number + 1, sources, s.out)


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

    PARAMETERS = ("count",)

    def construct(s, count):
        s.x = InPort(count)
        s.out = OutPort(count)

        @update
        def gates():
            s.out @= ~s.x


class FiveThreeCompressors(Component):
    """sum + 2 * carry + 4 * four = v + w + x + y + z in every bit: two full adders and a half adder."""

    def construct(s, count):
        s.v, s.w, s.x, s.y, s.z = (InPort(count) for _ in range(5))
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
