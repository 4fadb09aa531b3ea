"""Energy per operation, and published figures for comparison.

Energy is power x cycles x period, of a window. For a machine alone the window is the operation itself. For a
processor it is what its program brackets with stats_en, and the energy of a "dummy" that does the same but
the computation is taken off: normalised figures.
"""

from collections.abc import Mapping

import msgspec

from ..description import Published

DUMMY = "dummy"


def energy_nj(power_mw: float, cycles: float, clock_ns: float) -> float:
    """Return the energy of so many cycles; 1 mW x 1 ns = 1 pJ."""
    return power_mw * cycles * clock_ns * 1e-3


def of_operations(windows: Mapping[str, float]) -> dict[str, float]:
    """Energy of each operation from that of the windows: without the dummy's, where one was run."""
    overhead = windows.get(DUMMY, 0.0)
    return {name: value - overhead for name, value in windows.items() if name != DUMMY}


class Beside(msgspec.Struct):
    """An energy beside the published one of the same operation; `ratio`: ours / the paper's."""

    operation: str
    energy_nj: float
    paper_nj: float
    ratio: float
    name: str
    citation: str


def compare(energies_nj: Mapping[str, float], published: Published | None) -> list[Beside]:
    """Energies by operation beside published ones."""
    if published is None:
        return []
    name = published.name or published.citation
    return [
        Beside(operation, ours, paper_nj, ours / paper_nj, name, published.citation)
        for operation, paper_nj in published.energy_nj.items()
        if (ours := energies_nj.get(operation)) is not None
    ]
