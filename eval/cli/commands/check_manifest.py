"""Check a manifest, and run its table of corners.

Compares the ports of the module with the manifest and runs the table of corners: a failing row is printed
with its operands and both results. Exit code 1 if a row fails, 2 if the manifest is wrong. `modexlab new
manifest` prints a manifest to begin with.

examples:
  modexlab check --manifest design.toml
  modexlab check --manifest cores --nbits 64 --json
"""

from argparse import Namespace

from ....fl.errors import BadInput, shown
from ...designs.catalogue import by_paths
from ...designs.foreign.core import Core
from ...designs.foreign.foreign import ForeignMachine
from ...designs.foreign.foreign_chip import ForeignChip
from ...json_values import json_number
from ...progress import Progress
from .. import own
from ..arguments import accelerator_of, described
from ..options import option
from ..render import Json, answer_all, capped

SHOWN = 20  # failed rows in the text; --json has all

OPTIONS = (
    option("manifests", "FILE", "manifests, or folders of them", nargs="*"),
    "--nbits (default: 32, or the nearest width of the core)",
    "--set",
    "--json",
)


def execute(args: Namespace) -> int:
    machines = cores(args)
    for machine in machines:
        _ = machine.modules  # BadInput for a module without the streams of the manifest
    checked = [
        _checked(machine, args.json)
        if isinstance(machine, ForeignMachine)
        else own.checked(machine, machine.backends, args.json)
        for machine in machines
    ]
    failed = any(report.get("failed") or report.get("error") for report, _ in checked)
    return answer_all(args, checked, ok=not failed)


def cores(args: Namespace) -> list[Core]:
    """The cores of the manifests; BadInput for a design without one."""
    if not args.manifests:
        raise BadInput("no manifest; give a design.toml; `modexlab new manifest` prints one to begin with")
    found = []
    for design in by_paths(args.manifests):
        machine = accelerator_of(args, design)
        if not isinstance(machine, Core):
            raise BadInput(
                f"{design.name} has no manifest; `modexlab check --accelerator` runs the table of a folder"
            )
        found.append(machine)
    return found


def _checked(machine: ForeignMachine, quiet: bool) -> tuple[Json, str]:
    """Run the corners of an exponentiation; return the report as JSON and as text."""
    with Progress(f"{machine.name}, {machine.nbits} bits", quiet=quiet):
        rows = ForeignChip(machine.design, machine.nbits, machine.parameters).corners()
    of, core = machine.manifest.of, machine.modules[1]
    failed = [row for row in rows if row.failed]
    passed = [row for row in rows if row.passed]
    excluded = [{"name": row.name, "reason": row.refused} for row in rows if row.refused]
    report = {
        **described(machine),
        "manifest": str(machine.manifest.path),
        "top": of.top,
        "passed": len(passed),
        "failed": len(failed),
        "excluded": excluded,
        "failures": [
            {
                "name": row.name,
                "operands": dict(zip(("base", "exp", "mod"), map(json_number, row.operands), strict=True)),
                "expected": json_number(row.expected),
                "got": json_number(row.got),
                "message": str(row),
            }
            for row in failed
        ],
    }
    wraps = f", which wraps {core.name}" if core else ""
    lines = [f"{of.name}, {machine.nbits} bits: module {of.top}{wraps}"]
    if prepared := [f"{name} = {number.value}" for name, number in machine.manifest.prepare.items()]:
        lines.append(f"  software prepares: {', '.join(prepared)}")
    lines += (
        f"  corners: {len(passed)} passed, {len(failed)} failed, {len(excluded)} excluded by its limits",
        *(f"    excluded: {row['name']}: {row['reason']}" for row in excluded),
        *capped([f"  FAILED {row}" for row in failed], SHOWN),
    )
    if passed:
        longest = max(passed, key=lambda row: row.cycles or 0)
        base, exp, mod = map(shown, longest.operands)
        lines.append(f"  longest row: {longest.cycles} cycles for {base} ^ {exp} mod {mod}")
    return report, "\n".join(lines)
