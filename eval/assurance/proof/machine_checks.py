"""Checks of a whole accelerator: handshakes under any delay, constant time, the netlist and the placed
netlist.

Handshakes and timing are proved on the registers that they depend on or, if that is not enough, on the
hardware with its whole datapath at small widths. A timing claim names the fields of a request that must not
change its cycles; two requests with different cycles disprove it.
"""

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ....cl.timing import Dependence
from ....fl.accelerator import Message
from ....fl.errors import BadInput
from ....flow import product
from ....flow.kit import kit
from ....flow.netlist import netlist
from ....flow.prove.assertions import Decision, countdown, decide
from ....flow.prove.placed import prove_same
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED, Equivalence
from ....rtl.sim import Simulation, simulate
from ....rtl.sim.protocol import Run
from ...designs.machine import Machine
from ...designs.runnable import Runnable
from ...designs.unit_chip import chip
from ...lab.asic_run import run_asic
from ...lab.flow_settings import EQUIVALENCE, check_flow
from ...lab.verdicts import OTHER_SCHEDULE, PROMISED, TIME
from . import benches
from .benches import Secret, Stream
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

PAIRS, EXPONENTS = 8, 32  # pairs of base and modulus, and exponents of one length, that are tried
ALL_NBITS = 16  # if requests have at most this many bits, all are tried
DRAWN, VARIED = 32, 32  # otherwise: random requests, and values of the claimed fields in each
TOGETHER = 1024  # requests per run; a machine runs all of them in one
STALLED = 4  # requests that are offered while the first answer waits; or two more than fit
PLACE = "place"  # the step of the flow
SHOWN = 3  # differences of a placed netlist that are reported


class Claim(NamedTuple):
    """Fields of a request that must not change its cycles, and requests that are tried before the proof.

    held: what two requests must have in common beside the secret.
    """

    says: str
    secret: Secret
    tried: Callable[[], Sequence[Message]]
    held: Callable[[Message], object]


def machine_checks(accelerator: Runnable, library: str = "") -> Iterator[Check]:
    """The checks that apply to a machine of the catalogue or to another accelerator; library: the kit of the
    netlists, if it is not the default.
    """
    adk = kit.named(library) if library else None
    promised = "each request gets one answer, held until accepted, within a bounded time, for all delays"
    yield Check(PROTOCOL, PROTOCOL, promised, lambda seconds: _protocol(accelerator, seconds))
    yield bus_check(accelerator)
    yield from _time_checks(accelerator)
    name = f"{NETLIST} {library}".rstrip()
    yield Check(name, NETLIST, "the netlist is equivalent to the RTL", lambda _: _netlist(accelerator, adk))
    placed = "the placed netlist is equivalent to the netlist"
    if not library or kit.described(library).supply is not None:  # else there is no layout
        yield Check(f"{PLACED} {library}".rstrip(), PLACED, placed, lambda _: _placed(accelerator, adk))


def _time_checks(accelerator: Runnable) -> Iterator[Check]:
    """One check per schedule for a machine; for others one for the secret fields, and one if further fields
    are promised.
    """
    if isinstance(accelerator, Machine):
        if not accelerator.keyed:
            yield _time_check(TIME, accelerator, _claim_of_machine(accelerator))
            for schedule, sibling in _of_other_schedules(accelerator):
                yield _time_check(f"{TIME}{OTHER_SCHEDULE}{schedule}", sibling, _claim_of_machine(sibling))
        return
    secret, steady = accelerator.secret or tuple(dict(accelerator.shape.request)), accelerator.steady
    yield _time_check(TIME, accelerator, _claim(accelerator, secret))
    if not set(steady) <= set(secret) or (steady and not accelerator.constant_time):
        yield _time_check(f"{TIME}{PROMISED}{', '.join(steady)}", accelerator, _claim(accelerator, steady))


def _time_check(name: str, accelerator: Runnable, claim: Claim) -> Check:
    return Check(name, TIME, claim.says, lambda seconds: _time(accelerator, claim, seconds))


