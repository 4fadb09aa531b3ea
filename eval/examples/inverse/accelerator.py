"""Inverse: a^-1 modulo an odd m, by the binary Euclidean algorithm. Invalid requests are refused."""

import math

from modexlab import Accelerator, Row, Shape

from .rtl import EVEN, LARGE, NONE, InverseRTL


def steps(a, m):
    """The number of halvings and subtractions in the binary algorithm."""
    u, v, count = a, m, 0
    while u not in (0, 1) and v != 1:
        if u % 2 == 0:
            u //= 2
        elif v % 2 == 0:
            v //= 2
        elif u >= v:
            u -= v
        else:
            v -= u
        count += 1
    return count


class Inverse(Accelerator):
    name = "inverse"
    summary = "a^-1 mod m for odd m, by the binary Euclidean algorithm"
    usual_nbits = 16
    statuses = {
        EVEN: "the modulus is even",
        LARGE: "the number is not below the modulus",
        NONE: "there is no inverse",
    }
    secret = ("a",)

    @property
    def shape(self):
        return Shape((("a", self.nbits), ("m", self.nbits)), (("status", 2), ("x", self.nbits)))

    def fl(self, a, m):
        if m % 2 == 0:
            return EVEN, 0
        if a >= m:
            return LARGE, 0
        if math.gcd(a, m) != 1:
            return NONE, 0
        return 0, pow(a, -1, m)

    def cycles(self, a, m):
        return 2 if m % 2 == 0 or a >= m else steps(a, m) + 3

    def rtl(self):
        return InverseRTL(self.nbits)

    def drawn(self, generator):
        m = generator.getrandbits(self.nbits) | 1
        return generator.randrange(m), m

    def rows(self):
        top = (1 << self.nbits) - 1
        return [
            Row("one", (1, top)),
            Row("minus one", (top - 1, top), 3, 0),
            Row("two", (2, top), 0, 3),
            Row("modulus 1", (0, 1)),
            Row("zero has none", (0, 3)),
            Row("a common factor", (3, 9), 1, 1),
            Row("even modulus", (3, 8)),
            Row("modulus 0", (0, 0)),
            Row("number equal to the modulus", (7, 7)),
            *(row for row in super().rows() if row.name.startswith("drawn")),
        ]

    def workloads(self):
        top = (1 << self.nbits) - 1
        return {"typical": [(top // 2, top)]}
