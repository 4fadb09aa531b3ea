"""The data of the charts: lists of flat records, the same for the page and for pictures.

Every record has what the filters ask for (family, nbits, operation, interface, stage), and where it comes
from: `m`, a measurement of the ledger, with `row`, a figure of it, or `p`, a machine of a paper.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...fl.errors import BadInput
from ..designs.interfaces import DEFAULT, SYSTEM, UNIT
from ..designs.workload_names import DECRYPT, ENCRYPT
from ..designs.workload_names import EXPONENTS as LEAKAGE
from ..json_values import attributes
from ..lab.comparison.compare import STALE
from ..lab.point import Point
from ..lab.stages import FORMULA
from .charts import BY_FORMULA, CONSTANT, DEPENDS, SHARES
from .ledger_view import INTERFACES, SILICON, Entry
from .metrics import AXES
from .palette import PARTS, is_family
from .published import Machine, sources

Record = dict[str, Any]
Details = Mapping[int, Mapping[str, Any]]  # of measurements
Pieces = dict[str, list[float]]  # area and count by class of modules

GROWING = ("area_um2", "time_ns", "energy_nj")  # of what is shown by width
PIECE = 0.10  # of the whole area: a smaller module is not taken apart
MOST_CHIPS = 40
OTHER, TOP = "other modules", "top level"
INDEX = re.compile(r"__\d+$")  # of one of several components in a list


def basics(entry: Entry) -> Record:
    """What all records of an entry have."""
    return {
        "m": entry.measurement,
        **attributes(entry, "label", "family", "nbits", "operation", "interface"),
        "what": INTERFACES.get(entry.interface, entry.interface),
        **attributes(entry, "stage", "setup"),
        **({"stale": True} if entry.stale else {}),
    }


def _of_machine(machine: Machine) -> Record:
    names = ("label", "family", "nbits", "operation", "interface")
    return {"p": machine.number, **attributes(machine, *names), "setup": "published"}


def points(entries: Iterable[Entry], machines: Iterable[Machine]) -> list[Record]:
    """Everything that was measured, and the papers' machines that have two of the metrics that go on axes.

    Of random exponents there are only totals of many runs, which are no cost of anything. `off`: on no front,
    as it is out of date and others are not.
    """
    records = []
    own = [entry for entry in entries if not entry.marks and entry.operation != LEAKAGE]
    fresh = {entry.group for entry in own if not entry.stale}
    for entry in own:
        records.append(
            {
                **basics(entry),
                "kind": "twin" if entry.twin else "ours",
                "group": entry.group,
                "row": entry.first.id,
                **({"off": True} if entry.stale and entry.group in fresh else {}),
                **{name: entry.value(name) for name in (*entry.rows, *entry.derived)},
            }
        )
    for machine in machines:
        values = {name: machine.value(name) for name in AXES if machine.value(name) is not None}
        if machine.same_library and len(values) > 1:
            more = {"kind": "published", "group": machine.group}
            records.append({**_of_machine(machine), **more, **values})
    return records


def widths(entries: Iterable[Entry], machines: Iterable[Machine]) -> list[Record]:
    """Cycles of machines with the parameters that they have by default, behind nothing."""
    records: list[Record] = []
    for entry in entries:
        cycles = entry.value("cycles")
        if cycles is None or entry.marks or entry.settings or entry.interface != DEFAULT.name:
            continue
        if entry.operation not in (ENCRYPT, DECRYPT):  # mixes and halves are other work at the same width
            continue
        source = "formula" if entry.stage == "formula" else "measured"
        records.append({**basics(entry), "cycles": cycles, "source": source, "row": entry.source("cycles")})
    records.sort(key=lambda record: record["nbits"])
    for machine in machines:
        cycles = machine.value("cycles")
        if cycles is not None and machine.interface != SYSTEM and machine.nbits:
            # of exponents of full length, as those of a decryption
            operation = "decrypt" if machine.operation in ("mean", "modexp") else machine.operation
            shown = {"operation": operation, "setup": f"published ({machine.operation})"}
            records.append({**_of_machine(machine), **shown, "cycles": cycles, "source": "published"})
    return records


def grown(entries: Iterable[Entry]) -> list[Record]:
    """What is on silicon at two widths or more, with what grows; as points() has it, without whole systems."""
    records: defaultdict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for entry in entries:
        if (
            entry.stage in SILICON
            and not entry.marks
            and entry.operation != LEAKAGE
            and entry.interface != SYSTEM
        ):
            values = {name: entry.value(name) for name in GROWING}
            line = (entry.label, entry.interface, entry.stage, entry.operation)
            records[line].append({**basics(entry), "row": entry.first.id, **values})
    several = (row for row in records.values() if len({record["nbits"] for record in row}) > 1)
    return sorted((record for row in several for record in row), key=lambda record: record["nbits"])


# ---- bars: a line for each measurement


def chips(entries: Iterable[Entry]) -> list[int]:
    """The measurements of silicon that are shown one by one: of the runs of a machine (a sweep has many) the
    one with the least area x time, of those that are up to date if any is; not more than a page holds, those
    with the parameters of the catalogue first.
    """
    best: dict[tuple[Any, ...], Entry] = {}
    for entry in entries:
        if entry.stage in SILICON and not entry.marks and _cost(entry) is not None:
            machine = (entry.label, entry.nbits, entry.interface, entry.stage)
            if machine not in best or _cost(entry) < _cost(best[machine]):
                best[machine] = entry
    ordered = sorted(best.values(), key=lambda entry: bool(entry.settings))
    return [entry.measurement for entry in ordered[:MOST_CHIPS]]


def _cost(entry: Entry) -> Any:
    area, time = entry.value("area_um2"), entry.value("time_ns")
    return None if area is None or time is None else (entry.stale, area * time)


def lines(entries: Sequence[Entry]) -> dict[int, str]:
    """A name for each measurement that is shown, with as much as tells it from the others."""
    shown = set(chips(entries))
    chosen = {entry.measurement: entry for entry in entries if entry.measurement in shown}
    many_widths = len({entry.nbits for entry in chosen.values()}) > 1
    names = {
        number: f"{entry.label}, {entry.nbits} bits" if many_widths else entry.label
        for number, entry in chosen.items()
    }
    for more in (
        lambda entry: entry.setup,
        lambda entry: "" if entry.interface in (DEFAULT.name, SYSTEM) else INTERFACES[entry.interface],
        lambda entry: f"measurement {entry.measurement}",
    ):
        double = {name for name, count in Counter(names.values()).items() if count > 1}
        for number, name in names.items():
            if name in double and more(chosen[number]):
                names[number] = f"{name} ({more(chosen[number])})"
    return {number: _dated(name, chosen[number]) for number, name in names.items()}


def _dated(name: str, entry: Entry) -> str:
    """A name for a line, which says if it is out of date."""
    return f"{name} ({STALE})" if entry.stale and STALE not in name else name


def areas(entries: Sequence[Entry], details: Details) -> tuple[list[Record], list[str]]:
    """Return the area of each measurement by classes of modules, and the classes, multipliers first."""
    names = lines(entries)
    pieces: dict[int, Pieces] = {}
    chosen = {entry.measurement: entry for entry in entries if entry.measurement in names}
    for number, entry in chosen.items():
        modules = details.get(number, {}).get("area_by_module") or []
        if modules:
            pieces[number] = _pieces(modules, entry.family, entry.family if entry.interface == UNIT else TOP)
    families = {entry.family for entry in chosen.values()}
    shares: dict[str, float] = {}  # of each class where it is largest
    leading: set[str] = set()  # the largest class of some measurement
    for parts in pieces.values():
        whole = _area(parts)
        found = {name: area / whole for name, (area, _) in parts.items() if not is_family(name, families)}
        leading |= {max(found, key=found.__getitem__)} if found else set()
        shares |= {name: max(share, shares.get(name, 0.0)) for name, share in found.items()}
    multipliers = sorted({name for parts in pieces.values() for name in parts} - shares.keys())
    others = sorted(shares, key=lambda name: (name not in leading, -shares[name]))[: len(PARTS)]
    classes = [*multipliers, *others]
    records: list[Record] = []
    for place, number in enumerate(sorted(pieces, key=lambda number: -_area(pieces[number]))):
        whole, entry = _area(pieces[number]), chosen[number]
        together: Pieces = {}
        for name, (area, count) in pieces[number].items():
            _add(together, name if name in classes else OTHER, area, count)
        for name, (area, count) in together.items():
            rank = classes.index(name) if name in classes else len(classes)
            share = {"part": name, "rank": rank, "units": count, "area_um2": area, "share": area / whole}
            where = {"name": names[number], "order": place, "row": entry.source("area_um2")}
            records.append({**basics(entry), "operation": "", **where, **share})
    return records, [*classes, OTHER]


def _area(pieces: Pieces) -> float:
    return sum(area for area, _ in pieces.values())


def _add(pieces: Pieces, name: str, area: float, count: float = 1) -> None:
    known = pieces.setdefault(name, [0.0, 0])
    known[0] += area
    known[1] += count


def _pieces(modules: Sequence[Mapping[str, Any]], family: str, top_level: str = TOP) -> Pieces:
    """Area and count by class of modules. Large modules are taken apart, but multipliers are not."""
    by_path = {module["path"]: module for module in modules}
    top, whole = by_path[""]["module"], by_path[""]["area_um2"]
    children: dict[str, list[str]] = {}
    for path in by_path:
        if path:
            children.setdefault(path.rpartition(".")[0], []).append(path)
    found: Pieces = {}

    def take(path: str) -> None:
        module = by_path[path]
        # a parameter list may stand behind the name of a class
        name = module["module"].removeprefix(f"{top}_").partition("__")[0] if path else top_level
        inside = children.get(path, [])
        area = module["area_um2"]
        if inside and name != family and (not path or area > PIECE * whole):
            for child in inside:
                take(child)
            area -= sum(by_path[child]["area_um2"] for child in inside)
        if area > 0:
            _add(found, name, area)

    take("")
    return found


def paths(entries: Sequence[Entry], details: Details) -> list[Record]:
    """The longest path of each measurement beside its clock."""
    names = lines(entries)
    records = []
    for entry in {entry.measurement: entry for entry in entries}.values():
        clock, slack = entry.value("clock_ns"), entry.value("wns_ns")
        if entry.measurement not in names or clock is None or slack is None:
            continue
        path = details.get(entry.measurement, {}).get("worst_path") or {}
        where = {"start": path.get("start"), "end": path.get("end"), "through": through(path)}
        times = {"path_ns": clock - slack, "clock_ns": clock, "row": entry.source("wns_ns")}
        records.append({**basics(entry), "operation": "", "name": names[entry.measurement], **times, **where})
    return _ordered(records, "path_ns")


def through(path: Mapping[str, Any]) -> str:
    """The modules that a path goes through, without their own parts; of a row of the same kind only its name."""
    modules = [module for module in path.get("modules", []) if module]
    outer = [item for item in modules if not any(item.startswith(f"{other}.") for other in modules)]
    rows: dict[str, list[str]] = {}
    for item in outer:
        rows.setdefault(INDEX.sub("", item), []).append(item)
    return ", ".join(f"{name}__*" if len(set(found)) > 1 else found[0] for name, found in rows.items())


def energies(entries: Sequence[Entry], machines: Iterable[Machine]) -> list[Record]:
    """Return the energy of each operation on its own bar, without and with glitches, and the papers'."""
    names = lines(entries)
    records: list[Record] = []
    papers = {
        (machine.subject, machine.nbits, machine.operation): machine
        for machine in machines
        if "energy_nj" in machine.figures
    }
    for entry in entries:
        energy = entry.value("energy_nj")
        if entry.measurement not in names or energy is None:
            continue
        name = f"{names[entry.measurement]}, {entry.operation}"  # bars of one name would be added up
        one = {**basics(entry), "name": name, "row": entry.source("energy_nj")}
        whole = entry.value("energy_with_glitches_nj")
        shares = [(SHARES[0], energy), *([(SHARES[1], whole - energy)] if whole and whole > energy else [])]
        whole = max(energy, whole or 0)
        for rank, (part, value) in enumerate(shares):
            records.append({**one, "part": part, "rank": rank, "energy_nj": value, "whole": whole})
        if paper := papers.get((entry.subject, entry.nbits, entry.operation)):
            told = {"part": "published", "rank": 9, "energy_nj": paper.value("energy_nj"), "whole": whole}
            records.append({**one, **told, "row": sources(paper), "p": paper.number})
    return _ordered(records, "whole")


