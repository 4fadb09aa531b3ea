"""A component as SystemVerilog."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from pymtl3 import Component

from .codes import with_codes
from .constants import with_constants
from .drivers import with_one_driver
from .loops import with_loops
from .names import merged
from .narrow import narrowed
from .parameters import settled, with_parameters
from .print import verilog
from .prune import pruned, silenced
from .read import Reader
from .simplify import simplified
from .tree import Assertion, Design, Module
from .types import without_lists_of_one

EVERY_TOP = dict.fromkeys(("clk", "reset"), "every top module has it")


def design_of(
    component: Component,
    unread: Mapping[str, str] = MappingProxyType({}),
    *,
    assertions: bool = False,
    whole: bool = False,
) -> Design:
    """The tree of an elaborated component.

    unread: reasons why the top need not read some of its ports. assertions: with those
    that components state, and the signals that they name. whole: keeps unread signals and tied inputs.
    """
    top, *parts = Reader(component).design().modules
    reasons = {**EVERY_TOP, **unread}
    ports = tuple(replace(port, unread=reasons.get(port.name, port.unread)) for port in top.ports)
    modules = (replace(top, ports=ports), *parts)
    if not assertions:
        modules = tuple(map(without_assertions, modules))
    modules = tuple(module if module.declared else without_lists_of_one(module) for module in modules)
    before = Design(tuple(map(simplified, modules)))
    short = before if whole else with_constants(pruned(before))
    while short != before:
        before, short = short, narrowed(with_constants(pruned(short)))
    coded = with_codes(short)
    modules = tuple(with_loops(with_one_driver(silenced(module))) for module in settled(coded).modules)
    return with_parameters(merged(Design(modules)))


def without_assertions(module: Module) -> Module:
    """A module without its assertions."""
    return replace(module, items=tuple(item for item in module.items if not isinstance(item, Assertion)))


def text(design: Design) -> str:
    return f"`default_nettype none\n\n{verilog(design)}\n`default_nettype wire\n"
