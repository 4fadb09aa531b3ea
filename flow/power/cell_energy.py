"""Energy of all instances of one kind of cell: the library's internal power and leakage tables, weighted by
activity.

A table of an output applies to transitions that one input causes under a condition on the other inputs. The
activity has the number of output transitions, but not their causes. They are divided among the tables in
proportion to (toggles of the input) x (probability that the condition holds and that the output follows this
input), with inputs assumed independent. A table of an input applies to each of its transitions with the
probability of its condition.

The data and the state of a register are not independent, and their relation is known: Q changes at a clock
edge exactly if D differed from it, so D != Q before a fraction (toggles of Q) / (rising edges) of the edges.
Before the falling edge, D mostly has its next value: `settled` is the fraction of its changes that occur
while the clock is high, whose energy the library attributes to the falling edge of the clock. If a clock gate
passes few edges, D is independent of Q in between. The output of a clock gate changes exactly if the gate was
enabled.

Unconnected outputs do not count, because the library states the energy of a flip-flop at Q and again at QN.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..kit.functions import columns, parse
from ..kit.liberty import Cell, PowerArc, Table
from ..timing.cells import FALL, RISE

STATE = ""  # the variable of a cell's state; no pin has this name


ByPin = Mapping[str, np.ndarray]
Context = Callable[[str, int], np.ndarray]  # of a pin and its edge


class Members(NamedTuple):
    """The instances of a kind; arrays are indexed by instance. The mappings lack pins that no instance
    connects.
    """

    size: int
    cycles: float
    toggles: ByPin  # of the pin's net
    ones: ByPin  # fraction of the time
    settled: ByPin  # fraction of the changes before the falling edge of the clock


class Term(NamedTuple):
    """One table of one pin, and the number of transitions of each instance to which it applies."""

    pin: str
    slew_pin: str
    slew_edge: int
    loaded: bool  # whether the table depends on the load of the pin's net: at outputs
    table: Table
    counts: np.ndarray


class _Row(NamedTuple):
    """A table of an output for one sense of its input, with its condition."""

    arc: PowerArc
    positive: bool
    mask: np.ndarray


class KindEnergy:
    """The energy model of a kind of cell."""

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.clock = next((name for name in cell.inputs if cell.pins[name].clock), "")
        self.data = _data(cell)
        # data and state are last: their values depend on each other
        others = [name for name in cell.inputs if name != self.data]
        self.variables = [*others, *([self.data] if self.data else []), *([STATE] if cell.sequential else [])]
        self._words = self._values()
        self._outputs = {pin: self._output_rows(pin) for pin in cell.outputs}
        self._leakage = [(self._mask(when), value) for when, value in cell.leakage_states if when]

    # -- conditions
    # ---------------------------------------------------------------------------------------------------

    def _values(self) -> dict[str, int]:
        """A word for each name that may occur in a condition: bit i is its value at the point i, at which
        variable k is bit k of i.
        """
        cell = self.cell
        words = dict(zip(self.variables, columns(len(self.variables)), strict=True))
        if cell.sequential:
            state = words.pop(STATE)
            if held := cell.register:
                words |= {held.state: state, held.inverse: ~state}
            else:
                words[cell.gate_state] = state
        for pin in cell.outputs:
            if text := cell.pins[pin].function:
                words[pin] = parse(text).of(words)
        return words

    def _at_points(self, text: str, **fixed: int) -> np.ndarray:
        """The values of a function at all points; `fixed` replaces the words of some inputs."""
        values = parse(text).of(self._words | fixed)
        return np.array([values >> i & 1 for i in range(1 << len(self.variables))], float)

    def _mask(self, when: str) -> np.ndarray:
        return self._at_points(when or "1")

    def _output_rows(self, pin: str) -> list[_Row]:
        rows = []
        text = self.cell.pins[pin].function
        for arc in self.cell.pins[pin].power:
            related = arc.related
            mask = self._mask(arc.when)
            if self.cell.sequential or related not in self.cell.inputs or not text:
                rows.append(_Row(arc, self._follows(related), mask))
                continue
            # 1 if the output follows the input, -1 if it is inverted, 0 if it does not change
            steps = self._at_points(text, **{related: -1}) - self._at_points(text, **{related: 0})
            parts = ((positive, mask * (steps == sign)) for positive, sign in ((True, 1), (False, -1)))
            rows += [_Row(arc, positive, part) for positive, part in parts if part.any()]
        return rows

    def _follows(self, related: str) -> bool:
        """Whether a register's output table applies at the rising edge of the related pin."""
        cell = self.cell
        held = cell.register
        if held is None or related not in cell.inputs:
            return True
        for text in (held.clear, held.preset, held.clock if cell.ff else ""):
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
        """The probability of each point; unconnected pins are 0.

        Variables are independent, except for a register's data and state: `data` and `state` are their
        probabilities of being 1, and `differ` is the probability that they differ, or None if they are
        independent.
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
        """The fraction of the time that the state is 1, and the number of its changes, from a connected
        output.
        """
        held = self.cell.register
        assert held is not None
        for pin in self.cell.outputs:
            if pin in members.ones:
                ones = members.ones[pin]
                if self.cell.pins[pin].function.strip() == held.inverse:
                    ones = 1 - ones
                return ones, members.toggles[pin]
        return np.zeros(members.size), np.zeros(members.size)

    def _contexts(self, members: Members) -> Context:
        """A function that returns the probabilities of all points before an edge of a pin; for the pin "", at
        any time.
        """
        cell = self.cell
        none = np.zeros(members.size)
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
                    # the latch has passed the enable
                    return self._states(members, {self.clock: 0.0}, enabled, enabled, none)
                if pin == gate.output and edge == RISE:
                    return self._states(members, {self.clock: 1.0}, none + 1, none + 1, none)
                state = none + 1 if pin == gate.output else enabled
                high: np.ndarray | float = 1.0 if pin else 0.5
                if pin == self.data:
                    high = settled
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

    # -- results
    # -------------------------------------------------------------------------------------------------------

    def terms(self, members: Members) -> Iterator[Term]:
        """All tables that apply to some transition."""
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
        # no known cause: all tables equally
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
        """Leakage of each instance, by state if the library states it."""
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
    """The data pin of a register or clock gate; "" if its next state is not a single pin."""
    if cell.clock_gate:
        return cell.clock_gate.enable
    literal = parse(cell.register.data).literal if cell.register else None
    return next((name for name in cell.inputs if (name, True) == literal), "")
