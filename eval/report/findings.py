"""One-sentence findings for the sections of the report, computed from their tables and charts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from ..designs.interfaces import UNIT
from ..grouping import grouped
from ..lab.verdicts import FAULTS, LEAKAGE
from . import protections
from .charts import DEPENDS, SHARES
from .datasets import GROWING
from .metrics import METRICS, listed, shown
from .palette import is_family
from .store_view import Record, Records
from .tables import OPERATIONS, Table

if TYPE_CHECKING:
    from .sections import Content

EQUAL = 0.005  # a ratio to a published figure this close to 1 counts as equal


def _ends(records: Iterable[Record], key: Callable[[Record], Any]) -> tuple[Record, Record]:
    """The records with the least and the greatest value of a figure."""
    found = sorted(records, key=key)
    return found[0], found[-1]


def _extremes(records: Iterable[Record], name: str, text: Callable[[Any], str]) -> str:
    """The least and the greatest value of a figure, each with the name of its record."""
    return " to ".join(f"{text(end[name])} ({end['name']})" for end in _ends(records, itemgetter(name)))


def column(table: Table, head: str) -> list[Any]:
    """The cells of the column with this head."""
    at = [item.head for item in table.columns].index(head)
    return [line.cells[at] for line in table.lines]


def _best(content: "Content") -> str:
    """The design that wins the most comparisons."""
    if (table := content.tables.get("best")) is None:
        return ""
    wins = Counter(cell.text for cell in column(table, "Design"))
    most = max(wins.values())
    names = [name for name, count in wins.items() if count == most]
    verb = "each win" if len(names) > 1 else "wins"
    return f"{listed(names)} {verb} {most} of {len(table.lines)} comparisons, more than any other design."


def _fronts(content: "Content") -> str:
    """The front of area and time of the largest group, preferably in the view that the page opens with."""
    groups = grouped(
        (
            record
            for record in content.data["points"]
            if record["kind"] != "published" and record.get("area_um2") and record.get("time_ns")
        ),
        itemgetter("group"),
    )
    if not groups:
        return ""
    view = itemgetter("nbits", "operation", "interface")
    group, points = max(groups.items(), key=lambda item: (view(item[1][0]) == content.opening, len(item[1])))
    points.sort(key=itemgetter("time_ns", "area_um2"))
    lowest, front = math.inf, []
    for point in points:
        if point["area_um2"] < lowest:
            lowest = point["area_um2"]
            front.append(point["label"])
    names = ", ".join(dict.fromkeys(front))
    return f"{group}: {len(front)} of {len(points)} points are Pareto-optimal in area and time: {names}."


def _cells(table: Table, head: str) -> Records:
    """The values of a column, each with the name of its line."""
    cells = zip(table.lines, column(table, head), strict=True)
    return [
        {"name": line.cells[0].text, "value": cell.value} for line, cell in cells if cell.value is not None
    ]


def _designs(content: "Content") -> str:
    table = content.tables["designs"]
    text = f"{shown(len(table.lines))} designs and settings have cycle counts"
    if not (areas := _cells(table, "Area")):
        return f"{text}, but none has an area."
    return f"{text}; their areas range from {_extremes(areas, 'value', _area_text)}."


def _area_text(value: float) -> str:
    return f"{shown(value)} µm²"


def _others(content: "Content") -> str:
    names = dict.fromkeys(cell.text for cell in column(content.tables["others"], "Operation"))
    return f"{shown(len(content.tables['others'].lines))} figures of other operations: {', '.join(names)}."


def _cores(content: "Content") -> str:
    """The best and worst core by area x time, at the width with the most cores."""
    found = [record for record in content.data["cores"] if record["kind"] == "core"]
    counts = Counter(record["nbits"] for record in found)
    nbits = max(counts, key=lambda width: (counts[width], width))
    least, most = _ends([one for one in found if one["nbits"] == nbits], itemgetter("area_time"))
    return (
        f"At {nbits:,} bits {least['label']} has the lowest area × time per product, "
        f"{shown(least['area_time'])} mm² ns, and {most['label']} the highest, "
        f"{shown(most['area_time'])} mm² ns."
    )


def _comparison(content: "Content") -> str:
    """Our figures against the published figures that compare directly."""
    ratios = [record["ratio"] for record in content.data["ratios"] if record.get("ratio")]
    less, more = (
        sum(map(better, ratios)) for better in (lambda one: one < 1 - EQUAL, lambda one: one > 1 + EQUAL)
    )
    return (
        f"Of {shown(len(ratios))} comparable published figures, ours is lower for {less}, "
        f"equal for {len(ratios) - less - more} and higher for {more}."
    )


def _widths(content: "Content") -> str:
    """The factors by which cycles, area, time and energy grow when the width doubles."""
    parts = []
    for metric, name in (("cycles", "widths"), *((name, "grown") for name in GROWING)):
        private = (
            record
            for record in content.data[name]
            if record.get(metric) and record["operation"] == OPERATIONS[1] and "m" in record
        )
        lines = grouped(private, itemgetter("label", "stage", "interface")).values()
        ends = (_ends(line, itemgetter("nbits", metric)) for line in lines)
        factors = [
            (last[metric] / first[metric]) ** (1 / math.log2(last["nbits"] / first["nbits"]))
            for first, last in ends
            if last["nbits"] > first["nbits"]
        ]
        if factors:
            between = " to ".join(dict.fromkeys(f"{value:.1f}" for value in (min(factors), max(factors))))
            parts.append(f"{METRICS[metric].title.lower()} by {between}")
    if not parts:
        return ""
    return f"For a private operation, doubling the width multiplies {listed(parts)}."


def _interfaces(content: "Content") -> str:
    """The cycles and the area that each interface adds to the machine alone."""
    parts = []
    for what, of in (("cycles", attrgetter("time")), ("areas", attrgetter("area"))):
        behind = (step for step in content.interfaces if step.first.interface != UNIT)
        added = grouped((step for step in behind if of(step).value is not None), attrgetter("first.behind"))
        costs = [f"{_range([of(step).value for step in same])} {name}" for name, same in added.items()]
        parts += [f"{what} change by {listed(costs)}"] if costs else []
    return f"Compared with the machine alone, {'; '.join(parts)}." if parts else ""


def _range(values: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(f"{value:+.0%}" for value in (min(values), max(values))))


def _area(content: "Content") -> str:
    whole: Counter[str] = Counter()
    multipliers: Counter[str] = Counter()
    for record in content.data["areas"]:
        whole[record["name"]] += record["share"]
        if is_family(record["part"], content.families):
            multipliers[record["name"]] += record["share"]
    shares = [{"name": name, "share": share} for name, share in multipliers.items()]
    if not shares:
        return "No machine here has its multiplier in a separate module."
    taken = _extremes(shares, "share", "{:.0%}".format)
    return f"Multipliers take {taken} of the area of {len(shares)} of {len(whole)} machines."


def _critical(content: "Content") -> str:
    return f"Longest paths range from {_extremes(content.paths, 'path_ns', '{:.2f} ns'.format)}."


def _energy(content: "Content") -> str:
    """The energy that glitches add to an operation."""
    bars: dict[str, dict[str, float]] = {}
    for record in content.data["energies"]:
        bars.setdefault(record["name"], {})[record["part"]] = record["energy_nj"]
    shares = [
        {"name": name, "more": parts[SHARES[1]] / parts[SHARES[0]]}
        for name, parts in bars.items()
        if SHARES[1] in parts
    ]
    if not shares:
        return ""
    added = _extremes(shares, "more", "{:.0%}".format)
    return f"Glitches add {added} to the glitch-free energy of an operation."


def _leakage(content: "Content") -> str:
    """The attacks that succeed, and the designs whose cycles depend on the exponent."""
    words = {LEAKAGE: "leakage tests find a leak", FAULTS: "fault campaigns release wrong results"}
    parts = []
    for kind, found in grouped(content.attacked, attrgetter("kind")).items():
        succeeded = sum(not item.verdict.startswith("no ") for item in found)
        parts.append(f"{succeeded} of {len(found)} {words[kind]}")
    verdicts = {record["name"]: record["verdict"] for record in content.data["leakage"]}
    if verdicts:
        leaking = sum(verdict == DEPENDS for verdict in verdicts.values())
        parts.append(f"the cycles of {leaking} of {len(verdicts)} designs depend on the exponent")
    return f"{listed(parts)[:1].upper()}{listed(parts)[1:]}." if parts else ""


def _protections(content: "Content") -> str:
    """Cycles and area of the protected programs, relative to the fixed window alone."""
    nbits = protections.SHOWN_NBITS
    base, *others = content.programs
    costs = [f"{program.cycles[nbits] / base.cycles[nbits] - 1:+.0%} ({program.name})" for program in others]
    text = f"At {nbits:,} bits, compared with the fixed window alone, cycles change by {listed(costs)}"
    chips = [program.silicon for program in content.programs if program.silicon is not None]
    areas = [chip.value(protections.AREA) or 0 for chip in chips]
    if len(areas) > 1:
        most = f"{shown(max(areas) / min(areas))} times the area of the smallest"
        text += f"; at {protections.SILICON_NBITS} bits the largest machine has {most}"
    return f"{text}."


def _proofs(content: "Content") -> str:
    verdicts = Counter(verdict.verdict for proven in content.proven for verdict in proven.verdicts)
    counts = [f"{shown(count)} are {name}" for name, count in verdicts.most_common()]
    return f"Of {shown(verdicts.total())} checks of {len(content.proven)} designs, {listed(counts)}."


def _layouts(content: "Content") -> str:
    if "layouts" not in content.tables:
        return ""
    areas = _cells(content.tables["layouts"], "Cells")
    return f"Cell areas of the layouts range from {_extremes(areas, 'value', _area_text)}."


def _marked(content: "Content") -> str:
    counts = {
        words: len(content.tables[name].lines)
        for name, words in (("marked", "Marked as not comparable"), ("failed", "could not be measured"))
        if name in content.tables
    }
    text = "; ".join(f"{words}: {count}" for words, count in counts.items())
    return f"{text[:1].upper()}{text[1:]}."


FINDINGS: "dict[str, Callable[[Content], str]]" = {  # by section; the first section has the lead of the page
    "best": _best,
    "fronts": _fronts,
    "designs": _designs,
    "others": _others,
    "cores": _cores,
    "comparison": _comparison,
    "widths": _widths,
    "interfaces": _interfaces,
    "area": _area,
    "critical": _critical,
    "energy": _energy,
    "leakage": _leakage,
    "protections": _protections,
    "proofs": _proofs,
    "layouts": _layouts,
    "marked": _marked,
}


def finding(content: "Content", section: str) -> str:
    """The finding of a section; empty if it has none."""
    return FINDINGS[section](content) if section in FINDINGS else ""
