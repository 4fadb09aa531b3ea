"""Inputs of cache keys other than the point: code, tools and cell library.

The measured hardware or model has a digest of its own (content.py). Code that only generates or describes
hardware is therefore left out here: a new design or unit leaves the figures of all others valid.
"""

import functools
import importlib.metadata
import platform
from collections.abc import Mapping

from ...fl.errors import BadInput
from ...flow.graph import graph
from ...rtl.sim import cache, sources
from .flow_settings import steps_of
from .stages import CL, FORMULA, FPGA, IMPLEMENTED, LAYOUT, NATIVE, NETLIST, PYTHON, VERILOG

# seed modules, which stand for themselves and all their imports
_MACHINES = (
    "eval.designs.catalogue",
    "eval.designs.session",
    "eval.designs.workload_names",
)
_SIMULATORS = ("rtl.sim", "eval.designs.session")
_SYSTEMS = ("rtl.sim", "eval.designs.system_catalogue")
_FLOW = ("eval.lab.asic_run", "flow.graph.run_step")
_OPERANDS = ("eval.designs.workload_names", "eval.designs.widths")
_PROOFS = "eval.assurance.proof.registry"
_ATTACKS = "eval.assurance.attacks.suite"
# modules that count without their imports, because they import all designs
_MEASURE = ("eval.lab.measure",)
_CHIPS = (
    "eval.designs.machine_chip",
    "eval.designs.chip",
    "eval.designs.unit_chip",
    "eval.designs.foreign.foreign_chip",
)
# excluded: published figures and names do not affect our figures
_NO_FIGURES = ("eval.papers", "eval.lab.point")
# excluded before layout: the flow imports the layout only for the text of its summary
_LAYOUT = "flow.layout"
# excluded because the digest of the Verilog, or of the model, covers them
_HARDWARE = (
    "rtl.units",
    "rtl.keyed",
    "rtl.mod_exp",
    "rtl.interfaces",
    "rtl.sim.translation",
    "rtl.verilog",
    "proc.core",
    "cl",
    "eval.designs.catalogue",
    "eval.designs.verilog_header",
)


def flow_modules(stage: str = LAYOUT) -> tuple[str, ...]:
    """The modules that compute figures of the flow at a stage; steps are found by folder, not by import."""
    return (*_FLOW, *dict.fromkeys(map(graph.module_of, steps_of(stage))))


@functools.cache
def sources_of(system: bool, stage: str) -> str:
    """Digest of the code that computes the figures of a stage from the measured hardware or model."""
    seeds: tuple[str, ...] = _SYSTEMS if system else ()
    if stage in IMPLEMENTED:
        seeds += flow_modules(stage)
    elif stage != FORMULA and not system:
        seeds += _SIMULATORS
    without = (*_NO_FIGURES, *_HARDWARE, *(() if stage == LAYOUT else (_LAYOUT,)))
    alone = (*_MEASURE, *(_CHIPS if stage in IMPLEMENTED else ()))
    return cache.key(sources.digest(*seeds, without=without), *map(sources.module_digest, alone))


def sources_of_operands() -> str:
    """Digest of the code that chooses the operands of workloads."""
    return sources.digest(*_OPERANDS, without=(*_NO_FIGURES, *_HARDWARE))


def sources_of_answers() -> str:
    """Digest of the code that computes the answers of all machines at all levels."""
    return sources.digest(*_MACHINES, without=_NO_FIGURES)


def sources_of_proofs() -> str:
    """Digest of the sources on which a verdict of `modexlab prove` depends."""
    return sources.digest(*_MACHINES, *_CHIPS, *flow_modules(), _PROOFS, without=_NO_FIGURES)


def sources_of_attacks() -> str:
    """Digest of the sources on which a verdict of `modexlab attack all` depends."""
    return sources.digest(*_MACHINES, _ATTACKS, without=_NO_FIGURES)


def kit_of(stage: str, name: str | None = None) -> str:
    """Digest of the kit used at a stage; empty if the stage uses none, or if files of the kit are missing."""
    if stage not in NETLIST:
        return ""
    from ...flow.kit import kit

    try:
        return kit.find(kit.named(name) if name else None).digest
    except BadInput:
        return ""


@functools.cache
def tools_of(stage: str) -> Mapping[str, str]:
    """Names and versions of the tools of a stage."""
    if stage == FORMULA:
        return {"Python": platform.python_version(), **ours()}
    if stage in (CL, PYTHON):
        steps = ["rtl"]
    elif stage in (VERILOG, NATIVE, FPGA):
        steps = ["rtl", "rtl-sim"]
    else:
        steps = steps_of(stage)
    versions = dict(sorted(map(_version, steps)))
    if stage == FPGA:
        versions["Yosys"] = _version("synthesis")[1]
    return versions


def ours() -> dict[str, str]:
    """Name and version of modexlab as a tool."""
    return {"modexlab": importlib.metadata.version("modexlab")}


def _version(step: str) -> tuple[str, str]:
    try:
        return graph.tool(step)
    except BadInput:
        return graph.step(step).tool.name, ""
