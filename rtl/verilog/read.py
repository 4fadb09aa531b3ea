"""An elaborated component as a design: one module for each class and its arguments.

Connections and update blocks are read as they are; `simplify` makes them short.
"""

import inspect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pymtl3 import Component
from pymtl3.dsl import InPort, OutPort
from pymtl3.passes.backends.generic.structural.StructuralTranslatorL1 import gen_connections
from pymtl3.passes.rtlir import RTLIRPass as passes
from pymtl3.passes.rtlir.rtype.RTLIRType import RTLIRGetter

from ..states import states_of
from .assertions import assertion_items
from .blocks import blocks_of, of_type
from .comments import comment_of
from .parameters import STDLIB
from .scope import Scope, Types, first_of, places
from .tree import (
    Array,
    Assign,
    Comb,
    Comment,
    Design,
    Element,
    Expr,
    Instance,
    Module,
    Name,
    Net,
    Number,
    Pin,
    Port,
    Reference,
    Seq,
    element,
    read_in,
    rebuilt,
    root,
    signal_of,
    truncated,
    written_in,
)


class OwnTypes(RTLIRGetter):
    """PyMTL3's types of attributes, of children their ports alone: the stock one descends through the whole
    hierarchy. A list of children whose ports differ has no type, and update blocks do not mention it."""

    def __init__(self) -> None:
        super().__init__(cache=True)
        self.owner: Any = None

    def _handle_Component(self, name: str, component: Any) -> Any:
        if component is self.owner:
            return super()._handle_Component(name, component)
        return self.get_component_ifc_rtlir(component)

    def _handle_Array(self, name: str, items: Any) -> Any:
        if isinstance(first_of(items)[0], Component):
            try:
                return super()._handle_Array(name, items)
            except Exception:  # RTLIRConversionError, and whatever a list of lists raises
                return None
        return super()._handle_Array(name, items)


class Reader:
    """Reads a hierarchy; equal modules are one."""

    def __init__(self, top: Component) -> None:
        self.top, self.types, self.getter = top, Types(), OwnTypes()
        top.set_metadata(passes.RTLIRPass.rtlir_getter, self.getter)
        self._edges = gen_connections(top)
        self._known: dict[Any, Module] = {}  # by class and arguments
        self._names: dict[str, Module] = {}

    def design(self) -> Design:
        top = self.module(self.top)
        order: dict[str, Module] = {}

        def visit(module: Module) -> None:
            order.pop(module.name, None)
            order[module.name] = module
            for item in module.items:
                if isinstance(item, Instance):
                    visit(self._names[item.module])

        visit(top)
        return Design(tuple(order.values()))

    def module(self, component: Component) -> Module:
        key = (type(component), arguments(component._dsl.args), arguments(component._dsl.kwargs))
        if key not in self._known:
            self._known[key] = self._shared(self._read(component))
        return self._known[key]

    def _shared(self, module: Module) -> Module:
        """The module of this content, with the common part of both comments, or this one under a new name."""
        for other in self._names.values():
            if other == module and other.name.partition("_")[0] == module.name:
                common = tuple(line for line in other.comment if line in module.comment)
                self._names[other.name] = replace(other, comment=common)
                return other
        name, number = module.name, 1
        while name in self._names:
            number += 1
            name = f"{module.name}_{number}"
        self._names[name] = replace(module, name=name)
        return self._names[name]

    def _read(self, component: Component) -> Module:
        scope = Scope(component, self.types, states_of(component))
        reasons = dict(getattr(component, "UNREAD", ()))
        ports, nets = [], []
        for name, kind, signal in scope.signals(component):
            scope.declare(name, kind)
            if isinstance(signal, InPort | OutPort):
                is_input, unread = isinstance(signal, InPort), reasons.get(name, "")
                is_latch = name in getattr(component, "LATCHES", ())
                comment = scope.comments.of(name)
                ports.append(Port(name, kind, is_input, unread, is_latch=is_latch, comment=comment))
            else:
                nets.append(Net(name, kind, comment=scope.comments.of(name)))
        instances = [*self._instances(scope)]
        nets += (Net(name, kind, of_pins=True) for name, kind in pin_nets(instances).items())
        for net in nets:
            scope.declare(net.name, net.type)
        self.getter.owner = component
        self.getter._rtlir_cache.pop(component, None)
        connections = [*self._connections(component, scope)]
        parameters = getattr(type(component), "PARAMETERS", STDLIB.get(type(component).__name__, ()))
        blocks = [*blocks_of(component, scope, self.top, general=bool(parameters))]
        self.getter._rtlir_cache.pop(component, None)
        nets += (Net(name, kind) for name, kind in scope.temporaries.items())
        checks = assertion_items(component, scope, is_top=component is self.top)
        items = (*(instance for instance, _ in instances), *connections, *blocks, *checks)
        types = (scope.state,) if scope.state and not scope.state.is_codes else ()
        owner, about = type(component).__name__, comment_of(component)
        made = Module(owner, about, types, tuple(ports), tuple(nets), items, owner, made_with(component))
        return with_steps_apart(replace(made, declared=parameters))

    def _instances(self, scope: Scope) -> Iterator[tuple[Instance, tuple[int, ...]]]:
        """The instances with the sizes of the lists that they are in."""
        for name, place, child in scope.children():
            module = self.module(child)
            _, sizes = first_of(vars(scope.component)[name])
            comment = scope.comments.of(name)
            if any(place):  # the first of a list has the comment behind it
                comment = replace(comment, behind="")
            if len({self.module(item).ports for _, item in places(vars(scope.component)[name])}) > 1:
                scope.apart.add(name)
                name, place, sizes = "__".join([name, *map(str, place)]), (), ()
            pins = []
            for port in module.ports:
                net: Expr = Name(f"{name}__{port.name}", listed(port.type, sizes))
                for index in place:
                    net = element(net, Number(32, index))
                pins.append(Pin(port.name, port.is_input, net))
            yield Instance(module.name, name, place, tuple(pins), comment=comment), sizes

    def _connections(self, component: Component, scope: Scope) -> Iterator[Assign]:
        directed = self._edges[component]
        known: set[str] = set()
        for pair in component.get_connect_order():
            writer, reader = pair if pair in directed else pair[::-1]
            target, value = scope.end(reader), scope.end(writer)
            assert isinstance(target, Reference)
            if isinstance(value, Number) and value.width != target.width:
                value = truncated(value.value, target.width)
            value = of_type(value, target.type)
            names = {f"{root(end).replace('__', '.')}=" for end in (target, value)} - known
            known |= names  # a comment on a loop of connections is at the first one
            comments = (scope.comments.of(name) for name in sorted(names))
            yield Assign(target, value, comment=sum(comments, Comment()))


