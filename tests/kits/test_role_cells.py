"""Networks of cells for a full adder, a half adder and a row selection in libraries that lack these cells."""

import itertools
from dataclasses import replace

import msgspec
import pytest
from modexlab.flow.kit import functions, kit, kit_file
from modexlab.flow.synth import role_cells

from tests.harness import parametrize
from tests.kits import pdks

WORK = {  # number of inputs and outputs of each role, by arithmetic
    "full_adder": (3, lambda a, b, c: ((a + b + c) >> 1, (a + b + c) & 1)),
    "half_adder": (2, lambda a, b: ((a + b) >> 1, (a + b) & 1)),
    "selector": (6, lambda a, b, c, d, e, f: (1 - (a * b | c * d | e * f),)),
}
ADDERS = ("FA_X1", "HA_X1", "AOI222_X1", "AOI222_X2", "AOI222_X4")


def values(network, library, leaves):
    """The outputs for one row of inputs, evaluated cell by cell."""
    nets = dict(enumerate(leaves))
    for kind, pins in network.cells:
        cell, at = library.cells[kind], dict(pins)
        given = {pin: nets[at[pin]] for pin in cell.inputs}
        for output in cell.outputs:
            nets[at[output]] = functions.parse(cell.pins[output].function).value(**given)
    return tuple(nets[net] for net in network.outputs)


def is_right(network, library, role):
    count, work = WORK[role]
    rows = itertools.product((0, 1), repeat=count)
    return all(values(network, library, row) == work(*row) for row in rows)


def with_roles(library, dropped=(), **roles):
    """The library without some cells and with other roles."""
    cells = {name: cell for name, cell in library.cells.items() if name not in dropped}
    described = library.described
    named = msgspec.structs.replace(described.cells, **roles)
    return replace(library, cells=cells, described=msgspec.structs.replace(described, cells=named))


@pytest.fixture
def poor(library):
    """The default library without adders, like some foundries' libraries."""
    return with_roles(library, ADDERS, full_adder=None, half_adder=None, selector="")


def worth(library, network):
    return role_cells._Gates(library).worth(network)


@parametrize("role", role_cells.ROLES)
def test_a_named_cell_keeps_its_role(library, role):
    network = role_cells.find(library, role).network
    named = getattr(library.roles, role)
    assert [kind for kind, _ in network.cells] == [named.cell if isinstance(named, kit_file.Adder) else named]
    assert is_right(network, library, role)


@parametrize("role", role_cells.ROLES)
def test_gates_take_the_place_of_a_cell(library, poor, role):
    network = role_cells.find(poor, role).network
    assert is_right(network, poor, role) and len(network.cells) > 1
    own = worth(library, role_cells.find(library, role).network)
    area_delay, area = worth(poor, network)
    assert area_delay < 1.6 * own[0] and area < 1.8 * own[1]


def test_an_adder_is_no_worse_than_those_of_textbooks(poor):
    """Compared with two XORs and three NANDs, and with two XORs, the first of which selects the carry."""
    best, _ = worth(poor, role_cells.find(poor, "full_adder").network)

    def gate(kind, *nets):
        return kind, tuple(zip([*poor.cells[kind].inputs, *poor.cells[kind].outputs], nets, strict=True))

    xors = [gate("XOR2_X1", 0, 1, 3), gate("XOR2_X1", 3, 2, 4)]
    nands = [gate("NAND2_X1", 0, 1, 5), gate("NAND2_X1", 3, 2, 6), gate("NAND2_X1", 5, 6, 7)]
    for carry in (nands, [gate("MUX2_X1", 0, 2, 3, 7)]):
        known = role_cells.Network(3, (*xors, *carry), (7, 4))
        assert is_right(known, poor, "full_adder")
        assert best <= worth(poor, known)[0]


def test_nand_alone_will_do(library):
    kept = {"INV_X1", "NAND2_X1", "BUF_X1"}
    bare = with_roles(library, library.cells.keys() - kept, full_adder=None, half_adder=None, selector="")
    for role in role_cells.ROLES:
        network = role_cells.find(bare, role).network
        assert is_right(network, bare, role) and {kind for kind, _ in network.cells} <= kept


def test_inverters_behind_complements(library, poor):
    """A full adder with inverted outputs, as in ASAP7, competes with the gates of this library."""
    cell = library.cells["FA_X1"]
    pins = {
        name: replace(pin, function=f"!({pin.function})") if name in cell.outputs else pin
        for name, pin in cell.pins.items()
    }
    inverting = with_roles(poor, full_adder=library.roles.full_adder)
    inverting = replace(inverting, cells=inverting.cells | {"FA_X1": replace(cell, pins=pins)})
    assert is_right(role_cells.find(inverting, "full_adder").network, inverting, "full_adder")
    small = replace(inverting, cells=inverting.cells | {"FA_X1": replace(cell, pins=pins, area=1.0)})
    chosen = role_cells.find(small, "full_adder").network
    assert [kind for kind, _ in chosen.cells] == ["FA_X1", "INV_X1", "INV_X1"]
    assert is_right(chosen, small, "full_adder")


@parametrize("role", role_cells.ROLES)
@parametrize("name", pdks.INSTALLED)
def test_roles_of_a_foundry_s_library(monkeypatch, name, role):
    library = kit.find(pdks.require(monkeypatch, name), kit.SLOW).library
    assert is_right(role_cells.find(library, role).network, library, role)
