"""Finds signals of a Verilog module with unread bits, and reads them in a signal called `unused`.

Some bits of a sum, or of a quotient next to a remainder, may be unread. Lint still complains about a signal
without a read bit. There are two exceptions: a port for which the class gives a reason, `UNREAD =
(("modulus", "every product unit has this port"),)`, or the caller for a signal of the top module; and an
unread output of a stream of an inner component, whose sender knows that the receiver is ready. The wire to an
unread output is called unused.
"""

import itertools
import re
import textwrap
from collections.abc import Iterable, Mapping

from .source_text import INSTANCE, line_pattern, renamed, with_end, words_in

_DECLARED = r"(?P<kind>\w+)(?: (?P<packed>(?:\[[^\]\n]*\])+))? (?P<name>\w+)(?P<dimensions> \[[^ ]*\])?"
_PORT = line_pattern(rf"^  (?P<direction>input|output) +{_DECLARED},?$")
_WIRE = line_pattern(rf"^  (?!localparam |assign |input |output ){_DECLARED};$")
_PIN = line_pattern(r"^    \.(\w+)\( (.*) \)(?=,?$)")
_TARGET = line_pattern(r"^ *(?:assign )?(?!if\b|for\b|else\b)([\w.]+(?:\[[^=\n]*\])*)(?= <?= )")
# a signal where it is read; what follows it is only looked at, as `x[y]` is a use of y too
_USE = re.compile(
    r"(?:\b(?P<cast>\d+)'\( ?)?(?<![\w.'])(?P<name>[A-Za-z_]\w*)\b"
    r"(?=(?P<part>\[[^\[\]]*\]|\.\w+)?(?P<closed> ?\))?)"
)

Use = tuple[str | None, str | None, str | None]  # _USE: cast, part, closed
Directions = Mapping[str, Mapping[str, str]]  # module -> port -> "input" or "output"


def directions(text: str) -> dict[str, str]:
    """The ports of a module."""
    return {match["name"]: match["direction"] for match in _PORT.finditer(text)}


def leave_open(text: str, inner: Directions, unread: Mapping[str, Mapping[str, str]]) -> str:
    """Wires to outputs of the streams of inner components that nothing else mentions are called unused, as
    are those to ports for which the component gives a reason (`unread`).
    """
    open_ports: dict[str, str] = {}
    wires = {match["name"] for match in _WIRE.finditer(text) if not match["dimensions"]}
    words = words_in(text)
    for module, pins in INSTANCE.findall(text):
        for port, wire in _PIN.findall(pins):
            may_stay = "__" in port or port in unread.get(module, {})
            output = may_stay and inner.get(module, {}).get(port) == "output"
            if output and wire in wires and words[wire] == 2:
                open_ports[wire] = f"unused_{wire}"
    return renamed(text, open_ports)


def silence(
    text: str, inner: Directions, structs: Mapping[str, Iterable[str]], reasons: Mapping[str, str]
) -> str:
    """Read signals that are read in part, or not for a given reason, at the end of the module.

    inner: the ports of the modules inside; structs: the fields of each type.
    """
    reads = _PORT.sub("", _WIRE.sub("", text))
    reads = INSTANCE.sub(
        lambda match: "\n".join(
            wire for port, wire in _PIN.findall(match[2]) if inner.get(match[1], {}).get(port) != "output"
        ),
        reads,
    )
    # of a target only the index is read
    reads = _TARGET.sub(lambda match: " ".join(re.findall(r"\[(.*?)\]", match[1])), reads)
    # found once for all signals: a module can have thousands
    words = words_in(reads)
    uses: dict[str, list[Use]] = {}
    for match in _USE.finditer(reads):
        uses.setdefault(match["name"], []).append((match["cast"], match["part"], match["closed"]))

    unused: dict[str, list[str]] = {}  # by the reason
    declared = [match for match in _PORT.finditer(text) if match["direction"] == "input"]
    for match in [*declared, *_WIRE.finditer(text)]:
        name, fields = match["name"], structs.get(match["kind"])
        if name in reasons and name not in words:
            unused.setdefault(reasons[name], []).append(name)
        elif not match["dimensions"] and _in_part(match["packed"], fields, uses.get(name, [])):
            unused.setdefault("some bits are not read", []).append(name)
    if not unused:
        return text
    lines = []
    for reason, names in unused.items():
        sentence = f"{reason}: {', '.join(names)}"
        lines += textwrap.wrap(sentence, 100, initial_indent="  // ", subsequent_indent="  // ")
    listed = ", ".join(itertools.chain.from_iterable(unused.values()))
    if len(lines) == 1 and len(lines[0]) <= 84:  # and the declaration
        lines = [f"  logic unused;{lines[0]}"]
    else:
        lines.append("  logic unused;")
    return with_end(text, ["", *lines, f"  assign unused = ^{{ {listed} }};"])


def _in_part(packed: str | None, fields: Iterable[str] | None, uses: Iterable[Use]) -> bool:
    """Whether some of a signal is read, and not all."""
    whole = set(fields) if fields is not None else set(range(_nbits(packed)))
    read: set[object] = set()
    for cast, part, closed in uses:
        if fields is not None and part and part.startswith("."):
            read.add(part[1:])
        elif fields is None and part and (bits := re.fullmatch(r"\[(\d+)(?::(\d+))?\]", part)):
            read.update(range(int(bits[2] or bits[1]), int(bits[1]) + 1))
        elif cast and closed and not part:
            read.update(range(int(cast)))
        else:
            return False
    return bool(read) and not whole <= read


def _nbits(packed: str | None) -> int:
    return int(packed[1:].partition(":")[0]) + 1 if packed else 1
