"""Moments of the switching activity of a netlist, glitches included, for leakage.py.

The netlist comes from the flow at its default style, with the delays at the kit's clock and without wires.
This is much slower than registers at RTL, but only the netlist shows differences between two clock edges.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pymtl3 import Component

from ....fl.closing import Closing
from ....flow.gates.gates import netlist_of
from ....flow.gates.power_trace import TracedNetlist
from ....flow.kit import kit
from ....rtl.sim.campaigns.leak import IGNORED, NKINDS, Moments

TOGETHER = 100  # operations in a run of the simulation


class NetlistCampaign(Closing):
    """Operations on a netlist, and the moments of its activity by cycle, kind and module."""

    def __init__(self, component: Component, taken: int, adk: Path | None = None) -> None:
        """taken: the last cycle in which a request is loaded; adk: the kit, or None for the default."""
        netlist, ports = netlist_of(component, adk)
        library = kit.find(adk).library
        constraints = library.constraints(library.kit.constraints.clock_ns, derate=0.0)
        self._model = TracedNetlist(netlist, library, ports, constraints)
        self.taken = taken
        self.groups = [name or "(top)" for name in self._model.modules]
        self.lengths: list[list[int]] = [[] for _ in range(NKINDS)]
        # by cycle, kind and module (the last entry: all modules): number, sum, and sum of squares
        self._moments = np.zeros((0, NKINDS, len(self.groups) + 1, 3), np.int64)

    def run(
        self,
        requests: Sequence[Any],
        kinds: Sequence[int],
        longest: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[list[Any], list[int]]:
        """Answers and cycles."""
        answers = []
        lengths = []
        for start in range(0, len(requests), TOGETHER):
            traced = self._model.run(requests[start : start + TOGETHER], longest, self.taken)
            for kind, rows in zip(kinds[start : start + TOGETHER], traced.rows, strict=True):
                lengths.append(len(rows))
                if kind != IGNORED:
                    self._count(kind, rows)
            answers += traced.responses
            if progress is not None:
                progress(len(answers))
        return answers, lengths

    def _count(self, kind: int, rows: np.ndarray) -> None:
        cycles = len(rows)
        if (more := cycles - self.cycles) > 0:
            longer = np.zeros((more, *self._moments.shape[1:]), np.int64)
            self._moments = np.concatenate([self._moments, longer])
        whole = np.concatenate([rows, rows.sum(axis=1, keepdims=True)], axis=1)
        self._moments[:cycles, kind] += np.stack([np.ones_like(whole), whole, whole * whole], axis=-1)
        self.lengths[kind].append(cycles)

    @property
    def cycles(self) -> int:
        """The cycles of the longest operation."""
        return len(self._moments)

    def curve(self, group: str | None = None) -> list[list[Moments]]:
        """Moments by cycle and kind: of one module, or of all."""
        place = -1 if group is None else self.groups.index(group)
        return [[Moments(*kind) for kind in cycle] for cycle in self._moments[:, :, place].tolist()]
