"""States: an enumeration of the reachable states; the Verilog has no others, and each is entered."""

import re

from modexlab.eval.designs.catalogue import find
from modexlab.fl.program.builder import program_of
from modexlab.rtl.keyed.sequencer import Sequencer
from modexlab.rtl.sim import lint, simulate, translate
from modexlab.rtl.states import STATES, states
from pymtl3 import Component, InPort, OutPort, Wire, mk_bits, update, update_ff

from tests.harness import case, parametrize
from tests.tables import mod_exp

CASES = [
    *(case(name, later=False) for name in ("mont", "systolic")),
    *(case(name) for name in ("mont-001", "mmred-004", "systolic-002", "serial-003", "serial-003-one")),
    case("serial"),
    case("mont", schedule="left-to-right"),
    case("mont-ct", conversion="square", doublings_per_cycle=1),  # has squarings
    case("naive", schedule="left-to-right"),
    case("ssmm", schedule="ladder"),
    case("mont-keyed", schedule="always"),
    case("systolic-002", digit_nbits=8, words=2),
]


@parametrize(
    "name, how",
    CASES,
)
def test_control_enters_its_states_and_no_other(name, how):
    """Controllers enter all named states, and sequencers all microinstructions of their program."""
    machine = find(name).at(8, **how)
    top = machine.rtl()
    with simulate(top, "python", trace=lambda *_: look()) as sim:
        parts = top.get_all_components()
        entered = {part: set() for part in parts if part.has_metadata(STATES) or isinstance(part, Sequencer)}

        def look():
            for part, seen in entered.items():
                seen.add(int(part.pc if isinstance(part, Sequencer) else part.st))

        sim.run([machine.carried(*row.request) for row in mod_exp.table(8)])
    assert entered
    for part, seen in entered.items():
        if not isinstance(part, Sequencer):
            assert seen == {*part.get_metadata(STATES).codes.values()}, f"{part!r} of {name} {how}"
            continue
        words = program_of(machine.plan.recipe(machine.design.domain)).words
        assert seen == {*range(len(words))}


class Counter(Component):
    """A controller that may have a state between two others."""

    def construct(s, detour):
        s.go = InPort()
        s.out = OutPort(2)
        s.st = Wire(2)
        s.next_st = Wire(2)
        IDLE, DETOUR, DONE = (mk_bits(2)(code) for code in (0, 1, 3))
        AFTER_IDLE = DETOUR if detour else DONE
        states(s.st, s.next_st, IDLE=0, **({"DETOUR": 1} if detour else {}), DONE=3)
        s.steady = Wire()
        s.steady //= 1

        @update
        def next_state():
            s.next_st @= IDLE
            if s.st == IDLE:
                if s.go:
                    s.next_st @= AFTER_IDLE
            elif (s.st == DETOUR) & s.steady:
                s.next_st @= DONE
            elif s.st == DETOUR:
                s.next_st @= IDLE
            elif s.st == DONE:
                s.next_st @= IDLE
                if ~(s.st != DETOUR):
                    s.next_st @= DETOUR

        @update_ff
        def state():
            if s.reset:
                s.st <<= IDLE
            else:
                s.st <<= s.next_st

        @update
        def outputs():
            s.out @= 0
            if (s.st == DETOUR) | (s.st == DONE):
                s.out @= 1
            elif s.st == IDLE:
                s.out @= 2


def test_verilog_has_an_enumeration_and_cases():
    text = translate(Counter(True))
    lint(text)
    assert re.findall(r"^    ([A-Z]+ = 2'd\d)", text, re.M) == ["IDLE = 2'd0", "DETOUR = 2'd1", "DONE = 2'd3"]
    assert "  state_e st;" in text and "localparam" not in text and "unique case (st)" in text
    assert "assign out = ((st == DETOUR) | (st == DONE)) ? 2'd1 : (st == IDLE) ? 2'd2 : 2'd0;" in text


def test_state_that_cannot_be_is_not_written():
    text = translate(Counter(False))
    lint(text)
    assert "DETOUR" not in text and "steady" not in text
    assert "if (go) begin\n          next_st = DONE;" in text and "DONE: next_st = IDLE;" in text
    assert "unique case (st)" in text and "default: ;" in text
    assert "assign out = (st == DONE) ? 2'd1 : (st == IDLE) ? 2'd2 : 2'd0;" in text


def test_machine_has_no_states_as_numbers():
    text = translate(find("ssmm-ct").at(8).rtl())
    (names,) = re.findall(r"module SerialCtrl \(\n.*?typedef enum logic \[1:0\] \{(.*?)\}", text, re.DOTALL)
    assert re.findall(r"(\w+) =", names) == ["IDLE", "STEP", "DONE"]
    assert not re.search(r"\bst (==|<=) \d", text)
