"""DigitReader: selects a digit of a word by one-hot lines, which Lines decodes from an index."""

from pymtl3 import *

from ...wires import connect_words

FOUR = 4  # digits of which a gate chooses one


class OneOfFour(Component):
    """Selects one of four digits by four one-hot lines."""

    def construct(s, k):
        s.digits = [InPort(k) for _ in range(FOUR)]
        s.lines = InPort(FOUR)
        s.digit = OutPort(k)

        @update
        def choose():
            s.digit @= (
                (s.digits[0] if s.lines[0] else 0)
                | (s.digits[1] if s.lines[1] else 0)
                | (s.digits[2] if s.lines[2] else 0)
                | (s.digits[3] if s.lines[3] else 0)
            )


class Lines(Component):
    """Decodes each pair of bits of an index to four one-hot select lines."""

    def construct(s, nbits):
        s.index = InPort(nbits)
        npairs = (nbits + 1) // 2
        s.lines = [OutPort(FOUR) for _ in range(npairs)]
        s.pairs = [Wire(2) for _ in s.lines]
        connect_words(s.index, s.pairs)

        @update
        def decode():
            for i in range(npairs):
                s.lines[i][0] @= ~s.pairs[i][1] & ~s.pairs[i][0]
                s.lines[i][1] @= ~s.pairs[i][1] & s.pairs[i][0]
                s.lines[i][2] @= s.pairs[i][1] & ~s.pairs[i][0]
                s.lines[i][3] @= s.pairs[i][1] & s.pairs[i][0]


class DigitReader(Component):
    """Selects the digit of a word by one-hot select lines, in a tree of AND-OR gates."""

    def construct(s, nbits, k):
        ndigits = nbits // k
        s.word = InPort(nbits)
        s.lines = [InPort(FOUR) for _ in range((clog2(ndigits) + 1) // 2)]
        s.digit = OutPort(k)
        s.digits = [Wire(k) for _ in range(ndigits)]
        connect_words(s.word, s.digits)
        sizes = [-(-ndigits // FOUR ** (level + 1)) for level in range(len(s.lines))]
        s.choices = [OneOfFour(k) for _ in range(sum(sizes))]
        digits, unused = s.digits, iter(s.choices)
        for lines, size in zip(s.lines, sizes, strict=True):
            level = [next(unused) for _ in range(size)]
            for group, choice in enumerate(level):
                choice.lines //= lines
                for place in range(FOUR):
                    which = FOUR * group + place
                    choice.digits[place] //= digits[which] if which < len(digits) else 0
            digits = [choice.digit for choice in level]
        s.digit //= digits[0]


def read_digit(reader, word, order, places, digit):
    """Connect a DigitReader to a word, to Lines and to the digit that it reads; `order` has the index of each
    digit of the word, from the lowest on.
    """
    k = digit.get_type().nbits
    number = {index: i for i, index in enumerate(order)}
    for index in range(reader.word.get_type().nbits // k):
        low = k * number.get(index, -1)
        reader.word[k * index : k * index + k] //= word[low : low + k] if low >= 0 else 0
    for own, lines in zip(reader.lines, places.lines, strict=True):
        own //= lines
    reader.digit //= digit
