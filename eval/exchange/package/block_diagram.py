"""Block diagram of a package, drawn from the hardware: the top module, its port groups, and two levels of
components.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, LINE, PAD, GAP = 900, 17, 14, 16
PORT_WIDTH = 190
STYLE = "font-family:system-ui,sans-serif;font-size:13px"
FILLS = ("#f6f8fa", "#ffffff")


@dataclass(frozen=True)
class Block:
    """A component, or several of a kind."""

    name: str
    kind: str
    parts: tuple[str, ...]  # what is in it, in words


def block_diagram(component: Any, title: str, ports: Sequence[tuple[str, str]]) -> str:
    """An SVG: `component` is elaborated; `ports` are groups of them in words, on the left, each "in", "out",
    or "both".
    """
    blocks = list(_blocks(component))
    columns = 2 if len(blocks) > 1 else 1
    inner = WIDTH - PORT_WIDTH - 2 * PAD
    wide = (inner - (columns - 1) * GAP) // columns
    placed, bottoms = [], [0] * columns
    for block in sorted(blocks, key=lambda item: -len(item.parts)):
        column = bottoms.index(min(bottoms))
        high = 2 * PAD + LINE * (1 + len(block.parts))
        placed.append((block, column, bottoms[column], high))
        bottoms[column] += high + GAP
    body = max([*bottoms, len(ports) * 2 * LINE]) + GAP
    height = body + 3 * LINE + 2 * PAD
    left, top = PORT_WIDTH, 2 * PAD
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" style="{STYLE}" '
        f'role="img"><title>{html.escape(title)}</title>',
        f'<rect x="{left}" y="{top}" width="{WIDTH - left - 2}" height="{height - top - PAD}" rx="6" '
        f'fill="{FILLS[0]}" stroke="#57606a"/>',
        _text(left + PAD, top + LINE + 4, title, "font-weight:600"),
    ]
    for place, (port, way) in enumerate(ports):
        y = top + 3 * LINE + place * 2 * LINE
        lines.append(_text(4, y + 4, port))
        heads = (f"M{left} {y} l-8 -4 v8 z " if way != "out" else "") + (
            f"M{left - 40} {y} l8 -4 v8 z" if way != "in" else ""
        )
        lines.append(
            f'<path d="M{left - 36} {y} H{left - 4}" stroke="#57606a" stroke-width="1.5"/><path d="{heads}" '
            'fill="#57606a"/>'
        )
    for block, column, offset, high in placed:
        x, y = left + PAD + column * (wide + GAP), top + 2 * LINE + offset
        lines.append(
            f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="4" fill="{FILLS[1]}" '
            'stroke="#8c959f"/>'
        )
        lines.append(_text(x + PAD, y + LINE + 4, f"{block.name}", "font-weight:600", f" {block.kind}"))
        lines += [
            _text(x + PAD, y + LINE * (2 + row) + 6, part, "fill:#57606a")
            for row, part in enumerate(block.parts)
        ]
    return "\n".join([*lines, "</svg>", ""])


def _text(x: int, y: int, text: str, style: str = "", more: str = "") -> str:
    tail = f'<tspan style="font-weight:400;fill:#57606a">{html.escape(more)}</tspan>' if more else ""
    return f'<text x="{x}" y="{y}" style="{style}">{html.escape(text)}{tail}</text>'


def _blocks(component: Any) -> Iterator[Block]:
    own = sorted(block.__name__.replace("_", " ") for block in component.get_update_ff())
    if own:
        yield Block("registers", "of its own", tuple(own))
    for name, kind, child in _children(component):
        yield Block(name, kind, tuple(f"{inner}: {of}" for inner, of, _ in _children(child)))


def _children(component: Any) -> Iterator[tuple[str, str, Any]]:
    """Name, class and first of the components inside; a list of them is one, with its count."""
    groups: dict[str, list[Any]] = {}
    for child in sorted(
        component.get_child_components(),
        key=lambda child_component: _natural(child_component.get_field_name()),
    ):
        groups.setdefault(re.sub(r"\[\d+\]", "", child.get_field_name()), []).append(child)
    for name, group in groups.items():
        count = f" × {len(group)}" if len(group) > 1 else ""
        kinds = ", ".join(dict.fromkeys(type(member).__name__ for member in group))
        yield name, f"{kinds}{count}", group[0]


def _natural(name: str) -> tuple[Any, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name))
