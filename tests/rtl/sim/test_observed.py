"""Registers, tables and responses of units that campaigns observe: their paths, and the bits behind them."""

from modexlab.eval.designs.catalogue import find
from modexlab.rtl.messages import declare_streams, mk_message
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.campaigns.faults import Fault, Faulted
from modexlab.rtl.sim.campaigns.leak import Watched
from pymtl3 import Component, InPort, Wire, mk_bits, update, update_ff
from pymtl3.stdlib.stream.ifcs import SendIfcRTL

from tests.programs import machine_of

ROWS, COLUMNS, NBITS = 3, 2, 8
PLACES = [(i, j) for i in range(ROWS) for j in range(COLUMNS)]
MOST_CYCLES = 20


class Holder(Component):
    def construct(s):
        s.in_data = InPort(NBITS)
        s.ostream = SendIfcRTL(mk_bits(NBITS))
        s.held = Wire(NBITS)
        s.ostream.val //= 1
        s.ostream.msg //= s.held

        @update_ff
        def hold():
            s.held <<= s.in_data ^ 1


class Grid(Component):
    """Two dimensions of registers, in front of units in nested loops; the response has a field for each."""

    def construct(s):
        Request = mk_message("GridRequest", (("x", NBITS),))
        Response = mk_message("GridResponse", tuple((f"r{i}{j}", NBITS) for i, j in PLACES))
        declare_streams(s, Request, Response)
        s.words = [[Wire(NBITS) for _ in range(COLUMNS)] for _ in range(ROWS)]
        s.units = [[Holder() for _ in range(COLUMNS)] for _ in range(ROWS)]
        s.arrived, s.done = Wire(), Wire()
        s.istream.rdy //= 1
        s.ostream.val //= s.done
        for i, j in PLACES:
            s.units[i][j].ostream.rdy //= 1

        @update
        def select():
            for i in range(ROWS):
                for j in range(COLUMNS):
                    s.units[i][j].in_data @= ~s.words[i][j]

        @update
        def respond():
            s.ostream.msg.r00 @= ~s.units[0][0].ostream.msg
            s.ostream.msg.r01 @= ~s.units[0][1].ostream.msg
            s.ostream.msg.r10 @= ~s.units[1][0].ostream.msg
            s.ostream.msg.r11 @= ~s.units[1][1].ostream.msg
            s.ostream.msg.r20 @= ~s.units[2][0].ostream.msg
            s.ostream.msg.r21 @= ~s.units[2][1].ostream.msg

        @update_ff
        def load():
            s.arrived <<= s.istream.val & ~s.reset
            s.done <<= s.arrived
            for i in range(ROWS):
                for j in range(COLUMNS):
                    s.words[i][j] <<= s.istream.msg.x + COLUMNS * i + j


def test_every_element_of_two_dimensions():
    """A flip in a register or a response shows in the field of its place, and nowhere else."""
    model = Faulted(Grid())
    assert f"words [{ROWS}] [{COLUMNS}];" in model.verilog and model.verilog.count("for (genvar") == 2
    registers = {f"words[{i}][{j}]" for i, j in PLACES} | {f"units__{i}__{j}.ostream__msg" for i, j in PLACES}
    assert {site.path for site in model.registers} == registers | {"arrived", "ostream__val"}
    assert {site.path for site in model.answers} == {f"units__ostream__msg[{i}][{j}]" for i, j in PLACES}
    right, cycle = model.run((5,), MOST_CYCLES)
    assert right == tuple(5 + COLUMNS * i + j ^ 1 for i, j in PLACES) and cycle == 2
    for at, (i, j) in enumerate(PLACES):
        changed = tuple(value ^ (4 if place == at else 0) for place, value in enumerate(right))
        for path, when in ((f"words[{i}][{j}]", 1), (f"units__ostream__msg[{i}][{j}]", 2)):
            assert model.run((5,), MOST_CYCLES, Fault(model.site(path), 2, when)) == (changed, cycle), path


def test_units_in_a_loop_have_responses_of_their_own():
    machine = find("naive").at(8)
    model, request = Faulted(machine.rtl()), machine.carried(77, 0x8D, 0xB3)
    paths = {answer.path for answer in model.answers}
    assert {f"units__ostream__msg[{i}]" for i in range(2)} < paths
    assert {f"units__{i}.divider__ostream__msg" for i in range(2)} < paths
    right = model.run(request, 1000)
    for i in range(2):
        site = model.site(f"units__ostream__msg[{i}]")
        assert any(model.run(request, 1000, Fault(site, 0, when)) != right for when in range(right[1]))


def test_microinstructions_are_tables_and_so_are_arrays_of_constants():
    """Every bit of a microinstruction that is executed can flip; the last one is the default of the case."""
    machine = machine_of("heap", 16, schedule="sliding-window")
    model, program = Faulted(machine.rtl()), machine.programmed.program
    tables = {table.path: table.nbits for table in model.tables}
    roms = {path.partition("[")[0] for path in tables if "insts" in path}
    count = sum(path.startswith("ctrl.rom.insts[") for path in tables)
    assert "ctrl.rom.insts" in roms and count >= len(program.words)
    words = {f"{rom}[{place}]" for rom in roms for place in range(count)}
    assert tables.keys() == words | {f"dpath.exponent.{name}.lengths" for name in ("window", "next_window")}
    request = machine.carried(0x1234, 0x5A3, 0xB5C3)
    right = model.run(request, 10_000)
    for place in (0, count - 1):
        found = [
            model.run(request, 2 * right[1], Fault(model.site(f"{rom}[{place}]"), bit))
            for rom in roms
            for bit in range(tables[f"{rom}[{place}]"])
        ]
        assert any(answer != right for answer in found), place
    assert model.run(request, 10_000) == right


def test_the_hardware_is_that_of_every_other_run():
    """Its text, from which results have their digest, has no flips and no attributes."""
    machine = find("mont").at(8)
    text = translate(machine.rtl())
    assert Faulted(machine.rtl()).verilog == Watched(machine.rtl()).verilog == text
    assert not Watched(machine.rtl()).answers
