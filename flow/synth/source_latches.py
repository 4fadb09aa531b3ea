"""Latches that the source describes: the meant ones become latches and clock gates of the kit, all others
are refused.

A latch is meant if an `always_latch` assigns it, if its declaration is marked `(* latch *)`, or if it is the
latch of a clock gate: open while the clock is low, and read by nothing but an AND with this clock. read_slang
copies the attributes of a process to the cells that it makes of it, so `marked` puts one before each
`always_latch`.

A latch and an AND of one clock become the kit's clock gate (`CLOCK_GATES`), and the remaining latches the
kit's smallest latch, behind an inverter if the kit has it for the other level of the enable only.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ...fl.errors import BadInput
from ..kit.functions import parse
from ..kit.liberty import Cell as LibraryCell
from ..kit.liberty import Library
from ..netlist.document import Bit, Cell, Document, Module, readers
from . import script
from .latches import MARK, latch_of, shown

LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")
LATCH = "$dlatch"  # the only kind that read_slang makes of a process
MEANT = "modexlab_latch"  # attribute of a process that is an always_latch
# strings, comments and escaped names are skipped
PROCESS = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|\\\S+|\b(?P<process>always_latch)\b', re.DOTALL)
SRC = re.compile(r"^.*/|\.\d+(-[\d.]+)?$")  # removes all but file and line from an attribute src
ANDS, NOTS = ("$and", "$logic_and"), ("$not", "$logic_not")
CHOICES = ("$mux", "$pmux", "$bmux", "$buf")
ASSIGN = "assign it in every branch, or in always_ff"
REMEDY = f"{ASSIGN}; if the latch is meant, write always_latch or mark the declaration (* latch *)"
CLOCK_GATES, KIT_CELLS = "clock_gates.v", "kit_latches.v"
FILES = CLOCK_GATES, KIT_CELLS
STYLE = "latch_posedge"  # of the clock gates that replace a latch and an AND

LOOP = re.compile(r"Warning: found logic loop in module (\S+):\n((?:    .*\n)+)")
LOOP_CELL = re.compile(r"^    cell .* \((\S+)\)(?: source: .*)?\n      (\w+)\[", re.MULTILINE)
LOOP_WIRE = re.compile(r"^    wire \\?(\S+)(?: \[\d+\])?(?: source: (\S+))?$", re.MULTILINE)


class SourceLatches(NamedTuple):
    """The meant latches of a design: the bits of the nets that they drive, by name and place, and the name of
    one of a clock gate and of another one, "" if there is none.
    """

    bits: frozenset[tuple[str, int]] = frozenset()
    gate: str = ""
    latch: str = ""


def marked(text: str) -> str:
    """The source with an attribute before each always_latch."""
    if "always_latch" not in text:
        return text
    return PROCESS.sub(lambda found: f"(* {MEANT} *) {found[0]}" if found["process"] else found[0], text)


def find(flat: Document, hierarchy: Document, top: str) -> SourceLatches:
    """The latches of the flat design; BadInput for one that is not meant, with its place in the source from
    `hierarchy`.
    """
    bits: set[tuple[str, int]] = set()
    examples = {True: "", False: ""}
    for module in flat["modules"].values():
        found = [(name, cell) for name, cell in module["cells"].items() if cell["type"] in LATCHES]
        if not found:
            continue
        gates = _Gates(module)
        nets = {name: net for name, net in module["netnames"].items() if not net.get("hide_name")}
        named: dict[Bit, list[tuple[str, int]]] = {}
        marks: set[Bit] = set()
        for name, net in nets.items():
            for place, bit in enumerate(net["bits"]):
                named.setdefault(bit, []).append((name, place))
            marks.update(net["bits"] if MARK in net.get("attributes", {}) else ())
        for name, cell in found:
            out = cell["connections"]["Q"]
            net_name = min((net for net, _ in named.get(out[0], ())), default=name)
            gate = gates.has(cell)
            meant = MEANT in cell.get("attributes", {}) or marks.issuperset(out) or gate
            if cell["type"] != LATCH or not meant:
                raise _refusal(top, net_name, _place(cell, hierarchy))
            bits.update(bit for net in out for bit in named.get(net, ()))
            examples[gate] = examples[gate] or net_name
    return SourceLatches(frozenset(bits), examples[True], examples[False])


def refuse_all(flat: Document, top: str) -> None:
    """BadInput for any latch, as FPGAs have none."""
    for module in flat["modules"].values():
        for name, cell in module["cells"].items():
            if cell["type"] in LATCHES:
                out = set(cell["connections"]["Q"])
                named = ((net, data) for net, data in module["netnames"].items() if not data.get("hide_name"))
                net_name = min((net for net, data in named if out <= set(data["bits"])), default=name)
                raise _refusal(top, net_name, _place(cell, flat), ASSIGN)


def _refusal(top: str, net: str, place: str, remedy: str = REMEDY) -> BadInput:
    return BadInput(f"{top}: {net}{place} is a latch: {remedy}")


def check_loops(log: str, remedy: str = REMEDY) -> None:
    """BadInput for a combinational loop that Yosys reports; a net that keeps its value by multiplexers alone
    is a latch of an always_comb.
    """
    loop = LOOP.search(log)
    if not loop:
        return
    top = loop[1].rstrip(":")
    cells, wires = LOOP_CELL.findall(loop[2]), LOOP_WIRE.findall(loop[2])
    if len(wires) == 1 and cells and all(kind in CHOICES and pin != "S" for kind, pin in cells):
        name, source = wires[0]
        declared = SRC.sub("", source.rpartition("|")[2])
        raise _refusal(top, name, f" ({declared})" if declared else "", remedy)
    where = "; ".join(line.strip() for line in loop[2].splitlines()[:2])
    raise BadInput(f"{top} has a combinational loop ({where}): break it with a register")


def _place(cell: Cell, hierarchy: Document) -> str:
    """The file and the line of a latch, in brackets."""
    places = {
        other.get("attributes", {}).get("src")
        for module in hierarchy["modules"].values()
        for other in module["cells"].values()
        if other["type"] in LATCHES
    }
    sources = cell.get("attributes", {}).get("src", "").split("|")
    return "".join(f" ({SRC.sub('', source)})" for source in sources if source in places)


class _Gates:
    """The clock gates of latch and AND in a module of words and operators."""

    def __init__(self, module: Module) -> None:
        self.cells, self.readers = module["cells"], readers(module)
        self.drivers = {
            bit: cell
            for cell in module["cells"].values()
            for bit in cell["connections"].get("Y", ())
            if cell["type"] in NOTS
        }

    def has(self, latch: Cell) -> bool:
        """Whether a latch is open while a clock is low and only feeds an AND with this clock."""
        if latch["type"] != LATCH or len(latch["connections"]["Q"]) != 1:
            return False
        enable, level = latch["connections"]["EN"][0], int(latch["parameters"]["EN_POLARITY"], 2)
        while (cell := self.drivers.get(enable)) and len(cell["connections"]["A"]) == 1:
            enable, level = cell["connections"]["A"][0], 1 - level
        (out,) = latch["connections"]["Q"]
        read = self.readers[out]
        if level or len(read) != 1 or read == {""}:
            return False
        (cell,) = (self.cells[name] for name in read)
        return cell["type"] in ANDS and (out, enable) in _pairs(cell)


def _pairs(cell: Cell) -> Iterator[tuple[Bit, Bit]]:
    """The pairs of bits that an AND combines, in both orders."""
    a, b = (cell["connections"][pin] for pin in "AB")
    if cell["type"] == "$logic_and" and len(a) * len(b) != 1:
        return
    for pair in zip(a, b, strict=False):
        yield pair
        yield pair[::-1]


# ---- mapping


def commands(latches: SourceLatches, library: Library, top: str, work: Path) -> str:
    """The commands that map the latches of a design at the level of gates, whose files are written to `work`;
    "" for a design without latches.
    """
    lines, rules = [], []
    gate = library.cells[library.roles.clock_gate]
    gates = bool(latches.bits) and gate.clock_gate is not None and gate.clock_gate.style.startswith(STYLE)
    if gates:
        (work / CLOCK_GATES).write_text((script.FOLDER / CLOCK_GATES).read_text())
        lines.append(f"extract -map {CLOCK_GATES}")
        rules.append(_clock_gate(gate))
    if name := latches.latch or ("" if gates else latches.gate):
        rules += _latches(library, f"{top}: {name}")
    if rules:
        (work / KIT_CELLS).write_text("".join(rules))
        lines.append(f"techmap -map {KIT_CELLS}")
    return "\n".join(lines)


def _clock_gate(cell: LibraryCell) -> str:
    """The techmap rule for the pattern of CLOCK_GATES."""
    pins = cell.clock_gate
    assert pins
    test = f", .{pins.test}(1'b0)" if pins.test else ""
    return f"""\
