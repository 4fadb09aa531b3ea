"""DrawnBlock: a block of a block diagram as SVG, with name, class and file, and the blocks inside it."""

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

LEAST_WIDTH, HEADING = 122, 46  # of a block, and the height of its texts
PAD, MOST_ROWS = 8, 4  # of the blocks inside
LETTER = 7  # width of a letter, at most
BOLD, SMALL = "font-weight:600", "font-size:9px;fill:#57606a"
FILLS = ("#ddf4ff", "#ffffff")  # alternate from one level to the next


def text_at(x: int, y: int, text: str, style: str = "", anchor: str = "middle") -> str:
    """A line of text."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="{style}">{html.escape(text)}</text>'


@dataclass(frozen=True)
class DrawnBlock:
    """A block as it is drawn: name, class and file, and the blocks inside it."""

    name: str
    kind: str = ""
    file: str = ""
    inside: Sequence["DrawnBlock"] = ()

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """The lines of text, with their styles."""
        lines = (self.name, BOLD), (self.kind, ""), (self.file, SMALL)
        return [(text, style) for text, style in lines if text]

    @cached_property
    def rows(self) -> list[Sequence["DrawnBlock"]]:
        """The rows of the blocks inside."""
        columns = math.ceil(len(self.inside) / MOST_ROWS) or 1
        return [self.inside[place : place + columns] for place in range(0, len(self.inside), columns)]

    @cached_property
    def cell(self) -> tuple[int, int]:
        """Width and height of a block inside: all are as large as the largest."""
        widths, heights = zip(*(block.size for block in self.inside), strict=True)
        return max(widths), max(heights)

    @cached_property
    def heading(self) -> int:
        """The height of the texts."""
        return HEADING + (PAD if self.file else 0)

    @cached_property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        lengths = (len(text) * (5 if style == SMALL else LETTER) for text, style in self.texts)
        width = max(LEAST_WIDTH, 2 * PAD + max(lengths))
        if not self.inside:
            return width, self.heading
        wide, high = (side + PAD for side in self.cell)
        return max(width, PAD + len(self.rows[0]) * wide), self.heading + len(self.rows) * high

    def drawn(self, x: int, y: int, size: tuple[int, int], level: int = 0) -> Iterator[str]:
        """The block with its centre here, as SVG; level: the number of blocks around it."""
        width, height = size
        left, top = x - width // 2, y - height // 2
        yield (
            f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" '
            f'fill="{FILLS[level % len(FILLS)]}" stroke="#57606a"/>'
        )
        texts = self.heading if self.inside else height
        first = top + texts // 2 + 5 - 7 * (len(self.texts) - 1)
        for line, (text, style) in enumerate(self.texts):
            yield text_at(x, first + 14 * line, text, style)
        if not self.inside:
            return
        wide, high = self.cell
        start = x - (len(self.rows[0]) - 1) * (wide + PAD) // 2
        for line, row in enumerate(self.rows):
            for column, block in enumerate(row):
                place = start + column * (wide + PAD), top + texts + high // 2 + line * (high + PAD)
                yield from block.drawn(*place, self.cell, level + 1)
