"""Native leakage measurement: moments of register activity, cycle by cycle, without traces.

    model = Watched(machine.rtl())
    with model.campaign() as campaign:
        campaign.run(requests, kinds)         # kind of each request: a class, and a half of the campaign
        campaign.curve()                      # by cycle and kind: how often, the sum, and the sum of squares

What a cycle gives away is taken as the bits that change in registers at its end (Hamming distance), or as the
bits that are 1 then (Hamming weight): of all registers, and of each alone. Registers are those of the design,
memories among them; wires between them are not seen, nor glitches. All sums are exact, whatever the number of
operations.

Operations follow one another without a pause. Cycle 0 is the first in which a request is offered; a machine
may take it later.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, cast

from pymtl3 import Component

from ..nativemodel import FINISHED, RUNNING, buffer_of, declare_functions, from_words, to_words
from ..ports import Value
from ..protocol import SimulationTimeout
from .sites import POINTER, TEXT, SiteModel

DRIVER = Path(__file__).with_name("leak.cpp")
MEASURES = ("distance", "weight")  # numbered as in leak.cpp
NKINDS = 4
IGNORED = -1  # the kind of an operation that is not counted
HANGS = 2  # times the cycles of an operation
SLICE = 1 << 18  # cycles between two looks at Ctrl-C


class Moments(NamedTuple):
    """Moments of integers: their count, their sum, and the sum of their squares."""

    number: int
    total: int
    squares: int


class Watched(SiteModel):
    """A machine whose registers are watched; the component must not have been elaborated for a simulation
    yet.
    """

    def __init__(self, component: Component, opt: str = "-O1") -> None:
        super().__init__(component, DRIVER, opt, flips=False)
        integer, number = ctypes.c_int64, ctypes.c_int32
        declare_functions(
            self._lib,
            sim_watch=(None, TEXT, TEXT, number),
            sim_power_up=(None, number, number),
            sim_start=(None, integer, TEXT, POINTER, POINTER, POINTER, ctypes.c_uint64),
            sim_traces=(None, POINTER, integer),
            sim_done=(integer,),
            sim_taken=(integer,),
            sim_moments=(integer, POINTER),
        )

    @property
    def names(self) -> list[str]:
        """The registers; all words of a memory are one."""
        return list(dict.fromkeys(register.path.partition("[")[0] for register in self.registers))

    def campaign(self, measure: str = MEASURES[0], *, coarse: bool = False) -> Campaign:
        """Begin one, from power-up. coarse: registers are not told apart, but the machine's uppermost
        modules.
        """
        return Campaign(self, measure, coarse)


class Campaign:
    """Operations, and what was counted of them; free it by `close`, or by a `with`."""

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
        """Answers and cycles of operations; one that takes far more than `longest` cycles hangs."""
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
        """Answers and cycles."""
        ports, total = self._model.ports, len(requests)
        packed = to_words(ports.request.pack_all(requests), ports.request.nbits)
        responses = buffer_of(total, ports.response.nbits)
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
            raise SimulationTimeout(f"no answer to an operation in {max_cycles} cycles at stage native")
        answers = ports.response.unpack_all(from_words(responses.raw, ports.response.nbits))
        return list(answers), lengths.tolist()

    def traces(self, requests: Sequence[Value], max_cycles: int) -> list[list[int]]:
        """Return the activity of all registers, cycle by cycle: for each request a list as long as its
        operation.
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
        """Return the cycles of the longest operation."""
        return max((length for row in self.lengths for length in row), default=0)

    @property
    def taken(self) -> int:
        """The last cycle in which a request was taken."""
        return self._lib.sim_taken(self._sim)

    def curve(self, group: str | None = None) -> list[list[Moments]]:
        """By cycle and kind: of one register, or of all."""
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
        # what the longest operations alone have reached is there for the others as zeros
        assert size >= 2 * self.cycles * NKINDS * (len(self.groups) + 1)
        return cast(Sequence[int], pointer)

    def _running(self) -> list[list[int]]:
        """By kind and cycle: how many operations last that long."""
        if not self._counts:
            for lengths in self.lengths:
                ends = [0] * (self.cycles + 1)
                for length in lengths:
                    ends[length] += 1
                ended = list(accumulate(ends))
                self._counts.append([len(lengths) - ended[cycle] for cycle in range(self.cycles)])
        return self._counts

    def close(self) -> None:
        """Free the model; what was counted is gone, too."""
        if self._sim is not None:
            self._lib.sim_delete(self._sim)
            self._sim = None

    def __enter__(self) -> Campaign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
