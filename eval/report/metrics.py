"""The metrics of the store (lab/metrics.py) for readers: titles, axes, digits and lists of words.

"Energy" alone is the one that `modexlab asic` prints, with partial-swing glitches. Many points lack it, so
tables and charts show the two that all points have: energy without glitches and with all glitches.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from ..lab import metrics
from ..lab.metrics import Metric

TITLES = {
    "energy_nj": "Energy without glitches",
    "energy_with_glitches_nj": "Energy with all glitches",
    "energy_inertial_nj": "Energy",
}
METRICS = {name: replace(item, title=TITLES.get(name, item.title)) for name, item in metrics.METRICS.items()}
DIGITS = 3  # significant digits of measured numbers; counts are shown in full
# metrics that a chart may have on an axis, time first; the fronts rely on less being better for all of them
AXES = tuple(
    sorted((name for name, item in METRICS.items() if item.axis), key=lambda name: name != "time_ns")
)


def metric(name: str, unit: str = "") -> Metric:
    """The metric with this name; an unknown metric is shown under its own name."""
    return METRICS.get(name) or Metric(name, name.replace("_", " "), unit)


def of_paper(name: str, unit: str = "") -> Metric:
    """The metric of a published figure; papers do not say which glitches their energies include."""
    return metrics.METRICS.get(name) or metric(name, unit)


def shown(value: float | None) -> str:
    """A number for a reader: counts whole, measured values with three digits; `-` for none."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    return f"{value:,.{max(0, DIGITS - 1 - math.floor(math.log10(abs(value))))}f}"


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def ratio(value: float | None) -> str:
    """A ratio with two decimals, or with two significant digits if it is below 0.1."""
    if value is None:
        return "-"
    return f"{value:,.2f}" if value >= 0.1 else f"{value:.2g}"
