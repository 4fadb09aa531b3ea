"""Constants through instances: an input that all instances of a module tie to one constant is that constant
inside, and an output that is one is that constant where it is read. Their ports go.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .blocks import of_type
from .simplify import replaced, simplified
from .tree import (
    Assign,
    Cast,
    Concat,
    Design,
    Element,
    Expr,
    Field,
    Instance,
    Member,
    Module,
    Name,
    Number,
    Pin,
    Range,
    Reference,
    Struct,
    bits_of,
    read_in,
    rebuilt,
    root,
    truncated,
    type_of,
    walk,
)


def with_constants(design: Design) -> Design:
    """As far as constants reach in one pass, down into instances and up from them."""
    modules = {module.name: _with_fields(module) for module in design.modules}
    inputs = _tied_inputs(modules)
    for name, values in inputs.items():
        modules[name] = simplified(_without_ports(modules[name], values))
    outputs = {name: _tied_outputs(module) for name, module in modules.items()}
    wiring = {name: modules[name] for name in inputs if _is_wiring(modules[name])}
    top = design.top.name
    for name, module in modules.items():
        kept, own = [], outputs[name]
        for item in module.items:
            if isinstance(item, Assign) and root(item.target) in own:
                kept += [item] if name == top else []
            elif isinstance(item, Instance):
                tied = inputs.get(item.module, {})
                if any(pin.port in tied for pin in item.pins):
                    item = replace(item, pins=tuple(pin for pin in item.pins if pin.port not in tied))
                kept += _inlined(_with_values(item, own), outputs[item.module], wiring)
            else:
                kept.append(_with_values(item, own))
        ports = tuple(port for port in module.ports if name == top or port.name not in own)
        modules[name] = replace(module, ports=ports, items=tuple(kept))
    changed = (
        module if modules[module.name] == module else simplified(modules[module.name])
        for module in design.modules
    )
    return Design(tuple(changed))


def constant(node: Any) -> Number | None:
    """An expression of constants as a number."""
    match node:
        case Number():
            return node
        case Member():
            return Number(node.width, node.value)
        case Concat():
            value = 0
            for item in node.parts:
                if (number := constant(item)) is None:
                    return None
                value = value << item.width | number.value
            return Number(node.width, value)
    return None


# ---- fields


def _with_fields(module: Module) -> Module:
    """A module that reads the constant fields of messages as constants."""

    def change(node: Any) -> Any:
        if isinstance(node, Assign):
            return replace(node, value=rebuilt(node.value, change))
        if isinstance(node, Pin):
            return node if not node.is_input else replace(node, value=rebuilt(node.value, change))
        if isinstance(node, Field) and isinstance(node.base.type, Struct):
            if (value := dict(node.base.type.constants).get(node.name)) is not None:
                return of_type(Number(node.width, value, node.name.upper()), node.type)
        return None

    return replace(module, items=rebuilt(module.items, change))


# ---- inputs


def _tied_inputs(modules: Mapping[str, Module]) -> dict[str, dict[str, Number]]:
    """The inputs of modules that are one constant in all instances."""
    found: dict[str, dict[str, Number | None]] = {}
    for module in modules.values():
        for item in module.instances:
            for pin in item.pins:
                if pin.is_input:
                    value, ports = constant(pin.value), found.setdefault(item.module, {})
                    ports[pin.port] = value if ports.get(pin.port, value) == value else None
    return {
        name: values
        for name, ports in found.items()
        if (values := {port: value for port, value in ports.items() if value and _reads(modules[name], port)})
    }


def _reads(module: Module, port: str) -> bool:
    """Whether a module can read a constant in the place of a port: no variable selects a part of it."""
    reads = (node for node in read_in(module.items) if root(node) == port)
    return all(bits_of(node)[1] == node.width for node in reads)


def _without_ports(module: Module, values: Mapping[str, Number]) -> Module:
    """A module that reads constants in the place of inputs."""
    return replace(
        module,
        ports=tuple(port for port in module.ports if port.name not in values),
        items=_with_values(module.items, values),
    )


def _with_values(items: Any, values: Mapping[str, Number]) -> Any:
    """Items that read constants in the place of signals."""

    def change(node: Any) -> Any:
        if isinstance(node, Reference) and (value := values.get(root(node))) is not None:
            low, width = bits_of(node)
            name = value.name if width == value.width else ""
            return of_type(truncated(value.value >> low, width, name), node.type)
        return None

    return rebuilt(items, change) if values else items


# ---- outputs


def _tied_outputs(module: Module) -> dict[str, Number]:
    """The outputs of a module that are constants."""
    outputs = {port.name for port in module.ports if not port.is_input}
    return {
        item.target.name: value
        for item in module.items
        if isinstance(item, Assign) and isinstance(item.target, Name) and item.target.name in outputs
        if (value := constant(item.value)) and _reads(module, item.target.name)
    }


def _is_wiring(module: Module) -> bool:
    """Whether a module only connects its outputs to its inputs, with other widths at most."""
    kinds = Name | Field | Element | Range | Number | Cast | Concat
    return not module.nets and all(
        isinstance(item, Assign)
        and isinstance(item.target, Name)
        and all(isinstance(node, kinds) for node in walk(item.value))
        for item in module.items
    )


def _inlined(item: Instance, values: Mapping[str, Number], wiring: Mapping[str, Module]) -> list[Any]:
    """An instance without constant outputs, of which these are the values; of wiring its assignments."""
    found: list[Any] = []
    for pin in item.pins:
        if pin.port in values and isinstance(pin.value, Reference):
            found.append(Assign(pin.value, of_type(values[pin.port], pin.value.type)))
    if any(pin.port in values for pin in item.pins):
        item = replace(item, pins=tuple(pin for pin in item.pins if pin.port not in values))
    module = wiring.get(item.module)
    pins = {pin.port: pin.value for pin in item.pins}
    types = {port.name: port.type for port in module.ports} if module else {}
    if module is None or any(type_of(pin.value) != types[pin.port] for pin in item.pins):
        return [item, *found] if any(not pin.is_input for pin in item.pins) else found
    inputs: dict[Expr, Expr] = {
        Name(pin.port, types[pin.port]): pin.value for pin in item.pins if pin.is_input and pin.value
    }
    for inner in module.items:
        assert isinstance(inner, Assign)
        target = pins.get(root(inner.target))
        if isinstance(target, Reference):
            found.append(Assign(target, replaced(inner.value, inputs, within=False)))
    return found
