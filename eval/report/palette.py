"""Colours and shapes, safe for colour-blind readers and always backed by a shape, a dash or a label.

Eight colours can be told apart, also by colour-blind readers. Seven families have one of their own, and all
others share a neutral one. The look of a family depends on its name alone, so it is the same in every chart
of every report. The page uses colours as variables of its style sheet, so switching the theme needs no
redrawing; pictures use the light theme.
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
SERIES = (  # light, dark; the last is neutral
    ("#404cc7", "#7d91b6"),
    ("#971b05", "#e88b51"),
    ("#1b8a71", "#95fcda"),
    ("#e253ad", "#e34167"),
    ("#ad9008", "#f5e447"),
    ("#229ae7", "#50b7fd"),
    ("#6e0084", "#a85be0"),
    ("#4d5055", "#bbbdc4"),
)
PARTS = (  # light, dark: modules other than multipliers
    ("#8f98a1", "#6b737b"),
    ("#a9b1b8", "#575e66"),
    ("#c3c9ce", "#454b52"),
    ("#dadee2", "#353a40"),
)
FAMILIES = (  # of the most machines in the first chart: each has a colour of SERIES, in this order
    "HeapMont",
    "MontMulRem",
    "Interleaved",
    "ScaledSystolic",
    "WordSerial",
    "Systolic",
    "DigitSerial",
)
OTHERS = (  # neutral families, which differ in shape and dash
    "MulRem",
    "ShiftSub",
    "MMMul",
    "MMRed",
    "RowFold",
    "PseudoMul",
    "DirectMul",
    "software",
)
NAMED = "others"  # the neutral families in the legend of a chart that has other shapes
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    "wedge",
    "arrow",
)

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


class Look(NamedTuple):
    """The colour, shape and dash of a family."""

    colour: str
    shape: str
    dash: list[int]


def look(family: str) -> Look:
    """The look of a family; a user's own family is neutral and never looks like a listed one."""
    if family in FAMILIES:
        place = FAMILIES.index(family)
        return Look(f"series-{place}", SHAPES[place], [1, 0])
    spare = len(OTHERS) + zlib.crc32(family.encode()) % (len(SHAPES) - len(OTHERS))
    place = OTHERS.index(family) if family in OTHERS else spare
    return Look(f"series-{len(FAMILIES)}", SHAPES[place], [2 * place + 2, 3])


def is_family(name: str, families: Collection[str]) -> bool:
    """Whether a class of modules is the multiplier of a family, listed here or among these."""
    return name in (*FAMILIES, *OTHERS, *families)


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
