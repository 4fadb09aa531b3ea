"""HeapMont: Montgomery products on a scaled modulus, wide digits through one bit heap."""

from ....cl.heap_mont import HeapMontCL, HeapMontTiming
from ....fl.multipliers.scaled import DELAYS
from ....fl.multipliers.scaled import DIGIT_NBITS as LEGAL
from ....fl.multipliers.scaled_heap import ROWS as KINDS
from ....fl.param import Param
from ....rtl.units.heap.heap_mont import HeapMont
from .multiplier import Multiplier, Unit, Values

MOST = 70  # bits; wider digits pay off only if latency alone matters


def digit_at(nbits: int) -> int:
    """The narrowest even digit for as few digits, at least two, as digits of MOST bits would need."""
    ndigits = max(2, -(-(nbits + 2) // MOST))
    exact = -(-(nbits + 2) // ndigits)
    return max(exact + exact % 2, LEGAL[0])


DIGIT_NBITS = Param(
    "digit_nbits",
    digit_at,
    tuple(w for w in LEGAL if w % 2 == 0),
    "w, bits of a digit; a product takes about nbits / w cycles",
)
ROWS = Param(
    "rows", KINDS[0], KINDS, "how digits select the rows of the bit heap (fl/multipliers/scaled_heap.py)"
)
QUOTIENT_DELAY = Param(
    "quotient_delay",
    0,
    DELAYS,
    "steps between finding and using a quotient digit; 1: a shorter step, but two more per product",
)
STREAMS = Param(
    "streams", 1, (1, 2), "with 2, the next product is accepted while the pair of the previous one is added"
)
LOADS = Param("loads", 1, (1, 2), "cycles for accepting b and computing 3b; 2: 3b has a cycle of its own")
ADDS = Param("adds", 1, (1, 2), "cycles for adding the pair of a product")
PARAMS = (DIGIT_NBITS, ROWS, QUOTIENT_DELAY, STREAMS, LOADS, ADDS)


def unit(nbits: int, values: Values) -> Unit:
    """A unit for moduli of nbits bits; its own operands are wider."""
    shape = {param.name: values[param.name] for param in PARAMS}
    timing = {name: value for name, value in shape.items() if name != ROWS.name}
    return Unit(
        lambda _: HeapMont(nbits, **shape),
        lambda _: HeapMontCL(nbits, **shape),
        HeapMontTiming(nbits, **timing),
    )


HEAP_MONT = Multiplier("HeapMont", PARAMS, unit)
