"""Proofs of the processor's units that the pipeline proof replaces by stubs, each from any state.

MulUnit: unit and reference share one 32-bit multiplier cell of Yosys, so the proof covers the choice of the
result's half and the sign correction, but not the multiplication. DivUnit: a stub replaces the divider of
rtl/units, which has checks of its own (exhaustive.py). The stub returns two fixed functions of the
magnitudes in place of quotient and remainder, or all ones and the dividend if the divisor is 0.
"""

from collections.abc import Callable

from pymtl3 import Component

from .....flow.prove.assertions import Decision, decide
from .....proc.core.div_unit import DivUnit
from .....proc.core.mul_unit import MulUnit
from .....proc.core.register_file import RegisterFile
from .. import benches
from ..check import PROCESSOR, Check, source_of
from . import rvfi

STREAM = """\
  wire ready, answers;
  wire [31:0] result;
  reg [66:0] last;
  reg taken = 0, stays = 0, waits = 0;
  wire [2:0] funct3 = last[66:64];
  wire [31:0] a = last[63:32], b = last[31:0];
  always @(posedge clk) begin
    if (asks & ready) last <= request;
    taken <= asks & ready;
    stays <= answers & !takes;
    waits <= (asks & ready) | (waits & !(answers & takes));
  end
"""
PINS = {
    "clk": "clk",
    "reset": "1'b0",
    "istream__msg": "request",
    "istream__val": "asks",
    "istream__rdy": "ready",
    "ostream__msg": "result",
    "ostream__val": "answers",
    "ostream__rdy": "takes",
}
INPUTS = ("input clk", "input [66:0] request", "input asks", "input takes")
# multiplies the operands in the unit's own registers, so that unit and reference share one multiplier cell;
# a negative operand subtracts 2^32 times the other operand
PRODUCT = """\
  wire [66:0] operands = {unit.funct3, unit.a, unit.b};
  reg [66:0] kept;
  always @(posedge clk) kept <= operands;
  wire [2:0] fn = unit.funct3;
  wire [63:0] product = 64'(unit.a) * 64'(unit.b);
  wire [63:0] of_a = unit.a[31] & fn != 3 ? {unit.b, 32'd0} : 0;
  wire [63:0] of_b = unit.b[31] & fn == 1 ? {unit.a, 32'd0} : 0;
  wire [63:0] as_signed = product - of_a - of_b;
"""
QUOTIENT, REMAINDER = "~({0} ^ {{{1}[30:0], {1}[31]}})", "{0} + ({1} ^ 5)"
DIVIDER = f"""\
module DivRem (input clk, input reset, input [63:0] istream__msg, input istream__val, output istream__rdy,
    output [63:0] ostream__msg, output ostream__val, input ostream__rdy);
  reg full;
  reg [31:0] a, b;
  wire free_likes;
  assign ostream__val = full & free_likes;
  wire [31:0] quotient = b == 0 ? 32'hffffffff : {QUOTIENT.format("a", "b")};
  wire [31:0] remainder = b == 0 ? a : {REMAINDER.format("a", "b")};
  assign ostream__msg = {{quotient, remainder}};
  assign istream__rdy = !full;
  always @(posedge clk) begin
    full <= full ? !(ostream__val & ostream__rdy) : istream__val;
    if (istream__val & istream__rdy) {{a, b}} <= istream__msg;
  end
endmodule"""
DIVISION = f"""\
  wire signs = !funct3[0], below_a = signs & a[31], below_b = signs & b[31];
  wire [31:0] of_a = below_a ? -a : a, of_b = below_b ? -b : b;
  wire [31:0] quotient = {QUOTIENT.format("of_a", "of_b")}, remainder = {REMAINDER.format("of_a", "of_b")};
  wire [31:0] wanted = funct3[1] ? b == 0 ? a : below_a ? -remainder : remainder
      : b == 0 ? 32'hffffffff : below_a ^ below_b ? -quotient : quotient;
"""


def _check(unit: type[Component], says: str, bench: Callable[[str, str], str], cycles: int) -> Check:
    """The check of a unit: the bench around its text, for so many cycles from any state."""

    def run(seconds: float, text: str, top: str) -> Decision:
        return decide(bench(text, top), seconds, cycles, free=rvfi.FREE)

    return Check(unit.__name__, PROCESSOR, says, run, source_of(unit))


def _mul(text: str, top: str) -> str:
    body = [STREAM, benches.instance(top, "unit", PINS), PRODUCT]
    holds = [
        "result == (fn == 0 ? product[31:0] : as_signed[63:32])",
        "!taken || answers && operands == last",
        "!stays || taken || answers && operands == kept",
        "ready == (!answers | takes)",
    ]
    return benches.module(text, INPUTS, body, [], holds)


def _div(text: str, top: str) -> str:
    body = [STREAM, DIVISION, benches.instance(top, "unit", PINS)]
    holds = ["!(waits & answers) || result == wanted", "!waits || !ready"]
    return benches.module(benches.with_module(text, "DivRem", DIVIDER), INPUTS, body, [], holds)


def _register_file(text: str, top: str) -> str:
    inputs = {"wen": 1, "waddr": 5, "wdata": 32}
    body = [
        "  wire [1:0][31:0] rdata;",
        benches.BEGUN,
        *(
            f"  reg [{n - 1}:0] old_{name};\n  always @(posedge clk) old_{name} <= {name};"
            for name, n in inputs.items()
        ),
        *(f"  wire [31:0] word_{i} = unit.regs[{i}];" for i in range(1, 32)),
        *(f"  reg [31:0] old_{i};\n  always @(posedge clk) old_{i} <= word_{i};" for i in range(1, 32)),
        benches.instance(
            top, "unit", {name: name for name in ("clk", "raddr", "rdata", *inputs)} | {"reset": "1'b0"}
        ),
    ]
    words = "".join(f"raddr[{{0}}] == {i} ? word_{i} : " for i in range(1, 32)) + "0"
    holds = [f"rdata[{port}] == ({words.format(port)})" for port in range(2)]
    holds += [
        f"!begun || word_{i} == (old_wen && old_waddr == {i} ? old_wdata : old_{i})" for i in range(1, 32)
    ]
    declared = [
        "input clk",
        "input [1:0][4:0] raddr",
        *(f"input [{n - 1}:0] {name}" for name, n in inputs.items()),
    ]
    return benches.module(text, declared, body, [], holds)


UNITS = (
    _check(
        MulUnit,
        "the low half of a b, or its high half with the signs of mulh, mulhsu or mulhu, held until accepted",
        _mul,
        3,
    ),
    _check(
        DivUnit,
        "quotient and remainder with RISC-V's signs, from the unsigned divider's results for the magnitudes; "
        "also for divisor 0",
        _div,
        6,
    ),
    _check(
        RegisterFile,
        "a register holds the value written to it last, and register 0 is 0",
        _register_file,
        2,
    ),
)
