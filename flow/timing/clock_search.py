"""Chooses the next clock to try in the search for the shortest period that a design meets.

A netlist that meets its clock reveals little, because area recovery uses up its slack. The slack of a netlist
that misses its clock almost gives the answer. The search therefore tries a period well below one that was
met, then the period that the failed netlist would have met, and bisects the remaining interval; near the
answer it decreases step by step, doubling the step each time. Periods are on a grid. The result is not
monotone in the requested clock: the answer is the shortest period that was met, and periods below a missed
one are not tried.
"""

import itertools
import math

import msgspec

GRID_NS = 0.05  # periods are multiples of it
RELATIVE = 0.02  # of a long period the search ends that close
SHORTER = 0.65  # after a period that is met and says no more
A_LITTLE_SHORTER = 0.93  # where a shorter one was missed
MOST_TRIALS = 12
MHZ = 1000.0


class Trial(msgspec.Struct, frozen=True):
    """Result for a clock: the slack with the wires known so far, and the area."""

    clock_ns: float
    slack_ns: float | None  # None: nothing in it has a clock
    area_um2: float | None
    met: bool

    def __str__(self) -> str:
        slack = "no path" if self.slack_ns is None else f"{self.slack_ns:+.3f}"
        return f"{self.clock_ns:g} {'met' if self.met else 'missed'} {slack}"


class Searched(msgspec.Struct):
    """A search: the shortest period that was met, if one was, and all trials in their order."""

    period_ns: float | None
    trials: list[Trial]

    @property
    def fmax_mhz(self) -> float | None:
        """The highest clock."""
        return None if self.period_ns is None else round(MHZ / self.period_ns, 3)

    @property
    def clock_ns(self) -> float:
        """The period to go on with: of a design that met none, the longest that was tried."""
        return self.period_ns or max(trial.clock_ns for trial in self.trials)


class HighestClocks(msgspec.Struct):
    """Before layout, and after it where that was asked for."""

    before_layout: Searched
    after_layout: Searched | None = None

    @property
    def clock_ns(self) -> float:
        """The period for the whole flow."""
        return (self.after_layout or self.before_layout).clock_ns


class ClockSearch:
    """Search for the shortest clock: proposes periods and accepts their results. With `near` it starts close
    to the answer, which two trials may then confirm, and with exactly that period, on the grid or not, of
    which there may be a netlist.
    """

    def __init__(self, start_ns: float, *, near: bool = False) -> None:
        self._near = near
        self._start = start_ns if near else self._up(start_ns)
        self.missed_ns, self._met = 0.0, math.inf  # the longest that is missed, the shortest that is met
        self.trials: list[Trial] = []

    @property
    def best(self) -> Trial | None:
        """The shortest period that is met."""
        met = (trial for trial in self.trials if trial.met)
        return min(met, key=lambda trial: trial.clock_ns, default=None)

    def ask(self) -> float | None:
        """The next period; None when the answer is found, or cannot be."""
        if not self.trials:
            return self._start
        last = self.trials[-1]
        if len(self.trials) >= MOST_TRIALS or last.slack_ns is None or self._ended:
            return None
        return self._after_met(last) if last.met else self._after_missed(last)

    def tell(self, trial: Trial) -> None:
        """Record the result for the proposed period."""
        self.trials.append(trial)
        if trial.met:
            self._met = min(self._met, trial.clock_ns)
        else:
            self.missed_ns = max(self.missed_ns, trial.clock_ns)

    @property
    def left(self) -> int:
        """Trials that are still to come, about."""
        if self.ask() is None:
            return 0
        if not self.trials or math.isinf(self._met):
            return 2 if self._near else 4
        shortest = self._met - 2 * self._step if self._near else SHORTER * self._met
        open_ns = self._met - (self.missed_ns or shortest)
        return max(1, math.ceil(math.log2(max(open_ns / self._step, 2)))) + (0 if self.missed_ns else 1)

    # ---- the next one

    @property
    def _step(self) -> float:
        """How close the answer is wanted."""
        reference = self._met if math.isfinite(self._met) else self.missed_ns
        return GRID_NS * max(1, round(RELATIVE * reference / GRID_NS))

    @property
    def _ended(self) -> bool:
        return self._met - self.missed_ns <= self._step + GRID_NS / 2 or self._met <= GRID_NS

    def _after_met(self, last: Trial) -> float:
        assert last.slack_ns is not None
        if not self.missed_ns:
            would = self._met - last.slack_ns
            if not self._near:
                return self._between(SHORTER * would)
            further = self._met - 2 ** (len(self.trials) - 1) * self._step
            return self._between(min(self._up(would), max(further, SHORTER * would)))
        # the missed ones have said where it would be
        missed = [trial for trial in self.trials if not trial.met]
        reached = min((trial.clock_ns - (trial.slack_ns or 0) for trial in missed), default=0.0)
        if reached > self._met - 1.5 * self._step:
            return self._between(self._met - self._step)
        return self._between(max((self.missed_ns + self._met) / 2, A_LITTLE_SHORTER * self._met))

    def _after_missed(self, last: Trial) -> float:
        """The period that this netlist would have met, plus one step for each further miss in succession."""
        assert last.slack_ns is not None
        again = len(list(itertools.takewhile(lambda trial: not trial.met, reversed(self.trials))))
        wanted = self._up(last.clock_ns - last.slack_ns) + (again - 1) * self._step
        if math.isinf(self._met):
            return max(wanted, self._above(self.missed_ns))
        return self._between(wanted if wanted < self._met else (self.missed_ns + self._met) / 2)

    def _between(self, period: float) -> float:
        """The nearest period on the grid between the longest missed and the shortest met one."""
        low, high = self._above(self.missed_ns), self._met - GRID_NS
        return round(min(max(_on_grid(round(period / GRID_NS)), low), high), 6)

    def _above(self, period: float) -> float:
        """The next one on the grid."""
        return _on_grid(math.floor(period / GRID_NS + 1e-6) + 1)

    def _up(self, period: float) -> float:
        return _on_grid(math.ceil(period / GRID_NS - 1e-6))


def _on_grid(steps: int) -> float:
    return round(steps * GRID_NS, 6)
