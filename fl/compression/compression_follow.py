"""Description of the path of one partial product through a compression tree."""

from ..errors import BadInput
from .compression_plan import Place, Plan, product_count, product_range, product_weights


def follow(plan: Plan, j: int, k: int = 0) -> list[str]:
    """The path of the product a_j * b_k (of bit j, for a residue) through the tree, one sentence per level.

    The path continues with the sum of a cell, which has the weight of its inputs; the destination of the
    carry is mentioned.
    """
    lines, address = _start(plan, j, k)
    for number, level in enumerate(plan.levels):
        if address is None:
            break
        column, place = address
        cell = next(
            (cell for cell in plan.cells(number) if cell.column == column and place in cell.inputs), None
        )
        if cell is None:
            address = column, place - level.first("pass", column)
            lines.append(
                f"level {number}: passes from place {place} of column {column} to place {address[1]}"
            )
            continue
        where = [" and ".join(map(_place, output)) or "nowhere" for output in cell.outputs]
        lines.append(
            f"level {number}: from place {place} of column {column} into {cell.kind} {cell.number}; "
            f"its sum goes to {where[0]}, its carry to {where[1]}"
            + (f", its 4 to {where[2]}" if cell.kind == "five" else "")
        )
        address = cell.outputs[0][0][:2]
    if address:
        lines.append(f"after the last level: bit {address[0]} of row {'AB'[address[1]]}")
    return lines


def _place(to: Place) -> str:
    return f"column {to[0]} place {to[1]}{' inverted' if to[2] else ''}"


def _start(plan: Plan, j: int, k: int) -> tuple[list[str], tuple[int, int] | None]:
    """The sentence about the place of a product in the matrix, and that place; if there are several, the
    first.
    """
    nbits = plan.operand_nbits
    if plan.operation == "reduce":
        name = f"x_{j}"
        weight = j
        term = 0
    elif plan.operation == "square" and j == k:
        weight = 2 * j
        name = f"a_{j}"
        term = product_count("square", nbits, weight) - 1
    else:
        weight = j + k + (plan.operation == "square")
        j = min(j, k) if plan.operation == "square" else j
        name = f"a_{j} * {'a' if plan.operation == 'square' else 'b'}_{k}"
        term = j - product_range(plan.operation, nbits, weight)[0]
    if weight not in product_weights(plan.operation, nbits):
        raise BadInput(f"{name} is no product of operands of {nbits} bits: give bits 0 to {nbits - 1}")
    found = []
    for column, runs in enumerate(plan.runs(0)):
        place = 0
        for run in runs:
            if run.kind == "product" and run.column == weight:
                found.append((column, place + term, run.inverted))
            place += run.size
    where = " and ".join(map(_place, found)) or "nowhere: it is a multiple of the modulus"
    return [f"{name} has weight 2^{weight}: it goes to {where}"], found[0][:2] if found else None
