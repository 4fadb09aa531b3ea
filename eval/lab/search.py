"""Search strategies: the order in which the points of a space are measured.

    exhaustive   every point, in the order of the space
    random       a uniform random sample without repetition
    nsga2        the genetic algorithm of Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist
                 multiobjective genetic algorithm: NSGA-II", IEEE Trans. Evol. Comput. 6(2), 2002, as
                 implemented in Optuna

Optuna is used instead of pymoo because its ask-and-tell interface accepts failed trials (pymoo needs a value
for each, which would have to be invented) and constraints that are known only after measuring. It is pure
Python on top of NumPy, with nothing to compile, and its other samplers (TPE) fit in the same place. The study
is kept in memory; measurements are stored only in the ledger.

A search can resume because the points of a generation are proposed together, and their results are returned
to the sampler together, in the order of the proposals. The course of a search depends only on the seed and
the results, not on which worker was first. The same command therefore repeats the search, and finds the
points measured before in the ledger. If the sampler proposes a point again, the point is not measured twice;
the sampler is asked for another one.

The sampler receives figures unchanged. A point that breaks a constraint on figures, or whose figures are
marked as not comparable, counts as violating a constraint (it loses against any point that does not). A point
that is impossible, or could not be measured, is a failed trial, which has no offspring.
"""

import itertools
import math
import random
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...fl.errors import BadInput, unknown
from ..designs.interfaces import SYSTEM
from .pareto import Vector
from .point import Point
from .space import Choose, Space

METHODS = ("exhaustive", "random", "nsga2")
ENUMERABLE = 10_000  # combinations that are enumerated before a search begins
MOST_POINTS = 100_000  # of an exhaustive search
POPULATION = 16  # of a generation: small, because points are expensive
BY_CONSTRAINT = re.compile(r'the constraint "(.*)" refuses it')  # Space.sample
FUTILE = 50  # random points per point wanted, after which the search ends


Refused = dict[str, str]  # impossible random points: the choice as text, and the reason


class Judged(NamedTuple):
    """Result of a point for the search."""

    vector: Vector | None  # all to be minimised; None: no figures
    violations: int = 0  # of constraints on figures


Results = Mapping[str, Judged]  # by key of the point
Trial = tuple[Any, str]  # Optuna's, and the key of its point


class Search(ABC):
    """Proposes points in batches, and learns from each batch before the next."""

    def __init__(self, count: int, refused: Refused | None = None) -> None:
        self.count = count  # points that it proposes, or fewer if the space has no more
        self.refused: Refused = refused or {}

    @abstractmethod
    def ask(self) -> list[Point]:
        """Points that have not been proposed before; empty at the end of the search."""

    def tell(self, results: Results) -> None:  # noqa: B027 (nothing to learn for most)
        """Learn from the results of the batch, by key."""


class Exhaustive(Search):
    """All of these points, in order."""

    def __init__(self, points: list[Point], refused: Refused | None = None) -> None:
        super().__init__(len(points), refused)
        self._points = points

    def ask(self) -> list[Point]:
        points, self._points = self._points, []
        return points


def random_search(space: Space, count: int, seed: int) -> Search:
    """Random points: a uniform sample of all points of a small space, or else a random value for each
    parameter of the space.
    """
    generator = random.Random(seed)
    if space.size() <= ENUMERABLE:
        points = list(space.points())
        return Exhaustive(generator.sample(points, min(count, len(points))))
    refused: Refused = {}
    draws = (draw(space, generator, refused) for _ in range(FUTILE * count))
    found: dict[Point, None] = {}
    for point in filter(None, draws):
        found[point] = None
        if len(found) == count:
            break
    if not found:
        raise _nothing_found(refused)
    return Exhaustive(list(found), refused)


def draw(space: Space, generator: random.Random, refused: Refused) -> Point | None:
    """A random point; None if it is impossible, and then `refused` has the reason."""
    return _sample(space, lambda _, values: generator.choice(values), refused)


def _sample(space: Space, pick: Choose, refused: Refused) -> Point | None:
    chosen = {}

    def choose(name: str, values: Sequence[Any]) -> Any:
        chosen[name] = pick(name, values)
        return chosen[name]

    try:
        return space.sample(choose)
    except BadInput as error:
        refused[", ".join(f"{name}={value}" for name, value in chosen.items())] = str(error)
        return None


def _nothing_found(refused: Refused) -> BadInput:
    """The error for a space in which no random point was possible."""
    by_constraint = Counter(match[1] for why in refused.values() if (match := BY_CONSTRAINT.search(why)))
    reasons = [f'constraint "{text}" refuses {count}' for text, count in by_constraint.most_common()]
    impossible = [item for item in refused.items() if not BY_CONSTRAINT.search(item[1])]
    for what, why in impossible[:1]:
        reasons.append(f"{len(impossible)} are impossible, as {what} ({why})")
    return BadInput(f"of {len(refused)} points that were drawn none can be measured: {'; '.join(reasons)}")


