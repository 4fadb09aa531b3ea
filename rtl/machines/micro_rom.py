"""MicroRom: fields of a program's words by its counter (microcode.py).

Ports: pc, exponent_bit (if a field hangs on it) -> one for each field, named as it is. Combinational: a table
of constants, of which synthesis makes gates; fields that are the same in all words are constants.
"""

from pymtl3 import *


def packed(fields, values):
    """The values of fields in a word, the first at its low end."""
    word = place = 0
    for field, value in zip(fields, values, strict=True):
        word |= value << place
        place += field.nbits
    return word


class MicroRom(Component):
    def construct(s, pc_nbits, fields):
        s.pc = InPort(pc_nbits)
        common = [field for field in fields if not field.fixed and not field.by_bit]
        split = [field for field in fields if not field.fixed and field.by_bit]
        for field in fields:
            setattr(s, field.name, OutPort(field.nbits))
            if field.fixed:
                connect(getattr(s, field.name), mk_bits(field.nbits)(field.one[0]))

        def tabulate(name, contents, nbits):
            """A table of these words, filled up to a power of two of them with the last."""
            setattr(s, name, [Wire(nbits) for _ in range(1 << pc_nbits)])
            for at, wire in enumerate(getattr(s, name)):
                connect(wire, mk_bits(nbits)(contents[min(at, len(contents) - 1)]))

        def unpack(names, word):
            place = 0
            for item in names:
                connect(getattr(s, item.name), word[place : place + item.nbits])
                place += item.nbits

        if common:
            nbits = sum(item.nbits for item in common)
            rows = zip(*(item.one for item in common), strict=True)
            tabulate("words", [packed(common, row) for row in rows], nbits)
            s.word = Wire(nbits)

            @update
            def look_up():
                s.word @= s.words[s.pc]

            unpack(common, s.word)

        if split:
            s.exponent_bit = InPort()
            nbits = sum(item.nbits for item in split)
            at_one = zip(*(item.one for item in split), strict=True)
            at_zero = zip(*(item.zero for item in split), strict=True)
            tabulate("words_at_one", [packed(split, row) for row in at_one], nbits)
            tabulate("words_at_zero", [packed(split, row) for row in at_zero], nbits)
            s.word_by_bit = Wire(nbits)

            @update
            def look_up_by_bit():
                s.word_by_bit @= s.words_at_zero[s.pc]
                if s.exponent_bit:
                    s.word_by_bit @= s.words_at_one[s.pc]

            unpack(split, s.word_by_bit)
