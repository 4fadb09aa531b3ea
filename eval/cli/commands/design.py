"""`modexlab design`: Verilog of one's own as a design: a manifest to begin with, and what is wrong with one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ...progress import Progress
from ..arguments import (
    Commands,
    add_command,
    add_json,
    add_settings,
    add_width,
    answer,
    json_number,
    json_value,
)

if TYPE_CHECKING:
    from ...designs.foreign.corners import Corner
    from ...designs.foreign.foreign import ForeignDesign, ForeignMachine

ACTIONS = ("new", "check", "keys", "verilog")
PROTOCOLS = ("start-done", "stream", "words", "axi4lite", "steps")  # the usual first
SHOWN = 20  # rows that failed, in the text; --json has all

TEXT = """\
A manifest (design.toml) says
where the files of a core are, which module is the top, its clock and reset, the protocol by which operands reach it, the numbers that
software prepares for it, and the limits of what it takes. With it the core is a design like those of the catalogue: run, cycles, check,
asic, fpga, explore and report take it as --design FILE (or a folder of them).

  new      print a manifest to begin with; --protocol says for which kind of core
  check    read a manifest, hold it against the ports of the core, and run the table of corners: each row that fails is told
           with its operands, with what is right and what came out. Exit code 1 if one fails, 2 if the manifest is wrong
  keys     all that may stand in a manifest
  verilog  the adapter that drives the core, as it is made from the manifest"""
EXAMPLES = """\
  modexlab design new --protocol start-done > design.toml
  modexlab design check design.toml
  modexlab design check cores --nbits 64 --json
  modexlab run --design design.toml --base 7 --exp 65537 --mod 2603398711"""


def add(commands: Commands) -> None:
    parser = add_command(
        commands,
        "design",
        "enter Verilog of your own as a design, by a manifest",
        text=TEXT,
        examples=EXAMPLES,
        execute=execute,
    )
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("manifests", metavar="FILE", nargs="*", help="manifests, or folders of them")
    parser.add_argument("--protocol", choices=PROTOCOLS, help="with new: of the core (default: start-done)")
    add_width(parser, "default: 32, or the width nearest to it that the core has")
    add_settings(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    if args.protocol is not None and args.action != "new":
        raise BadInput(f"--protocol with {args.action}: it is for new; drop it")
    if args.action == "new":
        from ...designs.foreign.template import template

        print(template(args.protocol or PROTOCOLS[0]), end="")
        return 0
    if args.action == "keys":
        from ...designs.foreign import manifest

        print(manifest.__doc__ or "", end="")
        return 0
    if not args.manifests:
        raise BadInput(
            f"{args.action} of which manifest? Give a design.toml; `modexlab design new` prints one to begin with"
        )
    from ...designs.catalogue import by_manifests

    machines = [_machine(args, design) for design in by_manifests(args.manifests)]
    if args.action == "verilog":
        print("\n".join(machine.adapter.verilog(observed=False) for machine in machines), end="")
        return 0
    checked = [(machine, _checked(machine, args.json)) for machine in machines]
    reports = [_report(*each) for each in checked]
    answer(
        args,
        lambda: reports if len(reports) > 1 else reports[0],
        lambda: [line for machine, rows in checked for line in _lines(machine, rows)],
    )
    return 1 if any(report["failed"] for report in reports) else 0


def _machine(args: argparse.Namespace, design: ForeignDesign) -> ForeignMachine:
    from ..arguments import settings_of

    return design.at(args.nbits or design.usual_nbits, **settings_of(design, args.settings))


def _checked(machine: ForeignMachine, quiet: bool) -> list[Corner]:
    """The ports first, which is quick, then the rows."""
    from ...designs.foreign.corners import corners

    _ = machine.adapter
    with Progress(f"{machine.design.name}, {machine.nbits} bits", quiet=quiet):
        return corners(machine)


def _report(machine: ForeignMachine, rows: list[Corner]) -> dict[str, Any]:
    of = machine.manifest.of
    failed = [row for row in rows if row.failed]
    return {
        "design": machine.design.name,
        "manifest": str(machine.manifest.path),
        "nbits": machine.nbits,
        "top": of.top,
        "protocol": of.protocol,
        "params": {name: json_value(value) for name, value in machine.parameters.items()},
        "passed": sum(row.passed for row in rows),
        "failed": len(failed),
        "excluded": [{"name": row.name, "reason": row.refused} for row in rows if row.refused],
        "failures": [
            {
                "name": row.name,
                "operands": dict(zip(("base", "exp", "mod"), map(json_number, row.operands), strict=True)),
                "expected": json_number(row.expected),
                "got": None if row.got is None else json_number(row.got),
                "message": str(row),
            }
            for row in failed
        ],
    }


def _lines(machine: ForeignMachine, rows: list[Corner]) -> Iterator[str]:
    of, report = machine.manifest.of, _report(machine, rows)
    states = len(machine.adapter.program.states)
    ports = len(machine.adapter.ports)
    yield f"{of.name}, {machine.nbits} bits: module {of.top}, {of.protocol}, {ports} ports, {states} states of its adapter"
    carried = [name for name, _ in machine.adapter.request.fields[3:]]
    if carried:
        made = machine.adapter.program.fields
        told = dict.fromkeys(
            f"{name} = {expression.text}" if name in of.prepare else expression.text
            for name in carried
            if (expression := made[name].expression) is not None
        )
        yield f"  software makes for it: {', '.join(told)}"
    yield f"  corners: {report['passed']} passed, {report['failed']} failed, {len(report['excluded'])} not taken by its limits"
    for each in report["excluded"]:
        yield f"    not asked: {each['name']}: {each['reason']}"
    failures = report["failures"]
    for each in failures[:SHOWN]:
        yield f"  FAILED {each['message']}"
    if len(failures) > SHOWN:
        yield f"  ... and {len(failures) - SHOWN} more; --json has them all"
    longest = max((row for row in rows if row.passed), key=lambda row: row.cycles or 0, default=None)
    if longest is not None:
        base, exp, mod = map(shown, longest.operands)
        yield f"  longest row: {longest.cycles} cycles for {base} ^ {exp} mod {mod}"
