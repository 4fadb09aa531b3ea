"""Space: designs x widths x parameters x workloads x stages x flow settings, with constraints, from a TOML
file.

    title = "pipelines"
    description = "how deep a Montgomery machine should be"
    objectives = {time_ns = "min", area_um2 = "min"}
    constraints = ["nstages * steps_per_stage <= 32", "area_um2 < 20000"]

    [[part]]                                  # any number; a point in several parts is measured once
    designs = ["mont", "procxcel-mont"]       # or "all", {domain = ["scaled"], constant_time = true}, paths
    nbits = [32, 64]                          # or {from = 8, to = 64, step = 8}
                                              # or {from = 32, to = 4096, factor = 2}
    workloads = ["encrypt", "sign+9verify"]   # workload_names.py; default: encrypt; not of the flow
    stages = ["native", "flow"]               # stages.py; default: native
    interfaces = ["stream", "xcel"]           # default: stream; unit: the multiplier alone, in the flow
    [part.set]                                # parameters; a design without one ignores it
    nstages = [1, 2, 4]
    [part.flow]                               # settings of stages flow, layout and fpga
    clock_period = [2.0, 3.0]

A constraint over properties that are known before measuring (nbits, design, family, domain, stage, ...,
parameters, settings of the flow) excludes points. A constraint that contains a metric (area_um2,
energy_nj.decrypt) judges figures. A constraint does not apply to points that lack one of its names.
"""

import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from ...fl.errors import BadInput, shown, unknown
from ...fl.input_file import read_text
from ...fl.param import Count
from ...flow import typed_toml
from ..designs import catalogue
from ..designs.interfaces import DEFAULT, INTERFACES, SYSTEM, UNIT
from ..designs.machine import PROGRAMMED, Design
from ..designs.own import OwnDesign, require_comparable
from ..designs.protection import Requested
from ..designs.runnable import Runnable
from ..designs.system_catalogue import OPERATIONS, subject_of
from ..designs.workload_names import DECRYPT, ENCRYPT, check_name, compared_as
from ..grouping import grouped
from ..json_values import Json, spelled
from ..papers.expression import Expression
from . import pareto
from .flow_settings import FLOW_DEFAULTS, optional_flow
from .metrics import METRICS, OF_OPERATION, Figure, check_metric
from .point import Point, Settings
from .stages import DEFAULT as DEFAULT_STAGE
from .stages import FLOW, IMPLEMENTED, NATIVE, NETLIST, STAGES
from .store.reference import Reference

SPACES = Path(__file__).with_name("spaces")
SELECTORS = ("family", "domain", "schedule", "paper")  # of a design
CONSTANT_TIME = "constant_time"  # of a machine
MOST_VALUES = 100_000  # of a range
ENUMERABLE = 10_000  # points that are enumerated to draw some of them
FUTILE = 50  # random points per point wanted, after which a search ends
LISTED = "a file of results has points and no axes; drop it"
MOST_NUMBER_BITS = 5000  # a modulus has 4096 at most
DEFAULT_OBJECTIVES = {"cycles": "min"}
# names that a constraint may use in addition to parameters, settings of the flow and metrics
ABOUT = (
    "design",
    "subject",
    *SELECTORS,
    CONSTANT_TIME,
    "nbits",
    "interface",
    "workload",
    "stage",
)

Choose = Callable[[str, Sequence[Any]], Any]
Names = tuple[str, ...]
Axes = Mapping[str, tuple[Any, ...]]  # the values of each name
Fields = tuple[Any, ...]  # arguments of Point, in order
Own = Mapping[str, str]  # references of accelerators outside the catalogue, by name


def names() -> list[str]:
    """The names of the ready-made spaces."""
    return sorted(path.stem for path in SPACES.glob("*.toml"))


