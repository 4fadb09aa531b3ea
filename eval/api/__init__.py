"""Python interface of modexlab: designs, machines, measurements, the ledger, sweeps and the papers' figures.

For example::

    import modexlab

    machine = modexlab.design("mont").at(32, steps_per_stage=4)
    machine.cycles(1119317562, 65537, 2603398711)              # by the closed formula
    modexlab.measure(machine, "decrypt").value("cycles")       # by simulation, the result checked against pow
    modexlab.measure(machine, stage="flow").value("area_um2")  # by synthesis, with tests, timing and power

A wrong name or value raises BadInput, whose message states the value and the remedy. Stage `flow` needs the
extra [flow].

This file is the package `modexlab` itself (setup.py); it is in eval/api because the top level of the project
holds only rooms. Each name is imported on first use, so that `import modexlab` is fast.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modexlab.eval.designs.catalogue import designs
    from modexlab.eval.designs.catalogue import find as design
    from modexlab.eval.designs.levels import Disagreement, check_levels
    from modexlab.eval.designs.own import OwnDesign, register
    from modexlab.eval.designs.runnable import Runnable
    from modexlab.eval.designs.runnable import Runnable as Accelerator
    from modexlab.eval.errors import NoMeasurement
    from modexlab.eval.lab.comparison.compare import Comparison, LeftOut
    from modexlab.eval.lab.explore import Sweep
    from modexlab.eval.lab.ledger.ledger import Ledger
    from modexlab.eval.lab.ledger.ledger import Ledger as ledger
    from modexlab.eval.lab.ledger_rows import Row as LedgerRow
    from modexlab.eval.lab.metrics import Measurement
    from modexlab.eval.lab.point import Point
    from modexlab.fl.accelerator import Row, Shape
    from modexlab.fl.errors import BadInput
    from modexlab.fl.param import Param

__all__ = [
    "Accelerator",
    "BadInput",
    "Comparison",
    "Disagreement",
    "LeftOut",
    "NoMeasurement",
    "Param",
    "Row",
    "Shape",
    "accelerator",
    "check_levels",
    "compare",
    "design",
    "designs",
    "explore",
    "front",
    "ledger",
    "measure",
    "point",
    "register",
]


def accelerator(folder: str | Path) -> "OwnDesign":
    """The accelerator in a folder with an accelerator.py; `.at(nbits, **settings)` makes a machine of it."""
    from modexlab.eval.designs import own

    return own.by_reference(str(folder))


def point(
    machine: "Runnable",
    workload: str = "encrypt",
    *,
    stage: str = "native",
    interface: str = "stream",
    **flow: Any,
) -> "Point":
    """A machine with a workload at a stage, as sweeps and the ledger use it.

    Stages: formula, cl, python, verilog, native, flow, layout, fpga. Settings of the flow have the names that
    spaces use: clock_period, style, density, device.
    """
    from modexlab.eval.lab.point import Point

    settings = tuple(machine.parameters.items())
    made = Point(
        machine.design.reference, machine.nbits, settings, interface, workload, stage, tuple(flow.items())
    )
    made.check()
    return made


def measure(
    machine: "Runnable | Point",
    workload: str = "encrypt",
    *,
    stage: str = "native",
    interface: str = "stream",
    ledger: "Ledger | None" = None,
    progress: Callable[[str], None] | None = None,
    **flow: Any,
) -> "Measurement":
    """Measure a machine and check its result; a wrong result raises NoMeasurement.

    With a ledger, a known measurement is read from it, and a new one is recorded in it. `progress` is called
    with a short description of each step. The other arguments are those of `point`; a Point may be given
    instead of a machine.
    """
    from modexlab.eval.lab.explore import read
    from modexlab.eval.lab.measure import measure
    from modexlab.eval.lab.point import Point

    if isinstance(machine, Point):
        wanted = machine.at()  # of its files as they are now
    else:
        wanted = point(machine, workload, stage=stage, interface=interface, **flow)
    if ledger is None:
        return measure(wanted, progress)
    for known in read(ledger, {wanted.key: wanted}):
        return ledger.measurement(known.number)
    return ledger.measurement(ledger.record(wanted, measure(wanted, progress)))


def explore(
    space: str | Path,
    into: "Ledger | None" = None,
    *,
    method: str = "exhaustive",
    points: int = 100,
    seed: int = 1,
    retry: bool = False,
    jobs: int = 2,
) -> "Sweep":
    """Measure a space, given as a TOML file or as the name of a ready-made one. Points that are in the ledger
    are not measured again.

    `points` and `seed` apply to the methods random and nsga2. The sweep has the measured points, the failed
    ones and the fronts.
    """
    from modexlab.eval.lab.explore import Sweep
    from modexlab.eval.lab.ledger.ledger import Ledger
    from modexlab.eval.lab.schedulers import Local
    from modexlab.eval.lab.search import make_search
    from modexlab.eval.lab.space import Space

    loaded = Space.load(space)
    search = make_search(loaded, method, points, seed)
    return Sweep(loaded, into or Ledger(), search, retry).run(Local(jobs), str(space))


def front(
    rows: "Iterable[LedgerRow]", metrics: Sequence[str] = ("time_ns", "area_um2"), operation: str = "decrypt"
) -> "list[tuple[tuple[float, ...], LedgerRow]]":
    """The Pareto front among rows of a ledger: pairs of the values of the metrics and a row of the
    measurement, sorted by the first metric, best first.
    """
    from modexlab.eval.lab.metrics import METRICS, check_metric
    from modexlab.eval.lab.pareto import Front, figures_by_operation, goals_of, to_minimise

    goals = goals_of({check_metric(name): METRICS[name].better for name in metrics})
    measured: dict[int, list[LedgerRow]] = {}
    for row in rows:
        if row.comparable:
            measured.setdefault(row.measurement, []).append(row)
    candidates = []
    for figure in measured.values():
        values = figures_by_operation(figure, metrics).get(operation)
        if values is not None:
            candidates.append((to_minimise(values, goals), (values, figure[0])))
    return [found for _, found in Front(candidates).sorted()]


def compare(*papers: str, ledger: "Ledger | None" = None) -> "list[Comparison | LeftOut]":
    """The published figures of these papers ("001"; by default all five), each compared with the ledger."""
    from modexlab.eval.lab.comparison.compare import compare
    from modexlab.eval.lab.ledger.ledger import Ledger
    from modexlab.eval.papers.published import figures, paper

    wanted = [figure for number in papers for figure in paper(number).figures()] if papers else figures()
    return compare(wanted, ledger or Ledger())


# names from other rooms: the module, and the name in it
_ELSEWHERE = {
    "Accelerator": "eval.designs.runnable:Runnable",
    "BadInput": "fl.errors:BadInput",
    "Comparison": "eval.lab.comparison.compare:Comparison",
    "Disagreement": "eval.designs.levels:Disagreement",
    "LeftOut": "eval.lab.comparison.compare:LeftOut",
    "NoMeasurement": "eval.errors:NoMeasurement",
    "Param": "fl.param:Param",
    "Row": "fl.accelerator:Row",
    "Shape": "fl.accelerator:Shape",
    "check_levels": "eval.designs.levels:check_levels",
    "design": "eval.designs.catalogue:find",  # `.at(nbits, **settings)` makes a machine of it
    "designs": "eval.designs.catalogue:designs",
    "ledger": "eval.lab.ledger.ledger:Ledger",  # by default the ledger of the commands
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
