"""Contracts of the units of folded products (rtl/units/fold)."""

from typing import Any

from pymtl3 import Component

from .contract_lang import SPARE, Contract, number, sum_of_rows
from .ports import arguments, width


def aligner(unit: Any) -> Contract:
    """Both directions of the shifter."""
    nbits = width(unit.number)
    return Contract(
        "zeros are those above the highest 1, out = number 2^zeros or, on the way back, floor(value / "
        "2^shift)",
        (
            f"number == 0 || (number << zeros) >> {nbits - 1} == 1",
            "out == (back[0] ? value >> shift : number << zeros)",
        ),
        nbits=2 * nbits + SPARE,
    )


def product_pair(unit: Any) -> Contract:
    """The heap is replaced by its proved sum."""
    columns = width(unit.sum)
    rows = " + ".join(f"{columns}'(x[{i}] ? y << {i} : 0)" for i in range(width(unit.x)))
    return Contract(
        f"the pair is x y modulo 2^{columns}",
        (f"{_pair('sum', 'carry', columns)} == {rows}",),
        instead={"BitHeap": sum_of_rows(arguments(unit.heap)["plan"])},
    )


def _pair(first: str, second: str, nbits: int) -> str:
    """The value of a pair of complements, modulo 2^nbits."""
    return f"{nbits}'(~{first}) + {nbits}'(~{second})"


def row_fold(unit: Any) -> Contract:
    """Each bit of a high column is replaced by its column of residues, and two bits carry into the next."""
    shape = arguments(unit)["shape"]
    low, high, nbits = shape.nbits, shape.product_nbits, shape.operand_nbits
    rows = []
    for column in range(shape.columns):
        group, odd = divmod(column, 2)
        residue, twice = f"residue_{group}", f"2 * residue_{group}"
        following = f"residue_{group + 1}" if odd else twice
        worth = (
            "0"
            if column == shape.columns - 1
            else f"sum[{low + column}] | carry[{low + column}] ? 0 : {following}"
        )
        rows.append(
            f"{nbits}'(sum[{low + column}] ^ carry[{low + column}] ? {twice if odd else residue} : {worth})"
        )
    lows = [f"{nbits}'({low}'(~{name}))" for name in ("sum", "carry")]
    return Contract(
        f"s' + c' = the low {low} bits of s and of c, and X_g for each 2^({low} + 2g) above, for s + c "
        f"below 2^{high}",
        (f"{_pair('next_sum', 'next_carry', nbits)} == {' + '.join([*rows, *lows])}",),
        (f"sum[{high - 1}] | carry[{high - 1}]",),
        {f"residue_{g}": f"residue[{low * g + low - 1}:{low * g}]" for g in range(shape.residues)},
        instead={"BitHeap": sum_of_rows(arguments(unit.heap)["plan"])},
    )


def adder_front(unit: Component) -> Contract:
    """Generate and propagate of spans of 2^nlevels places, each aligned to its length."""
    given = arguments(unit)
    ones = number(unit, (1 << given["nbits"]) - 1)
    return Contract(
        f"p = x ^ y, g and q: a carry is made and passed on by the span of {1 << given['nlevels']} places "
        "or less that ends here",
        ("p == (x ^ y)", *_spans(given["nbits"], given["nlevels"])),
        lines={"x": f"sum ^ {ones}", "y": f"carry ^ {ones}"},
    )


def adder_back(unit: Component) -> Contract:
    """The back half of the adder, given outputs of its front half."""
    given = arguments(unit)
    most = number(unit, (1 << given["nbits"]) - 1)
    return Contract(
        "out = x + y modulo the word, where p, g and q are what the front makes of x and y",
        (f"out == ((x + y) & {most})",),
        (f"x <= {most}", f"y <= {most}", "p == (x ^ y)", *_spans(given["nbits"], given["nlevels"])),
        free=("x", "y"),
    )


def _spans(nbits: int, nlevels: int) -> list[str]:
    """g and q of each place; the carry that the lowest place passes on is not needed."""
    said = []
    for place in range(nbits):
        low = place >> nlevels << nlevels
        count = place - low + 1
        x, y = (f"(({name} >> {low}) & {(1 << count) - 1})" for name in "xy")
        said.append(f"g[{place}] == ({x} + {y}) >> {count}")
        if low:
            said.append(f"q[{place}] == (({x} ^ {y}) == {(1 << count) - 1})")
    return said
