"""Reader of SPEF (IEEE 1481), the wires that an extraction tool writes for a netlist.

The reader supports detailed nets (*D_NET) with total capacitance, connections, capacitances and resistors,
with or without a name map. A coupling capacitance counts as one to ground, at the node of its own net. If a
value has three corners, the middle one counts. Names in SPEF become those of our flat netlists: an unescaped
divider is a dot, and the bits of a bus have brackets.

`Spef.table` returns the wires as the analyses read them. `Spef.text` is the file with the names of the
netlist, for OpenSTA. Both refuse wires that do not fit the netlist.
"""

import gzip
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...fl.errors import BadInput
from .. import product
from ..files import replace_text
from ..netlist.document import SEPARATOR
from ..netlist.netlist import PORT, Netlist, Terminal
from . import wire_table
from .wire_table import LEAST_OHM, NetWire

Node = tuple[str, str]  # (instance, pin) or (net, number); of a port (PORT, its name)
GZIP = b"\x1f\x8b"
COMMENT = re.compile(r"(?<!\\)//.*")
KEYWORD = re.compile(r"\*[A-Z]\w*")
BIT = re.compile(r"\[\d+\]$")
INDEX = re.compile(r"\*\d+")
UNITS = {"C_UNIT": {"FF": 1.0, "PF": 1e3}, "R_UNIT": {"OHM": 1.0, "KOHM": 1e3}}
MOST_DIFFERENCE = 0.01  # between a net's capacitance and the sum over its nodes
# lines of these are not needed
SKIPPED = (
    *("*SPEF", "*DESIGN", "*DATE", "*VENDOR", "*PROGRAM", "*VERSION", "*DESIGN_FLOW", "*T_UNIT", "*L_UNIT"),
    *("*PORTS", "*PHYSICAL_PORTS", "*POWER_NETS", "*GROUND_NETS"),
)


@dataclass
class NetSection:
    """The wires of one net, in fF and ohm, with the number of its line."""

    name: str
    cap_ff: float
    line: int
    terminals: dict[Node, int] = field(default_factory=dict)  # with the line of each
    caps_ff: dict[Node, float] = field(default_factory=dict)
    resistors: list[tuple[Node, Node, float]] = field(default_factory=list)

    @property
    def res_ohm(self) -> float:
        """The resistance of all of the wire in a row."""
        # a resistor of LEAST_OHM is a wire without resistance in our own files
        return sum(ohm for *_, ohm in self.resistors if ohm > LEAST_OHM)

    def has(self, node: Node) -> bool:
        """Whether a node belongs to this net."""
        return node in self.terminals or self.name in node

    def joined_to(self, start: Node) -> set[Node]:
        """The nodes that resistors join to one; without any resistor the terminals, all at one place."""
        if not self.resistors:
            return {*self.terminals} or {start}
        beside = defaultdict[Node, list[Node]](list)
        for one, other, _ in self.resistors:
            beside[one].append(other)
            beside[other].append(one)
        found = [start]
        seen = {start}
        for node in found:  # grows
            more = [other for other in beside[node] if other not in seen]
            seen.update(more)
            found += more
        return seen


