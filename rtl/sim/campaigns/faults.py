"""Native fault injection: single-bit faults in a machine, one operation per fault, on one compiled model.

    model = Faulted(machine.rtl())
    sites = model.registers                   # and model.tables, model.answers
    outcomes = model.campaign(requests, faults_of(sites, lambda site: [100]), expected, max_cycles)

A bit can be flipped in one of these sites:

    register    a flip-flop or a word of a memory, at the beginning of a cycle; the flip lasts until the
                register is written
    table       a constant of a ROM, from power-up on
    answer      the response of an internal unit (`ostream.msg`), for one cycle

The design's Verilog is unchanged except for attributes that make registers and tables writable from outside,
and an XOR after each unit's response. A fault is written into the model between two edges, so a campaign
needs no compilation. Every operation starts from power-up and reset, or from the state that given earlier
operations leave; all registers and memories start with the same random bits. Cycle 0 is the first in which
the request is offered; the sink is always ready, and the first response counts.
"""

import ctypes
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from pymtl3 import Component

from ..nativemodel import FINISHED, RUNNING, declare_functions
from ..ports import Value
from ..protocol import SimulationTimeout
from .observed import Kind
from .sites import POINTER, TEXT, Site, SiteModel

DRIVER = Path(__file__).with_name("faults.cpp")
SLICE = 1 << 20  # cycles between checks for Ctrl-C
TOGETHER_SECONDS = 0.2  # seconds between checks, for operations that share a model


class Fault(NamedTuple):
    """A flipped bit of a site: at a cycle, or permanent in a table."""

    site: Site
    bit: int
    cycle: int = 0

    def __str__(self) -> str:
        when = "" if self.site.kind is Kind.TABLE else f" in cycle {self.cycle}"
        return f"{self.site.path}, bit {self.bit}{when}"


class Effect(Enum):
    """Effect of a fault."""

    NONE = "no effect"
    CAUGHT = "caught"
    HANG = "hang"
    WRONG = "wrong result"


class FaultOutcome(NamedTuple):
    """One operation with a fault; `response` is None if there was none."""

    fault: Fault
    effect: Effect
    response: Value | None
    cycles: int  # cycle of the response's handshake, counted from the first offer of the request


Judge = Callable[[Value | None, Value], Effect]  # arguments: a response, and the expected one


def judged(response: Value | None, expected: Value) -> Effect:
    """The effect of a fault by a response {status, results}: an error status without a wrong result counts as
    caught.
    """
    effect = compared(response, expected)
    if effect is not Effect.WRONG:
        return effect
    assert isinstance(response, tuple) and isinstance(expected, tuple)
    (status, *results), (_, *right) = response, expected
    wrong = any(result not in (0, good) for result, good in zip(results, right, strict=True))
    return Effect.CAUGHT if status and not wrong else Effect.WRONG


def compared(response: Value | None, expected: Value) -> Effect:
    """The effect of a fault by a response without a status."""
    if response is None:
        return Effect.HANG
    return Effect.NONE if response == expected else Effect.WRONG


