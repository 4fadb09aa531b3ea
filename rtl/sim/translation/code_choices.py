"""Replaces assignments that choose a code by blocks with if statements. A code is a value of an enumeration.

Icarus 12 and 13 treat `a ? b : c` as a number and refuse to assign a number to a signal of an enumerated
type. Icarus 11 has no casts, and it treats fields of messages and outputs as numbers where a block reads
them. So a block reads a copy of a field or an output.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .source_text import MODULE, line_pattern

_SIGNAL = line_pattern(r"^  (output +)?(\w+_e) (\w+)(?=[,;]?(?:  //.*)?$)")
_ASSIGNED = line_pattern(
    r"^(?P<above>(?:  //.*\n)*)  assign (?P<target>\w+) = (?P<value>.* \? .*);(?P<behind>  //.*)?$"
)
_MARK = re.compile(r"[()]| [?:] ")


class _Choice(NamedTuple):
    condition: str
    one: "_Value"
    other: "_Value"


_Value = str | _Choice


def with_code_blocks(text: str) -> str:
    """Replace the assignments of a text by blocks, which keep their comments."""
    text = re.sub("\n\n+", "\n\n", MODULE.sub(lambda module: _of_module(module[0]), text))
    return line_pattern(r"^\n(?=endmodule$)").sub("", text)


def _of_module(module: str) -> str:
    signals = _SIGNAL.findall(module)
    kinds = {name: kind for _, kind, name in signals}
    outputs = {name for output, _, name in signals if output}
    copies: dict[str, str] = {}

    def block(line: re.Match[str]) -> str:
        target, text = line["target"], ""
        if target not in kinds:
            return line[0]
        value = _read(line["value"])
        for word in _words(value):
            if ("." in word or word in outputs) and word not in copies:
                copies[word] = "_of_".join(word.split(".")[::-1]) if "." in word else f"copy_of_{word}"
                text += f"  {kinds[target]} {copies[word]};\n  assign {copies[word]} = {word};\n"
        head = f"\n{line['above']}  always_comb begin : select_{target}{line['behind'] or ''}\n"
        return f"{text}{head}{_statement(target, value, copies, '    ')}  end\n"

    return _ASSIGNED.sub(block, module)


def _read(text: str) -> _Value:
    """The value of an expression such as `a ? x : (b ? y : z)`."""
    text, depth, opened = _bare(text), 0, []
    for mark in _MARK.finditer(text):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0 and mark[0] == " ? ":
            opened.append(mark)
        elif depth == 0 and mark[0] == " : ":
            question = opened.pop()
            if not opened:
                one, other = text[question.end() : mark.start()], text[mark.end() :]
                return _Choice(_bare(text[: question.start()]), _read(one), _read(other))
    return text


def _bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    inside = re.fullmatch(r"\((.*)\)", text)
    if inside is None:
        return text
    depths = itertools.accumulate((char == "(") - (char == ")") for char in inside[1])
    return text if min(depths, default=0) < 0 else inside[1].strip()


def _words(value: _Value) -> Iterator[str]:
    """The words between which an expression chooses."""
    if isinstance(value, str):
        yield value
    else:
        yield from (*_words(value.one), *_words(value.other))


def _statement(target: str, value: _Value, copies: Mapping[str, str], indent: str) -> str:
    """The statement that gives a signal this value."""
    if isinstance(value, str):
        return f"{indent}{target} = {copies.get(value, value)};\n"
    one = _statement(target, value.one, copies, f"{indent}  ")
    text = f"{indent}if ({value.condition}) begin\n{one}{indent}end else "
    if isinstance(value.other, str):
        other = _statement(target, value.other, copies, f"{indent}  ")
        return f"{text}begin\n{other}{indent}end\n"
    return text + _statement(target, value.other, copies, indent).lstrip()
