"""The clock-gating parameter of paper 001's machines."""

from ....fl.param import BOOLS, Param

GATED = Param(
    "gated",
    False,
    BOOLS,
    "registers have an enable alone, so that synthesis gates their clock; not so in the paper's RTL, where "
    "a reset goes before it",
)