@dataclass(frozen=True)
class Part:
    """One product of axes; a point gets only the settings that apply to it."""

    subjects: Names
    nbits: tuple[int, ...]
    workloads: Names
    stages: Names
    interfaces: Names
    settings: Axes
    flow: Axes
    constraints: tuple[Expression, ...] = ()  # for the points of this part only

    def settings_of(self, *subjects: str) -> Axes:
        """The axes of the parameters that any of these designs has."""
        has = _params(subjects)
        return {name: values for name, values in self.settings.items() if name in has}

    def flow_of(self, stage: str) -> Axes:
        """The axes of the settings that this stage has."""
        has = _flow_names([stage])
        return {name: values for name, values in self.flow.items() if name in has}

    def workloads_of(self, stage: str) -> Names:
        """The workloads at a stage; stages of the flow run all operations at once."""
        return ("",) if stage in IMPLEMENTED else self.workloads

    def size(self) -> int:
        """An upper bound on the number of points."""
        by_stage = sum(
            len(self.workloads_of(stage)) * math.prod(map(len, self.flow_of(stage).values()))
            for stage in self.stages
        )
        by_subject = sum(math.prod(map(len, self.settings_of(subject).values())) for subject in self.subjects)
        return by_subject * by_stage * len(self.nbits) * len(self.interfaces)

    def fields(self) -> Iterator[Fields]:
        """The fields of all points, in order."""
        for stage, subject, nbits, interface in itertools.product(
            self.stages, self.subjects, self.nbits, self.interfaces
        ):
            axes = (
                self.workloads_of(stage),
                _product(self.settings_of(subject)),
                _product(self.flow_of(stage)),
            )
            for workload, settings, flow in itertools.product(*axes):
                yield subject, nbits, settings, interface, workload or ENCRYPT, stage, flow

    def protected(self, requested: Requested) -> Iterator["Part"]:
        """A part for each design that has a program, and for the widths at which its settings are equal. Such
        a machine does private operations only.
        """
        single = {name: values[0] for name, values in self.settings.items() if len(values) == 1}
        works = tuple(name for name in self.workloads if name != ENCRYPT) or (DECRYPT,)
        for subject in self.subjects:
            design = subject_of(subject).design
            if not isinstance(design, Design) or not design.programmed:
                continue

            def settings(nbits: int, design: Design = design) -> Settings:
                return tuple(requested.settings(design, nbits, single).items())

            for found, nbits in grouped(self.nbits, settings).items():
                axes = {name: (value,) for name, value in found} | dict(self.settings)
                yield replace(self, subjects=(subject,), nbits=tuple(nbits), workloads=works, settings=axes)

    @property
    def axes(self) -> Axes:
        """All axes by name, with their values."""
        return {
            "design": self.subjects,
            "nbits": self.nbits,
            "interface": self.interfaces,
            "stage": self.stages,
            "workload": self.workloads,
            **{f"set.{name}": values for name, values in self.settings.items()},
            **{f"flow.{name}": values for name, values in self.flow.items()},
        }

    def of_work(self, subjects: Names, work: tuple[Any, ...]) -> "Part":
        """The part of these subjects for one kind of work."""
        nbits, stage, interface, _, workload, device = work
        flow = self.flow_of(stage)
        return replace(
            self,
            subjects=subjects,
            nbits=(nbits,),
            stages=(stage,),
            interfaces=(interface,),
            workloads=(workload,) if workload else self.workloads,
            settings=self.settings_of(*subjects),  # without axes that have no effect
            flow={**flow, "device": (device,)} if device else flow,
        )

    def chosen(self, choose: Callable[[str], Any]) -> Fields:
        """The fields of the point that `choose` selects; it is called only for axes that matter to that
        point.
        """
        subject, stage, nbits, interface = map(choose, ("design", "stage", "nbits", "interface"))
        workload = ENCRYPT if stage in IMPLEMENTED else choose("workload")
        settings = tuple((name, choose(f"set.{name}")) for name in self.settings_of(subject))
        flow = tuple((name, choose(f"flow.{name}")) for name in self.flow_of(stage))
        return subject, nbits, settings, interface, workload, stage, flow


