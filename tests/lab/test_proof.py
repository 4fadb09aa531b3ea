"""Proofs of units and machines: true properties are proved, and defects are disproved by counterexamples."""

import json
import random
import re
from dataclasses import replace

import pytest
from modexlab.eval.assurance.proof import benches, exhaustive, stream_checks, unit_contracts
from modexlab.eval.assurance.proof.check import NETLIST
from modexlab.eval.assurance.proof.machine_checks import placed_outcome, same_pace
from modexlab.eval.assurance.proof.mutants import first_refuted
from modexlab.eval.assurance.proof.registry import Proof, checks, classes, first_of_each_class
from modexlab.eval.assurance.proof.unit_checks import LATENCY, unit_checks
from modexlab.eval.designs.catalogue import designs, find
from modexlab.eval.designs.claims import Secret
from modexlab.eval.lab.store import reference_verdicts as reference
from modexlab.eval.lab.verdicts import PROC, Subject
from modexlab.flow.prove import assertions, mutants, registers
from modexlab.flow.prove.assertions import decide, spent
from modexlab.flow.prove.report import PROVED, REFUTED, UNDECIDED
from modexlab.rtl.sim import simulate
from modexlab.rtl.sim.ports import Message, Ports
from modexlab.rtl.units.add_red import AddRedCarrySave, AddRedKoc, AddRedTextbook
from modexlab.rtl.units.cond_sub import CondSub
from modexlab.rtl.units.div_rem import DivRem, DivStep
from modexlab.rtl.units.heap.full_adders import FullAdders
from modexlab.rtl.units.mod_double import ModDouble
from modexlab.rtl.units.mont_mul_rem import MontMulRem
from modexlab.rtl.units.shift_sub import ShiftSub, ShiftSubStep
from modexlab.rtl.units.square_of_r import SquareOfR
from modexlab.rtl.verilog.paths import instance_path
from modexlab.rtl.verilog.translate import design_of

from tests.flow.circuits import Circuit
from tests.harness import later, module_fixture, parametrize, refused, regress, regress_if

SECONDS = 60.0  # CPU time of a check
# a recorded proof may have taken nearly SECONDS; another machine may be a quarter as fast
RECHECK_SECONDS = 4 * SECONDS

UNITS = [
    lambda: AddRedCarrySave(4),
    lambda: DivStep(5),
    lambda: AddRedTextbook(5),
    lambda: AddRedKoc(5),
    lambda: CondSub(5),
    lambda: ShiftSubStep(4),
    lambda: FullAdders(3),
]


def of(unit, name=""):
    """The first check of a unit whose name contains `name`."""
    unit.elaborate()
    return next(check for check in unit_checks(unit) if name in check.name)


def outcome_of(check, *changes):
    """The outcome of a check after these changes to its text."""
    return check.run(SECONDS, *([changed(check.source()[0], *changes)] if changes else []))


def changed(text, *changes):
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def run(check):
    return outcome_of(check).verdict


def verdict_of(bench, cycles=None):
    return decide(bench, SECONDS, cycles).verdict


def one_at_a_time(design, cycles=5):
    return stream_checks.one_by_one(design, cycles, SECONDS)


def handshakes_of(design, cycles=8):
    return stream_checks.protocol(design, cycles, 1, SECONDS).verdict


def marked(makes, quick):
    """Parameters of a test; only the first `quick` of them run in `make test`."""
    return [
        pytest.param(make, id=type(make()).__name__, marks=regress_if(at >= quick))
        for at, make in enumerate(makes)
    ]


@parametrize("make", marked(UNITS, 2))
def test_contract_and_a_mutant(make):
    """The contract is proved; with one operator changed it is disproved, with a counterexample."""
    check = of(make())
    assert run(check) == PROVED
    assert first_refuted(check, SECONDS).outcome.counterexample


def test_every_digit_processor():
    """The one that does not reduce lacks the signals of a subtraction."""
    processors = checks(find("serial-003").at(8), ["DigitProcessor"])
    assert [run(check) for check in processors] == [PROVED, PROVED]


def test_inputs_that_refute_do():
    """One subtracted too many: the inputs of the counterexample give the wrong result in Python, too."""
    outcome = outcome_of(of(CondSub(4)), ("6'(value) - 6'(n)", "6'(value) - 6'(n) - 1"))
    assert outcome.verdict == REFUTED
    value, n = (outcome.counterexample[0][name] for name in ("value", "n"))
    assert value < 2 * n
    out = value if value - n - 1 < 0 else (value - n - 1) % 16
    assert out != value % n


