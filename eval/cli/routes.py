"""The fourteen commands: their groups in the help, the module of each form, and the names used before 1.0."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ...fl.errors import BadInput, unknown

GROUPS = {
    "designs": ("show", "new"),
    "simulation": ("run", "check", "proc"),
    "hardware": ("verilog", "asic"),
    "proofs and attacks": ("prove", "attack"),
    "measurements": ("sweep", "compare", "report", "ledger"),
    "this installation": ("env",),
}
SUMMARIES = {
    "show": "list designs, papers and spaces; show one with its program, costs or tree",
    "new": "begin an accelerator of your own, or a manifest of Verilog",
    "run": "run an operation at any level, or count its cycles by formula",
    "check": "run test vectors, or the tables of your own designs",
    "proc": "run a program on the processor; measure systems and chips with it",
    "verilog": "write a design as SystemVerilog, or pack it as an IP core",
    "asic": "area, timing, power and layout; FPGA counts; crosschecks of the figures",
    "prove": "prove that a design does what its mathematics says",
    "attack": "test for leakage, and inject faults",
    "sweep": "measure a space of designs and print its Pareto fronts",
    "compare": "compare the papers' figures, or all cores, with ours",
    "report": "measure what is missing and write the report, one HTML page",
    "ledger": "show, export, merge, verify, salvage or reproduce measurements",
    "env": "show the libraries of cells, the tools and the cache",
}


class Route(NamedTuple):
    """The module behind one form of a command, and what it does where it does several things."""

    name: str
    action: str | None = None
    summary: str | None = None  # of the action

    @property
    def module(self) -> Any:
        """Its SUMMARY, TEXT, EXAMPLES, add and execute; imported only when it is asked for."""
        return import_module(f".commands.{self.name}", __package__)


# A form is a command with the word or option that selects it.
ROUTES = {
    "show": Route("show.overview"),
    "show designs": Route("show.designs"),
    "show papers": Route("show.papers"),
    "show spaces": Route("show.spaces"),
    "show --program": Route("show.program"),
    "show --costs": Route("show.programs"),
    "show --tree": Route("show.draw"),
    "show --multiples": Route("show.pseudo"),
    "new accelerator": Route("new"),
    "new manifest": Route("design", "new", "print a manifest of Verilog of your own to begin with"),
    "new wrapper": Route("design", "wrapper", "print a wrapper with the ports of a manifest's module"),
    "new keys": Route("design", "keys", "print all that may stand in a manifest"),
    "run": Route("run"),
    "run --level formula": Route("cycles"),
    "check": Route("check"),
    "check --manifest": Route("design", "check", "check a manifest, and run its table of corners"),
    "proc": Route("proc"),
    "proc systems": Route("systems"),
    "proc soc": Route("soc"),
    "verilog": Route("verilog"),
    "verilog --package": Route("package"),
    "asic": Route("asic"),
    "asic --fpga": Route("fpga"),
    "asic --crosscheck": Route("figures"),
    "prove": Route("prove"),
    "attack leakage": Route("leak"),
    "attack faults": Route("faults"),
    "sweep": Route("explore"),
    "compare": Route("compare"),
    "report": Route("report"),
    "ledger": Route("ledger"),
    "ledger reproduce": Route("reproduce"),
    "env": Route("env"),
}

# Names before 1.0, and the form that does the same.
OLD = {
    "designs": "show designs",
    "design new": "new manifest",
    "design wrapper": "new wrapper",
    "design keys": "new keys",
    "design check": "check --manifest",
    "design": "check --manifest",
    "new": "new accelerator",
    "cycles": "run --level formula",
    "program": "show --program",
    "programs": "show --costs",
    "systems": "proc systems",
    "soc": "proc soc",
    "package": "verilog --package",
    "figures": "asic --crosscheck",
    "fpga": "asic --fpga",
    "leak": "attack leakage",
    "faults": "attack faults",
    "explore": "sweep",
    "reproduce": "ledger reproduce",
    "papers": "show papers",
    "pseudo": "show --multiples",
    "draw": "show --tree",
    "completion": "--completion",
}


def forms(command: str) -> list[str]:
    """The forms of a command."""
    return [form for form in ROUTES if form.split()[0] == command]


def words(command: str) -> list[str]:
    """The words that tell its forms apart."""
    return [form.split()[1] for form in forms(command) if form != command]


def find(argv: Sequence[str]) -> tuple[str, list[str], str]:
    """The form that a command line means, its other arguments, and a note where the name is an old one.

    `attack --help` names no form: then it is the command.
    """
    name, *rest = argv
    for form in forms(name):
        if found := _place(form.split()[1:], rest):
            return form, rest[: found[0]] + rest[found[1] :], ""
    asked = rest[:1] in ([], ["-h"], ["--help"])
    if name in ROUTES or (name in SUMMARIES and asked):
        return name, rest, ""
    for old in (" ".join(argv[:2]), name):
        if old in OLD:
            note = f"`{old}` is now `{OLD[old]}`; the old name works until 1.0"
            return OLD[old], list(argv[len(old.split()) :]), note
    if name in SUMMARIES:
        raise unknown(f"form of {name}", rest[0], words(name))
    raise BadInput(f"{unknown('command', name, SUMMARIES)}; see `modexlab --help`")


def _place(selector: Sequence[str], rest: Sequence[str]) -> tuple[int, int] | None:
    """From where to where a selector stands among arguments: a word is the first, an option anywhere."""
    if not selector:
        return None
    if not selector[0].startswith("-"):
        return (0, 1) if rest[:1] == [*selector] else None
    for at in range(rest.index("--") if "--" in rest else len(rest)):
        for length in (1, len(selector)):
            if "=".join(rest[at : at + length]) == "=".join(selector):
                return at, at + length
    return None