@dataclass
class Space:
    """Points to measure, with their objectives and constraints.

    points: a lazy iterator over all points without repetition. parameters, sample: the points as axes, for a
    search. Both note in `impossible` the points that no design can have, and in `excluded` those that a
    constraint leaves out. before, after: constraints on points and on figures.
    """

    title: str
    description: str
    objectives: Mapping[str, str]  # "min" or "max" by metric
    constraints: tuple[Expression, ...]
    parts: tuple[Part, ...]
    listed: tuple[Point, ...] = ()  # explicitly listed points
    impossible: dict[str, str] = field(default_factory=dict)  # the reason by point, as text
    excluded: dict[str, str] = field(default_factory=dict)  # the constraint by point
    unprotected: Names = ()  # designs left out by `protected`

    @classmethod
    def load(cls, name: str | Path, own: Own = MappingProxyType({})) -> "Space":
        """A ready-made space by name, a TOML file, or the points of a file of reference results. The file may
        name designs of `own`, whose values are their references; every part has those that it does not name.
        """
        path = SPACES / f"{name}.toml"
        if str(name) not in names():
            path = Path(name)
            if not path.exists() and path.suffix != ".toml" and len(path.parts) == 1:
                error = unknown("space", str(name), names())
                raise BadInput(f"{error}; or give a file, SPACE.toml")
        if path.suffix == ".jsonl":
            if own:
                raise BadInput(f"--accelerator with {name}: {LISTED}")
            return cls(path.stem, "", {}, (), (), tuple(Reference(path).points()))
        text = read_text(path, f"give a space ({', '.join(names())}) or a file of TOML")
        try:
            space = cls.parse(text, own)
        except BadInput as error:
            raise BadInput(f"{path.name}: {error}") from None
        named = {subject for part in space.parts for subject in part.subjects}
        return space.with_designs([reference for reference in own.values() if reference not in named])

    @classmethod
    def parse(cls, text: str, own: Own = MappingProxyType({})) -> "Space":
        """The space described by TOML text."""
        return _read_space(typed_toml.parse(text, SpaceFile), own)

    @classmethod
    def of(cls, designs: Sequence[OwnDesign]) -> "Space":
        """All listed values of the parameters of a user's accelerators, at the usual width of the first:
        simulated natively for cycles, and in the flow for time and area, the objectives.
        """
        parts = []
        for design in designs:
            axes = [
                f"{param.name} = {json.dumps(list(param.legal))}"
                for param in design.params
                if not isinstance(param.legal, Count)
            ]
            parts += [
                f'[[part]]\ndesigns = ["{design.name}"]\nnbits = [{designs[0].usual_nbits}]\n'
                f'stages = ["{NATIVE}", "{FLOW}"]\n[part.set]',
                *axes,
            ]
        title = ", ".join(design.name for design in designs)
        head = [f'title = "{title}"', 'objectives = {time_ns = "min", area_um2 = "min"}']
        return cls.parse("\n".join([*head, *parts]), {design.name: design.reference for design in designs})

    def require_comparable(self) -> None:
        """BadInput for accelerators of one function whose fields or workloads differ."""
        first: dict[tuple[str, int], Runnable] = {}
        for part in self.parts:
            for subject, nbits in itertools.product(part.subjects, part.nbits):
                design = subject_of(subject).design
                if isinstance(design, OwnDesign):
                    machine = design.at(nbits)
                    require_comparable(first.setdefault((compared_as(machine), nbits), machine), machine)

    def with_designs(self, references: Sequence[str]) -> "Space":
        """A copy with these designs in every part."""
        parts = (
            replace(part, subjects=(*dict.fromkeys((*part.subjects, *references)),)) for part in self.parts
        )
        return replace(self, parts=tuple(parts))

    def protected(self, requested: Requested) -> "Space":
        """A copy with the private operation that --crt, --blind and --verify request, on the designs that
        have a program; settings of the file take precedence. BadInput if no design has a program.
        """
        if not requested.any:
            return self
        if self.listed:
            raise BadInput(f"{requested.options[0]} with {self.title}: {LISTED}")
        parts = tuple(itertools.chain.from_iterable(part.protected(requested) for part in self.parts))
        kept = {subject for part in parts for subject in part.subjects}
        names = dict.fromkeys(subject for part in self.parts for subject in part.subjects)
        if not parts:
            raise BadInput(
                f"--crt, --blind or --verify with {', '.join(names) or self.title}: no design there has a "
                f"program; add {PROGRAMMED}"
            )
        return replace(self, parts=parts, unprotected=tuple(name for name in names if name not in kept))

    # ---- its points

    def size(self) -> int:
        """An upper bound on the number of points, which includes impossible, excluded and repeated ones."""
        return len(self.listed) + sum(part.size() for part in self.parts)

    def points(self) -> Iterator[Point]:
        """All possible points that the constraints allow, one at a time; BadInput at the end if there are
        none.
        """
        empty = True
        for point in self.possible():
            empty = False
            yield point
        if empty:
            raise self.empty()

    def possible(self) -> Iterator[Point]:
        """The same points, without an error if there are none."""
        seen = set(self.listed)
        yield from self.listed
        for part in self.parts:
            for fields in part.fields():
                point = self._point(part, fields)
                if point is not None and point not in seen:
                    seen.add(point)
                    yield point

    def _point(self, part: Part, fields: Fields) -> Point | None:
        """The point with these fields; None, and a note, if it is impossible or excluded."""
        try:
            point = Point(*fields)
            point.check()
        except BadInput as error:
            self.impossible[_in_words(fields)] = str(error)
            return None
        if broken := self.before(point, part.constraints):
            self.excluded[_in_words(fields)] = broken[0]
            return None
        return point

    @property
    def left_out(self) -> Counter[str]:
        """The number of excluded points by constraint."""
        return Counter(self.excluded.values())

    def empty(self) -> BadInput:
        """The error for a space in which no point was found."""
        reasons = [f'constraint "{text}" leaves out {count}' for text, count in self.left_out.most_common()]
        for what, why in [*self.impossible.items()][:1]:
            reasons.append(f"{len(self.impossible)} are impossible, as {what} ({why})")
        tried = min(self.size(), len(self.impossible) + len(self.excluded))
        return BadInput(f"the space is empty: of {tried} points, {'; '.join(reasons) or 'none is left'}")

    def random_points(self, count: int, seed: int) -> list[Point]:
        """A uniform sample of the points of a small space, or else a random value for each axis."""
        generator = random.Random(seed)
        if self.size() <= ENUMERABLE:
            points = list(self.points())
            return generator.sample(points, min(count, len(points)))
        found: dict[Point, None] = {}
        for _ in range(FUTILE * count):
            if (point := self._drawn(generator)) is not None:
                found[point] = None
            if len(found) == count:
                break
        if not found:
            raise self.empty()
        return list(found)

    def _drawn(self, generator: random.Random) -> Point | None:
        return self.sample(lambda _, values: generator.choice(values))

    def at_most(self, seed: int, draws: int) -> int:
        """An upper bound on the number of points, exact for a small space; 0 if no draw is possible."""
        generator = random.Random(seed)
        if all(self._drawn(generator) is None for _ in range(draws)):
            return 0
        return self.size() if self.size() > ENUMERABLE else len(list(self.points()))

    @property
    def parameters(self) -> Axes:
        """The axes of a search, by name. All points share the names, but not every point uses every axis."""
        return {
            **({"part": tuple(range(len(self.parts)))} if len(self.parts) > 1 else {}),
            **{
                f"{self._prefix(index)}{name}": values
                for index, part in enumerate(self.parts)
                for name, values in part.axes.items()
            },
        }

    def _prefix(self, index: int) -> str:
        """The prefix of the axis names of a part."""
        return f"{index}." if len(self.parts) > 1 else ""

    def sample(self, choose: Choose) -> Point | None:
        """The point selected by choose(name, values) -> value; None if it is impossible or excluded."""
        index = choose("part", range(len(self.parts))) if len(self.parts) > 1 else 0
        part, prefix = self.parts[index], self._prefix(index)
        return self._point(part, part.chosen(lambda name: choose(f"{prefix}{name}", part.axes[name])))

    def by_work(self) -> list["Space"]:
        """The space, split into one for each kind of work (see sweep.Work)."""
        subjects: dict[tuple[Any, ...], dict[int, dict[str, None]]] = {}  # by work and part
        for number, part in enumerate(self.parts):
            for stage, nbits, interface, subject in itertools.product(
                part.stages, part.nbits, part.interfaces, part.subjects
            ):
                point = Point(subject, nbits, interface=interface, stage=stage)
                devices = part.flow_of(stage).get("device", ("",))
                for of_stage in itertools.product(part.workloads_of(stage), devices):
                    work = (nbits, stage, point.interface, point.has_own_modulus, *of_stage)
                    subjects.setdefault(work, {}).setdefault(number, {})[subject] = None
        return [
            replace(
                self, parts=tuple(self.parts[at].of_work(tuple(names), work) for at, names in found.items())
            )
            for work, found in subjects.items()
        ]

    # ---- its constraints

    def before(self, point: Point, more: Sequence[Expression] = ()) -> list[str]:
        """The constraints that this point breaks, as far as known before it is measured; `more`: constraints
        of its part.
        """
        known = [constraint for constraint in self.constraints if not _on_figures(constraint)]
        return _broken([*more, *known], [about(point)])

    def after(self, point: Point, figures: Sequence[Figure]) -> list[str]:
        """The constraints on figures that this point breaks in any of its operations."""
        values = about(point)
        found = [{**values, **metrics} for metrics in by_operation(figures)]
        return _broken(filter(_on_figures, self.constraints), found)


