"""Checks of a whole accelerator: handshakes under any delay, constant time, the netlist and the placed
netlist.

Handshakes and timing are proved on the registers that they depend on or, if that is not enough, on the
hardware with its whole datapath at small widths. A timing claim names the fields of a request that must not
change its cycles; two requests with different cycles disprove it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ....fl.accelerator import Message
from ....flow import product
from ....flow.kit import kit
from ....flow.netlist import netlist
from ....flow.prove.assertions import Decision, countdown, decide
from ....flow.prove.placed import prove_same
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED, Equivalence
from ....rtl.sim import Simulation, simulate
from ....rtl.sim.protocol import Run
from ...designs.claims import Claims, Secret, TimeClaim
from ...designs.runnable import Runnable
from ...designs.unit_chip import chip
from ...lab.asic_run import run_asic
from ...lab.flow_settings import EQUIVALENCE, check_flow
from ...lab.verdicts import OTHER_SCHEDULE, PROMISED, TIME
from . import benches
from .benches import Stream
from .bus_check import bus_check
from .check import NETLIST, PLACED, PROTOCOL, Check
from .stream_checks import (
    REFUSED,
    behind_handshakes,
    in_a_row,
    not_at_rest,
    one_by_one,
    parts_of,
    passes_on,
    protocol,
)

STALLED = 4  # requests that are offered while the first answer waits; or two more than fit
PLACE = "place"  # the step of the flow
NO_MEMORY_MODEL = "it has memory ports, and the proof has no model of a memory yet"
SHOWN = 3  # differences of a placed netlist that are reported


def machine_checks(claims: Claims, library: str = "") -> Iterator[Check]:
    """The checks of any accelerator; library: the kit of the netlists, if it is not the default."""
    accelerator = claims.accelerator
    adk = kit.named(library) if library else None
    promised = "each request gets one answer, held until accepted, within a bounded time, for all delays"
    if accelerator.shape.memory:
        yield Check(PROTOCOL, PROTOCOL, promised, lambda _: Decision(UNDECIDED, NO_MEMORY_MODEL))
        for claim in claims.time():
            yield replace(_time_check(claim), decide=lambda _: Decision(UNDECIDED, NO_MEMORY_MODEL))
    else:
        yield Check(PROTOCOL, PROTOCOL, promised, lambda seconds: _protocol(claims, seconds))
        yield bus_check(accelerator)
        yield from map(_time_check, claims.time())
    name = f"{NETLIST} {library}".rstrip()
    yield Check(name, NETLIST, "the netlist is equivalent to the RTL", lambda _: _netlist(accelerator, adk))
    placed = "the placed netlist is equivalent to the netlist"
    if not library or kit.described(library).supply is not None:  # else there is no layout
        yield Check(f"{PLACED} {library}".rstrip(), PLACED, placed, lambda _: _placed(accelerator, adk))


def _time_check(claim: TimeClaim) -> Check:
    name = f"{TIME}{OTHER_SCHEDULE}{claim.schedule}" if claim.schedule else TIME
    name += f"{PROMISED}{', '.join(claim.promised)}" if claim.promised else ""
    return Check(name, TIME, claim.says, lambda seconds: _time(claim, seconds))


def _protocol(claims: Claims, seconds: float) -> Decision:
    left = countdown(seconds)
    design = Stream.of(claims.accelerator.rtl())
    if (broken := not_at_rest(design, seconds / 4)) is not None:
        return broken
    try:
        cycles, room = measured(claims)
    except REFUSED as error:
        return Decision(REFUTED, str(error))
    if room > 1:
        row = [name for name, unit in vars(design.hardware).items() if passes_on(unit)]
        if (found := in_a_row(design, parts_of(design, row), cycles, seconds / 2)) is not None:
            return found
    return protocol(design, cycles, room, left(), claims.every)


def measured(claims: Claims) -> tuple[int, int]:
    """The most cycles of the requests that are tried, and the number of requests in flight; the proof
    confirms both.
    """
    requests, count = claims.tried(), max(STALLED, claims.accelerator.in_flight + 2)
    with simulate(claims.accelerator.rtl(), "native") as simulation:
        latencies, early = _in_turn(claims, simulation, requests)
        latest = max(latencies)
        stalled = _run(claims, simulation, (requests * count)[:count], 4 * latest)
    return latest, max(1 + early, sum(at < stalled.done[0] for at in stalled.accepted))


def _in_turn(claims: Claims, simulation: Simulation, requests: Sequence[Message]) -> tuple[list[int], bool]:
    """The cycles of each request, and whether any was accepted before the response to its predecessor."""
    latencies = []
    early = False
    together = claims.together(requests)
    for start in range(0, len(requests), together):
        part = requests[start : start + together]
        run = _run(claims, simulation, part)
        latencies += run.latencies
        early = early or any(at < done for at, done in zip(run.accepted[1:], run.done, strict=False))
    return latencies, early


def _run(claims: Claims, simulation: Simulation, requests: Sequence[Message], waits: int = 0) -> Run:
    """A run whose first answer is accepted after this many cycles; static ports have the values of the first
    row.
    """
    accelerator, most_cycles = claims.accelerator, claims.most_cycles(requests)
    return simulation.run(
        requests,
        statics=accelerator.rows()[0].statics if accelerator.shape.statics else None,
        sink_delays=[waits, *[0] * (len(requests) - 1)],
        max_cycles=None if most_cycles is None else most_cycles + waits,
    )


def _time(claim: TimeClaim, seconds: float) -> Decision:
    left = countdown(seconds)
    try:
        pair = _told_apart(claim)
    except REFUSED as error:
        return Decision(UNDECIDED, f"{error}; see --check {PROTOCOL}")
    if pair is not None:
        return Decision(REFUTED, "two operations, natively", pair)
    design = Stream.of(claim.claims.accelerator.rtl())
    found = same_pace(design, claim.secret, seconds / 6)
    cycles, room = measured(claim.claims) if not found.proved else (0, 0)
    if room == 1 and (alone := one_by_one(design, cycles, seconds / 2)) is not None:
        found = alone.same_time(design, claim.secret, seconds / 2)
    if not found.proved:
        found = decide(benches.same_time(design, claim.secret), left(), how="of two machines side by side")
    return found


def same_pace(design: Stream, secret: Secret, seconds: float) -> Decision:
    """Decide by the registers behind the handshakes: two copies with different secrets stay in step.

    From any state, the registers of both copies must be equal. If that fails for a register and exponents
    have the same length, it must have the same bit length in both copies; if that fails too, nothing may
    depend on it.
    """
    left = countdown(seconds)
    registers = behind_handshakes(design)
    equal, alike = list(registers), list[str]()

    def asked(shown: str = "") -> Decision:
        return decide(benches.same_pace(design, secret, registers, (equal, alike), shown), left(), 2)

    while equal:
        found = asked()
        if found.proved:
            how = f"{len(equal)} registers behind the handshakes are the same in two machines"
            how += f", {len(alike)} as long" if alike else ""
            return replace(found, how=f"{found.how}; {how}")
        lost = []
        for name in (*equal, *alike) if found.refuted else ():
            verdict = asked(name).verdict
            lost += [name] if verdict == REFUTED else []
            if verdict == UNDECIDED or left() < 0:
                lost = []
                break
        if not lost:  # the failure may concern unreachable states only
            break
        differ = [name for name in equal if name in lost]
        equal = [name for name in equal if name not in lost]
        alike = [*(name for name in alike if name not in lost), *(differ if secret.lengths else [])]
    return Decision(UNDECIDED, "no inductive relation between two machines was found")


def _told_apart(claim: TimeClaim) -> list[dict[str, int]] | None:
    """Two operations that should take the same number of cycles and do not.

    All run in turn; then two that differ run alone after a reset.
    """
    claims, requests = claim.claims, claim.tried()
    with simulate(claims.accelerator.rtl(), "native") as simulation:
        taken, _ = _in_turn(claims, simulation, requests)
        first: dict[str, tuple[Message, int]] = {}
        for request, cycles in zip(requests, taken, strict=True):
            other, cycles_of_other = first.setdefault(str(claim.held(request)), (request, cycles))
            if cycles == cycles_of_other:
                continue
            one, two = (
                {
                    **claims.named(request),
                    "cycles": _run(claims, simulation, [request]).latencies[0],
                }
                for request in (other, request)
            )
            if one["cycles"] != two["cycles"]:
                return [one, two]
    return None


def _netlist(accelerator: Runnable, adk: Path | None) -> Decision:
    """The proof of the flow; each of its parts has the time limit that the flow sets."""
    found = product.read(_flow(accelerator, EQUIVALENCE, adk)[EQUIVALENCE] / Equivalence.FILE, Equivalence)
    verdict = REFUTED if found.refuted else PROVED if found.equivalent else UNDECIDED
    return Decision(verdict, found.summary, seconds=sum(part.seconds for part in found.parts))


def _placed(accelerator: Runnable, adk: Path | None) -> Decision:
    """The netlist as the placed file has it, with buffers, other drive strengths and copied clock gates."""
    entries = _flow(accelerator, PLACE, adk)
    return placed_outcome(entries["sizing"] / "netlist.json", entries[PLACE] / "netlist_placed.json", adk)


def placed_outcome(before: Path, after: Path, adk: Path | None = None) -> Decision:
    """The outcome of comparing the netlists in these files."""
    library = kit.find(adk).library
    mapped, placed = (netlist.read(path, library) for path in (before, after))
    if wrong := prove_same(mapped, placed, library):
        how = "; ".join([*wrong[:SHOWN], *([f"{len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else [])])
        return Decision(REFUTED, how)
    more = len(placed.cells) - len(mapped.cells)
    how = (
        f"induction over {len(mapped.cells):,} cells by name, {more:,} buffers and copied clock gates "
        "beside them"
    )
    return Decision(PROVED, how)


def _flow(accelerator: Runnable, step: str, adk: Path | None) -> Mapping[str, Path]:
    """The outputs of the flow's steps up to this one, at its default clock."""
    source = chip(accelerator.design, accelerator.nbits, accelerator.parameters)
    source.check()
    clock = {"clock_period": kit.find(adk).data.constraints.clock_ns}
    outcome, _ = run_asic([step], source, check_flow(clock), lambda _: None, adk=adk)
    return outcome.entries
