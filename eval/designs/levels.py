"""Runs an accelerator's table at all levels and backends: results equal `fl`, and CL cycles equal RTL cycles
and the formula.

Each backend runs the rows with the delays of the table, and again under random stalls. The first difference
is reported by row, with the request, the response and the expected one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...fl.accelerator import Message, Row, answer_in_words, in_words
from ...fl.errors import BadInput
from ...fl.memory import image_of
from ...rtl.sim import BrokenPromise, MemoryFault, Run, SimulationTimeout, Stall, UnexpectedResponse
from ..author_check import wrong_request
from .interfaces import STREAM, Interface
from .runnable import Runnable

CL = "cl"
FORMULA = "cycles()"
STATE = "; define model() if it keeps state between requests"
STALLS = (None, Stall(1, 0.3, 0.3, 0.3), Stall(2, 0.0, 0.7, 0.6))
Cycles = list[tuple[int, int]]  # of each row: when the request is accepted, and when the response is ready


class Disagreement(RuntimeError):
    """A level or backend that differs from the function or from another level."""


class Passed(NamedTuple):
    """One run of the table that passed."""

    where: str
    rows: int
    cycles: int


def check_levels(
    accelerator: Runnable,
    backends: Sequence[str] = (),
    report: Callable[[Passed], None] = lambda _: None,
    *,
    interface: Interface = STREAM,
) -> list[Passed]:
    """Run the table with these backends, by default all; BadInput if the accelerator cannot be run."""
    rows = accelerator.rows()
    check_rows(accelerator, rows)
    if accelerator.has_model:
        _check_model(accelerator, rows)
    expected = accelerator.answers([row.request for row in rows])
    passed = []
    stamps: dict[int, tuple[str, Cycles]] = {}
    for backend in backends or accelerator.backends:
        for index, stall in enumerate(STALLS):
            where = f"{backend}{', stalled' if stall else ''}"
            run = _run(accelerator, rows, backend, stall, interface)
            _compare_responses(accelerator, rows, run, expected, where)
            cycles = list(zip(run.accepted, run.done, strict=True))
            first, reference = stamps.setdefault(index, (backend, cycles))
            for row, found, other in zip(rows, cycles, reference, strict=True):
                if found != other:
                    counted = {backend: _latency(found), first: _latency(other), **_formula(accelerator, row)}
                    advice = _advice(accelerator, counted)
                    raise Disagreement(
                        f"row {row.name!r} at {where}: request in cycle {found[0]}, response in cycle "
                        f"{found[1]}; at {first} in cycles {other[0]} and {other[1]}; {advice}"
                    )
            if stall is None and (wrong := _formula_differs(accelerator, rows, cycles)) is not None:
                row, counted = rows[wrong], {backend: _latency(cycles[wrong])}
                if backend == CL and (hardware := [name for name in accelerator.backends if name != CL]):
                    run = _run(accelerator, rows, hardware[0], None, interface)  # which of the two is right
                    counted[hardware[0]] = run.done[wrong] - run.accepted[wrong]
                counted |= _formula(accelerator, row)
                raise Disagreement(
                    f"row {row.name!r} at {where}: {_in_cycles(counted)}; {_advice(accelerator, counted)}"
                )
            passed.append(Passed(where, len(rows), run.cycles))
            report(passed[-1])
    if hardware := [backend for backend in backends or accelerator.backends if backend != CL]:
        _check_workloads(accelerator, hardware[-1], interface)
    return passed


def _check_workloads(accelerator: Runnable, backend: str, interface: Interface) -> None:
    """Run the workloads with this backend, and compare their cycles with the formula for several requests."""
    for name, requests in accelerator.workloads().items():
        rows = [Row(str(number), request) for number, request in enumerate(requests)]
        where = f"{backend}, workload {name}"
        run = _run(accelerator, rows, backend, None, interface)
        _compare_responses(accelerator, rows, run, accelerator.answers(requests), where)
        formula, cycles = accelerator.total_cycles(requests), run.done[-1] - run.accepted[0]
        waits = accelerator.in_flight > 1 and any(
            map(image_of, requests[1:])
        )  # until all others are answered
        if formula not in (None, cycles) and not waits:
            raise Disagreement(
                f"{accelerator.name} at {where}: {len(requests)} requests take {cycles} cycles, and "
                f"total_cycles() has {formula}; define it for requests that overlap, or correct the hardware"
            )


def check_rows(accelerator: Runnable, rows: Sequence[Row]) -> None:
    """BadInput for an empty table, a value that does not fit its field, or two rows with the same name."""
    if not rows:
        raise BadInput(f"{accelerator.name}: rows() is empty; give at least one row")
    names = set()
    for row in rows:
        where = f"{accelerator.name}, row {row.name!r}"
        if row.name in names:
            raise BadInput(f"{where}: there are two rows of this name; give each its own")
        names.add(row.name)
        if wrong := wrong_request(accelerator, row.request):
            raise BadInput(f"{where}{wrong}; correct the row")


def _check_model(accelerator: Runnable, rows: Sequence[Row]) -> None:
    """BadInput if `fl` differs from a new model's response, which is the response after a reset."""
    fields = accelerator.shape.response
    for row in rows:
        stated = accelerator.responder(accelerator.fl)(row.request)
        first = accelerator.responder()(row.request)
        if stated != first:
            raise BadInput(
                f"{accelerator.name}, row {row.name!r}: fl returns {in_words(fields, stated)}, "
                f"and a new model() {in_words(fields, first)}; make them the same: fl answers after a reset"
            )


