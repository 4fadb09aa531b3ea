"""Sizes and pins along paths that miss the clock, and smaller sizes where there is slack: applies the best
independent moves at once.
"""

import numpy as np

from .model import Model, Move

LEAST_GAIN_NS = 0.0005
WIDEST_WINDOW_NS = 0.3  # above the worst slack, in which cells are looked at
LARGEST_BATCH = 256
A_BATCH = 1 / 200  # of the cells, where that is more
LESS_AT_ONCE = 0.7
RECOVERED_AT_ONCE = 0.25  # of the slack, that a smaller size may take in one pass


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


def speed_up(model: Model, batches: int, counts: dict[str, int]) -> None:
    """Sizes and pins along the paths that miss the target, as long as it helps."""
    largest = largest_batch(model)
    most, window = largest // 4, 0.05
    for _ in range(batches):
        if model.cost <= 0:
            return
        model.derive()
        limit = min(model.target, model.worst + window)
        (cells,) = np.nonzero((model.cell_slacks() < limit) & ~model.fixed)
        moves = model.resizings(cells, smaller=False) + model.exchanges(cells)
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
        elif window > WIDEST_WINDOW_NS:
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
