"""Assertions in exported modules: a component lists them by name, in Verilog over its own signals.

    s.assertions = {
        "OneWrite": "(writes & (writes - 1)) == 0",
        "AnswerStays": ("val && !rdy", "{val, msg}"),
    }

A property holds at every rising edge of the clock after the first reset, outside of resets. A pair states
that the second expression keeps its value after each cycle in which the first one is true. A component whose
states do not use all codes has one more. Synthesis and the proof of a package define SYNTHESIS, which omits
them; the measured text has none.
"""

from collections.abc import Mapping
from typing import Any

from ...states import states_of
from .source_text import with_end

MACRO = """\
`ifdef ASSERT  // p at every rising edge of clk after the first reset; an unknown p passes
`elsif SYNTHESIS
`define ASSERT(name, p, clk, rst)
`else
`define ASSERT(name, p, clk, rst) if (1) begin : name \\
  logic live; \\
  initial live = 1'd0; \\
  always @(posedge clk) if (rst) live <= 1'd1; \\
  always @(posedge clk) if (live && !(rst) && !(p)) $fatal(1,`"name`"); \\
end
`endif  // ASSERT
`ifdef SYNTHESIS
`define ASSERT_HELD(name, p, x, clk, rst)
`else  // x is held after a cycle with p
`define ASSERT_HELD(name, p, x, clk, rst) if (1) begin : name \\
  logic [$bits(x):0] was; \\
  always @(posedge clk) was <= {!(rst) && (p), x}; \\
  `ASSERT(name, !was[$bits(x)] || was === {1'd1, x}, clk, rst) \\
end
`endif  // SYNTHESIS
"""

USE = "`ASSERT"

Assertion = str | tuple[str, str]


def assertions_of(component: Any, is_top: bool) -> dict[str, Assertion]:
    """Names and properties; at the top, requests stay until they are taken."""
    states, found = states_of(component), _of_class(component) | getattr(component, "assertions", {})
    if states.codes and len(states.codes) < 1 << states.nbits:
        is_one = (f"{states.signals[0]} == {name}" for name in states.codes)
        found["StateIsKnown"] = f"({') || ('.join(is_one)})"
    if is_top and hasattr(component, "istream"):
        found["RequestStays"] = ("istream__val && !istream__rdy", "{istream__val, istream__msg}")
    return found


def _of_class(s: Any) -> dict[str, Assertion]:
    """Assertions on classes whose own code is part of the digests of results."""
    match type(s).__name__:
        case "MMMul" if hasattr(s, "reduction"):
            return {"ProductBelowModulus": "!ostream__val || a >= modulus || ostream__msg < modulus"}
        case "Registered":
            return {"AnswerStays": ("full && !ostream__rdy", "{full, value}")}
        case "SerialCtrl" if hasattr(s, "count"):
            return {"AnswersAfterLastStep": "!ostream_val || {count - 1'd1} == final_count"}
    return {}


def with_assertions(text: str, assertions: Mapping[str, Assertion]) -> str:
    """The text of a module that ends with these."""
    lines = []
    for name, stated in assertions.items():
        kind, args = ("", stated) if isinstance(stated, str) else ("_HELD", ", ".join(stated))
        lines.append(f"  {USE}{kind}({name}, {args}, clk, reset)")
    return with_end(text, ["", *lines])


def with_macro(text: str) -> str:
    """The text of modules with the macro, if they use it."""
    return f"{MACRO}\n{text}" if USE in text else text
