"""VerilogText: a component whose implementation is Verilog text."""

from typing import Any

from pymtl3 import Component
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL


class VerilogText(Component):
    """A Verilog module with the ports clk, reset, istream and ostream, for backends verilog and native.

    Its class has the name of the module.
    """

    def construct(s, text: str, request: Any, response: Any) -> None:
        s.istream = RecvIfcRTL(request)
        s.ostream = SendIfcRTL(response)
        s.text = text


def verilog_text(name: str, text: str, request: Any, response: Any) -> VerilogText:
    """The module `name` of a text as a component."""
    component: VerilogText = type(name, (VerilogText,), {})(text, request, response)
    return component
