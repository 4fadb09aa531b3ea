"""Native leakage measurement: moments of register activity, cycle by cycle, without storing traces.

    model = Watched(machine.rtl())
    with model.campaign() as campaign:
        campaign.run(requests, kinds)         # kind of each request: a class, and a half of the campaign
        campaign.curve()                      # by cycle and kind: count, sum, and sum of squares
    model.handshakes(requests, max_cycles)    # of operations from power-up on, cycles alone

The leakage of a cycle is modelled as the number of register bits that change at its end (Hamming distance),
or that are 1 then (Hamming weight), for all registers together and for each register. Registers are those of
the design, including memories; wires between them, and glitches, are not modelled. All sums are exact,
whatever the number of operations.

Operations follow one another without a pause. Cycle 0 is the first in which a request is offered; a machine
may accept it later.
"""

import ctypes
from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, cast

from pymtl3 import Component

from ....fl.closing import Closing
from ..nativemodel import FINISHED, RUNNING, UNEXPECTED, declare_functions
from ..ports import Value
from ..protocol import SimulationTimeout, UnexpectedResponse
from .sites import POINTER, TEXT, SiteModel

DRIVER = Path(__file__).with_name("leak.cpp")
MEASURES = ("distance", "weight")  # numbered as in leak.cpp
NKINDS = 4
IGNORED = -1  # the kind of an operation that is not counted
HANGS = 2  # multiple of the cycles of an operation that counts as a hang
SLICE = 1 << 18  # cycles between checks for Ctrl-C


class Moments(NamedTuple):
    """Moments of integers: their count, their sum, and the sum of their squares."""

    number: int
    total: int
    squares: int


class Handshakes(NamedTuple):
    """The cycles in which each request was accepted and each response was offered, counted from reset."""

    accepted: list[int]
    answered: list[int]


class Watched(SiteModel):
    """A machine whose registers are observed. Its component must not have been elaborated for a simulation
    yet.
    """

    def __init__(self, component: Component) -> None:
        super().__init__(component, DRIVER, flips=False)
        integer, number = ctypes.c_int64, ctypes.c_int32
        declare_functions(
            self._lib,
            sim_watch=(None, TEXT, TEXT, number),
            sim_power_up=(None, number, number),
            sim_start=(None, integer, TEXT, POINTER, POINTER, POINTER, ctypes.c_uint64),
            sim_stream=(None, integer, TEXT, POINTER, POINTER, ctypes.c_uint64),
            sim_traces=(None, POINTER, integer),
            sim_done=(integer,),
            sim_taken=(integer,),
            sim_moments=(integer, POINTER),
        )

    @property
    def names(self) -> list[str]:
        """The names of the registers; all words of a memory are one register."""
        return list(dict.fromkeys(register.path.partition("[")[0] for register in self.registers))

    def campaign(self, measure: str = MEASURES[0], *, coarse: bool = False) -> "Campaign":
        """Begin a campaign from power-up. coarse: group registers by top-level module of the machine."""
        return Campaign(self, measure, coarse)

    def handshakes(self, requests: Sequence[Value], max_cycles: int) -> Handshakes:
        """Run a stream of operations from power-up, each request offered once the previous one is accepted.

        No campaign of this model may be open: Verilator's context belongs to the newest model of a library.
        """
        total = len(requests)
        packed = self._packed(requests)  # the library keeps its address
        accepted, answered = array("q", bytes(8 * total)), array("q", bytes(8 * total))
        with self._running() as sim:
            self._lib.sim_stream(
                sim, total, packed, accepted.buffer_info()[0], answered.buffer_info()[0], max_cycles
            )
            while (outcome := self._lib.sim_advance(sim, SLICE)) == RUNNING:
                pass
            done = self._lib.sim_done(sim)
        if outcome == UNEXPECTED:
            raise UnexpectedResponse(f"response {done} with backend native answers no request")
        if outcome != FINISHED:
            raise SimulationTimeout(
                f"no answer to operation {done} in {max_cycles} cycles with backend native"
            )
        return Handshakes(accepted.tolist(), answered.tolist())


