"""Settings of the flow in points, spaces and on the command line: defaults and checks."""

import functools
from collections.abc import Mapping
from typing import Any

from ...fl.errors import BadInput
from ...flow.graph import graph
from ...flow.graph.step import checked_alone
from ..json_values import Json
from .stages import FLOW, FPGA, LAYOUT

EQUIVALENCE = "equivalence"


def _defaults(*names: str) -> Json:
    return {name: graph.parameters()[name].default for name in names}


# settings of the flow that are always part of a point; any other parameter of the graph may be given
# (`modexlab asic --flow`)
FLOW_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    FLOW: {**_defaults("clock_period", "style"), EQUIVALENCE: False},
    LAYOUT: {**_defaults("clock_period", "style"), EQUIVALENCE: False, **_defaults("density")},
    FPGA: {"device": "ecp5"},
}
KIT, CORNER = "kit", "corner"  # cell library and corner; "": each figure's own corner
SHOWN = ("clock_period", "device")  # shown even with their default values


def steps_of(stage: str) -> list[str]:
    """The steps of the flow; those of the layout only at stage layout."""
    return [name for name in graph.ORDER if stage == LAYOUT or name not in graph.WITH_LAYOUT]


@functools.cache
def optional_flow(stage: str) -> Mapping[str, Any]:
    """Parameters of the graph that a point of this stage may set besides FLOW_DEFAULTS, with defaults."""
    if stage == FPGA:
        return {}
    from ...flow.kit import kit

    known = graph.defaults()
    used = {name for step in steps_of(stage) for name in graph.step(step).parameters}
    left_out = FLOW_DEFAULTS[stage]
    return {KIT: kit.DEFAULT.stem} | {
        name: value for name, value in known.items() if name in used and name not in left_out
    }


def defaults_of(stage: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """FLOW_DEFAULTS, with the clock period and density of the kit."""
    defaults = FLOW_DEFAULTS[stage]
    if KIT not in given:
        return defaults
    from ...flow.kit import kit

    asked = kit.described(str(given[KIT])).constraints
    return {**defaults, "clock_period": asked.clock_ns} | (
        {"density": asked.density} if "density" in defaults else {}
    )


def check_flow(parameters: Mapping[str, Any]) -> Json:
    """These parameters of the graph with values of the right type; BadInput for an illegal value."""
    return checked_alone(parameters, graph.parameters())


def check_point_flow(stage: str, flow: Mapping[str, Any]) -> Json:
    """The settings of a point with values of the right type; BadInput for an illegal value."""
    from ...flow.fpga import fpga

    if not isinstance(flow.get(EQUIVALENCE, False), bool):
        raise BadInput(f"{EQUIVALENCE} = {flow[EQUIVALENCE]!r}: give true or false")
    if stage == FPGA:
        fpga.find(str(flow["device"]))
        return dict(flow)
    if KIT in flow or CORNER in flow:
        from ...flow.kit import kit

        kit.described(str(flow.get(KIT, kit.DEFAULT.stem)), str(flow.get(CORNER, "")))
    ours = {name: value for name, value in flow.items() if name in (EQUIVALENCE, KIT)}
    return ours | check_flow({name: value for name, value in flow.items() if name not in ours})
