"""Lab 2: predicted cycles of a Montgomery unit and of the machine mont-001."""


def latency(nbits, steps_per_stage):
    """STEP 2: cycles from the request of a product to its response."""
    return 0


def responses(count, nbits, steps_per_stage, nstages, pipelined):
    """STEP 3: the cycles in which the responses of `count` products are accepted.

    The first request is accepted in cycle 0, all requests wait in line, and the sink is always ready.
    nstages * steps_per_stage is nbits.
    """
    return []


def stalled(count, wait, nbits, steps_per_stage, nstages, pipelined):
    """STEP 4: the same, if the sink lets each response wait for `wait` cycles before it accepts it."""
    return []


def exponentiation(exp, nbits, steps_per_stage):
    """STEP 5: cycles of mont-001 for a modulus of nbits bits."""
    return 0


def one_unit(exp, nbits, steps_per_stage, pipelined):
    """STEP 6: the same with schedule=right-to-left-1, which has one unit for products and squares."""
    return 0


# STEP 7: a unit of 32 bits that answers 100 products in 110 cycles, with as few registers as you can
CHOICE = {"steps_per_stage": 8, "nstages": 4, "pipelined": False}
