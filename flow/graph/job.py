"""Job: the files, parameters and working directory of a step, all that steps/NAME/step.py sees of the
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

ADK = "adk"  # the one input that no step of ours makes
STYLE = "style"  # the value of an option that is left to the style


@dataclass(frozen=True)
class Job:
    """Input files of a step by the names in its code, and its empty output directory `out`."""

    inputs: Mapping[str, Path]
    parameters: Mapping[str, Any]
    out: Path

    def __getitem__(self, name: str) -> Path:
        """An input file."""
        return self.inputs[name]

    @property
    def clock_ns(self) -> float:
        """The period that is asked for."""
        return float(self.parameters["clock_period"])

    @functools.cached_property
    def design(self) -> Description:
        """Return the description of the design."""
        return description.load(self["design.json"])

    @property
    def adk(self) -> Path | None:
        """The design kit: its kit.toml or its directory, or None for the one in the package, which can be
        checked for every bit.
        """
        path = self.inputs[ADK].resolve()
        return None if path == kit.find().directory.resolve() else path

    @property
    def corner(self) -> str | None:
        """The corner that is asked for all figures; None: the one that suits each."""
        return self.parameters["corner"] or None

    def options(self, *names: str) -> dict[str, Any]:
        """Parameters of these names that are not left to the style."""
        given = {name: self.parameters[name] for name in names}
        flags = {"True": True, "False": False}
        return {name: flags.get(value, value) for name, value in given.items() if value != STYLE}
