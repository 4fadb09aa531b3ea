"""Rewrites instances of one module that differ by an index as a generate loop.

A row is `steps__0`, `steps__1` ... In its loop, one text connects a pin of all instances: the same signal, an
index that grows with the loop variable, or an element of an unpacked array that replaces the wires between
the instances. The array of a chain has one element more, the input of the first instance or of the last.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .source_text import MODULE, WIRE, line_pattern, renamed, with_end, words_in
from .unused_bits import directions

_DECLARED = line_pattern(r"^  (\w+)(?: \[[^\n]*\])? (\w+)(?: \[[^\n]*)?;$")
_INSTANCE = line_pattern(
    r"^  (?P<kind>\w+(?: #\([^\n]*\))?) (?P<row>\w+)__(?P<index>\d+)(?:\n  | )\(\n(?P<pins>.*?)\n  \);\n\n?",
    re.DOTALL,
)
_MADE = line_pattern(r"^ +(\w+)(?: #\([^\n]*\))? (\w+)(?:\n  | )\($")
_PIN = line_pattern(r"^    \.(\w+)\( ?(.*?) ?\)(?:,|\Z)$")
_ARRAY = line_pattern(r"^  (logic(?: \[[^\]\n]*\])?) (\w+) \[0:(\d+)\].*;$")
_ASSIGNED = line_pattern(r"(?:^  assign .*;\n)+")
_NUMBER = re.compile(r"(?<=[\[:])\d+(?=[\]:])")
Structs = Mapping[str, Mapping[str, int]]  # type of a message -> its fields with their bits

FEWEST, PERIOD = 3, 3  # assignments that are a loop, and most of them in one turn
UNIT = "unit"  # the instance in a loop
SPLIT = "/*verilator split_var*/"  # else Verilator takes a chain for a combinational loop


@dataclass
class Row:
    """Instances in the order of their index, and what their loop needs.

    pins: by port, the connections of all instances. arrays: name -> its type and its last index. moved:
    wire -> the element that replaces it.
    """

    name: str
    kind: str
    pins: Mapping[str, list[str]]
    text: dict[str, str] = field(default_factory=dict)  # port -> the connection in the loop
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)  # messages whose fields are connected separately
    before: list[str] = field(default_factory=list)  # assignments to elements
    after: list[str] = field(default_factory=list)  # and from them

    @property
    def count(self) -> int:
        return len(next(iter(self.pins.values())))


def with_loops(text: str, structs: Structs) -> str:
    """The modules of a design with a loop in the place of each row."""
    ports = {module[1]: directions(module[0]) for module in MODULE.finditer(text)}
    return MODULE.sub(lambda module: _parts(_packed(_looped(module[0], ports, structs))), text)


def instance_path(path: str, text: str) -> str:
    """The path of a component in Verilog, from that in Python: units[0] is in a loop of its module, or is
    units__0.
    """
    bodies = {module[1]: module[0] for module in MODULE.finditer(text)}
    inside = {name: {made[2]: made[1] for made in _MADE.finditer(body)} for name, body in bodies.items()}
    (kind,) = bodies.keys() - {kind for kinds in inside.values() for kind in kinds.values()}
    found = []
    for part in filter(None, path.split(".")):
        name = re.sub(r"\[(\d+)\]", r"__\1", part)
        row, _, index = name.rpartition("__")
        loop = line_pattern(rf"^  for .* begin : {row}\n    (\w+).* {UNIT} \($").search(bodies[kind])
        looped = loop if part.endswith("]") else None
        found.append(f"{row}[{index}].{UNIT}." if looped else f"{name}.")
        kind = looped[1] if looped else inside[kind][name]
    return "".join(found)


def _looped(text: str, ports: Mapping[str, Mapping[str, str]], structs: Structs) -> str:
    """One module, each of whose rows becomes a loop if it can."""
    rows: dict[str, dict[int, re.Match[str]]] = {}
    for instance in _INSTANCE.finditer(text):
        rows.setdefault(instance["row"], {})[int(instance["index"])] = instance
    for name, found in rows.items():
        members = [found[index] for index in sorted(found)]
        kinds = {member["kind"] for member in members}
        pins = [dict(_PIN.findall(member["pins"])) for member in members]
        if len(members) > 1 and sorted(found) == [*range(len(members))] and len(kinds) == 1:
            kind = kinds.pop()
            row = Row(name, kind, {port: [pin[port] for pin in pins] for port in pins[0]})
            if _connect(row, text, ports[kind.split()[0]], structs):
                text = _replaced(text, row)
    return text


def _packed(text: str) -> str:
    """One module, with a packed array for each unpacked one that a pin takes as a whole."""
    for kind, name, last in _ARRAY.findall(text):
        whole = f"( {{ {', '.join(f'{name}[{index}]' for index in range(int(last), -1, -1))} }} )"
        if int(last) + 1 >= FEWEST and whole in text:
            element = kind.removeprefix("logic").strip()
            text = (
                line_pattern(rf"^  logic.* {name} \[0:.*\n")
                .sub(rf"\g<0>  logic [{last}:0]{element} {name}_packed;\n", text)
                .replace(whole, f"( {name}_packed )")
            )
            lines = [f"  assign {name}_packed[{index}] = {name}[{index}];" for index in range(int(last) + 1)]
            text = with_end(text, lines)
    return text


def _parts(text: str) -> str:
    """One module, with a loop in the place of assignments in a row that differ by indices alone."""

    def loops(run: re.Match[str]) -> str:
        lines, found, start = run[0].splitlines(), [], 0
        while start < len(lines):
            for period in range(1, PERIOD + 1):
                count = _repeated(lines[start:], period)
                if count >= FEWEST:
                    body = [
                        _indexed(lines[start + at : start + count * period : period]) for at in range(period)
                    ]
                    (target,) = re.findall(r"^  assign (\w+)", lines[start])
                    labels[target] += 1
                    label = f"{target}_parts{labels[target] if labels[target] > 1 else ''}"
                    head = f"  for (genvar i = 0; i < {count}; i++) begin : {label}"
                    found += [head, *(f"  {line}" for line in body), "  end"]
                    start += count * period
                    break
            else:
                found.append(lines[start])
                start += 1
        return "\n".join([*found, ""])

    labels: Counter[str] = Counter()
    return _ASSIGNED.sub(loops, text)


def _repeated(lines: Sequence[str], period: int) -> int:
    """How often the first lines are repeated, each in turn with indices that grow."""
    count = 1
    while len(lines) >= (count + 1) * period:
        columns = [lines[at : (count + 1) * period : period] for at in range(period)]
        texts = [_indexed(column) for column in columns]
        if any(text is None or not re.match(r"  assign [^=]*\bi\b", text) for text in texts):
            break
        count += 1
    return count


def _connect(row: Row, text: str, inside: Mapping[str, str], structs: Structs) -> bool:
    """Find the connection of every pin in the loop; whether there is one for each."""
    wires = {name: kind for kind, name in WIRE.findall(text)}
    outputs = {port: pins for port, pins in row.pins.items() if inside[port] == "output"}
    shifts: dict[str, tuple[str, int]] = {}  # output -> the array, and the place of its first element
    for port, pins in row.pins.items():
        if port in outputs:
            continue
        if (same := _indexed(pins)) is not None:
            row.text[port] = same
        elif (chain := _chain(pins, outputs, wires)) is not None:
            source, shift, (before, end, behind) = chain
            if source in shifts:
                return False
            name = f"{row.name}__{port if not before + behind else source}"
            place = 0 if shift else row.count
            shifts[source] = name, shift
            if end in wires and "__" in end:  # between instances
                row.moved[end] = f"{name}[{place}]"
            else:
                row.before.append(f"{name}[{place}] = {end}")
            row.text[port] = f"{before}{name}[{'i' if shift else 'i + 1'}]{behind}"
        elif all(wires.get(pin) in structs for pin in pins):
            fields = [_fields(pin, structs[wires[pin]], text) or "" for pin in pins]
            if "" in fields or (same := _indexed(fields)) is None:
                return False
            row.dropped += pins
            row.text[port] = same
        elif all(pin in wires for pin in pins) and len({wires[pin] for pin in pins}) == 1:
            name = f"{row.name}__{port}"
            row.arrays[name] = wires[pins[0]], row.count - 1
            row.moved |= {pin: f"{name}[{index}]" for index, pin in enumerate(pins)}
            row.text[port] = f"{name}[i]"
        else:
            return False
    for port, pins in outputs.items():
        if port not in shifts and (same := _indexed(pins)) is not None:
            row.text[port] = same
            continue
        kinds = {wires[pin] for pin in pins if pin in wires}
        if len(kinds) != 1 or kinds & {*structs}:  # Icarus 11 has no field of an element
            return False
        unread = "unused_" if all(pin.startswith("unused_") for pin in pins) else ""
        name, shift = shifts.get(port, (f"{unread}{row.name}__{port}", 0))
        row.arrays[name] = kinds.pop(), row.count - (port not in shifts)
        row.text[port] = f"{name}[{'i + 1' if shift else 'i'}]"
        for index, pin in enumerate(pins):
            element = f"{name}[{index + shift}]"
            if re.fullmatch(rf"(unused_)?{row.name}__{index}__{port}", pin) and pin in wires:
                row.moved[pin] = element
            else:
                row.after.append(f"{pin} = {element}")
    signals = {*directions(text), *(name for _, name in _DECLARED.findall(text))}
    return not {*row.arrays, row.name, UNIT, "i"} & signals


def _fields(message: str, sizes: Mapping[str, int], text: str) -> str | None:
    """The concatenation of a message's fields, if it has one assignment for every field and no other use."""
    assigned = line_pattern(rf"^  assign {message}\.(\w+)(?:\[(\d+):0\])? = (.*);$").findall(text)
    values = {
        name: value for name, last, value in assigned if int(last or sizes[name] - 1) + 1 == sizes[name]
    }
    if values.keys() != sizes.keys() or words_in(text)[message] != len(sizes) + 2:
        return None
    return f"{{ {', '.join(values[name] for name in sizes)} }}"


