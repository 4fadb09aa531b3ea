"""Delay and area of a compression tree in gates, estimated before synthesis.

The unit is a two-input AND or OR gate; an XOR counts as two, an inverter as zero (Tyagi's unit-gate model,
IEEE Trans. Computers 42, 1993). A full adder has 7 gates and depth 4, a half adder 3 gates and depth 2. A 5:3
compressor counts its five inputs with two full adders and a half adder (17 gates). Its depth is 8, because
only the sum of the first full adder arrives late at the second. A full adder with a constant input costs no
more than a half adder. A level is as deep as its deepest cell. Wires and their loads are not modelled; the
ASIC flow measures them.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .compression.prefix import CARRY_PROPAGATE, prefix_network

# kind of cell -> gates, depth, and gates that a constant input saves
GATES = {"five": 17, "full": 7, "half": 3}
DEPTH = {"five": 8, "full": 4, "half": 2}
SAVED_BY_CONSTANT = {"five": 4, "full": 4, "half": 3}
MUX = 3  # gates per bit; its depth is 2


class Cost(NamedTuple):
    """Area in gates, and delay in gates on the longest path."""

    area: int
    delay: int

    def then(self, other: "Cost") -> "Cost":
        return Cost(self.area + other.area, self.delay + other.delay)

    @property
    def product(self) -> int:
        return self.area * self.delay


def products_cost(products: int) -> Cost:
    """Cost of the AND gates of the partial products."""
    return Cost(products, 1 if products else 0)


def level_cost(cells: Mapping[str, int], with_constant: Mapping[str, int]) -> Cost:
    """Cost of a level: the area of all its cells and the depth of the deepest."""
    area = sum(GATES[kind] * count for kind, count in cells.items())
    area -= sum(SAVED_BY_CONSTANT[kind] * count for kind, count in with_constant.items())
    return Cost(area, max((DEPTH[kind] for kind, count in cells.items() if count), default=0))


def adder_cost(adder: str, nbits: int) -> Cost:
    """Cost of one binary adder: a chain of full adders, or generate and propagate (3 gates per bit), the
    prefix nodes (3 each), and the sum (2 per bit).
    """
    if adder == CARRY_PROPAGATE:
        return Cost(7 * nbits, 2 * nbits + 2)
    network = prefix_network(adder, nbits)
    return Cost((3 + 2) * nbits + 3 * sum(map(len, network)), 2 + 2 * len(network) + 2)


def mod_sum_cost(adder: str, nbits: int, subtractions: int, detects_zero: bool) -> Cost:
    """Cost of the final addition of Figure 6: an adder, for each multiple an adder behind a row of half
    adders, and the multiplexer.
    """
    area, delay = adder_cost(adder, nbits)
    if subtractions:
        wide = adder_cost(adder, nbits + 1)
        area += subtractions * (wide.area + 3 * nbits + MUX * nbits)
        delay = 2 + wide.delay + 2 * subtractions.bit_length()
    if detects_zero:
        area, delay = area + 3 * nbits, delay + 1
    return Cost(area, delay)


def counting_floor(nbits: int, cell_area: float, clock: float) -> float:
    """Lower bound of area x time for a Montgomery product that adds its bit products (those of both factors,
    and those of quotient and modulus) one by one: a cell of this area processes one bit product per clock and
    is never idle. A multiplier that forms fewer bit products (squaring, Karatsuba) can be below it.
    """
    return 2 * nbits**2 * cell_area * clock