def _on_figures(constraint: Expression) -> bool:
    return any(name.partition(".")[0] in METRICS for name in constraint.names)


def _broken(constraints: Iterable[Expression], found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The constraints that any of these values break; a constraint with an unknown name does not apply."""
    return [
        constraint.text
        for constraint in constraints
        if any(constraint.names <= values.keys() and not constraint.value(values) for values in found)
    ]


def about(point: Point) -> Json:
    """The properties of a point that are known before it is measured, by the names that constraints use."""
    design = point.design
    values = {
        "subject": point.label,
        "design": point.label if design is None else design.name,
        "nbits": point.nbits,
        "interface": point.interface,
        "workload": point.workload,
        "stage": point.stage,
    }
    if design is not None:
        values |= {name: getattr(design, name) for name in SELECTORS if hasattr(design, name)}
        values[CONSTANT_TIME] = point.machine.traits.constant_time
    return values | dict(point.flow) | point.resolved


def by_operation(figures: Sequence[Figure]) -> list[Json]:
    """The values by metric for each operation; each includes metric.operation of all operations."""
    dotted = {f"{figure.metric}.{figure.operation}": figure.value for figure in figures if figure.operation}
    return [{**dotted, **values} for values in pareto.by_operation(figures).values()]


def _params(subjects: Iterable[str]) -> dict[str, list[Any]]:
    """The parameters of these designs, by name."""
    designs = [design for name in subjects if (design := subject_of(name).design) is not None]
    return grouped((param for design in designs for param in design.params), attrgetter("name"))


def _flow_names(stages: Iterable[str]) -> set[str]:
    """The settings of the flow at these stages."""
    implemented = (stage for stage in stages if stage in IMPLEMENTED)
    return {name for stage in implemented for name in (*FLOW_DEFAULTS[stage], *optional_flow(stage))}


def _product(axes: Axes) -> Iterator[tuple[tuple[str, Any], ...]]:
    for values in itertools.product(*axes.values()):
        yield tuple(zip(axes, values, strict=True))


def _in_words(fields: Fields) -> str:
    """A description of a point that cannot be constructed."""
    subject, nbits, settings, interface, workload, stage, flow = fields
    given = (f"{name}={value}" for name, value in (*settings, *flow))
    work = "" if stage in IMPLEMENTED else workload
    return ", ".join(filter(None, (subject, f"{nbits} bits", interface, work, stage, *given)))


# ---- reading

Scalar = bool | int | float | str
Words = str | list[str]


class Range(msgspec.Struct, forbid_unknown_fields=True):
    """{from, to, step} increases by step, {from, to, factor} by factor, both up to and including `to`."""

    first: int | float = msgspec.field(name="from")
    to: int | float
    step: int | float | None = None
    factor: int | float | None = None


Axis = Scalar | list[Scalar] | Range


class PartFile(msgspec.Struct, forbid_unknown_fields=True):
    """A part as written in the file."""

    designs: str | list[str] | dict[str, Scalar | list[Scalar]]
    nbits: Axis
    workloads: Words | msgspec.UnsetType = msgspec.UNSET
    stages: Words = DEFAULT_STAGE
    interfaces: Words = DEFAULT.name
    set: dict[str, Axis] = {}
    flow: dict[str, Axis] = {}


class SpaceFile(msgspec.Struct, forbid_unknown_fields=True):
    """The contents of a file."""

    title: str = ""
    description: str = ""
    objectives: dict[str, str] = msgspec.field(default_factory=lambda: dict(DEFAULT_OBJECTIVES))
    constraints: Words = []
    part: list[PartFile] = []


def _read_space(file: SpaceFile, own: Own) -> Space:
    _check_numbers(msgspec.to_builtins(file))
    if not file.part:
        raise BadInput("a space without a part; add [[part]] with designs = [...] and nbits = [...]")
    parts = []
    for number, part in enumerate(file.part, 1):
        try:
            parts.append(_read_part(part, own))
        except BadInput as error:
            raise BadInput(f"part {number}: {error}" if len(file.part) > 1 else str(error)) from None
    _check_objectives(file.objectives, parts)
    constraints = tuple(map(Expression, _words(file.constraints)))
    known = _known_names(parts)
    for constraint in constraints:
        constraint.require(known)
    return Space(file.title, file.description, file.objectives, constraints, tuple(parts))


def _check_numbers(value: Any, name: str = "") -> None:
    """BadInput for an unusable number anywhere in the file."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_numbers(entry, key)
    elif isinstance(value, list):
        for entry in value:
            _check_numbers(entry, name)
    elif isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"{name}: {value} is no number to measure at; give a finite one")
    elif isinstance(value, int) and value.bit_length() > MOST_NUMBER_BITS:
        raise BadInput(f"{name}: {shown(value)} is too long; give at most {MOST_NUMBER_BITS} bits")


