"""From a component to one readable, self-contained SystemVerilog text.

PyMTL3's translator does the work. What it writes is meant for machines: banners, the Python source as comments,
absolute paths, modules called `Class__parameter_value__...` or by a hash. So a few of its methods are overridden
here, modules get other names (names.py), and the text of each module is tidied (tidy.py). The result is the
same in every process, as it is the key to the cache, and clean under `verilator -Wall`.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pymtl3 import Bits, Component
from pymtl3.dsl import Interface, Signal
from pymtl3.passes.backends.verilog.translation.behavioral.VBehavioralTranslatorL5 import (
    BehavioralRTLIRToVVisitorL5,
)
from pymtl3.passes.backends.verilog.translation.VerilogTranslationConfigs import VerilogTranslationConfigs
from pymtl3.passes.backends.verilog.translation.VTranslator import VTranslator
from pymtl3.passes.backends.verilog.util.utility import verilog_reserved
from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.structural.StructuralRTLIRGenL4Pass import StructuralRTLIRGenL4Pass

from ...fl.errors import BadInput
from . import toolchain
from .names import described, identity, module_names
from .tidy import disconnect, drop_unused, tidy

_HEADER = """\
// {top}: translated from PyMTL3; the top module is the last one.
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNUSEDSIGNAL */  // not every bit of a sum is needed

"""


def translate(component: Component, name: str | None = None) -> str:
    """The design as SystemVerilog, its top module called `name`, or else as its class."""
    if not component._dsl.constructed:
        component.elaborate()
    _check_identifiers(component)
    translator = Readable(component, name or top_name(component))
    translator.translate(component, {each: VerilogTranslationConfigs(each) for each in _hierarchy(component)})
    return translator.hierarchy.src


def top_name(component: Component) -> str:
    """The name of the top module where none is given."""
    return type(component).__name__


def lint(verilog: str) -> None:
    """Raise ToolError with Verilator's message if it has anything to complain about, style included."""
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        (Path(directory) / "design.sv").write_text(verilog)
        toolchain.verilator(["--lint-only", "-Wall", "design.sv"], cwd=Path(directory))


def _hierarchy(component: Component) -> Iterator[Component]:
    """The component and everything inside it, in a fixed order."""
    yield component
    for child in component.get_child_components(repr):
        yield from _hierarchy(child)


def _check_identifiers(component: Component) -> None:
    for each in _hierarchy(component):
        for name, value in vars(each).items():
            if name in verilog_reserved and isinstance(value, Component | Interface | Signal | list):
                raise BadInput(
                    f"{type(each).__name__} has an attribute named {name!r}, which is a reserved word of "
                    "SystemVerilog: rename it"
                )


class Readable(VTranslator):
    """PyMTL3's translator with our names and layout."""

    def __init__(self, top: Component, name: str) -> None:
        super().__init__(top)
        self._name = name
        self._module_names: dict[tuple[type, str], str] = {}
        self._described: dict[str, str] = {}
        self._without: dict[str, list[str]] = {}  # module -> those of clk and reset that it does not have

    def rtlir_tr_initialize(self) -> None:
        super().rtlir_tr_initialize()
        kinds = [each.get_metadata(StructuralRTLIRGenL4Pass.rtlir_type) for each in _hierarchy(self.tr_top)]
        self._module_names = module_names(kinds, self._name)
        self._described = {self._module_names[identity(kind)]: described(kind) for kind in kinds}

    def rtlir_tr_component_unique_name(self, c_rtype: rt.Component) -> str:
        return self._module_names[identity(c_rtype)]

    def rtlir_tr_component(self, behavioral: Any, structural: Any) -> str:
        """One module; those inside it come first."""
        text = tidy(super().rtlir_tr_component(behavioral, structural))
        name = structural.component_unique_name
        text = disconnect(text, self._without)
        if not structural.component_is_top:
            text, self._without[name] = drop_unused(text)
        parameters = self._described[name]
        return f"// {structural.component_name}{': ' if parameters else ''}{parameters}\n{text}"

    def rtlir_tr_components(self, components: dict[str, str]) -> str:
        return "\n\n".join(components.values())

    def rtlir_tr_src_layout(self, hierarchy: Any) -> str:
        """The whole text."""
        structs = [(kind, template["def"]) for kind, template in hierarchy.decl_type_struct.items()]
        text = "\n".join([*(definition for _, definition in structs), hierarchy.component_src])
        # PyMTL3 appends the fields of a struct to its name; the class name suffices where it is unique
        classes = [kind.cls.__name__ for kind, _ in structs]
        for kind, _ in structs:
            if classes.count(kind.cls.__name__) == 1:
                text = text.replace(f"{kind.get_name()} ", f"{kind.cls.__name__} ")
                text = text.replace(f"{kind.get_name()};", f"{kind.cls.__name__};")
        return _HEADER.format(top=self._name) + text.rstrip() + "\n"

    # Update blocks: without their Python source, and indented once (both lists hold the same strings).

    def rtlir_tr_upblk_decl(self, upblk: object, src: list[str], py_src: list[str]) -> list[str]:
        return src

    def rtlir_tr_upblk_srcs(self, upblk_srcs: list[list[str]]) -> str:
        return ""

    def _get_rtlir2v_visitor(self) -> type[BehavioralRTLIRToVVisitorL5]:
        return ReadableBlock

    def _literal_number(self, nbits: int, value: int) -> str:
        return _number(nbits, value)


class ReadableBlock(BehavioralRTLIRToVVisitorL5):
    """Expressions and statements of an update block."""

    def visit_FreeVar(self, node: Any) -> str:
        # a cast only if the constant was made wider by its context
        text = super().visit_FreeVar(node)
        if isinstance(node.obj, int | Bits):
            nbits = node.obj.nbits if isinstance(node.obj, Bits) else max(1, node.obj.bit_length())
            if node.Type.get_dtype().get_length() == nbits:
                return f"__const__{node.name}"
        return text

    def visit_Number(self, node: Any) -> str:
        return _number(node.Type.get_dtype().get_length(), node.value)

    def visit_ZeroExt(self, node: Any) -> str:
        node.value._top_expr = True
        return f"{node.nbits}'({self.visit(node.value)})"

    def visit_For(self, node: Any) -> list[str]:
        """Plain numbers as bounds; a loop without turns is an empty statement."""
        start, end, step = (getattr(each, "_value", None) for each in (node.start, node.end, node.step))
        src = super().visit_For(node)
        if None in (start, end, step) or step < 0:
            return src
        if start >= end:
            return [";"]
        begin = " begin" if len(node.body) > 1 else ""
        i = self.visit(node.var)
        return [f"for ( int unsigned {i} = {start}; {i} < {end}; {i} += {step} ){begin}", *src[1:]]


def _number(nbits: int, value: int) -> str:
    """Decimal where a reader would think so, else hexadecimal."""
    return f"{nbits}'d{int(value)}" if int(value) < 1 << 16 else f"{nbits}'h{int(value):x}"
