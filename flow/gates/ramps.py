"""How much of a ramp the slews of a library are: from which share of the supply to which they were measured.

A net that changes goes from one supply to the other; the slews of Liberty are times between two thresholds on that way
(30 and 70 % in the kit of this package), times `slew_derate_from_library`. Pulses that turn round on the way (glitches.cpp) need the
whole of it.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

NAMES = ("slew_upper_threshold_pct_rise", "slew_lower_threshold_pct_rise")
USUAL = {"slew_upper_threshold_pct_rise": 80.0, "slew_lower_threshold_pct_rise": 20.0}  # Liberty's own
DERATE = "slew_derate_from_library"
HEAD = 1 << 16  # characters in which a library has said it


@functools.cache
def slew_share(lib: Path) -> float:
    """The part of the whole way that a slew of the library is the time of."""
    with lib.open(errors="replace") as file:
        head = file.read(HEAD)
    upper, lower = (_number(head, name, USUAL[name]) for name in NAMES)
    return (upper - lower) / 100 / _number(head, DERATE, 1.0)


def _number(head: str, name: str, usual: float) -> float:
    found = re.search(rf"^\s*{name}\s*:\s*([\d.]+)", head, re.MULTILINE)
    return float(found[1]) if found else usual
