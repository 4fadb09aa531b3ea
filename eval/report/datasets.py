"""Chart data: lists of flat records, shared by the page and the pictures.

Every record has the fields of the filters (family, nbits, operation, interface, stage) and its source: `m`, a
measurement of the store, with `row`, one of its figures, or `p`, a machine of a paper.
"""

import contextlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter

from ...fl.errors import BadInput
from ..designs.interfaces import DEFAULT, SYSTEM, UNIT
from ..designs.workload_names import DECRYPT, ENCRYPT
from ..designs.workload_names import EXPONENTS as LEAKAGE
from ..grouping import grouped
from ..json_values import attributes
from ..lab.comparison.compare import STALE
from ..lab.point import Point
from ..lab.stages import FORMULA
from .charts import BY_FORMULA, CONSTANT, DEPENDS, SHARES
from .metrics import AXES
from .palette import PARTS, is_family
from .published import Machine, sources
from .store_view import SILICON, Entries, Entry, Record, Records, if_stale, labels

Details = Mapping[int, Record]  # of measurements
Pieces = dict[str, list[float]]  # the areas of modules by their class

GROWING = ("area_um2", "time_ns", "energy_nj")  # metrics shown by width
PIECE = 0.10  # of the whole area: a smaller module is not split
MOST_CHIPS = 200  # more would make the page larger than 3 MB
OTHER, TOP = "other modules", "top level"
OF_ALL = ("label", "family", "nbits", "operation", "interface")
INDEX = re.compile(r"__\d+$")  # index of a component in a list


def basics(entry: Entry) -> Record:
    """Fields that all records of an entry share."""
    return {
        "m": entry.measurement,
        **attributes(entry, *OF_ALL, "stage", "setup"),
        "what": entry.behind,
        **if_stale(entry),
    }


def _of_machine(machine: Machine) -> Record:
    return {"p": machine.number, **attributes(machine, *OF_ALL), "setup": "published"}


def points(entries: Entries, machines: Iterable[Machine]) -> Records:
    """All measurements, and the published machines with at least two of the metrics of the axes.

    Runs of many random exponents are excluded because their totals are not the cost of an operation. `off`
    marks a stale point that is on no front because its group has fresh points.
    """
    own = [entry for entry in entries if entry.operation != LEAKAGE]
    fresh = {entry.group for entry in own if not entry.stale}
    label = labels(own, attrgetter("group"))
    records = [
        {
            **basics(entry),
            "label": label(entry),
            "kind": "twin" if entry.twin else "ours",
            "group": entry.group,
            "row": entry.first.id,
            **({"off": True} if entry.stale and entry.group in fresh else {}),
            **{name: entry.value(name) for name in (*entry.rows, *entry.derived)},
        }
        for entry in own
    ]
    for machine in machines:
        values = {name: value for name in AXES if (value := machine.value(name)) is not None}
        if machine.same_library and len(values) > 1:
            records.append({**_of_machine(machine), "kind": "published", "group": machine.group, **values})
    return records


def widths(entries: Entries, machines: Iterable[Machine]) -> Records:
    """Cycles of machines alone, with default parameters, for public and private operations.

    `line` marks the points of a line: those by formula, or all if the formula is known at one width.
    """
    records = [
        {
            **basics(entry),
            "cycles": cycles,
            "source": "formula" if entry.stage == FORMULA else "measured",
            "row": entry.source("cycles"),
        }
        for entry in entries
        if (cycles := entry.value("cycles")) is not None
        and not entry.settings
        and entry.interface == DEFAULT.name
        and entry.operation in (ENCRYPT, DECRYPT)
    ]
    records.sort(key=itemgetter("nbits"))
    for same in grouped(records, itemgetter("label", "operation")).values():
        closed = [record for record in same if record["source"] == "formula"]
        for record in closed if len(closed) > 1 else same:
            record["line"] = True
    for machine in machines:
        cycles = machine.value("cycles")
        if cycles is not None and machine.interface != SYSTEM and machine.nbits:
            # exponents of full length, like those of a decryption
            operation = DECRYPT if machine.operation in ("mean", "modexp") else machine.operation
            shown = {"operation": operation, "setup": f"published ({machine.operation})"}
            records.append({**_of_machine(machine), **shown, "cycles": cycles, "source": "published"})
    return records


def grown(entries: Entries) -> Records:
    """Machines with an area at two or more widths; no whole systems."""
    records = (
        {**basics(entry), "row": entry.first.id, **{name: entry.value(name) for name in GROWING}}
        for entry in entries
        if entry.stage in SILICON and entry.operation != LEAKAGE and entry.interface != SYSTEM
    )
    found = grouped(records, itemgetter("label", "interface", "stage", "operation"))
    several = (line for line in found.values() if len({record["nbits"] for record in line}) > 1)
    return sorted(itertools.chain.from_iterable(several), key=itemgetter("nbits"))


