"""Colours and shapes, for the page and for pictures: safe for the colour-blind, and never the only thing that tells.

The colours of the families are those of Okabe and Ito (Color Universal Design, 2008), darker where they are too pale on white, and
lighter for a dark page. Families differ in shape as well. The page takes colours as variables of its style sheet, so that a switch of
the theme, or paper, changes its charts without drawing them again; a picture takes those of the light theme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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

DASHES = ([1, 0], [6, 3], [2, 2])  # of lines, for colours that come again

# the name of a colour -> the colour, as the chart will have it
Colours = Callable[[str], str]


def variable(name: str) -> str:
    """For the page."""
    return f"var(--{name})"


def light(name: str) -> str:
    """For paper."""
    return INKS[name][0] if name in INKS else SERIES[int(name.removeprefix("series-"))][0]


def style_sheet() -> str:
    """The variables of both themes: the reader's own choice wins over that of the system, and paper is white."""

    def block(theme: int) -> str:
        pairs = {name: both[theme] for name, both in INKS.items()}
        pairs |= {f"series-{index}": both[theme] for index, both in enumerate(SERIES)}
        return "".join(f"--{name}:{value};" for name, value in pairs.items())

    bright, dark = f"color-scheme:light;{block(0)}", f"color-scheme:dark;{block(1)}"
    return (
        f":root{{{bright}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=light]{{{bright}}}:root[data-theme=dark]{{{dark}}}}}\n"
    )


def series(index: int) -> str:
    """The name of the colour of a series; after the last it begins again."""
    return f"series-{index % len(SERIES)}"


def scales(families: Mapping[str, int], colours: Colours) -> dict[str, dict[str, list[Any]]]:
    """Vega-Lite's scales of colour, shape and dashes for families and their places: a family looks the same in every chart."""
    return {
        "color": {"domain": list(families), "range": [colours(series(place)) for place in families.values()]},
        "shape": {
            "domain": list(families),
            "range": [SHAPES[place % len(SHAPES)] for place in families.values()],
        },
        "dash": {
            "domain": list(families),
            "range": [DASHES[place // len(SERIES) % len(DASHES)] for place in families.values()],
        },
    }
