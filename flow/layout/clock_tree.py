"""The clock tree: buffers between the clock port and the registers, with clock gates as leaves; the delay to
all registers is the same.

Registers are clustered by position. A cluster of ungated registers gets a leaf buffer. The registers behind a
clock gate are clustered in the same way, and each cluster gets a copy of the gate instead of a leaf buffer. A
gated register is therefore as far from the port as any other, and both share the tree above. Clusters of
clusters form the levels above the leaves, up to one root, and all leaves have the same depth. A cluster is
split into halves of equal counts along its longer side, repeatedly, and each driver is placed in the middle
of its sinks.

Leaves then get the drive strength with which the clock arrives in all clusters at about the same time as in
the slowest (tables of the library, Elmore delay of the wires). If the skew is still above MOST_SKEW_PS before
the last of ROUNDS, as on a large die with dense and sparse regions, the branches are sized in the same way,
level by level from the top. Any other cell at the clock, such as an inverter or a gate behind a gate, is
driven like a register. The cells behind it get a tree of their own, which is not balanced with the rest.

All added cells are named clock_tree.LEVEL_NUMBER; the root is clock_tree.0_0.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from ...fl.errors import BadInput
from ..kit.lef import Lef, Point, middle
from ..kit.liberty import Cell, Library
from ..netlist.buffers import EditedNetlist
from ..netlist.netlist import PORT, Netlist, Terminal
from . import wires
from .placed import Placed
from .placement import TREE, TreeSummary

LEAF_SINKS = 24  # at most, of a leaf: 25 fF of pins and about as much of wire, a slew below 0.05 ns
LEAF_UM = 200.0  # at most, the half-perimeter of a leaf's sinks: a wire across it delays the last ones
BRANCHES = 6  # at most, of a buffer above the leaves: more are further apart, and their wires differ more
WORST_SLEW_NS = 0.08  # behind a leaf or a branch; the delay of the cells there grows with it
ROUNDS = 3  # of choosing sizes: a leaf's size is a load to the branch above
MOST_SKEW_PS = 50.0  # between clusters, with branches of one size

Item = TypeVar("Item")


@dataclass
class Driver:
    """A buffer or a copy of a gate, and its sinks: terminals, or drivers one level below."""

    at: Point
    kind: str
    sinks: list[Terminal] = field(default_factory=list)
    below: "list[Driver]" = field(default_factory=list)
    gate: str = ""  # the clock gate that it is a copy of
    original: bool = False  # it is that gate itself
    name: str = ""
    output: int = -1  # the net that it drives


class Domain(NamedTuple):
    """A net of the clock: its terminals, the clock gate that drives it, "" at the root of a tree, and the
    kind of its leaves.
    """

    net: int
    sinks: list[Terminal]
    gate: str
    leaf: str


def strengths(library: Library, kind: str) -> list[str]:
    """All drive strengths of a cell, weakest first."""
    family = library.roles.family(kind)
    found = [name for name in library.cells if library.roles.family(name) == family and family] or [kind]
    return sorted(found, key=lambda name: library.cells[name].area)


def domains(netlist: Netlist, library: Library, root: int) -> list[Domain]:
    """Return the nets that may need a tree, the root first; the clock gates that it drives are leaves of its
    tree.
    """

    def onward(terminal: Terminal) -> int | None:
        """The net that a clock goes on to behind a terminal."""
        instance = netlist.cells[terminal[0]]
        output = wires.clock_output(library.cells[instance.kind], terminal[1])
        return instance.pins.get(output) if output else None

    found = []
    todo = [root]
    seen = {root}
    for net in todo:  # grows
        sinks = []
        gated = []
        for terminal in netlist.sinks[net]:
            name = terminal[0]
            if name == PORT:
                continue
            below = onward(terminal)
            readers = netlist.sinks[below] if below is not None else []
            kind = netlist.cells[name].kind
            leaf = net == root and library.cells[kind].clock_gate and below not in seen
            if below is not None and leaf and readers and all(owner != PORT for owner, _ in readers):
                gated.append(Domain(below, list(readers), name, kind))
                seen.add(below)
                following = [onward(reader) for reader in readers]
            else:
                sinks.append(terminal)
                following = [below]
            for value in following:
                if value is not None and value not in seen:
                    seen.add(value)
                    todo.append(value)
        found += [Domain(net, sinks, "", library.roles.clock_leaf), *gated]
    return found


def needed(found: list[Domain]) -> bool:
    """Whether one driver, the port, is not enough."""
    return any(domain.gate or len(domain.sinks) > LEAF_SINKS for domain in found)


def planned_width(netlist: Netlist, library: Library, lef: Lef, root: int) -> float:
    """About the width of all cells that the tree will add, in um, before sizes are chosen."""
    found = domains(netlist, library, root)
    if not needed(found):
        return 0.0
    leaves = [(math.ceil(len(domain.sinks) / LEAF_SINKS), lef.macro(domain.leaf).width) for domain in found]
    branch = lef.macro(library.roles.clock_branch).width
    width = sum(count * leaf for count, leaf in leaves)
    return width + sum(count for count, _ in leaves) * branch / (BRANCHES - 1) + branch


def _pins(cell: Cell) -> tuple[str, str]:
    """The pins by which the clock enters a driver and leaves it."""
    gate = cell.clock_gate
    return (gate.clock, gate.output) if gate else (cell.inputs[0], cell.outputs[0])


def clusters(
    items: list[tuple[Point, Item]], most: int, most_um: float = math.inf
) -> list[list[tuple[Point, Item]]]:
    """Groups of neighbours: nearly equal parts of at most `most` items, each halved until its half-perimeter
    is at most `most_um`.
    """

    def parted(group: list[tuple[Point, Item]], parts: int) -> Iterable[list[tuple[Point, Item]]]:
        xs, ys = zip(*(point for point, _ in group), strict=True)
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        if parts == 1 and width + height > most_um and len(group) > 1:
            parts = 2
        if parts == 1:
            yield group
            return
        axis = 0 if width >= height else 1
        group.sort(key=lambda item: (item[0][axis], item[0][1 - axis]))
        cut = round(len(group) * (parts // 2) / parts)
        yield from parted(group[:cut], parts // 2)
        yield from parted(group[cut:], parts - parts // 2)

    return list(parted(list(items), math.ceil(len(items) / most))) if items else []


def build(placed: Placed, root: int) -> TreeSummary:
    """Put the tree of the net `root` into a placed netlist, on its rows, with sizes chosen."""
    return _Builder(placed, root).build()


class _Builder:
    """The tree of a placed netlist on its way."""

    def __init__(self, placed: Placed, root: int) -> None:
        self.placed, self.root = placed, root
        self.library, self.before = placed.library, placed.netlist
        self.domains = domains(placed.netlist, placed.library, root)
        self.drivers: list[Driver] = []  # in order of names

    def build(self) -> TreeSummary:
        """All of it."""
        found = TreeSummary(self.before.nets[self.root], sinks=sum(len(item.sinks) for item in self.domains))
        if needed(self.domains):
            roots = self._roots()
            found.levels = self._name([driver for _, driver in roots])
            self._connect(roots)
            for driver in self.drivers:
                if driver.original:
                    self.placed.rows.remove(driver.name)
            for driver in self.drivers:
                self.placed.rows.insert(driver.name, driver.kind, *driver.at)
            for _, first in roots:
                self._balance(first)
        for driver in self.drivers:
            found.gates_copied += bool(driver.gate) and not driver.original
            found.buffers += not driver.gate
        self.placed.placement.clock_tree = found
        return found

    def _roots(self) -> list[tuple[int, Driver]]:
        """The nets that get a tree, each with its first driver; that of the clock's port first."""
        in_tree = [domain for domain in self.domains if domain.gate or domain.net == self.root]
        leaves = [leaf for domain in in_tree for leaf in self._leaves(domain)]
        return [(self.root, self._grown(leaves))] + [
            (domain.net, self._grown(self._leaves(domain)))
            for domain in self.domains
            if domain not in in_tree and len(domain.sinks) > LEAF_SINKS
        ]

    def _leaves(self, domain: Domain) -> list[Driver]:
        items = [(self.placed.position(terminal), terminal) for terminal in domain.sinks]
        found = [
            Driver(middle(points), domain.leaf, list(terminals), gate=domain.gate)
            for group in clusters(items, LEAF_SINKS, LEAF_UM)
            for points, terminals in [zip(*group, strict=True)]
        ]
        if domain.gate and found:
            # the gate stays nearest to where the placer wanted it
            at = self.placed.placement.instances[domain.gate]
            min(found, key=lambda leaf: wires.distance(leaf.at, (at.x_um, at.y_um))).original = True
        return found

    def _grown(self, drivers: list[Driver]) -> Driver:
        """One driver over all of these, each as deep below it."""
        while len(drivers) > 1:
            drivers = [
                Driver(middle(points), self.library.roles.clock_branch, below=list(below))
                for group in clusters([(driver.at, driver) for driver in drivers], BRANCHES)
                for points, below in [zip(*group, strict=True)]
            ]
        return drivers[0]

    def _name(self, front: list[Driver]) -> int:
        """Name the drivers level by level; return the number of levels."""
        level = 0
        while front:
            for index, driver in enumerate(front):
                driver.name = driver.gate if driver.original else f"{TREE}.{level}_{index}"
            self.drivers += front
            front, level = [below for driver in front for below in driver.below], level + 1
        return level

    def _connect(self, roots: list[tuple[int, Driver]]) -> None:
        edited = EditedNetlist(self.before, self.library, {})

        def attach(driver: Driver, source: int) -> None:
            clock, output = _pins(self.library.cells[driver.kind])
            own = self.before.cells[driver.gate].pins if driver.gate else {}
            pins = {**own, clock: source}
            if not driver.original:
                pins[output] = edited.add_net(f"{driver.name}.out")
            driver.output = pins[output]
            edited.add_cell(driver.name, driver.kind, pins, TREE)
            edited.hang(driver.sinks, driver.output)
            for below in driver.below:
                attach(below, driver.output)

        for net, root in roots:
            attach(root, net)
        self.placed.netlist = edited.connected()

    def _balance(self, first: Driver) -> None:
        """Size the leaves of a tree and, if the skew stays large, its branches."""
        levels = [[first]]
        while below := [item for driver in levels[-1] for item in driver.below]:
            levels.append(below)
        leaves = levels[-1]
        for _ in range(ROUNDS):
            skew = self._choose_sizes(leaves)
        if skew > MOST_SKEW_PS:
            for branches in levels[1:-1]:
                self._choose_sizes(branches)
                self._choose_sizes(leaves)

    def _choose_sizes(self, drivers: list[Driver]) -> float:
        """Size drivers so that the clock arrives below each of them as late as below the slowest. Return the
        skew between them before this call, in ps.
        """
        nets = {*(domain.net for domain in self.domains), *(driver.output for driver in self.drivers)}
        found = wires.wires_of(self.placed, nets=nets)
        by_net = {wire.net: wire for wire in found}
        arrivals = wires.clock_arrivals(found, self.placed, self.root)
        options = [list(self._options(driver, arrivals, by_net[driver.output])) for driver in drivers]
        goal = max(min(row)[0] for row in options)
        for driver, row in zip(drivers, options, strict=True):
            fit = [option for option in row if option[1] <= WORST_SLEW_NS] or [min(row)]
            kind = min(fit, key=lambda option: abs(option[0] - goal))[2]
            if kind != driver.kind:
                driver.kind = kind
                cells = self.placed.netlist.cells
                cells[driver.name] = replace(cells[driver.name], kind=kind)
                self.placed.rows.resize(driver.name, kind)
        times = [self._latest(driver, arrivals) for driver in drivers]
        return max(times) - min(times)

    def _latest(self, driver: Driver, arrivals: dict[Terminal, wires.Arrival]) -> float:
        """When the clock comes to the middle of a leaf's sinks, or to the slowest leaf below a branch."""
        if driver.below:
            return max(self._latest(below, arrivals) for below in driver.below)
        times = [arrivals[terminal].at_ps for terminal in driver.sinks]
        return (min(times) + max(times)) / 2

    def _options(
        self, driver: Driver, arrivals: dict[Terminal, wires.Arrival], wire: wires.Wire
    ) -> Iterator[tuple[float, float, str]]:
        """When the clock comes to the registers below a driver and its slew, for each kind that it may be."""
        pin, output = _pins(self.library.cells[driver.kind])
        cell = self.library.cells[driver.kind]
        start = arrivals.get((driver.name, pin))
        now = start and wires.clock_through(cell, pin, output, start.slew_ns, wire.load_ff)
        if start is None or now is None:
            raise BadInput(
                f"{driver.kind}, or a cell before it in the clock tree, has no table for a rising clock: "
                "name another cell as the kit's clock_gate, clock_leaf or clock_branch"
            )
        after = self._latest(driver, arrivals) - start.at_ps - now[0]
        roles = self.library.roles
        any_strength = driver.gate or driver.below
        for kind in strengths(self.library, driver.kind) if any_strength else roles.clock_leaves:
            passed = wires.clock_through(self.library.cells[kind], pin, output, start.slew_ns, wire.load_ff)
            if passed is None:
                raise BadInput(
                    f"{kind} has no table for a rising clock: take it out of the kit's clock_leaves, or add "
                    "it to dont_use"
                )
            yield start.at_ps + passed[0] + after, passed[1], kind
