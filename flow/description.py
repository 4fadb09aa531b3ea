"""Description: what is known of a design that goes through the flow, as design.json has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..fl.errors import BadInput
from .files import replace_json

FILE = "design.json"


@dataclass(frozen=True)
class Description:
    """The names by which the flow finds its way in the Verilog, and what its summary says of the design."""

    name: str
    top: str
    clock_port: str | None = "clk"
    reset_port: str | None = None
    interface: str = "verilog"
    place: str = ", Verilog"  # words for the summary: behind what it stands
    nbits: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paper: str = ""  # the work whose machine it is
    # {"name", "citation", "energy_nj": by operation}: figures that the summary shows beside those of this run
    published: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # names of the files of Verilog from elsewhere

    def write(self, directory: Path) -> None:
        """Leave design.json in `directory`."""
        replace_json(directory / FILE, asdict(self))

    @classmethod
    def load(cls, path: Path) -> Description:
        """The description in a file; BadInput for what is none."""
        try:
            data = json.loads(path.read_text())
            known = {each.name for each in fields(cls)}
            return cls(**{name: value for name, value in data.items() if name in known})
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}; give a design.json") from None
        except (AttributeError, TypeError, ValueError) as error:
            raise BadInput(
                f"{path} describes no design ({error}); give name and top, as flow/README.md has them"
            ) from None
