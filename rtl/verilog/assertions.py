"""Assertions: a component lists them by name, in Verilog over its own signals.

    s.assertions = {
        "OneWrite": "(writes & (writes - 1)) == 0",
        "AnswerStays": ("val && !rdy", "{val, msg}"),
    }

A property holds at every rising edge of the clock after the first reset, outside of resets. A pair states
that the second expression keeps its value after each cycle in which the first one is true. A component whose
states do not use all codes has one more. Synthesis and the proof of a package define SYNTHESIS, which omits
them. The text for simulation and measurements has none.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..states import states_of
from .scope import Scope, field_name
from .tree import Assertion, Enum, Member, Name, Number, Struct, Vector

Word = str | Name | Member | Number
COMPARED = re.compile(r"( [=!<]=? )(\d+)(?!['\w])")
WORD = re.compile(r"([A-Za-z_]\w*)")

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

Stated = str | tuple[str, str]


def assertions_of(component: Any, is_top: bool) -> dict[str, Stated]:
    """Names and properties; at the top, requests stay until they are taken."""
    states, found = states_of(component), {**getattr(component, "assertions", {})}
    if states.codes and len(states.codes) < 1 << states.nbits:
        is_one = (f"{states.signals[0]} == {name}" for name in states.codes)
        found["StateIsKnown"] = f"({') || ('.join(is_one)})"
    if is_top and hasattr(component, "istream"):
        found["RequestStays"] = ("istream__val && !istream__rdy", "{istream__val, istream__msg}")
    return found


def assertion_items(component: Any, scope: Scope, is_top: bool) -> Iterator[Assertion]:
    """The assertions with the signals and the states that they mention."""
    for name, stated in assertions_of(component, is_top).items():
        texts = (stated,) if isinstance(stated, str) else stated
        words = [word for text in texts for word in (*words_of(text, scope), ", ")]
        clocks = (Name("clk", Vector(1)), ", ", Name("reset", Vector(1)))
        yield Assertion(name, (*words, *clocks), is_held=len(texts) > 1)


def words_of(text: str, scope: Scope) -> Iterator[Word]:
    """A text of a component's author, in which some words are signals or states."""
    before = ""
    for piece in WORD.split(text):
        if before.endswith("."):
            yield field_name(piece)
        elif before.endswith(("'", "$")):
            yield piece
        else:
            yield scope.signal(piece) or scope.state_named(piece) or piece
        before = piece


def with_names(words: Iterable[Word]) -> Iterator[Word]:
    """The words of an assertion with names for the numbers to which enumerated signals are compared."""
    kind: Any = None
    before: Word = ""
    for word in words:
        if not isinstance(word, str):
            kind = None if isinstance(word, Number) else word.type  # a signal may be one constant
        elif before == "." and isinstance(kind, Struct):
            kind = dict(kind.fields).get(word)
        elif word != ".":
            found = COMPARED.match(word) if isinstance(kind, Enum) else None
            if found and (name := kind.member(int(found[2]))):
                yield found[1]
                yield Member(kind, name)
                word = word[found.end() :]
            kind = None
        before = word
        yield word
