"""Sizing by parts: one instance of each tile (synth/tiles.py) and the rest, each within its environment.

Each part is first sized alone, between the kit's driving cell and load. The whole design is then analysed,
and each part on a critical path is sized again in its environment: the latest arrivals at its inputs and the
earliest required times at its outputs over all instances, and the other loads on its nets. The time depends
on the size of the parts and not on that of the whole.
"""

import copy
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...kit.constraints import Constraints
from ...kit.liberty import Library
from ...netlist.document import SEPARATOR, Module, enclosing, joined
from ...netlist.netlist import Netlist, of_module, write_back
from ...progress import say
from .. import tiles
from ..tiles import Tiles
from .circuit import Circuit, Surroundings, wired
from .families import Families
from .model import Model
from .report import Round

ROUNDS = 3
Optimise = Callable[[Circuit, Constraints, Mapping[str, str]], tuple[Circuit, Round]]


@dataclass
class Part:
    """A part: its module, the paths of its instances ("": the rest), and the source modules of its cells."""

    name: str
    paths: tuple[str, ...]
    module: Module
    owners: dict[str, str]

    def become(self, netlist: Netlist, circuit: Circuit, library: Library) -> None:
        """Replace the module by a copy with the sized circuit; the old module is not changed."""
        self.module = copy.deepcopy(self.module)
        write_back(self.module, netlist, circuit.netlist, library)
        owners = {**self.owners, **circuit.owners}
        self.owners = {name: owners[name] for name in self.module["cells"]}


def size_parts(
    whole: Module,
    tiled: Tiles,
    owners: Mapping[str, str],
    name: str,
    library: Library,
    asked: Constraints,
    wire_ff: float,
    target: float,
    optimise: Optimise,
) -> tuple[Module, Tiles, dict[str, str], Round]:
    """Size a netlist of parts under one clock, until nothing is late or nothing helps; return the whole, its
    tiles, the owners of its cells, and what was done.
    """
    families, moves = Families(library), Counter[str]()
    parts = list(_parts(whole, tiled, owners, name))

    def netlists() -> dict[str, Module]:
        return {part.name: part.module for part in parts[1:]}

    def together() -> Module:
        return tiles.join(parts[0].module, tiled.tiles, netlists())

    def analysed(name: str, module: Module, asked: Constraints) -> Model:
        netlist = of_module(name, module, library)
        return Model(wired(netlist, wire_ff), library, asked, families, target)

    owner = {path: part.name for part in parts for path in part.paths}
    model = analysed(name, together(), asked)
    before = after = model.figures()
    best, cost = parts, math.inf
    for number in range(ROUNDS):
        # at first all of them, alone
        late = {part.name for part in parts}
        if number:
            places = np.nonzero(model.cell_slacks() < model.target)[0].tolist()
            late = {owner[next(enclosing(model.names[place], owner))] for place in places}
        model.derive()
        for part in parts:
            if part.name not in late:
                continue
            say(f"sizing {part.name.partition('$')[0]}")
            netlist = of_module(part.name, part.module, library)
            own = replace(asked, clock_port=_clock(netlist, part, model))
            around = _around(analysed(part.name, part.module, own), part, model) if number else None
            circuit, done = optimise(wired(netlist, wire_ff, around=around), own, part.owners)
            moves.update({kind: count * len(part.paths) for kind, count in done.moves.items()})
            part.become(netlist, circuit, library)
        model = analysed(name, together(), asked)
        if model.cost < cost:
            best, cost, after = [replace(part) for part in parts], model.cost, model.figures()
        if cost <= 0:
            break
    parts = best
    all_owners = dict(parts[0].owners)
    for tile, part in zip(tiled.tiles, parts[1:], strict=True):
        all_owners |= tiles.placed(tile, part.owners)
    made = Tiles(tiles=tiled.tiles, netlists=netlists())
    return together(), made, all_owners, Round(before, after, dict(moves))


def _parts(whole: Module, tiled: Tiles, owners: Mapping[str, str], name: str) -> Iterator[Part]:
    rest = tiles.rest_of(whole, tiled.tiles)
    yield Part(name, ("",), rest, {cell: owners[cell] for cell in rest["cells"]})
    for tile in tiled.tiles:
        module, path = tiled.netlists[tile.module], tile.paths[0]
        inner = {cell: owners[f"{path}{SEPARATOR}{cell}"][len(path) + 1 :] for cell in module["cells"]}
        yield Part(tile.module, tile.paths, module, inner)


def _clock(netlist: Netlist, part: Part, whole: Model) -> str | None:
    """The port that the clock comes by."""
    nets = {bit: whole.netlist.aliases[joined(part.paths[0], bit)] for bit, _ in netlist.port_bits("input")}
    return next((bit for bit, net in nets.items() if net in whole.clock_nets), None)


def _around(alone: Model, part: Part, whole: Model) -> Surroundings:
    """Return the environment of a part: the worst values at its ports over its instances in the analysed
    whole.
    """

    def nodes(direction: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of the bits of the ports: the part's own, and the whole's by instance."""
        bits = [(net, bit) for bit, net in alone.netlist.port_bits(direction) if net not in alone.constants]
        nets = [
            (net, *(whole.netlist.aliases[joined(path, bit)] for path in part.paths)) for net, bit in bits
        ]
        found = np.array([row for row in nets if whole.clock_nets.isdisjoint(row[1:])], int)
        both = (2 * found.reshape(-1, 1 + len(part.paths), 1) + np.arange(2)).swapaxes(1, 2)
        own, *there = both.reshape(-1, 1 + len(part.paths)).T
        return own, np.array(there)

    inside = alone.load - alone.output_load
    inputs, at = nodes("input")
    known = np.isfinite(whole.arrival[0, at]).any(axis=0)
    inputs, at = inputs[known], at[:, known]
    outputs, out = nodes("output")
    others = np.maximum(0.0, (whole.load[at] - inside[inputs]).max(axis=0, initial=0.0))
    return Surroundings(
        inputs=inputs,
        arrival=whole.arrival[0, at].max(axis=0, initial=-np.inf),
        slew=whole.slew[0, at].max(axis=0, initial=0.0),
        load_ff=inside[inputs] + others,
        step=whole.by_load[at].max(axis=0, initial=0.0),
        others_ff=others,
        outputs=outputs,
        required=whole.required[out].min(axis=0, initial=np.inf),
        outside_ff=np.maximum(0.0, (whole.load[out] - inside[outputs]).max(axis=0, initial=0.0)),
    )
