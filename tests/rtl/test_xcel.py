"""The accelerator protocol: the same programs at FL, over CL machines and in RTL at every stage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.interfaces import XCEL
from modexlab.fl.mod_exp import exponentiation
from modexlab.fl.status import Status
from modexlab.fl.xcel import GIVEN, GO, MASK, XcelFL
from modexlab.rtl.interfaces.xcel import Xcel
from modexlab.rtl.sim import Stall, simulate

from tests.harness import any_word, draws, later, one_now, parametrize, ran, regress_if, stamps
from tests.tables.keyed import EIGHT, FOUR, good, result, wrong
from tests.tables.xcel import programs

DESIGN = find("mont")


def golden(nbits, accesses, name="mont"):
    """The responses of the functional level."""
    machine = find(name).at(nbits)
    xcel = XcelFL(machine.shape, lambda *operands: machine.fl(*operands))
    answers = []
    for write, addr, data in accesses:
        if write:
            xcel.write(addr, data)
            answers.append((1, 0))
        else:
            answers.append((0, xcel.read(addr)))
    return answers


def run(component, nbits, stage, stall=None, name="mont"):
    """The stamps of each program, after checking its responses."""
    result = []
    with simulate(component, stage) as simulation:
        for program in programs(nbits, find(name).at(nbits).given_of):
            done = simulation.run(program.accesses, stall=stall)
            assert done.responses == golden(nbits, program.accesses, name), (program.name, stage)
            result.append(stamps(done))
    return result


def test_golden_is_not_the_adapter():
    """The functional model itself, on the paper's operands, against `pow`."""
    xcel = XcelFL(exponentiation(32), lambda *operands: DESIGN.at(32).fl(*operands))
    for addr, value in ((1, 1119317562), (2, 65537), (3, 2603398711), (0, 0)):
        xcel.write(addr, value)
    assert xcel.read(0) == pow(1119317562, 65537, 2603398711)
    assert (xcel.read(4), xcel.read(0), xcel.read(4)) == (0, 0, 6)


@parametrize("nbits", one_now((8, 32, 40, 64), 40))
@parametrize("stall", [None, Stall(seed=2, source=0.3, sink=0.3)], ids=["", "stalled"])
def test_levels_and_stages(nbits, stall):
    """CL machine and RTL machine behind the adapter agree in every stamp."""
    expected = run(Xcel(exponentiation(nbits), DESIGN.at(nbits).cl), nbits, "python", stall)
    assert run(DESIGN.at(nbits).wrapped(XCEL), nbits, "native", stall) == expected
    if nbits in (8, 40):
        for stage in ("python", "verilog"):
            assert run(DESIGN.at(nbits).wrapped(XCEL), nbits, stage, stall) == expected, stage


@parametrize("nbits", one_now((256, 1000, 2048), 256))
def test_long_operands(nbits):
    """Operands of many words, natively."""
    run(DESIGN.at(nbits).wrapped(XCEL), nbits, "native")


@parametrize(
    "design",
    [
        pytest.param(
            design,
            id=design.name,
            marks=regress_if(design.name not in ("serial-003", "dm-m-000"), of=design.name),
        )
        for design in designs()
    ],
)
def test_every_machine_is_an_accelerator(design):
    """`make test` has one with given numbers, and one with a fixed modulus; mont is in the other tests."""
    run(design.at(16).wrapped(XCEL), 16, "native", name=design.name)


ACCESS = st.tuples(st.integers(0, 1), st.sampled_from([0, 0, 1, 2, 3, 3, 4, 5, 17]), any_word(32))


def test_any_program():
    """Hypothesis: arbitrary accesses in any order are answered like the functional level, without hanging."""
    with simulate(DESIGN.at(40).wrapped(XCEL), "native") as simulation:

        @draws(500)
        @given(st.lists(ACCESS, min_size=1, max_size=40))
        def check(accesses):
            assert simulation.run(accesses, max_cycles=50_000).responses == golden(40, accesses)

        check()


@parametrize(
    "name, nbits, settings",
    [
        ("mont", 16, EIGHT),
        *later(("mont", 40, EIGHT), ("mont-ct", 72, FOUR), ("naive", 32, EIGHT), ("ssmm", 16, FOUR)),
    ],
)
def test_a_private_key_is_pushed(name, nbits, settings):
    """All its numbers; the cycles equal those without registers, inconsistent numbers are detected, and bits
    above a field give TOO_WIDE.
    """
    machine = find(name).at(nbits, **settings)
    bad = wrong(machine, "qinv" if machine.parameters["crt"] else "e")
    requests = [good(machine), bad, good(machine, 5)]
    expected = [(Status.OK, result(machine)), machine.programmed.fl(bad), (Status.OK, result(machine, 5))]
    assert expected[1][0] == (Status.BAD_KEY if machine.parameters["crt"] else Status.FAULT)
    rows = [XCEL.requests(machine.shape, request) for request in requests]
    assert rows[0][-1][1] != max(addr for _, addr, _ in rows[0]) == GIVEN + len(machine.given_fields) - 1
    spilt = [(1, GIVEN, MASK)] * (len(rows[0]) and -(-nbits // 32)) + rows[0][-2 - -(-nbits // 32) :]
    flat = [access for row in (*rows, spilt) for access in row]
    run = ran(machine.wrapped(XCEL), flat, max_cycles=200_000)
    assert run.responses == XCEL.respond(machine.shape, machine.fl, flat)
    first, second, third = (run.responses[i * len(rows[0]) : (i + 1) * len(rows[0])] for i in range(3))
    assert [XCEL.outcome(machine.shape, answers) for answers in (first, second, third)] == expected
    if nbits % 64:  # the last word of the first number has bits beyond its field
        assert run.responses[-1] == (0, Status.TOO_WIDE)
    go = flat.index((1, GO, 0))
    waits = machine.programmed.timing.loading_cycles
    assert run.accepted[go + 1] - run.accepted[go] == machine.cycles(*good(machine)[:3]) + waits + 2
