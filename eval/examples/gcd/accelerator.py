"""GCD: the greatest common divisor of two numbers, by subtraction."""

import math

from modexlab import Accelerator, Row, Shape

from .rtl import GCDRTL


def steps(a, b):
    """The number of subtractions and exchanges in Euclid's algorithm."""
    count = 0
    while b:
        a, b = (b, a) if a < b else (a - b, b)
        count += 1
    return count


class GCD(Accelerator):
    name = "gcd"
    summary = "the greatest common divisor of two numbers, by subtraction"
    usual_nbits = 16

    @property
    def shape(self):
        return Shape((("a", self.nbits), ("b", self.nbits)), (("g", self.nbits),))

    def fl(self, a, b):
        return math.gcd(a, b)

    def cycles(self, a, b):
        return steps(a, b) + 2

    def rtl(self):
        return GCDRTL(self.nbits)

    def drawn(self, generator):
        """Two random multiples of a random common factor, each at most 1,000 times that factor."""
        factor = generator.randrange(1, 1 << self.nbits // 2)
        most = min(1000, ((1 << self.nbits) - 1) // factor)
        return generator.randint(0, most) * factor, generator.randint(0, most) * factor

    def rows(self):
        top = (1 << self.nbits) - 1
        return [
            Row("both zero", (0, 0)),
            Row("left zero", (0, 7 & top)),
            Row("right zero", (top, 0), 3, 0),
            Row("equal", (top, top), 0, 4),
            Row("one and two", (1, 2 & top), 2, 2),
            *(row for row in super().rows() if row.name.startswith("drawn")),
        ]