def _claim_of_machine(machine: Machine) -> Claim:
    """All exponents, or all of one length; all bases too, if that is promised."""
    lengths, any_base = not machine.promises.every_exponent, machine.promises.time.base is Dependence.NONE
    which = "all exponents of a length" if lengths else "all exponents"
    which = f"all bases and {which}" if any_base else which
    base = {"base": "{base} < mod" if machine.promises.reduced_only else "1"} if any_base else {}
    given = "public == 0" if machine.takes_public else ""

    def held(request: Message) -> object:
        base, exp, mod, *more = request
        return -1 if any_base else base, mod, exp.bit_length() if lengths else 0, more

    secret = Secret("exp", lengths, base, given)
    return Claim(f"as many cycles for {which}", secret, lambda: _tried(machine), held)


def _claim(accelerator: Runnable, fields: Sequence[str]) -> Claim:
    """All values of these fields, including those of refused requests."""
    names = dict(accelerator.shape.request)
    return Claim(
        f"as many cycles for all {', '.join(fields)}",
        Secret(fields[0], also=dict.fromkeys(fields[1:], "1")),
        lambda: _tried(accelerator, fields),
        lambda request: [value for name, value in zip(names, request, strict=True) if name not in fields],
    )


def _of_other_schedules(machine: Machine) -> Iterator[tuple[str, Machine]]:
    """The machine with each other schedule of its design that promises constant time; none unless it has the
    default schedule.
    """
    param = machine.design.control.schedule
    if machine.parameters.get(param.name) != param.default:
        return
    for schedule in param.legal if isinstance(param.legal, tuple) else ():
        with contextlib.suppress(BadInput):  # the schedule is incompatible with the other settings
            sibling = machine.design.at(machine.nbits, **{**machine.parameters, param.name: schedule})
            same = sibling.design is machine.design
            if same and schedule != param.default and sibling.promises.constant_time:
                yield schedule, sibling


def named(accelerator: Runnable, request: Message) -> dict[str, int]:
    """The fields of a request by their names."""
    return dict(zip(dict(accelerator.shape.request), request, strict=True))


def _protocol(accelerator: Runnable, seconds: float) -> Decision:
    left = countdown(seconds)
    design = Stream.of(accelerator.rtl())
    if (broken := not_at_rest(design, seconds / 4)) is not None:
        return broken
    try:
        cycles, room = measured(accelerator)
    except REFUSED as error:
        return Decision(REFUTED, str(error))
    if room > 1:
        row = [name for name, unit in vars(design.hardware).items() if passes_on(unit)]
        if (found := in_a_row(design, parts_of(design, row), cycles, seconds / 2)) is not None:
            return found
    return protocol(design, cycles, room, left(), _every(accelerator))


def _every(accelerator: Runnable) -> int:
    """The number of all possible requests if all are tried, else 0."""
    nbits = sum(nbits for _, nbits in accelerator.shape.request)
    too_many = isinstance(accelerator, Machine) or nbits > ALL_NBITS or accelerator.shape.statics
    return 0 if too_many else 1 << nbits


def _tried(accelerator: Runnable, fields: Sequence[str] = ()) -> list[Message]:
    """Requests that run natively before a proof, with several values of these fields in each."""
    if isinstance(accelerator, Machine):
        return [accelerator.carried(*operands) for operands in _operands(accelerator)]
    shape, generator = accelerator.shape.request, random.Random(1)
    if _every(accelerator):
        return list(itertools.product(*(range(1 << nbits) for _, nbits in shape)))
    found = [row.request for row in accelerator.rows()]
    corners = [tuple(0 for _ in shape), tuple((1 << nbits) - 1 for _, nbits in shape)]
    for _ in range(DRAWN):
        request = accelerator.drawn(generator)
        others = [*corners, *(accelerator.drawn(generator) for _ in range(VARIED))]
        found += [
            tuple(
                varied if name in fields else value
                for (name, _), value, varied in zip(shape, request, other, strict=True)
            )
            for other in [request, *others]
        ]
    return found


