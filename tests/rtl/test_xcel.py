"""The accelerator protocol: the same programs at FL, over CL machines and in RTL with every backend."""

from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.interfaces import AXI4LITE, XCEL
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import Status
from modexlab.fl.xcel import GIVEN, GO, MASK, XcelFL, words_of
from modexlab.rtl.interfaces.xcel import Xcel
from modexlab.rtl.sim import Stall, simulate

from tests.harness import (
    RTL_BACKENDS,
    any_word,
    draws,
    each_design,
    later,
    one_now,
    parametrize,
    ran,
    regress,
)
from tests.programs import machine_of
from tests.tables.keyed import KEYED, good, outcomes, result, wrong
from tests.tables.mod_exp import PAPER_001
from tests.tables.xcel import programs

DESIGN = find("mont")


def run(component, machine, backend, stall=None):
    """The run of each program, after checking its responses."""
    runs = []
    with simulate(component, backend) as simulation:
        for program in programs(machine.nbits, machine.given_of):
            runs.append(simulation.run(program.accesses, stall=stall))
            expected = XCEL.respond(machine.shape, machine.fl, program.accesses)
            assert runs[-1].responses == expected, (program.name, backend)
    return runs


def test_golden_is_not_the_adapter():
    """The functional model itself, on the paper's operands, against `pow`."""
    xcel = XcelFL(exponentiation(32), DESIGN.at(32).fl)
    operands = PAPER_001[0].request
    for addr, value in enumerate((*operands, 0), 1):
        xcel.write(addr % 4, value)
    assert xcel.read(0) == pow(*operands)
    assert (xcel.read(4), xcel.read(0), xcel.read(4)) == (0, 0, 6)


@parametrize("nbits", one_now((8, 32, 40, 64), 40))
@parametrize("stall", [*later((None,)), Stall(seed=2, source=0.3, sink=0.3)], ids=["", "stalled"])
def test_levels_and_stages(nbits, stall):
    """CL machine and RTL machine behind the adapter agree in every stamp."""
    machine = DESIGN.at(nbits)
    expected = run(Xcel(machine.shape, machine.cl), machine, "python", stall)
    for backend in RTL_BACKENDS if nbits in (8, 40) else ("native",):
        assert run(machine.wrapped(XCEL), machine, backend, stall) == expected, backend


@regress
@parametrize("nbits", (256, 1000, 2048))
def test_long_operands(nbits):
    """Operands of many words, natively."""
    run(DESIGN.at(nbits).wrapped(XCEL), DESIGN.at(nbits), "native")


@each_design("serial-003", "dm-m-000")
def test_every_machine_is_an_accelerator(design):
    """`make test` has one with given numbers, and one with a fixed modulus; mont is in the other tests."""
    run(design.at(16).wrapped(XCEL), design.at(16), "native")


ACCESS = st.tuples(st.integers(0, 1), st.sampled_from([0, 0, 1, 2, 3, 3, 4, 5, 17]), any_word(32))


def test_any_program():
    """Hypothesis: arbitrary accesses in any order are answered like the functional level, without hanging."""
    machine = DESIGN.at(40)
    with simulate(machine.wrapped(XCEL)) as simulation:

        @draws(500, st.lists(ACCESS, min_size=1, max_size=40))
        def check(accesses):
            responses = simulation.run(accesses, max_cycles=50_000).responses
            assert responses == XCEL.respond(machine.shape, machine.fl, accesses)

        check()


@regress
@parametrize("interface", (XCEL, AXI4LITE))
@parametrize("name, nbits, settings", KEYED)
def test_a_private_key_behind_registers(name, nbits, settings, interface):
    """All its numbers; inconsistent numbers are detected."""
    machine = machine_of(name, nbits, **settings)
    crt = machine.parameters["crt"]
    bad = wrong(machine, "qinv" if crt else "e")
    first, refused, third = outcomes(interface, machine, [good(machine), bad, good(machine, 5)])
    assert (first, third) == ((Status.OK, result(machine)), (Status.OK, result(machine, 5)))
    assert refused == machine.programmed.fl(bad) == (Status.BAD_KEY if crt else Status.FAULT, 0)


@parametrize("name, nbits, settings", KEYED)
def test_a_private_key_is_pushed(name, nbits, settings):
    """The cycles equal those without registers, and bits above a field give TOO_WIDE."""
    machine = machine_of(name, nbits, **settings)
    row, words = XCEL.requests(machine.shape, good(machine)), words_of(nbits)
    assert row[-1][1] != max(addr for _, addr, _ in row) == GIVEN + len(machine.given_fields) - 1
    # a machine with a key is not ready directly after reset: the second operation is timed
    flat = [*row, *row, *[(1, GIVEN, MASK)] * words, *row[-2 - words :]]
    run = ran(machine.wrapped(XCEL), flat, max_cycles=200_000)
    assert run.responses == XCEL.respond(machine.shape, machine.fl, flat)
    if nbits % 64:  # the last word of the first number has bits beyond its field
        assert run.responses[-1] == (0, Status.TOO_WIDE)
    go = flat.index((1, GO, 0), len(row))
    waits = machine.programmed.timing.loading_cycles
    assert run.accepted[go + 1] - run.accepted[go] == machine.cycles(*good(machine)[:3]) + waits + 2
