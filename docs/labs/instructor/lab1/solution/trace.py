"""Solution of lab 1, step 6: the trace of the machine `mont` at 8 bits."""


def column(exp):
    """The middle column in each cycle."""
    bits = [exp >> i & 1 for i in range(exp.bit_length())]
    return ["0|. .", "1|. .", "1|. .", *("2|* *" if bit else "2|. *" for bit in bits), "3|. ."]