class Spef:
    """The nets of a file for a netlist; BadInput, with the line and the remedy, if it is invalid."""

    def __init__(self, path: Path, netlist: Netlist) -> None:
        self.path, self.netlist = path, netlist
        self.nets: list[NetSection] = []
        self._line, self._section, self._ended = 0, "", True
        self._map: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._divider, self._delimiter, self._bus = "/", ":", "[]"
        self._units: dict[str, float] = {}
        for words in self._lines():
            self._take(words)
        if not self._ended:
            raise self._error(
                f"*END of the net {self.nets[-1].name} is missing: the file is cut off, copy it anew"
            )

    def _lines(self) -> Iterator[list[str]]:
        """The words of each line that is not empty."""
        try:
            data = self.path.read_bytes()
            text = (gzip.decompress(data) if data.startswith(GZIP) else data).decode()
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise BadInput(
                f"{self.path.name} cannot be read ({error}): give a SPEF file, or one of gzip"
            ) from None
        if not COMMENT.sub("", text).lstrip().startswith("*SPEF"):
            raise BadInput(
                f'{self.path.name}:1: no SPEF, which begins with *SPEF "IEEE 1481-1998": give such a file'
            )
        for self._line, line in enumerate(text.splitlines(), 1):
            if words := COMMENT.sub("", line).split():
                yield words

    def _error(self, message: str, line: int = 0) -> BadInput:
        return BadInput(f"{self.path.name}:{line or self._line}: {message}")

    # ---- lines

    def _take(self, words: list[str]) -> None:
        """Read a line: a keyword with its arguments, or one of the lines below it."""
        first, *rest = words
        entries: Mapping[str, Callable[[list[str]], None]] = {
            "*NAME_MAP": self._name,
            "*CONN": self._connection,
            "*CAP": self._capacitance,
            "*RES": self._resistor,
        }
        try:
            if first in ("*P", "*I", "*N") and self._section == "*CONN":
                self._connection(words)
            elif not KEYWORD.fullmatch(first):
                if self._section in entries:
                    entries[self._section](words)
                elif self._section not in SKIPPED:
                    raise self._error(f"{first} is below no keyword: put it below *CONN, *CAP or *RES")
            else:
                self._keyword(first, rest)
        except BadInput:
            raise
        except (IndexError, ValueError):
            raise self._error(f"{' '.join(words)!r} does not parse: write it as in IEEE 1481") from None

    def _keyword(self, name: str, rest: list[str]) -> None:
        self._section = name
        if name == "*D_NET":
            self._begin(rest)
        elif name == "*END":
            self._ended = True
        elif name == "*DIVIDER":
            self._divider = rest[0]
        elif name == "*DELIMITER":
            self._delimiter = rest[0]
        elif name == "*BUS_DELIMITER":
            self._bus = "".join(rest)
        elif name[1:] in UNITS:
            known = UNITS[name[1:]]
            if rest[1] not in known:
                raise self._error(f"{name} {' '.join(rest)}: give it in {' or '.join(known)}")
            self._units[name[1:]] = float(rest[0]) * known[rest[1]]
        elif name in ("*CONN", "*CAP", "*RES"):
            if self._ended:
                raise self._error(f"{name} is outside of a net: put *D_NET before it")
        elif name not in (*SKIPPED, "*NAME_MAP"):
            raise self._error(
                f"{name} is not supported: extract detailed nets (*D_NET) of resistors and capacitances"
            )

    def _begin(self, rest: list[str]) -> None:
        if not self._ended:
            raise self._error(f"*END of the net {self.nets[-1].name} is missing: put it before the next net")
        if missing := [name for name in UNITS if name not in self._units]:
            raise self._error(f"*{missing[0]} is missing: add it to the head of the file")
        self._ended = False
        self.nets.append(NetSection(self._net(rest[0]), self._value(rest[1], "C_UNIT"), self._line))

    def _name(self, words: list[str]) -> None:
        index, name = words
        self._map[index] = name

    def _connection(self, words: list[str]) -> None:
        kind, name = words[:2]
        if kind == "*P":
            self.nets[-1].terminals[PORT, self._net(name)] = self._line
        elif kind == "*I":
            self.nets[-1].terminals[self._node(name)] = self._line

    def _capacitance(self, words: list[str]) -> None:
        """A capacitance to ground, or one to a node of another net."""
        _, *names, value = words
        net = self.nets[-1]
        nodes = [self._node(name) for name in names]
        own = [*filter(net.has, nodes)]
        if not own or len(nodes) > 2:
            raise self._error(f"{' '.join(names)} is at no node of the net {net.name}: correct the node")
        net.caps_ff[own[0]] = net.caps_ff.get(own[0], 0.0) + self._value(value, "C_UNIT")

    def _resistor(self, words: list[str]) -> None:
        _, one, other, value = words
        net = self.nets[-1]
        ends = self._node(one), self._node(other)
        for name, node in zip((one, other), ends, strict=True):
            if not net.has(node):
                raise self._error(f"{name} is no node of the net {net.name}: correct the node")
        net.resistors.append((*ends, self._value(value, "R_UNIT")))

    # ---- words

    def _value(self, text: str, unit: str) -> float:
        parts = [float(part) for part in text.split(":")]
        value = parts[len(parts) // 2] * self._units[unit]
        if not 0 <= value < float("inf"):
            raise self._error(f"{text} is no capacitance or resistance: give 0 or more")
        return value

    def _full(self, text: str) -> str:
        """A name whose index in the name map is replaced."""
        if not INDEX.fullmatch(text):
            return text
        if text not in self._map:
            raise self._error(f"{text} is not in the name map: add it below *NAME_MAP")
        return self._map[text]

    def _named(self, text: str) -> str:
        """The name in our netlists; each of the many nodes of a net asks for it."""
        if (known := self._names.get(text)) is not None:
            return known
        parts = re.split(rf"(?<!\\){re.escape(self._divider)}", self._full(text))
        if self._bus and not self._bus.startswith("["):
            first, last = map(re.escape, (self._bus[0], self._bus[-1]))
            parts[-1] = re.sub(rf"(?<!\\){first}(\d+)(?<!\\){last}$", r"[\1]", parts[-1])
        found = self._names[text] = SEPARATOR.join(re.sub(r"\\(.)", r"\1", part) for part in parts)
        return found

    def _net(self, text: str) -> str:
        """The name of a net or port in our netlists, in which a bus of one bit has no index."""
        name = self._named(text)
        bus = BIT.sub("", name)
        return name if name in self.netlist.aliases or bus not in self.netlist.aliases else bus

    def _node(self, text: str) -> Node:
        """A pin of an instance, a numbered node of a net, or a port."""
        cut = [match.start() for match in re.finditer(rf"(?<!\\){re.escape(self._delimiter)}", text)]
        if not cut:
            return PORT, self._net(text)
        owner, last = text[: cut[-1]], text[cut[-1] + 1 :]
        instance = self._named(owner)
        return (instance if instance in self.netlist.cells else self._net(owner)), last

    # ---- next to a netlist

    def fitted(self) -> Iterator[tuple[int, NetSection]]:
        """The wires by number of net; BadInput if they do not fit the netlist."""
        netlist = self.netlist
        seen: dict[int, NetSection] = {}
        for section in self.nets:
            net = netlist.aliases.get(section.name)
            if net is None:
                raise self._unfit(section, f"{section.name} is no net of {netlist.name}")
            if net in seen:
                raise self._unfit(section, f"{section.name} is the net of line {seen[net].line} as well")
            seen[net] = section
            known = terminals_of(netlist, net)
            for terminal, line in section.terminals.items():
                if terminal not in known:
                    raise self._unfit(section, f"{_shown(terminal)} is not on the net {section.name}", line)
            joined = section.joined_to(known[0]) if known else set()
            if lost := [terminal for terminal in known if terminal not in joined]:
                raise self._unfit(section, f"no wire joins {_shown(lost[0])} to the net {section.name}")
            total = sum(section.caps_ff.values())
            if section.caps_ff and abs(total - section.cap_ff) > MOST_DIFFERENCE * max(total, section.cap_ff):
                sums = f"{section.name} has {section.cap_ff:g} fF, and its nodes have {total:g} fF together"
                raise self._unfit(section, sums)
            yield net, section

    def table(self) -> dict[str, NetWire]:
        """The wires as the analyses read them."""
        return {
            self.netlist.nets[net]: NetWire(section.cap_ff, section.res_ohm, source="routing")
            for net, section in self.fitted()
        }

    def text(self) -> str:
        """A SPEF file with the names of the netlist; a net of a total alone is a star."""
        return wire_table.document(self.netlist, (_section(self.netlist, *item) for item in self.fitted()))

    def _unfit(self, section: NetSection, message: str, line: int = 0) -> BadInput:
        return self._error(f"{message}: extract the wires of this netlist", line or section.line)


def terminals_of(netlist: Netlist, net: int) -> list[Terminal]:
    """The driver of a net, and its readers in their order."""
    return [*filter(None, (netlist.driver[net], *netlist.sinks[net]))]


def _shown(terminal: Terminal) -> str:
    return "/".join(filter(None, terminal))


def _section(netlist: Netlist, net: int, section: NetSection) -> str:
    if not section.resistors:
        return wire_table.star(netlist, net, NetWire(section.cap_ff))
    ends = (node for *pair, _ in section.resistors for node in pair)
    nodes = dict.fromkeys([*terminals_of(netlist, net), *ends, *section.caps_ff])
    index = {node: number for number, node in enumerate(nodes)}
    caps = [section.caps_ff.get(node, 0.0) for node in nodes]
    if not section.caps_ff:
        caps[0] = section.cap_ff
    branches = ((index[a], index[b], ohm) for a, b, ohm in section.resistors)
    return wire_table.section(netlist, net, caps, branches, (".6g",) * 3)


def adopt(path: Path, netlist: Netlist, out: Path) -> None:
    """Write the wires of a SPEF file as wires.json and wires.spef, with the names of the netlist."""
    spef = Spef(path, netlist)
    product.write(out / wire_table.FILE, spef.table())
    replace_text(out / wire_table.SPEF, spef.text())
