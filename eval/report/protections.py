"""Costs of each protection: the programs of one design, with cycles at RSA widths and measured areas.

Cycles are counted by microinstruction, as in `modexlab show --costs`, without a store. Areas and energies
are those of the store, for machines with the same settings.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..designs import catalogue
from ..designs.interfaces import DEFAULT
from ..designs.protection import PROGRAMS, costs, fitted
from ..designs.workload_names import DECRYPT
from ..lab.point import Point
from .store_view import SILICON, Entries, Entry, Record
from .tables import MISSING, Cell, Column, Table, figures, number, table_of

DESIGN = "mont-keyed"
SCHEDULE = "fixed-window"
WIDTHS = (1024, 2048, 4096)
SILICON_NBITS = 32
AREA, CYCLES, ENERGY = "area_um2", "cycles", "energy_nj"
SHOWN_NBITS = 2048  # of the finding


class Program(NamedTuple):
    """A program with its cycles by width and the entry of its silicon."""

    name: str
    cycles: Mapping[int, int]
    bare: Mapping[int, int]  # cycles of the program that its overhead refers to
    constant_time: bool
    silicon: Entry | None

    def overhead(self, nbits: int) -> Cell:
        """The overhead in percent over the program without the protection."""
        if self.name == SCHEDULE:
            return MISSING
        more = 100 * (self.cycles[nbits] / self.bare[nbits] - 1)
        return Cell(f"{more:+.1f}", more)


@functools.cache
def _counted() -> dict[str, tuple[dict[int, int], bool]]:
    """The cycles of all programs with the schedule, and whether they are the same for all secrets."""
    design = catalogue.find(DESIGN)
    found = {}
    for name, settings in PROGRAMS.items():
        if settings["schedule"] == SCHEDULE:
            priced = {nbits: costs(design.at(nbits, **_settings(name, nbits))) for nbits in WIDTHS}
            cycles = {nbits: cost.cycles for nbits, cost in priced.items()}
            found[name] = cycles, all(cost.promises.every_exponent for cost in priced.values())
    return found


def _settings(name: str, nbits: int) -> Record:
    """The settings of a program at a width."""
    chosen = PROGRAMS[name]
    return fitted(catalogue.find(DESIGN), nbits, chosen, bool(chosen.get("crt")))


def programs(entries: Entries) -> list[Program]:
    """All programs of the design, each with its best silicon: fresh before stale, layout before netlist, then
    the smallest.
    """
    made = [
        entry
        for entry in entries
        if (entry.subject, entry.nbits, entry.interface) == (DESIGN, SILICON_NBITS, DEFAULT.name)
        and entry.operation == DECRYPT
        and entry.stage in SILICON
        and entry.value(AREA) is not None
    ]
    counted, found = _counted(), []
    for name, (cycles, constant_time) in counted.items():
        wanted = dict(Point(DESIGN, SILICON_NBITS, tuple(_settings(name, SILICON_NBITS).items())).settings)
        silicon = min(
            (item for item in made if item.settings == wanted),
            key=lambda item: (item.stale, SILICON.index(item.stage), item.value(AREA)),
            default=None,
        )
        # the same program without check and blinding; for CRT alone, the schedule
        bare = name.split(",")[0]
        found.append(
            Program(name, cycles, counted[bare if bare != name else SCHEDULE][0], constant_time, silicon)
        )
    return found


def _at(nbits: int) -> tuple[Column, ...]:
    """The cycles at a width, and their overhead."""
    return (
        number(f"{nbits:,} bits", lambda program: program.cycles[nbits], "cycles"),
        Column("+", lambda program: program.overhead(nbits), "%", True),
    )


COLUMNS = (
    Column("Program", "name"),
    *(column for nbits in WIDTHS for column in _at(nbits)),
    figures(f"{SILICON_NBITS} bits", CYCLES, "cycles", "silicon"),
    figures("Area", AREA, "µm²", "silicon"),
    figures("Energy without glitches", ENERGY, "nJ", "silicon"),
    Column("Stage", "silicon.setup"),
)


def table(found: Sequence[Program]) -> Table:
    """The table of protections: one program per line."""
    family = catalogue.find(DESIGN).family
    alike = (
        "All take the same time for all secrets. " if all(program.constant_time for program in found) else ""
    )
    return table_of(
        "protections",
        "What each protection costs",
        f"Private operations of {DESIGN} with a key of the machine's width and e = 65537. At {WIDTHS[0]:,} "
        f"to {WIDTHS[-1]:,} bits the private exponent is as long as the modulus; the key of {SILICON_NBITS} "
        f"bits has a shorter one. {alike}+: overhead over the same program without check and blinding; for "
        f"crt alone, over the fixed window. Cycles at {WIDTHS[0]:,} to {WIDTHS[-1]:,} bits are counted by "
        "microinstruction, without running hardware (`modexlab show --costs` covers other designs as "
        f"well). At {SILICON_NBITS} bits, cycles, area and energy are measured by the flow for the machines "
        "that went through it. With crt, the cycles of a product follow the length of the modulus "
        f"(fit=modulus), so products modulo a prime take half as long; at {SILICON_NBITS} bits the steps "
        "around them cost more than that saves. Blinding lengthens exponents by 64 bits, and at "
        f"{SILICON_NBITS} bits by {SILICON_NBITS}, which triples the number of digits modulo a prime.",
        COLUMNS,
        ((program, {"family": family}) for program in found),
    )
