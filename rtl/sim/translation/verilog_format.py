"""Formats the Verilog text of one module that PyMTL3 wrote.

Each function takes the text of a module and returns an equivalent text. All rely on the form in which PyMTL3
3.1.17 writes declarations, instances and assignments, one per line. `layout` runs last and applies the
spacing of lowRISC's style guide.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from .source_text import WIRE, line_pattern, renamed, without, words_in

_NOISE: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"^ {,8}//.*\n", ""),  # banners and paths; a comment that goes on below its line stands further right
    (r"(?<=[\[:])\d+'d(\d+)(?=[\]:])", r"\1"),  # x[5'd31:5'd0]
    (r"(\d')\( (\w+) \)", r"\1(\2)"),
    (r"^  (input|output) +", lambda match: f"  {match[1]:6} "),
    (r" +(?=[,\n])", ""),
    (r"\n\n+", "\n\n"),
    (r"\n\n+(?=endmodule)", "\n"),
    (r"\A\n+|\n+\Z", ""),
]


def tidy(text: str) -> str:
    """Everything that concerns the module alone."""
    for pattern, replacement in _NOISE:
        text = line_pattern(pattern).sub(replacement, text)
    return _constants(_blocks(_temporaries(_scalars(text))))


def _scalars(text: str) -> str:
    """`logic [0:0] x` becomes `logic x`, unless x is indexed somewhere."""
    indexed = set(re.findall(r"(\w+)\[", text))
    return re.sub(
        r"logic \[0:0\] (\w+)(?=[,;\n])",
        lambda match: match[0] if match[1] in indexed else f"logic {match[1]}",
        text,
    )


def _temporaries(text: str) -> str:
    """`__tmpvar__block_name` becomes `block_name`, unless that is taken."""
    words = words_in(text)
    return re.sub(r"\b__tmpvar__(\w+)", lambda match: match[0] if match[1] in words else match[1], text)


def _blocks(text: str) -> str:
    """An update block called like a signal gets another name: Python tells them apart, Verilog does not."""
    words = words_in(text)
    return line_pattern(r"begin : (\w+)$").sub(
        lambda match: match[0] if words[match[1]] == 1 else f"{match[0]}_block", text
    )


def _constants(text: str) -> str:
    """Constants under their Python names, declared once, and only where they are used.

    PyMTL3 calls them `__const__N`, and declares those of a closure for every block, as `__const__N_at_block`.
    """
    declaration = line_pattern(r"^ *localparam (.*)\b__const__((\w+?)(?:_at_\w+)?) +(=.*;)\n")
    declared = declaration.findall(text)
    body = declaration.sub("", text)
    words = words_in(body)
    names = {}
    lines = []
    for kind, long, short, value in declared:
        meanings = {(item[0], item[3]) for item in declared if item[2] == short}
        names[long] = short if len(meanings) == 1 and short not in words else long
        line = f"  localparam {kind}{names[long]} {value}\n"
        if f"__const__{long}" in words and line not in lines:
            lines.append(line)
    body = re.sub(r"\b__const__(\w+)", lambda match: names.get(match[1], match[0]), body)
    return body.replace(");\n", ");\n" + "".join(lines), 1)  # after the list of ports


Order = Callable[[str], tuple[int, int]]


def source_order(attributes: Sequence[str]) -> Order:
    """A key that sorts names as a reader does: clock and reset, the streams, then these in their order."""
    ranks = {name: rank for rank, name in enumerate(attributes)}

    def key(name: str) -> tuple[int, int]:
        for place, start in enumerate((r"clk\b", r"reset\b", "istream", "ostream")):
            if re.match(start, name):
                return place, 0
        while name not in ranks and "__" in name:
            name = name.rpartition("__")[0]
        return 4, ranks.get(name, len(ranks))

    return key


def order_ports(text: str, order: Order) -> str:
    """The text of a module with its ports in this order."""

    def key(line: str) -> tuple[int, int]:
        found = re.search(r"(\w+)(?: \[[^ ]*)?$", line)
        assert found is not None, line
        return order(found[1])

    def ordered(match: re.Match[str]) -> str:
        return match[1] + ",\n".join(sorted(match[2].split(",\n"), key=key)) + match[3]

    return line_pattern(r"(^module \w+\n\(\n)(.*?)(\n\);)", re.DOTALL).sub(ordered, text, count=1)


def drop_unused(text: str) -> tuple[str, list[str]]:
    """The text without clk and reset, which PyMTL3 gives to every module, if it does not use them; and the
    ports that it lost.
    """
    words = words_in(text)
    dropped = [port for port in ("clk", "reset") if words[port] == 1]
    for port in dropped:
        text = line_pattern(rf"^  input .* {port},?\n").sub("", text)
    return text.replace(",\n);", "\n);"), dropped


_SIGNAL = line_pattern(r"^  (?:(?:input|output) +)?\w+ \[(\d+):0\](\S*) (\w+)[,;]?$")
_ALIAS = line_pattern(r"^  assign ([\w.]+) = (\w+(?:\.\w+)?|\d+'[dh][0-9a-f]+);\n")
_PART = line_pattern(r"^  assign (\w+(?:\[\d+\](?=\[))?)\[(\d+)(?::(\d+))?\] = (.*);\n")
_SELECTED = re.compile(r"(\w+)\[(\d+)(?::(\d+))?\]")
_PIN = re.compile(r"(?<=\( )\w+(?= \))")


def without_aliases(text: str) -> str:
    """Without wires that only give another name to a signal, a constant, or what a pin is connected to."""
    text = _inlined(_gathered(_gathered(text)))
    words = words_in(text)
    wires = {name for _, name in WIRE.findall(text) if words[name] > 2}  # lint reports unread ones
    selected = set(re.findall(r"(\w+)[\[.]", text))
    meant = {name: value for name, value in _ALIAS.findall(text) if name in wires}
    for name in [*meant]:
        while meant[name] in meant:
            meant[name] = meant[meant[name]]
    meant = {
        name: value for name, value in meant.items() if not re.search(r"['.]", value) or name not in selected
    }
    text = _renamed(text, meant)
    # a wire that is there for the sake of an output
    words = words_in(text)
    outputs = {
        value: name
        for name, value in _ALIAS.findall(text)
        if value in wires and words[value] == 3 and (f"  assign {value} = " in text or f"( {value} )" in text)
    }
    text = _renamed(text, outputs)
    return re.sub(r"\n\n+(?=endmodule)", "\n", re.sub(r"\n\n+", "\n\n", text))


def _renamed(text: str, meant: Mapping[str, str]) -> str:
    """Without these wires, others in their place."""
    text = renamed(without(WIRE, meant, text), meant)
    return line_pattern(r"^  assign (\S+) = \1;\n").sub("", text)


def _gathered(text: str) -> str:
    """Signals, and elements of arrays, all of whose parts are assigned one by one, assigned at once."""
    signals = {name: (int(last), inner) for last, inner, name in _SIGNAL.findall(text)}
    parts: dict[str, list[tuple[int, int, str]]] = {}
    for name, high, low, value in _PART.findall(text):
        array = name.partition("[")[0]
        if array != name and re.fullmatch(r"\[\d+:0\]", signals.get(array, (0, ""))[1]):
            signals[name] = (int(signals[array][1][1:-3]), "")
        if name in signals:
            parts.setdefault(name, []).append((int(high), int(low or high), value))
    whole = {}
    for name, found in parts.items():
        found.sort(reverse=True)
        deep = signals[name][1] and len(found) > 1 and any("," in value for _, _, value in found)
        if [high for high, _, _ in found] == [signals[name][0], *(low - 1 for _, low, _ in found[:-1])]:
            if found[-1][1] == 0 and not deep:
                value = _joined([value for _, _, value in found], signals, signals[name][1])
                whole[name] = iter([f"  assign {name} = {value};\n"])  # in the place of the first part
    return _PART.sub(lambda part: next(whole[part[1]], "") if part[1] in whole else part[0], text)


def _joined(values: list[str], signals: Mapping[str, tuple[int, str]], inner: str) -> str:
    """A concatenation, neighbouring parts of a signal as one; of elements of the type `inner`."""
    joined: list[tuple[str, int, int] | str] = []
    for value, same in itertools.groupby(values):
        if (count := len([*same])) > 1:
            joined.append(f"{{ {count} {{ {value} }} }}")
            continue
        part = _SELECTED.fullmatch(value)
        if part is None or part[1] not in signals or signals[part[1]][1] != inner:
            joined.append(value)
            continue
        name, high, low = part[1], int(part[2]), int(part[3] or part[2])
        before = joined[-1] if joined else None
        if isinstance(before, tuple) and before[0] == name and before[2] == high + 1:
            joined[-1] = (name, before[1], low)
        else:
            joined.append((name, high, low))
    texts = [item if isinstance(item, str) else _selection(*item, signals[item[0]][0]) for item in joined]
    return texts[0] if len(texts) == 1 else f"{{ {', '.join(texts)} }}"


def _selection(name: str, high: int, low: int, last: int) -> str:
    if (high, low) == (last, 0):
        return name
    return f"{name}[{high}]" if high == low else f"{name}[{high}:{low}]"


def _inlined(text: str) -> str:
    """Concatenations in the place of wires that lead to one pin alone."""
    words = words_in(text)
    wires = {name for _, name in WIRE.findall(text)}
    pins = {wire for wire in _PIN.findall(text) if words[wire] == 3 and wire in wires}
    assigned = line_pattern(r"^  assign (?P<name>\w+) = (\{ .* \}|\w+\[[\d:]+\]);\n")
    values = {name: value for name, value in assigned.findall(text) if name in pins}
    text = without(assigned, values, without(WIRE, values, text))
    return _PIN.sub(lambda pin: values.get(pin[0], pin[0]), text)


_WRITTEN = line_pattern(r"^ *(?:assign )?(?P<name>\w+)(?:\[[^\]\n]*\])? <?= .*\n")
_EMPTY = line_pattern(r"^ *(?:if \(.*\)|always_\w+(?: @\(.*\))?) begin(?: : \w+)?\n *end\n\n?")


def without_unread(text: str) -> str:
    """Remove signals that only dropped branches read, and then those that only removed signals read."""
    while True:
        words = words_in(text)
        written = Counter(_WRITTEN.findall(text))
        unread = {name for _, name in WIRE.findall(text) if words[name] == 1 + written[name]}
        if not unread:
            return text
        text = without(_WRITTEN, unread, without(WIRE, unread, text))
        while _EMPTY.search(text):
            text = _EMPTY.sub("", text)


MAX_COLUMNS = 100
_SPACING = [
    (r"^( *\w+ \w+)\n *\((?=$|  //)", r"\1 ("),  # of modules and instances
    (r"^(module \w+)\n\($", r"\1 ("),
    (r"^\);\n\n", ");\n"),
    (r"(?<=[({]) +(?=\S)(?!//)", ""),
    (r"(?<=[^\s/]) +(?=[)}])", ""),
    (r"(?<=\{)(\d+) (?=\{)", r"\1"),
]
_BREAK = re.compile(r"(?<=[&|^+,?:-]) ")


def layout(text: str, even: bool = True) -> str:
    """The text with the spacing of lowRISC's style, no line of code longer than 100 columns.

    even: break every line at the same column, as a package does when it renames the top module. In measured
    text each break moves the next one, so a very long line stays whole; digests depend on these breaks.
    """
    for pattern, replacement in _SPACING:
        text = line_pattern(pattern).sub(replacement, text)
    lines = [line if line.lstrip().startswith("//") else _wrapped(line, even) for line in text.split("\n")]
    commented = [line.find("  //") > 0 and not line.lstrip().startswith("//") for line in lines]
    for _, run in itertools.groupby(
        range(len(lines)), key=lambda at: commented[at] and lines[at][-1:] != ";"
    ):
        _align(lines, [at for at in run if commented[at] and not re.search(r"[{(]  //", lines[at])])
    return "\n".join(lines)


def _align(lines: list[str], run: list[int]) -> None:
    """Put the comments behind code in these lines into one column."""
    parts = {at: re.split(r" +(?=//)", lines[at], maxsplit=1) for at in run}
    column = max((len(code) for code, _ in parts.values()), default=0) + 2
    if any(column + len(comment) > MAX_COLUMNS for _, comment in parts.values()):
        return
    for at, (code, comment) in parts.items():
        lines[at] = f"{code:{column}}{comment}"


def _wrapped(line: str, even: bool) -> str:
    """A line of code and its continuation lines, all indented alike."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    columns, wrapped = MAX_COLUMNS + 4, ""
    while place := _break(line, min(columns, MAX_COLUMNS)):
        wrapped += f"{line[:place]}\n"
        line = indent + line[place + 1 :]
        columns -= 0 if even else 4
    return wrapped + line


def _break(line: str, columns: int) -> int:
    """The place behind the operator that is nested least, or between two alternatives; 0 for a short line."""
    code = line.partition("  //")[0]
    if len(code) <= columns:
        return 0
    breaks = [match.start() for match in _BREAK.finditer(code, 0, columns)]
    depths = {place: sum((char in "({[") - (char in ")}]") for char in line[:place]) for place in breaks}
    return max(breaks, key=lambda place: (-depths[place], line[place - 1] == ":", place), default=0)