def _indexed(pins: Sequence[str]) -> str | None:
    """One text for pins that are equal but for indices which grow with the instance."""
    if len({_NUMBER.sub("#", pin) for pin in pins}) > 1:
        return None
    numbers = zip(*(map(int, _NUMBER.findall(pin)) for pin in pins), strict=True)
    texts = [_grown(values) for values in numbers]
    found = iter(texts)
    return None if None in texts else _NUMBER.sub(lambda _: str(next(found)), pins[0])


def _grown(values: Sequence[int]) -> str | None:
    """An arithmetic progression as an expression of the loop variable."""
    first, step = values[0], values[1] - values[0]
    if any(value != first + step * index for index, value in enumerate(values)):
        return None
    if not step:
        return str(first)
    term = "i" if abs(step) == 1 else f"{abs(step)} * i"
    if step < 0:
        return f"{first} - {term}"
    return f"{term} + {first}" if first else term


def _chain(
    pins: Sequence[str], outputs: Mapping[str, Sequence[str]], wires: Mapping[str, str]
) -> tuple[str, int, tuple[str, str, str]] | None:
    """The output that goes to the next instance (1) or to the one before (0), and the text at the end.

    The text is that before the signal at the end, the signal, and that behind it.
    """
    for source, found in outputs.items():
        ways = ((1, pins[1:], pins[0], found[:-1]), (0, pins[:-1], pins[-1], found[1:]))
        for shift, inner, end, between in ways:
            if any(wire not in wires for wire in between):
                continue
            parts = {
                tuple(re.split(rf"(?<![.\w]){wire}\b(?![\[.])", pin))
                for pin, wire in zip(inner, between, strict=True)
            }
            if len(parts) == 1 and len(only := parts.pop()) == 2:
                before, behind = only
                stop = len(end) - len(behind)
                if end.startswith(before) and end.endswith(behind) and len(before) < stop:
                    return source, shift, (before, end[len(before) : stop], behind)
    return None


