"""Colours and shapes, safe for colour-blind readers and always backed by a shape, a dash or a label.

The colours of the families are those of Okabe and Ito (Color Universal Design, 2008), darker if they are too
pale on white, and lighter for a dark page. The look of a family depends on its name alone, so it is the same
in every chart of every report. The page uses colours as variables of its style sheet, so switching the theme
needs no redrawing; pictures use the light theme.
"""

import zlib
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

INKS = {  # name: light, dark
    "paper": ("#ffffff", "#14171a"),
    "panel": ("#f6f7f8", "#1c2024"),
    "ink": ("#1b1f23", "#e7eaee"),
    "ink-2": ("#545c65", "#a3acb7"),
    "rule": ("#d5dade", "#353c44"),
    "grid": ("#e8ebee", "#262c32"),
    "link": ("#0059a3", "#7db8f2"),
    "good": ("#00734f", "#3fcf9f"),
    "bad": ("#a63d00", "#ff9a5c"),
}
SERIES = (  # light, dark
    ("#0072b2", "#5aa2f0"),
    ("#d55e00", "#f5813b"),
    ("#009e73", "#35c79b"),
    ("#b35a8f", "#e39cc6"),
    ("#b87f00", "#f0b429"),
    ("#3f9bd8", "#86d3f5"),
    ("#7d5a2b", "#cba46d"),
    ("#5b4b9a", "#ab9eee"),
    ("#6b747e", "#98a2ad"),
)
PARTS = (  # light, dark: modules other than multipliers
    ("#3d444b", "#d3d8de"),
    ("#6f7882", "#a7afb9"),
    ("#959ea8", "#7d8791"),
    ("#b9c0c7", "#59616b"),
)
FAMILIES = (  # a row for each colour of SERIES; families of one row differ in shape and dash. Append only
    ("MulRem", "DirectMul"),
    ("MontMulRem", "MMMul"),
    ("RowFold", "PseudoMul"),
    ("ShiftSub", "Interleaved"),
    ("MMRed",),
    ("HeapMont",),
    ("WordSerial", "DigitSerial"),
    ("ScaledSystolic", "Systolic"),
    ("software",),
)
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
DASHES = ([1, 0], [6, 3], [2, 2])  # lines of the first family of a colour, of the second, of all others
SHAPE_STEP = 3  # between families of one colour; coprime to the number of shapes

# maps the name of a colour to its value in a chart
Colours = Callable[[str], str]


COLOURS = {
    **INKS,
    **{f"series-{index}": both for index, both in enumerate(SERIES)},
    **{f"part-{index}": both for index, both in enumerate(PARTS)},
}


def variable(name: str) -> str:
    """The style-sheet variable of a colour, for the page."""
    return f"var(--{name})"


def light(name: str) -> str:
    """The colour in the light theme, for pictures."""
    return COLOURS[name][0]


def style_sheet() -> str:
    """The variables of both themes; the reader's choice overrides the system's, and print is always light."""
    bright, dark = (
        f"color-scheme:{scheme};{''.join(f'--{name}:{both[theme]};' for name, both in COLOURS.items())}"
        for theme, scheme in enumerate(("light", "dark"))
    )
    return (
        f":root{{{bright}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=light]{{{bright}}}:root[data-theme=dark]{{{dark}}}}}\n"
    )


def series(index: int) -> str:
    """The name of the colour of a series; indices wrap around."""
    return f"series-{index % len(SERIES)}"


class Look(NamedTuple):
    """The colour, shape and dash of a family."""

    colour: str
    shape: str
    dash: list[int]


_PLACES = {name: (row, turn) for row, names in enumerate(FAMILIES) for turn, name in enumerate(names)}


def look(family: str) -> Look:
    """The look of a family; a user's own family never looks like a listed one."""
    spare = len(SHAPES) - len(DASHES) + 1
    number = zlib.crc32(family.encode())
    fallback = (number % len(SERIES), len(DASHES) - 1 + number // len(SERIES) % spare)
    row, turn = _PLACES.get(family, fallback)
    shape = SHAPES[(row + SHAPE_STEP * turn) % len(SHAPES)]
    return Look(series(row), shape, DASHES[min(turn, len(DASHES) - 1)])


def is_family(name: str, families: Collection[str]) -> bool:
    """Whether a class of modules is the multiplier of a family, listed here or among these."""
    return name in _PLACES or name in families


def module_colours(classes: Sequence[str], families: Collection[str]) -> list[str]:
    """Colour names for classes of modules: multipliers in the colour of their family, the others in greys."""
    others = [name for name in classes if not is_family(name, families)]
    return [
        f"part-{others.index(name) % len(PARTS)}" if name in others else look(name).colour for name in classes
    ]


def scales(families: Sequence[str], colours: Colours) -> dict[str, dict[str, list[Any]]]:
    """Vega-Lite's scales of colour, shape and dash for these families."""
    looks = [look(name) for name in families]
    ranges: dict[str, list[Any]] = {
        "color": [colours(own.colour) for own in looks],
        "shape": [own.shape for own in looks],
        "dash": [own.dash for own in looks],
    }
    return {channel: {"domain": list(families), "range": found} for channel, found in ranges.items()}