def test_what_is_assumed_is_possible(monkeypatch):
    """A contract with contradictory conditions would prove anything, so it proves nothing."""
    impossible = replace(unit_contracts.CONTRACTS[CondSub], given=("value < n", "value > n"), holds=("0",))
    monkeypatch.setitem(unit_contracts.CONTRACTS, CondSub, impossible)
    assert run(of(CondSub(4))) == UNDECIDED


STREAMS = [lambda: ShiftSub(4, until="spent"), lambda: ModDouble(4, 4, 2), lambda: DivRem(4, 3)]


@parametrize("make", marked(STREAMS, 1))
def test_stream(make):
    assert run(of(make(), "handshakes")) == PROVED
    assert run(of(make(), "answers")) == PROVED


def test_answers_of_a_mutant():
    """A wrong step is disproved with operands."""
    check = of(MontMulRem(4, 2, 1, "textbook", False), "answers")
    assert run(check) == PROVED
    outcome = outcome_of(check, ("state <= steps__out[2]", "state <= steps__out[2] ^ 1"))
    (wrong,) = outcome.counterexample
    assert outcome.verdict == REFUTED
    assert wrong["answer"] * 16 % wrong["modulus"] != wrong["a"] * wrong["b"] % wrong["modulus"]


def test_the_slowest_answer_is_looked_for_under_every_modulus():
    """SquareOfR is faster for the largest modulus, for which one product is enough."""
    unit = SquareOfR(4)
    unit.elaborate()
    said = exhaustive.ANSWERS[SquareOfR](unit)
    cycles, room = stream_checks.StreamUnit(benches.Stream.of(unit), said).measured()
    with simulate(SquareOfR(4)) as simulation:
        taken = {n: max(simulation.run([0], statics={"modulus": n}).latencies) for n in range(1, 16)}
    assert cycles == max(taken.values()) and room == 1 and taken[15] < cycles


SECRET = Secret("all")
# a unit that adds 4 to its operand in four cycles, with places for defects
PLANTED = """
module planted (input clk, input reset, input [3:0] istream__msg, input istream__val, output istream__rdy,
    output [3:0] ostream__msg, output ostream__val, input ostream__rdy);
  reg [1:0] at, count; reg [3:0] value, free; reg dead;
  assign istream__rdy = at == 0 READY;
  assign ostream__val = at == 2;
  assign ostream__msg = ANSWER;
  always @(posedge clk) begin
    free <= free + 1;
    if (reset) begin at <= 0; dead <= 0; end
    else if (at == 0) begin
      if (istream__val READY) begin at <= 1; count <= 0; value <= istream__msg TAKEN; end
    end
    else if (at == 1) begin count <= count + 1; value <= value + 1; if (count == 3) at <= 2; end
    else if (at == 3) at <= 0;
    else if (ostream__rdy) begin at <= 0; dead <= 1; end
  end
endmodule
"""


def planted(answer="value", ready="", taken="", text=PLANTED, statics=()):
    text = text.replace("ANSWER", answer).replace("READY", ready).replace("TAKEN", taken)
    return benches.Stream(text, "planted", Ports(Message(4, (("all", 4),)), Message(4), statics))


def kept(design):
    """The verdicts on its handshakes, and on whether its answer depends only on its request."""
    sources, _ = stream_checks.behind(design, stream_checks.OUTPUTS, through=True)
    alone, steady = benches.alone(design, sources), benches.steady(design, sources)
    return [handshakes_of(design), verdict_of(alone, 2), verdict_of(steady, 2)]


@parametrize(
    "cycles, ready, expected",
    [
        (8, "", True),
        (8, "&& !dead", False),
        *later((2, "", True), (1, "", False), (8, "|| at == 1", False)),
    ],
)
def test_one_request_after_the_other(cycles, ready, expected):
    """A request is answered within four times `cycles`. A late answer, a unit that is not ready again, and a
    unit that accepts two requests do not pass.
    """
    assert (one_at_a_time(planted(ready=ready), cycles) is not None) == expected


@regress
def test_what_is_not_one_request_after_the_other():
    """The unit has no answer for a request, or answers twice."""
    counting = "count <= count + 1; value <= value + 1; if (count == 3) at <= 2;"
    for change in (
        (counting, f"if (ostream__rdy) begin {counting} end"),  # waits until its consumer is ready
        (counting, f"{counting} if (count == 1 && !ostream__rdy) at <= 0;"),  # loses a request
        # ignores a request that it has accepted
        ("if (istream__val READY)", "if (istream__val && ostream__rdy)"),
    ):
        blind = planted(text=changed(PLANTED, change))
        assert one_at_a_time(blind, 8) is None
        assert handshakes_of(blind) == REFUTED
    again = planted(text=changed(PLANTED, ("at <= 0; dead <= 1;", "at <= dead ? 0 : 2; dead <= 1;")))
    assert one_at_a_time(again, 8) is None


