"""Narrows ports and fields of exported Verilog whose upper bits are 0 and not read, and drops ranges that
select all of a signal.

All product units have ports of one width, of which some need less.
"""

import re

from .source_text import MODULE

_PORT = re.compile(r"(?m)^  (?:input |output) logic \[(\d+):0\] (\w+)(?=,?$)")
_SIGNAL = re.compile(
    r"(?m)^  (?:(?:input|output) +)?logic (?:\[[^\]]*\])?\[(\d+):0\] (\w+)(?: \[[\d:]+\])?(?=[,;]?$)"
)
_PADDED = re.compile(r"(?m)^  assign (\w+) = \{ (\d+)'d0, ([\w.]+) \};\n")
_FIELD = re.compile(r"(?m)^ +logic \[(\d+):0\] (\w+);$")


def narrowed(types: str, modules: str) -> tuple[str, str]:
    """Declarations of messages and modules without these bits."""
    modules = MODULE.sub(_without_padding, modules)
    for module in [*MODULE.finditer(modules)]:
        if modules.count(f"\n  {module[1]} ") == 1:  # instance
            for last, port in _PORT.findall(module[0]):
                modules = _with_input(modules, module[1], port, int(last))
                modules = _with_output(modules, module[1], port, int(last))
    for last, field in _FIELD.findall(types):
        zeros = re.compile(rf"(?m)^  assign [\w.]+\.{field}\[{last}:(\d+)\] = \d+'d0;\n")
        if (found := zeros.search(modules)) and types.count(f" {field};") == 1:
            high, rest = int(found[1]) - 1, zeros.sub("", modules)
            if _highest(rest, rf"\.{field}(?!\()") == high:
                types = types.replace(f"[{last}:0] {field};", f"[{high}:0] {field};")
                modules = rest.replace(f".{field}[{high}:0]", f".{field}")
    return types, modules


def _without_padding(module: re.Match[str]) -> str:
    """A module in which a signal stands for the wire that pads it with zeros, if the zeros are not read."""
    text = module[0]
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


def _with_input(modules: str, module: str, port: str, last: int) -> str:
    pin = re.compile(rf"(\.{port}\( )\{{ (\d+)'d0, ([\w.]+) \}}(?= \))")
    instance = _instance(modules, module)
    if not (zeros := pin.search(instance)):
        return modules
    inside = _with_signal(modules, module, port, last, last - int(zeros[2]))
    return inside.replace(instance, pin.sub(r"\1\3", instance)) if inside else modules


def _with_output(modules: str, module: str, port: str, last: int) -> str:
    text = _text(modules, module)
    zeros = re.search(rf"(?m)^  assign {port} = \{{ (\d+)'d0, (\w+) \}};$", text)
    wire = re.search(rf"\.{port}\( (\w+) \)", _instance(modules, module))
    if not (zeros and wire):
        return modules
    high = last - int(zeros[1])
    (parent,) = (found[1] for found in MODULE.finditer(modules) if f"\n  {module} " in found[0])
    outside = _with_signal(modules, parent, wire[1], last, high, wire[0])
    short = text.replace(zeros[0], f"  assign {port} = {zeros[2]};").replace(
        f"[{last}:0] {port}", f"[{high}:0] {port}"
    )
    return outside.replace(text, short) if outside else modules


def _with_signal(modules: str, module: str, name: str, last: int, high: int, pin: str = "") -> str:
    """The modules with a narrower signal in this one; empty if it reads other bits, apart from this pin."""
    text, declared = _text(modules, module), f"logic [{last}:0] {name}"
    if (
        declared not in text
        or _highest(text.replace(declared, "").replace(pin, ""), rf"(?<![\w.]){name}") != high
    ):
        return ""
    short = text.replace(declared, f"logic [{high}:0] {name}")
    return modules.replace(text, re.sub(rf"(?<![\w.]){name}\[{high}:0\]", name, short))


def _highest(text: str, name: str) -> int:
    """The highest bit in the selected parts of a signal; -1 if it is also used as a whole, or not at all."""
    parts = re.findall(rf"{name}\b(?:\[(\d+)(?::\d+)?\])?", text)
    return max(map(int, parts)) if parts and all(parts) else -1


def _text(modules: str, module: str) -> str:
    (text,) = (found[0] for found in MODULE.finditer(modules) if found[1] == module)
    return text


def _instance(modules: str, module: str) -> str:
    found = re.search(rf"(?m)^  {module} \w+\n  \(\n(?:    \..*\n)*  \);$", modules)
    return found[0] if found else ""
