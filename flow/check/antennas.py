"""Antenna ratios of a layout: metal connected to gates, layer by layer as the chip is made, against the LEF's
limits.

While a layer of metal is etched, it collects charge that only the gates and diffusions of its piece can carry
off. KLayout extracts the pieces that the layers up to this one make. Gates and diffusions are those of the
pins (ANTENNAGATEAREA, ANTENNADIFFAREA); a limit is for the layer alone or for all layers up to it (CUM), for
its area or for its side walls (SIDE), and depends on the diffusion (DIFF). Cuts are not checked: a gate of
these libraries would need dozens on one pin.
"""

import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np

from ..kit.lef import Layer
from ..layout.placed import Placed
from .connections import cell_pins, drawn, pieces


def exceeded(gds: Path, placed: Placed) -> dict[str, int] | None:
    """The pieces that exceed a limit by layer; None if the LEF has no limits."""
    import klayout.db as db

    content, lef = db.Layout(), placed.lef
    content.read(str(gds))
    metals = [layer for layer in lef.routing if layer.name in lef.kit.layers.signal]
    if not any(layer.antenna for layer in metals):
        return None
    pins, found, sums = list(cell_pins(placed)), {}, defaultdict[tuple[bool, int], float](float)
    names = drawn(lef)
    for layer in metals:
        count = 0
        below = names[: names.index(layer.name) + 1]  # and the layer
        for own, shapes in pieces(content, lef, below, [at for *_, at in pins]):
            gate = sum(pins[pin][1].gate_um2 for pin in own)
            diffusion = sum(pins[pin][1].diffusion_um2 for pin in own)
            if gate and not (metal := shapes.merged()).is_empty():
                side = metal.perimeter() * content.dbu * layer.thickness
                ratios = {False: metal.area() * content.dbu**2 / gate, True: side / gate}
                for walls, pin in itertools.product(ratios, own):
                    sums[walls, pin] += ratios[walls]
                count += _worst(layer, own, ratios, diffusion, sums) > 1
        if count:
            found[layer.name] = count
    return found


def _worst(
    layer: Layer,
    own: list[int],
    ratios: dict[bool, float],
    diffusion: float,
    sums: dict[tuple[bool, int], float],
) -> float:
    """The highest ratio of a piece in its limits; sums: of all layers so far, by side walls and pin."""
    worst = 0.0
    for name, limits in layer.antenna.items():
        walls = "SIDE" in name
        ratio = max(sums[walls, pin] for pin in own) if "CUM" in name else ratios[walls]
        if "DIFF" in name or not diffusion:
            worst = max(worst, ratio / float(np.interp(diffusion, limits[::2], limits[1::2])))
    return worst