# a unit that examines a request for a cycle before it accepts it, and answers in the third cycle after that
LOOKING = """
module planted (input clk, input reset, input [3:0] istream__msg, input istream__val, output istream__rdy,
    output [3:0] ostream__msg, output ostream__val, input ostream__rdy);
  reg [2:0] at; reg [3:0] value;
  assign istream__rdy = at == 1;
  assign ostream__val = at == 4;
  assign ostream__msg = value;
  always @(posedge clk)
    if (reset) at <= 0;
    else case (at)
      0: if (istream__val) at <= 1;
      1: begin value <= istream__msg; at <= 2; end
      2: at <= 3;
      3: at <= 4;
      4: if (ostream__rdy) at <= 0;
      default: ;
    endcase
endmodule
"""


DONE = "4: if (ostream__rdy) at <= 0;"


@parametrize(
    "old, new",
    [
        pytest.param(old, new, id=name, marks=regress_if(old != new))
        for old, new, name in (
            (DONE, DONE, "right"),
            (DONE, "4: if (ostream__rdy) at <= istream__val ? 5 : 0;", "dead where a request waits"),
            (DONE, "4: if (ostream__rdy) at <= istream__val ? 2 : 0;", "does not take what it answers"),
            (DONE, "4: if (ostream__rdy | istream__val) at <= 0;", "an answer is lost"),
            ("at == 1;", "at == 1 || at == 2;", "takes two"),
            ("1: begin", "1: if (!istream__msg[0]) at <= 0; else begin", "forgets what it has taken"),
            ("3: at <= 4;", "3: at <= ostream__rdy ? 4 : 3;", "waits for who waits for it"),
        )
    ],
)
def test_a_request_that_is_looked_at_first(old, new):
    """A unit that examines a request first has one request in flight if requests stay valid, unless it
    behaves differently while the next one waits.
    """
    design = looking((old, new))
    alone = one_at_a_time(design)
    assert (alone is None) == (old != new)
    if alone is not None:
        assert alone.looks and alone.same_time(design, SECRET, SECONDS).verdict == PROVED


def looking(*changes, statics=()):
    ports = "".join(f"input [{kind.nbits - 1}:0] {name}, " for name, kind in statics)
    text = changed(LOOKING, *changes, ("input reset, ", f"input reset, {ports}"))
    return planted(text=text, statics=statics)


def test_an_answer_that_comes_because_nobody_takes_it():
    """The time is the same for all secrets only if each answer is accepted at once."""
    early = looking(
        ("assign istream__rdy = at == 1;", "wire early = at == 1 && !ostream__rdy && value[0];"),
        ("assign ostream__val = at == 4;", "assign istream__rdy = at == 0, ostream__val = at == 4 || early;"),
        ("0: if (istream__val) at <= 1;", "0: if (istream__val) begin at <= 1; value <= istream__msg; end"),
        ("1: begin value <= istream__msg; at <= 2; end", "1: at <= early ? 4 : 2;"),
    )
    assert verdict_of(benches.same_time(early, SECRET)) == REFUTED
    assert one_at_a_time(early) is None


@regress
def test_a_static_port_may_change_while_a_request_is_looked_at():
    mode = (("mode", Message(4)),)
    taken = "1: begin value <= istream__msg; at <= "
    seen = (
        ("reg [3:0] value;", "reg [3:0] value, seen;"),
        ("0: if (istream__val) at <= 1;", "0: if (istream__val) begin at <= 1; seen <= mode; end"),
    )
    assert one_at_a_time(looking(*seen, statics=mode)) is not None
    dead = looking(*seen, (f"{taken}2", f"{taken}mode == seen ? 2 : 5"), statics=mode)
    assert one_at_a_time(dead) is None
    assert handshakes_of(dead, 5) == REFUTED


@regress
def test_readiness_shows_a_secret_while_nobody_asks():
    """A request that is withdrawn reveals the secret as well, by its time: the proof states that requests
    stay valid.
    """
    shown = looking(("at == 1;", "at == 1 || at == 0 && !istream__val && value[0];"))
    alone = one_at_a_time(shown)
    assert alone is None or alone.same_time(shown, SECRET, SECONDS).verdict == UNDECIDED
    gone = looking(
        ("0: if (istream__val) at <= 1;", "0: if (istream__val) begin at <= 1; value <= istream__msg; end"),
        (
            "1: begin value",
            "6: at <= 0;\n      1: if (!istream__val) at <= value[0] ? 6 : 0; else begin value",
        ),
    )
    alone = one_at_a_time(gone)
    outcome = alone.same_time(gone, SECRET, SECONDS)
    assert outcome.verdict == PROVED and outcome.how.endswith(stream_checks.ONLY_IF_HELD)