def _check_objectives(value: Mapping[str, str], parts: Sequence[Part]) -> None:
    if not value:
        raise BadInput('objectives = {}: give a direction for each metric, as in {time_ns = "min"}')
    stages = {stage for part in parts for stage in part.stages}
    for metric in value:
        check_metric(metric)
        having = METRICS[metric].stages
        if stages.isdisjoint(having):
            raise BadInput(
                f"objective {metric}: no stage of this space ({', '.join(sorted(stages))}) measures it; "
                f"add one of stages {', '.join(stage for stage in STAGES if stage in having)}"
            )
    pareto.goals_of(value)


def _known_names(parts: Sequence[Part]) -> set[str]:
    """The names that constraints may use."""
    stages = {stage for part in parts for stage in part.stages}
    parameters = _params(subject for part in parts for subject in part.subjects)
    of_work = {f"cycles.{name}" for part in parts for name in part.workloads}
    of_run = {f"{metric}.{operation}" for metric in OF_OPERATION for operation in OPERATIONS}
    known = {*ABOUT, *METRICS, *parameters, *_flow_names(stages), *of_work}
    return known if stages.isdisjoint(NETLIST) else known | of_run


def _read_part(part: PartFile, own: Own) -> Part:
    chosen = dict(part.designs) if isinstance(part.designs, dict) else part.designs
    promised = chosen.pop(CONSTANT_TIME, []) if isinstance(chosen, dict) else []
    wanted = promised if isinstance(promised, list) else [promised]
    if not all(isinstance(value, bool) for value in wanted):
        raise BadInput(f"{CONSTANT_TIME} = {promised!r}: give true, or false")
    constraints = tuple(Expression(f"{CONSTANT_TIME} == {spelled(value)}") for value in set(wanted))
    if len(constraints) > 1:  # both true and false are accepted
        constraints = ()
    subjects = _subjects(chosen, own)
    stages = _checked_names("stage", part.stages, STAGES)
    interfaces = _checked_names("interface", part.interfaces, (*INTERFACES, SYSTEM, UNIT))
    if part.workloads is not msgspec.UNSET and set(stages) <= {*IMPLEMENTED}:
        raise BadInput(
            f"workloads = {spelled(part.workloads)} at stages {', '.join(stages)}: the flow measures all "
            "of them at once; drop workloads, or add a stage such as native"
        )
    workloads = tuple(dict.fromkeys(_words(ENCRYPT if part.workloads is msgspec.UNSET else part.workloads)))
    designs = [design for name in subjects if isinstance(design := subject_of(name).design, OwnDesign)]
    of_designs = {name for design in designs for name in design.at(design.usual_nbits).workloads()}
    for name in workloads:
        if name not in of_designs:
            check_name(name)
    if not workloads:
        raise BadInput("workloads is empty; give one, such as encrypt")
    nbits = _values("nbits", part.nbits)
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in nbits):
        raise BadInput(f"nbits = {part.nbits!r}: widths are whole numbers")
    settings = {name: _values(name, value) for name, value in part.set.items()}
    flow = {name: _values(name, value) for name, value in part.flow.items()}
    _check_settings(subjects, settings)
    _check_flow(stages, flow)
    return Part(subjects, nbits, workloads, stages, interfaces, settings, flow, constraints)