def _replaced(text: str, row: Row) -> str:
    """The module with the loop in the place of the first instance."""
    arrays = "".join(f"  {kind} {name} [0:{last}] {SPLIT};\n" for name, (kind, last) in row.arrays.items())
    first = next((name for _, name in WIRE.findall(text) if name in row.moved), None)
    pins = ",\n".join(f"      .{port}({row.text[port]})" for port in row.pins)
    lines = [
        arrays if first is None else "",
        *(f"  assign {line};\n" for line in row.before),
        f"  for (genvar i = 0; i < {row.count}; i++) begin : {row.name}\n",
        f"    {row.kind} {UNIT} (\n{pins}\n    );\n  end\n",
        *(f"  assign {line};\n" for line in row.after),
        "\n",
    ]
    indices = "|".join(map(str, range(row.count)))
    members = rf"^  {re.escape(row.kind)} {row.name}__(?:{indices})(?:\n  | )\(\n.*?\n  \);\n\n?"
    written = iter(["".join(lines)])
    moved = row.moved

    def wire(match: re.Match[str]) -> str:
        here = arrays if match[2] == first else ""
        return here if match[2] in moved or match[2] in row.dropped else f"{here}{match[0]}"

    text = line_pattern(members, re.DOTALL).sub(lambda _: next(written, ""), text)
    text = WIRE.sub(wire, text)
    for message in row.dropped:
        text = line_pattern(rf"^  assign {message}\..*\n").sub("", text)
    return renamed(text, moved)
