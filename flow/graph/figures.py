"""Figures of a run as in summary.json; summary.py collects them, summary_text.py prints them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..check.deck import Rules
from ..layout.placement import TreeSummary
from ..layout.wires import WiresSummary
from ..metric import Value
from ..power.estimator import ModulePower, Parts
from ..power.report import Beside, Spread
from ..product import Product, StepRun
from ..synth.area import ModuleArea
from ..timing.clock_search import Trial
from ..timing.report import WorstPath
from ..timing.wire_table import Source
from . import graph


class Core(msgspec.Struct):
    """Figures of the measured instance, if the rest of the top module only drives it."""

    instance: str
    area_um2: float
    cells: int
    flops: int
    power_mw: float | None
    energy_nj: dict[str, float] | None
    energy_with_glitches_nj: dict[str, float] | None
    energy_inertial_nj: dict[str, float] | None = None


class Headline(msgspec.Struct, kw_only=True):
    """The main figures of a netlist; None: not measured."""

    area_um2: float | None = None
    met: bool | None = None
    met_ns: float | None = None  # a period that the netlist meets; None: unknown
    wns_ns: float | None = None
    hold_wns_ns: float | None = None  # of paths from registers
    fmax_mhz: float | None = None
    worst_path: WorstPath | None = None
    power_mw: float | None = None
    energy_nj: dict[str, float] | None = None
    energy_with_glitches_nj: dict[str, float] | None = None
    # with partial-swing glitches: pulses that gates swallow do not count, and those that are cut short count
    # as a fraction; this is "energy" without further qualification
    energy_inertial_nj: dict[str, float] | None = None
    energy_spread_nj: dict[str, Spread] | None = None  # over random operands
    period_ns: float | None = None  # of the clock that a search found


class Figures(Headline, omit_defaults=True):
    """Figures of one netlist, before or after layout, without those that were not measured."""

    tns_ns: float | None = None
    # before layout: without wires ("none"), and with the library's wire-load model
    wns_by_model_ns: dict[str, float] | None = None
    wires: Source | None = None
    verdict: str | None = None
    # "trials": from synthesis at many clocks (fmax.py); from this netlist alone: "search", or "slack" at the
    # given period
    fmax_by: str | None = None
    trials: list[Trial] | None = None
    timing_engine: str | None = None
    power_by_group: dict[str, Parts] | None = None
    power_by_module: list[ModulePower] | None = None
    drop_mv: dict[str, float] | None = None
    die_um: tuple[float, float] | None = None
    density: float | None = None
    clock_tree: TreeSummary | None = None
    wires_total: WiresSummary | None = None
    routed: bool | None = None
    wire_um: int | None = None

    @property
    def any(self) -> bool:
        """Whether any figure was measured."""
        return self != Figures()


class Ran(msgspec.Struct):
    """Numbers of rows that passed and failed in one simulation."""

    passed: int
    failed: int


class Step(StepRun):
    """A step of the run."""

    cached: bool = False


class Verdict(msgspec.Struct):
    """Result of the equivalence proof, with the number of parts of each result."""

    equivalent: bool
    refuted: bool
    summary: str
    proved: int = 0
    disproved: int = 0
    undecided: int = 0


class Summary(Headline, Product):
    """The content of summary.json; top-level figures are those after layout if there is one."""

    FILE = "summary.json"
    STEP = graph.LENIENT

    design: str
    top: str
    nbits: int | None
    interface: str
    place: str
    parameters: Mapping[str, Any]
    clock_ns: float  # the requested period; if the netlist misses it, the first mark says so
    style: str | None
    area_by_module: list[ModuleArea]
    cells: int | None
    flops: int | None
    clock_gates: int | None
    cycles: dict[str, int]
    time_ns: dict[str, float]
    tests_passed: int
    tests_failed: int
    tests: dict[str, Ran]
    equivalence: Verdict | None
    before_layout: Figures | None
    after_layout: Figures | None
    steps: list[Step]
    paper: list[Beside]
    left_out: dict[str, str]
    seconds: float | None
    marks: list[str]
    comparable: bool
    caveats: list[str]
    values: list[Value] = []  # that count, in the order of tables
    core: Core | None = None
    rules: Rules | None = None  # of a layout: design-rule markers, or why there is no check
    unrouted: str = ""  # why routing failed
    corners: Mapping[str, str] = {}  # for setup, hold and power
    derate: float = 0.0  # of the delays of cells on data paths
    corner_ns: Mapping[str, float] = {}  # the shortest period at each corner
    # the trials of a clock search, after layout if there is one
    trials: Sequence[Trial] = []
    products: dict[str, str] | msgspec.UnsetType = msgspec.UNSET  # directories with the outputs of the steps
