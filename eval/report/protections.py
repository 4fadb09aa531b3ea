"""What each protection costs: the programs of one design, with cycles at RSA widths, and what was measured of
them on silicon.

Cycles are those of modexlab show --costs, counted word by word, which needs no ledger; areas and energies are the
ledger's, of machines with the same settings.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..designs import catalogue
from ..designs.interfaces import DEFAULT
from ..designs.protection import PROGRAMS, costs, fitted
from ..designs.workload_names import DECRYPT
from ..lab.point import Point
from .ledger_view import SILICON, Entry
from .tables import MISSING, Cell, Column, Line, Table, figure, line

DESIGN = "mont"
SCHEDULE = "fixed-window"
WIDTHS = (1024, 2048, 4096)
SILICON_NBITS = 32
AREA, CYCLES, ENERGY = "area_um2", "cycles", "energy_nj"
SHOWN_NBITS = 2048  # of the chart
SHARES = (
    f"cycles, {SHOWN_NBITS:,} bits",
    f"area, {SILICON_NBITS} bits",
    f"energy without glitches, {SILICON_NBITS} bits",
)


@dataclass(frozen=True)
class Program:
    """A program by its name, its cycles by width, and the entry of its silicon."""

    name: str
    cycles: Mapping[int, int]
    bare: Mapping[int, int]  # of the same without check and blinding; of CRT alone those of the schedule
    constant_time: bool
    silicon: Entry | None

    def overhead(self, nbits: int) -> Cell:
        """In percent of what it costs without."""
        if self.name == SCHEDULE:
            return MISSING
        more = 100 * (self.cycles[nbits] / self.bare[nbits] - 1)
        return Cell(f"{more:+.1f}", more)


@functools.cache
def _counted() -> dict[str, tuple[dict[int, int], bool]]:
    """The cycles of all programs with the schedule, and whether they are the same for all secrets."""
    design = catalogue.find(DESIGN)
    found: dict[str, tuple[dict[int, int], bool]] = {}
    for name, settings in PROGRAMS.items():
        if settings["schedule"] == SCHEDULE:
            priced = {nbits: costs(design.at(nbits, **_settings(name, nbits))) for nbits in WIDTHS}
            cycles = {nbits: cost.cycles for nbits, cost in priced.items()}
            found[name] = cycles, all(cost.promises.every_exponent for cost in priced.values())
    return found


def _settings(name: str, nbits: int) -> dict[str, Any]:
    """The settings of a program at a width."""
    chosen = PROGRAMS[name]
    return fitted(catalogue.find(DESIGN), nbits, chosen, bool(chosen.get("crt")))


def programs(entries: Iterable[Entry]) -> list[Program]:
    """All of the design, each with the silicon of the least area that is up to date."""
    counted = _counted()
    made = [
        entry
        for entry in entries
        if (entry.subject, entry.nbits, entry.interface) == (DESIGN, SILICON_NBITS, DEFAULT.name)
        and entry.operation == DECRYPT
        and entry.stage in SILICON
        and not entry.marks
        and entry.value(AREA) is not None
    ]

    def silicon(name: str) -> Entry | None:
        wanted = dict(Point(DESIGN, SILICON_NBITS, tuple(_settings(name, SILICON_NBITS).items())).settings)
        return min(
            (item for item in made if item.settings == wanted),
            key=lambda item: (item.stale, SILICON.index(item.stage), item.value(AREA)),
            default=None,
        )

    return [
        Program(name, cycles, counted[_without(name)][0], constant_time, silicon(name))
        for name, (cycles, constant_time) in counted.items()
    ]


def _without(name: str) -> str:
    """The program by which another's overhead is told."""
    bare = name.split(",")[0]
    return bare if bare != name else SCHEDULE


def _at(nbits: int) -> tuple[Column[Program], ...]:
    """The cycles at a width, and their overhead."""
    return (
        Column(
            f"{nbits:,} bits",
            lambda program: Cell(f"{program.cycles[nbits]:,}", program.cycles[nbits]),
            "cycles",
            True,
        ),
        Column("+", lambda program: program.overhead(nbits), "%", True),
    )


COLUMNS: tuple[Column[Program], ...] = (
    Column("Program", lambda program: program.name),
    *(column for nbits in WIDTHS for column in _at(nbits)),
    Column(f"{SILICON_NBITS} bits", lambda program: figure(program.silicon, CYCLES), "cycles", True),
    Column("Area", lambda program: figure(program.silicon, AREA), "µm²", True),
    Column("Energy without glitches", lambda program: figure(program.silicon, ENERGY), "nJ", True),
    Column("Stage", lambda program: program.silicon.setup if program.silicon is not None else "-"),
)


def table(found: Sequence[Program]) -> Table:
    """Each program on a line."""
    family = catalogue.find(DESIGN).family
    alike = (
        "All take the same time for all secrets. " if all(program.constant_time for program in found) else ""
    )
    lines: list[Line] = [line(COLUMNS, program, {"family": family}) for program in found]
    return Table(
        "protections",
        "What each protection costs",
        f"Private operations of {DESIGN} with a key of the machine's width and e = 65537. At "
        f"{WIDTHS[0]:,} to {WIDTHS[-1]:,} bits the private exponent is as long as the modulus; the key of "
        f"{SILICON_NBITS} bits has a shorter one. {alike}"
        "+: on the same without check and blinding, of crt alone on the fixed window. "
        f"Cycles at {WIDTHS[0]:,} to {WIDTHS[-1]:,} bits are counted by the words of the program (modexlab "
        "programs has other designs "
        f"as well), and no hardware ran; at {SILICON_NBITS} bits, with area and energy, they are measured "
        "by the flow, where a machine "
        "went through it. With crt, products follow the length of the modulus (fit=modulus), so that those "
        "modulo a prime take half; "
        f"at {SILICON_NBITS} bits what surrounds them takes more than that saves. Blinding lengthens "
        "exponents by 64 bits, and at "
        f"{SILICON_NBITS} bits by {SILICON_NBITS}, which makes three times as many digits modulo a prime.",
        COLUMNS,
        lines,
    )


def records(found: Sequence[Program]) -> list[dict[str, Any]]:
    """Of the chart: each program that was measured, in percent of the schedule alone."""
    base = next((program for program in found if program.name == SCHEDULE), None)
    if base is None or base.silicon is None:
        return []
    made: list[dict[str, Any]] = []
    family = catalogue.find(DESIGN).family
    for place, program in enumerate(found):
        chip = program.silicon
        about: dict[str, Any] = {"name": program.name, "order": place, "family": family}
        cycles = {"value": program.cycles[SHOWN_NBITS], "unit": "cycles"}
        made.append(
            {
                **about,
                "part": SHARES[0],
                **cycles,
                "percent": 100 * program.cycles[SHOWN_NBITS] / base.cycles[SHOWN_NBITS],
            }
        )
        for part, name, unit in zip(SHARES[1:], (AREA, ENERGY), ("µm²", "nJ"), strict=True):
            value, usual = (chip.value(name) if chip is not None else None), base.silicon.value(name)
            if chip is not None and value is not None and usual:
                where = {"m": chip.measurement, "row": chip.source(name)}
                share = {"part": part, "value": value, "unit": unit, "percent": 100 * value / usual}
                made.append({**about, **share, **where, **({"stale": True} if chip.stale else {})})
    return made
