"""Mutants of SystemVerilog: one operator of a module changed, to check the prover."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

CHANGED = {"+": "-", "-": "+", "&": "|", "|": "&", "^": "|", "==": "!=", "!=": "==", "<": ">=", "*": "+"}
OPERATOR = re.compile(r" (\+|-|&|\||\^|==|!=|<|\*) ")
COMMENT = re.compile(r"//.*")
INDEX = re.compile(r"\w\[(\d+)\](?! *\w)")  # of a bit, and of no declaration
IF = re.compile(r"\bif \((?P<condition>.+)\) begin")


@dataclass(frozen=True)
class Mutant:
    """The text with one change, and where that is."""

    text: str
    what: str


def mutants(verilog: str, module: str) -> Iterator[Mutant]:
    """One after the other, those of a module of the text, in the order of its lines; of one that only
    connects others, theirs.
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
    for line in verilog[at:end].splitlines(keepends=True):
        yield from _of_line(verilog, at, COMMENT.sub("", line))
        at += len(line)


def _of_line(verilog: str, at: int, line: str) -> Iterator[Mutant]:
    if "localparam" in line or "genvar" in line:
        return
    number = verilog.count("\n", 0, at) + 1
    for found in OPERATOR.finditer(line):
        operator = found[1]
        place = at + found.start(1)
        text = verilog[:place] + CHANGED[operator] + verilog[place + len(operator) :]
        yield Mutant(text, f"line {number}: {operator} is {CHANGED[operator]} in `{line.strip()}`")
    for found in INDEX.finditer(line):
        if (index := int(found[1])) > 0:
            place, end = at + found.start(1), at + found.end(1)
            text = f"{verilog[:place]}{index - 1}{verilog[end:]}"
            yield Mutant(text, f"line {number}: {index} is {index - 1} in `{line.strip()}`")
    if tested := IF.search(line):
        place, end = at + tested.start("condition"), at + tested.end("condition")
        text = f"{verilog[:place]}!({tested['condition']}){verilog[end:]}"
        yield Mutant(text, f"line {number}: the condition of `{line.strip()}` is inverted")
