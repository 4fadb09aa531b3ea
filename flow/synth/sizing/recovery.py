"""Area recovery: smaller sizes where there is slack."""

import numpy as np

from .model import Model
from .moves import best_apart, made

LESS_AT_ONCE = 0.7
RECOVERED_AT_ONCE = 0.25  # of the slack, that a smaller size may take in one pass


def recover(model: Model, batches: int, counts: dict[str, int]) -> None:
    """Smaller sizes where there is slack, without a worse cost."""
    most = len(model.names)
    floor = max(model.target, 0.0)
    fraction = RECOVERED_AT_ONCE
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
