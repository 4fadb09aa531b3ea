"""Mutants of SystemVerilog texts, each with one operator, index or condition changed, to check the prover."""

import re
from collections.abc import Iterator
from typing import NamedTuple

CHANGED = {"+": "-", "-": "+", "&": "|", "|": "&", "^": "|", "==": "!=", "!=": "==", "<": ">=", "*": "+"}
OPERATOR = re.compile(r" (\+|-|&|\||\^|==|!=|<|\*) ")
# not mutated: comments, constants, types, the net that reads unused signals, and ranges in declarations
BARREN = re.compile(
    r"//[^\n]*|/\*.*?\*/|^ *(?:localparam|parameter|genvar|typedef enum|wire unused)\b[^;]*"
    r"|^ *(?:input|output|logic|wire|reg)\b[^=\n]*$|^ *for \(genvar[^\n]*",
    re.DOTALL | re.MULTILINE,
)
INDEX = re.compile(r"\w\[(\d+)\](?! *\w)")  # of a bit; not in a declaration
# the condition of an `if`, and the name before a `?`
TESTED = re.compile(r"((?<=\bif \().+(?=\) begin)|(?:(?<=: |  )|(?<=[^=!<>]= ))\w+(?= \?))")


class Mutant(NamedTuple):
    """The mutated text, and a description of the change."""

    text: str
    what: str


def mutants(verilog: str, module: str) -> Iterator[Mutant]:
    """The mutants of a module in the order of its lines; if it only connects other modules, those of all
    modules.
    """
    first = next(_of_module(verilog, module), None)
    others = re.findall(r"^module (\w+)", verilog, re.MULTILINE) if first is None else [module]
    for other in others:
        yield from _of_module(verilog, other)


def _of_module(verilog: str, module: str) -> Iterator[Mutant]:
    start = re.search(rf"^module {re.escape(module)}\b", verilog, re.MULTILINE)
    if start is None:
        return
    end = verilog.index("endmodule", start.end())
    at = start.start()
    for line in BARREN.sub(_blank, verilog[at:end]).splitlines(keepends=True):
        yield from _of_line(verilog, at, line)
        at += len(line)


def _blank(found: re.Match[str]) -> str:
    """Spaces in place of a text, in as many lines."""
    return re.sub(r"[^\n]", " ", found[0])


def _of_line(verilog: str, at: int, line: str) -> Iterator[Mutant]:
    number, text = verilog.count("\n", 0, at) + 1, f"`{line.strip()}`"

    def mutant(found: re.Match[str], new: str, what: str) -> Mutant:
        place, end = at + found.start(1), at + found.end(1)
        return Mutant(f"{verilog[:place]}{new}{verilog[end:]}", f"line {number}: {what}")

    for found in OPERATOR.finditer(line):
        new = CHANGED[found[1]]
        yield mutant(found, new, f"{found[1]} is {new} in {text}")
    for found in INDEX.finditer(line):
        if (index := int(found[1])) > 0:
            yield mutant(found, str(index - 1), f"{index} is {index - 1} in {text}")
    for found in TESTED.finditer(line):
        yield mutant(found, f"!({found[1]})", f"the condition {found[1]} of {text} is inverted")
