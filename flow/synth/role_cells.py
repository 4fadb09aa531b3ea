"""The cells of a kit for a role: a full adder, a half adder, a row selection.

A kit may name a cell for a role. If this cell computes the functions of the role, it is used. Otherwise the
named cell with inverters at its complemented outputs competes with networks of gates, by area x delay from
Liberty. Only the smallest gate of each family competes, as sizing speeds cells up where it pays. The inputs
of the last gate of a network are leaves and functions of two leaves; in a selection also products and pairs
of products; and for the sum or the carry of an adder the signals of the other output. The search thus covers
the adder of two XORs, the adder of complex gates whose sum depends on the carry, and the adder of NANDs only.

The result is evaluated cell by cell and compared with the truth tables of the role.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..kit.functions import columns, parse
from ..kit.kit_file import Adder
from ..kit.liberty import Cell, Library

MOST_PINS = 4  # of a gate
WIDE_POOL = 26  # largest number of signals with which gates of MOST_PINS are tried
KEPT = 8  # networks for a carry or a sum that the other output may use
EXACT = 50  # networks of a gate whose area and delay are computed, the smallest first
FANOUT = 2  # inverters, as the load of every output

Node = int | tuple[str, tuple[tuple[str, "Node"], ...]]  # a leaf, or a gate and the nodes at its inputs
Pool = dict[int, Node]  # signals by their truth tables


class Role(NamedTuple):
    """Truth tables of a role over its leaves: bit i is the value where leaf k is bit k of i."""

    leaves: int
    tables: tuple[int, ...]
    names: tuple[str, ...]  # of the outputs, as fields of the kit's adders


def _mask(leaves: int) -> int:
    return (1 << (1 << leaves)) - 1


ROLES = {
    "full_adder": Role(3, (0xE8, 0x96), ("carry", "sum")),
    "half_adder": Role(2, (0x8, 0x6), ("carry", "sum")),
    "selector": Role(6, (parse("!(A & B | C & D | E & F)").table(tuple("ABCDEF")),), ()),
}


@dataclass(frozen=True)
class Network:
    """Cells with the numbers of the nets at their pins: first the leaves, then the cells' outputs."""

    leaves: int
    cells: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    outputs: tuple[int, ...]

    def tables(self, library: Library, order: Sequence[int]) -> tuple[int, ...]:
        """Truth tables of the outputs, evaluated cell by cell; leaf order[k] is input k."""
        values = dict(zip(order, columns(self.leaves), strict=True))
        for kind, pins in self.cells:
            cell, nets = library.cells[kind], dict(pins)
            for output in set(cell.outputs) & nets.keys():
                function = cell.pins[output].logic
                values[nets[output]] = function.words([values[nets[pin]] for pin in function.inputs])
        return tuple(values[net] & _mask(self.leaves) for net in self.outputs)


class Found(NamedTuple):
    """The cells for a role, and an order of the leaves for each tuple of output tables that some order
    gives.
    """

    library: Library  # keeps alive the library, whose id is the key
    network: Network | None
    orders: dict[tuple[int, ...], tuple[int, ...]]


_FOUND: dict[tuple[int, str], Found] = {}


def find(library: Library, role: str) -> Found:
    """The cells for a role; without a network if the kit's gates do not suffice."""
    key = id(library), role
    if key not in _FOUND:
        network = _find(library, role)
        orders: dict[tuple[int, ...], tuple[int, ...]] = {}
        if network is not None:
            for order in itertools.permutations(range(network.leaves)):
                orders.setdefault(network.tables(library, order), order)
        _FOUND[key] = Found(library, network, orders)
    return _FOUND[key]


def _find(library: Library, name: str) -> Network | None:
    role = ROLES[name]
    own = _of_cell(library, role, getattr(library.roles, name))
    if own is not None and len(own.cells) == 1:
        return own
    gates = _Gates(library)
    found = [item for item in (own, gates.network(role)) if item is not None]
    for item in found:
        assert item.tables(library, range(role.leaves)) == role.tables, f"{name} of other functions"
    return min(found, key=gates.worth, default=None)


def _of_cell(library: Library, role: Role, named: Adder | str | None) -> Network | None:
    """The cell that the kit names, with inverters at complemented outputs; None if it has other functions."""
    if not named:
        return None
    cell = library.cells[named.cell if isinstance(named, Adder) else named]
    outputs = [getattr(named, name) for name in role.names] if isinstance(named, Adder) else cell.outputs
    inputs = named.inputs if isinstance(named, Adder) else cell.inputs
    inverter = library.cells[library.roles.inverter]
    for order in itertools.permutations(inputs) if len(inputs) == role.leaves else ():
        nets = {pin: net for net, pin in enumerate((*order, *outputs))}
        pins = {pin: nets[pin] for pin in (*cell.inputs, *cell.outputs) if pin in nets}
        network = Network(
            role.leaves, ((cell.name, tuple(pins.items())),), tuple(nets[pin] for pin in outputs)
        )
        found = network.tables(library, range(role.leaves))
        if all(
            table in (wanted, wanted ^ _mask(role.leaves))
            for table, wanted in zip(found, role.tables, strict=True)
        ):
            last = itertools.count(len(nets))
            behind, nets_out = [], []
            for net, table, wanted in zip(network.outputs, found, role.tables, strict=True):
                nets_out.append(net if table == wanted else next(last))
                if table != wanted:
                    behind.append(
                        (inverter.name, ((inverter.inputs[0], net), (inverter.outputs[0], nets_out[-1])))
                    )
            return Network(role.leaves, (*network.cells, *behind), tuple(nets_out))
    return None


