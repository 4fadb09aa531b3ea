"""HAMMING: the number of bits in which two words differ."""

from modexlab import Accelerator, Param, Row, Shape

from .rtl import HammingRTL


class Hamming(Accelerator):
    name = "hamming"
    summary = "the number of bits in which two words differ"
    usual_nbits = 32
    params = (Param("bits", 1, (1, 2, 4, 8), "bits that are compared in a cycle"),)
    steady = ("a", "b")  # the cycles do not depend on them

    @property
    def shape(self):
        return Shape((("a", self.nbits), ("b", self.nbits)), (("distance", 6),))

    def fl(self, a, b):
        return (a ^ b).bit_count()

    def cycles(self, a, b):
        return self.nbits // self.bits + 1

    def rtl(self):
        return HammingRTL(self.nbits, self.bits)

    def rows(self):
        top = (1 << self.nbits) - 1
        return [Row("all bits differ", (0, top)), Row("equal", (top, top), 0, 5), *super().rows()]
