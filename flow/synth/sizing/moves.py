"""Sizes and pins along paths that miss the clock, buffers for readers of a net that can wait, or for all its
readers, and smaller sizes where there is slack: applies the best independent moves at once.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...netlist.buffers import Buffers
from ...timing.graph import Groups
from .circuit import Circuit
from .model import Model, Move, least

LEAST_GAIN_NS = 0.0005
WIDEST_WINDOW_NS = 0.3  # above the worst slack, in which cells are looked at
LARGEST_BATCH = 256
A_BATCH = 1 / 200  # of the cells, where that is more
LESS_AT_ONCE = 0.7
RECOVERED_AT_ONCE = 0.25  # of the slack, that a smaller size may take in one pass
LEAST_BUFFER_GAIN_NS = 0.002
BUFFER_WINDOW_NS = 0.15

Buffering = tuple[int, str, list[int]]  # a net, a kind of buffer, and the sinks that go behind it


def largest_batch(model: Model) -> int:
    """How many moves are made at once, at most."""
    return max(LARGEST_BATCH, round(len(model.names) * A_BATCH))


def best_apart(model: Model, moves: list[Move], scores: np.ndarray, most: int) -> list[Move]:
    """The best moves that do not touch each other's nets."""
    taken: set[int] = set()
    chosen: list[Move] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        if len(chosen) >= most or scores[place] <= 0:
            break
        around = model.nets_around(moves[place].cell)
        if not around & taken:
            taken |= around
            chosen.append(moves[place])
    return chosen


