"""Layout against netlist down to the transistors (LVS), by the foundry's deck for KLayout.

The deck extracts transistors and nets from the GDS and compares them with a netlist in CDL: the library's own
circuits of the cells, and a circuit of the design that connects all cells of the layout by the nets of the
placed netlist. KLayout does not read multipliers or words without a number, so a transistor is written with
its length and its width times its fingers. Cells without devices (fillers, taps) are left out. A tie cell may
be a wire, so that its nets are the rails.

Large gates may be drawn as several stacks where the CDL has one, and the deck reports that the cell differs.
Such a cell is compared as the deck extracts it, and the result names it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ...fl.errors import BadInput
from ...fl.input_file import read_text
from ...rtl.sim.toolchain import ToolTimeout
from ..files import replace_text, scratch
from ..kit.kit import Kit
from ..kit.kit_file import gds_number
from ..layout import fill
from ..layout.layout import cells_of
from ..layout.placed import Placed
from .application import run_deck

GDS, CDL, EXTRACTED, REPORT = "layout.gds", "netlist.cdl", "*_extracted.cir", "lvs_report.lvsdb"
# as the decks of SKY130 and IHP call their files; the report of SKY130's is always beside the GDS
NAMES = {"in_gds": GDS, "input": GDS, "cdl_file": CDL, "schematic": CDL, "report": REPORT}
# cells stay cells; the names of ports, which an older KLayout cannot compare, are for connections.py
OPTIONS = ("-rd", "run_mode=deep", "-rd", "ignore_top_ports_mismatch=true")
# the second: of equal parts, one was taken; of devices, that a parameter differs
MATCH = ("Match", "MatchWithWarning")


class Transistors(msgspec.Struct, frozen=True):
    """The result of a deck that compares."""

    deck: str
    cells: int  # kinds that were compared
    differences: Mapping[str, int]  # in the design by kind (nets, pins, ...), in a cell under its name
    as_drawn: tuple[str, ...] = ()  # kinds compared as the deck extracts them
    why_not: str = ""  # of a deck that was stopped

    @property
    def text(self) -> str:
        """The result in a line."""
        if self.why_not:
            return f"not compared: {self.why_not}"
        found = ", ".join(f"{number:,} {what}" for what, number in self.differences.items())
        kinds = f"{self.cells} kinds of cells"
        if self.as_drawn:
            kinds += f", {len(self.as_drawn)} of them as drawn ({', '.join(self.as_drawn)})"
        return f"{f'differences: {found}' if found else 'layout and netlist match'} by {self.deck}; {kinds}"


def compare(gds: Path, kit: Kit, placed: Placed) -> Transistors | None:
    """Compare a layout with its netlist; None if the kit has no deck for it."""
    if kit.lvs is None:
        return None
    deck, cdl = kit.lvs
    circuits = read_circuits(cdl)
    kinds = sorted({cell.kind for cell in cells_of(placed).values()})
    if missing := [kind for kind in kinds if kind not in circuits]:
        raise BadInput(f"{cdl} has no circuit {missing[0]}: take the CDL that belongs to the kit's LEF")
    used = {kind: circuits[kind] for kind in kinds}
    with scratch() as folder:
        _write_copy(gds, placed, folder / GDS)
        replaced: list[str] = []
        while True:
            own = {kind: circuit.text for kind, circuit in used.items() if circuit.compared}
            replace_text(folder / CDL, "\n".join([*own.values(), *_design(placed, used)]) + "\n")
            files = {name: folder / file for name, file in NAMES.items()}
            try:
                run_deck(deck, files, folder / REPORT, OPTIONS)
            except (BadInput, ToolTimeout) as error:
                return Transistors(deck.name, len(own), {}, why_not=str(error))
            found = _differences(folder / REPORT)
            split = [kind for kind in own if found.get(kind) and kind not in replaced]
            if not split:
                return Transistors(deck.name, len(own), found, tuple(replaced))
            drawn = read_circuits(next(folder.glob(EXTRACTED)))
            used |= {kind: drawn[kind] for kind in split}
            replaced += split


class Circuit(msgspec.Struct, frozen=True):
    """A cell in the library's CDL."""

    pins: tuple[str, ...]
    text: str  # for KLayout
    joined: Mapping[str, str]  # pins that are wires to other pins

    @property
    def compared(self) -> bool:
        """Whether there are transistors or diodes."""
        return "\nM" in self.text.upper() or "\nD" in self.text.upper()


