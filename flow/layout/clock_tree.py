"""The clock tree: buffers between the clock port and the registers, with clock gates as leaves; the delay to
all registers is the same.

Registers are clustered by where they lie. A cluster of registers that nothing gates gets a leaf buffer; the
registers behind a clock gate are clustered likewise, and each cluster gets a copy of the gate, which stands
in the place of a leaf buffer: a gated register is then as far from the port as any other, and the tree above
is the same for both. Above the leaves, clusters of clusters up to one root, every leaf at the same depth.
Clusters are halves of halves of equal counts, along the longer side, and a driver stands in the middle of
what it drives.

Then leaves get the drive strength with which the clock arrives in all clusters at about the time of the
slowest (tables of the library, Elmore's delay of the wires). What hangs on the clock otherwise, an inverter
or a gate behind a gate, is driven like a register, and what lies behind it has a tree of its own, which is
not balanced with the rest.

Everything added is named clock_tree.LEVEL_NUMBER, the root being clock_tree.0_0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ...fl.errors import BadInput
from ..kit.kit_file import Cells
from ..kit.lef import Lef, Point
from ..kit.liberty import Library
from ..netlist.netlist import PORT, Instance, Netlist, Terminal, connected
from . import wires
from .placement import TREE, TreeSummary
from .row_legalizer import Rows

LEAF_SINKS = 24  # at most, of a leaf: 25 fF of pins and about as much of wire, a slew below 0.05 ns
BRANCHES = (
    6  # at most, of a buffer above the leaves: more of them are further apart, and their wires differ more
)
WORST_SLEW_NS = 0.08  # at registers; their own delay grows with it
ROUNDS = 3  # of choosing sizes: a leaf's size is a load to the branch above


Item = TypeVar("Item")


@dataclass
class Driver:
    """A buffer or a copy of a gate and what it drives: terminals, or drivers one level below."""

    at: Point
    kind: str
    sinks: list[Terminal] = field(default_factory=list)
    below: list[Driver] = field(default_factory=list)
    gate: str = ""  # the clock gate that it is a copy of
    original: bool = False  # it is that gate itself
    name: str = ""
    level: int = 0


@dataclass(frozen=True)
class Domain:
    """A net of the clock: its terminals, and the clock gate in the place of whose copies it hangs, or "" for
    a root.
    """

    net: int
    sinks: list[Terminal]
    gate: str


def strengths(library: Library, kind: str) -> list[str]:
    """All drive strengths of a cell, weakest first."""
    family = library.roles.family(kind)
    found = [name for name in library.cells if library.roles.family(name) == family and family] or [kind]
    return sorted(found, key=lambda name: library.cells[name].area)


def _onward(netlist: Netlist, library: Library, terminal: Terminal) -> int | None:
    """The net that a clock goes on to behind a terminal."""
    instance = netlist.cells[terminal[0]]
    output = wires.clock_output(library.cells[instance.kind], terminal[1])
    return instance.pins.get(output) if output else None


def domains(netlist: Netlist, library: Library, root: int) -> list[Domain]:
    """The nets that may need a tree: the root first, and the clock gates that hang on it directly as leaves
    of its tree.
    """
    found: list[Domain] = []
    todo, seen = [root], {root}
    while todo:
        net = todo.pop(0)
        sinks: list[Terminal] = []
        gated: list[Domain] = []
        for terminal in netlist.sinks[net]:
            if terminal[0] == PORT:
                continue
            below = _onward(netlist, library, terminal)
            cell = library.cells[netlist.cells[terminal[0]].kind]
            readers = netlist.sinks[below] if below is not None else []
            leaf = net == root and cell.clock_gate and below not in seen and readers
            if below is not None and leaf and all(owner != PORT for owner, _ in readers):
                gated.append(Domain(below, list(readers), terminal[0]))
                following = [_onward(netlist, library, reader) for reader in readers]
            else:
                sinks.append(terminal)
                following = [below]
            for value in (below, *following):
                if value is not None and value not in seen:
                    seen.add(value)
                    if value in following:
                        todo.append(value)
        found += [Domain(net, sinks, ""), *gated]
    return found


def needed(found: list[Domain]) -> bool:
    """Whether one driver, the port, is not enough."""
    return any(domain.gate for domain in found) or any(len(domain.sinks) > LEAF_SINKS for domain in found)


def planned_width(found: list[Domain], lef: Lef, roles: Cells, kinds: Callable[[str], str]) -> float:
    """About the width of all cells that the tree will add, in um; `kinds` tells what cell an instance is."""
    if not needed(found):
        return 0.0
    width, leaves = 0.0, 0
    branch = lef.macro(roles.clock_branch).width
    for domain in found:
        count = math.ceil(len(domain.sinks) / LEAF_SINKS)
        leaves += count
        width += count * lef.macro(kinds(domain.gate) if domain.gate else roles.clock_leaf).width
    return width + leaves * branch / (BRANCHES - 1) + branch


def clusters(items: list[tuple[Point, Item]], most: int) -> list[list[tuple[Point, Item]]]:
    """Groups of neighbours of nearly equal sizes, none larger than `most`."""

    def parted(group: list[tuple[Point, Item]], parts: int) -> Iterable[list[tuple[Point, Item]]]:
        if parts == 1:
            yield group
            return
        xs, ys = zip(*(point for point, _ in group), strict=True)
        axis = 0 if max(xs) - min(xs) >= max(ys) - min(ys) else 1
        group.sort(key=lambda item: (item[0][axis], item[0][1 - axis]))
        cut = round(len(group) * (parts // 2) / parts)
        yield from parted(group[:cut], parts // 2)
        yield from parted(group[cut:], parts - parts // 2)

    return list(parted(list(items), math.ceil(len(items) / most))) if items else []


def _middle(points: Iterable[Point]) -> Point:
    xs, ys = zip(*points, strict=True)
    return (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2


class Builder:
    """Makes the tree of a placed netlist: `netlist` is replaced, and the placement gets the new cells."""

    def __init__(self, netlist: Netlist, rows: Rows, library: Library, root: int) -> None:
        self.before, self.rows = netlist, rows
        self.placement, self.lef = rows.placement, rows.lef
        self.library, self.root = library, root
        self.domains = domains(netlist, library, root)
        self.netlist = netlist
        self.drivers: list[Driver] = []  # in order of names
        self.levels = 0

    def build(self) -> Netlist:
        """The netlist with the tree, placed on rows, sizes chosen."""
        if not needed(self.domains):
            return self.netlist
        roots: list[tuple[int, Driver]] = []
        leaves = [
            leaf
            for domain in self.domains
            if domain.gate or domain.net == self.root
            for leaf in self._leaves(domain)
        ]
        roots.append((self.root, self._grown(leaves)))
        for domain in self.domains:
            if not domain.gate and domain.net != self.root and len(domain.sinks) > LEAF_SINKS:
                roots.append((domain.net, self._grown(self._leaves(domain))))
        self._name(roots)
        self.netlist = self._connected(roots)
        self._place()
        for _ in range(ROUNDS):
            self._choose_sizes()
        return self.netlist

    def _leaves(self, domain: Domain) -> list[Driver]:
        items = [(wires.position(self.placement, self.lef, terminal), terminal) for terminal in domain.sinks]
        found = []
        for group in clusters(items, LEAF_SINKS):
            kind = self.before.cells[domain.gate].kind if domain.gate else self.library.roles.clock_leaf
            found.append(Driver(_middle(point for point, _ in group), kind, gate=domain.gate))
            found[-1].sinks = [terminal for _, terminal in group]
        if domain.gate and found:
            # the gate stays nearest to where the placer wanted it
            at = self.placement.instances[domain.gate]
            nearest = min(found, key=lambda name: wires.distance(name.at, (at.x_um, at.y_um)))
            nearest.original = True
        return found

    def _grown(self, drivers: list[Driver]) -> Driver:
        """One driver over all of these, each as deep below it."""
        while len(drivers) > 1:
            groups = clusters([(driver.at, driver) for driver in drivers], BRANCHES)
            drivers = []
            for group in groups:
                drivers.append(Driver(_middle(point for point, _ in group), self.library.roles.clock_branch))
                drivers[-1].below = [item for _, item in group]
        return drivers[0]

    def _name(self, roots: list[tuple[int, Driver]]) -> None:
        front, level = [root for _, root in roots], 0
        while front:
            for index, driver in enumerate(front):
                driver.name, driver.level = (
                    driver.gate if driver.original else f"{TREE}.{level}_{index}",
                    level,
                )
                self.drivers.append(driver)
            front, level = [below for driver in front for below in driver.below], level + 1
        self.levels = level

    def _connected(self, roots: list[tuple[int, Driver]]) -> Netlist:
        before, library = self.before, self.library
        cells, nets = dict(before.cells), list(before.nets)

        def attach(driver: Driver, source: int) -> None:
            cell = library.cells[driver.kind]
            gate = cell.clock_gate
            if gate and driver.gate:
                own = before.cells[driver.gate].pins
                pins = {**own, gate.clock: source}
                output = gate.output
            else:
                pins, output = {cell.inputs[0]: source}, cell.outputs[0]
            if not driver.original:
                pins[output] = len(nets)
                nets.append(f"{driver.name}.out")
            cells[driver.name] = Instance(driver.name, driver.kind, pins)
            for owner, pin in driver.sinks:
                cells[owner] = replace(cells[owner], pins={**cells[owner].pins, pin: pins[output]})
            for below in driver.below:
                attach(below, pins[output])

        for net, root in roots:
            attach(root, net)
        return connected(before, cells, nets, library)

    def _place(self) -> None:
        for driver in self.drivers:
            if driver.original:
                self.rows.remove(driver.name)
        for driver in self.drivers:
            self.rows.insert(driver.name, driver.kind, *driver.at)

    def _choose_sizes(self) -> None:
        """Leaves so strong that the clock comes to all registers when it comes to the slowest of them."""
        arrivals, by_net = self._arrivals()
        options: dict[int, list[tuple[float, float, str]]] = {}
        leaves = [(index, driver) for index, driver in enumerate(self.drivers) if driver.sinks]
        for index, item in leaves:
            instance = self.netlist.cells[item.name]
            cell = self.library.cells[instance.kind]
            pin = cell.clock_gate.clock if cell.clock_gate else cell.inputs[0]
            output = cell.clock_gate.output if cell.clock_gate else cell.outputs[0]
            start = arrivals[item.name, pin]
            wire = by_net[instance.pins[output]]
            loads = [wires.pin_cap(self.netlist, self.library, end) for end in wire.terminals]
            delays = wire.delays_ps(loads)[1:]
            load, after = wire.cap_ff + sum(loads[1:]), (min(delays) + max(delays)) / 2
            kinds = strengths(self.library, item.kind) if item.gate else self.library.roles.clock_leaves
            for kind in kinds:
                arc = wires.clock_arc(self.library.cells[kind], pin, output)
                if arc is None or arc.cell_rise is None or arc.rise_transition is None:
                    raise BadInput(
                        f"{kind} has no table for a rising clock: take it out of the kit's clock_leaves"
                    )
                slew = arc.rise_transition.at(start.slew_ns, load)
                at = start.at_ps + 1000 * arc.cell_rise.at(start.slew_ns, load) + after
                options.setdefault(index, []).append((at, slew, kind))
        goal = max(min(row)[0] for row in options.values())
        for index, item in leaves:
            fit = [option for option in options[index] if option[1] <= WORST_SLEW_NS] or [min(options[index])]
            self._resize(item, min(fit, key=lambda option: abs(option[0] - goal))[2])

    def _arrivals(self) -> tuple[dict[Terminal, wires.Arrival], dict[int, wires.Wire]]:
        nets = {self.root, *self._outputs()}
        found = wires.wires_of(self.netlist, self.placement, self.lef, nets=nets)
        by_net = {wire.net: wire for wire in found}
        return wires.clock_arrivals(by_net, self.netlist, self.library, self.root), by_net

    def _outputs(self) -> Iterable[int]:
        for driver in self.drivers:
            instance = self.netlist.cells[driver.name]
            cell = self.library.cells[instance.kind]
            yield instance.pins[cell.clock_gate.output if cell.clock_gate else cell.outputs[0]]

    def _resize(self, driver: Driver, kind: str) -> None:
        if kind == driver.kind:
            return
        driver.kind = kind
        self.netlist.cells[driver.name] = replace(self.netlist.cells[driver.name], kind=kind)
        self.rows.resize(driver.name, kind)

    def summary(self) -> TreeSummary:
        """What placement.json says of the tree."""
        added = [driver for driver in self.drivers if not driver.original]
        return TreeSummary(
            root=self.before.nets[self.root],
            levels=self.levels,
            buffers=sum(not item.gate for item in added),
            gates_copied=sum(bool(item.gate) for item in added),
            sinks=sum(len(domain.sinks) for domain in self.domains),
        )
