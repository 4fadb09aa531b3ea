"""Check of the ports of a processor, and its harness with backend `native`.

The strobe of all inputs is the clock: the driver knows the inputs of the next cycle before the edge.
"""

from functools import cache
from typing import Any

from pymtl3 import Component, InPort
from pymtl3.dsl import Signal
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...fl.errors import BadInput
from ...rtl.sim.harness import Harness
from ...rtl.sim.ports import Message
from ..core.ports import processor_ports

STREAMS = (SendIfcRTL, RecvIfcRTL)


class _Ports(Component):
    def construct(s) -> None:
        processor_ports(s)


@cache
def _ports() -> dict[str, tuple[Any, Any]]:
    """The ports of a processor by name: the kind of the port or stream, and its type."""
    component = _Ports()
    component.elaborate()
    return {
        name: (type(port), (port.msg if isinstance(port, STREAMS) else port)._dsl.Type)
        for name, port in vars(component).items()
        if isinstance(port, (*STREAMS, Signal)) and name not in ("clk", "reset")
    }


def check(component: Component) -> None:
    """Raise BadInput if an elaborated component does not have the ports of a processor."""
    for port, (kind, message) in _ports().items():
        signal = getattr(component, port, None)
        if kind in STREAMS:
            signal = getattr(signal, "msg", None)
        if not isinstance(signal, Signal) or Message.of(signal._dsl.Type) != Message.of(message):
            what = "a stream" if kind in STREAMS else "a port"
            raise BadInput(
                f"{type(component).__name__} is not a processor: it needs {what} `{port}` of "
                f"{message.__name__}"
            )


def harness() -> Harness:
    """The harness of a processor.

    It has one port per field: `commit_pc`, `imem_req_addr`, `imem_req_val`, `imem_req_rdy`.
    """
    built = Harness({"clk": {}})
    built.connect("reset", {"reset": 1}, "clk")
    for name, (kind, message) in _ports().items():
        fields = {f"{name}_{field}": nbits for field, nbits in Message.of(message).fields}
        if kind in STREAMS:
            parts = fields or {f"{name}_msg": message.nbits}
            built.connect_stream(name, parts, "clk", received=kind is RecvIfcRTL)
        else:
            built.connect(name, fields or {name: message.nbits}, "clk" if kind is InPort else None)
    return built
