"""Antenna ratios of a layout: metal on pieces with gates, layer by layer as it is made, against the LEF's
limits.

While a layer of metal is etched, it collects charge that only the gates and diffusions of its piece can carry
off. KLayout extracts the pieces that the layers up to this one make. Gates and diffusions are those of the
pins (ANTENNAGATEAREA, ANTENNADIFFAREA); a limit is for the layer alone or for all layers up to it (CUM), for
its area or for its side walls (SIDE), and depends on the diffusion (DIFF). Cuts are not checked: a gate of
these libraries would need dozens on one pin.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..kit.lef import Layer, Lef
from ..layout.placed import Placed
from .connections import inside


def exceeded(gds: Path, placed: Placed) -> dict[str, int] | None:
    """The pieces that exceed a limit by layer; None if the LEF has no limits."""
    import klayout.db as db

    content, lef = db.Layout(), placed.lef
    content.read(str(gds))
    metals = [layer for layer in lef.routing if layer.name in lef.kit.layers.signal]
    if not any(layer.antenna for layer in metals):
        return None
    pins, found, sums = dict(enumerate(_pins(placed))), {}, defaultdict[tuple[bool, int], float](float)
    for layer in metals:
        count = 0
        for metal, own in _pieces(content, lef, layer.name, [at for *_, at in pins.values()]):
            gate, diffusion = sum(pins[pin][0] for pin in own), sum(pins[pin][1] for pin in own)
            if gate and not metal.is_empty():
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


def _pins(placed: Placed) -> Iterator[tuple[float, float, tuple[str, float, float]]]:
    """All pins of cells: areas of gates and diffusion, and a place (layer, um)."""
    for name, cell in placed.netlist.cells.items():
        place, macro = placed.placement.instances[name], placed.lef.macro(cell.kind)
        for pin in cell.pins:
            layer, corners = macro.pins[pin].shapes[0]
            x, y = macro.placed(place.orient, *inside(corners))
            yield (
                macro.pins[pin].gate_um2,
                macro.pins[pin].diffusion_um2,
                (layer, place.x_um + x, place.y_um + y),
            )


def _pieces(
    content: Any, lef: Lef, last: str, places: list[tuple[str, float, float]]
) -> Iterator[tuple[Any, list[int]]]:
    """The pieces of metal that the layers up to one make: what they have on it, and the pins on them."""
    import klayout.db as db

    names = [name for name, layer in lef.layers.items() if layer.kind in ("ROUTING", "CUT")]
    names = [name for name in names[: names.index(last) + 1] if name in lef.kit.layers.gds]
    top = content.top_cell()
    extracted = db.LayoutToNetlist(top.name, content.dbu)
    regions, below = {}, None
    for name in names:
        regions[name] = region = db.Region(top.begin_shapes_rec(content.layer(*lef.kit.layers.number(name))))
        labels = db.Texts()
        for number, (layer, x, y) in enumerate(places):
            if layer == name:
                labels.insert(db.Text(str(number), db.DTrans(x, y).to_itype(content.dbu)))
        extracted.register(region, name)
        extracted.register(labels, f"labels on {name}")
        extracted.connect(region)
        extracted.connect(region, labels)
        if below is not None:
            extracted.connect(below, region)
        below = region
    extracted.extract_netlist()
    for piece in extracted.netlist().circuit_by_name(top.name).each_net():
        if own := [int(number) for number in piece.name.split(",") if number]:
            metal = extracted.shapes_of_net(piece, regions[last], True)
            yield metal.merged(), own
