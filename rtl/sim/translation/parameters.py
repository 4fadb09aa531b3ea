"""Merges modules that differ by numbers alone into one with parameters.

Each number that differs is written as an expression of a parameter that is right for all instances of the
design: the parameter itself, or a sum, a double or a logarithm of it.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .source_text import line_pattern

Parameters = Mapping[str, int]

_MODULE = line_pattern(r"((?:^//[^\n]*\n)*)^module (\w+)\n(.*?)^endmodule$", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.'])(\d+)(?:('[dh])([0-9a-f]+)(?!\w)|('\()|(?![\w']))")
_CONSTANT = line_pattern(r"^  localparam (.*) = (.*);\n")
Form = tuple[str, Callable[[int], int]]
_LINEAR: list[Form] = [("{}", lambda value: value), ("2 * {}", lambda value: 2 * value)]


def _share(part: int) -> Form:
    return f"{{}} / {part}", lambda value: value // part


def _bits(form: Form, add: int) -> Form:
    """Bits of an index below a number and a bit more."""
    text, linear = form
    more = f" + {add}" if add else ""
    return f"$clog2({text}{more})", lambda value: max(linear(value) + add - 1, 0).bit_length()


_SHARES = [_share(part) for part in (2, 4, 8, 16)]
_BITS = [_bits(form, add) for form in _LINEAR for add in range(4)]
_OTHERS = [*_BITS, *_SHARES, *(_bits(form, add) for form in _SHARES for add in range(4))]
_PLAIN, _BELOW = range(1), range(-1, 0)  # offsets: the form itself, and the last index below it
Forms = Sequence[tuple[list[Form], range | None]]
FORMS: Forms = [(_LINEAR, None), (_OTHERS, _PLAIN), (_OTHERS, _BELOW), (_OTHERS, None)]  # in this order


MOST = (1 << 31) - 1  # for a parameter, which is an int


class Module(NamedTuple):
    """A module in the text; parameters: its numbers by name."""

    comment: str
    name: str
    body: str
    parameters: Parameters


def merged(text: str, kinds: Mapping[str, tuple[str, Parameters]]) -> str:
    """The text with merged modules. kinds: of each module, the name of its class and its numbers."""
    groups: dict[tuple[str, str], list[Module]] = {}
    for comment, name, body in _MODULE.findall(text):
        if name in kinds:
            kind, numbers = kinds[name]
            groups.setdefault((kind, template(body)), []).append(Module(comment, name, body, numbers))
    taken = line_pattern(r"^module (\w+)").findall(text)
    for (kind, _), group in groups.items():
        name = kind if kind not in taken else group[0].name
        if len(group) > 1 and (made := _merge(group, name)) is not None:
            return merged(_replaced(text, group, name, *made), {**kinds, name: (name, {})})
    return text


def template(body: str) -> str:
    return _NUMBER.sub(lambda number: f"#{(number[2] or '')[:1] or number[4] or ''}", body)


def _merge(group: Sequence[Module], name: str) -> tuple[str, dict[str, list[str]]] | None:
    """One module for all, and the values of its parameters; None if a number has no expression."""
    parameters = {
        key.upper(): [module.parameters[key] for module in group]
        for key, value in group[0].parameters.items()
        if all(module.parameters.get(key, MOST + 1) <= MOST for module in group)
        and len({module.parameters[key] for module in group}) > 1
    }
    port = re.search(r"\[(\d+):0\]", group[0].body)
    if port is not None:
        place = len(_NUMBER.findall(group[0].body[: port.start(1)]))
        widths = (_NUMBER.findall(module.body)[place][0] for module in group)
        parameters.setdefault("WIDTH", [int(width) + 1 for width in widths])
    used: set[str] = set()
    bodies, words = _lifted([module.body for module in group], parameters, used)
    body = with_expressions(bodies, parameters, used)
    if body is None:
        return None
    needed = {f"int {key}": [*map(str, values)] for key, values in parameters.items() if key in used} | words
    comments = [module.comment.splitlines(keepends=True) for module in group]
    comment = "".join(line for line in comments[0] if all(line in other for other in comments))
    declared = ",\n".join(f"  parameter {key} = {values[0]}" for key, values in needed.items())
    head = f"module {name} #(\n{declared}\n) (" if needed else f"module {name} ("
    return f"{comment}{head}\n{body.removeprefix('(').lstrip(chr(10))}endmodule", needed


def _lifted(
    bodies: Sequence[str], parameters: Mapping[str, list[int]], used: set[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """The bodies without the constants that have no expression, and these as parameters: their values."""
    words: dict[str, list[str]] = {}
    lifted = [*bodies]
    for row in zip(*map(_CONSTANT.finditer, bodies), strict=True):
        name = row[0][1].split()[-1]
        values = [match[2] for match in row]
        if with_expressions(values, parameters, set()) is not None:
            continue
        kind = with_expressions([match[1] for match in row], parameters, used)
        if kind is None and not any(
            re.search(rf"(?<!<< )\b{name}\b", body.replace(match[0], ""))
            for body, match in zip(bodies, row, strict=True)
        ):
            kind, values = f"int {name}", [value.partition("'d")[2] for value in values]  # of shifts alone
        if kind is not None:
            words[kind] = values
            lifted = [body.replace(match[0], "") for body, match in zip(lifted, row, strict=True)]
    return lifted, words


def with_expressions(texts: Sequence[str], parameters: Mapping[str, list[int]], used: set[str]) -> str | None:
    """The first text, with expressions in the place of the numbers in which the others differ."""
    pieces, at = [], 0
    for row in zip(*map(_NUMBER.finditer, texts), strict=True):
        one = row[0]
        pieces.append(texts[0][at : one.start()])
        at = one.end()
        if len({number[0] for number in row}) == 1:
            pieces.append(one[0])
            continue
        widths = _expression([int(number[1]) for number in row], parameters, used)
        if widths is None:
            return None
        if one[4]:
            pieces.append(f"{_term(widths)}'(")
        elif not one[2]:
            pieces.append(widths)
        else:
            values = [int(number[3], 16 if number[2] == "'h" else 10) for number in row]
            value = _expression(values, parameters, used)
            if value is None:
                return None
            # a parameter is signed, a cast keeps that, and Yosys keeps it in a localparam too
            value = f"'d{value}" if value.isdecimal() else f"$unsigned({value})"
            pieces.append(f"{_term(widths)}'({value})")
    return "".join([*pieces, texts[0][at:]])


def _expression(values: Sequence[int], parameters: Mapping[str, list[int]], used: set[str]) -> str | None:
    """A number that is all of these, each with the values of the parameters in its place."""
    if len(set(values)) == 1:
        return str(values[0])
    for forms, near in FORMS:
        for (form, function), (name, given) in itertools.product(forms, parameters.items()):
            offsets = {value - function(number) for value, number in zip(values, given, strict=True)}
            if len(offsets) == 1 and (near is None or offsets <= {*near}):
                used.add(name)
                offset = offsets.pop()
                more = f" {'-' if offset < 0 else '+'} {abs(offset)}" if offset else ""
                return form.format(name) + more
    return None


def _term(expression: str) -> str:
    return f"({expression})" if " " in expression else expression


def _replaced(
    text: str, group: Sequence[Module], name: str, module: str, parameters: Mapping[str, list[str]]
) -> str:
    """The text with one module and its instances in the place of several."""
    settings = {
        old.name: ", ".join(f".{key.split()[-1]}({values[i]})" for key, values in parameters.items())
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

    text = line_pattern(r"^  (\w+) (\w+)\n  \($").sub(instance, _MODULE.sub(one, text))
    return re.sub(r"\n\n\n+", "\n\n", text)


def numbers_of(parameters: Iterator[tuple[str, object]]) -> dict[str, int]:
    """The parameters of a component that are plain numbers, and the width of one that is a type of bits."""
    pairs = (
        (key, value) if key != "Type" else ("nbits", getattr(value, "nbits", None))
        for key, value in parameters
    )
    return {key: value for key, value in pairs if isinstance(value, int) and not isinstance(value, bool)}
