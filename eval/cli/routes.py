"""The fourteen commands: their groups in the help, and the module of each form."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ...fl.errors import BadInput, unknown

GROUPS = {
    "designs": ("show", "new"),
    "simulation": ("run", "check", "proc"),
    "hardware": ("verilog", "asic"),
    "proofs and attacks": ("prove", "attack"),
    "measurements": ("sweep", "compare", "report", "store"),
    "this installation": ("env",),
}
SUMMARIES = {
    "show": "list designs, papers and spaces; show one with its program, costs or pictures",
    "new": "start an accelerator of your own, a manifest of Verilog, or a lab of the course",
    "run": "run an operation at any level, or count its cycles by formula",
    "check": "run test vectors, or the tables of your own designs; grade a lab of the course",
    "proc": "run a program on the processor; measure systems and chips with it",
    "verilog": "write a design as SystemVerilog, or pack it as an IP core",
    "asic": "area, timing, power and layout; FPGA counts; crosschecks of the figures",
    "prove": "prove that a design does what its mathematics says",
    "attack": "test for leakage, and inject faults",
    "sweep": "measure a space of designs and print its Pareto fronts",
    "compare": "compare the papers' figures, or all cores, with ours",
    "report": "measure what is missing and write the report, one HTML page",
    "store": "show, export, compare, merge, check or reproduce measurements",
    "env": "show the cell libraries, the tools and the cache",
}


class Route(NamedTuple):
    """A form of a command: its module in commands/, when to use it, and its page in docs/."""

    module: str
    use: str
    page: str


# Each form: a command with the word or option that selects it.
ROUTES = {
    "show": Route("show.design", "see the parameters of a design", "tutorials/first-steps"),
    "show designs": Route("show.designs", "choose a design", "explanation/families"),
    "show papers": Route("show.papers", "look up a published figure and its errors", "explanation/papers"),
    "show spaces": Route("show.spaces", "choose a sweep", "howto/sweep"),
    "show --program": Route("show.program", "read what a machine does, step by step", "explanation/programs"),
    "show --costs": Route("show.programs", "decide which protections to pay for", "explanation/programs"),
    "show --tree": Route("show.draw", "see how a bit heap is compressed", "explanation/bit-heap"),
    "show --diagram": Route("show.diagram", "find your way in the RTL of a design", "howto/waveforms"),
    "show --wave": Route("show.wave", "show a handshake on a page or a slide", "howto/waveforms"),
    "show --schedule": Route("show.schedule", "see where the cycles of a program go", "explanation/programs"),
    "show --multiples": Route(
        "show.pseudo", "find out whether a modulus has an easy multiple", "explanation/montgomery"
    ),
    "new accelerator": Route(
        "new.accelerator", "start an accelerator of any kind in your own folder", "tutorials/accelerator"
    ),
    "new manifest": Route("new.manifest", "bring in Verilog from elsewhere", "howto/foreign-verilog"),
    "new wrapper": Route("new.wrapper", "adapt a core with other ports", "howto/foreign-verilog"),
    "new keys": Route("new.keys", "look up a key of a manifest", "howto/foreign-verilog"),
    "new lab": Route("new.lab", "start a lab of the course", "tutorials/course"),
    "run": Route("run", "try one operation, trace it, or record waveforms", "tutorials/first-steps"),
    "run --level formula": Route("cycles", "count cycles at any width at once", "explanation/levels"),
    "check": Route(
        "check", "test a design against third parties' vectors or your table", "tutorials/accelerator"
    ),
    "check --manifest": Route("check_manifest", "test a core before measuring it", "howto/foreign-verilog"),
    "check --lab": Route("check_lab", "see whether your lab is complete", "tutorials/course"),
    "proc": Route("proc", "run C on the processor and see where the cycles go", "howto/run-program"),
    "proc systems": Route("systems", "compare software with accelerators", "explanation/systems"),
    "proc soc": Route("soc", "see a machine at work in a complete chip", "howto/soc"),
    "verilog": Route("verilog", "take a design to other tools", "reference/protocol"),
    "verilog --package": Route("package", "hand a design to another team", "howto/package"),
    "asic": Route("asic", "learn area, clock and energy of a design", "howto/asic"),
    "asic --fpga": Route("fpga", "compare a design with published FPGA figures", "howto/asic"),
    "asic --crosscheck": Route("figures", "verify a figure with other tools", "explanation/figures"),
    "prove": Route("prove", "be sure about all inputs, not only the tested ones", "howto/prove"),
    "attack leakage": Route("attack.leak", "find out whether time or power reveals a secret", "howto/attack"),
    "attack faults": Route("attack.faults", "find out what a flipped bit can do", "howto/attack"),
    "attack all": Route("attack.everything", "see which protections hold", "howto/attack"),
    "sweep": Route("sweep", "measure a space of designs", "howto/sweep"),
    "sweep --dry-run": Route("sweep_plan", "see what a sweep would measure, and for how long", "howto/sweep"),
    "compare": Route("compare", "judge a design against published work", "howto/compare"),
    "report": Route("report", "get all results as one page", "howto/report"),
    "store": Route("store", "look up, move or check measurements", "howto/report"),
    "store reproduce": Route("reproduce", "repeat a measurement", "howto/report"),
    "env": Route("env", "find out what is installed and how large the cache is", "howto/asic"),
}


class Form(NamedTuple):
    """The module of a form, and its help, which is the docstring of the module."""

    summary: str
    text: str
    examples: str
    module: Any  # with OPTIONS and execute


def form_of(form: str) -> Form:
    """A form; its module is imported on demand."""
    module = import_module(f".commands.{ROUTES[form].module}", __package__)
    about, _, examples = (module.__doc__ or "").rstrip().partition("\n\nexamples:\n")
    summary, _, text = about.partition("\n\n")
    return Form(f"{summary[0].lower()}{summary[1:].removesuffix('.')}", text, examples, module)


def forms(command: str) -> list[str]:
    """The forms of a command."""
    return [form for form in ROUTES if form.split()[0] == command]


def words(command: str) -> list[str]:
    """The words that tell its forms apart."""
    return [form.split()[1] for form in forms(command) if form != command]


def find(argv: Sequence[str]) -> tuple[str, list[str]]:
    """Return the form that a command line selects, and its other arguments.

    `attack --help` selects no form: the result is the command itself.
    """
    name, *rest = argv
    for form in forms(name):
        if found := _place(form.split()[1:], rest):
            return form, rest[: found[0]] + rest[found[1] :]
    if name in ROUTES or (name in SUMMARIES and rest[:1] in ([], ["-h"], ["--help"])):
        return name, rest
    if name in SUMMARIES:
        raise unknown(f"form of {name}", rest[0], words(name))
    raise BadInput(f"{unknown('command', name, SUMMARIES)}; see `modexlab --help`")


def _place(selector: Sequence[str], rest: Sequence[str]) -> tuple[int, int] | None:
    """Start and end of a selector among arguments: a word must be the first, an option may be anywhere."""
    options = rest[: rest.index("--")] if "--" in rest else rest
    for at in range(len(options) if selector and selector[0].startswith("-") else 1):
        for length in (1, len(selector)):
            if selector and "=".join(rest[at : at + length]) == "=".join(selector):
                return at, at + length
    return None
