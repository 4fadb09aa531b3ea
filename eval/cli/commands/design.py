"""`modexlab new manifest`, `new wrapper` and `check --manifest`: your own Verilog as a design."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....fl.errors import BadInput, shown
from ...progress import Progress
from .. import own
from ..arguments import (
    add_json,
    add_settings,
    add_width,
    answer_all,
    described,
    json_number,
)

if TYPE_CHECKING:
    from ...designs.foreign.core import Core
    from ...designs.foreign.corners import Corner
    from ...designs.foreign.foreign import ForeignMachine
    from ...designs.machine import Design
    from ...designs.own import OwnDesign

SHOWN = 20  # rows that failed, in the text; --json has all

SUMMARY = "enter Verilog of your own as a design, by a manifest"
TEXT = """\
A manifest (design.toml) lists
the files of a core, its top module, the numbers that software prepares for it, and its limits. The module has
modexlab's streams; a core with other ports is put in a wrapper of some 30 lines of Verilog. With a manifest
the core is a design like those of the catalogue: run, check, asic, sweep and report accept it
as --design FILE (or a folder of them).

A core of another kind than RSA names its fields in [request] and [response], and a Python function as the
oracle (`modexlab new keys` prints all that may stand in a manifest). `check --manifest` looks at the ports of
the module and runs the table of corners: a row that fails is printed with its operands and both results.
Exit code 1 if one fails, 2 if the manifest is wrong."""
EXAMPLES = """\
  modexlab new manifest > design.toml
  modexlab new keys
  modexlab new wrapper design.toml > wrapper.v
  modexlab check --manifest design.toml
  modexlab check --manifest cores --nbits 64 --json
  modexlab run --design design.toml --base 7 --exp 65537 --mod 2603398711"""


def add(parser: argparse.ArgumentParser) -> None:
    if parser.get_default("action") in ("new", "keys"):
        return
    parser.add_argument("manifests", metavar="FILE", nargs="*", help="manifests, or folders of them")
    add_width(parser, "default: 32, or the width nearest to it that the core has")
    add_settings(parser)
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    from ...designs.foreign.wrapper import TEMPLATE, wrapper  # not at the top: it brings PyMTL3

    if args.action == "new":
        print(TEMPLATE, end="")
        return 0
    if args.action == "keys":
        from ...designs.foreign import manifest

        print(manifest.__doc__ or "", end="")
        return 0
    if not args.manifests:
        raise BadInput(
            f"{args.action} of which manifest? Give a design.toml; `modexlab new manifest` prints one to "
            "begin with"
        )
    from ...designs.catalogue import by_paths
    from ...designs.foreign.foreign import ForeignMachine

    machines = [_machine(args, design) for design in by_paths(args.manifests)]
    if args.action == "wrapper":
        print("\n".join(map(wrapper, machines)), end="")
        return 0
    for machine in machines:
        _ = machine.modules  # refuses a module without the streams of the manifest
    checked = [
        _checked(machine, args.json)
        if isinstance(machine, ForeignMachine)
        else own.checked(machine, machine.stages, args.json)
        for machine in machines
    ]
    answer_all(args, checked)
    return (
        1 if any(report["failed"] if "failed" in report else report["error"] for report, _ in checked) else 0
    )


def _machine(args: argparse.Namespace, design: Design | OwnDesign) -> Core:
    """The core of a manifest; BadInput for a design without one."""
    from ...designs.foreign.core import Core
    from ..arguments import settings_of

    machine = design.at(args.nbits or design.usual_nbits, **settings_of(design, args.settings))
    if not isinstance(machine, Core):
        raise BadInput(
            f"{design.name} has no manifest; `modexlab check --accelerator` runs the table of a folder"
        )
    return machine


def _checked(machine: ForeignMachine, quiet: bool) -> tuple[dict[str, Any], list[str]]:
    """The corners of an exponentiation."""
    from ...designs.foreign.foreign_chip import ForeignChip

    with Progress(f"{machine.name}, {machine.nbits} bits", quiet=quiet):
        rows = ForeignChip(machine.design, machine.nbits, machine.parameters).corners()
    return _report(machine, rows), list(_lines(machine, rows))


def _report(machine: ForeignMachine, rows: list[Corner]) -> dict[str, Any]:
    of = machine.manifest.of
    failed = [row for row in rows if row.failed]
    return {
        **described(machine),
        "manifest": str(machine.manifest.path),
        "top": of.top,
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
    core = machine.modules[1]
    yield f"{of.name}, {machine.nbits} bits: module {of.top}" + (f", which wraps {core.name}" if core else "")
    if prepared := [f"{name} = {number.expression.text}" for name, number in machine.prepared.items()]:
        yield f"  software makes for it: {', '.join(prepared)}"
    yield (
        f"  corners: {report['passed']} passed, {report['failed']} failed, {len(report['excluded'])} not "
        "taken by its limits"
    )
    for item in report["excluded"]:
        yield f"    not asked: {item['name']}: {item['reason']}"
    failures = report["failures"]
    for failure in failures[:SHOWN]:
        yield f"  FAILED {failure['message']}"
    if len(failures) > SHOWN:
        yield f"  ... and {len(failures) - SHOWN} more; --json has them all"
    longest = max((row for row in rows if row.passed), key=lambda row: row.cycles or 0, default=None)
    if longest is not None:
        base, exp, mod = map(shown, longest.operands)
        yield f"  longest row: {longest.cycles} cycles for {base} ^ {exp} mod {mod}"
