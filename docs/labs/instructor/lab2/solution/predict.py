"""Solution of lab 2: predicted cycles of a Montgomery unit and of the machine mont-001."""


def latency(nbits, steps_per_stage):
    """Each stage holds a product for one cycle."""
    return nbits // steps_per_stage


def responses(count, nbits, steps_per_stage, nstages, pipelined):
    """The cycles in which the responses of `count` products are accepted."""
    return stalled(count, 0, nbits, steps_per_stage, nstages, pipelined)


def stalled(count, wait, nbits, steps_per_stage, nstages, pipelined):
    """A pipeline stands still while a response waits in its last stage."""
    first = latency(nbits, steps_per_stage) + wait
    interval = 1 + wait if pipelined else first
    return [first + index * interval for index in range(count)]


def fixed(nbits):
    """Cycles that do not depend on the pipeline: the divider for R^2 mod n, and the handshakes."""
    return 2 * nbits + 3


def exponentiation(exp, nbits, steps_per_stage):
    """A step for each bit, one into the Montgomery form and one out of it; a cycle to begin each of them."""
    return fixed(nbits) + (exp.bit_length() + 2) * (1 + latency(nbits, steps_per_stage))


def one_unit(exp, nbits, steps_per_stage, pipelined):
    """A step with a product and a square is longer: by a cycle in a pipeline, else by a whole product."""
    second = 1 if pipelined else latency(nbits, steps_per_stage)
    return exponentiation(exp, nbits, steps_per_stage) + exp.bit_count() * second


# 9 cycles and one for each further product; fewer stages are slower cycles, more stages more registers
CHOICE = {"steps_per_stage": 8, "nstages": 4, "pipelined": True}
