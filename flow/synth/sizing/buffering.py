"""Buffers for readers of a net that can wait, or for all its readers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...netlist.buffers import Buffers
from ...timing.graph import Groups
from .circuit import Circuit
from .model import Model, least
from .moves import largest_batch

LEAST_BUFFER_GAIN_NS = 0.002
BUFFER_WINDOW_NS = 0.15


class Buffering(NamedTuple):
    """Sinks of a net that go behind a buffer."""

    net: int
    kind: str
    sinks: list[int]


def _bufferings(model: Model) -> list[Buffering]:
    """For each net that misses the target the best buffer, best gain per area first."""
    families, limit = model.families, min(model.target, model.worst + BUFFER_WINDOW_NS)
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
                    best = (score, Buffering(net, kind, sinks[:last].tolist()))
        if best:
            found.append(best)
    return [buffering for _, buffering in sorted(found, key=lambda pair: -pair[0])]


def buffered(model: Model, modules: Mapping[str, str], counts: dict[str, int]) -> Model | None:
    """The model with buffers where they help most, or None."""
    model.derive()
    wanted = _bufferings(model)[: largest_batch(model)]
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