class _Last(NamedTuple):
    """The end of a network: one gate, or several gates that form an XOR."""

    node: Node  # over leaves
    leaves: int
    area: float
    words: Callable[[Sequence[Any]], Any]  # the function of its leaves


class _Gates:
    """The gates of a library, and the search for networks of them."""

    def __init__(self, library: Library) -> None:
        self.library = library
        inverter = library.cells[library.roles.inverter]
        self.inverter = inverter
        self.load_ff = FANOUT * inverter.input_pin.cap_ff
        self.slew_ns = library.kit.constraints.clock_slew_ns
        smallest: dict[str, Cell] = {}
        for cell in library.cells.values():
            family = library.roles.family(cell.name) or cell.name
            if _is_gate(cell) and cell.area < getattr(smallest.get(family), "area", float("inf")):
                smallest[family] = cell
        self.delays: dict[tuple[str, str, str], float] = {}
        cells = sorted(smallest.values(), key=lambda cell: (len(cell.inputs), cell.name))
        self.last = [_last(cell) for cell in (inverter, *cells)]
        # without an XOR gate, an XOR of several gates counts as one
        for table, words in ((0x6, lambda at: at[0] ^ at[1]), (0x9, lambda at: ~(at[0] ^ at[1]))):
            node = self._of_two().get(table, 0)
            if isinstance(node, tuple) and not all(isinstance(below, int) for _, below in node[1]):
                self.last.append(_Last(node, 2, self._worth(2, node)[1], words))

    # ---- area and delay

    def worth(self, network: Network) -> tuple[float, float]:
        """(area x delay to the latest output, area); less is better."""
        arrival = dict.fromkeys(range(network.leaves), 0.0)
        for kind, pins in network.cells:
            cell, nets = self.library.cells[kind], dict(pins)
            for output in [pin for pin in cell.outputs if pin in nets]:
                ways = (arrival[nets[pin]] + self._delay_ns(cell, pin, output) for pin in cell.inputs)
                arrival[nets[output]] = max(ways)
        area = sum(self.library.cells[kind].area for kind, _ in network.cells)
        return area * max(arrival[net] for net in network.outputs), area

    def _delay_ns(self, cell: Cell, pin: str, output: str) -> float:
        """The larger delay of both edges, from an input to an output."""
        key = cell.name, pin, output
        if key not in self.delays:
            arcs = [arc for arc in cell.pins[output].timing if arc.related == pin]
            tables = [table for arc in arcs for table in (arc.cell_rise, arc.cell_fall) if table]
            self.delays[key] = max((table.at(self.slew_ns, self.load_ff) for table in tables), default=0.0)
        return self.delays[key]

    def built(self, leaves: int, nodes: Iterable[Node]) -> Network:
        """The network of some nodes; equal gates are shared."""
        nets: dict[Node, int] = {leaf: leaf for leaf in range(leaves)}
        cells = []

        def net(node: Node) -> int:
            if node not in nets:
                assert not isinstance(node, int)
                kind, inputs = node
                pins = tuple((pin, net(below)) for pin, below in inputs)
                nets[node] = len(nets)
                cells.append((kind, (*pins, (self.library.cells[kind].outputs[0], nets[node]))))
            return nets[node]

        outputs = tuple(map(net, nodes))
        return Network(leaves, tuple(cells), outputs)

    # ---- the search

    def network(self, role: Role) -> Network | None:
        """The best network of gates; None if the gates do not suffice."""
        leaves = role.leaves
        if not role.names:
            found = self._best(self._products(), role.tables[0], leaves, 1)
            return self.built(leaves, found) if found else None
        pool, made = self._of_pairs(leaves), []
        for first, second in (role.tables, role.tables[::-1]):  # either output may use the other's signals
            for node in self._best(pool, first, leaves, KEPT):
                known = pool | self._inside(node, leaves) | {first ^ _mask(leaves): self._inverted(node)}
                for other in self._best(known, second, leaves, 1, beside=(node,)):
                    made.append(
                        self.built(leaves, (node, other) if first == role.tables[0] else (other, node))
                    )
        return min(made, key=self.worth, default=None)

    def _inverted(self, node: Node) -> Node:
        if not isinstance(node, int) and node[0] == self.inverter.name:
            return node[1][0][1]
        return self.inverter.name, ((self.inverter.inputs[0], node),)

    def _inside(self, node: Node, leaves: int) -> Pool:
        """All signals of a network, which can be reused at no cost."""
        if isinstance(node, int):
            return {}
        found: Pool = {}
        for _, below in node[1]:
            found |= self._inside(below, leaves)
        return found | self._tabled([node], leaves)

    def _of_two(self) -> Pool:
        """All functions of two leaves."""
        pool: Pool = {table: leaf for leaf, table in enumerate(columns(2))}
        before = -1
        while before != len(pool):
            before = len(pool)
            found = {table: self._best(pool, table, 2, 1, 2) for table in range(1, 15) if table not in pool}
            pool |= {table: nodes[0] for table, nodes in found.items() if nodes}
        return pool

    def _of_pairs(self, leaves: int) -> Pool:
        """The leaves and all functions of two of them."""
        two, pool = self._of_two(), dict[int, Node]()
        for pair in itertools.combinations(range(leaves), 2):
            moved = self._tabled((_moved(node, pair) for node in two.values()), leaves)
            for table, node in moved.items():
                pool.setdefault(table, node)
        return pool

    def _products(self) -> Pool:
        """The leaves of a selection, its three products, pairs of products, and the complements of both."""
        two, four = self._of_two(), dict[int, Node]()
        products = [two[table] for table in (0x8, 0x7) if table in two]
        pool: Pool = {}
        for pair in ((0, 1), (2, 3)):
            four |= self._tabled([*pair, *(_moved(node, pair) for node in products)], 4)
        a, b, c, d = columns(4)
        sums = [self._best(four, table, 4, 1) for table in (a & b | c & d, _mask(4) ^ (a & b | c & d))]
        for pair in ((0, 1), (2, 3), (4, 5)):
            pool |= self._tabled([*pair, *(_moved(node, pair) for node in products)], 6)
        for places in ((0, 1, 2, 3), (0, 1, 4, 5), (2, 3, 4, 5)):
            pool |= self._tabled([_moved(nodes[0], places) for nodes in sums if nodes], 6)
        return pool

    def _tabled(self, nodes: Iterable[Node], leaves: int) -> Pool:
        return {self.built(leaves, [node]).tables(self.library, range(leaves))[0]: node for node in nodes}

    def _best(
        self,
        pool: Pool,
        wanted: int,
        leaves: int,
        count: int,
        most_pins: int = MOST_PINS,
        beside: tuple[Node, ...] = (),
    ) -> list[Node]:
        """The best nodes with this truth table, given `beside`, whose gates they share: a signal of the pool,
        or a gate that reads signals of the pool, with or without an inverter.
        """
        tables = np.array([_signed(table, leaves) for table in pool])
        signals = [*pool.values()]
        areas = np.array([self._worth(leaves, *beside, node)[1] for node in signals])
        nodes = {pool[wanted]: 0.0} if wanted in pool else {}
        for last in self.last:
            if last.leaves > most_pins or (last.leaves == MOST_PINS and len(pool) > WIDE_POOL):
                continue
            axes = [tables.reshape([-1, *[1] * place]) for place in reversed(range(last.leaves))]
            values = np.broadcast_to(last.words(axes), [len(signals)] * last.leaves)
            for table, inverted in ((wanted, False), (wanted ^ _mask(leaves), True)):
                places = np.argwhere(values & _signed(_mask(leaves), leaves) == _signed(table, leaves))
                sizes = areas[places].sum(axis=1) + last.area
                for at in np.argsort(sizes, kind="stable")[:EXACT]:
                    node = _moved(last.node, [signals[k] for k in places[at].tolist()])
                    nodes[self._inverted(node) if inverted else node] = float(sizes[at])
        likely = sorted(nodes, key=nodes.__getitem__)[: EXACT * 2]
        return sorted(likely, key=lambda node: self._worth(leaves, *beside, node))[:count]

    def _worth(self, leaves: int, *nodes: Node) -> tuple[float, float]:
        return self.worth(self.built(leaves, nodes))


def _last(cell: Cell) -> _Last:
    """A gate over leaves, in the order of its pins."""
    function = cell.output_pin.logic
    order = [cell.inputs.index(pin) for pin in function.inputs]
    node = cell.name, tuple((pin, leaf) for leaf, pin in enumerate(cell.inputs))
    return _Last(node, len(cell.inputs), cell.area, lambda at: function.words([at[place] for place in order]))


def _is_gate(cell: Cell) -> bool:
    """Whether a cell is a function of two or more inputs that depends on all of them."""
    if cell.sequential or cell.dont_use or len(cell.outputs) != 1 or not 2 <= len(cell.inputs) <= MOST_PINS:
        return False
    output = cell.output_pin
    return not output.three_state and {*parse(output.function or "0").inputs} == {*cell.inputs}


def _moved(node: Node, places: Sequence[Node]) -> Node:
    """The node with other signals in place of its leaves."""
    if isinstance(node, int):
        return places[node]
    return node[0], tuple((pin, _moved(below, places)) for pin, below in node[1])


def _signed(table: int, leaves: int) -> int:
    """A truth table as a signed number for numpy."""
    return table - (1 << 64) if leaves == 6 and table >> 63 else table
