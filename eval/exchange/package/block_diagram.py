"""Block diagram of an elaborated component: its blocks on the diagonal, and the wires between them.

A wire leaves its source sideways and enters its sink from above or below. The label at its corner
has ports of the sink with their bits; lines that cross without a label are not connected. Combinational logic
between blocks is part of the wires.
"""

import html
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

from pymtl3 import InPort, OutPort

FEW = 5  # blocks: the largest of fewer is opened
CELL_WIDTH, CELL_HEIGHT, BLOCK_WIDTH, BLOCK_HEIGHT = 140, 74, 122, 46
MARGIN, LINE, MOST_NAMES = 14, 12, 3
PORTS = "ports"
CLOCKING = re.compile(r"\.(clk|reset)$")
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"
 style="font-family:system-ui,sans-serif;font-size:11px" role="img"><title>{title}</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0 L8 4 L0 8 z" fill="#57606a"/></marker></defs>
<rect width="{width}" height="{height}" fill="#ffffff"/>"""

Wires = Mapping[tuple[str, str], Mapping[str, int]]  # of source and sink: ports of the sink with their bits


def block_diagram(component: Any, title: str) -> str:
    """An SVG of the component."""
    netlist = Netlist(component)
    wires = netlist.wires
    blocks = _in_order(wires)
    width, height = 2 * MARGIN + len(blocks) * CELL_WIDTH, 3 * MARGIN + len(blocks) * CELL_HEIGHT
    middle = {
        block: (MARGIN + CELL_WIDTH * (2 * place + 1) // 2, 2 * MARGIN + CELL_HEIGHT * (2 * place + 1) // 2)
        for place, block in enumerate(blocks)
    }
    lines = [HEAD.format(width=width, height=height, title=html.escape(title))]
    lines.append(_text(MARGIN, MARGIN, title, "font-weight:600", "start"))
    labels: list[str] = []
    for (source, sink), signals in sorted(wires.items()):
        (start, y), (x, end) = middle[source], middle[sink]
        side = 1 if x > start else -1
        lines.append(
            f'<path d="M{start + side * BLOCK_WIDTH // 2} {y} H{x} V{end - side * BLOCK_HEIGHT // 2}" '
            'fill="none" stroke="#8c959f" marker-end="url(#head)"/>'
        )
        labels += _label(x, y, signals)
    for name, (x, y) in middle.items():
        lines.append(
            f'<rect x="{x - BLOCK_WIDTH // 2}" y="{y - BLOCK_HEIGHT // 2}" width="{BLOCK_WIDTH}" '
            f'height="{BLOCK_HEIGHT}" rx="4" fill="#ddf4ff" stroke="#57606a"/>'
        )
        lines.append(_text(x, y - 2 if name in netlist.kinds else y + 4, name, "font-weight:600"))
        lines.append(_text(x, y + LINE, netlist.kinds.get(name, "")))
    return "\n".join([*lines, *labels, "</svg>", ""])


def _label(x: int, y: int, signals: Mapping[str, int]) -> Iterator[str]:
    """The widest signals of a wire, on white."""
    names = sorted(signals, key=lambda name: (-signals[name], name))
    shown = [f"{name} {signals[name]}" if signals[name] > 1 else name for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        shown[-1] = f"and {len(names) - MOST_NAMES + 1} more"
    top = y - LINE * len(shown) // 2
    wide = 7 * max(map(len, shown))
    yield f'<rect x="{x - wide // 2}" y="{top}" width="{wide}" height="{LINE * len(shown)}" fill="#ffffff"/>'
    yield from (_text(x, top + LINE * (row + 1) - 2, text) for row, text in enumerate(shown))


def _text(x: int, y: int, text: str, style: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="{style}">{html.escape(text)}</text>'


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
        self.kinds: dict[str, str] = {}  # of blocks, in words
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
        groups = defaultdict(list)
        for child in component.get_child_components():
            groups[child.get_field_name().partition("[")[0]].append(child)
        for name, group in groups.items():
            count = f" × {len(group)}" if len(group) > 1 else ""
            self.kinds[name] = f"{type(group[0]).__name__}{count}"
            self.names |= dict.fromkeys(group, name)

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
            name = "registers" if component is self.top else f"{component.get_field_name()}.registers"
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


def _size(component: Any) -> int:
    return 1 + sum(map(_size, component.get_child_components()))


def _blocks_behind(item: Any, drivers: Mapping[Any, set[Any]], seen: set[Any]) -> set[str]:
    """The blocks from which a wire comes, through other wires and combinational logic."""
    if isinstance(item, str):
        return {item}
    new = drivers.get(item, set()) - seen
    seen |= new
    return {block for driver in new for block in _blocks_behind(driver, drivers, seen)}
