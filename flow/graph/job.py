"""Job: files, parameters and output directory of a step, everything that steps/NAME/step.py gets from the
graph.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import description
from ..description import Description
from ..kit import kit

ADK = "adk"  # the one input that no step of this flow writes
STYLE = "style"  # value of an option that the style decides


@dataclass(frozen=True)
class Job:
    """Input files of a step by the adapter's names, its parameters, and its empty output directory `out`."""

    inputs: Mapping[str, Path]
    parameters: Mapping[str, Any]
    out: Path

    def __getitem__(self, name: str) -> Path:
        """The path of an input file."""
        return self.inputs[name]

    @property
    def clock_ns(self) -> float:
        """The requested clock period."""
        return float(self.parameters["clock_period"])

    @functools.cached_property
    def design(self) -> Description:
        """The description of the design."""
        return description.load(self["design.json"])

    @property
    def adk(self) -> Path | None:
        """The design kit: its kit.toml or its directory; None for the kit in the package, whose files are
        checked by digest.
        """
        path = self.inputs[ADK].resolve()
        return None if path == kit.find().directory.resolve() else path

    @property
    def corner(self) -> str | None:
        """The corner for all figures; None: each figure at the corner that suits it."""
        return self.parameters["corner"] or None

    def options(self, *names: str) -> dict[str, Any]:
        """The parameters of these names that are not left to the style."""
        given = {name: self.parameters[name] for name in names}
        flags = {"True": True, "False": False}
        return {name: flags.get(value, value) for name, value in given.items() if value != STYLE}
