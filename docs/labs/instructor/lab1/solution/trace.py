"""Solution of lab 1, step 6: the trace of the machine `mont` at 8 bits."""


def column(exp):
    """The middle column in each cycle."""
    bits = [exp >> i & 1 for i in range(exp.bit_length())]
    steps = ("step|* *" if bit else "step|. *" for bit in bits)
    return ["idle|. .", "convert|. .", "convert|. .", *steps, "done|. ."]