# ---- bars: one line per measurement


def chips(entries: Entries) -> list[Entry]:
    """The netlists and layouts that are shown individually: for each machine and stage the one with the least
    area x time, fresh ones preferred. There are at most MOST_CHIPS, default parameters first.
    """

    def cost(entry: Entry) -> tuple[bool, float]:
        return entry.stale, (entry.value("area_um2") or 0) * (entry.value("time_ns") or 0)

    able = (
        entry
        for entry in entries
        if entry.stage in SILICON
        and not entry.marks
        and None not in (entry.value("area_um2"), entry.value("time_ns"))
    )
    machines = grouped(able, attrgetter("label", "nbits", "interface", "stage")).values()
    best = (min(found, key=cost) for found in machines)
    return sorted(best, key=lambda entry: bool(entry.settings))[:MOST_CHIPS]


def lines(entries: Entries) -> dict[int, str]:
    """A unique name for each measurement that `chips` selects."""
    chosen = {entry.measurement: entry for entry in chips(entries)}
    many_widths = len({entry.nbits for entry in chosen.values()}) > 1
    label = labels([*chosen.values()], attrgetter("nbits", "interface", "stage"))
    names = {
        number: f"{label(entry)}, {entry.nbits} bits" if many_widths else label(entry)
        for number, entry in chosen.items()
    }
    for more in (
        lambda entry: entry.setup,
        lambda entry: "" if entry.interface in (DEFAULT.name, SYSTEM) else entry.behind,
        lambda entry: f"measurement {entry.measurement}",
    ):
        counts = Counter(names.values())
        for number, name in names.items():
            if counts[name] > 1 and (words := more(chosen[number])):
                names[number] = f"{name} ({words})"
    return {number: _dated(name, chosen[number]) for number, name in names.items()}


def _dated(name: str, entry: Entry) -> str:
    """The name of a line, marked if the measurement is stale."""
    return f"{name} ({STALE})" if entry.stale and STALE not in name else name


def areas(entries: Entries, names: Mapping[int, str], details: Details) -> tuple[Records, list[str]]:
    """Return the area of each measurement by classes of modules, and the classes, multipliers first."""
    pieces = {}
    chosen = {entry.measurement: entry for entry in entries if entry.measurement in names}
    for number, entry in chosen.items():
        if modules := details.get(number, {}).get("area_by_module"):
            pieces[number] = _pieces(modules, entry.family, entry.family if entry.interface == UNIT else TOP)
    families = {entry.family for entry in chosen.values()}
    wholes = {number: sum(map(sum, parts.values())) for number, parts in pieces.items()}
    shares: dict[str, float] = {}  # the largest share of each class in any measurement
    leading = set()  # the largest class of some measurement
    for number, parts in pieces.items():
        found = {name: sum(parts[name]) / wholes[number] for name in parts if not is_family(name, families)}
        leading |= {max(found, key=found.__getitem__)} if found else set()
        shares |= {name: max(share, shares.get(name, 0.0)) for name, share in found.items()}
    multipliers = sorted({name for parts in pieces.values() for name in parts} - shares.keys())
    others = sorted(shares, key=lambda name: (name not in leading, -shares[name]))[: len(PARTS)]
    classes = [*multipliers, *others, OTHER]
    records: Records = []
    for place, number in enumerate(sorted(pieces, key=lambda number: -wholes[number])):
        entry = chosen[number]
        together: Pieces = {}
        for name, part in pieces[number].items():
            together.setdefault(name if name in classes else OTHER, []).extend(part)
        records += (
            {
                **basics(entry),
                "operation": "",
                "name": names[number],
                "order": place,
                "row": entry.source("area_um2"),
                "part": name,
                "rank": classes.index(name),
                "units": len(part),
                "area_um2": sum(part),
                "share": sum(part) / wholes[number],
            }
            for name, part in together.items()
        )
    return records, classes


def _pieces(modules: Sequence[Record], family: str, top_level: str = TOP) -> Pieces:
    """Areas of modules by class. Large modules are split into their submodules, but multipliers are not."""
    by_path = {module["path"]: module for module in modules}
    top, whole = by_path[""]["module"], by_path[""]["area_um2"]
    children = grouped(filter(None, by_path), lambda path: path.rpartition(".")[0])
    found: Pieces = {}

    def take(path: str) -> None:
        module = by_path[path]
        # the name of a class may be followed by its parameters
        name = module["module"].removeprefix(f"{top}_").partition("__")[0] if path else top_level
        inside = children.get(path, [])
        area = module["area_um2"]
        if inside and name != family and (not path or area > PIECE * whole):
            for child in inside:
                take(child)
            area -= sum(by_path[child]["area_um2"] for child in inside)
        if area > 0:
            found.setdefault(name, []).append(area)

    take("")
    return found


