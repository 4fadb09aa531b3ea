"""`modexlab compare cores --kit all`: the same cores with every cell library, in absolute figures and in
NAND2 and FO4 of each library.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from operator import attrgetter

from ....fl.errors import BadInput
from ...grouping import grouped
from ...json_values import attributes
from ...lab.comparison import league as lab
from ...lab.comparison.cores import Cores
from ...lab.comparison.league import Entry
from ...lab.point import Point
from ...report.metrics import shown
from ..arguments import refuse
from ..render import Block, Columns, Json, Table, warn
from .compare_cores import OWN_MARK, STALE_MARK, doubts, figure, marked_name, wrapped

ALL = "all"
ABOUT = (
    "The same Verilog, operands and tests with each kit, after synthesis with supposed wires. The clock is "
    "the shortest that the slow corner meets (typical, for a kit without one); at another corner it changes "
    "as the longest path of the netlist does. kGE: thousands of NAND2 of the kit. FO4: the delay of its "
    "inverter into four like it, at that corner. #: place by area x time. tau: Kendall's, of the ranking to "
    "that with {base}. x base: area x time in NAND2 x FO4, by that of the same core with {base}, least and "
    "most."
)
COLUMNS: Columns = {
    "design": lambda entry: marked_name(entry.core),
    "kit": "kit",
    "corner": "corner",
    "um2": "core.area_um2:,.5g",
    "clock ns": "period_ns:.3f",
    "cycles": "core.product_cycles",
    "product ns": figure("product_ns"),
    "mm2 ns": figure("area_time"),
    "kGE": lambda entry: shown(entry.gates and entry.gates / 1000),
    "clock FO4": figure("period_fo4"),
    "product FO4": figure("product_fo4"),
    "kGE FO4": figure("gate_time"),
    "#": "place",
    "tests": lambda entry: f"{entry.core.tests_passed:,}/{entry.core.tests_failed:,}",
}
HELD: Columns = {
    "bits": "nbits",
    "kit": "kit",
    "corner": "corner",
    "cores": "cores",
    "tau, area x time": "tau:+.2f",
    "tau, area": "tau_area:+.2f",
    "tau, time": "tau_time:+.2f",
    "x base": lambda item: item.spread and f"{item.spread[0]:.2f} to {item.spread[1]:.2f}",
}


def execute(args: Namespace, answer: Callable[..., int]) -> int:
    """Print the league; --measure measures missing points first."""
    refuse(
        args,
        ("manifests", "no_search", "full", "pick"),
        f" with --kit {ALL}: the league is of designs at searched clocks; drop it",
    )
    if args.record and (missing := lab.record_units()):
        warn(f"no units recorded for {', '.join(missing)}: see `modexlab env kits`")
    names = args.papers[1:]
    return answer(
        args,
        lambda ledger: lab.cores(ledger, args.nbits or (), names),
        _to_measure,
        as_json,
        lambda found: _blocks(found, args.markdown),
    )


def _to_measure(found: Cores) -> list[Point]:
    """Missing and stale points whose kit is installed."""
    from ....flow.kit import kit

    wanted = [core.point for core in found if core.point is not None and (not core.measured or core.stale)]
    lost = {}
    for name in dict.fromkeys(point.kit for point in wanted if point.kit):
        try:
            kit.find(kit.named(name))
        except BadInput as error:
            lost[name] = error
            warn(str(error))
    return [point for point in wanted if point.kit not in lost]


def _blocks(found: Cores, markdown: bool) -> Iterator[Block]:
    entries = lab.entries(found)
    for nbits, own in grouped(entries, attrgetter("core.nbits")).items():
        yield Table.of(own, COLUMNS, f"{nbits:,} bits: a product, with every kit")
    held = lab.held_to_base(entries)
    yield Table.of(held, HELD, f"Rankings by kit, held to {lab.base()}")
    for text in filter(None, (lab.answer(held), ABOUT.format(base=lab.base()), *_ending(found))):
        yield wrapped(text, markdown)


def _ending(found: Cores) -> Iterator[str]:
    measured = [core for core in found if core.measured]
    for core in measured:
        if core.marks:
            what = f"{core.name}, {core.nbits:,} bits, {core.kit or lab.base()}"
            yield f"Left out: {what}: {'; '.join(core.marks)}."
    if any(core.stale for core in measured):
        yield f"{STALE_MARK}, stale: measured with other sources or tools than the present ones."
    yield from doubts(reason for core in measured for reason in (core.unverified, core.unverified_energy))
    if any(core.reference for core in measured):
        yield f"{OWN_MARK}, measured by you; the others are the reference results of modexlab."
    if missing := len(found) - len(measured):
        yield (
            f"Not measured: {missing} points; --measure measures those whose kit is installed (`modexlab env "
            "kits`)."
        )


# ---- JSON


def as_json(found: Cores) -> Json:
    """Entries, agreements and the answer, as JSON."""
    entries = lab.entries(found)
    held = lab.held_to_base(entries)
    return {
        "cores": [_entry(entry) for entry in entries],
        "agreements": [item._asdict() for item in held],
        "answer": lab.answer(held),
    }


def _entry(entry: Entry) -> Json:
    core = entry.core
    return {
        **attributes(
            entry,
            "kit",
            "corner",
            "period_ns",
            "product_ns",
            "area_time",
            "gates",
            "period_fo4",
            "product_fo4",
            "gate_time",
            "place",
        ),
        "units": {"nand2_um2": entry.units.nand2_um2, "fo4_ns": entry.units.fo4_ns.get(entry.corner)},
        **attributes(
            core,
            "design",
            "nbits",
            "settings",
            "area_um2",
            "product_cycles",
            "technology",
            "tests_passed",
            "tests_failed",
            "stale",
            "reference",
            "row",
            "command",
        ),
    }
