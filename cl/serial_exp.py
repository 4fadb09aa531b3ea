"""SerialExpCL: the cycle-level model of SerialExp, our processor on words and a scaled modulus.

Its two multipliers add a word in each cycle; sums that are used as a whole are there two cycles later. No
number of cycles is given: they follow from the words of the passes (fl/multipliers/scaled_serial.py has their
arithmetic), and tests compare them with the formula (digit_serial.py) and with RTL.
"""

from functools import partial

from ..fl.multipliers.scaled_serial import inverse_step
from ..fl.words import number_of, shifted, split_words
from .one_at_a_time import stepped_mod_exp_cl, together
from .serial_mod_exp import difference, doubled, summed
from .timing import montgomery_status


class Passes:
    """Passes over the words of numbers, one word in each cycle."""

    def __init__(self, shape, mod):
        self.shape = shape
        self.n = self.words_of(mod)

    def words_of(self, x):
        """The words of a number."""
        return split_words(x, self.shape.word_nbits, self.shape.nwords)

    def written(self):
        """The sum of the last word, and its write."""
        yield
        yield

    def inverse(self):
        """c = -1 / n modulo 2^k, a bit in each cycle."""
        c, rest = 0, 1
        for place in range(self.shape.digit_nbits):
            c, rest = inverse_step(c, rest, self.n[0], place)
            yield
        return c

    def scaled(self, c):
        """M' = (c n + 1) / 2^k."""
        nbits = self.shape.word_nbits
        words, carry = yield from summed((c * n_j for n_j in self.n), nbits, carry=1)
        return shifted(words, carry, nbits, self.shape.digit_nbits)

    def doublings(self, y):
        """y doubled modulo n, as often as it takes for R 2^t."""
        for _ in range(self.shape.doublings):
            y = yield from self.subtracted(doubled(y, self.shape.word_nbits))
        return y

    def subtracted(self, y):
        """y - n, or y if it is below n: the carry of the last word decides."""
        rest, fits = yield from difference(y, self.n, self.shape.word_nbits)
        yield from self.written()
        return rest if fits else y

    def product(self, x, y, m_prime):
        """x * y / R modulo M; its words are used as they come."""
        shape = self.shape
        nbits, k, ndigits = shape.word_nbits, shape.digit_nbits, shape.scaled.ndigits
        s, carry, mask, word = [0] * shape.nwords, 0, (1 << k) - 1, 0
        for i in range(ndigits + 1):  # at the end a digit 0
            if i < ndigits and i * k % nbits == 0:
                word = x[i * k // nbits]
                yield  # a word of x is fetched
            digit = word & mask if i < ndigits else 0
            word >>= k
            q, u = s[0] & mask, shifted(s, carry, nbits, k)
            columns = (u_j + q * m_j + digit * y_j for u_j, m_j, y_j in zip(u, m_prime, y, strict=True))
            s, carry = yield from summed(columns, nbits)
        return s

    def fixed(self, v, c):
        """(v + q n) / 2^k, where q makes the sum divisible."""
        nbits, k = self.shape.word_nbits, self.shape.digit_nbits
        yield  # the lowest word is multiplied by c
        q = v[0] * c & (1 << k) - 1
        columns = (v_j + q * n_j for v_j, n_j in zip(v, self.n, strict=True))
        words, carry = yield from summed(columns, nbits)
        yield from self.written()
        return shifted(words, carry, nbits, k)


def SerialExpCL(shape):
    """The model of SerialExp."""

    def work(base, exp, mod):
        passes = Passes(shape, mod)
        one = passes.words_of(1)
        yield  # the last words of the operands are in the memories
        c = yield from passes.inverse()
        m_prime = yield from passes.scaled(c)
        product = partial(passes.product, m_prime=m_prime)
        zeros = iter(range(shape.nbits - exp.bit_length()))  # shifted out, one in each cycle
        y, _ = yield from together(passes.doublings(one), zeros)
        for _ in range(shape.squarings):
            y = yield from product(y, y)
        x = yield from product(passes.words_of(base), y)
        y = yield from product(one, y)
        for place in reversed(range(exp.bit_length())):
            y = yield from product(y, y)
            multiplied = yield from product(x, y)
            y = multiplied if exp >> place & 1 else y
        y = yield from product(passes.words_of(1 << shape.digit_nbits), y)
        y = yield from passes.fixed(y, c)
        for _ in range(2):
            y = yield from passes.subtracted(y)
        for _ in y:  # the words of the result leave the memory
            yield
        return number_of(y, shape.word_nbits)

    # a word of each operand is loaded in a cycle
    return stepped_mod_exp_cl(shape.nbits, montgomery_status, work, loads=shape.nwords)
