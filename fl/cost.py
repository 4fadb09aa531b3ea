"""Delay and area of a compression tree in gates, estimated before synthesis.

The unit is a two-input AND or OR gate; an XOR counts two, an inverter nothing (Tyagi's unit-gate model, IEEE
Trans. Computers 42, 1993). A full adder is 7 gates and 4 deep, a half adder 3 and 2. A 5:3 compressor counts
its five inputs in two full adders and a half adder (17 gates); what comes late at the second full adder is
only the sum of the first, so that it is 8 deep. A full adder with a constant input is no more than a half
adder. A level is as deep as its deepest cell. Wires and their loads are not in it: the ASIC flow measures
those.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .compression.prefix import CARRY_PROPAGATE, prefix_network

# kind of cell -> gates, depth, and gates that a constant input saves
GATES = {"five": 17, "full": 7, "half": 3}
DEPTH = {"five": 8, "full": 4, "half": 2}
SAVED_BY_CONSTANT = {"five": 4, "full": 4, "half": 3}
MUX = 3  # gates for each bit, and 2 deep


class Cost(NamedTuple):
    """Gates, and gates in a row."""

    area: int
    delay: int

    def then(self, other: "Cost") -> "Cost":
        return Cost(self.area + other.area, self.delay + other.delay)

    @property
    def product(self) -> int:
        return self.area * self.delay


def products_cost(products: int) -> Cost:
    """The AND gates of the partial products."""
    return Cost(products, 1 if products else 0)


def level_cost(cells: Mapping[str, int], with_constant: Mapping[str, int]) -> Cost:
    """A level: all its cells, and the depth of its deepest."""
    area = sum(GATES[kind] * count for kind, count in cells.items())
    area -= sum(SAVED_BY_CONSTANT[kind] * count for kind, count in with_constant.items())
    return Cost(area, max((DEPTH[kind] for kind, count in cells.items() if count), default=0))


def adder_cost(adder: str, nbits: int) -> Cost:
    """One binary adder: a chain of full adders, or generate and propagate (3), the nodes (3), and the sum
    (2).
    """
    if adder == CARRY_PROPAGATE:
        return Cost(7 * nbits, 2 * nbits + 2)
    network = prefix_network(adder, nbits)
    return Cost((3 + 2) * nbits + 3 * sum(map(len, network)), 2 + 2 * len(network) + 2)


def mod_sum_cost(adder: str, nbits: int, subtractions: int, detects_zero: bool) -> Cost:
    """Figure 6: an adder, one with a row of half adders before it for each multiple, and the multiplexer."""
    area, delay = adder_cost(adder, nbits)
    if subtractions:
        wide = adder_cost(adder, nbits + 1)
        area += subtractions * (wide.area + 3 * nbits + MUX * nbits)
        delay = 2 + wide.delay + 2 * subtractions.bit_length()
    if detects_zero:
        area, delay = area + 3 * nbits, delay + 1
    return Cost(area, delay)


def bit_products(nbits: int) -> int:
    """Count the bit products of a Montgomery product: of both factors, and of quotient and modulus."""
    return 2 * nbits**2


def counting_floor(nbits: int, cell_area: float, clock: float) -> float:
    """The least area x time of a product that adds its bit products one by one: a cell of this area takes one
    of them a clock, and is never idle. A multiplier that forms fewer (squares, Karatsuba) can lie below.
    """
    return bit_products(nbits) * cell_area * clock