def _operands(machine: Machine) -> list[tuple[int, int, int]]:
    """Operands of several moduli, with exponents of all lengths and, for constant time, several bases."""
    generator = random.Random(1)
    if machine.keyed:
        key = machine.key
        assert key.d is not None  # it is private
        return [(generator.randrange(1, key.n), key.d, key.n) for _ in range(PAIRS)]
    top = (1 << machine.modulus_nbits) - 1
    any_base = machine.promises.time.base is Dependence.NONE
    found = []
    for at in range(PAIRS):
        n = machine.modulus or (
            top if not at else generator.getrandbits(machine.modulus_nbits) | top // 2 + 1 | 1
        )
        bases = [generator.randrange(1, n)]
        bases += [0, 1, n - 1] if any_base else []
        exponents = {
            1 << length - 1 | generator.getrandbits(length) & (1 << length - 1) - 1
            for length in range(1, machine.nbits + 1)
            for _ in range(EXPONENTS)
        }
        found += [
            (base, exp, n) for base, exp in zip(itertools.cycle(bases), sorted(exponents), strict=False)
        ]
    return found


def measured(accelerator: Runnable) -> tuple[int, int]:
    """The most cycles of the requests that are tried, and the number of requests in flight; the proof
    confirms both.
    """
    requests, count = _tried(accelerator), max(STALLED, accelerator.in_flight + 2)
    with simulate(accelerator.rtl(), "native") as simulation:
        latencies, early = _in_turn(accelerator, simulation, requests)
        latest = max(latencies)
        stalled = _run(accelerator, simulation, (requests * count)[:count], 4 * latest)
    return latest, max(1 + early, sum(at < stalled.done[0] for at in stalled.accepted))


def _in_turn(
    accelerator: Runnable, simulation: Simulation, requests: Sequence[Message]
) -> tuple[list[int], bool]:
    """The cycles of each request, and whether any was accepted before the response to its predecessor."""
    latencies = []
    early = False
    together = len(requests) if isinstance(accelerator, Machine) else TOGETHER
    for start in range(0, len(requests), together):
        part = requests[start : start + together]
        run = _run(accelerator, simulation, part)
        latencies += run.latencies
        early = early or any(at < done for at, done in zip(run.accepted[1:], run.done, strict=False))
    return latencies, early


def _run(accelerator: Runnable, simulation: Simulation, requests: Sequence[Message], waits: int = 0) -> Run:
    """A run whose first answer is accepted after this many cycles; static ports have the values of the first
    row.

    A machine has the usual limit, after which it counts as hung.
    """
    machine = isinstance(accelerator, Machine)
    return simulation.run(
        requests,
        statics=accelerator.rows()[0].statics if accelerator.shape.statics else None,
        sink_delays=[waits, *[0] * (len(requests) - 1)],
        max_cycles=None if machine else 2 * accelerator.most_cycles(requests) + waits + 1000,
    )


def _time(accelerator: Runnable, claim: Claim, seconds: float) -> Decision:
    left = countdown(seconds)
    try:
        pair = _told_apart(accelerator, claim)
    except REFUSED as error:
        return Decision(UNDECIDED, f"{error}; see --check {PROTOCOL}")
    if pair is not None:
        return Decision(REFUTED, "two operations, natively", pair)
    design = Stream.of(accelerator.rtl())
    found = same_pace(design, claim.secret, seconds / 6)
    cycles, room = measured(accelerator) if not found.proved else (0, 0)
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


def _told_apart(accelerator: Runnable, claim: Claim) -> list[dict[str, int]] | None:
    """Two operations that should take the same number of cycles and do not.

    All run in turn; then two that differ run alone after a reset.
    """
    requests = claim.tried()
    with simulate(accelerator.rtl(), "native") as simulation:
        taken, _ = _in_turn(accelerator, simulation, requests)
        first: dict[str, tuple[Message, int]] = {}
        for request, cycles in zip(requests, taken, strict=True):
            other, cycles_of_other = first.setdefault(str(claim.held(request)), (request, cycles))
            if cycles == cycles_of_other:
                continue
            one, two = (
                {
                    **named(accelerator, request),
                    "cycles": _run(accelerator, simulation, [request]).latencies[0],
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
