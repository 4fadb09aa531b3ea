"""The legal values of a processor's parameters, in a module of their own, so that the command line needs no
PyMTL3 for them.
"""

from ...fl.errors import BadInput

MOST_MUL_LATENCY = 32
DIV_BITS = (1, 2, 4, 8, 16, 32)  # a quotient has 32


def check_units(mul_latency: int = 1, div_bits: int = 1) -> None:
    """Raise BadInput for a multiplier latency or a number of quotient bits per cycle that is not
    supported.
    """
    if not 1 <= mul_latency <= MOST_MUL_LATENCY:
        raise BadInput(
            f"a multiplier with a latency of {mul_latency} is not possible; give 1 to {MOST_MUL_LATENCY}"
        )
    if div_bits not in DIV_BITS:
        raise BadInput(
            f"a divider of {div_bits} bits per cycle is not possible; give one of "
            f"{', '.join(map(str, DIV_BITS))}"
        )
