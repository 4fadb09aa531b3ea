"""Graph of the flow: the classes in steps/, connected by the names of their files.

`modexlab asic` runs the steps (runner.py); mflowgen builds its graph from the same classes (construct.py). A
file has the same name in the whole graph, so the files that a step writes and reads are all its connections.

The steps of `OUTSIDE` are not in this order. They connect nodes of other tools in graphs of mflowgen
(examples/), and may write a file of a step that these nodes replace.
"""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType
from typing import Any

from ...fl.errors import BadInput, unknown
from .. import source
from ..metric import KNOWN, Metric
from . import steps, tools
from .step import Parameter, Step, Tool
from .step import checked as checked_values

NO_VECTORS = "no vectors are given for this Verilog: give some by --vectors FILE"
# uses whichever inputs exist; all other steps need all of their inputs
LENIENT = "summary"
VECTORS = source.WORKLOAD  # requests with the expected responses
PLACEMENT = "placement.json"  # the first file of layout


def _found() -> Iterator[Step[Any]]:
    """The steps that the modules of all folders define; BadInput for a folder or a module that is wrong."""
    folders = list(map(Path, steps.__path__))
    seen: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise BadInput(
                f"{steps.VARIABLE}={folder}: there is no such folder; make it, or unset {steps.VARIABLE}"
            )
        for item in pkgutil.iter_modules([str(folder)]):
            path = folder / f"{item.name}.py"
            if item.name in seen:
                raise BadInput(f"{path} has the name of {seen[item.name]}: rename it")
            seen[item.name] = path
            module = _imported(item.name, path, own=folder in steps.OWN)
            for kind in vars(module).values():
                if isinstance(kind, type) and issubclass(kind, Step) and kind.__module__ == module.__name__:
                    yield kind()


def _imported(name: str, path: Path, own: bool) -> ModuleType:
    """A module of steps; BadInput if it is a user's own and raises an error."""
    try:
        return importlib.import_module(f"{steps.__name__}.{name}")
    except Exception as error:
        if not own:
            raise
        raise BadInput(
            f"{path}: {type(error).__name__}: {error}; mend it, or unset {steps.VARIABLE}"
        ) from error


@functools.cache
def _after(file: str) -> set[str]:
    """The steps that need this file, directly or through other steps' outputs, except for the summary."""
    own = {name for name, step in _STEPS.items() if name != LENIENT and file in step.inputs}
    return own.union(*(_after(made) for name in own for made in _STEPS[name].outputs))


def _depths(needs: Mapping[str, Collection[str]]) -> dict[str, int]:
    """For each step, the number of steps on the longest path from the start of the graph."""
    depths: dict[str, int] = {}
    try:
        for name in TopologicalSorter(needs).static_order():
            depths[name] = 1 + max((depths[need] for need in needs[name]), default=0)
    except CycleError as error:
        raise BadInput(f"steps that need each other: {', '.join(error.args[1][1:])}") from None
    return depths


def _by(
    key: Callable[[Step[Any]], Iterable[str]], what: str, steps: Iterable[Step[Any]]
) -> dict[str, Step[Any]]:
    """The step of each name or file; BadInput if two steps have the same."""
    found: dict[str, Step[Any]] = {}
    for step in steps:
        for item in key(step):
            if item in found:
                modules = f"{type(found[item]).__module__} and {type(step).__module__}"
                raise BadInput(f"two steps, in {modules}, have the {what} {item}: rename one")
            found[item] = step
    return found


_ALL = _by(lambda step: [step.name], "name", _found())
_STEPS = {name: step for name, step in _ALL.items() if step.in_order}
OUTSIDE = tuple(sorted(_ALL.keys() - _STEPS.keys()))
MAKERS = {file: step.name for file, step in _by(lambda step: step.outputs, "output", _STEPS.values()).items()}
_NEEDS = {name: {MAKERS[file] for file in step.inputs if file in MAKERS} for name, step in _STEPS.items()}
_DEPTHS = _depths(_NEEDS)
_LAYOUT = _after(PLACEMENT) | {MAKERS[PLACEMENT]}
# each step after those that it needs, layout after all other steps, the summary last
ORDER = tuple(
    sorted(_STEPS, key=lambda name: (name == LENIENT, name in _LAYOUT, _DEPTHS[name], name)),
)
WITH_LAYOUT = tuple(name for name in ORDER if name in _LAYOUT)
WITH_VECTORS = tuple(name for name in ORDER if name in _after(VECTORS))


def step(name: str) -> Step[Any]:
    """A step, in the order or not; BadInput for an unknown name."""
    if name not in _ALL:
        raise unknown("step", name, (*ORDER, *OUTSIDE))
    return _ALL[name]


def ordered(name: str) -> Step[Any]:
    """A step of the order; BadInput for any other name."""
    if name in OUTSIDE:
        where = "graphs of mflowgen with nodes of other tools"
        raise BadInput(f"the step {name} is only in {where}: see docs/howto/mflowgen.md")
    return step(name)


@functools.cache
def metrics() -> dict[str, Metric]:
    """The metrics of all steps by name: those of metric.py in its order, then others."""
    measured = {metric.name: metric for name in ORDER for metric in step(name).metrics}
    known = {metric.name: metric for metric in KNOWN if metric.name in measured}
    return known | measured


def module_of(name: str) -> str:
    """The name of the module that defines a step, inside this package."""
    return type(step(name)).__module__.partition(".")[2]


def tool(name: str) -> tuple[str, str]:
    """Name and version of a step's tool; BadInput if it is missing."""
    asked = step(name)
    try:
        return asked.tool.name, _version(asked.tool)
    except BadInput:
        if asked.own_estimate:
            return tools.OURS, tools.ours()
        raise


@functools.cache
def _version(tool: Tool) -> str:
    return tool.version()


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
    judges = {step(name).judged_by for name in needed([target])}
    return [target, *(name for name in ORDER if name in judges and name != target)]


def without(names: Collection[str], reasons: Mapping[str, str]) -> dict[str, str]:
    """The steps that cannot run, with the reasons: those in `reasons`, and all that need their files."""
    out = {}
    for name in ORDER:
        lost = [need for need in sources(name) if need in out] if name != LENIENT else []
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


@functools.cache
def parameters() -> Mapping[str, Parameter]:
    """All parameters of the steps, except those of the design; BadInput if two steps describe one of them
    differently.
    """
    found: dict[str, Parameter] = {}
    for name in (*ORDER, *OUTSIDE):
        for key, described in step(name).params.described().items() if name != source.STEP else ():
            if found.setdefault(key, described) != described:
                raise BadInput(f"the parameter {key} of {name} is not that of another step: rename it")
    return found


def defaults() -> dict[str, Any]:
    """All parameters of the steps, except those of the design, with their defaults."""
    return {name: described.default for name, described in parameters().items()}


def checked(values: Mapping[str, Any], known: Mapping[str, Parameter] | None = None) -> dict[str, Any]:
    """The values of all parameters of the flow, or of those that are known, of which some are given."""
    return checked_values(values, parameters() if known is None else known)
