"""What a compression tree computes: evaluation that follows every bit of the plan, and proof that the plan conserves the value.

`evaluate` takes all cells of a kind in a column at once, as the bits of one Python integer; it shares the rule of the plan
with the hardware, and nothing else with it. `faults` needs no operands: it checks the sums. `follow` tells a reader the
way of one product.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BadInput, shown
from .compression_plan import CELLS, OUTPUTS, SIZE, Plan, Run, product_count, product_range, product_weights


def _product_bits(operation: str, nbits: int, weight: int, a: int, b: int, b_reversed: int) -> int:
    """The bits of this weight, as the bits of a number."""
    if operation == "reduce":
        return a >> weight & 1
    first, count, total = product_range(operation, nbits, weight)
    bits = (a >> first) & (b_reversed >> (nbits - 1 - total + first)) & ((1 << count) - 1) if count else 0
    if operation == "square" and weight % 2 == 0:
        bits |= (a >> weight // 2 & 1) << count
    return bits


def _full(x: int, y: int, z: int) -> tuple[int, int]:
    return x ^ y ^ z, x & y | x & z | y & z


def _outputs(kind: str, inputs: Sequence[int]) -> tuple[int, ...]:
    """What cells of a kind make of their bits; each number holds a bit of every cell."""
    if kind == "half":
        x, y = inputs
        return x ^ y, x & y
    if kind == "full":
        return _full(*inputs)
    partial, first = _full(*inputs[:3])
    total, second = _full(partial, *inputs[3:])
    return total, first ^ second, first & second


def final_rows(plan: Plan, a: int, b: int = 0) -> tuple[int, int]:
    """The two rows that the tree leaves for operands a and b (a alone for a square or a residue)."""
    nbits = plan.operand_nbits
    if plan.operation != "multiply":
        b = a
    for name, value in (("a", a), ("b", b)):
        if not 0 <= value < 1 << nbits:
            raise BadInput(f"operand {name} = {shown(value)}: give 0 or more, below 2^{nbits}")
    reverse = int(f"{b:0{nbits}b}"[::-1], 2)
    known = {
        ("product", 0, weight): _product_bits(plan.operation, nbits, weight, a, b, reverse)
        for weight in product_weights(plan.operation, nbits)
    }
    state = _gather(plan.all_runs[0], known, plan.constants)
    for number, level in enumerate(plan.levels):
        made: dict[tuple[str, int, int], int] = {}
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


def _gather(
    runs: list[list[Run]], known: dict[tuple[str, int, int], int], constants: Sequence[tuple[int, int]]
) -> list[int]:
    """The bits of each column, put together run by run."""
    correction = iter(constants)
    state = []
    for each in runs:
        bits = place = 0
        for run in each:
            value = next(correction)[1] if run.kind == "correction" else known[run[:3]]
            bits |= (value ^ ((1 << run.count) - 1) if run.inverted else value) << place
            place += run.count
        state.append(bits)
    return state


def evaluate(plan: Plan, a: int, b: int = 0) -> int:
    """The result, by following every bit of the plan and adding the two rows as the hardware does."""
    return plan.mod_sum.add(*final_rows(plan, a, b))


# -------------------------------------------------------------------------------------------------------- checking


def faults(plan: Plan) -> list[str]:
    """What is wrong with a plan as a sum, whatever the operands: nothing, if it conserves the value modulo m.

    Every output must be placed in columns that are together worth its weight modulo m, every bit of a column must be
    taken or passed on once, and the correction must make up for all bits that are inverted.
    """
    m = plan.modulus.value
    wrong = []
    inverted = 0
    for level in range(len(plan.levels) + 1):
        placed: dict[tuple[str, int, int], int] = {}
        sizes: dict[tuple[str, int, int], int] = {}
        for column, runs in enumerate(plan.runs(level)):
            if sum(run.count for run in runs) != plan.heights(level)[column]:
                wrong.append(f"level {level}, column {column}: not as many bits as its height")
            for run in runs:
                if run.kind == "correction":
                    continue
                key = run[:3]
                placed[key] = placed.get(key, 0) + (-1 if run.inverted else 1) * (1 << column)
                sizes[key] = run.count
                inverted += run.count << column if run.inverted else 0
        for key, count in _made(plan, level).items():
            kind, output, column = key
            if (placed.get(key, 0) - (1 << (column + output))) % m:
                wrong.append(f"level {level}: {kind} output {output} of column {column} changes its value")
            if key in sizes and sizes[key] != count:
                wrong.append(f"level {level}: {kind} output {output} of column {column} is not taken whole")
        if set(placed) - set(_made(plan, level)):
            wrong.append(f"level {level}: takes bits that nothing makes")
    for number, cells in enumerate(plan.levels):
        wrong += [
            f"level {number}, column {column}: cells for more bits than there are"
            for column in range(plan.columns)
            if cells.passing(column) < 0
        ]
    correction = sum(bit << column for column, bit in plan.constants)
    if (correction + inverted) % m:
        wrong.append(f"the correction is {shown(correction)}, the inverted bits are worth {shown(inverted)}")
    if max(plan.rows) > 2:
        wrong.append("more than two rows are left")
    return wrong


def _made(plan: Plan, level: int) -> dict[tuple[str, int, int], int]:
    """All bits there are for a level: source -> how many."""
    if level == 0:
        weights = product_weights(plan.operation, plan.operand_nbits)
        made = {
            ("product", 0, weight): product_count(plan.operation, plan.operand_nbits, weight)
            for weight in weights
        }
    else:
        below = plan.levels[level - 1]
        made = {("pass", 0, column): below.passing(column) for column in range(plan.columns)}
        for kind in CELLS:
            for column, count in enumerate(below.cells[kind]):
                made.update({(kind, output, column): count for output in range(OUTPUTS[kind])})
    return {key: count for key, count in made.items() if count}


# ------------------------------------------------------------------------------------------------------- following


def follow(plan: Plan, j: int, k: int = 0) -> list[str]:
    """The way of the product a_j * b_k (of bit j, for a residue) through the tree, a sentence for each level.

    A cell's sum has the weight of its inputs, so that the way goes on with it; its carry is told.
    """
    lines, address = _start(plan, j, k)
    for number, level in enumerate(plan.levels):
        if address is None:
            break
        column, place = address
        kind = next(
            (
                kind
                for kind in CELLS
                if place < level.first(kind, column) + SIZE[kind] * level.cells[kind][column]
            ),
            None,
        )
        if kind is None:
            address = column, place - level.first("pass", column)
            lines.append(
                f"level {number}: passes from place {place} of column {column} to place {address[1]}"
            )
            continue
        cell = next(
            cell
            for cell in plan.cells(number)
            if cell.column == column and cell.kind == kind and place in cell.inputs
        )
        where = [" and ".join(map(_place, output)) or "nowhere" for output in cell.outputs]
        lines.append(
            f"level {number}: from place {place} of column {column} into {kind} {cell.number}; its sum goes to "
            f"{where[0]}, its carry to {where[1]}" + (f", its 4 to {where[2]}" if kind == "five" else "")
        )
        address = cell.outputs[0][0][:2]
    if address:
        lines.append(f"after the last level: bit {address[0]} of row {'AB'[address[1]]}")
    return lines


def _place(to: tuple[int, int, bool]) -> str:
    return f"column {to[0]} place {to[1]}{' inverted' if to[2] else ''}"


def _start(plan: Plan, j: int, k: int) -> tuple[list[str], tuple[int, int] | None]:
    """Where a product is in the matrix; of several places, the first."""
    nbits = plan.operand_nbits
    if plan.operation == "reduce":
        name, weight, term = f"x_{j}", j, 0
    elif plan.operation == "square" and j == k:
        weight = 2 * j
        name, term = f"a_{j}", product_count("square", nbits, weight) - 1
    else:
        weight = j + k + (plan.operation == "square")
        j = min(j, k) if plan.operation == "square" else j
        name, term = f"a_{j} * {'a' if plan.operation == 'square' else 'b'}_{k}", 0
        term = j - product_range(plan.operation, nbits, weight)[0]
    if weight not in product_weights(plan.operation, nbits):
        raise BadInput(f"{name} is no product of operands of {nbits} bits: give bits 0 to {nbits - 1}")
    found = []
    for column, runs in enumerate(plan.runs(0)):
        place = 0
        for run in runs:
            if run.kind == "product" and run.column == weight:
                found.append((column, place + term, run.inverted))
            place += run.count
    where = " and ".join(map(_place, found)) or "nowhere: it is a multiple of the modulus"
    return [f"{name} has weight 2^{weight}: it goes to {where}"], found[0][:2] if found else None