def leakage(entries: Sequence[Entry], details: Details) -> list[Record]:
    """The cycles of every exponent of the workload that has many of them, of one length."""
    records: list[Record] = []
    counted: dict[str, Entry] = {}

    def worse(entry: Entry) -> tuple[bool, bool]:
        return entry.stage == FORMULA, entry.stale

    for entry in entries:  # rather in simulation than by formula, and rather up to date
        name = f"{entry.label}, {entry.nbits} bits"
        if exponents(entry, details) and (name not in counted or worse(entry) <= worse(counted[name])):
            counted[name] = entry
    for name, entry in counted.items():
        runs = exponents(entry, details)
        counts = [run["cycles"] for run in runs]
        mean = sum(counts) / len(counts)
        verdict = CONSTANT if len(set(counts)) == 1 else DEPENDS
        kind = BY_FORMULA if entry.stage == FORMULA else verdict
        told = {"name": _dated(name, entry), "verdict": verdict, "kind": kind, "promised": _promised(entry)}
        spread = (max(counts) - min(counts)) / mean
        for cycles, run in zip(counts, runs, strict=True):
            weight = int(run["exp"], 16).bit_count()
            one = {"cycles": cycles, "relative": cycles / mean, "weight": weight, "spread": spread}
            records.append({**basics(entry), "operation": "", **told, **one, "row": entry.source("cycles")})
    return _ordered(records, "spread")


def _promised(entry: Entry) -> str:
    """The machine's promise in a word; empty for software and designs of another version."""
    try:
        point = Point.from_json(entry.first.point)
        return "" if point.design is None else point.machine.promises.word
    except BadInput:
        return ""


def exponents(entry: Entry, details: Details) -> list[Mapping[str, Any]]:
    """The exponentiations of an entry whose workload is many exponents of one length."""
    if entry.operation != LEAKAGE:
        return []
    return details.get(entry.measurement, {}).get("exponentiations") or []


def _ordered(records: list[Record], name: str) -> list[Record]:
    """With the place at which a line is drawn, the smallest first."""
    records.sort(key=lambda record: record[name])
    for place, record in enumerate(records):
        record["order"] = place
    return records