def read_circuits(path: Path) -> dict[str, Circuit]:
    """The cells of a CDL file by their names."""
    texts = _circuit_texts(read_text(path, "fetch the PDK again"))
    return {name: _circuit(text) for name, text in texts.items()}


def _circuit_texts(text: str) -> dict[str, str]:
    """The circuits of a netlist by their names, with a line for each statement and without comments."""
    text = re.sub(r"\n\+", " ", re.sub(r"^\*.*\n", "", text, flags=re.MULTILINE))
    found = re.finditer(r"^\.SUBCKT +(\S+)[\s\S]*?^\.ENDS\b.*$", text, re.MULTILINE | re.IGNORECASE)
    return {match[1]: match[0] for match in found}


def _circuit(text: str) -> Circuit:
    head, *lines = text.splitlines()
    joined = dict(line.split()[1:3] for line in lines if re.fullmatch(r"(?i)R\S* \S+ \S+ short", line))
    pins = head.split()[2:]
    kept = [_transistor(line) if line[:1] in "Mm" else line for line in lines if line[:1] not in "Rr"]
    both = joined | {other: pin for pin, other in joined.items()}
    return Circuit(tuple(pins), "\n".join([head, *kept]), both)


def _transistor(line: str) -> str:
    """A transistor with the width of all fingers, and its length."""
    words = line.split()
    values = {name.lower(): value for name, _, value in (word.partition("=") for word in words) if value}
    size = values["w"].rstrip("munU")  # without its unit
    width = float(size) * int(values.get("m", 1))
    return f"{' '.join(words[:6])} w={width:.12g}{values['w'][len(size) :]} l={values['l']}"


def _design(placed: Placed, circuits: Mapping[str, Circuit]) -> Iterator[str]:
    """The circuit of the design: a cell's pin without a net gets one of its own."""
    netlist, supply = placed.netlist, placed.lef.kit.supply
    rails = {supply.power: supply.power, supply.ground: supply.ground, **supply.wells}
    tied = {
        net: rails[other]
        for cell in netlist.cells.values()
        for pin, other in circuits[cell.kind].joined.items()
        if other in rails and (net := cell.pins.get(pin)) is not None
    }
    ports = {net: bit for way in ("input", "output") for bit, net in netlist.port_bits(way)}
    names = {net: tied.get(net) or ports.get(net) or f"net{net}" for net in range(len(netlist.nets))}
    own = [name for net, name in ports.items() if net not in tied]
    yield f".SUBCKT {' '.join([placed.placement.design, *own, supply.power, supply.ground])}"
    for number, (name, cell) in enumerate(cells_of(placed).items()):
        circuit, pins = circuits[cell.kind], netlist.cells[name].pins if name in netlist.cells else {}
        if circuit.compared:
            nets = (
                rails.get(pin) or (names[pins[pin]] if pin in pins else f"open{number}_{pin}")
                for pin in circuit.pins
            )
            yield f"X{number} {' '.join(nets)} {cell.kind}"
    yield ".ENDS"


def _write_copy(gds: Path, placed: Placed, path: Path) -> None:
    """Write the layout without fill, of which decks make nets, and with the substrate below all cells."""
    import klayout.db as db  # not at the top: not everyone has it

    content, layers = db.Layout(), placed.lef.kit.layers
    content.read(str(gds))
    fill.remove(content)
    if layers.substrate is not None:
        die = db.DBox(0, 0, *placed.placement.die_um)
        content.top_cell().shapes(content.layer(*gds_number(layers.substrate))).insert(die)
    content.write(str(path))


def _differences(report: Path) -> dict[str, int]:
    """The number of differences: of the design by the kind of part, of a cell under its name."""
    import klayout.db as db  # not at the top: not everyone has it

    made = db.LayoutVsSchematic()
    made.read(str(report))
    found, pairs = Counter[str](), made.xref()
    top = made.netlist().top_circuit().name
    for pair in pairs.each_circuit_pair():
        name = (pair.first() or pair.second()).name
        wrong = Counter(
            f"{kind}s"
            for kind in ("pin", "net", "device", "subcircuit")
            for part in getattr(pairs, f"each_{kind}_pair")(pair)
            if str(part.status()) not in MATCH[: 1 if kind == "device" else 2]
        )
        if str(pair.status()) not in MATCH and not wrong:
            wrong["circuits not compared"] = 1
        found.update(wrong if name == top else {name: wrong.total()} if wrong else {})
    return dict(found)
