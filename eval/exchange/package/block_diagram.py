"""Block diagram of an elaborated component: its blocks on the diagonal, and the wires between them.

A wire leaves its source sideways and enters its sink from above or below. The label at its corner
has ports of the sink with their bits; lines that cross without a label are not connected. Combinational logic
between blocks is part of the wires. A depth of 2 or more shows the blocks inside a block, without wires.
"""

import html
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, product
from pathlib import Path
from typing import Any

from pymtl3 import InPort, OutPort

from .drawn_block import BOLD, LETTER, PAD, DrawnBlock, text_at

FEW = 5  # blocks: the largest of fewer is opened
CELL_WIDTH, GAP = 140, 28  # of a column, and between two blocks in adjacent rows
MARGIN, LINE, MOST_NAMES = 14, 12, 3
DEPTH = 2  # levels of blocks in a picture for readers of the Python code
PORTS, REGISTERS = "ports", "registers"
ROOT = Path(__file__).parents[3]
CLOCKING = re.compile(r"\.(clk|reset)$")
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
 style="font-family:system-ui,sans-serif;font-size:11px" role="img"><title>{title}</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0 L8 4 L0 8 z" fill="#57606a"/></marker></defs>
<rect width="{width}" height="{height}" fill="#ffffff"/>"""

Wires = Mapping[tuple[str, str], Mapping[str, int]]  # of source and sink: ports of the sink with their bits


def block_diagram(component: Any, title: str, depth: int = 1, files: bool = False) -> str:
    """An SVG of the component.

    depth: levels of blocks, one inside the other. files: name the Python file of each block.
    """
    if files:
        title = f"{title}: {type(component).__name__}, {_file(type(component))}"
    netlist = Netlist(component)
    wires = netlist.wires
    blocks = [netlist.block(name, depth, files) for name in _in_order(wires)]
    rights = [*accumulate((max(CELL_WIDTH, block.size[0] + PAD) for block in blocks), initial=MARGIN)]
    bottoms = [*accumulate((GAP + block.size[1] for block in blocks), initial=2 * MARGIN)]
    width, height = max(rights[-1], MARGIN + LETTER * len(title)) + MARGIN, bottoms[-1] + MARGIN
    middle = {
        block.name: (sum(rights[place : place + 2]) // 2, sum(bottoms[place : place + 2]) // 2)
        for place, block in enumerate(blocks)
    }
    sizes = {block.name: block.size for block in blocks}
    lines = [HEAD.format(width=width, height=height, title=html.escape(title))]
    lines.append(text_at(MARGIN, MARGIN, title, BOLD, "start"))
    labels: list[str] = []
    for (source, sink), signals in sorted(wires.items()):
        (start, y), (x, end) = middle[source], middle[sink]
        side = 1 if x > start else -1
        lines.append(
            f'<path d="M{start + side * sizes[source][0] // 2} {y} H{x} V{end - side * sizes[sink][1] // 2}" '
            'fill="none" stroke="#8c959f" marker-end="url(#head)"/>'
        )
        labels += _label(x, y, signals)
    for block in blocks:
        lines += block.drawn(*middle[block.name], block.size)
    return "\n".join([*lines, *labels, "</svg>", ""])


def _label(x: int, y: int, signals: Mapping[str, int]) -> Iterator[str]:
    """The widest signals of a wire, on white."""
    names = sorted(signals, key=lambda name: (-signals[name], name))
    shown = [f"{name} {signals[name]}" if signals[name] > 1 else name for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        shown[-1] = f"and {len(names) - MOST_NAMES + 1} more"
    top = y - LINE * len(shown) // 2
    wide = LETTER * max(map(len, shown))
    yield f'<rect x="{x - wide // 2}" y="{top}" width="{wide}" height="{LINE * len(shown)}" fill="#ffffff"/>'
    yield from (text_at(x, top + LINE * (row + 1) - 2, text) for row, text in enumerate(shown))


def _in_order(wires: Wires) -> list[str]:
    """The blocks as data reach them from the ports."""
    order = [PORTS]
    for block in order:
        sinks = (sink for source, sink in sorted(wires) if source == block)
        order += dict.fromkeys(sink for sink in sinks if sink not in order)
    return order + sorted({block for pair in wires for block in pair} - {*order})


class Netlist:
    """The blocks of a component, those of its largest blocks included, and the wires between them."""

    def __init__(self, top: Any) -> None:
        self.top = top
        self.open: list[Any] = []
        self.names: dict[Any, str] = {}  # of the blocks; those of an array have one
        self.groups: dict[str, list[Any]] = {}  # the components of a block
        inner = [top]
        while inner:
            self._open(max(inner, key=_size))
            names = [*self.names.values()]
            single = [block for block, name in self.names.items() if names.count(name) == 1]
            inner = [block for block in single if len({*names}) < FEW and block.get_child_components()]

    def _open(self, component: Any) -> None:
        """Show the components inside in the place of a block."""
        self.open.append(component)
        self.names.pop(component, None)
        for name, group in _children(component).items():
            self.groups[name] = group
            self.names |= dict.fromkeys(group, name)

    def block(self, name: str, depth: int, files: bool) -> DrawnBlock:
        """A block of the picture, with the blocks inside it."""
        return self._drawn(name, self.groups[name], depth, files) if name in self.groups else DrawnBlock(name)

    def _drawn(self, name: str, group: Sequence[Any], depth: int, files: bool) -> DrawnBlock:
        component, inside = group[0], []
        children = _children(component) if depth > 1 else {}
        if children and component.get_update_ff():
            inside.append(DrawnBlock(REGISTERS, _listed(self._registers(component))))
        inside += [self._drawn(child, parts, depth - 1, files) for child, parts in children.items()]
        count = f" × {len(group)}" if len(group) > 1 else ""
        file = _file(type(component)) if files else ""
        return DrawnBlock(name, f"{type(component).__name__}{count}", file, inside)

    def _registers(self, component: Any) -> list[str]:
        """The names of a component's own registers."""
        _, writes, _ = self.top.get_all_upblk_metadata()
        signals = (signal for block in component.get_update_ff() for signal in writes[block])
        tops = {signal.get_top_level_signal().get_field_name().partition("[")[0] for signal in signals}
        return [name for name in vars(component) if name in tops]

    def place(self, item: Any) -> Any:
        """The block of a signal or of registers, or a wire between blocks."""
        if isinstance(item, str):
            return item
        host = item.get_host_component()
        if host is self.top and isinstance(item.get_top_level_signal(), InPort | OutPort):
            return PORTS
        while host not in self.names and host not in self.open:
            host = host.get_parent_object()
        return self.names.get(host, item.get_top_level_signal())

    def _connections(self) -> Iterator[tuple[Any, Any]]:
        """Sources and sinks: signals, or the registers of an open component."""
        for writer, signals in self.top.get_all_value_nets():
            yield from product([writer] if writer.is_signal() else [], signals)
        reads, writes, _ = self.top.get_all_upblk_metadata()
        for component in self.open:
            name = REGISTERS if component is self.top else f"{component.get_field_name()}.{REGISTERS}"
            for block in component.get_update_blocks():
                state = [name] if block in component.get_update_ff() else []
                yield from product(reads[block], state or writes[block])
                yield from product(state, writes[block])

    @cached_property
    def wires(self) -> Wires:
        drivers = defaultdict(set)
        ends = []
        for start, end in self._connections():
            named = start if isinstance(end, str) else end
            if not CLOCKING.search(repr(named)):
                source, sink = self.place(start), self.place(end)
                drivers[sink].add(source)
                if isinstance(sink, str):
                    ends.append((source, sink, named))
        wires: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for source, sink, named in ends:
            path = repr(named)[len(repr(named.get_host_component())) + 1 :]
            name = re.split(r"[.\[]", path)[0]
            for block in _blocks_behind(source, drivers, set()) - {sink}:
                signals = wires[block, sink]
                signals[name] = max(signals.get(name, 0), named.get_type().nbits)
        return wires


def _children(component: Any) -> dict[str, list[Any]]:
    """The components inside a component, those of an array together, in the order of its attributes."""
    groups = defaultdict(list)
    for child in component.get_child_components(repr):
        groups[child.get_field_name().partition("[")[0]].append(child)
    return {name: groups[name] for name in vars(component) if name in groups}


def _listed(names: Sequence[str]) -> str:
    """The names, or the first of them."""
    shown = [*names] if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], "..."]
    return ", ".join(shown)


def _file(kind: type) -> str:
    """The file of a class: its path in this project, or the name of a user's file."""
    package = kind.__module__.partition(".")[0]
    if package == "pymtl3":  # a standard component
        return package
    file = Path(inspect.getfile(kind))
    return str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else file.name


def _size(component: Any) -> int:
    return 1 + sum(map(_size, component.get_child_components()))


def _blocks_behind(item: Any, drivers: Mapping[Any, set[Any]], seen: set[Any]) -> set[str]:
    """The blocks from which a wire comes, through other wires and combinational logic."""
    if isinstance(item, str):
        return {item}
    new = drivers.get(item, set()) - seen
    seen |= new
    return {block for driver in new for block in _blocks_behind(driver, drivers, seen)}
