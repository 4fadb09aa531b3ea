"""Search strategies: the order in which the points of a space are measured.

    exhaustive   every point, in the order of the space
    random       points drawn evenly, without repetition
    nsga2        the genetic algorithm of Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist
                 multiobjective genetic
                 algorithm: NSGA-II", IEEE Trans. Evol. Comput. 6(2), 2002, as Optuna has it

Optuna and not pymoo: its ask-and-tell takes trials that failed (pymoo wants a value for each, so that one
must be invented), and constraints known only after measuring; it is pure Python upon NumPy, with nothing to
compile; its other samplers (TPE) fit in the same place. The study lives in memory: what has been measured is
in the ledger and nowhere else.

How a search resumes: generations are asked and told as a whole, in the order of asking. So its course follows
from the seed and the results alone, not from which worker was first, and the same command walks the same way
again; the points that it has passed come from the ledger at once. A point that has a generation's place
already is not measured twice: another is asked for.

What the sampler is told: figures as they are; that a point breaks a constraint on figures, or that its
figures are marked as not comparable, as a violated constraint (it loses against any that keeps them); that a
point is impossible, or could not be measured, as a failed trial, which has no children.
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
ENUMERABLE = 10_000  # combinations that are gone through before a search begins
MOST_POINTS = 100_000  # that are measured one after the other
POPULATION = 16  # of a generation: small, because points are dear
BY_CONSTRAINT = re.compile(r'the constraint "(.*)" refuses it')  # Space.sample
FUTILE = 50  # draws without a new point, for each that is wanted, after which there are none


Refused = dict[str, str]  # points that were drawn and cannot be: the choice in words, and why


class Judged(NamedTuple):
    """Result of a point for the search."""

    vector: Vector | None  # all to be minimised; None: there are no figures
    violations: int = 0  # of constraints on figures


Results = Mapping[str, Judged]  # by the keys of points
Trial = tuple[Any, str]  # of Optuna, and the key of its point


class Search(ABC):
    """Proposes points in batches, and learns from each batch before the next."""

    def __init__(self, count: int, refused: Refused | None = None) -> None:
        self.count = count  # points that it will hand out, or fewer if there are none left
        self.refused: Refused = refused or {}

    @abstractmethod
    def ask(self) -> list[Point]:
        """Points that have not been handed out before; none: it is over."""

    def tell(self, results: Results) -> None:  # noqa: B027 (nothing to learn for most)
        """Learn from the results of the batch, by key."""


class Exhaustive(Search):
    """All of these points, as they stand."""

    def __init__(self, points: list[Point], refused: Refused | None = None) -> None:
        super().__init__(len(points), refused)
        self._points = points

    def ask(self) -> list[Point]:
        points, self._points = self._points, []
        return points


def random_search(space: Space, count: int, seed: int) -> Search:
    """Points drawn evenly: of a small space from all of its points, else by a value for each of its
    parameters.
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
    """A random point, unless it is impossible: then `refused` has the reason."""
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
    """The error for a space in which no draw has found a point."""
    by_constraint = Counter(match[1] for why in refused.values() if (match := BY_CONSTRAINT.search(why)))
    reasons = [f'constraint "{text}" refuses {count}' for text, count in by_constraint.most_common()]
    impossible = [(what, why) for what, why in refused.items() if not BY_CONSTRAINT.search(why)]
    if impossible:
        what, why = impossible[0]
        reasons.append(f"{len(impossible)} are impossible, as {what} ({why})")
    return BadInput(f"of {len(refused)} points that were drawn none can be measured: {'; '.join(reasons)}")


class Nsga2(Search):
    """Generations that descend from the best of those before; the space has one kind of work."""

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
            name: optuna.distributions.IntDistribution(
                0, len(values) - 1
            )  # by number: NSGA-II asks for no order
            for name, values in space.parameters.items()
            if len(values) > 1
        }
        self._known: dict[str, Judged] = {}
        self._handed: set[str] = set()
        self._asked: list[Trial] = []  # of this generation

    def _point(self, genes: Mapping[str, int]) -> Point | None:
        return _sample(self._space, lambda name, values: values[genes.get(name, 0)], self.refused)

    def ask(self) -> list[Point]:
        """A generation, as far as it is new."""
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
        # a generation that is short of new points is filled up with old ones: they are good, or would not
        # come again
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
    """Searches side by side, one for each kind of work, whose figures are not to be compared with
    another's.
    """

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


# ---- by the user's choice


def make_search(space: Space, method: str, count: int, seed: int) -> Search:
    """The search of this name over a space."""
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
    """A search for each kind of work; those of small spaces leave what they do not need to the others."""
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
    """How many points there are, if one can count them; 0 if none was found, and then `refused` says why."""
    generator = random.Random(seed)
    draws = FUTILE * POPULATION
    found = any(draw(space, generator, refused) is not None for _ in range(draws))
    if space.size() > ENUMERABLE or not found:
        return space.size() if found else 0
    return len(list(space.points()))


def by_work(space: Space) -> list[Space]:
    """The space, taken apart into one for each kind of work (see explore.Work)."""
    subjects: dict[tuple[Any, ...], dict[int, dict[str, None]]] = {}  # of each work and part
    for number, part in enumerate(space.parts):
        for stage, nbits, interface, subject in itertools.product(
            part.stages, part.nbits, part.interfaces, part.subjects
        ):
            point = Point(subject, nbits, interface=interface, stage=stage)
            params = point.design.params if point.design is not None and point.interface != SYSTEM else ()
            # whether it is for one modulus that is not the key's
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
                    settings=part.settings_of(*names),  # without axes that make no difference
                    flow={**flow, "device": (device,)} if device else flow,
                )
            )
        spaces.append(replace(space, parts=tuple(parts), impossible=[], left_out=Counter()))
    return spaces
