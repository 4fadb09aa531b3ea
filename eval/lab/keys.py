"""On what a figure depends beside what is measured: digests of our own sources, and the versions of the tools."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from ...fl.errors import BadInput
from .stages import CL, FORMULA, FPGA, IMPLEMENTED, LAYOUT, NATIVE, PYTHON, VERILOG

# what figures come from: these modules and all that they import; what is published changes no figure of ours
_MACHINES = ("eval.designs.catalogue", "eval.designs.session", "eval.designs.mixes", "eval.designs.workloads")
_SYSTEMS = ("eval.designs.systems",)
_FLOW = ("eval.designs.asic", "eval.lab.implement", "flow.graph.step")
_MEASURE = "measure.py"
_PROOFS = "eval.lab.proof.checks"
_PROCESSOR_PROOFS = "eval.lab.proof.processor.processor_checks"
_NO_FIGURES = ("eval.papers", "eval.lab.point")
_LAYOUT = "flow.layout"  # makes no figure before layout: the summary has it imported for what a layout says of itself


def flow_modules(stage: str = LAYOUT) -> tuple[str, ...]:
    """The modules behind figures of the flow at a stage: steps are found by their folders, and not by imports."""
    from ...flow.graph import graph

    steps = [name for name in graph.ORDER if stage == LAYOUT or name not in graph.WITH_LAYOUT]
    return (*_FLOW, *dict.fromkeys(graph.adapter_module(name) for name in steps))


@functools.cache
def sources_of(system: bool, stage: str) -> str:
    """Digest of the sources on which a measurement at a stage depends."""
    from ...rtl.sim import cache, sources

    flow = flow_modules(stage) if stage in IMPLEMENTED else ()
    seeds = (*_MACHINES, *(_SYSTEMS if system else ()), *flow)
    without = _NO_FIGURES if stage == LAYOUT else (*_NO_FIGURES, _LAYOUT)
    alone = cache.file_digest(
        Path(__file__).with_name(_MEASURE)
    )  # what it imports besides takes figures, and makes none
    return cache.key(sources.digest(*seeds, without=without), alone)


@functools.cache
def sources_of_proofs() -> str:
    """Digest of the sources on which a verdict of `modexlab prove` depends."""
    from ...rtl.sim import sources

    return sources.digest(*_MACHINES, *flow_modules(), _PROOFS, without=_NO_FIGURES)


@functools.cache
def sources_of_processor_proofs() -> str:
    """The same for `modexlab prove proc`."""
    from ...rtl.sim import sources

    return sources.digest(_PROCESSOR_PROOFS)


@functools.cache
def tools_of(stage: str, device: str = "") -> Mapping[str, str]:
    """Names and versions of the tools of a stage; device: with place and route for this FPGA."""
    from ...flow.graph import graph

    if stage == FORMULA:
        return {}
    if stage in (CL, PYTHON):
        steps = ["rtl"]
    elif stage in (VERILOG, NATIVE, FPGA):
        steps = ["rtl", "rtl-sim"]
    else:
        steps = [name for name in graph.ORDER if stage == LAYOUT or name not in graph.WITH_LAYOUT]
    versions = dict(sorted(_version(name) for name in steps))
    if stage == FPGA:
        versions["Yosys"] = _version("synthesis")[1]
    if device:
        versions |= _router_version(device)
    return versions


def _version(step: str) -> tuple[str, str]:
    from ...flow.graph import graph

    try:
        return graph.tool(step)
    except BadInput:
        return graph.declaration(step).tool, ""


def _router_version(device: str) -> dict[str, str]:
    from ...flow.fpga import fpga_route

    try:
        routers, _ = fpga_route.routers([device])
    except BadInput:
        return {}
    return {router.name: router.version for router in routers.values()}
