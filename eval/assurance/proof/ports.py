"""Ports, parameters and subcomponents of a PyMTL3 component, in the form that proofs need."""

import inspect
from collections.abc import Iterator
from typing import Any

from pymtl3 import Component, InPort, Interface, OutPort
from pymtl3.datatypes import is_bitstruct_class

CLOCKING = ("clk", "reset")


def ports(unit: Component | Interface) -> list[tuple[str, int, bool]]:
    """Name, width and direction (input?) of the ports of an elaborated unit or an interface, without streams.
    A list of ports counts as one, the first lowest.
    """
    found = []
    for name, port in vars(unit).items():
        first = port[0] if isinstance(port, list) and port else port
        if isinstance(first, InPort | OutPort) and name not in CLOCKING:
            count = len(port) if isinstance(port, list) else 1
            found.append((name, count * width(first), isinstance(first, InPort)))
    return found


def width(port: Any) -> int:
    """The bits of a port; of a message, those of all its fields."""
    kind = port._dsl.Type
    return (
        sum(item.nbits for item in kind.__bitstruct_fields__.values())
        if is_bitstruct_class(kind)
        else kind.nbits
    )


def arguments(unit: Component) -> dict[str, Any]:
    """The arguments of a unit's constructor by name, defaults included."""
    signature = inspect.signature(type(unit).construct)
    bound = signature.bind(unit, *unit._dsl.args, **unit._dsl.kwargs)
    bound.apply_defaults()
    return dict(list(bound.arguments.items())[1:])


def fresh(unit: Component) -> Component:
    """The same unit, elaborated on its own."""
    return type(unit)(*unit._dsl.args, **unit._dsl.kwargs)


def inside(component: Component) -> Iterator[Component]:
    """An elaborated component and all its descendants, in a fixed order."""
    yield component
    for child in component.get_child_components(repr):
        yield from inside(child)