def paths(entries: Entries, names: Mapping[int, str], details: Details) -> Records:
    """The longest path and the clock of each measurement."""
    records = []
    for number, entry in {entry.measurement: entry for entry in entries}.items():
        clock, slack = entry.value("clock_ns"), entry.value("wns_ns")
        if number in names and clock is not None and slack is not None:
            path = details.get(number, {}).get("worst_path") or {}
            where = {"start": path.get("start"), "end": path.get("end"), "through": through(path)}
            times = {"path_ns": clock - slack, "clock_ns": clock, "row": entry.source("wns_ns")}
            records.append({**basics(entry), "operation": "", "name": names[number], **times, **where})
    return _ordered(records, "path_ns")


def through(path: Record) -> str:
    """The outermost modules on a path; the elements of a list are merged."""
    modules = [module for module in path.get("modules", []) if module]
    outer = [item for item in modules if not any(item.startswith(f"{other}.") for other in modules)]
    rows = grouped(outer, lambda item: INDEX.sub("", item))
    return ", ".join(f"{name}__*" if len(set(found)) > 1 else found[0] for name, found in rows.items())


def energies(entries: Entries, names: Mapping[int, str], machines: Iterable[Machine]) -> Records:
    """The bars of the energy of each operation, without and with glitches, and the published energies."""
    records = []
    papers = {
        (machine.subject, machine.nbits, machine.operation): machine
        for machine in machines
        if "energy_nj" in machine.figures
    }
    for entry in entries:
        energy = entry.value("energy_nj")
        if entry.measurement not in names or energy is None:
            continue
        name = f"{names[entry.measurement]}, {entry.operation}"  # bars with the same name would be stacked
        whole = max(energy, entry.value("energy_with_glitches_nj") or 0)
        one = {**basics(entry), "name": name, "row": entry.source("energy_nj"), "whole": whole}
        records.append({**one, "part": SHARES[0], "rank": 0, "energy_nj": energy})
        if whole > energy:
            records.append({**one, "part": SHARES[1], "rank": 1, "energy_nj": whole - energy})
        if paper := papers.get((entry.subject, entry.nbits, entry.operation)):
            published = {"part": "published", "rank": 9, "energy_nj": paper.value("energy_nj")}
            records.append({**one, **published, "row": sources(paper.figures.values()), "p": paper.number})
    return _ordered(records, "whole")


def leakage(entries: Entries, details: Details) -> Records:
    """The cycles of every exponentiation in workloads of many exponents of one length."""
    records: Records = []

    def worse(entry: Entry) -> tuple[bool, bool]:
        return entry.stage == FORMULA, entry.stale

    def exponents(entry: Entry) -> Records:
        """The exponentiations of an entry."""
        return details.get(entry.measurement, {}).get("exponentiations") or []

    leaking = (entry for entry in entries if entry.operation == LEAKAGE and exponents(entry))
    designs = grouped(leaking, lambda entry: f"{entry.label}, {entry.nbits} bits")
    for name, found in designs.items():
        # simulations are preferred to formulas, then fresh entries to stale ones, then later ones
        entry = min(reversed(found), key=worse)
        runs = exponents(entry)
        counts = [run["cycles"] for run in runs]
        mean = sum(counts) / len(counts)
        verdict = CONSTANT if len(set(counts)) == 1 else DEPENDS
        promised = ""  # empty for software and designs of another version
        with contextlib.suppress(BadInput):
            point = Point.from_json(entry.point)
            promised = "" if point.design is None else point.machine.promises.word
        one = {
            **basics(entry),
            "operation": "",
            "name": _dated(name, entry),
            "verdict": verdict,
            "promised": promised,
            "kind": BY_FORMULA if entry.stage == FORMULA else verdict,
            "spread": (max(counts) - min(counts)) / mean,
            "row": entry.source("cycles"),
        }
        records += (
            {**one, "cycles": cycles, "relative": cycles / mean, "weight": int(run["exp"], 16).bit_count()}
            for cycles, run in zip(counts, runs, strict=True)
        )
    return _ordered(records, "spread")


def _ordered(records: Records, name: str) -> Records:
    """The records sorted by a field, each with the position of its line in `order`."""
    ordered = sorted(records, key=itemgetter(name))
    return [{**record, "order": place} for place, record in enumerate(ordered)]
