"""Codes that cross ports: one enumeration, the type of all signals that hold one."""

import re
from enum import IntEnum

from modexlab.rtl.messages import connect_fields
from modexlab.rtl.sim import lint, translate
from pymtl3 import Bits1, Bits2, Component, InPort, OutPort, Wire, b2, bitstruct, update, update_ff

from tests.harness import later, parametrize
from tests.programs import EVERYTHING, machine_of
from tests.rtl.sim.test_readers import icarus, prove_equal


@parametrize(
    "name, how, kinds",
    [
        ("serial", {}, {"op", "turn", "destination", "status"}),
        *later(
            ("heap", {}, {"convert_kind", "status"}),
            ("systolic", {}, {"source", "status"}),
            ("mont-keyed", EVERYTHING, {"status"}),  # a microinstruction has one, too
        ),
    ],
)
def test_a_set_of_codes_is_declared_once(name, how, kinds):
    """No other enumeration has its values, no module a constant for one, and no status is a number."""
    text = translate(machine_of(name, 32, **how).rtl(), assertions=True)
    package, _, modules = text.partition("\nendpackage\n")
    sets = {}
    for values, kind in re.findall(r"^  typedef enum [^{]*\{([^}]*)\} (\w+)_e;", package, re.MULTILINE):
        sets[kind] = frozenset(re.findall(rf"\b{kind.upper()}_(\w+) =", values))
    assert kinds <= sets.keys() and all(len(sets[kind]) > 1 for kind in kinds)
    local = [
        frozenset(re.findall(r"(\w+) =", one))
        for one in re.findall(r"^  typedef [^}]*", modules, re.MULTILINE)
    ]
    constants = set(re.findall(r"localparam .*\b(\w+) =", text))
    for kind in kinds:
        assert [*sets.values(), *local].count(sets[kind]) == 1
        assert not sets[kind] & constants
    assert not re.search(r"logic \[3:0\] \w*status\b|status (==|!=|<=) \d", text)


Mode = IntEnum("Mode", "OFF SLOW FAST", start=0)
OFF, SLOW, FAST = map(b2, Mode)


def mode_ports(s):
    s.go = InPort()
    s.raw = InPort(2)
    s.mode = OutPort(2)
    s.mixed = OutPort(2)
    s.fast = OutPort()


class Chooser(Component):
    """Sends one mode by name, and one from a sum."""

    def construct(s):
        mode_ports(s)
        INITIAL = SLOW

        @update_ff
        def choose():
            s.mode <<= FAST if s.go else s.mode
            if s.reset:
                s.mode <<= INITIAL

        @update
        def send():
            s.mixed @= s.raw + 1
            s.fast @= s.mixed == FAST


class Modes(Component):
    def construct(s):
        mode_ports(s)
        s.off = OutPort()
        s.got = Wire(2)
        s.inner = Chooser()
        connect_fields(s, s.inner, "go", "raw", "mixed", "fast")
        s.got //= s.inner.mode

        @update
        def look():
            s.off @= s.got == OFF
            s.mode @= s.got


def test_signals_whose_sources_are_codes_have_the_type(tmp_path):
    """Through ports, and by constants of other names; not sums, nor ports of the top module."""
    text = translate(Modes(), "top", assertions=True)
    lint(text)
    (tmp_path / "top.sv").write_text(text)
    assert icarus(tmp_path / "top.sv", "top", tmp_path / "top.vvp") == []
    ports = re.findall(r"^  (?:in|out)put +(.*) (\w+?),?$", text, re.MULTILINE)
    assert ("logic [1:0]", "mode") in ports and ("top_pkg::mode_e", "mode") in ports
    assert {kind for kind, port in ports if port in ("raw", "mixed")} == {"logic [1:0]"}
    assert (
        "mode <= top_pkg::MODE_SLOW;" in text and "== top_pkg::MODE_OFF" in text and "localparam" not in text
    )


@bitstruct
class Request:
    go: Bits1
    gear: Bits2


class Gearbox(Component):
    """Chooses codes: of a field, of an output, and by nested choices."""

    def construct(s):
        s.slow = InPort()
        s.request = InPort(Request)
        s.gear = OutPort(2)
        s.last = OutPort(2)
        s.fast = OutPort()

        @update
        def choose():
            # a request comes first
            s.gear @= s.request.gear if s.request.go else (SLOW if s.slow else FAST)

        @update
        def keep():
            s.last @= OFF if s.slow & ~s.request.go else s.gear

        @update
        def compare():
            s.fast @= (s.last == FAST) | (s.gear == SLOW) | (s.request.gear == OFF)


class Car(Component):
    def construct(s):
        s.slow = InPort()
        s.request = InPort(Request)
        s.fast = OutPort()
        s.codes = OutPort(4)
        s.gearbox = Gearbox()
        connect_fields(s, s.gearbox, "slow", "request", "fast")
        s.codes[0:2] //= s.gearbox.gear
        s.codes[2:4] //= s.gearbox.last


CHOICES = """\
  top_pkg::mode_e gear_of_request;
  top_pkg::mode_e copy_of_gear;

  assign gear_of_request = request.gear;

  // a request comes first
  always_comb begin : select_gear
    if (request.go) begin
      gear = gear_of_request;
    end else if (slow) begin
      gear = top_pkg::MODE_SLOW;
    end else begin
      gear = top_pkg::MODE_FAST;
    end
  end

  assign copy_of_gear = gear;

  always_comb begin : select_last
    if (slow & ~request.go) begin
      last = top_pkg::MODE_OFF;
    end else begin
      last = copy_of_gear;
    end
  end
"""
AS_NUMBERS = """\
module top (
  input clk, input reset, input slow, input [2:0] request, output fast, output [3:0] codes
);
  wire [1:0] gear = request[2] ? request[1:0] : slow ? 2'd1 : 2'd2;
  wire [1:0] last = slow & ~request[2] ? 2'd0 : gear;
  assign codes = {last, gear};
  assign fast = last == 2'd2 | gear == 2'd1 | request[1:0] == 2'd0;
endmodule
"""


def test_a_choice_of_codes_is_a_block(tmp_path):
    """Icarus takes `a ? b : c` for a number."""
    text = translate(Car(), "top", assertions=True)
    assert CHOICES in text
    lint(text)
    (tmp_path / "top.sv").write_text(text)
    assert icarus(tmp_path / "top.sv", "top", tmp_path / "top.vvp") == []
    prove_equal(AS_NUMBERS, text, tmp_path)
