"""The table of products without last subtraction: operands and results below twice the modulus, R at least
four times of it.
"""

from dataclasses import dataclass

from tests.tables.rows import Row, odd_moduli


@dataclass(frozen=True, repr=False)
class UnsubtractedRow(Row):
    """a * b / R modulo m."""

    name: str
    a: int
    b: int
    mod: int

    @property
    def request(self):
        return self.a, self.b

    def right(self, answer, r):
        """Whether this is the product or the product and m, by Python's own arithmetic."""
        return answer < 2 * self.mod and answer * r % self.mod == self.a * self.b % self.mod


def corners(nbits):
    """Corner rows for moduli of up to nbits bits."""
    half = nbits // 2
    p, q = (1 << half) - 1, (1 << (half - 1)) + 1
    zero_divisors = p * q | 1 if p * q % 2 else p
    moduli = {
        "largest modulus": (1 << nbits) - 1,
        "smallest modulus": 3,
        "modulus 1": 1,
        "highest bit and 1": 1 << (nbits - 1) | 1,
        "p q": zero_divisors,
    }
    rows = [
        UnsubtractedRow(f"{which}, {name}", a, b, m)
        for which, m in moduli.items()
        for name, a, b in (
            ("0 x 0", 0, 0),
            ("0 x largest", 0, 2 * m - 1),
            ("1 x 1", 1, 1),
            ("m - 1 squared", m - 1, m - 1),
            ("m squared, which is 0", m, m),
            ("largest squared", 2 * m - 1, 2 * m - 1),
            ("largest x 1", 2 * m - 1, 1),
        )
    ]
    return [*rows, UnsubtractedRow("zero divisors", p, q, zero_divisors)]


def drawn(nbits, count):
    """Random operands for moduli of all lengths."""
    return [
        UnsubtractedRow(name, rng.randrange(2 * mod), rng.randrange(2 * mod), mod)
        for name, rng, mod in odd_moduli("unsubtracted", nbits, count, least=1)
    ]
