"""Translates a component to one readable, self-contained SystemVerilog text, printed by ../../verilog.

The text is the same in every process, because it is the key to the cache, and clean under `verilator -Wall`.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pymtl3 import Component
from pymtl3.dsl import Interface, Signal
from pymtl3.passes.backends.verilog.util.utility import verilog_reserved

from ....fl.errors import BadInput
from ...verilog.names import named, prefix_of
from ...verilog.prune import UNUSED
from ...verilog.translate import design_of, text
from ...verilog.tree import Design
from .. import interrupt, toolchain
from ..author_faults import declared
from ..text import VerilogText
from .module_files import module_files

RESERVED = "the Verilog uses for signals that nothing reads"


@interrupt.kept()
def translate(
    component: Component,
    name: str | None = None,
    *,
    around: Callable[[Design], Design] | None = None,
    **options: Any,
) -> str:
    """The design as SystemVerilog, its top module called `name`, or else as its class.

    around: puts the top module into another, which gets its name. options: of `tree_of`.
    """
    if not component._dsl.constructed:
        component.elaborate()
    if isinstance(component, VerilogText):
        return str(component.text)
    design = tree_of(component, name, **options)
    return text(around(design) if around else design)


def tree_of(
    component: Component,
    name: str | None = None,
    *,
    unique: bool = False,
    unread: Mapping[str, str] = MappingProxyType({}),
    assertions: bool = False,
    whole: bool = False,
) -> Design:
    """The tree of an elaborated component.

    unique: the names of all other modules begin with that of the top, so that several designs can be parts of
    one project. unread: ports of the top module that it need not read, and the reason. assertions: with those
    that components state, and the signals that they name. whole: keeps unread signals and tied inputs, which
    proofs compare.
    """
    _check_identifiers(component)
    top = name or top_name(component)
    design = design_of(component, unread, assertions=assertions, whole=whole)
    return named(design, top, prefix_of(top) if unique else "")


def top_name(component: Component) -> str:
    """The name of the top module where none is given."""
    return type(component).__name__


def lint(verilog: str, *options: str) -> None:
    """Raise ToolError with Verilator's message if it has anything to complain about, style included.

    Each module is in a file of its name, as Verilator wants it.
    """
    files = module_files(verilog)
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        for name, text in files.items():
            (Path(directory) / name).write_text(text)
        toolchain.verilator(["--lint-only", "-Wall", *options, *files], cwd=Path(directory))


def _hierarchy(component: Component) -> Iterator[Component]:
    """The component and everything inside it, in a fixed order."""
    yield component
    for child in component.get_child_components(repr):
        yield from _hierarchy(child)


def _check_identifiers(component: Component) -> None:
    for item in _hierarchy(component):
        for name, value in vars(item).items():
            if not isinstance(value, Component | Interface | Signal | list):
                continue
            if name in verilog_reserved:
                why = "is a reserved word of SystemVerilog"
            elif _is_of_unread(name):
                why = RESERVED
            else:
                continue
            file, line = declared(type(item), name)
            raise BadInput(
                f"{file}, line {line}: {type(item).__name__} has an attribute named {name!r}, which {why}; "
                "rename it"
            )
        for block in filter(lambda block: _is_of_unread(block.__name__), item.get_update_block_order()):
            code = block.__code__
            raise BadInput(
                f"{code.co_filename}, line {code.co_firstlineno}: {type(item).__name__} has an update block "
                f"named {block.__name__!r}, which {RESERVED}; rename it"
            )


def _is_of_unread(name: str) -> bool:
    """Whether the Verilog may have a signal of this name for what nothing reads."""
    return f"{name}_".startswith(UNUSED)
