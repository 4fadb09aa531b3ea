"""Everything that goes into the energy of one instance, for a calculation by hand."""

from __future__ import annotations

import msgspec
import numpy as np

from ...fl.errors import unknown
from ..gates.activity_file import Activity
from ..timing import nldm
from .cell_energy import Members
from .estimator import Estimator


class Internal(msgspec.Struct):
    """Transitions of a pin that a table of the library states the energy of."""

    pin: str
    edge: str
    related: str | None
    when: str | None
    slew_ns: float
    load_ff: float | None
    energy_fj: float
    transitions: float
    total_fj: float


class Switched(msgspec.Struct):
    """The net at an output."""

    pin: str
    net: str
    load_ff: float
    energy_fj: float
    toggles: float
    total_fj: float


class PinActivity(msgspec.Struct):
    """What a pin's net did."""

    net: str
    toggles: float
    ones: float


class Explanation(msgspec.Struct):
    """An instance in the window of an activity."""

    instance: str
    type: str
    voltage: float
    cycles: int | float
    clock_ns: float
    pins: dict[str, PinActivity]
    internal: list[Internal]
    switching: list[Switched]
    leakage_nw: float
    internal_fj: float
    switching_fj: float
    leakage_fj: float
    total_fj: float


def explain(estimator: Estimator, instance: str, activity: Activity) -> Explanation:
    """What the estimate of an instance is made of."""
    netlist, library = estimator.netlist, estimator.library
    if instance not in netlist.cells:
        raise unknown("instance", instance, netlist.cells)
    estimator.prepare()
    toggles, ones, _ = estimator.activity(activity)
    kind = netlist.cells[instance].kind
    place, order, members = _place(estimator, instance, toggles, ones, activity)
    nets = {pin: int(each[place]) for pin, each in estimator.nets[kind].items()}
    model = estimator.models[kind]
    internal = []
    for term in model.terms(members):
        energy_fj = float(estimator.energies(kind, term, np.array([place]))[0])
        count = float(term.counts[order])
        internal.append(
            Internal(
                pin=term.pin,
                edge=nldm.EDGES[term.edge],
                related=term.related,
                when=term.when,
                slew_ns=float(estimator.slews[nets[term.slew_pin], term.slew_edge]),
                load_ff=float(estimator.loads[nets[term.pin]]) if term.loaded else None,
                energy_fj=energy_fj,
                transitions=count,
                total_fj=energy_fj * count,
            )
        )
    switching = [
        _switched(estimator, pin, nets[pin], float(toggles[nets[pin]]))
        for pin in library.cells[kind].outputs
        if pin in members.toggles
    ]
    leakage_nw = float(model.leakage_nw(members)[order])
    leakage_fj = leakage_nw * activity.cycles * estimator.clock_ns * 1e-3
    sums = (sum(each.total_fj for each in internal), sum(each.total_fj for each in switching))
    return Explanation(
        instance=instance,
        type=kind,
        voltage=library.voltage,
        cycles=activity.cycles,
        clock_ns=estimator.clock_ns,
        pins={
            pin: PinActivity(netlist.nets[net], float(toggles[net]), float(ones[net]))
            for pin, net in netlist.cells[instance].pins.items()
        },
        internal=internal,
        switching=switching,
        leakage_nw=leakage_nw,
        internal_fj=sums[0],
        switching_fj=sums[1],
        leakage_fj=leakage_fj,
        total_fj=sum(sums) + leakage_fj,
    )


def _place(
    estimator: Estimator, instance: str, toggles: np.ndarray, ones: np.ndarray, activity: Activity
) -> tuple[int, int, Members]:
    """An instance among all of its kind, and among those of them that have the same pins connected; and these."""
    kind = estimator.netlist.cells[instance].kind
    wanted = estimator.members[kind].index(instance)
    for places, members in estimator.in_use(kind, toggles, ones, activity.cycles):
        (found,) = np.nonzero(places == wanted)
        if found.size:
            return wanted, int(found[0]), members
    raise AssertionError(f"{instance} is of no group")


def _switched(estimator: Estimator, pin: str, net: int, toggles: float) -> Switched:
    load = float(estimator.loads[net])
    one = float(0.5 * load * estimator.library.voltage**2)
    return Switched(pin, estimator.netlist.nets[net], load, one, toggles, one * toggles)
