"""A component as SystemVerilog."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from pymtl3 import Component

from .codes import with_codes
from .constants import with_constants
from .drivers import with_one_driver
from .loops import with_loops
from .names import merged, named
from .narrow import narrowed
from .parameters import settled, with_parameters
from .print import verilog
from .prune import pruned, silenced
from .read import Reader
from .simplify import simplified
from .tree import Design
from .types import deep, retyped, with_prefix, without_lists_of_one

EVERY_TOP = dict.fromkeys(("clk", "reset"), "every top module has it")


def design_of(
    component: Component, unread: Mapping[str, str] = MappingProxyType({}), prefix: str = ""
) -> Design:
    """The tree of an elaborated component.

    unread: reasons why the top need not read some of its ports. prefix: of the names of types.
    """
    top, *parts = Reader(component).design().modules
    reasons = {**EVERY_TOP, **unread}
    ports = tuple(replace(port, unread=reasons.get(port.name, port.unread)) for port in top.ports)
    modules = (replace(top, ports=ports), *parts)
    modules = tuple(module if module.declared else without_lists_of_one(module) for module in modules)
    before = Design(tuple(map(simplified, modules)))
    short = with_constants(pruned(before))
    while short != before:
        before, short = short, narrowed(with_constants(pruned(short)))
    types = deep(lambda kind: with_prefix(kind, prefix))
    coded = Design(tuple(retyped(module, types) for module in with_codes(short).modules))
    modules = tuple(with_loops(with_one_driver(silenced(module))) for module in settled(coded).modules)
    return with_parameters(merged(Design(modules)))


def translate(
    component: Component, top: str, prefix: str, unread: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The SystemVerilog of an elaborated component.

    prefix: of the names of all types, and of all modules but the top.
    """
    return text(named(design_of(component, unread, prefix), top, prefix))


def text(design: Design) -> str:
    return f"`default_nettype none\n\n{verilog(design)}\n`default_nettype wire\n"
