"""Oracles for plans of compression trees: evaluation of every bit, and a proof that the value is conserved.

`evaluate` processes all cells of a kind in a column at once, as the bits of one integer. It shares only the
rule of the plan with the hardware. `faults` needs no operands: it checks the sums.
"""

from collections import Counter

from modexlab.fl.compression.compression import BEST, make_plan
from modexlab.fl.compression.compression_plan import (
    CELLS,
    OUTPUTS,
    SIZE,
    product_count,
    product_range,
    product_weights,
)
from modexlab.fl.moduli import Modulus, classify, parse


def _product_bits(operation, nbits, weight, a, b, b_reversed):
    """The bits of this weight, packed into one number."""
    if operation == "reduce":
        return a >> weight & 1
    first, count, total = product_range(operation, nbits, weight)
    bits = (a >> first) & (b_reversed >> (nbits - 1 - total + first)) & ((1 << count) - 1) if count else 0
    if operation == "square" and weight % 2 == 0:
        bits |= (a >> weight // 2 & 1) << count
    return bits


def _full(x, y, z):
    return x ^ y ^ z, x & y | x & z | y & z


def _outputs(kind, inputs):
    """The outputs of the cells of a kind; each number holds one bit per cell."""
    if kind == "half":
        x, y = inputs
        return x ^ y, x & y
    if kind == "full":
        return _full(*inputs)
    partial, first = _full(*inputs[:3])
    total, second = _full(partial, *inputs[3:])
    return total, first ^ second, first & second


def final_rows(plan, a, b=0):
    """The two rows that the tree produces for operands a and b (only a for a square or a residue)."""
    nbits = plan.operand_nbits
    if plan.operation != "multiply":
        b = a
    reverse = int(f"{b:0{nbits}b}"[::-1], 2)
    known = {
        ("product", 0, weight): _product_bits(plan.operation, nbits, weight, a, b, reverse)
        for weight in product_weights(plan.operation, nbits)
    }
    state = _gather(plan.all_runs[0], known, plan.constants)
    for number, level in enumerate(plan.levels):
        made = {}
        for column, bits in enumerate(state):
            for kind in CELLS:
                if count := level.cells[kind][column]:
                    mask = (1 << count) - 1
                    inputs = []
                    for _ in range(SIZE[kind]):
                        inputs.append(bits & mask)
                        bits >>= count
                    for output, value in enumerate(_outputs(kind, inputs)):
                        made[kind, output, column] = value
            made["pass", 0, column] = bits
        state = _gather(plan.all_runs[number + 1], made, ())
    first = sum((bits & 1) << column for column, bits in enumerate(state))
    second = sum((bits >> 1) << column for column, bits in enumerate(state))
    return first, second


def _gather(runs, known, constants):
    """The bits of each column, assembled run by run."""
    correction = iter(constants)
    state = []
    for column in runs:
        bits = place = 0
        for run in column:
            value = next(correction)[1] if run.kind == "correction" else known[run[:3]]
            bits |= (value ^ ((1 << run.size) - 1) if run.inverted else value) << place
            place += run.size
        state.append(bits)
    return state


def evaluate(plan, a, b=0):
    """The result, from evaluating every bit of the plan and adding the two rows as the hardware does."""
    return plan.mod_sum.add(*final_rows(plan, a, b))


def faults(plan):
    """The faults of a plan, for all operands together; empty if the plan conserves the value modulo m.

    The columns of every output must sum to its weight modulo m, every bit of a column must be used or passed
    on once, and the correction must compensate for all inverted bits.
    """
    m = plan.modulus.value
    wrong = []
    inverted = 0
    for level in range(len(plan.levels) + 1):
        made, placed = _made(plan, level), Counter()
        for column, runs in enumerate(plan.runs(level)):
            if sum(run.size for run in runs) != plan.heights(level)[column]:
                wrong.append(f"level {level}, column {column}: not as many bits as its height")
            for run in runs:
                if run.kind == "correction":
                    continue
                placed[run[:3]] += (-1 if run.inverted else 1) << column
                inverted += run.size << column if run.inverted else 0
                if run.size != made.get(run[:3]):
                    wrong.append(f"level {level}: {run} does not take all bits that are made, and no others")
        wrong += [
            f"level {level}: {kind} output {output} of column {column} changes its value"
            for kind, output, column in made
            if (placed[kind, output, column] - (1 << column + output)) % m
        ]
    wrong += [
        f"level {number}, column {column}: cells for more bits than there are"
        for number, cells in enumerate(plan.levels)
        for column in range(plan.columns)
        if cells.passing(column) < 0
    ]
    correction = sum(bit << column for column, bit in plan.constants)
    if (correction + inverted) % m:
        wrong.append(f"the correction is {correction}, the inverted bits are worth {inverted}")
    if max(plan.rows) > 2:
        wrong.append("more than two rows are left")
    return wrong


def _made(plan, level):
    """All bits that exist before a level: source -> number."""
    if level == 0:
        shape = plan.operation, plan.operand_nbits
        made = {("product", 0, weight): product_count(*shape, weight) for weight in product_weights(*shape)}
    else:
        below = plan.levels[level - 1]
        made = {("pass", 0, column): below.passing(column) for column in range(plan.columns)}
        for kind in CELLS:
            for column, count in enumerate(below.cells[kind]):
                made.update({(kind, output, column): count for output in range(OUTPUTS[kind])})
    return {key: count for key, count in made.items() if count}


def multiplier(spec, strategy=BEST):
    """The plan of a multiplier for a modulus such as 2^8+85."""
    return make_plan("multiply", parse(spec), None, strategy)


def family(n):
    """Paper 000's modulus m2 = 2^n + sum of 4^i for i < n/2 with an even n, and its pseudo-modulus m1 =
    2^(n+2) - 1 = 3 * m2.

    Equation 22 runs the sum to i = n/2, which would give m2 = 2^(n+1) + ..., and 3 * m2 would not be 2^(n+2)
    - 1; its Table 4 (21 = 2^4 + 5, 85 = 2^6 + 21) has the intended sum.
    """
    return classify(((1 << (n + 2)) - 1) // 3), Modulus("2^n-1", n + 2, 1)