@regress
def test_a_name_is_no_pattern():
    """The initial value of g[0].r is that after a reset; g0.r keeps an arbitrary one."""
    text = changed(
        LOOKING,
        ("reg [2:0] at;", "reg [2:0] at; reg dead;"),
        ("if (reset) at <= 0;", "if (reset) begin at <= 0; dead <= 0; end"),
        (DONE, "4: if (ostream__rdy) begin at <= 0; dead <= 1; end"),
        ("0: if (istream__val)", "0: if (istream__val && !dead)"),
    )
    for name, register, verdict in (("dead", "dead", PROVED), ("g0", "g[0]", REFUTED)):
        bench = benches.one_looked_at(planted(text=text.replace("dead", name)), 5)
        initial = {"unit.at": 0, f"unit.{register}": 0}
        assert decide(bench, SECONDS, 7, initial=initial).verdict == verdict


@regress
def test_what_an_answer_must_not_come_of():
    """An answer must not depend on whether its consumer is ready when the request is accepted. A free-running
    register is allowed where it is not visible.
    """
    assert kept(planted()) == [PROVED] * 3
    assert kept(planted(taken="^ {4{ostream__rdy}}")) == [PROVED, REFUTED, PROVED]
    assert kept(planted("at == 2 ? value : free"))[0] == PROVED
    assert kept(planted("value + free"))[0] == REFUTED
    assert kept(planted(ready="&& !dead")) == [REFUTED, PROVED, PROVED], "never ready again"


def test_answers_of_two_in_any_two_states():
    """Two copies have the same answer in the cycles of an answer, unless it depends on a left-over register
    or on the readiness of the consumer.
    """

    def found(design, cycles=5):
        return verdict_of(benches.same_answer(design, cycles, (0, 1)), cycles + 1)

    assert found(planted()) == PROVED
    assert found(planted(), 4) == REFUTED
    assert found(planted(taken="^ {4{ostream__rdy}}")) == found(planted("value + free")) == REFUTED


@regress
def test_handshakes_of_a_mutant():
    """An answer that does not wait, or a unit that forgets its computation, is disproved."""
    check = of(ModDouble(4, 4, 2), "handshakes")
    assert run(check) == PROVED and first_refuted(check, SECONDS).refuted


def test_conditions_are_those_of_both_languages():
    """Native checks and proofs make the same assumptions: exactly the operands of the native checks satisfy
    the conditions in SystemVerilog.
    """
    unit = MontMulRem(2, 2, 1, "textbook", False)
    unit.elaborate()
    said = exhaustive.ANSWERS[MontMulRem](unit)
    ports = Ports.of(unit)
    asked = {
        (sweep.statics["modulus"], int(a), int(b))
        for sweep in said.sweeps(ports)
        for a, b in zip(*sweep.fields, strict=True)
    }
    assert asked == {(3, a, b) for a in range(4) for b in range(3)}
    listed = " || ".join(f"modulus == {n} && a == {a} && b == {b}" for n, a, b in asked)
    condition = " && ".join(f"({item})" for item in said.conditions)
    text = (
        f"module proof(input [1:0] modulus, a, b); always @* assert (({condition}) == ({listed})); endmodule"
    )
    assert verdict_of(text) == PROVED


@module_fixture
def units():
    """A check of each class of units, in a design that contains it by default or by a setting."""
    return {check.name.split()[0]: check for _, check in first_of_each_class(8)}


@regress
def test_each_unit_has_a_contract(units):
    """Each contract also belongs to a unit."""
    assert units.keys() == classes()
    assert [name for name, check in units.items() if not check.says] == []


@regress
@parametrize("name", sorted(classes()))
def test_a_mutant_of_each_unit(name, units):
    """The unit is proved, and one of its mutants is killed."""
    assert run(units[name]) == PROVED
    assert first_refuted(units[name], SECONDS).refuted


def planting(monkeypatch, changes):
    """Replace the mutants of a text by these changes, in order, each with its name."""

    def changed(verilog, _):
        assert all(verilog.count(old) == 1 for old, _ in changes.values())
        return [mutants.Mutant(verilog.replace(*change), name) for name, change in changes.items()]

    monkeypatch.setattr("modexlab.eval.assurance.proof.mutants.mutants", changed)
    monkeypatch.setattr("modexlab.eval.assurance.proof.mutants.GOLDEN", 0)


