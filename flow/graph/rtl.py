"""The design at the beginning of the flow: design.sv, design.json and workload.json.

The catalogue is eval's, and eval is above the flow: so a machine of it is written by the command `modexlab asic DESIGN --export
DIRECTORY`. Verilog from elsewhere is taken as it is, all files in one text, with the vectors that the user has.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...fl.errors import BadInput
from .. import workload
from ..files import replace_json, replace_text

COMMAND = (sys.executable, "-m", "modexlab.eval.cli.main", "asic")
INTERFACE_VERILOG = "verilog"
INCLUDE = re.compile(r'^[ \t]*`include[ \t]+"([^"\n]+)"[^\n]*$', re.MULTILINE)


def export(parameters: Mapping[str, Any], out: Path) -> None:
    """Write the three files to `out`."""
    if parameters["verilog"]:
        export_verilog(parameters, out)
        return
    arguments = [
        parameters["design"],
        "--nbits",
        str(parameters["nbits"]),
        "--interface",
        parameters["interface"],
    ]
    arguments += [text for pair in str(parameters["settings"]).split(",") if pair for text in ("--set", pair)]
    arguments += ["--system"] if parameters["system"] else []
    command = [*COMMAND, *arguments, "--export", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"{' '.join(command)} ended with {done.returncode}"]
        raise BadInput(lines[-1].removeprefix("modexlab: error: "))


def export_verilog(parameters: Mapping[str, Any], out: Path) -> None:
    """The user's files as one, and what is known of them."""
    top, files = parameters["top"], [Path(path) for path in parameters["verilog"].split(",")]
    if not top:
        raise BadInput("Verilog without the name of its top module: give --top NAME")
    replace_text(out / "design.sv", one_text(files))
    design = {
        "name": top,
        "top": top,
        "clock_port": parameters["clock_port"] or None,
        "interface": INTERFACE_VERILOG,
        "nbits": None,
        "parameters": {},
        "files": [path.name for path in files],
    }
    replace_json(out / "design.json", design)
    if parameters["vectors"]:
        vectors = Path(parameters["vectors"])
        workload.load(vectors)
        replace_text(out / "workload.json", vectors.read_text())
    else:
        replace_json(out / "workload.json", {})


def one_text(files: Sequence[Path]) -> str:
    """The files one after the other; what they include stands in the place of the first `include, and is not repeated."""
    places = [path.absolute().parent for path in files]
    taken: set[Path] = set()

    def read(path: Path) -> str:
        taken.add(path.resolve())
        try:
            text = path.read_text(errors="replace")
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}; give a Verilog file") from None

        def included(match: re.Match[str]) -> str:
            found = next(
                (place / match[1] for place in (path.parent, *places) if (place / match[1]).is_file()), None
            )
            if found is None:
                raise BadInput(
                    f"{path.name} includes {match[1]}, which is not there: put it beside, or give its directory's files"
                )
            return "" if found.resolve() in taken else read(found)

        return f"// {path.name}\n{INCLUDE.sub(included, text).rstrip()}\n"

    return "\n".join(read(path) for path in files if path.resolve() not in taken)
