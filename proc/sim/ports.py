"""Ports of a processor, as its test bench sees them."""

from pymtl3 import Component
from pymtl3.dsl import Signal
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...fl.errors import BadInput
from ...rtl.sim.ports import Message
from ..core.ports import COMMIT, DRIVER, MEMORIES

PORTS = MEMORIES | DRIVER | COMMIT
STREAMS = (SendIfcRTL, RecvIfcRTL)


def check(component: Component) -> None:
    """BadInput if an elaborated component does not have these ports."""
    for port, (kind, message) in PORTS.items():
        signal = getattr(component, port, None)
        if kind in STREAMS:
            signal = getattr(signal, "msg", None)
        if not isinstance(signal, Signal) or Message.of(signal._dsl.Type) != Message.of(message):
            what = "a stream" if kind in STREAMS else "a port"
            raise BadInput(
                f"{type(component).__name__} is not a processor: it needs {what} `{port}` of "
                f"{message.__name__}"
            )