def test_what_a_fault_is_told_as(monkeypatch):
    """Mutants that do not elaborate, are equivalent, differ outside the contract, or are killed."""
    planting(
        monkeypatch,
        {
            "no text": ("? value[3:0]", "? value["),
            "a loop": ("6'(value) - 6'(n)", "difference - 6'(n)"),
            "the same": ("6'(value) - 6'(n)", "6'(value) - 6'(n) + 6'd0"),
            "above 2n": (": difference[3:0]", ": 6'(value) >= {1'd0, n, 1'd0} ? n : difference[3:0]"),
            "wrong": ("? value[3:0]", "? n"),
        },
    )
    found = first_refuted(of(CondSub(4)), SECONDS)
    assert found.refused == 2
    assert found.same == ["the same"]
    assert found.unseen == ["above 2n"]
    assert found.what == "wrong"
    planting(monkeypatch, {"the same": ("6'(value) - 6'(n)", "6'(value) - 6'(n) + 6'd0")})
    assert not first_refuted(of(CondSub(4)), SECONDS).refuted


def test_a_unit_that_ignores_its_modulus_is_refuted():
    """It is checked like a unit that reads its modulus, and the counterexample has operands."""
    outcome = outcome_of(of(ShiftSub(4, until="spent"), "answers"), (".n(modulus)", ".n(4'd9)"))
    (wrong,) = outcome.counterexample
    assert wrong["answer"] == wrong["a"] * wrong["b"] % 9 != wrong["a"] * wrong["b"] % wrong["modulus"]


def test_units_are_those_of_the_design():
    machine = find("mont").at(8)
    names = {check.name.split()[0] for check in checks(machine, ["units"])}
    assert names == {"ModDouble", "CondSub", "MontMulRem", "AddRedKoc"}
    with refused("give one of units, protocol, axi4lite, time, refusal, zeroise, netlist, placed, ModDouble"):
        checks(machine, ["AddRedTextbook"])


# designs whose products are computed by the machine itself; systolic-002 contains the array, not SystolicMont
NO_PRODUCT_UNIT = {
    "fold": "r and b are in its stages alone",
    "fold-ct": "r and b are in its stages alone",
    "serial": "its operands are in the machine's",
    "serial-003": "its operands are in the machine's",
    "serial-003-one": "its operands are in the machine's",
    "systolic": "words come and go in the order",
    "systolic-002": "the machine contains no SystolicMont",
    "tiny": "its operands are in the machine's registers",
    "tiny-ct": "its operands are in the machine's registers",
}


@regress
def test_each_promised_latency_is_asked_or_reported():
    """A unit answers in exactly the promised cycles, or an undecided check states why none is checked."""
    reported = {}
    for design in designs():
        machine = design.at(16)
        unit = machine.build.unit
        if unit.timing.fixed is None:
            continue
        hardware = machine.rtl()
        hardware.elaborate()
        found = list(unit_checks(hardware, (unit, machine.plan.nbits)))
        exact = (f"; in {unit.timing.fixed} cycles", "; in the same number of cycles")
        if not any(check.says.endswith(exact) for check in found):
            (check,) = (check for check in found if check.name == LATENCY)
            outcome = outcome_of(check)
            assert outcome.verdict == UNDECIDED
            reported[design.name] = outcome.how
    assert reported.keys() == NO_PRODUCT_UNIT.keys()
    assert all(why in reported[name] for name, why in NO_PRODUCT_UNIT.items())


# declarations outside modules, which two texts side by side would both make
GLOBAL = """
`default_nettype none
package shared; // typedef struct { package other; }
  typedef enum logic { EVEN = 1'd0, ODD = 1'd1 } parity_e;
  localparam int ONE = 1;
endpackage
localparam logic [3:0] STEP = 4'd3;
typedef enum logic [1:0] {
  IDLE = 2'd0,  // waits
  BUSY = 2'd2
} global_e;
typedef struct packed {
  global_e state;
  shared::parity_e parity;
} both_t;
module part #(parameter int WIDTH = 4) (input logic clk, output logic [WIDTH - 1:0] value);
  always_ff @(posedge clk) value <= value + STEP;
endmodule
module whole (input logic clk, input logic [1:0] IDLE_in, output both_t both);
  typedef enum logic {WAIT, GO} state_e;
  state_e state;
  logic [3:0] value;
  part #(.WIDTH(4)) counter (.clk(clk), .value(value));
  always_ff @(posedge clk) state <= state == WAIT ? GO : WAIT;
  assign both.state = IDLE_in == IDLE ? BUSY : global_e'(IDLE_in);
  assign both.parity = value[0] ^ shared::ONE ? shared::EVEN : shared::ODD;
endmodule
`default_nettype wire
"""


