"""Energy per operation, and paper 001's Table 3 to hold it against.

Energy is power x cycles x period, of a window. For a machine alone the window is the operation itself. For a processor it is what its
program brackets with stats_en, and as in the paper the energy of a "dummy" that does the same but the computation is taken
off: the paper's normalised figures.

Of the paper's own windows Table 3 says no more than power and energy: their quotient is a time 344 periods of 3 ns longer than the
cycles of its Table 1, in all eight columns (341 to 349, which is within the digits given), so start and end of the program were
in it. They are in the dummy's energy as well, and normalised figures are free of them. The accelerators alone have no
energy in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..fl.errors import unknown

CITATION = "paper 001, section 5.4, Table 3"
PAPER_CLOCK_NS = 3.0  # section 5.3
DUMMY = "dummy"
OPERATIONS = ("encrypt", "decrypt")


@dataclass(frozen=True)
class Published:
    """A column of Table 3 for one operation, and the cycles of it in Table 1."""

    system: str
    operation: str
    power_mw: float
    energy_nj: float
    dummy_nj: float
    normalised_nj: float
    cycles: int
    normalised_cycles: int


TABLE_3 = (
    Published("proc-naive", "encrypt", 3.46, 40.28, 4.78, 35.50, 3532, 3523),
    Published("proc-montgomery", "encrypt", 5.33, 62.87, 4.78, 58.09, 3590, 3581),
    Published("procxcel-naive-001", "encrypt", 4.55, 19.31, 7.78, 11.53, 1071, 1062),
    Published("procxcel-mont-001", "encrypt", 6.93, 10.85, 7.99, 2.86, 178, 169),
    Published("proc-naive", "decrypt", 3.38, 86.17, 4.81, 81.37, 8157, 8148),
    Published("proc-montgomery", "decrypt", 5.71, 94.03, 4.81, 89.22, 5144, 5135),
    Published("procxcel-naive-001", "decrypt", 4.20, 27.63, 7.80, 19.82, 1849, 1840),
    Published("procxcel-mont-001", "decrypt", 7.08, 12.47, 8.01, 4.46, 243, 234),
)


def published(system: str, operation: str) -> Published:
    """The figures of a system, by its name in eval/systems.py."""
    for row in TABLE_3:
        if (row.system, row.operation) == (system, operation):
            return row
    raise unknown(
        "system of Table 3", f"{system} {operation}", [f"{row.system} {row.operation}" for row in TABLE_3]
    )


def energy_nj(power_mw: float, cycles: float, clock_ns: float) -> float:
    """Of so many cycles; 1 mW x 1 ns = 1 pJ."""
    return power_mw * cycles * clock_ns * 1e-3


def of_operations(windows: Mapping[str, float]) -> dict[str, float]:
    """Energy of each operation from that of the windows: without the dummy's, where one was run."""
    overhead = windows.get(DUMMY, 0.0)
    return {name: value - overhead for name, value in windows.items() if name != DUMMY}


def compare(energies_nj: Mapping[str, float], system: str) -> list[dict[str, Any]]:
    """Energies by operation beside the paper's normalised ones; `ratio`: ours / the paper's."""
    rows = []
    for operation in OPERATIONS:
        if operation in energies_nj:
            paper = published(system, operation)
            rows.append(
                {
                    "operation": operation,
                    "energy_nj": energies_nj[operation],
                    "paper_nj": paper.normalised_nj,
                    "ratio": energies_nj[operation] / paper.normalised_nj,
                    "citation": CITATION,
                }
            )
    return rows


def saving(energies_nj: Mapping[str, float], reference_nj: Mapping[str, float]) -> dict[str, float]:
    """How many times the energy of a reference is that of ours, by operation."""
    return {
        name: reference_nj[name] / value
        for name, value in energies_nj.items()
        if name in reference_nj and value
    }
