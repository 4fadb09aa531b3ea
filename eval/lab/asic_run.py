"""Entry to the ASIC and FPGA flows, for `modexlab asic` and for sweeps.

At stages flow and layout the netlist runs the rows of eval/designs/machine_chip.py, an encryption and a
decryption in one run, so that each figure belongs to one operation. Stage fpga yields resource counts; its
hardware runs the same rows at RTL. A sweep skips the equivalence proof unless a point requests it, because
the proof is the longest step and the rows have run on the netlist; `details` records this.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...fl.errors import BadInput
from ...flow import description, product
from ...flow.fpga import fpga
from ...flow.fpga.report import FpgaRun
from ...flow.graph import fmax, graph, summary
from ...flow.graph.figures import Ran, Summary
from ...flow.graph.runner import INDISPENSABLE, FlowResult, run_flow
from ...flow.kit import kit
from ...flow.progress import Event, Report, Running
from ...flow.source import DESIGN, Source
from ...flow.workload import RTL_SIM, Simulated
from ...rtl.sim.verilog_digests import Digests
from ..designs.interfaces import INTERFACES
from ..designs.verilog_header import commit
from ..errors import NoMeasurement
from ..json_values import Json, attributes
from .flow_settings import CORNER, EQUIVALENCE, KIT, check_flow
from .metrics import METRICS, Figure, Measurement, figure
from .point import Point
from .stages import FPGA, LAYOUT

Say = Callable[[str], None]  # receives a description of the current step
SKIPPED = "left out by --skip"
DETAILS = (
    "parameters",
    "style",
    "tests",
    "equivalence",
    "area_by_module",
    "worst_path",
    "caveats",
    "before_layout",
    "after_layout",
    "rules",
    "left_out",
    "paper",
    "core",
    "met_ns",
    "period_ns",
    "trials",
)
NOT_PROVED = "equivalence of netlist and design was not proved in this run; the tests ran on the netlist"
PICTURES = ("amoeba.png", "density.png", "layout.png")
FPGA_LIMIT_S = 3600  # CPU time, for a point of a sweep
COUNTS = {"luts": "lut", "ffs": "ff", "dsps": "dsp", "alms": "alm", "slices": "slice"}


def targets(*, layout: bool, skip: Collection[str] = ()) -> list[str]:
    """The steps of the flow, with or without layout, minus the skipped steps and the steps that need their
    files.
    """
    for name in skip:
        graph.ordered(name)  # raises BadInput for an unknown step
        if name in INDISPENSABLE:
            raise BadInput(f"--skip {name}: all that comes after needs it; drop it, or give --to {name}")
    outside = () if layout else graph.WITH_LAYOUT
    lost = graph.without(graph.ORDER, dict.fromkeys((*outside, *skip), SKIPPED))
    return [name for name in graph.ORDER if name not in lost]


def settings(flow: Mapping[str, Any], *, layout: bool) -> tuple[Json, Path | None]:
    """The parameters of a run and the place of its kit, from settings as in points; clock and density are
    those of the kit unless they are set. BadInput for an illegal value, or if the kit is not installed.
    """
    name = str(flow.get(KIT, kit.DEFAULT.stem))
    described, library = kit.described(name, str(flow.get(CORNER, ""))), kit.named(name)
    kit.find(library)
    if layout:
        _ = described.geometry  # BadInput for a kit without layout
    asked = {"clock_period": described.constraints.clock_ns, "density": described.constraints.density, **flow}
    return check_flow(
        {name: value for name, value in asked.items() if name not in (KIT, EQUIVALENCE)}
    ), library


# ---- the runs


def run_asic(
    wanted: Collection[str],
    design: Source,
    parameters: Mapping[str, Any],
    report: Report,
    *,
    jobs: int = 2,
    adk: Path | None = None,
) -> tuple[FlowResult, Summary]:
    """Run the flow up to these steps and summarise it; `adk` is a kit.toml or its directory, or None for the
    default.

    With the parameter fmax, the highest clock is searched first, after layout if a layout step is wanted, and
    all steps then run at that clock.
    """
    start, searched = time.monotonic(), None
    parameters = dict(parameters)
    if parameters.pop(fmax.FMAX, False):
        layout = any(name in graph.WITH_LAYOUT for name in wanted)
        searched = fmax.highest_clocks(design, parameters, report, layout=layout, adk=adk, jobs=jobs)
        parameters["clock_period"] = searched.clock_ns
    outcome = run_flow(wanted, design, parameters, report, adk=adk, jobs=jobs)
    found = summary.summarize(
        outcome.files(),
        clock_ns=parameters["clock_period"],
        left_out={**outcome.left_out, **outcome.failed},
        fresh=outcome.fresh,
        seconds=round(time.monotonic() - start, 1),
        searched=searched,
    )
    interface = INTERFACES.get(found.interface)
    if interface is not None and interface.on_bus:
        found.caveats += [
            f"area and power include {part.area_um2:,.0f} um^2 of a bus master that is not exported"
            for part in found.area_by_module
            if part.path == "master"
        ]
    return outcome, found


def run_fpga(
    design: Source,
    devices: Sequence[str],
    report: Report,
    limit: float | None = None,
) -> FpgaRun:
    """Map the Verilog to each device; BadInput if synthesis exceeds the limit in CPU seconds."""
    start = time.monotonic()
    entry = design.entry()
    described = description.load(entry / description.Description.FILE)
    top = described.core_top or described.top
    return FpgaRun(
        top=top,
        devices=fpga.measure(entry / DESIGN, top, devices, report=report, limit=limit),
        seconds=round(time.monotonic() - start, 1),
        **attributes(described, "name", "nbits", "interface", "parameters"),
    )


# ---- a point


def measure_implementation(point: Point, say: Say, jobs: int) -> Measurement:
    """The figures of a point at stage flow, layout or fpga."""
    if point.stage == FPGA:
        return _fpga(point, say, jobs)
    proof = dict(point.flow)[EQUIVALENCE]
    wanted = targets(layout=point.stage == LAYOUT, skip=() if proof else (EQUIVALENCE,))
    start = time.monotonic()
    outcome, run = _run_point(point, wanted, say, jobs)
    return asic_measurement(point, wanted, outcome, run, time.monotonic() - start)


def _run_point(point: Point, wanted: Collection[str], say: Say, jobs: int) -> tuple[FlowResult, Summary]:
    """Run these steps of the flow with the settings and the kit of a point."""
    parameters, library = settings(dict(point.flow), layout=point.stage == LAYOUT)
    return run_asic(wanted, point.chip(), parameters, _teller(point, say), jobs=jobs, adk=library)


def measure_partly(point: Point, to: str, say: Say, jobs: int = 2) -> Measurement:
    """The figures of the steps up to one of them. NoMeasurement if a step failed."""
    graph.ordered(to)  # BadInput if unknown
    if to in graph.WITH_LAYOUT and point.stage != LAYOUT:
        raise BadInput(f"to = {to!r}: this step is one of the layout; give layout=True, too")
    wanted = graph.with_judges(to)
    start = time.monotonic()
    outcome, run = _run_point(point, wanted, say, jobs)
    for name, why in summary.undone(run).items():
        if name in wanted:
            raise NoMeasurement(f"{point}: step {name}: {why}")
    return _measurement(point, outcome, run, time.monotonic() - start, caveats=[*run.caveats])


def asic_measurement(
    point: Point, wanted: Collection[str], outcome: FlowResult, run: Summary, seconds: float
) -> Measurement:
    """The measurement of a point from a run of these steps; NoMeasurement if a step or a test failed."""
    _require_done(point, run, wanted)
    chip = point.chip()
    told = msgspec.json.decode(msgspec.json.encode(run))
    details = {key: told[key] for key in DETAILS if told[key] is not None}
    works, corners = chip.energy(), [*{*run.corners.values()}]
    details |= {
        "corner": corners[0]
        if len(corners) == 1
        else ", ".join(f"{at} for {of}" for of, at in run.corners.items()),
        "operands": {work.name: {"count": 1, "seed": work.seed} for work in works},
        "drawn": {
            name: {"count": spread.operations, "seed": chip.seed_of_spread(name)}
            for name, spread in (run.energy_spread_nj or {}).items()
        },
        "steps": [attributes(step, "name", "tool", "version", "seconds") for step in run.steps],
        "exponentiations": [{"name": work.name, **work.as_json()} for work in works],
        "caveats": [
            *run.caveats,
            *filter(None, ["" if run.equivalence else NOT_PROVED, chip.note, chip.limits]),
        ],
    }
    return _measurement(point, outcome, run, seconds, **details)


def _measurement(
    point: Point, outcome: FlowResult, run: Summary, seconds: float, **details: Any
) -> Measurement:
    """The figures of a run with its tools, tests, marks and pictures."""
    files = outcome.files()
    return Measurement(
        figures=tuple(_asic_figures(run, point.stage)),
        seconds=seconds,
        tools={step.tool: step.version for step in run.steps},
        **_digests(files),
        tests=_tests(run.tests) if run.tests else "none in these steps",
        marks=tuple(run.marks),
        details={"commit": commit(), **details},
        artifacts={name: files[name].read_bytes() for name in PICTURES if name in files},
    )


def _asic_figures(run: Summary, stage: str) -> list[Figure]:
    """The figures of a run; those of a layout only at that stage."""
    return [
        figure(value.metric, value.number, value.operation)
        for value in run.values
        if stage in METRICS[value.metric].stages
    ]


def _require_done(point: Point, run: Summary, wanted: Collection[str]) -> None:
    """NoMeasurement if a step was not done, if routing or a test failed, or if the netlist is another
    circuit.
    """
    if run.unrouted:
        raise NoMeasurement(f"{point}: routing failed: {run.unrouted}")
    for name, why in summary.undone(run).items():
        if name in wanted and name != EQUIVALENCE:
            raise NoMeasurement(f"{point}: step {name}: {why}")
    for where, tests in run.tests.items():
        if tests.failed and run.core is None:  # a core of a manifest gets a mark and is shown
            raise NoMeasurement(
                f"{point}: {tests.failed} tests failed ({where}), so its figures mean nothing"
            )
    if "gates" not in run.tests:
        raise NoMeasurement(f"{point}: no test ran on the netlist")
    if run.equivalence is not None and run.equivalence.refuted:
        raise NoMeasurement(f"{point}: the netlist is not what the design says: {run.equivalence.summary}")


def _tests(tests: Mapping[str, Ran]) -> str:
    """The number of test rows that passed at each level, as text."""
    (first, ran), *others = [({"rtl": "RTL"}.get(where, where), test.passed) for where, test in tests.items()]
    return ", ".join([f"{ran} rows at {first}", *(f"{passed} at {where}" for where, passed in others)])


def _digests(files: Mapping[str, Path]) -> Json:
    """Digests of the Verilog that the flow used, as fields of a measurement."""
    digests = Digests.of(files[DESIGN].read_text(encoding="utf-8"))
    return {"verilog_hash": digests.text, "content": digests.hardware}


def _teller(point: Point, say: Say) -> Report:
    """A callback that passes events of the flow to `say` as text."""
    running = Running()

    def report(event: Event) -> None:
        running.take(event.step, event.state, event.message)
        if str(running):
            say(f"{point}: {running}")

    return report


def _fpga(point: Point, say: Say, jobs: int) -> Measurement:
    """Resource counts of one device; the test rows run on the same Verilog first."""
    flow, chip, tell = dict(point.flow), point.chip(), _teller(point, say)
    start = time.monotonic()
    outcome = run_flow(["rtl-sim"], chip, {}, tell, jobs=jobs)
    files = outcome.files()
    if RTL_SIM not in files:
        why = next(iter({**outcome.failed, **outcome.left_out}.values()))
        raise NoMeasurement(f"{point}: its tests did not run: {why}")
    simulated = product.read(files[RTL_SIM], Simulated)
    marks = [f"the design fails {simulated.tests_failed} of its tests"] if simulated.tests_failed else []
    if marks and not chip.core_instance:  # a core of a manifest gets a mark and is shown
        raise NoMeasurement(f"{point}: {simulated.tests_failed} tests failed, so its counts mean nothing")
    try:
        measured = run_fpga(chip, [flow["device"]], tell, FPGA_LIMIT_S)
    except BadInput as error:
        raise NoMeasurement(f"{point}: {error}") from None
    device = measured.devices[flow["device"]]
    counts = {metric: device.count(name) for name, metric in COUNTS.items()}
    figures = [figure(metric, count) for metric, count in counts.items() if count is not None]
    if not device.fits:
        marks.append(f"it does not fit the {device.part}")
    caveats = [device.counting, "flat, before packing"]
    return Measurement(
        figures=tuple(figures),
        seconds=time.monotonic() - start,
        tools={"Yosys": device.tool, **point.tools},
        **_digests(files),
        tests=f"{simulated.tests_passed} rows at RTL",
        marks=tuple(marks),
        details={
            "commit": commit(),
            "parameters": point.resolved,
            "caveats": caveats,
            "device": msgspec.to_builtins(device),
        },
    )
