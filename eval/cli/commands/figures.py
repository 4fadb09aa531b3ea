"""`modexlab asic --crosscheck`: compare area, timing, power and layout with the results of other tools."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from ....fl.errors import BadInput
from ....fl.param import PAPER_NBITS
from ...lab.flow_settings import FLOW_DEFAULTS, check_clock
from ...lab.stages import FLOW, LAYOUT
from ...progress import Progress
from ..arguments import (
    add_flow,
    add_interface,
    add_json,
    add_settings,
    add_width,
    answer,
    flow_of,
    flow_point,
    real,
)

if TYPE_CHECKING:
    from ....flow.check.report import Compared
    from ...assurance.crosscheck import Opinion

CLOCK = "clock_period"
DEFAULT_CLOCK_NS: float = FLOW_DEFAULTS[FLOW]["clock_period"]
# of the table of a space: head, and the beginning of what the figure is called
SLACKS = (
    ("no wires", "worst setup slack before"),
    ("supposed", "worst setup slack with"),
    ("layout", "worst setup slack after"),
)
SUMMARY = "hold the figures of a netlist against those of other tools"
TEXT = """\
Takes a design through the flow (from the cache what there is), and asks other tools about what
comes out: OpenSTA about slacks, without wires, with those that sizing supposes and with those of the layout, and about
power, told the same activity; Yosys about area; KLayout about width and spacing of all that is drawn, and about what
the metal connects, which must be what the netlist says. Where figures are further apart than they may be
(20 ps or 1 % of a path, 5 % of a power) the cause is looked for, and what it makes is told.

The exit code is 1 if something differs and no cause was found."""
EXAMPLES = """\
  modexlab asic mont --crosscheck --nbits 8 --flow adders=sklansky
  modexlab asic mont --crosscheck --nbits 8 --layout --json
  modexlab asic mont-001 --crosscheck --interface xcel --clock 3.25
  modexlab asic --crosscheck --space course"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "design",
        metavar="DESIGN",
        nargs="?",
        help="a design of the catalogue, or a system (`modexlab proc systems`)",
    )
    parser.set_defaults(manifests=[])
    add_width(parser, f"default: {PAPER_NBITS}")
    add_settings(parser)
    add_interface(parser, units=True)
    parser.add_argument(
        "--clock",
        type=real(check_clock, "2.5"),
        metavar="NS",
        default=DEFAULT_CLOCK_NS,
        help=f"clock period (default: {DEFAULT_CLOCK_NS} ns)",
    )
    add_flow(parser, "a")
    parser.add_argument(
        "--layout", action="store_true", help="place and route, and look at the layout as well"
    )
    parser.add_argument(
        "--space",
        metavar="SPACE",
        help="all netlists of a space (a file, or a name of `modexlab show spaces`); goes on where it "
        "was interrupted",
    )
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...assurance.crosscheck import opinions, points  # not at the top: it brings the flow
    from ...lab.ledger.ledger import Ledger

    if (args.design is None) == (args.space is None):
        raise BadInput("give either a DESIGN or --space SPACE")
    if args.space is not None:
        if args.other:
            raise BadInput("--flow with --space: the points of a space have their own; drop one of them")
        from ...lab.space import Space

        chosen = points(Space.load(args.space))
    else:
        flow = {CLOCK: args.clock, **flow_of(args.other, (CLOCK,), "asic --crosscheck")}
        chosen = [flow_point(args, LAYOUT if args.layout else FLOW, flow)]
    with Progress("figures", len(chosen), unit="netlist", quiet=args.json) as progress:
        found = []
        for opinion in opinions(chosen, progress, Ledger()):
            found.append(opinion)
            if args.space is not None:
                progress.say(f"{opinion.point}: {_verdict(opinion)}")
    found.sort(key=lambda opinion: chosen.index(opinion.point))
    if args.space is None and found[0].report is None:
        raise BadInput(found[0].error)
    answer(args, lambda: _as_json(found), lambda: _text(found, args.space is not None))
    return 0 if all(item.good for item in found) else 1


# ---- text


def _as_json(found: list[Opinion]) -> dict[str, Any]:
    return {
        "netlists": [
            {
                "point": str(opinion.point),
                "stage": opinion.point.stage,
                "good": opinion.good,
                "error": opinion.error or None,
                "compared": [_row(row) for row in opinion.report.compared] if opinion.report else [],
                "left_out": opinion.report.left_out if opinion.report else {},
                "notes": opinion.report.notes if opinion.report else [],
            }
            for opinion in found
        ],
        "wrong": sum(not opinion.good for opinion in found),
    }


def _row(row: Compared) -> dict[str, Any]:
    return msgspec.to_builtins(row) | {"difference": row.difference, "wrong": row.wrong}


def _text(found: list[Opinion], many: bool) -> Iterator[str]:
    from ...table import table

    if many:
        yield table(
            ("netlist", *(f"{head} (ps)" for head, _ in SLACKS), "area (um^2)", "power", "layout", ""),
            [_line(opinion) for opinion in found],
        )
        yield ""
        yield (
            "ours less theirs: the worst setup slack by OpenSTA, the area by Yosys, the power by OpenSTA, "
            "put right; faults of the layout"
        )
    else:
        report = found[0].report
        assert report is not None
        yield table(
            ("figure", "ours", "theirs", "apart", "", "tool"), [_cells(row) for row in report.compared]
        )
        told = [f"{row.what}: {row.cause or row.note}" for row in report.compared if not row.agrees]
        told += [f"not done: {name}: {why}" for name, why in report.left_out.items()]
        told += [f"note: {note}" for note in report.notes]
        yield from ["", *told] if told else []
    for opinion in found:
        for row in opinion.wrong:
            yield (
                f"! {opinion.point}: {row.what} is {row.ours:g} and {row.theirs:g} {row.unit}, and no "
                "cause was found"
            )
        if opinion.error:
            yield f"! {opinion.point}: {opinion.error}"


def _cells(row: Compared) -> tuple[str, ...]:
    verdict = "agrees" if row.agrees else "cause known" if row.cause else "DIFFERS"
    unit = f" {row.unit}" if row.unit else ""
    return (
        row.what,
        f"{row.ours:.6g}{unit}",
        f"{row.theirs:.6g}",
        f"{row.difference:+.3g}",
        verdict,
        row.tool,
    )


def _line(opinion: Opinion) -> tuple[str, ...]:
    """Return a netlist's line in the table of a space."""
    rows = opinion.report.compared if opinion.report is not None else []

    def apart(beginning: str, factor: float = 1.0) -> str:
        found = [row for row in rows if row.what.startswith(beginning)]
        return f"{factor * found[-1].difference:+.2f}" if found else "-"

    power = [row for row in rows if row.what.startswith("all of it, put right")]
    drawn = [row for row in rows if row.unit == "faults"]
    return (
        str(opinion.point),
        *(apart(beginning, 1000) for _, beginning in SLACKS),
        apart("area "),
        f"{power[-1].ours / power[-1].theirs - 1:+.1%}" if power else "-",
        f"{sum(row.theirs for row in drawn):.0f}" if drawn else "-",
        _verdict(opinion),
    )


def _verdict(opinion: Opinion) -> str:
    if opinion.report is None:
        return "NOT DONE"
    known = sum(bool(row.cause) for row in opinion.report.compared)
    return (
        f"{len(opinion.wrong)} DIFFER"
        if opinion.wrong
        else f"agrees, {known} with a known cause"
        if known
        else "agrees"
    )