def made(model: Model, chosen: list[Move], limit: float) -> tuple[list[Move], int]:
    """Make the largest part of a batch, halved until it costs less than the limit; it, and how often it
    was halved.
    """
    halved = 0
    while chosen:
        back = model.apply(chosen)
        model.analyse()
        if model.cost < limit:
            return chosen, halved
        model.apply(back)
        chosen, halved = chosen[: len(chosen) // 2], halved + 1
    model.analyse()
    return [], halved


def speed_up(
    model: Model, batches: int, counts: dict[str, int], slower: float = 1.0, *, pins: bool = True
) -> None:
    """Sizes and pins along the paths that miss the target, as long as it helps; slower, pins: see Effort."""
    largest = largest_batch(model)
    most, window = largest // 4, 0.05 * slower
    for _ in range(batches):
        if model.cost <= 0:
            return
        model.derive()
        limit = min(model.target, model.worst + window)
        (cells,) = np.nonzero((model.cell_slacks() < limit) & ~model.fixed)
        moves = model.resizings(cells, smaller=False)
        if pins:
            moves += model.exchanges(cells)
        chosen = []
        if moves:
            before, after, area = model.local_slacks(moves)
            gain = np.minimum(after, limit) - np.minimum(before, limit)
            gain[~np.isfinite(gain)] = 0.0
            scores = np.where(gain > LEAST_GAIN_NS, gain / np.maximum(area + 0.5, 0.1), 0.0)
            chosen = best_apart(model, moves, scores, most)
        done, halved = made(model, chosen, model.cost - 1e-9)
        if done:
            counts["exchanged"] += sum(move.first >= 0 for move in done)
            counts["resized"] += sum(move.first < 0 for move in done)
            if halved or len(done) >= most:
                most = min(largest, 2 * len(done))
        elif window > WIDEST_WINDOW_NS * slower:
            return
        else:
            window, most = 3 * window, largest // 4


def recover(model: Model, batches: int, counts: dict[str, int]) -> None:
    """Smaller sizes where there is slack, without a worse cost."""
    most, floor, fraction = len(model.names), max(model.target, 0.0), RECOVERED_AT_ONCE
    for _ in range(batches):
        model.derive()
        (cells,) = np.nonzero((model.cell_slacks() > floor) & ~model.fixed)
        moves = model.resizings(cells, smaller=True)
        if not moves:
            return
        before, after, area = model.local_slacks(moves)
        room = np.where(np.isfinite(before), before - floor, 1.0)
        both = np.isfinite(before) & np.isfinite(after)
        loss = np.zeros(len(moves))
        loss[both] = before[both] - after[both]
        loss[after == -np.inf] = np.inf
        fits = (after >= floor) & (loss <= fraction * room)
        scores = np.where(fits, -area / np.maximum(loss, 0.001), 0.0)
        chosen = best_apart(model, moves, scores, most)
        if not chosen:
            return
        done, halved = made(model, chosen, model.cost + 1e-9)
        if not done:
            return
        counts["made_smaller"] += len(done)
        most = 2 * (len(done) if halved else most)
        for _ in range(halved):  # many small losses on one path add up
            fraction *= LESS_AT_ONCE


def _bufferings(model: Model, slower: float) -> list[Buffering]:
    """For each net that misses the target the best buffer, best gain per area first."""
    families, limit = model.families, min(model.target, model.worst + BUFFER_WINDOW_NS * slower)
    look_up, found = model.tables.look_up, []
    by_net = Groups(model.sink_net, len(model.netlist.nets))
    buffers = [(kind, families.number[kind]) for kind in model.library.roles.buffers]
    pins = {kind: families.pins[kind].index(model.library.cells[kind].inputs[0]) for kind, _ in buffers}
    worst = least(model.slack)
    for net in np.nonzero(worst < limit)[0].tolist():
        sinks = by_net[net]
        if not len(sinks) or net in model.clock_nets or model.netlist.driver[net] is None:
            continue
        slacks = model.sink_slack[sinks].min(axis=1)
        order = np.argsort(-slacks, kind="stable")
        sinks, slacks = sinks[order], slacks[order]
        caps = model.sink_ff[sinks].mean(axis=1)
        branch = float(model.branch_cap[net])
        nodes = slice(2 * net, 2 * net + 2)
        resistance, slew = float(model.by_load[nodes].max()), float(model.slew[0, nodes].max())
        outputs = len(model.netlist.sinks[net]) > len(sinks)
        best = None
        for kind, number in buffers:
            own = float(families.cap[number, pins[kind]].mean())
            for last in range(1, len(sinks) + 1):
                load = float(caps[:last].sum()) + last * branch
                relief = resistance * (load - own - branch)
                if relief <= 0:
                    continue
                delay = look_up(families.delay[number, :2], np.full(2, slew), np.full(2, load))
                behind = slacks[last - 1] + relief - float(delay.max())
                ahead = slacks[-1] + relief if last < len(sinks) else np.inf
                if outputs:
                    ahead = min(ahead, worst[net] + relief)
                gain = min(behind, ahead, limit) - min(worst[net], limit)
                score = gain / families.area[number]
                if gain > LEAST_BUFFER_GAIN_NS and (best is None or score > best[0]):
                    best = (score, (net, kind, sinks[:last].tolist()))
        found += [best] if best else []
    return [buffering for _, buffering in sorted(found, key=lambda pair: -pair[0])]


def buffered(
    model: Model, modules: Mapping[str, str], counts: dict[str, int], slower: float = 1.0
) -> Model | None:
    """The model with buffers where they help most, or None."""
    model.derive()
    wanted = _bufferings(model, slower)[: largest_batch(model)]
    while wanted:
        trial = model.again(_with_buffers(model, wanted, modules))
        if trial.cost < model.cost - 1e-9:
            counts["buffers"] += len(wanted)
            return trial
        wanted = wanted[: len(wanted) // 4]
    return None


def _with_buffers(model: Model, wanted: list[Buffering], modules: Mapping[str, str]) -> Circuit:
    circuit = model.commit()
    netlist = circuit.netlist
    buffers = Buffers(netlist, model.library, "drive", circuit.owners, modules)
    caps, resistances = circuit.caps_ff.tolist(), circuit.res_kohm.tolist()
    for net, kind, sinks in wanted:
        moved = [model.terminal(sink) for sink in sinks]
        _, behind = buffers.insert(kind, net, buffers.module(net, moved))
        readers = len(netlist.sinks[net])
        # the buffer is one more reader where its sinks were
        share, left = len(sinks) / readers, (readers - len(sinks) + 1) / readers
        for values in (caps, resistances):
            values.append(values[net] * share)
            values[net] *= left
        buffers.hang(moved, behind)
    return replace(
        circuit, netlist=buffers.connected(), caps_ff=np.array(caps), res_kohm=np.array(resistances)
    )
