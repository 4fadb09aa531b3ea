"""Energy per operation, and published figures to hold it against.

Energy is power x cycles x period, of a window. For a machine alone the window is the operation itself. For a processor it is what its
program brackets with stats_en, and the energy of a "dummy" that does the same but the computation is taken
off: normalised figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DUMMY = "dummy"


def energy_nj(power_mw: float, cycles: float, clock_ns: float) -> float:
    """Of so many cycles; 1 mW x 1 ns = 1 pJ."""
    return power_mw * cycles * clock_ns * 1e-3


def of_operations(windows: Mapping[str, float]) -> dict[str, float]:
    """Energy of each operation from that of the windows: without the dummy's, where one was run."""
    overhead = windows.get(DUMMY, 0.0)
    return {name: value - overhead for name, value in windows.items() if name != DUMMY}


def compare(energies_nj: Mapping[str, float], published: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Energies by operation beside published ones ({"name", "citation", "energy_nj": by operation}); `ratio`: ours / the paper's."""
    return [
        {
            "operation": operation,
            "energy_nj": energies_nj[operation],
            "paper_nj": paper_nj,
            "ratio": energies_nj[operation] / paper_nj,
            "name": published.get("name") or published["citation"],
            "citation": published["citation"],
        }
        for operation, paper_nj in published.get("energy_nj", {}).items()
        if operation in energies_nj
    ]


def saving(energies_nj: Mapping[str, float], reference_nj: Mapping[str, float]) -> dict[str, float]:
    """How many times the energy of a reference is that of ours, by operation."""
    return {
        name: reference_nj[name] / value
        for name, value in energies_nj.items()
        if name in reference_nj and value
    }
