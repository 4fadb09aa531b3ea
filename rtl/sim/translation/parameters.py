"""Merges modules that differ by numbers alone into one with parameters.

Each number that differs is written as an expression of a parameter that is right for all instances of the
design: the parameter itself, or a sum, a double or a logarithm of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Parameters = Mapping[str, int]

_MODULE = re.compile(r"((?:^//[^\n]*\n)*)^module (\w+)\n(.*?)^endmodule$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.'])(\d+)(?:('[dh])([0-9a-f]+)(?!\w)|('\()|(?![\w']))")
_FORMS: list[tuple[str, Callable[[int], int]]] = [
    ("{}", lambda value: value),
    ("2 * {}", lambda value: 2 * value),
    ("$clog2({})", lambda value: (value - 1).bit_length()),
    ("$clog2({} + 1)", lambda value: value.bit_length()),
    ("$clog2({} + 2)", lambda value: (value + 1).bit_length()),
]


@dataclass(frozen=True)
class Module:
    """A module in the text; kind: the name that a merged module has, parameters: its numbers by name."""

    comment: str
    name: str
    body: str
    kind: str
    parameters: Parameters


def merged(text: str, kinds: Mapping[str, tuple[str, Parameters]]) -> str:
    """The text with merged modules. kinds: of each module, the name of its class and its numbers."""
    while True:
        found = []
        for part in _MODULE.finditer(text):
            if part[2] in kinds:
                kind, numbers = kinds[part[2]]
                found.append(Module(part[1], part[2], part[3], kind, numbers))
        groups: dict[tuple[str, str], list[Module]] = {}
        for module in found:
            groups.setdefault((module.kind, _template(module.body)), []).append(module)
        taken = set(re.findall(r"^module (\w+)", text, re.MULTILINE))
        for (kind, _), group in groups.items():
            name = kind if kind not in taken else group[0].name
            if len(group) > 1 and (made := _merge(group, name)) is not None:
                text = _replaced(text, group, name, *made)
                kinds = {**kinds, name: (name, {})}
                break
        else:
            return text


def _template(body: str) -> str:
    return _NUMBER.sub(lambda number: f"#{number[2] or number[4] or ''}", body)


def _merge(group: Sequence[Module], name: str) -> tuple[str, dict[str, list[int]]] | None:
    """One module for all, and the values of its parameters; None if a number has no expression."""
    numbers = [list(_NUMBER.finditer(module.body)) for module in group]
    parameters = {
        key.upper(): [module.parameters[key] for module in group]
        for key, value in group[0].parameters.items()
        if all(key in module.parameters for module in group)
        and len({module.parameters[key] for module in group}) > 1
    }
    port = re.search(r"\[(\d+):0\]", group[0].body)
    if port is not None:
        place = next(i for i, number in enumerate(numbers[0]) if number.start() == port.start(1))
        parameters.setdefault("WIDTH", [int(row[place][1]) + 1 for row in numbers])
    used: set[str] = set()
    texts = []
    for row in zip(*numbers, strict=True):
        one = row[0]
        widths = _expression([int(number[1]) for number in row], parameters, used)
        base = 16 if one[2] == "'h" else 10
        values = [int(number[3], base) for number in row] if one[2] else None
        if len({number[0] for number in row}) == 1:
            texts.append(one[0])
        elif widths is None:
            return None
        elif one[4]:
            texts.append(f"{_term(widths)}'(")
        elif values is None:
            texts.append(widths)
        else:
            value = _expression(values, parameters, used)
            if value is None:
                return None
            # a parameter is signed, and a cast keeps that
            value = f"'d{value}" if value.isdecimal() else f"$unsigned({value})"
            texts.append(f"{_term(widths)}'({value})")
    pieces, at = [], 0
    for number, text in zip(numbers[0], texts, strict=True):
        pieces += [group[0].body[at : number.start()], text]
        at = number.end()
    body = "".join([*pieces, group[0].body[at:]])
    needed = {key: values for key, values in parameters.items() if key in used}
    comments = [module.comment.splitlines(keepends=True) for module in group]
    comment = "".join(line for line in comments[0] if all(line in other for other in comments))
    declared = ",\n".join(f"  parameter int {key} = {values[0]}" for key, values in needed.items())
    head = f"module {name} #(\n{declared}\n) (" if needed else f"module {name} ("
    return f"{comment}{head}\n{body.removeprefix('(').lstrip(chr(10))}endmodule", needed


def _expression(values: Sequence[int], parameters: Mapping[str, list[int]], used: set[str]) -> str | None:
    """A number that is all of these, each with the values of the parameters in its place."""
    if len(set(values)) == 1:
        return str(values[0])
    for form, function in _FORMS:
        for name, given in parameters.items():
            offsets = {value - function(number) for value, number in zip(values, given, strict=True)}
            if len(offsets) == 1:
                used.add(name)
                offset = offsets.pop()
                more = f" {'-' if offset < 0 else '+'} {abs(offset)}" if offset else ""
                return form.format(name) + more
    return None


def _term(expression: str) -> str:
    return f"({expression})" if " " in expression else expression


def _replaced(
    text: str, group: Sequence[Module], name: str, module: str, parameters: Mapping[str, list[int]]
) -> str:
    """The text with one module and its instances in the place of several."""
    settings = {
        old.name: ", ".join(f".{key}({values[i]})" for key, values in parameters.items())
        for i, old in enumerate(group)
    }
    written = iter([module])

    def one(part: re.Match[str]) -> str:
        return part[0] if part[2] not in settings else next(written, "")

    def instance(part: re.Match[str]) -> str:
        if part[1] not in settings:
            return part[0]
        given = f" #({settings[part[1]]})" if parameters else ""
        return f"  {name}{given} {part[2]} ("

    text = re.sub(r"^  (\w+) (\w+)\n  \($", instance, _MODULE.sub(one, text), flags=re.MULTILINE)
    return re.sub(r"\n\n\n+", "\n\n", text)


def numbers_of(parameters: Iterator[tuple[str, object]]) -> dict[str, int]:
    """The parameters of a component that are plain numbers."""
    return {key: value for key, value in parameters if isinstance(value, int) and not isinstance(value, bool)}
