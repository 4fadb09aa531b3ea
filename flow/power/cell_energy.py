"""Energy of all instances of one kind of cell: the library's internal power and leakage tables, weighted by
activity.

An output's table belongs to an input that moves it and to a condition on the others. How often each of them
is paid is not recorded, only how often the output moves: the transitions are shared out in proportion to
(toggles of that input) x (probability that the condition holds and that the output follows this input),
inputs being independent of one another. An input's table is paid at each of its transitions with the
probability of its condition.

What registers hold is not independent of what they are given, and known: Q moves at a clock edge exactly if D
differed from it, so that D != Q before (toggles of Q) / (rising edges) of these. Before the falling edge D
has mostly taken its next value: `settled` is the share of its changes that come while the clock is high, when
the library charges what they cost to the clock's falling edge. Where a clock gate lets few edges through D is
independent of Q in between. A clock gate's output moves exactly if it was enabled.

Unconnected outputs pay nothing: the library states the energy of a flip-flop at Q and again at QN.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..kit.functions import parse
from ..kit.liberty import Cell, PowerArc, Table
from ..timing.cells import FALL, RISE

STATE = ""  # the variable that stands for what a cell stores: no pin has this name


ByPin = Mapping[str, np.ndarray]
Context = Callable[[str, int], np.ndarray]  # of a pin and its edge


class Members(NamedTuple):
    """The instances of a kind; arrays by instance. Pins that are nowhere connected are in none of the
    three.
    """

    size: int
    cycles: float
    toggles: ByPin  # of the pin's net
    ones: ByPin  # fraction of the time
    settled: ByPin  # fraction of the changes that come before the falling edge of the clock


class Term(NamedTuple):
    """One table of one pin, and how many transitions of each instance pay it."""

    pin: str
    slew_pin: str
    slew_edge: int
    loaded: bool  # by the pin's net: at outputs
    table: Table
    counts: np.ndarray


class _Row(NamedTuple):
    """A table of an output for one sense of its input."""

    arc: PowerArc
    positive: bool
    mask: np.ndarray


class KindEnergy:
    """A kind of cell."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.clock = next((name for name in cell.inputs if cell.pins[name].clock), "")
        self.data = _data(cell)
        # the data and what is stored go last: they are the pair whose values depend on each other
        others = [name for name in cell.inputs if name != self.data]
        self.variables = [*others, *([self.data] if self.data else []), *([STATE] if cell.sequential else [])]
        self._words = self._values()
        self._outputs = {pin: self._output_rows(pin) for pin in cell.outputs}
        self._leakage = [(self._mask(when), value) for when, value in cell.leakage_states if when]

    # -- conditions
    # ---------------------------------------------------------------------------------------------------

    def _values(self) -> dict[str, int]:
        """Words of all names that may occur in a condition: bit i is the value where variable k is bit k of
        i.
        """
        cell, points = self.cell, range(1 << len(self.variables))
        words = {name: sum((i >> k & 1) << i for i in points) for k, name in enumerate(self.variables)}
        if cell.sequential:
            state = words.pop(STATE)
            if held := cell.ff or cell.latch:
                words |= {held.state: state, held.inverse: ~state}
            else:
                words[cell.gate_state] = state
        for pin in cell.outputs:
            if text := cell.pins[pin].function:
                function = parse(text)
                words[pin] = function.words([words.get(name, 0) for name in function.inputs])
        return words

    def _at_points(self, text: str, **fixed: int) -> np.ndarray:
        """The values of a function at all points, some of its inputs fixed to words."""
        function, words = parse(text), self._words | fixed
        values = function.words([words.get(name, 0) for name in function.inputs])
        return np.array([values >> i & 1 for i in range(1 << len(self.variables))], float)

    def _mask(self, when: str) -> np.ndarray:
        return self._at_points(when or "1")

    def _output_rows(self, pin: str) -> list[_Row]:
        rows = []
        text = self.cell.pins[pin].function
        for arc in self.cell.pins[pin].power:
            related, mask = arc.related, self._mask(arc.when)
            if self.cell.sequential or related not in self.cell.inputs or not text:
                rows.append(_Row(arc, self._follows(related), mask))
                continue
            # 1 where the output follows the input, -1 where it does the opposite, 0 where it stays
            steps = self._at_points(text, **{related: -1}) - self._at_points(text, **{related: 0})
            parts = ((positive, mask * (steps == sign)) for positive, sign in ((True, 1), (False, -1)))
            rows += [_Row(arc, positive, part) for positive, part in parts if part.any()]
        return rows

    def _follows(self, related: str) -> bool:
        """Whether a register's output table is paid at the rising edge of the related pin."""
        cell = self.cell
        held = cell.ff or cell.latch
        if held is None or related not in cell.inputs:
            return True
        for text in (held.clear, held.preset, cell.ff.clocked_on if cell.ff else ""):
            if text and related in parse(text).inputs:
                return bool(parse(text).value(**{related: 1}))
        return True

    # -- probabilities
    # ------------------------------------------------------------------------------------------------

    def _states(
        self,
        members: Members,
        fixed: Mapping[str, np.ndarray | float],
        data: np.ndarray | None = None,
        state: np.ndarray | None = None,
        differ: np.ndarray | None = None,
    ) -> np.ndarray:
        """The probability of every point; pins that are not connected are 0.

        Variables are independent except a register's data and state: given are the probabilities that they
        are 1, and that they differ if they are not independent either.
        """
        found = np.ones((members.size, 1))
        paired = self.data and self.cell.sequential
        for name in self.variables[:-2] if paired else self.variables:
            one = np.asarray(fixed.get(name, members.ones.get(name, 0.0)), float)
            one = np.broadcast_to(one, (members.size,))[:, None]
            found = np.concatenate([found * (1 - one), found * one], axis=1)
        if not paired:
            return found
        assert data is not None and state is not None
        if differ is None:
            differ = _apart(data, state)
        both = np.clip((data + state - differ) / 2, 0, None)
        only_data, only_state = np.clip(data - both, 0, None), np.clip(state - both, 0, None)
        neither = np.clip(1 - both - only_data - only_state, 0, None)
        total = neither + both + only_data + only_state
        pairs = (neither, only_data, only_state, both)
        return np.concatenate([found * (pair / total)[:, None] for pair in pairs], axis=1)

    def _register(self, members: Members) -> tuple[np.ndarray, np.ndarray]:
        """How often what is stored is 1, and how many times it changes, from the output that is connected."""
        held = self.cell.ff or self.cell.latch
        assert held is not None
        for pin in self.cell.outputs:
            if pin in members.ones:
                ones = members.ones[pin]
                if self.cell.pins[pin].function.strip() == held.inverse:
                    ones = 1 - ones
                return ones, members.toggles[pin]
        return np.zeros(members.size), np.zeros(members.size)

    def _contexts(self, members: Members) -> Context:
        """The probabilities of all points before an edge of a pin; of the pin "" at any time."""
        cell, none = self.cell, np.zeros(members.size)
        data = members.ones.get(self.data, none)
        settled = members.settled.get(self.data, none + 1.0)
        if not cell.sequential:
            states = self._states(members, {})
            return lambda pin, edge: states
        if gate := cell.clock_gate:
            clocks = np.maximum(members.toggles.get(self.clock, none), 1e-30)
            enabled = np.minimum(members.toggles.get(gate.output, none) / clocks, 1.0)

            def of_gate(pin: str, edge: int) -> np.ndarray:
                if pin == self.clock and edge == RISE:
                    # the latch has let the enable through
                    return self._states(members, {self.clock: 0.0}, enabled, enabled, none)
                if pin == gate.output and edge == RISE:
                    return self._states(members, {self.clock: 1.0}, none + 1, none + 1, none)
                state = none + 1 if pin == gate.output else enabled
                high = settled if pin == self.data else 1.0 if pin else 0.5
                return self._states(members, {self.clock: high}, data, state)

            return of_gate
        state, moves = self._register(members)
        if not self.data or cell.latch:
            states = self._states(members, {STATE: state}, data, state)
            return lambda pin, edge: states
        active = RISE if self._follows(self.clock) else FALL
        after = settled if active == RISE else 1 - settled
        edges = members.toggles.get(self.clock, none) / 2
        running = np.minimum(edges / members.cycles, 1.0)  # less than 1 behind a clock gate
        taken = np.minimum(moves / np.maximum(edges, 1e-30), 1.0)
        moved = np.minimum(members.toggles.get(self.data, none) / members.cycles, 1.0)

        def of_flip_flop(pin: str, edge: int) -> np.ndarray:
            high = after * running if pin == self.data else 0.5 * running
            if pin != self.clock:
                differ = running * taken + (1 - running) * _apart(data, state)
            elif edge == active:
                differ = taken
            else:
                differ = after * (running * taken + (1 - running) * moved)
            return self._states(members, {self.clock: high}, data, state, differ)

        return of_flip_flop

    # -- what one asks for
    # ---------------------------------------------------------------------------------------------

    def terms(self, members: Members) -> Iterator[Term]:
        """All tables that some transition pays."""
        context = self._contexts(members)
        for name, pin in self.cell.pins.items():
            if name not in members.toggles or not pin.power:
                continue
            half = members.toggles[name] / 2  # as many rising edges as falling ones
            for edge in (RISE, FALL):
                states = context(name, edge)
                if pin.direction != "input":
                    yield from self._output(name, edge, half, states, members)
                    continue
                for arc in pin.power:
                    if (table := arc.rise if edge == RISE else arc.fall) is not None:
                        counts = half * (states @ self._mask(arc.when))
                        yield Term(name, name, edge, False, table, counts)

    def _output(
        self, name: str, edge: int, half: np.ndarray, states: np.ndarray, members: Members
    ) -> Iterator[Term]:
        tables = [(row, row.arc.rise if edge == RISE else row.arc.fall) for row in self._outputs[name]]
        rows = [(row, table) for row, table in tables if table is not None]
        if not rows:
            return
        none = np.zeros(members.size)
        weights = np.array(
            [members.toggles.get(row.arc.related, none) * (states @ row.mask) for row, _ in rows]
        )
        total = weights.sum(axis=0)
        # nothing known moves it: all tables alike
        shares = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1 / len(rows))
        for (row, table), share in zip(rows, shares, strict=True):
            related = row.arc.related if row.arc.related in self.cell.inputs else name
            if self.cell.clock_gate and related == self.clock:
                slew_edge = edge
            elif self.cell.sequential:
                slew_edge = RISE if row.positive else FALL
            else:
                slew_edge = edge if row.positive else 1 - edge
            yield Term(name, related, slew_edge, True, table, half * share)

    def leakage_nw(self, members: Members) -> np.ndarray:
        """By the states' own leakage where the library has it."""
        if not self._leakage:
            return np.full(members.size, self.cell.leakage_nw)
        states = self._contexts(members)("", RISE)
        known, power = np.zeros(members.size), np.zeros(members.size)
        for mask, value in self._leakage:
            share = states @ mask
            known += share
            power += share * value
        return power / np.maximum(known, 1.0) + np.clip(1 - known, 0, None) * self.cell.leakage_nw


def _apart(data: np.ndarray, state: np.ndarray) -> np.ndarray:
    """The probability that two independent bits differ."""
    return data * (1 - state) + state * (1 - data)


def _data(cell: Cell) -> str:
    """The pin that a register takes its state from, if it is one pin alone."""
    if cell.clock_gate:
        return cell.clock_gate.enable
    text = cell.ff.next_state if cell.ff else cell.latch.data_in if cell.latch else ""
    literal = parse(text).literal if text else None
    return next((name for name in cell.inputs if (name, True) == literal), "")
