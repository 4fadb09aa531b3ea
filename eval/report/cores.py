"""Report sections on products: the cores of `modexlab compare cores`, each at its clock."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from ...fl.cost import counting_floor
from ..designs.interfaces import DEFAULT, UNIT
from ..json_values import attributes
from ..lab.comparison.cores import ALL, MM2, MULTIPLIER, PUBLISHED, Core, Cores, Selection, areas, cores
from ..lab.stages import title
from ..lab.store.snapshot import Snapshot
from .store_view import Record, Records, if_stale
from .tables import MISSING, Cell, Column, Table, own, table_of

ROOM = 1.5  # factor by which a floor line extends beyond the points of its width, on both sides


def found(
    results: Snapshot, asked: Sequence[str] = (), kit: str = "", selection: Selection = ALL
) -> list[Core]:
    """The cores at every width that was measured with this kit, and published ones."""
    widths = sorted({row.nbits for row in areas(results, (UNIT, DEFAULT.name), kit)})
    return [
        core
        for core in (cores(results, widths, kit=kit, selection=selection) if widths else ())
        if core.kind == PUBLISHED or not asked or core.design in asked
    ]


def measured(found: Cores) -> list[Core]:
    """Return our unmarked cores with an area; none unless a multiplier alone is among them."""
    own = [core for core in found if core.measured and not core.marks]
    return own if any(core.part == MULTIPLIER for core in own) else []


def figures_of(head: str, name: str, unit: str = "") -> Column:
    def cell(core: Core) -> Cell:
        value = getattr(core, name)
        if value is None or core.measurement is None:
            return MISSING
        found = own(value, core.row, core.measurement, core.stale)
        return found._replace(unverified=core.is_unverified(name))

    return Column(head, cell, unit, True)


COLUMNS = (
    Column("Core", "name"),
    Column("Of", "kind"),
    figures_of("Latency", "latency_cycles", "cycles"),
    figures_of("Interval", "product_cycles", "cycles"),
    figures_of("Clock", "period_ns", "ns"),
    figures_of("Interval", "product_ns", "ns"),
    figures_of("Area", "area_um2", "µm²"),
    figures_of("Area × time", "area_time", "mm² ns"),
    figures_of("Of the floor", "floor_ratio"),
    figures_of("Energy without glitches", "energy_nj", "nJ"),
    Column("Stage", lambda core: title(core.stage)),
)


def table(found: Cores) -> Table:
    """The table of cores, grouped by width and limits on the modulus."""
    return table_of(
        "cores",
        "What a product costs",
        "Multipliers alone, and machines without a separate multiplier, each at the clock shown. Cores "
        "under one heading have the same width and the same limits on the modulus. Latency: from request "
        "to answer; interval: from one product to the next. The floor is 2n² bit products, each of which "
        "occupies half a selecting gate and half a full adder of the library for one clock. `modexlab "
        "compare cores` adds private operations and published figures.",
        COLUMNS,
        (
            (
                product,
                attributes(product, "family", "nbits"),
                f"{product.nbits:,} bits {product.limits}".strip(),
            )
            for product in _of_products(found)
        ),
    )


def _of_products(found: Cores) -> list[Core]:
    return sorted(
        (core for core in found if core.area_time is not None),
        key=lambda core: (core.nbits, core.limits, core.part != MULTIPLIER, core.product_ns),
    )


def records(found: Cores) -> Records:
    """Chart data: the cores, and a floor line for each width."""
    made = _of_products(found)
    drawn = [
        {**of_core(core), "kind": "core", **attributes(core, "product_ns", "area_time", "floor_ratio")}
        for core in made
    ]
    # a line of constant area x time for each width
    for nbits, same in groupby(made, attrgetter("nbits")):
        if points := [core for core in same if core.cell_um2 and core.period_ns]:
            clock = min(point.period_ns or 0 for point in points)
            least = counting_floor(nbits, points[0].cell_um2 or 0, clock)
            times = widened([point.product_ns for point in points if point.product_ns], ROOM)
            ends = [(time, least / time) for time in times]
            more = {"nbits": nbits, "area_time": MM2 * least}
            drawn += segment("floor", f"floor of {nbits:,} bits", "product_ns", ends, **more)
    return drawn


def widened(values: Sequence[float], factor: float) -> tuple[float, float]:
    """The range of these values, wider by a factor on both sides."""
    return min(values) / factor, max(values) * factor


def segment(kind: str, name: str, axis: str, ends: Sequence[tuple[float, float]], **more: float) -> Records:
    """Both ends of a line in a chart of area against time."""
    line = {"kind": kind, "name": name, **more}
    return [{**line, axis: time, "area_um2": area, "last": bool(at)} for at, (time, area) in enumerate(ends)]


def of_core(core: Core) -> Record:
    """The fields that all records of a core share."""
    own = {"m": core.measurement, "row": core.row, "setup": title(core.stage)}
    return {
        "label": core.name,
        "name": f"{core.name}, {core.nbits:,}",
        **attributes(core, "kind", "family", "nbits", "area_um2"),
        **(own if core.measured else attributes(core, "source", "url", "commit", "obtained")),
        **if_stale(core),
    }