class Faulted(SiteModel):
    """A machine whose bits can be flipped. Its component must not have been elaborated for a
    simulation yet.
    """

    def __init__(self, component: Component) -> None:
        super().__init__(component, DRIVER, flips=True)
        number, cycles = ctypes.c_int32, ctypes.c_uint64
        declare_functions(
            self._lib,
            sim_clear=(None, TEXT, TEXT),
            sim_flip=(None, TEXT, TEXT, number, number, number, cycles),
            sim_before=(None, ctypes.c_int64, TEXT),
            sim_start=(None, TEXT, cycles, cycles),
            sim_answer=(cycles, POINTER),
            sim_keep=(None, TEXT, TEXT),
            sim_record=(number, TEXT, cycles),
            sim_element=(ctypes.c_uint64, TEXT, TEXT, number),
            sim_campaign=(None, ctypes.c_int64, POINTER, TEXT, POINTER, cycles, *[POINTER] * 3),
            sim_read=(None, TEXT, TEXT, number, POINTER),
        )

    @contextmanager
    def _operation(
        self,
        request: Value,
        fault: Fault | None,
        max_cycles: int,
        rest: int = 0,
        before: Sequence[Value] = (),
    ) -> Iterator[ctypes.c_void_p]:
        """A model at the beginning of an operation."""
        with self._without_flips() as sim:
            if fault is not None:
                scope, name, element = self._places[fault.site.path]
                self._lib.sim_flip(sim, scope, name, element, fault.bit, fault.site.kind.value, fault.cycle)
            self._lib.sim_before(sim, len(before), earlier := self._packed(before))
            self._lib.sim_start(sim, self._packed([request]), max_cycles, rest)
            yield sim
            del earlier  # until here the library keeps its address

    @contextmanager
    def _without_flips(self) -> Iterator[ctypes.c_void_p]:
        with self._running() as sim:
            for scope, name, _ in (self._places[answer.path] for answer in self.answers):
                self._lib.sim_clear(sim, scope, name)
            yield sim

    def _finish(self, sim: ctypes.c_void_p) -> tuple[Value | None, int]:
        while (outcome := self._lib.sim_advance(sim, SLICE)) == RUNNING:
            pass
        return self._answered(sim, outcome)

    def _answered(self, sim: ctypes.c_void_p, outcome: int) -> tuple[Value | None, int]:
        words = self._responses(1)
        cycles = self._lib.sim_answer(sim, words)
        return (self._unpacked(words)[0], cycles) if outcome == FINISHED else (None, 0)

    def run(
        self, request: Value, max_cycles: int, fault: Fault | None = None, before: Sequence[Value] = ()
    ) -> tuple[Value | None, int]:
        """The response to one request, and its cycle; None if there is none within max_cycles.

        before: requests that are answered first, which determine the state.
        """
        with self._operation(request, fault, max_cycles, before=before) as sim:
            return self._finish(sim)

    def campaign(
        self,
        requests: Sequence[Value],
        faults: Iterable[Fault],
        expected: Sequence[Value],
        max_cycles: int,
        judge: Judge = judged,
        progress: Callable[[int], None] | None = None,
        before: Sequence[Sequence[Value]] = (),
    ) -> list[FaultOutcome]:
        """One operation per fault: fault i is injected into request i (modulo the number of requests), whose
        fault-free response is `expected` at the same place, after the requests of `before` at that place.

        Faults in registers, which are the most frequent, share the operation up to the fault, and end when
        the state equals that of the fault-free operation.
        """
        all_faults = list(faults)
        found = {}
        for at, request in enumerate(requests):
            earlier = before[at] if before else ()
            places = range(at, len(all_faults), len(requests))
            shared = [place for place in places if all_faults[place].site.kind is Kind.REGISTER]
            others = set(places).difference(shared)
            for place in others:
                found[place] = self.run(request, max_cycles, all_faults[place], earlier)
            here = [all_faults[place] for place in shared]
            answers = self._shared(request, here, max_cycles, len(found), progress, earlier)
            found |= dict(zip(shared, answers, strict=True))
        outcomes = []
        for place, fault in enumerate(all_faults):
            response, cycles = found[place]
            effect = judge(response, expected[place % len(requests)])
            outcomes.append(FaultOutcome(fault, effect, response, cycles))
        return outcomes

    def _shared(
        self,
        request: Value,
        faults: Sequence[Fault],
        max_cycles: int,
        done: int,
        progress: Callable[[int], None] | None,
        before: Sequence[Value],
    ) -> list[tuple[Value | None, int]]:
        """The responses to a request with flips in registers, all on one model; `done` is the number of
        earlier faults.
        """
        if not faults:
            return []
        with self._without_flips() as sim:
            lib = self._lib
            for scope, name in dict.fromkeys(self._places[register.path][:2] for register in self.registers):
                lib.sim_keep(sim, scope, name)
            packed, earlier = (
                self._packed([request]),
                self._packed(before),
            )  # the library keeps their addresses
            lib.sim_before(sim, len(before), earlier)
            outcome = lib.sim_record(sim, packed, max_cycles)
            without = self._answered(sim, outcome)
            if outcome != FINISHED:
                raise SimulationTimeout(f"no answer in {max_cycles} cycles, and without a fault")
            found: list[tuple[Value | None, int]] = []
            size = 16
            while len(found) < len(faults):
                begun = time.monotonic()
                part = faults[len(found) : len(found) + size]
                responses = self._responses(len(part))
                outcomes, cycles = array("i", bytes(4 * len(part))), array("Q", bytes(8 * len(part)))
                at = array(
                    "Q",
                    [lib.sim_element(sim, *self._places[item.site.path]) + item.bit // 8 for item in part],
                )
                bits = bytes(1 << item.bit % 8 for item in part)
                # a flip after the response has no effect
                when = array("Q", [min(item.cycle, without[1]) for item in part])
                lib.sim_campaign(
                    sim,
                    len(part),
                    at.buffer_info()[0],
                    bits,
                    when.buffer_info()[0],
                    max_cycles,
                    outcomes.buffer_info()[0],
                    responses,
                    cycles.buffer_info()[0],
                )
                answers = self._unpacked(responses)
                for fault, outcome, answer, cycle in zip(part, outcomes, answers, cycles, strict=True):
                    if outcome == RUNNING or fault.cycle > without[1]:
                        found.append(without)
                    else:
                        found.append((answer, cycle) if outcome == FINISHED else (None, 0))
                elapsed = time.monotonic() - begun
                size = max(1, int(size * min(4.0, TOGETHER_SECONDS / max(elapsed, 1e-6))))
                if progress is not None:
                    progress(done + len(found))
            return found

    def state(self, request: Value, max_cycles: int, after: int = 1) -> tuple[Value | None, dict[str, int]]:
        """The response to a request, and all registers `after` cycles after the response was accepted."""
        with self._operation(request, None, max_cycles, after) as sim:
            response, _ = self._finish(sim)
            return response, {register.path: self._read(sim, register) for register in self.registers}

    def _read(self, sim: ctypes.c_void_p, site: Site) -> int:
        scope, name, element = self._places[site.path]
        data = ctypes.create_string_buffer(site.nbits // 8 + 8)
        self._lib.sim_read(sim, scope, name, element, data)
        return int.from_bytes(data.raw, "little")


def faults_of(sites: Iterable[Site], cycles: Callable[[Site], Iterable[int]]) -> list[Fault]:
    """A fault in every bit of these sites, in each of the cycles."""
    return [
        Fault(site, bit, cycle)
        for site in sites
        for bit in range(site.nbits)
        for cycle in ((0,) if site.kind is Kind.TABLE else cycles(site))
    ]
