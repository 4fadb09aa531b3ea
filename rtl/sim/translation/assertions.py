"""Assertions in exported modules: a component lists them by name, in Verilog over its own signals.

    s.assertions = {"OneWrite": "(writes & (writes - 1)) == 0"}

Each holds at every rising edge of the clock outside reset. A component whose states do not use all codes has
one more. Synthesis and the proof of a package define SYNTHESIS, which omits them; the measured text has none.
"""

import re
from collections.abc import Mapping
from typing import Any

from ...states import states_of

MACRO = """\
`ifdef ASSERT  // property p at every rising edge of clk outside reset
`elsif SYNTHESIS
`define ASSERT(name, p, clk, rst)
`else
`define ASSERT(name, p, clk, rst) always @(posedge clk) assert (rst || (p)) else $error(`"name`");
`endif
"""

USE = "`ASSERT("


def assertions_of(component: Any) -> dict[str, str]:
    """Names and properties."""
    states, found = states_of(component), dict(getattr(component, "assertions", {}))
    if states.codes and len(states.codes) < 1 << states.nbits:
        is_one = (f"{states.signals[0]} == {name}" for name in states.codes)
        found["StateIsKnown"] = f"({') || ('.join(is_one)})"
    return found


def with_assertions(text: str, assertions: Mapping[str, str]) -> str:
    """The text of a module that ends with these."""
    lines = [f"  {USE}{name}, {prop}, clk, reset)" for name, prop in assertions.items()]
    return re.sub(r"^endmodule$", lambda end: "\n".join(["", *lines, end[0]]), text, flags=re.MULTILINE)


def with_macro(text: str) -> str:
    """The text of modules with the macro, if they use it."""
    return f"{MACRO}\n{text}" if USE in text else text