def _checked_names(kind: str, value: Words, known: Collection[str]) -> Names:
    given = tuple(dict.fromkeys(_words(value)))
    for name in given:
        if name not in known:
            raise unknown(kind, name, known)
    if not given:
        raise BadInput(f"{kind}s is empty; give one of {', '.join(known)}")
    return given


def _subjects(value: Any, own: Own) -> Names:
    if value == "all":
        return tuple(design.name for design in catalogue.designs())
    if isinstance(value, dict):
        return _selected(value, catalogue.designs())
    given = tuple(dict.fromkeys(_words(value)))
    if not given:
        raise BadInput('designs is empty; give some, as in designs = ["mont"]')
    return tuple(own.get(name) or subject_of(name).name for name in given)


def _selected(selectors: Mapping[str, Any], designs: Sequence[Design]) -> Names:
    """The designs that match all selectors; a selector lists alternatives."""
    wanted = {}
    for key, value in selectors.items():
        if key not in SELECTORS:
            raise unknown("selector of designs", key, (*SELECTORS, CONSTANT_TIME))
        wanted[key] = value if isinstance(value, list) else [value]
        there = list(dict.fromkeys(getattr(design, key) for design in designs))
        for name in wanted[key]:
            if name not in there:
                raise unknown(key, str(name), list(map(str, there)))
    found = [
        design.name
        for design in designs
        if all(getattr(design, key) in values for key, values in wanted.items())
    ]
    if not found:
        asked = ", ".join(f"{key} = {value!r}" for key, value in selectors.items())
        raise BadInput(f"no design has {asked}; `modexlab show designs` lists them")
    return tuple(found)


