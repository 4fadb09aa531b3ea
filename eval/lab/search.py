"""Search strategies: the order in which the points of a space are measured.

    exhaustive   every point, in the order of the space
    random       a uniform random sample without repetition
    nsga2        the genetic algorithm of Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist
                 multiobjective genetic algorithm: NSGA-II", IEEE Trans. Evol. Comput. 6(2), 2002, as
                 implemented in Optuna

Optuna is used instead of pymoo because its ask-and-tell interface accepts failed trials (pymoo needs a value
for each, which would have to be invented) and constraints that are known only after measuring. It is pure
Python on top of NumPy, with nothing to compile, and its other samplers (TPE) fit in the same place. The study
is kept in memory; measurements are stored only in the store.

A search can resume because the points of a generation are proposed together, and their results are returned
to the sampler together, in the order of the proposals. The course of a search depends only on the seed and
the results, not on which worker was first. The same command therefore repeats the search, and finds the
points measured before in the store. If the sampler proposes a point again, the point is not measured twice;
the sampler is asked for another one.

The sampler receives figures unchanged. A point that breaks a constraint on figures, or whose figures are
marked as not comparable, counts as violating a constraint (it loses against any point that does not). A point
that is impossible, or could not be measured, is a failed trial, which has no offspring.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from ...fl.errors import BadInput, unknown
from .pareto import Vector
from .point import Point
from .space import FUTILE, LISTED, Space

METHODS = ("exhaustive", "random", "nsga2")
DEFAULT_POINTS, DEFAULT_SEED = 100, 1  # of a search
MOST_POINTS = 100_000  # of an exhaustive search
POPULATION = 16  # of a generation: small, because points are expensive


class Judged(NamedTuple):
    """Result of a point for the search."""

    vector: Vector | None  # all to be minimised; None: no figures
    violations: int = 0  # of constraints on figures


Results = Mapping[str, Judged]  # by key of the point
Trial = tuple[Any, str]  # Optuna's, and the key of its point


class Search(ABC):
    """Proposes points in batches, and learns from each batch before the next."""

    def __init__(self, count: int) -> None:
        self.count = count  # points that it proposes, or fewer if the space has no more

    @abstractmethod
    def ask(self) -> list[Point]:
        """Points that have not been proposed before; empty at the end of the search."""

    def tell(self, results: Results) -> None:  # noqa: B027 (nothing to learn for most)
        """Learn from the results of the batch, by key."""


class Exhaustive(Search):
    """All of these points, in order."""

    def __init__(self, points: list[Point]) -> None:
        super().__init__(len(points))
        self._points = points

    def ask(self) -> list[Point]:
        points, self._points = self._points, []
        return points


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
        return self._space.sample(lambda name, values: values[genes.get(name, 0)])

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
        return [point for search in self._searches for point in search.ask()]

    def tell(self, results: Results) -> None:
        for search in self._searches:
            search.tell(results)


# ---- searches by name


def make_search(space: Space, method: str, points: int | None = None, seed: int | None = None) -> Search:
    """The search with this name over a space; BadInput for a number of points or a seed that it ignores."""
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    count, start = points or DEFAULT_POINTS, DEFAULT_SEED if seed is None else seed
    if method == "random":
        return Exhaustive(space.random_points(count, start))
    if method == "nsga2":
        return _by_generations(space, count, start)
    for name, value in {"points": points, "seed": seed}.items():
        if value is not None:
            raise BadInput(
                f"--{name} {value}: --method exhaustive measures all points; drop it, or give --method "
                "random or nsga2"
            )
    if space.size() > MOST_POINTS:
        raise BadInput(
            f"the space has up to {space.size():,} points, and --method exhaustive measures at most "
            f"{MOST_POINTS:,}; "
            "give --method nsga2 --points N, or --method random --points N"
        )
    return Exhaustive(list(space.points()))


def _by_generations(space: Space, count: int, seed: int) -> Search:
    """A search for each kind of work; small spaces leave their unused points to the others."""
    if space.listed:
        raise BadInput(f"--method nsga2 with {space.title}: {LISTED}")
    sizes = ((work, work.at_most(seed, FUTILE * POPULATION)) for work in space.by_work())
    works = sorted(((work, size) for work, size in sizes if size), key=itemgetter(1))
    if not works:
        raise space.empty()
    searches = []
    for number, (work, size) in enumerate(works):
        share = min(size, math.ceil(count / (len(works) - number)))
        if share > 0:
            searches.append(Nsga2(work, share, seed))
        count -= share
    return Several(searches)
