"""The whole machine: its handshakes at all delays, its time for all exponents, its netlist, and that netlist placed.

Handshakes and time are proved by the registers that they hang on, or, where that is not enough, on the machine with its whole datapath,
at small widths. A machine whose time depends on the exponent is refuted with two exponents and the cycles that it takes them.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pymtl3 import Component

from ....fl.errors import BadInput
from ....flow.prove.report import PROVED, REFUTED, UNDECIDED, Equivalence
from ....rtl.sim.ports import Ports
from ....rtl.sim.translation.translate import top_name, translate
from . import benches
from .bus_check import bus_check
from .check import NETLIST, OTHER_SCHEDULE, PLACED, PROTOCOL, TIME, Check, Outcome, spent
from .stream_checks import behind_handshakes, decided, in_a_row, one_by_one, parts_of, protocol

if TYPE_CHECKING:
    from ...designs.machine import Machine

PAIRS, EXPONENTS = 8, 32  # of base and modulus, and exponents of a length, that are tried
SECRET = "exp"
PLACE = "place"  # the step of the flow
SHOWN = 3  # differences of a placed netlist that are told


def machine_checks(machine: Machine) -> Iterator[Check]:
    """Of a machine of the catalogue."""
    promised = "each request one answer, held until taken, in a bounded time, at all delays"
    yield Check(PROTOCOL, PROTOCOL, promised, lambda seconds, _: _protocol(machine, seconds))
    yield bus_check(machine)
    if not machine.keyed:
        yield _time_check(TIME, machine)
        for schedule, sibling in _of_other_schedules(machine):
            yield _time_check(f"{TIME}{OTHER_SCHEDULE}{schedule}", sibling)
    yield Check(NETLIST, NETLIST, "the netlist does what the RTL says", lambda *_: _netlist(machine))
    yield Check(PLACED, PLACED, "the placed netlist does what the netlist does", lambda *_: _placed(machine))


def _time_check(name: str, machine: Machine) -> Check:
    which = "all exponents" if machine.plan.full_scan else "all exponents of a length"
    return Check(name, TIME, f"as many cycles for {which}", lambda seconds, _: _time(machine, seconds))


def _of_other_schedules(machine: Machine) -> Iterator[tuple[str, Machine]]:
    """Of one that has its design's own schedule: with each other one whose time is said to be the same for all exponents of a length."""
    from ...designs.control import SCHEDULE

    own = machine.parameters.get(SCHEDULE)
    for schedule in machine.design.constant_schedules if own == machine.design.schedule else ():
        if schedule != own:
            with contextlib.suppress(BadInput):  # it does not go with the other settings
                yield schedule, machine.design.at(machine.nbits, **{**machine.parameters, SCHEDULE: schedule})


def stream(machine: Machine) -> benches.Stream:
    """The machine as hardware."""
    hardware = machine.rtl()
    hardware.elaborate()
    return benches.Stream(translate(hardware), top_name(hardware), Ports.of(hardware))


def _protocol(machine: Machine, seconds: float) -> Outcome:
    began = spent()
    cycles, room = _measured(machine)
    design, found = stream(machine), None
    if room > 1:
        hardware = machine.rtl()
        hardware.elaborate()
        row = [name for name, each in vars(hardware).items() if _passes_on(each)]
        found = in_a_row(design, parts_of(hardware, design.verilog, row), cycles, seconds / 2)
    found = found or protocol(design, (), cycles, room, seconds - (spent() - began))
    return replace(found, seconds=spent() - began)


def _passes_on(part: object) -> bool:
    return isinstance(part, Component) and hasattr(part, "istream") and hasattr(part, "ostream")


def _operands(machine: Machine) -> list[tuple[int, int, int]]:
    """Operands of several moduli, with exponents of all lengths."""
    generator = random.Random(1)
    if machine.keyed:
        key = machine.key
        assert key.d is not None  # it is private
        return [(generator.randrange(1, key.n), key.d, key.n) for _ in range(PAIRS)]
    top = (1 << machine.modulus_nbits) - 1
    found = []
    for at in range(PAIRS):
        n = machine.modulus or (
            top if not at else generator.getrandbits(machine.modulus_nbits) | top // 2 + 1 | 1
        )
        base = generator.randrange(1, n)
        exponents = {
            1 << length - 1 | generator.getrandbits(length) & (1 << length - 1) - 1
            for length in range(1, machine.nbits + 1)
            for _ in range(EXPONENTS)
        }
        found += [(base, exp, n) for exp in sorted(exponents)]
    return found


def _measured(machine: Machine) -> tuple[int, int]:
    """Cycles that it takes at most of those that are tried, and the requests that it holds: what the proof confirms."""
    from ....rtl.sim import simulate

    with simulate(machine.rtl(), "native") as simulation:
        requests = [machine.carried(*each) for each in _operands(machine)]
        latest = max(simulation.run(requests).latencies)
        stalled = simulation.run(requests[:4], sink_delays=[4 * latest, 0, 0, 0])
    return latest, sum(each < stalled.done[0] for each in stalled.accepted)