def _values(name: str, value: Axis) -> tuple[Any, ...]:
    """The values of an axis: a list, a single value, or a range."""
    if isinstance(value, Range):
        try:
            return _values_of_range(name, value)
        except OverflowError:  # floats end at 1.8e308
            raise BadInput(
                f"{name}: this range goes further than numbers can be told apart; give a smaller `to`"
            ) from None
    values = value if isinstance(value, list) else [value]
    if not values:
        raise BadInput(f"{name} is empty; give at least one value")
    return tuple({(type(entry), entry): entry for entry in values}.values())


def _values_of_range(name: str, value: Range) -> tuple[Any, ...]:
    first, last, factor = value.first, value.to, value.factor
    if value.step is not None and factor is not None:
        raise BadInput(f"{name}: a range goes up by step or by factor, not both")
    step = 1 if value.step is None else value.step
    if last < first:
        raise BadInput(f"{name}: the range from {first} to {last} is empty; give a `to` of {first} or more")
    if factor is not None:
        if factor <= 1 or first <= 0:
            raise BadInput(
                f"{name}: a range by factor {factor} from {first} does not go up; give 2 from 1, say"
            )
        count = math.floor(math.log(last / first, factor) + 1e-9) + 1
        values = (first * factor**index for index in range(count))
    else:
        if step <= 0:
            raise BadInput(f"{name}: step = {step} does not go up; give more than 0")
        count = math.floor((last - first) / step + 1e-9) + 1
        values = (first + index * step for index in range(count))
    if count > MOST_VALUES:
        raise BadInput(f"{name}: {count} values; give at most {MOST_VALUES}")
    return tuple(round(entry, 9) if isinstance(entry, float) else entry for entry in values)


def _check_settings(subjects: Sequence[str], settings: Axes) -> None:
    """BadInput for a name that is no parameter of any of these designs, or a value that is legal in none."""
    params = _params(subjects)
    for name, values in settings.items():
        if name not in params:
            raise unknown("parameter of these designs", name, params)
        for value in values:
            errors = []
            for param in params[name]:
                try:
                    param.checked(value)
                except BadInput as error:
                    errors.append(error)
            if len(errors) == len(params[name]):
                raise errors[0]


def _check_flow(stages: Sequence[str], flow: Axes) -> None:
    if flow and set(stages).isdisjoint(IMPLEMENTED):
        raise BadInput(
            f"settings of the flow without such a stage; add one of {', '.join(IMPLEMENTED)} to stages"
        )
    for name in flow:
        if name not in (known := _flow_names(stages)):
            raise unknown("setting of the flow", name, sorted(known))


def _words(value: Words) -> list[str]:
    """A list of words; a single word becomes a list."""
    return [value] if isinstance(value, str) else value
