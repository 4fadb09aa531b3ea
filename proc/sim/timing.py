"""Timing of the memory model: latency, and how often its ports stall."""

from dataclasses import dataclass

from ...fl.errors import BadInput
from ...rtl.sim import Stall

PORTS = ("imem", "dmem", "mngr2proc", "proc2mngr")  # each has a generator of its own


@dataclass(frozen=True)
class MemoryTiming:
    """The same for both memory ports, and, as far as stalls go, for both manager ports.

    latency: a request that fires in cycle c is answered in cycle c + latency at the earliest.
    stall: the probability, in each cycle, that a port does not take a request (the manager: a word), and that
    the manager holds back a word that it has not offered yet.
    extra: each answer takes 0 to `extra` cycles more, all equally likely; answers stay in order.
    seed: of the random numbers, which are the same at every stage.
    """

    latency: int = 1
    stall: float = 0.0
    extra: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.latency < 2**31:
            raise BadInput(f"the memory's latency must be 1 or more cycles (below 2**31), not {self.latency}")
        if not 0 <= self.extra < 2**31:
            raise BadInput(f"the memory's extra cycles must be 0 or more (below 2**31), not {self.extra}")
        if not 0 <= self.stall < 1:
            raise BadInput(f"the memory's stall probability must be in [0, 1), not {self.stall}")

    @property
    def starts(self) -> tuple[int, ...]:
        """The first states of the generators of PORTS."""
        return tuple(Stall(len(PORTS) * self.seed + i).start for i in range(len(PORTS)))

    @property
    def threshold(self) -> int:
        """A draw of 32 bits below it means a stall; with 0, none is drawn."""
        return Stall(self.seed, source=self.stall).thresholds[0]