def ports_of(component: Component) -> tuple[Port, ...]:
    """The ports of an elaborated component, with the types that its own module declares."""
    scope = Scope(component, Types(), states_of(component))
    return tuple(
        Port(name, kind, isinstance(signal, InPort))
        for name, kind, signal in scope.signals(component)
        if isinstance(signal, InPort | OutPort)
    )


def with_steps_apart(module: Module) -> Module:
    """Lists of wires that a block reads and writes, as the steps of a computation, are not packed: Verilator
    would say that it reads them before they are driven. Nor are lists of registers: they may be a memory."""
    names: set[str] = set()
    for item in module.items:
        written = {root(node) for node in written_in(item)}
        if isinstance(item, Comb):
            names |= {root(node) for node in read_in(item)} & written
        elif isinstance(item, Seq):
            names |= written
    apart = {
        net.name: listed(*elements_of(net.type))
        for net in module.nets
        if net.name in names and isinstance(net.type, Array)
    }

    def change(node: Any) -> Any:
        return replace(node, type=apart[node.name]) if isinstance(node, Name) and node.name in apart else None

    def element_of(node: Any) -> Any:
        if isinstance(node, Element) and root(node) in apart:
            base = rebuilt(node.base, element_of)
            return Element(base, rebuilt(node.index, element_of), base.type.element)
        return change(node)

    nets = tuple(replace(net, type=apart.get(net.name, net.type)) for net in module.nets)
    return replace(module, nets=nets, items=rebuilt(module.items, element_of)) if apart else module


def elements_of(kind: Any) -> tuple[Any, tuple[int, ...]]:
    sizes: tuple[int, ...] = ()
    while isinstance(kind, Array):
        kind, sizes = kind.element, (*sizes, kind.size)
    return kind, sizes


def arguments(value: Any) -> Any:
    """Construction arguments as a key: True is not 1, and what has no value of its own is itself."""
    if isinstance(value, list | tuple):
        return type(value), tuple(map(arguments, value))
    if isinstance(value, dict):
        return tuple((name, arguments(item)) for name, item in value.items())
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def listed(kind: Any, sizes: tuple[int, ...]) -> Any:
    for size in reversed(sizes):
        kind = Array(size, kind, packed=False)
    return kind


def pin_nets(instances: list[tuple[Instance, tuple[int, ...]]]) -> dict[str, Any]:
    found = {}
    for instance, _ in instances:
        for pin in instance.pins:
            if net := signal_of(pin.value):
                found[net.name] = net.type
    return found


def made_with(component: Component) -> tuple[tuple[str, Any], ...]:
    """The arguments of a construction that have a value of their own: no makers of components."""
    construct = inspect.signature(type(component).construct)
    bound = construct.bind(component, *component._dsl.args, **component._dsl.kwargs)
    bound.apply_defaults()
    _, *found = bound.arguments.items()
    return tuple(
        (name, value)
        for name, value in found
        if isinstance(value, type) or not (value is None or callable(value))
    )