class Campaign(Closing):
    """Operations, and the moments of their activity; free it by `close` or a `with` statement."""

    def __init__(self, model: Watched, measure: str, coarse: bool) -> None:
        group_of = {name: name.partition(".")[0] if coarse else name for name in model.names}
        self.groups = list(dict.fromkeys(group_of.values()))
        self.lengths: list[list[int]] = [[] for _ in range(NKINDS)]  # cycles of operations, by kind
        self._model, self._lib = model, model._lib
        self._sim: ctypes.c_void_p | None = model._new()
        first = {site.path.partition("[")[0]: model._places[site.path] for site in model.registers}
        for register, group in group_of.items():
            scope, name, _ = first[register]
            self._lib.sim_watch(self._sim, scope, name, self.groups.index(group))
        self._lib.sim_power_up(self._sim, MEASURES.index(measure), NKINDS)
        self._counts: list[list[int]] = []

    def run(
        self,
        requests: Sequence[Value],
        kinds: Sequence[int],
        longest: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[list[Value], list[int]]:
        """Responses and cycles of operations; an operation that takes far more than `longest` cycles counts
        as hung.
        """
        answers, lengths = self._operate(requests, kinds, HANGS * longest + 1000, progress)
        for kind, length in zip(kinds, lengths, strict=True):
            if kind != IGNORED:
                self.lengths[kind].append(length)
        self._counts = []
        return answers, lengths

    def _operate(
        self,
        requests: Sequence[Value],
        kinds: Sequence[int],
        max_cycles: int,
        progress: Callable[[int], None] | None,
    ) -> tuple[list[Value], list[int]]:
        """Responses and cycles of operations."""
        model, total = self._model, len(requests)
        # the library keeps their addresses
        packed, responses = model._packed(requests), model._responses(total)
        lengths = array("q", bytes(8 * total))
        of_kind = array("b", kinds)
        self._lib.sim_start(
            self._sim,
            total,
            packed,
            of_kind.buffer_info()[0],
            responses,
            lengths.buffer_info()[0],
            max_cycles,
        )
        while (outcome := self._lib.sim_advance(self._sim, SLICE)) == RUNNING:
            if progress is not None:
                progress(self._lib.sim_done(self._sim))
        if outcome != FINISHED:
            raise SimulationTimeout(f"no answer to an operation in {max_cycles} cycles with backend native")
        return list(model._unpacked(responses)), lengths.tolist()

    def traces(self, requests: Sequence[Value], max_cycles: int) -> list[list[int]]:
        """The activity of all registers, cycle by cycle: for each request a list with one number per cycle of
        its operation.
        """
        kept = array("i", bytes(4 * max_cycles * len(requests)))
        self._lib.sim_traces(self._sim, kept.buffer_info()[0], max_cycles)
        try:
            _, lengths = self._operate(requests, [IGNORED] * len(requests), max_cycles, None)
        finally:
            self._lib.sim_traces(self._sim, None, 0)
        return [
            kept[at * max_cycles : at * max_cycles + length].tolist() for at, length in enumerate(lengths)
        ]

    @property
    def cycles(self) -> int:
        """The cycles of the longest operation."""
        return max((length for row in self.lengths for length in row), default=0)

    @property
    def taken(self) -> int:
        """The last cycle in which a request was accepted."""
        return self._lib.sim_taken(self._sim)

    def curve(self, group: str | None = None) -> list[list[Moments]]:
        """Moments by cycle and kind, of one group of registers or of all."""
        place = len(self.groups) if group is None else self.groups.index(group)
        wide = len(self.groups) + 1
        data, counts = self._data(), self._running()
        found = []
        for cycle in range(self.cycles):
            row = []
            for kind in range(NKINDS):
                at = 2 * ((cycle * NKINDS + kind) * wide + place)
                row.append(Moments(counts[kind][cycle], data[at], data[at + 1]))
            found.append(row)
        return found

    def _data(self) -> Sequence[int]:
        pointer = ctypes.POINTER(ctypes.c_int64)()
        size = self._lib.sim_moments(self._sim, ctypes.byref(pointer))
        # cycles that only the longest operations reach are zeros for the others
        assert size >= 2 * self.cycles * NKINDS * (len(self.groups) + 1)
        return cast(Sequence[int], pointer)

    def _running(self) -> list[list[int]]:
        """By kind and cycle: the number of operations that last beyond that cycle."""
        if not self._counts:
            for lengths in self.lengths:
                ends = [0] * (self.cycles + 1)
                for length in lengths:
                    ends[length] += 1
                ended = list(accumulate(ends))
                self._counts.append([len(lengths) - ended[cycle] for cycle in range(self.cycles)])
        return self._counts

    def close(self) -> None:
        """Free the model, including its counts."""
        if self._sim is not None:
            self._lib.sim_delete(self._sim)
            self._sim = None
