"""Narrows ports and fields of exported Verilog whose upper bits are 0 and not read, and drops ranges that
select all of a signal.

All product units have ports of one width, of which some need less.
"""

import re

from .source_text import MODULE, line_pattern

_PORT = line_pattern(r"^  (?:input |output) logic \[(\d+):0\] (\w+)(?=,?$)")
_SIGNAL = line_pattern(
    r"^  (?:(?:input|output) +)?logic (?:\[[^\]]*\])?\[(\d+):0\] (\w+)(?: \[[\d:]+\])?(?=[,;]?$)"
)
_PADDED = line_pattern(r"^  assign (\w+) = \{ (\d+)'d0, ([\w.]+) \};\n")
_FIELD = line_pattern(r"^ +logic \[(\d+):0\] (\w+);$")


def narrowed(types: str, modules: str) -> tuple[str, str]:
    """Declarations of messages and modules without these bits."""
    texts = {module[1]: _without_padding(module[0]) for module in MODULE.finditer(modules)}
    for name, text in [*texts.items()]:
        parents = [parent for parent in texts for _ in re.findall(rf"\n  {name} ", texts[parent])]
        for last, port in _PORT.findall(text) if len(parents) == 1 else ():
            _narrow_port(texts, name, parents[0], port, int(last))
    modules = MODULE.sub(lambda module: texts[module[1]], modules)
    for last, field in _FIELD.findall(types):
        zeros = line_pattern(rf"^  assign [\w.]+\.{field}\[{last}:(\d+)\] = \d+'d0;\n")
        if (found := zeros.search(modules)) and types.count(f" {field};") == 1:
            high, rest = int(found[1]) - 1, zeros.sub("", modules)
            if _highest(rest, rf"\.{field}(?!\()") == high:
                types = types.replace(f"[{last}:0] {field};", f"[{high}:0] {field};")
                modules = rest.replace(f".{field}[{high}:0]", f".{field}")
    return types, modules


def _without_padding(text: str) -> str:
    """Replace a wire that pads a signal with zeros by the signal, if the zeros are not read."""
    for name, zeros, source in _PADDED.findall(text):
        if declared := re.search(rf"(?m)^  logic \[(\d+):0\] {name};\n", text):
            rest = re.sub(rf"(?m)^  assign {name} = .*\n", "", text.replace(declared[0], ""))
            high = int(declared[1]) - int(zeros)
            if _highest(rest, rf"(?<![\w.]){name}") == high:
                text = rest.replace(f"{name}[{high}:0]", source)
    return text


def without_full_ranges(types: str, modules: str) -> str:
    """Modules without ranges that select all bits of a signal or a field."""
    widths: dict[str, set[str]] = {}
    for last, field in _FIELD.findall(types):
        widths.setdefault(field, set()).add(last)
    for field, (last, *others) in widths.items():
        if not others:
            modules = re.sub(rf"(?<=\w\.{field})\[{last}:0\]", "", modules)

    def whole(module: re.Match[str]) -> str:
        text = module[0]
        for last, name in _SIGNAL.findall(text):
            text = re.sub(rf"((?<![\w.]){name}(?:\[[^\]:\n]*\])?)\[{last}:0\]", r"\1", text)
        return text

    return MODULE.sub(whole, modules)


def _narrow_port(texts: dict[str, str], module: str, parent: str, port: str, last: int) -> None:
    """Narrow a port whose driver pads it with zeros, in both modules, if the reader leaves the zeros out."""
    start = rf"^  {module} \w+\n  \(\n(?:    \..*\n)*    \.{port}\( "
    wire = line_pattern(rf"{start}(\w+) \)").search(texts[parent])
    ways = [(parent, rf"({start})\{{ (\d+)'d0, ([\w.]+) \}}(?= \))", module, port, "")]
    if wire:
        padded = rf"(^  assign {port} = )\{{ (\d+)'d0, (\w+) \}}(?=;$)"
        ways.append((module, padded, parent, wire[1], f".{port}( {wire[1]} )"))
    for driver, pattern, reader, name, pin in ways:
        text, declared = texts[reader], f"logic [{last}:0] {name}"
        if (zeros := line_pattern(pattern).search(texts[driver])) and declared in text:
            high = last - int(zeros[2])
            rest = text.replace(declared, "").replace(pin, "")
            if _highest(rest, rf"(?<![\w.]){name}") == high:
                short = text.replace(declared, f"logic [{high}:0] {name}")
                texts[reader] = re.sub(rf"(?<![\w.]){name}\[{high}:0\]", name, short)
                short = texts[driver].replace(zeros[0], zeros[1] + zeros[3])
                texts[driver] = short.replace(f"[{last}:0] {port}", f"[{high}:0] {port}")


def _highest(text: str, name: str) -> int:
    """The highest bit in the selected parts of a signal; -1 if it is also used as a whole, or not at all."""
    parts = re.findall(rf"{name}\b(?:\[(\d+)(?::\d+)?\])?", text)
    return max(map(int, parts)) if parts and all(parts) else -1
