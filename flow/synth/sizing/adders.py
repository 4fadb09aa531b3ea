"""Uses full-adder cells (full_adders.py) wherever no path becomes late."""

import itertools
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from . import full_adders
from .circuit import wired
from .model import Model, least, most

LEAST_ADDERS = 5
ADDER_MARGIN_NS, INVERTER_NS, LATER_NS = 0.02, 0.015, 0.03


def with_adders(model: Model, modules: Mapping[str, str], rounds: int, counts: dict[str, int]) -> Model:
    """The model with full adders as cells wherever that makes no path later than required."""
    for _ in range(rounds if model.library.roles.full_adder else 0):
        circuit = model.commit()
        assert circuit.wire_ff is not None
        latest = most(model.arrival[0]).tolist()
        exchange = full_adders.Exchange(circuit.netlist, model.library, {**modules, **circuit.owners})
        made = exchange.make(_in_time(model, full_adders.find(circuit.netlist, model.library)), latest)
        if made < LEAST_ADDERS:
            break
        netlist, every = exchange.connected(), circuit.owners | exchange.owners
        kept = {name: owner for name, owner in every.items() if name in netlist.cells}
        trial = model.again(wired(netlist, circuit.wire_ff, owners=kept))
        # other loads make some paths a little later, which sizes make up for
        if trial.worst < min(model.worst, model.target) - LATER_NS or trial.area >= model.area:
            break
        counts["full_adders"] += made
        model = trial
    return model


def _in_time(model: Model, adders: list[full_adders.Adder]) -> list[full_adders.Adder]:
    """Return the adders, in topological order, that meet timing if all adders chosen before become cells.

    Arrival times are propagated level by level, as in timing analysis. At a chosen adder they come from the
    tables of its cell. Required times are not updated.
    """
    level = np.zeros(len(model.base) // 2, int)
    levels = [slice(low, high) for low, high in itertools.pairwise([0, *model.bounds])]
    for number, part in enumerate(levels):
        level[model.end[part] // 2] = number
    waiting = defaultdict(list)
    for adder in adders:
        waiting[int(min(level[adder.sum], level[adder.carry]))].append(adder)
    arrival = model.arrival[0].copy()
    required = least(model.required) - ADDER_MARGIN_NS
    later: dict[int, float] = {}
    chosen = []
    for number, part in enumerate(levels):
        if here := waiting[number]:
            nets = np.array([(adder.sum, adder.carry) for adder in here]).T
            at = _behind_adders(model, arrival, here, nets)
            for place in np.nonzero((at <= required[nets]).all(axis=0))[0].tolist():
                chosen.append(here[place])
                later |= dict(zip(nets[:, place].tolist(), at[:, place].tolist(), strict=True))
        if part.start == part.stop:
            continue
        firsts = np.nonzero(np.diff(model.end[part], prepend=-1))[0]
        nodes = model.end[part][firsts]
        through = arrival[model.start[part]] + model.wire[part] + model.arc_delay[0, part]
        arrival[nodes] = np.maximum.reduceat(through, firsts)
        for net in {*(nodes // 2).tolist()} & later.keys():
            arrival[2 * net : 2 * net + 2] = later[net]
    return chosen


def _behind_adders(
    model: Model, arrival: np.ndarray, adders: list[full_adders.Adder], nets: np.ndarray
) -> np.ndarray:
    """Return the arrival times of sums and carries (rows of `nets`) if the adders were cells: the later edge
    of each output, plus the delay of an inverter.
    """
    cell, share = model.library.roles.full_adder, 1 + model.constraints.derate
    assert cell is not None
    kind = model.families.number[cell.cell]
    leaves = np.array([adder.leaves for adder in adders], int)
    at = most(arrival)[leaves]
    order = np.argsort(at, axis=1)  # Exchange assigns pins in this order
    at = np.take_along_axis(at, order, axis=1)
    slews = most(model.slew[0])[np.take_along_axis(leaves, order, axis=1)]
    loads = most(model.load)[nets]
    latest = np.full(nets.shape, -np.inf)
    for row, item in enumerate(model.families.compiled[cell.cell].rows):
        # an output may have arcs from another output, which arcs from the inputs cover
        if item.output in (cell.sum, cell.carry) and item.input in cell.inputs:
            output, place = int(item.output == cell.carry), cell.inputs.index(item.input)
            tables = np.full(len(adders), model.families.delay[kind, row])
            delay = share * model.tables.look_up(tables, slews[:, place], loads[output])
            latest[output] = np.maximum(latest[output], at[:, place] + delay)
    return latest + INVERTER_NS