@parametrize(
    "change, verdict",
    [
        (("WAIT ? GO : WAIT", "GO ? WAIT : GO"), PROVED),
        *later(
            (("STEP = 4'd3", "STEP = 4'd5"), REFUTED),
            (("BUSY = 2'd2", "BUSY = 2'd3"), REFUTED),
            (("EVEN = 1'd0, ODD = 1'd1", "EVEN = 1'd1, ODD = 1'd0"), REFUTED),
            (("ONE = 1;", "ONE = 0;"), REFUTED),
            (("value + STEP", "value - STEP"), REFUTED),
        ),
    ],
)
def test_texts_that_declare_the_same_names(change, verdict):
    """Each module reads the types, constants and packages of its own text."""
    found = registers.read(GLOBAL, "whole")
    stored, _ = found.behind(["both"], through=True)
    stored |= {"state": 1}
    other = changed(GLOBAL, change)
    bench = benches.same(GLOBAL, other, "whole", found.ports("input"), found.ports("output"), stored)
    assert verdict_of(bench, 2) == verdict


@pytest.fixture
def heap_check():
    return of(find("heap").at(8).rtl(), "BitHeap")


def test_heap_adds_up(heap_check):
    """Proved by algebra; with two rows one place too low it is disproved."""
    assert run(heap_check) == PROVED and first_refuted(heap_check, SECONDS).refuted


def test_columns_without_a_bit_hold_ones(heap_check):
    """With zeros in place of ones, the sum of a heap of complements is wrong."""
    text, _ = heap_check.source()
    other = re.sub(r"\b(\d+'d)[1-9]\d*(?=[,};])", r"\g<1>0", text)
    assert other != text
    assert heap_check.run(SECONDS, other).verdict == REFUTED


@regress
@parametrize("name", ["protocol", "time schedule=always", "time", "time schedule=ladder"])
def test_machine(name):
    """mont at 8 bits keeps its handshakes, and takes the same time for all exponents of a length."""
    (check,) = [check for check in checks(find("mont").at(8)) if check.name == name]
    assert run(check) == PROVED


def test_a_machine_whose_time_depends_on_the_exponent():
    """It multiplies only for ones of the exponent."""
    machine = find("mont").at(8, schedule="left-to-right")
    outcome = outcome_of(checks(machine, ["time"])[0])
    assert outcome.verdict == REFUTED
    first, second = outcome.counterexample
    assert first["exp"].bit_length() == second["exp"].bit_length()
    taken = [machine.cycles(entry["base"], entry["exp"], entry["mod"]) for entry in (first, second)]
    assert taken == [first["cycles"], second["cycles"]] and taken[0] != taken[1]


# a unit that answers after four cycles, or after the number of cycles in its request
TAKING = """
module taking (input clk, input reset, input [5:0] istream__msg, input istream__val, output istream__rdy,
    output ostream__msg, output ostream__val, input ostream__rdy);
  reg busy; reg [2:0] left;
  assign istream__rdy = !busy;
  assign ostream__val = busy & left == 0;
  assign ostream__msg = 0;
  always @(posedge clk)
    if (reset) busy <= 0;
    else if (istream__val & istream__rdy) begin busy <= 1; left <= CYCLES; end
    else if (left != 0) left <= left - 1;
    else if (ostream__rdy) busy <= 0;
endmodule
"""


def taking(*changes):
    ports = Ports(Message(6, (("other", 3), ("exp", 3))), Message(1), ())
    return benches.Stream(changed(TAKING, *changes), "taking", ports)


HIGHEST = "istream__msg[2] ? 3 : istream__msg[1] ? 2 : istream__msg[0]"


@parametrize(
    "cycles, lengths, same",
    [
        ("istream__msg[2:0]", False, False),
        *later(
            (HIGHEST, True, True),
            ("4", False, True),
            ("istream__msg[5:3]", False, True),
            (HIGHEST, False, False),
        ),
    ],
)
def test_two_copies_of_which_the_secret_differs(cycles, lengths, same):
    """Two copies with different secrets, of a unit whose time depends on the secret or on its highest 1, take
    different times.
    """
    design = taking(("CYCLES", cycles))
    secret = Secret("exp", lengths)
    found = (
        verdict_of(benches.same_time(design, secret)),
        same_pace(design, secret, SECONDS).verdict,
        one_at_a_time(design, 8).same_time(design, secret, SECONDS).verdict,
    )
    assert found == ((PROVED,) * 3 if same else (REFUTED, UNDECIDED, UNDECIDED))


@regress
def test_a_secret_that_is_taken_in_while_reset_is_on():
    design = taking(
        ("if (reset) busy <= 0;", "if (reset) begin busy <= 0; first <= istream__msg[2:0]; end"),
        ("reg busy;", "reg busy; reg [2:0] first;"),
        ("CYCLES", "first"),
    )
    assert same_pace(design, Secret("exp"), SECONDS).verdict == UNDECIDED
    assert verdict_of(benches.same_time(design, Secret("exp"))) == REFUTED


