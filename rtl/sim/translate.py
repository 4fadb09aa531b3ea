"""From a component to readable SystemVerilog text."""

from pymtl3 import Component
from pymtl3.passes.backends.verilog import VerilogTranslationPass
from pymtl3.passes.backends.verilog.translation.VerilogTranslationConfigs import VerilogTranslationConfigs
from pymtl3.passes.backends.verilog.translation.VTranslator import VTranslator


class _Readable(VTranslator):
    def rtlir_tr_upblk_decl(s, upblk, src, py_src):
        return src


def translate(component: Component, name: str | None = None) -> str:
    """The design as one self-contained SystemVerilog text."""
    if not component._dsl.constructed:
        component.elaborate()
    component.set_metadata(VerilogTranslationPass.explicit_module_name, name or top_name(component))
    translator = _Readable(component)
    translator.translate(component, {m: VerilogTranslationConfigs(m) for m in _hierarchy(component)})
    return translator.hierarchy.src


def _hierarchy(component):
    yield component
    for child in component.get_child_components(repr):
        yield from _hierarchy(child)


def top_name(component: Component) -> str:
    return type(component).__name__
