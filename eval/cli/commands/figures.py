"""Compare the figures of a netlist with those of other tools.

Takes a design through the flow and asks other tools about the results: OpenSTA about slacks (without wires,
with estimated wires and with those of the layout) and, for the same activity, about power; Yosys about
area; KLayout about the design rules and about the connections of the metal, which must be those of the
netlist. If a figure differs by more than the tolerance (20 ps or 1 % of a path, 5 % of a power), the
command searches for the cause and reports how much it explains.

The exit code is 1 if a difference has no known cause.

examples:
  modexlab asic mont --crosscheck --nbits 8 --flow adders=sklansky
  modexlab asic mont --crosscheck --nbits 8 --layout --json
  modexlab asic mont-001 --crosscheck --interface xcel --clock 3.25
  modexlab asic --crosscheck --space course
"""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from ....fl.errors import BadInput
from ....flow.check.report import Compared
from ...json_values import attributes
from ...lab.flow_settings import KIT
from ...lab.space import Space
from ...lab.stages import FLOW, LAYOUT
from ...lab.store.store import Store
from ...progress import Progress
from ..arguments import SUBJECT, flow_of, flow_point, refuse
from ..laboratory import executor_of, kit_of
from ..options import HARDWARE, PRIVATE, option
from ..render import Block, Columns, Table, answer

if TYPE_CHECKING:
    from ...assurance.crosscheck import Opinion

CLOCK = "clock_period"
# columns of a space: head, and prefix of the figure's name
SLACKS = (
    ("no wires", "worst setup slack before"),
    ("supposed", "worst setup slack with"),
    ("layout", "worst setup slack after"),
)


OPTIONS = (
    SUBJECT,
    *HARDWARE,
    "--clock",
    "--kit",
    "--flow",
    "--layout",
    option(
        "--space",
        "SPACE",
        "all netlists of a space: a file, or a name of `modexlab show spaces`; an interrupted run continues",
    ),
    "--jobs (with --space)",
    "--json",
)


def execute(args: Namespace) -> int:
    from ...assurance import crosscheck  # not at the top: it needs the extra [flow]

    args.manifests = []
    many = args.space is not None
    if (args.design is None) != many:
        raise BadInput("give either a DESIGN or --space SPACE")
    if many:
        why = " with --space: the points of a space have their own; drop one of them"
        refuse(args, ("other", "kit", "nbits", "settings", *PRIVATE, "clock", "layout", "interface"), why)
        chosen = crosscheck.points(Space.load(args.space))
    elif args.jobs:
        raise BadInput("--jobs without --space: there is one netlist; drop it")
    else:
        kit = kit_of(args, installed=True)
        flow = flow_of(args, {CLOCK: args.clock, KIT: kit}, "asic --crosscheck")
        chosen = [flow_point(args, LAYOUT if args.layout else FLOW, flow)]
        chosen[0].check()  # a missing tool comes second
    with Progress("figures", len(chosen), unit="netlist", quiet=args.json) as progress:
        found = []
        for opinion in crosscheck.opinions(chosen, executor_of(args, len(chosen)), progress, Store()):
            found.append(opinion)
            if many:
                progress.say(f"{opinion.point}: {_verdict(opinion)}")
    found.sort(key=lambda opinion: chosen.index(opinion.point))
    if not many and found[0].report is None:
        raise BadInput(found[0].error)
    report = {
        "netlists": [
            {
                "point": str(opinion.point),
                "stage": opinion.point.stage,
                "good": opinion.good,
                "error": opinion.error or None,
                "compared": [
                    msgspec.to_builtins(row) | attributes(row, "difference", "wrong")
                    for row in _rows(opinion)
                ],
                "left_out": opinion.report.left_out if opinion.report else {},
                "notes": opinion.report.notes if opinion.report else [],
            }
            for opinion in found
        ],
        "wrong": sum(not opinion.good for opinion in found),
    }
    blocks = [Table(SPACE_HEAD, [*map(_line, found)]), SPACE_NOTE] if many else [*_netlist(found[0])]
    return answer(args, report, *blocks, "\n".join(_faults(found)), ok=all(item.good for item in found))


def _rows(opinion: "Opinion") -> list[Compared]:
    return opinion.report.compared if opinion.report else []


SPACE_HEAD = ("netlist", *(f"{head} (ps)" for head, _ in SLACKS), "area (um^2)", "power", "layout", "")
SPACE_NOTE = (
    "ours less theirs: the worst setup slack by OpenSTA, the area by Yosys, the power by OpenSTA, put right; "
    "faults of the layout"
)


def _netlist(opinion: "Opinion") -> Iterator[Block]:
    report = opinion.report
    assert report is not None
    columns: Columns = {
        "figure": "what",
        "ours": lambda row: f"{row.ours:.6g} {row.unit}".strip(),
        "theirs": "theirs:.6g",
        "apart": "difference:+.3g",
        "": lambda row: "agrees" if row.agrees else "cause known" if row.cause else "DIFFERS",
        "tool": "tool",
    }
    yield Table.of(report.compared, columns)
    notes = [f"{row.what}: {row.cause or row.note}" for row in report.compared if not row.agrees]
    notes += [f"not done: {name}: {why}" for name, why in report.left_out.items()]
    yield "\n".join([*notes, *(f"note: {note}" for note in report.notes)])


def _faults(found: "Sequence[Opinion]") -> Iterator[str]:
    for opinion in found:
        for row in opinion.wrong:
            figures = f"{row.what} is {row.ours:g} and {row.theirs:g} {row.unit}"
            yield f"! {opinion.point}: {figures}, no cause was found"
        if opinion.error:
            yield f"! {opinion.point}: {opinion.error}"


def _line(opinion: "Opinion") -> tuple[str, ...]:
    """A netlist's line in the table of a space."""
    rows = _rows(opinion)

    def last(beginning: str, words: Callable[[Compared], str]) -> str:
        found = [row for row in rows if row.what.startswith(beginning)]
        return words(found[-1]) if found else "-"

    drawn = [row.theirs for row in rows if row.unit == "faults"]
    return (
        str(opinion.point),
        *(last(beginning, lambda row: f"{1000 * row.difference:+.2f}") for _, beginning in SLACKS),
        last("area ", lambda row: f"{row.difference:+.2f}"),
        last("all of it, put right", lambda row: f"{row.ours / row.theirs - 1:+.1%}"),
        f"{sum(drawn):.0f}" if drawn else "-",
        _verdict(opinion),
    )


def _verdict(opinion: "Opinion") -> str:
    if opinion.report is None:
        return "NOT DONE"
    if opinion.wrong:
        return f"{len(opinion.wrong)} DIFFER"
    known = sum(bool(row.cause) for row in _rows(opinion))
    return f"agrees, {known} with a known cause" if known else "agrees"
