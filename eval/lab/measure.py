"""Measures one point: builds the machine at its stage, runs the workload, and checks the results.

    formula                  cycles by the closed formula; the design's function (FL) computes the result
    cl, python, verilog,     cycles by simulation; each result is compared with `pow`
    native
    flow, layout, fpga       see asic_run.py

Every figure belongs to a passing functional run of the same hardware. A wrong result raises NoMeasurement and
yields no figure.
"""

import functools
import time
from collections.abc import Callable, Sequence

from ...fl.accelerator import Message
from ...fl.status import MEANING, Status
from ..designs import system_catalogue
from ..designs.system_catalogue import SystemKind
from ..designs.verilog_header import commit
from ..designs.workload_names import CRT, Part, cycles_of
from ..errors import NoMeasurement
from ..json_values import Json, attributes
from .content import verilog_digests
from .metrics import INTERVAL, LATENCY, Figure, Measurement, figure
from .point import Point
from .stages import CL, FORMULA, IMPLEMENTED

Progress = Callable[[str], None]
Parts = tuple[Part, ...]


def measure(point: Point, progress: Progress | None = None, *, jobs: int = 2) -> Measurement:
    """The figures of a point. BadInput if no such machine can exist; NoMeasurement or another RuntimeError if
    the measurement failed.

    progress: called with a short description of each step. jobs: parallel processes of the flow.
    """
    say = progress or (lambda _: None)
    point.check()
    say(str(point))
    start = time.monotonic()
    if point.stage in IMPLEMENTED:
        from .asic_run import measure_implementation  # needs the extra [flow]

        return measure_implementation(point, say, jobs)
    parts, chip = point.parts(), point.chip()
    caveats = [chip.note] if point.workload != CRT else []
    failed = []
    more: Json = {}
    paces: list[Figure] = []
    if point.kind is not None:
        counts, tests, more = _system(point, point.kind)
        caveats.append(point.kind.caveat)
    else:
        for part in parts:
            for request in part.work.requests:
                point.machine.require(*request)
        counts, tests, paces = _formula(point, parts) if point.stage == FORMULA else _simulated(point, parts)
        failed = chip.failed_rows()
    exponentiations = [
        {"name": part.work.name, "times": part.times, "cycles": cycles, **part.work.as_json()}
        for part, cycles in zip(parts, counts, strict=True)
    ]
    details = {
        "commit": commit(),
        "parameters": point.resolved,
        "caveats": [*filter(None, caveats)],
        "exponentiations": exponentiations,
        "operands": {point.operation: {"count": len(parts), "seed": parts[0].work.seed}},
        **more,
    }
    total = sum(work["times"] * work["cycles"] for work in exponentiations)
    return Measurement(
        figures=(figure("cycles", total, point.operation), *paces),
        seconds=time.monotonic() - start,
        tools=point.tools,
        **_digests(point),
        tests=tests,
        marks=(f"the design fails {len(failed)} of its tests: {', '.join(failed)}",) if failed else (),
        details=details,
    )


def _digests(point: Point) -> Json:
    """The digests of the hardware that ran, as fields of a measurement. They are computed anew: this process
    may have other code than the file of contents knows.
    """
    if point.stage in (FORMULA, CL):
        return {"verilog_hash": "", "content": point.content}
    found = verilog_digests(point)
    return {"verilog_hash": found.text, "content": found.hardware}


def _formula(point: Point, parts: Parts) -> tuple[list[int], str, list[Figure]]:
    """Cycles of each part, and a description of the check. Only the functional level runs, no hardware."""
    machine = point.machine
    for part in parts:
        if point.own and machine.total_cycles(part.work.requests) is None:
            missing = "cycles()" if machine.in_flight == 1 else "total_cycles()"
            raise NoMeasurement(f"{point}: {machine.name} has no formula; define {missing}")
        _require_right(
            point, part, machine.answers([machine.carried_from(request) for request in part.work.requests])
        )
    counts = [cycles_of(point.workload, machine, part.work) for part in parts]
    return counts, f"{_checked(point, parts, 'functional level (FL)')}; no hardware ran", []


def _simulated(point: Point, parts: Parts) -> tuple[list[int], str, list[Figure]]:
    """Cycles of each part, simulated on one machine, a description of the check, and the latency and interval
    of several requests.
    """
    level, stage = ("cl", None) if point.stage == CL else ("rtl", point.stage)
    counts, paces = [], []
    with point.machine.session(level=level, backend=stage, interface=point.interface) as session:
        for part in parts:
            (operated,) = session.operate([part.work.requests])
            _require_right(point, part, operated.responses)
            counts.append(operated.cycles)
            if operated.latency is not None and operated.interval is not None:
                paces += [
                    figure(LATENCY.name, operated.latency, point.operation),
                    figure(INTERVAL.name, operated.interval, point.operation),
                ]
    what = "cycle-level model" if level == "cl" else f"RTL ({point.stage})"
    return counts, _checked(point, parts, what), paces


def _checked(point: Point, parts: Parts, what: str) -> str:
    """A description of the check of the results."""
    results = "result" if len(parts) == 1 else f"{len(parts)} results"
    return f"{results} of the {what} checked against {'fl' if point.own else 'pow'}"


def _require_right(point: Point, part: Part, responses: Sequence[Message]) -> None:
    """NoMeasurement for an error status or a wrong result."""
    if tuple(responses) == part.work.responses:
        return
    status = next((response[0] for response in responses if response[0]), 0)
    if status and not point.own:
        raise NoMeasurement(
            f"{point}: {part.work.name} was answered with status {int(status)}: {MEANING[Status(status)]}"
        )
    raise NoMeasurement(f"{point}: the result of {part.work.name} is wrong, so its cycles mean nothing")


# ---- systems


def _system(point: Point, kind: SystemKind) -> tuple[list[int], str, Json]:
    """Cycles of one operation on the processor without those of the call, a description of the check, and the
    breakdown of the cycles.
    """
    dummy = _dummy(point.nbits, point.workload, point.stage)
    row = system_catalogue.Measurement(point.stage).row(kind, point.nbits, point.workload, dummy)
    if not row.ok or row.outcome is None or row.normalised is None:
        raise NoMeasurement(f"{point}: {row.note or 'it was not run'}")
    window = row.outcome.window
    more = {
        "window": {"cycles": row.cycles, "dummy": row.dummy, **attributes(window, "instructions", "cpi")},
        "where": dict(window.where),
    }
    return [row.normalised], f"result of the program on the RTL ({point.stage}) checked against pow", more


@functools.cache
def _dummy(nbits: int, operation: str, stage: str) -> int:
    """Cycles of the program that returns the expected answer; the cycles of all systems of this width are
    normalised by them.
    """
    return system_catalogue.Measurement(stage).overhead(nbits, operation)