def _run(accelerator: Runnable, rows: Sequence[Row], backend: str, stall: Stall | None, by: Interface) -> Run:
    level, where = ("cl", "python") if backend == CL else ("rtl", backend)
    requests = [row.request for row in rows]
    delays = [row.source_delay for row in rows], [row.sink_delay for row in rows]
    memory_delays = [row.memory_delay for row in rows]
    most = sum(map(sum, delays)) + accelerator.most_cycles(requests) * (1 + max(memory_delays))
    with accelerator.simulation(by, level, where) as simulation:
        try:
            return simulation.run(
                [accelerator.carried_from(request) for request in requests],
                statics=[row.statics for row in rows] if accelerator.shape.statics else None,
                source_delays=delays[0],
                sink_delays=delays[1],
                stall=stall,
                max_cycles=10 * most,
                memory=replace(accelerator.memory, delays=memory_delays),
            )
        except (SimulationTimeout, MemoryFault) as error:
            row = rows[min(error.answered, len(rows) - 1)]
            raise Disagreement(f"{accelerator.name} at {backend}, row {row.name!r}: {error}") from None
        except (BrokenPromise, UnexpectedResponse) as error:
            raise Disagreement(f"{accelerator.name} at {backend}: {error}") from None


def _compare_responses(
    accelerator: Runnable, rows: Sequence[Row], run: Run, expected: Sequence[Message], where: str
) -> None:
    shape = accelerator.shape
    responses: list[Any] = run.responses
    for row, response, meant in zip(rows, responses, expected, strict=True):
        if response != meant:
            asked = in_words(shape.request, row.request)
            source = "model()" if accelerator.has_model else "fl"
            raise Disagreement(
                f"{accelerator.name} at {where}, row {row.name!r} ({asked}): "
                f"{answer_in_words(shape, response, meant)}, and {source} has "
                f"{in_words(shape.response, meant)}"
                + ("" if accelerator.has_model or shape.memory or row is rows[0] else STATE)
            )


def _formula_differs(accelerator: Runnable, rows: Sequence[Row], cycles: Cycles) -> int | None:
    """The first row whose cycles are not those of the formula, among requests that an idle accelerator
    accepts and for which neither sink nor memory wait.
    """
    free = -1
    for index, (row, (accepted, done)) in enumerate(zip(rows, cycles, strict=True)):
        formula = accelerator.cycles(*row.request)
        prompt = row.sink_delay == row.memory_delay == 0
        if prompt and accepted > free and formula not in (None, done - accepted):
            return index
        free = done
    return None


def _formula(accelerator: Runnable, row: Row) -> dict[str, int]:
    """The cycles of a row by the formula, if there is one."""
    cycles = accelerator.cycles(*row.request)
    return {} if cycles is None else {FORMULA: cycles}


def _latency(stamps: tuple[int, int]) -> int:
    return stamps[1] - stamps[0]


def _in_cycles(counted: Mapping[str, int]) -> str:
    """The cycles at these levels, with equal ones together."""
    return "; ".join(
        f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'} {count} cycles"
        for count, names in _by_count(counted).items()
    )


def _advice(accelerator: Runnable, counted: Mapping[str, int]) -> str:
    """The level to correct, if all others agree on the cycles."""
    model = "steps()" if accelerator.shape.memory and type(accelerator).cl is Runnable.cl else "cl()"
    alone = [names[0] for names in _by_count(counted).values() if len(names) == 1]
    if len(counted) == 2 and FORMULA in counted:
        return "correct the formula or the level"
    if len(alone) != 1:
        return "make the levels equal"
    others = " and ".join(name for name in counted if name != alone[0])
    wrong = {FORMULA: "the formula", CL: model}.get(alone[0], "rtl()")
    return f"{others} agree: correct {wrong}"


def _by_count(counted: Mapping[str, int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, count in counted.items():
        found.setdefault(count, []).append(name)
    return found
