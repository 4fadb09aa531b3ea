"""Figures of a run as summary.json holds them; summary.py gathers them, summary_text.py prints them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..check.deck import Rules
from ..layout.placement import TreeSummary
from ..layout.wires import WiresSummary
from ..power.estimator import ModulePower, Parts
from ..power.report import Beside, Spread
from ..product import Product, StepRun
from ..synth.area import ModuleArea
from ..timing.clock_search import MHZ as MHZ
from ..timing.clock_search import Trial
from ..timing.report import WorstPath
from ..timing.wire_table import Source
from . import graph


class Core(msgspec.Struct):
    """Figures of the measured instance, where the rest of the top module only drives it."""

    instance: str
    area_um2: float
    cells: int
    flops: int
    power_mw: float | None
    energy_nj: dict[str, float] | None
    energy_with_glitches_nj: dict[str, float] | None
    energy_inertial_nj: dict[str, float] | None = None


class Headline(msgspec.Struct, kw_only=True):
    """Figures of a netlist that a run is judged by; None: not measured."""

    area_um2: float | None = None
    met: bool | None = None
    met_ns: float | None = None  # a period that the netlist meets; None: none is known
    wns_ns: float | None = None
    hold_wns_ns: float | None = None
    fmax_mhz: float | None = None
    worst_path: WorstPath | None = None
    power_mw: float | None = None
    energy_nj: dict[str, float] | None = None
    energy_with_glitches_nj: dict[str, float] | None = None
    # pulses that gates swallow are left out, and those cut short count in part: what "energy" means where
    # no other attributes
    energy_inertial_nj: dict[str, float] | None = None
    energy_spread_nj: dict[str, Spread] | None = None  # over drawn operands
    period_ns: float | None = None  # of the clock that trials found


class Figures(Headline, omit_defaults=True):
    """Figures of one netlist, before or after layout; figures that were not measured are left out."""

    tns_ns: float | None = None
    # before layout: of "none", without wires, and of the library's model
    wns_by_model_ns: dict[str, float] | None = None
    wires: Source | None = None
    verdict: str | None = None
    # "trials": of synthesis at many clocks (fmax.py); of this netlist "search", or "slack", which goes with
    # the period
    fmax_by: str | None = None
    trials: list[Trial] | None = None
    timing_engine: str | None = None
    power_by_group: dict[str, Parts] | None = None
    power_by_module: list[ModulePower] | None = None
    die_um: tuple[float, float] | None = None
    density: float | None = None
    clock_tree: TreeSummary | None = None
    wires_total: WiresSummary | None = None
    routed: bool | None = None
    wire_um: int | None = None

    @property
    def any(self) -> bool:
        """Something was measured."""
        return self != Figures()


class Ran(msgspec.Struct):
    """Rows that ran somewhere."""

    passed: int
    failed: int


class Step(StepRun):
    """A step of the run."""

    cached: bool = False


class Verdict(msgspec.Struct):
    """Result of the proof."""

    equivalent: bool
    refuted: bool
    summary: str


class Summary(Headline, Product):
    """The whole of summary.json; figures at the top level are those after layout where there is one."""

    FILE = "summary.json"
    STEP = graph.LENIENT

    design: str
    top: str
    nbits: int | None
    interface: str
    place: str
    parameters: Mapping[str, Any]
    clock_ns: float  # asked for; marks begin with the verdict if the netlist of the figures misses it
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
    core: Core | None = None
    rules: Rules | None = None  # markers of the kit's design rules, if it has a deck
    corners: dict[str, str] = msgspec.field(default_factory=dict)  # of setup, hold and power
    derate: float = 0.0  # of the delays of cells on data paths
    corner_ns: dict[str, float] = msgspec.field(default_factory=dict)  # the shortest period at each corner
    # the clock was searched: what was tried for it, after layout where there is one
    trials: list[Trial] = msgspec.field(default_factory=list)
    products: dict[str, str] | msgspec.UnsetType = msgspec.UNSET  # where the outputs of the steps are