class Nsga2(Search):
    """Generations that descend from the best points of earlier ones; the space has one kind of work."""

    def __init__(self, space: Space, count: int, seed: int) -> None:
        import optuna

        super().__init__(count)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._failed = optuna.trial.TrialState.FAIL
        self._space = space
        self._population = max(2, min(POPULATION, count))
        sampler = optuna.samplers.NSGAIISampler(population_size=self._population, seed=seed)
        self._study = optuna.create_study(sampler=sampler, directions=["minimize"] * len(space.objectives))
        self._genes: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.IntDistribution(0, len(values) - 1)  # by index: NSGA-II needs no order
            for name, values in space.parameters.items()
            if len(values) > 1
        }
        self._known: dict[str, Judged] = {}
        self._handed: set[str] = set()
        self._asked: list[Trial] = []  # of this generation

    def _point(self, genes: Mapping[str, int]) -> Point | None:
        return _sample(self._space, lambda name, values: values[genes.get(name, 0)], self.refused)

    def ask(self) -> list[Point]:
        """The points of a generation that are new."""
        new: dict[str, Point] = {}
        repeated = []
        wanted = min(self._population, self.count - len(self._handed))
        for _ in range(FUTILE * wanted):
            if len(new) == wanted:
                break
            trial = self._study.ask(self._genes)
            point = self._point(trial.params)
            if point is None:
                self._study.tell(trial, state=self._failed)
            elif point.key in self._known or point.key in new:
                repeated.append((trial, point.key))
            else:
                new[point.key] = point
                self._asked.append((trial, point.key))
        # a generation that lacks new points is filled with old ones: they are good, or they would not recur
        places = self._population - len(self._asked)
        self._asked += repeated[:places]
        for trial, _ in repeated[places:]:
            self._study.tell(trial, state=self._failed)
        self._handed |= new.keys()
        return list(new.values())

    def tell(self, results: Results) -> None:
        self._known.update(results)
        for trial, key in self._asked:
            judged = self._known.get(key)
            if judged is None or judged.vector is None:
                self._study.tell(trial, state=self._failed)
                continue
            trial.set_constraint("figures", judged.violations)
            self._study.tell(trial, judged.vector)
        self._asked = []


class Several(Search):
    """Concurrent searches, one for each kind of work, whose figures are not comparable with each other."""

    def __init__(self, searches: Sequence[Search]) -> None:
        super().__init__(sum(search.count for search in searches))
        self._searches = searches

    def ask(self) -> list[Point]:
        batch = [point for search in self._searches for point in search.ask()]
        for search in self._searches:
            self.refused.update(search.refused)
        return batch

    def tell(self, results: Results) -> None:
        for search in self._searches:
            search.tell(results)


# ---- searches by name


def make_search(space: Space, method: str, count: int, seed: int) -> Search:
    """The search with this name over a space."""
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    if method == "random":
        return random_search(space, count, seed)
    if method == "nsga2":
        return _by_generations(space, count, seed)
    if space.size() > MOST_POINTS:
        raise BadInput(
            f"the space has up to {space.size():,} points, and --method exhaustive measures at most "
            f"{MOST_POINTS:,}; "
            "give --method nsga2 --points N, or --method random --points N"
        )
    return Exhaustive(list(space.points()))


def _by_generations(space: Space, count: int, seed: int) -> Search:
    """A search for each kind of work; small spaces leave their unused points to the others."""
    refused: Refused = {}
    works = [
        (item, points) for item in by_work(space) if (points := _points_at_most(item, seed, refused)) > 0
    ]
    if not works:
        raise _nothing_found(refused)
    searches = []
    works.sort(key=lambda work: work[1])
    for number, (item, points) in enumerate(works):
        share = min(points, math.ceil(count / (len(works) - number)))
        if share > 0:
            searches.append(Nsga2(item, share, seed))
        count -= share
    return Several(searches)


def _points_at_most(space: Space, seed: int, refused: Refused) -> int:
    """An upper bound on the number of points, exact for a small space; 0 if none was found, and then
    `refused` has the reasons.
    """
    generator = random.Random(seed)
    draws = FUTILE * POPULATION
    found = any(draw(space, generator, refused) is not None for _ in range(draws))
    if space.size() > ENUMERABLE or not found:
        return space.size() if found else 0
    return len(list(space.points()))


def by_work(space: Space) -> list[Space]:
    """The space, split into one for each kind of work (see explore.Work)."""
    subjects: dict[tuple[Any, ...], dict[int, dict[str, None]]] = {}  # by work and part
    for number, part in enumerate(space.parts):
        for stage, nbits, interface, subject in itertools.product(
            part.stages, part.nbits, part.interfaces, part.subjects
        ):
            point = Point(subject, nbits, interface=interface, stage=stage)
            params = point.design.params if point.design is not None and point.interface != SYSTEM else ()
            # whether the machine is for one modulus other than that of the key
            one_modulus = any(param.name == "modulus" for param in params)
            devices = part.flow_of(stage).get("device", ("",))
            for of_stage in itertools.product(part.workloads_of(stage), devices):
                work = (nbits, stage, point.interface, one_modulus, *of_stage)
                subjects.setdefault(work, {}).setdefault(number, {})[subject] = None
    spaces = []
    for (nbits, stage, interface, _, workload, device), by_part in subjects.items():
        parts = []
        for number, names in by_part.items():
            part = space.parts[number]
            flow = part.flow_of(stage)
            parts.append(
                replace(
                    part,
                    subjects=tuple(names),
                    nbits=(nbits,),
                    stages=(stage,),
                    interfaces=(interface,),
                    workloads=(workload,) if workload else part.workloads,
                    settings=part.settings_of(*names),  # without axes that have no effect
                    flow={**flow, "device": (device,)} if device else flow,
                )
            )
        spaces.append(replace(space, parts=tuple(parts), impossible=[], left_out=Counter()))
    return spaces