def _time(machine: Machine, seconds: float) -> Outcome:
    began = spent()
    if (told := _told_apart(machine)) is not None:
        return Outcome(REFUTED, "two exponents, natively", spent() - began, told)
    design, lengths = stream(machine), not machine.plan.full_scan
    found = same_pace(design, lengths, seconds / 6)
    cycles, room = _measured(machine) if found.verdict != PROVED else (0, 0)
    if room == 1 and (alone := one_by_one(design, (), cycles, seconds / 2)) is not None:
        found = alone.same_time(design, SECRET, lengths, seconds / 2)
    if found.verdict != PROVED:
        bench = benches.same_time(design, SECRET, lengths)
        found = decided(bench, max(1.0, seconds - (spent() - began)), how="of two machines side by side")
    return replace(found, seconds=spent() - began)


def same_pace(design: benches.Stream, lengths: bool, seconds: float) -> Outcome:
    """By the registers that the handshakes are computed from: in two copies that differ in the secret they go on alike, from any state.

    Alike: they are the same; of one for which that does not hold, where exponents are as long as each other, its highest 1 is at one
    place; and where that does not hold either, nothing is said of it, and nothing may hang on it.
    """
    began = spent()
    registers = behind_handshakes(design)
    equal, alike = list(registers), list[str]()

    def asked(shown: str = "") -> Outcome:
        bench = benches.same_pace(design, SECRET, lengths, registers, (equal, alike), shown)
        return decided(bench, max(1.0, seconds - (spent() - began)), 2)

    while True:
        found = asked() if equal else Outcome(UNDECIDED, "no register is the same", 0.0)
        if found.verdict == PROVED:
            how = f"{len(equal)} registers behind the handshakes are the same in two machines"
            how += f", {len(alike)} as long" if alike else ""
            return replace(found, how=f"{found.how}; {how}")
        lost = []
        for name in (*equal, *alike) if found.verdict == REFUTED else ():
            each = asked(name).verdict
            lost += [name] if each == REFUTED else []
            if each == UNDECIDED or spent() - began > seconds:
                lost = []
                break
        if not lost:  # which may be for a state that is never reached
            return Outcome(UNDECIDED, "no relation of two machines is found that lasts", spent() - began)
        differ = [name for name in equal if name in lost]
        equal = [name for name in equal if name not in lost]
        alike = [*(name for name in alike if name not in lost), *(differ if lengths else [])]


def _told_apart(machine: Machine) -> list[dict[str, int]] | None:
    """Two exponents, of the same length unless all take as long, that the machine takes different cycles for.

    Asked one after the other, which says where to look; then each on its own after a reset, so that no request is beside another.
    """
    from ....rtl.sim import simulate

    operands = _operands(machine)
    with simulate(machine.rtl(), "native") as simulation:
        taken = simulation.run([machine.carried(*each) for each in operands]).latencies
        first: dict[tuple[int, int, int], tuple[int, int]] = {}
        for (base, exp, n), cycles in zip(operands, taken, strict=True):
            length = 0 if machine.plan.full_scan else exp.bit_length()
            other, cycles_of_other = first.setdefault((base, n, length), (exp, cycles))
            if cycles == cycles_of_other:
                continue
            pair = [(base, each, n) for each in (other, exp)]
            alone = [simulation.run([machine.carried(*each)]).latencies[0] for each in pair]
            if alone[0] != alone[1]:
                return [
                    {"base": base, "exp": each, "mod": n, "cycles": took}
                    for (_, each, _), took in zip(pair, alone, strict=True)
                ]
    return None


def _netlist(machine: Machine) -> Outcome:
    """The proof of the flow; a part gets the seconds that it has there."""
    from ....flow import product
    from ..flow_settings import EQUIVALENCE

    found = product.read(_flow(machine, EQUIVALENCE)[EQUIVALENCE] / Equivalence.FILE, Equivalence)
    verdict = REFUTED if found.refuted else PROVED if found.equivalent else UNDECIDED
    return Outcome(verdict, found.summary, sum(each.seconds for each in found.parts))


def _placed(machine: Machine) -> Outcome:
    """As its file has it, behind buffers, other drive strengths and copied clock gates."""
    entries = _flow(machine, PLACE)
    return placed_outcome(entries["synthesis"] / "netlist.json", entries[PLACE] / "netlist_placed.json")


def placed_outcome(before: Path, after: Path) -> Outcome:
    """Of the two netlists in these files."""
    from ....flow.kit import kit
    from ....flow.netlist import netlist
    from ....flow.prove.placed import prove_same

    library = kit.find().library
    mapped, placed = (netlist.read(each, library) for each in (before, after))
    began = spent()
    if wrong := prove_same(mapped, placed, library):
        how = "; ".join([*wrong[:SHOWN], *([f"{len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else [])])
        return Outcome(REFUTED, how, spent() - began)
    more = len(placed.cells) - len(mapped.cells)
    how = f"induction over {len(mapped.cells):,} cells by name, {more:,} buffers and copied clock gates beside them"
    return Outcome(PROVED, how, spent() - began)


def _flow(machine: Machine, step: str) -> Mapping[str, Path]:
    """What the steps of the flow left, up to this one, at the clock that it has by default."""
    from ...designs.unit_chip import chip
    from ..flow_settings import CLOCK_NS, check_flow
    from ..implement import run_asic

    source = chip(machine.design, machine.nbits, machine.parameters)
    source.check()
    outcome, _ = run_asic([step], source, check_flow({"clock_period": CLOCK_NS}), lambda _: None)
    return outcome.entries