ROW = """
module row (input clk, input reset, input [3:0] istream__msg, input istream__val, output istream__rdy,
    output [3:0] ostream__msg, output ostream__val, input ostream__rdy);
  wire [3:0] msg; wire val, rdy;
  planted one(.clk(clk), .reset(reset),
    .istream__msg(istream__msg), .istream__val(istream__val), .istream__rdy(istream__rdy),
    .ostream__msg(msg), .ostream__val(val), .ostream__rdy(rdy));
  planted two(.clk(clk), .istream__msg(msg), .istream__rdy(rdy), .istream__val(JOINED),
    .ostream__msg(ostream__msg), .ostream__val(ostream__val), .ostream__rdy(ostream__rdy));
endmodule
"""


@parametrize(
    "joined, ready, expected",
    [
        ("val), .reset(reset", "", True),
        ("val), .reset(1'b0", "", False),
        ("val & msg[0]), .reset(reset", "", False),
        *later(("val), .reset(reset", "&& !dead", False)),
    ],
)
def test_units_in_a_row(joined, ready, expected):
    """Units in series keep their handshakes, and each accepts the output of the one before."""
    unit = planted(ready=ready)
    design = replace(unit, verilog=unit.verilog + ROW.replace("JOINED", joined), top="row")
    parts = dict.fromkeys(("one", "two"), replace(design, top="planted"))
    assert (stream_checks.in_a_row(design, parts, 8, SECONDS) is not None) == expected


@regress
def test_where_a_proof_begins_is_where_a_reset_ends():
    """A unit that hangs if its first request arrives in the first cycle: the proof must start in the state at
    the end of a reset, not in a later one.
    """
    text = changed(
        PLANTED,
        ("reg dead;", "reg dead; reg x;"),
        ("dead <= 1;", ""),
        ("free <= free + 1;", "free <= free + 1; if (!reset) x <= 0; else x <= istream__val;"),
        ("at <= 0; dead <= 0; end", "at <= 0; dead <= 0; end else if (x) dead <= 1;"),
    )
    design = planted(ready="&& !x && !dead", text=text)
    assert one_at_a_time(design, 8) is None
    assert handshakes_of(design) == REFUTED


@parametrize(
    "name, nbits",
    later(("mont-ct", 8), ("heap", 8), ("heap", 32)),
)
def test_a_machine_by_what_its_handshakes_hang_on(name, nbits):
    """Handshakes and time of machines, of heap also at 32 bits: the datapath is not examined."""
    machine = find(name).at(nbits)
    names = ["time", "protocol"]
    found = [outcome_of(check) for check in checks(machine, names) if check.name in names]
    assert [outcome.verdict for outcome in found] == [PROVED, PROVED]
    assert all("behind the handshakes" in outcome.how for outcome in found)


def test_placed_netlist(tmp_path):
    """A placed netlist equals the one before placement; with two outputs exchanged it does not."""
    circuit = Circuit("top", "a:2", "x y")
    circuit.add("both", "AND2_X1", A1="a[0]", A2="a[1]", ZN="x")
    circuit.add("one", "INV_X1", A="a[0]", ZN="y")
    before, after = tmp_path / "netlist.json", tmp_path / "netlist_placed.json"
    before.write_text(circuit.json)
    after.write_text(circuit.json)
    assert placed_outcome(before, after).verdict == PROVED
    document = json.loads(circuit.json)
    ports = document["modules"]["top"]["ports"]
    ports["x"], ports["y"] = ports["y"], ports["x"]
    after.write_text(json.dumps(document))
    outcome = placed_outcome(before, after)
    assert outcome.verdict == REFUTED and "is on another net" in outcome.how


def test_undecided():
    """An identity of products of two words is undecided after a second."""
    text = """
    module proof(input [23:0] a, b);
      wire [47:0] p = a * b, q = (a + b) * (a + b), d = (a - b) * (a - b);
      always @* assert (48'(a) * 48'(b) * 4
        == (48'(a) + 48'(b)) * (48'(a) + 48'(b)) - (48'(a) - 48'(b)) * (48'(a) - 48'(b)));
    endmodule
    """
    assert decide(text, 1).verdict == UNDECIDED


COUNTER = """
module proof(input clk, input up);
  logic [5:0] at = 0;
  always_ff @(posedge clk) if (up) at <= at == 40 ? 0 : at + 1;
  always_comb assert (at != 50);
endmodule
"""
CHECKED = "Verification of invariant with 5 clauses was successful.\n"