module modexlab_clock_gate (input clk, input en, output gated);
  {cell.name} gate (.{pins.clock}(clk), .{pins.enable}(en), .{pins.output}(gated){test});
endmodule
"""


def _latches(library: Library, what: str) -> Iterator[str]:
    """The techmap rules for latches of either level; BadInput if the library has none."""
    kinds = {level: latch_of(library, level) for level in (True, False)}
    if not any(kinds.values()):
        raise BadInput(
            f"{what} is a latch, and {library.name} has no latch without clear and preset: take another kit, "
            "or a flip-flop"
        )
    for level, letter in ((True, "P"), (False, "N")):
        cell = kinds[level] or kinds[not level]
        assert cell and cell.latch
        pin, _ = parse(cell.latch.clock).literal or ("", True)
        inverter = "" if kinds[level] else "  wire open;\n  \\$_NOT_ inverter (.A(E), .Y(open));\n"
        connected = (pin, "open" if inverter else "E"), (cell.latch.data, "D"), (shown(cell), "Q")
        yield f"""\
(* techmap_celltype = "$_DLATCH_{letter}_" *)
module _80_latch_{letter} (input E, input D, output Q);
{inverter}  {cell.name} latch ({", ".join(f".{name}({net})" for name, net in connected)});
endmodule
"""
