"""Pictures of layouts, from the store."""

import base64
from collections.abc import Mapping
from typing import NamedTuple

from ..lab.stages import LAYOUT
from ..png import smaller
from .store_view import Entries, Entry

MOST_BYTES = 4_500_000  # for all pictures: the page stays below 10 MB with them in base64
WIDEST = 1100  # pixels
KINDS = {  # artifact: what it shows
    "amoeba.png": "Amoeba plot: every cell in the colour of its module, and the longest path.",
    "layout.png": "The layout, whole and enlarged.",
    "density.png": "Cells and wires by area.",
}
NO_WIRES = "It has no wires because the setting detailed=false leaves out detailed routing."


class Picture(NamedTuple):
    """A picture of a layout with its caption. Large ones span the whole width."""

    file: str  # the file name, if it is written to disk
    title: str
    caption: str
    content: bytes
    entry: Entry
    large: bool

    @property
    def uri(self) -> str:
        """The image as a data URI, for the self-contained page."""
        return f"data:image/png;base64,{base64.b64encode(self.content).decode()}"


def layouts(entries: Entries, names: Mapping[int, str]) -> tuple[list[Picture], int]:
    """The pictures of the layouts up to MOST_BYTES in all, amoeba plots first, and the number of pictures
    left out.
    """
    chips = {item.measurement: item for item in entries if item.stage == LAYOUT and item.measurement in names}
    artifacts = {number: entry.first.artifacts for number, entry in chips.items()}
    pictures = []
    room, left_out = MOST_BYTES, 0
    for kind, says in KINDS.items():
        large = kind == "layout.png"
        for number, entry in reversed(chips.items()):  # the newest first
            if kind not in artifacts[number]:
                continue
            content = smaller(artifacts[number][kind], WIDEST)
            if len(content) > room:
                left_out += 1
                continue
            room -= len(content)
            file = f"{entry.subject}-{entry.nbits}-{number}-{kind}"
            caption = f"{says} {NO_WIRES}" if large and entry.flow.get("detailed") is False else says
            pictures.append(Picture(file, names[number], caption, content, entry, large))
    pictures.sort(key=lambda picture: (-picture.entry.measurement, picture.large))
    return pictures, left_out