@parametrize(
    "log, verdict",
    [
        (CHECKED + "Property proved.  Time = 0.02 sec\n", PROVED),
        ("Property proved.  Time = 0.02 sec\n", UNDECIDED),
        ("Verification of 2 clauses has failed.\nProperty proved.\n", UNDECIDED),
        ("Output 0 of miter was asserted in frame 3.", REFUTED),
    ],
)
@parametrize("ended", [True, False])
def test_what_the_output_of_abc_says(log, verdict, ended, monkeypatch):
    """The log decides even after a timeout; an invariant must have been checked."""
    monkeypatch.setattr(assertions, "run_abc", lambda *_: (log, ended))
    assert decide(COUNTER, 20).verdict == verdict


def test_an_invariant_is_checked():
    assert "inductive invariant" in decide(COUNTER, 20).how


CUT = """\
module proof (input clk);
  reg [2:0] pc = 0;
  reg val, was = 0, was_not = 1;
  always_comb begin
    case (pc)
      3'd1, 3'd3, 3'd5: val = 0;
      default: val = 1;
    endcase
  end
  always @(posedge clk) begin
    pc <= pc + 1;
    was <= val;
    was_not <= !val;
  end
  always @* assert (was_not != was);
endmodule
"""


@parametrize("free", [(), ("val",)])
def test_a_free_net_is_free_in_its_complement(free):
    """An optimiser derives `!val` from pc rather than from val; it must not do so before val is cut."""
    assert decide(CUT, 20, free=free).proved


def test_nothing_to_prove():
    with refused("nothing to prove"):
        decide("module proof(input clk, output x); assign x = clk; endmodule", 5)


def test_mutants_are_of_the_module_alone():
    text = "module a\n  x = y + z;\nendmodule\nmodule b\n  if (x == y[3]) begin // + - \n"
    text += "  z = p ? q : r ? y == w ? 1 : 0 : x;\nendmodule\n"
    found = [mutant.what for mutant in mutants.mutants(text, "b")]
    assert found == [
        "line 5: == is != in `if (x == y[3]) begin`",
        "line 5: 3 is 2 in `if (x == y[3]) begin`",
        "line 5: the condition x == y[3] of `if (x == y[3]) begin` is inverted",
        "line 6: == is != in `z = p ? q : r ? y == w ? 1 : 0 : x;`",
        "line 6: the condition p of `z = p ? q : r ? y == w ? 1 : 0 : x;` is inverted",
        "line 6: the condition r of `z = p ? q : r ? y == w ? 1 : 0 : x;` is inverted",
    ]


@regress
@parametrize("name", ["mont", "mont-ct", "ssmm-ct", "mm-m-000", "heap"])
def test_all_of_a_machine(name):
    """No check of a machine with 8 bits finds a counterexample."""
    found = [check for check in checks(find(name).at(8)) if check.kind != NETLIST]
    assert not [item.name for item in found if run(item) == REFUTED]


@regress
@parametrize("name", [design.name for design in designs()])
def test_checks_of_units_are_in_the_reference(name):
    known = reference.recorded()
    assert all((name, 8, check.name) in known for check in checks(find(name).at(8), ["units"]))


SAMPLES = 20  # each is a test, which `--part` assigns to one part of the long regression


def test_units_are_in_a_loop_of_one_module_and_not_of_another():
    machine = find("mont-001").at(8).rtl()
    machine.elaborate()
    paths = [instance_path(design_of(machine), f"{part}.units[1]") for part in ("convert_in", "mod_exp")]
    assert paths == ["convert_in.units__1", "mod_exp.gen_units[1].unit"]


@regress
@parametrize("sample", range(SAMPLES))
def test_what_was_proved_is_proved(sample):
    """Each recorded proof is in one sample; a run checks part of a sample, in limited CPU time."""
    known = reference.recorded()
    keys = sorted(key for key, verdict in known.items() if verdict == PROVED and key[0] != PROC)
    random.Random(1).shuffle(keys)
    drawn, began, verdicts = keys[sample::SAMPLES], spent(), []
    random.shuffle(drawn)
    for name, nbits, check_name in drawn:
        machine = find(name).at(nbits)
        check = {check.name: check for check in checks(machine)}[check_name]
        verdicts.append(Proof(check, check.run(RECHECK_SECONDS)).of(Subject.of(machine)))
        if spent() - began > SECONDS / 2:  # the budget of a sample; the check that exceeds it is its last
            break
    assert not reference.lost(verdicts)


@regress
@parametrize("nbits", [32, 64])
@parametrize("make", [AddRedTextbook, AddRedKoc, AddRedCarrySave], ids=lambda make: make.__name__)
def test_wide_steps(make, nbits):
    assert run(of(make(nbits))) == PROVED
