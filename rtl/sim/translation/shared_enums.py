"""Enumerations of an exported design: codes that cross ports have one type, which is declared at the top.

A member of an IntEnum in an update block is a value of the enumeration. Every signal, and every field of a
message, that is compared with one, set to one, or joined to a signal that is, has its type. A signal that is
also set to something else stays a vector: Icarus 11 has no casts, and no tool compares types at ports. So
does one that a block sets to a field of a message, which Icarus takes for a number.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from enum import IntEnum
from functools import partial

from ...states import States
from .enum_fields import declaration, value_name
from .source_text import INSTANCE, line_pattern, renamed, words_in
from .structure import STATE

_SCOPE = re.compile(r"(?ms)^(?:typedef struct.*?^\} (\w+);|module (\w+)\b.*?^endmodule)$")
_DECLARED = line_pattern(r"^(  (?:(?:input|output) +)?)((?!assign)\w+(?: +\[\d+:0\])?) +(\w+)(?=[,;]?$)")
_CONSTANT = line_pattern(r"^  localparam .*\b(\w+) = \d+'d(\d+);\n")
_ASSIGNED = line_pattern(
    r"^( {4} *(?=\w+ = ))? *(?:assign |[\w, ]+: )?(\w+(?:\.\w+)?)((?:\[[^=\n]*\])?) <?= (.*);$"
)
_LEAF = re.compile(r"(?:^| [?:] )((?:(?! [?:] ).)+)(?= : |$)")  # a value between which an expression chooses
_PAIR = line_pattern(r"(?<![\w.'])([\w.']+)( (?:[=!<]?=|<) )([\w.']+)(?=[;),]| \|\|| &&|$)")
_PIN = re.compile(r"\.(\w+)\( ([\w.]+) \)")

Signal = tuple[str, str]  # the module or message that has it, and its name


def enum_name(code: int) -> str:
    """The name in Verilog of the IntEnum that a code is from."""
    return re.sub("(?<!^)(?=[A-Z])", "_", type(code).__name__).lower() if isinstance(code, IntEnum) else ""


def with_shared_states(text: str, kind: str, states: States) -> str:
    """A module without the enumeration of its states, as another has it, too."""
    text = re.sub(rf"(?s)\n  typedef enum .*?\}} {STATE};\n", "", text)
    return renamed(text, {STATE: f"{kind}_e", **{name: value_name(kind, name) for name in states.codes}})


def with_types(declared: str, modules: str, enums: Mapping[str, States], top: str) -> tuple[str, str]:
    """Declarations and modules whose signals have these types; the ports of the top module stay vectors."""
    for field in re.findall(r"\} (\w+)_e;", declared):  # of a message
        for kind, codes in enums.items():
            same = declaration(field, codes.nbits, codes.codes)
            if same in declared:
                declared = re.sub(rf"\b{field}_e ", f"{kind}_e ", declared.replace(f"{same}\n", ""))
                modules = re.sub(rf"\b{field.upper()}_", f"{kind.upper()}_", modules)
    types = _Types(f"{declared}\n{modules}", enums, top)
    declared, modules = _SCOPE.sub(types.written, declared), _SCOPE.sub(types.written, modules)
    used = words_in(modules)
    shared = (
        declaration(
            kind,
            states.nbits,
            {name: code for name, code in states.codes.items() if value_name(kind, name) in used},
        )
        for kind, states in enums.items()
    )
    return "\n".join([*shared, declared]), modules


class _Types:
    """The signals of a design that have the type of an enumeration."""

    def __init__(self, text: str, enums: Mapping[str, States], top: str) -> None:
        self._names = {
            (kind, f"{code:d}"): value_name(kind, name)
            for kind, states in enums.items()
            for name, code in states.codes.items()
        }
        self._kinds = {name: kind for (kind, _), name in self._names.items()}
        scopes = {match[1] or match[2]: match[0] for match in _SCOPE.finditer(text)}
        self._types: dict[Signal, str] = {}
        self._constants: dict[Signal, str] = {}
        self._joined: dict[Signal, set[Signal]] = defaultdict(set)
        self._sources: dict[Signal, set[Signal]] = defaultdict(set)
        for scope, body in scopes.items():
            for where, kind, name in _DECLARED.findall(body):
                if scope != top or not where.strip() or kind[:5] != "logic":
                    self._types[scope, name] = kind
            self._constants |= {(scope, name): code for name, code in _CONSTANT.findall(body)}
        self._found = {one: kind[:-2] for one, kind in self._types.items() if kind[:-2] in enums}
        for scope, body in scopes.items():
            self._read(scope, body)
        self._infer({kind: f"logic [{states.nbits - 1}:0]" for kind, states in enums.items()})

    def _signal(self, scope: str, word: str) -> Signal:
        base, _, field = word.partition(".")
        return (self._types.get((scope, base), ""), field) if field else (scope, word)

    def _kind(self, one: Signal) -> str:
        return self._found.get(one) or self._kinds.get(one[1], "")

    def _number(self, one: Signal) -> str:
        """The digits of a constant."""
        return self._constants.get(one) or re.sub(r"^(\d+'d(\d+)|.*)$", r"\2", one[1])

    def _read(self, scope: str, body: str) -> None:
        """Note the sources of signals, and which signals hold the same codes."""
        signal = partial(self._signal, scope)
        pairs = [(signal(one), signal(other)) for one, _, other in _PAIR.findall(body)]
        for module, pins in INSTANCE.findall(body):
            pairs += [((module, port), signal(wire)) for port, wire in _PIN.findall(pins)]
        for block, target, index, value in _ASSIGNED.findall(body):
            leaves = [signal(leaf.strip("()")) for leaf in _LEAF.findall(value)]
            pairs += [(signal(target), leaf) for leaf in leaves]
            numbers = [leaf for leaf in leaves if self._number(leaf)]
            field = block and any(leaf[0] != scope for leaf in leaves)
            anything = index or field or (numbers and len(leaves) > 1)  # a choice keeps its numbers
            self._sources[signal(target)].update([(scope, "")] if anything else leaves)
        for one, other in pairs:
            self._joined[one].add(other)
            self._joined[other].add(one)

    def _infer(self, vectors: Mapping[str, str]) -> None:
        """Give the type to signals that hold codes, and take it from those that hold other values, too."""
        while more := {
            one: kind
            for one, others in self._joined.items()
            for kind in map(self._kind, others)
            if one not in self._found and kind and self._types.get(one) == vectors[kind]
        }:
            self._found |= more
        while mixed := {
            one
            for one, kind in self._found.items()
            if any(
                self._kind(source) != kind and (kind, self._number(source)) not in self._names
                for source in self._sources[one]
            )
        }:
            self._found = {one: kind for one, kind in self._found.items() if one not in mixed}

    def written(self, match: re.Match[str]) -> str:
        """A message or a module with the types, and with names for its constants."""
        scope = match[1] or match[2]

        def pair(line: re.Match[str]) -> str:
            kind = self._kind(self._signal(scope, line[1])) or self._kind(self._signal(scope, line[3]))
            one, other = (
                self._names.get((kind, re.sub(r"^\d+'d", "", self._constants.get((scope, word), word))), word)
                for word in (line[1], line[3])
            )
            return f"{one}{line[2]}{other}"

        def declared_as(line: re.Match[str]) -> str:
            kind = self._found.get((scope, line[3]))
            return f"{line[1]}{kind}_e {line[3]}" if kind else line[0]

        body = _PAIR.sub(pair, _DECLARED.sub(declared_as, match[0]))
        for kind, port in re.findall(r"(?m)^  output (\w+_e) (\w+),?$", body):
            # Icarus 11 takes an output for a number where a block assigns it
            held = re.sub(rf"(?m)^(    .* <?= ){port};$", rf"\1{port}_now;", body)
            if held != body:
                held = held.replace("\n);\n", f"\n);\n  {kind} {port}_now;\n", 1)
                body = held.replace("\n\n  always", f"\n\n  assign {port}_now = {port};\n\n  always", 1)
        return _CONSTANT.sub(lambda line: line[0] * (words_in(body)[line[1]] > 1), body)
