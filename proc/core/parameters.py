"""The parameters of a processor: which values make one. Apart from the units, so that the command line knows
them without PyMTL3.
"""

from ...fl.errors import BadInput

MOST_MUL_LATENCY = 32
DIV_BITS = (1, 2, 4, 8, 16, 32)  # a quotient has 32


def check_mul_latency(latency: int) -> None:
    """BadInput if no multiplier takes so many cycles."""
    if not 1 <= latency <= MOST_MUL_LATENCY:
        raise BadInput(
            f"a multiplier with a latency of {latency} is not possible; give 1 to {MOST_MUL_LATENCY}"
        )


def check_div_bits(div_bits: int) -> None:
    """BadInput if no divider finds so many bits in a cycle."""
    if div_bits not in DIV_BITS:
        raise BadInput(
            f"a divider of {div_bits} bits per cycle is not possible; give one of "
            f"{', '.join(map(str, DIV_BITS))}"
        )


def check_units(mul_latency: int, div_bits: int) -> None:
    """Both, before anything is built."""
    check_mul_latency(mul_latency)
    check_div_bits(div_bits)
