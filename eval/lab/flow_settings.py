"""Settings of the flow in points, spaces and on the command line: defaults and checks."""

import functools
from collections.abc import Mapping
from typing import Any

from ...fl.errors import BadInput, unknown
from ...flow.kit.constraints import CLOCK_NS, DENSITY
from ..json_values import Json
from .stages import FLOW, FPGA, LAYOUT

# settings of the flow that are always part of a point; any other parameter of the graph may be given
# (`modexlab asic --flow`)
FLOW_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    FLOW: {"clock_period": CLOCK_NS, "style": "plain", "equivalence": False},
    LAYOUT: {"clock_period": CLOCK_NS, "style": "plain", "equivalence": False, "density": DENSITY},
    FPGA: {"device": "ecp5"},
}
KIT, CORNER = "kit", "corner"  # cell library and corner; "": each figure's own corner
SHOWN = ("clock_period", "device")  # shown even with their default values
EQUIVALENCE = "equivalence"
SHORTEST_NS, LONGEST_NS = 0.001, 1000
LEAST_DENSITY, MOST_DENSITY = 0.05, 0.95


def steps_of(stage: str) -> list[str]:
    """The steps of the flow; those of the layout only at stage layout."""
    from ...flow.graph import graph

    return [name for name in graph.ORDER if stage == LAYOUT or name not in graph.WITH_LAYOUT]


@functools.cache
def optional_flow(stage: str) -> Mapping[str, Any]:
    """Parameters of the graph that a point of this stage may set besides FLOW_DEFAULTS, with defaults."""
    if stage == FPGA:
        return {}
    from ...flow.graph import graph
    from ...flow.kit import kit

    known = graph.defaults()
    used = {name for step in steps_of(stage) for name in graph.declaration(step).parameters}
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


def check_clock(value: float) -> float:
    """`value`, if it is a valid clock period; else BadInput."""
    if not SHORTEST_NS <= value <= LONGEST_NS:
        raise BadInput(f"{value:g} ns is no clock period; give {SHORTEST_NS} to {LONGEST_NS} nanoseconds")
    return value


def check_density(value: float) -> float:
    """`value`, if it is a valid density of placement; else BadInput."""
    if not LEAST_DENSITY <= value <= MOST_DENSITY:
        raise BadInput(
            f"{value:g} is no density; give a share of the rows from {LEAST_DENSITY} to {MOST_DENSITY}"
        )
    return value


def check_flow(parameters: Mapping[str, Any]) -> Json:
    """These parameters of the graph with values of the right type; BadInput for an illegal value."""
    from ...flow.graph import graph
    from ...flow.synth.synthesis import STYLES

    values = {}
    for name, value in parameters.items():
        try:
            values[name] = graph.checked({name: value})[name]
        except OverflowError:  # an integer beyond the range of floats, or inf for an integer
            raise BadInput(f"{name} is out of all bounds; give a smaller number") from None
    if "style" in values and values["style"] not in STYLES:
        raise unknown("style of synthesis", values["style"], STYLES)
    for name, check in (("clock_period", check_clock), ("density", check_density)):
        if name in values:
            check(values[name])
    return values


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
