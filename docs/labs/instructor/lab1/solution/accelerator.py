"""Solution of lab 1: one Montgomery product, a * b / 2^nbits mod m, with a table of rows."""

from random import Random

from modexlab import Accelerator, Row, Shape

from .rtl import ProductRTL


class Product(Accelerator):
    name = "product"
    summary = "one Montgomery product"
    usual_nbits = 8

    @property
    def shape(self):
        n = self.nbits
        return Shape((("a", n), ("b", n), ("m", n)), (("p", n),))

    def fl(self, a, b, m):
        """Functional level: the value of the product."""
        return a * b * pow(1 << self.nbits, -1, m) % m

    def cycles(self, a, b, m):
        """Cycle level: cycles from the request to the response."""
        return self.nbits + 1

    def rtl(self):
        """Register-transfer level."""
        return ProductRTL(self.nbits)

    def drawn(self, generator):
        """A random request: m is odd, a and b are below m."""
        m = generator.getrandbits(self.nbits) | 1
        return generator.randrange(m), generator.randrange(m), m

    def rows(self):
        """The table: named requests, and the cycles for which source and sink wait."""
        top = (1 << self.nbits) - 1
        generator = Random(self.nbits)
        return [
            Row("modulus 1", (0, 0, 1)),
            Row("1 * 1", (1, 1, top)),
            Row("largest * largest", (top - 1, top - 1, top)),
            Row("factors of m", (3, 5, 15)),
            Row("slow source", (1, 2, top), source_delay=3),
            Row("slow sink", (1, 3, top), sink_delay=4),
            *(Row(f"drawn {index}", self.drawn(generator)) for index in range(8)),
        ]
