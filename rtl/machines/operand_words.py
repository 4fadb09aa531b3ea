"""The words of an operand that arrives in a message: wires only."""

from pymtl3 import Wire, connect


def operand_words(s, field, nbits, word_nbits, nwords):
    """s.in_FIELD: the words of the field of istream's message, of nbits bits, the lowest first; above it they
    are 0.
    """
    words = [Wire(word_nbits) for _ in range(nwords)]
    setattr(s, f"in_{field}", words)
    message = getattr(s.istream.msg, field)
    for j, word in enumerate(words):
        used = max(0, min(word_nbits, nbits - j * word_nbits))
        if used:
            connect(word[0:used], message[j * word_nbits : j * word_nbits + used])
        if used < word_nbits:
            connect(word[used:word_nbits], 0)
