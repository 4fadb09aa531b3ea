"""Python interface of modexlab: designs, machines, measurements, the store, sweeps and the papers' figures.

For example::

    import modexlab

    machine = modexlab.design("mont").at(32, steps_per_stage=4)
    machine.cycles(1119317562, 65537, 2603398711)  # by the closed formula
    machine.run("decrypt").cycles                  # by simulation, the result checked against pow
    machine.asic(clock=3).area_um2                 # by synthesis, with tests, timing and power
    modexlab.results(stage="flow").frame()         # all results, as a data frame of pandas

Measurements are read from the store of the commands, or from the reference results, and recorded otherwise.
A wrong name or value raises BadInput, whose message states the value and the remedy. `asic` and `prove` need
the extra [flow].

This file is the package `modexlab` itself (setup.py); it is in eval/api because the top level of the project
holds only rooms. Each name is imported on first use, so that `import modexlab` is fast.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modexlab.eval.designs.levels import Disagreement, check_levels
    from modexlab.eval.designs.own import OwnDesign, register
    from modexlab.eval.designs.runnable import Runnable
    from modexlab.eval.designs.runnable import Runnable as Accelerator
    from modexlab.eval.errors import NoMeasurement
    from modexlab.eval.lab.comparison.compare import Comparison, LeftOut
    from modexlab.eval.lab.point import Point
    from modexlab.eval.lab.store.rows import Row as StoreRow
    from modexlab.eval.lab.store.store import Store
    from modexlab.eval.lab.store.store import Store as store
    from modexlab.eval.lab.sweep import Sweep
    from modexlab.fl.accelerator import Row, Shape
    from modexlab.fl.errors import BadInput
    from modexlab.fl.memory import MemoryPort, OnMemory, words
    from modexlab.fl.param import Param

    from .figures import Figures, Results
    from .machine import Design, Machine, design, designs

__all__ = [
    "Accelerator",
    "BadInput",
    "Comparison",
    "Design",
    "Disagreement",
    "Figures",
    "LeftOut",
    "Machine",
    "MemoryPort",
    "NoMeasurement",
    "OnMemory",
    "Param",
    "Results",
    "Row",
    "Shape",
    "accelerator",
    "check_levels",
    "compare",
    "design",
    "designs",
    "front",
    "measure",
    "point",
    "register",
    "results",
    "store",
    "sweep",
    "words",
]


def accelerator(folder: str | Path) -> "OwnDesign":
    """The accelerator in a folder with an accelerator.py; `.at(nbits, **settings)` makes a machine of it."""
    from modexlab.eval.designs import own

    return own.by_reference(str(folder))


def point(
    machine: "Machine | Runnable",
    workload: str = "encrypt",
    *,
    stage: str = "native",
    interface: str = "stream",
    **flow: Any,
) -> "Point":
    """A machine with a workload at a stage, as sweeps and the store use it.

    Stages: formula, cl, python, verilog, native, flow, layout, fpga. Settings of the flow have the names that
    spaces use: clock_period, style, density, device.
    """
    from .machine import Machine

    made = machine if isinstance(machine, Machine) else Machine(machine)
    return made.point(workload, stage=stage, interface=interface, **flow)


def measure(
    machine: "Machine | Runnable | Point",
    workload: str = "encrypt",
    *,
    stage: str = "native",
    interface: str = "stream",
    store: "Store | None" = None,
    progress: Callable[[str], None] | None = None,
    **flow: Any,
) -> "Figures":
    """Measure a machine at any stage and check its result; a wrong result raises NoMeasurement.

    With a store, a known measurement is read from it, and a new one is recorded in it; without one, the
    machine is measured anew. `progress` is called with a short description of each step. The other arguments
    are those of `point`; a Point may be given instead of a machine.
    """
    from modexlab.eval.lab.measure import measure
    from modexlab.eval.lab.point import Point

    from .figures import Figures
    from .machine import measured

    if isinstance(machine, Point):
        wanted = machine.at()  # of its files as they are now
    else:
        wanted = point(machine, workload, stage=stage, interface=interface, **flow)
    return Figures(measure(wanted, progress) if store is None else measured(wanted, store, progress))


def results(store: "Store | None" = None, **filters: Any) -> "Results":
    """The newest results of a store (default: that of the commands), and the reference results for points
    that it lacks. The filters are those of `store.rows`, as in stage="flow".
    """
    from modexlab.eval.lab.store.reference import Reference
    from modexlab.eval.lab.store.store import Store

    from .figures import Results

    return Results((Store(None, Reference()) if store is None else store).rows(**filters))


def sweep(
    space: str | Path,
    into: "Store | None" = None,
    *,
    method: str = "exhaustive",
    points: int | None = None,
    seed: int | None = None,
    retry: bool = False,
    jobs: int = 2,
) -> "Sweep":
    """Measure a space, given as a TOML file or as the name of a ready-made one. Points that are in the store
    (default: that of the commands, with the reference results) are not measured again.

    `points` (default: 100) and `seed` (1) are for the methods random and nsga2. The sweep has the measured
    points, the failed ones and the fronts.
    """
    from modexlab.eval.lab.executors import Processes
    from modexlab.eval.lab.search import make_search
    from modexlab.eval.lab.space import Space
    from modexlab.eval.lab.store.reference import Reference
    from modexlab.eval.lab.store.store import Store
    from modexlab.eval.lab.sweep import Sweep

    loaded = Space.load(space)
    search = make_search(loaded, method, points, seed)
    return Sweep(loaded, into or Store(None, Reference()), search, retry).run(Processes(jobs), str(space))


def front(
    rows: "Iterable[StoreRow]", metrics: Sequence[str] = ("time_ns", "area_um2"), operation: str = "decrypt"
) -> "list[tuple[tuple[float, ...], StoreRow]]":
    """The Pareto front among rows of a store: pairs of the values of the metrics and a row of the
    measurement, sorted by the first metric, best first.
    """
    from modexlab.eval.lab.metrics import METRICS, check_metric
    from modexlab.eval.lab.pareto import Front, figures_by_operation, goals_of, to_minimise

    goals = goals_of({check_metric(name): METRICS[name].better for name in metrics})
    measured: dict[int, list[StoreRow]] = {}
    for row in rows:
        if row.comparable:
            measured.setdefault(row.measurement, []).append(row)
    candidates = []
    for figure in measured.values():
        values = figures_by_operation(figure, metrics).get(operation)
        if values is not None:
            candidates.append((to_minimise(values, goals), (values, figure[0])))
    return [found for _, found in Front(candidates).sorted()]


def compare(*papers: str, store: "Store | None" = None) -> "list[Comparison | LeftOut]":
    """The published figures of these papers ("001"; by default all five), each compared with the store."""
    from modexlab.eval.lab.comparison.compare import compare
    from modexlab.eval.lab.store.snapshot import Snapshot
    from modexlab.eval.lab.store.store import Store
    from modexlab.eval.papers.published import figures, paper

    wanted = [figure for number in papers for figure in paper(number).figures()] if papers else figures()
    return compare(wanted, Snapshot(store or Store()))


# names from other rooms: the module, and the name in it
_ELSEWHERE = {
    "Accelerator": "eval.designs.runnable:Runnable",
    "BadInput": "fl.errors:BadInput",
    "Design": "machine:Design",
    "Figures": "figures:Figures",
    "Machine": "machine:Machine",
    "Results": "figures:Results",
    "Comparison": "eval.lab.comparison.compare:Comparison",
    "Disagreement": "eval.designs.levels:Disagreement",
    "LeftOut": "eval.lab.comparison.compare:LeftOut",
    "NoMeasurement": "eval.errors:NoMeasurement",
    "Param": "fl.param:Param",
    "MemoryPort": "fl.memory:MemoryPort",
    "OnMemory": "fl.memory:OnMemory",
    "Row": "fl.accelerator:Row",
    "Shape": "fl.accelerator:Shape",
    "words": "fl.memory:words",
    "check_levels": "eval.designs.levels:check_levels",
    "design": "machine:design",  # `.at(nbits, **settings)` makes a machine of it
    "designs": "machine:designs",
    "store": "eval.lab.store.store:Store",  # by default the store of the commands
    "register": "eval.designs.own:register",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("modexlab")
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'modexlab' has no attribute {name!r}")
    module, _, there = _ELSEWHERE[name].partition(":")
    return getattr(import_module(f"modexlab.{module}"), there)
