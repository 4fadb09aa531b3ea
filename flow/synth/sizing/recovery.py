"""Area recovery: smaller sizes where there is slack."""

from __future__ import annotations

import numpy as np

from .model import Model
from .moves import best_apart

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
        array = np.array(moves, int)
        before, after = model.local_slacks(array)
        room = np.where(np.isfinite(before), before - floor, 1.0)
        both = np.isfinite(before) & np.isfinite(after)
        loss = np.zeros(len(moves))
        loss[both] = before[both] - after[both]
        loss[after == -np.inf] = np.inf
        saved = model.families.area[model.kind[array[:, 0]]] - model.families.area[array[:, 1]]
        fits = (after >= floor) & (loss <= fraction * room)
        scores = np.where(fits, saved / np.maximum(loss, 0.001), 0.0)
        chosen = best_apart(model, moves, scores, most)
        if not chosen:
            return
        cost = model.cost
        while chosen:
            back = model.apply(chosen)
            model.analyse()
            if model.cost <= cost + 1e-9:
                counts["made_smaller"] += len(chosen)
                most *= 2
                break
            # many small losses on one path add up
            model.apply(back)
            most, fraction = max(1, len(chosen) // 2), fraction * LESS_AT_ONCE
            chosen = chosen[: len(chosen) // 2]
        if not chosen:
            model.analyse()
            return
