"""The ports of a processor, with and without an accelerator behind it, and the wires between two components
that have them.
"""

from typing import Any

from pymtl3 import Bits1, Bits32, Component, InPort, OutPort, connect
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.messages import mk_xcel_req, mk_xcel_resp
from .messages import mk_commit, mk_mem_req, mk_mem_resp

Ports = dict[str, tuple[Any, Any]]  # by name: the port or stream, and its type

MEMORIES: Ports = {
    "imem_req": (SendIfcRTL, mk_mem_req()),
    "imem_resp": (RecvIfcRTL, mk_mem_resp()),
    "dmem_req": (SendIfcRTL, mk_mem_req()),
    "dmem_resp": (RecvIfcRTL, mk_mem_resp()),
}
XCEL: Ports = {"xcel_req": (SendIfcRTL, mk_xcel_req()), "xcel_resp": (RecvIfcRTL, mk_xcel_resp())}
BUS: Ports = {
    "bus_req": (SendIfcRTL, mk_mem_req()),
    "bus_resp": (RecvIfcRTL, mk_mem_resp()),
    "irq": (InPort, Bits1),
}
DRIVER: Ports = {  # of a simulation
    "mngr2proc": (RecvIfcRTL, Bits32),
    "proc2mngr": (SendIfcRTL, Bits32),
    "entry": (InPort, Bits32),
    "core_id": (InPort, Bits32),
    "halted": (OutPort, Bits1),
    "stats_en": (OutPort, Bits1),
}
COMMIT: Ports = {"commit": (OutPort, mk_commit())}


def processor_ports(s: Component, *, xcel: bool = False, bus: bool = False, observed: bool = True) -> None:
    """Give a component MEMORIES and DRIVER; xcel, bus and observed: the accelerator's, the bus's, commit."""
    ports = MEMORIES | (XCEL if xcel else {}) | (BUS if bus else {}) | DRIVER | (COMMIT if observed else {})
    for name, (kind, message) in ports.items():
        setattr(s, name, kind(message))


def join_processor(s: Component, inner: Component) -> None:
    """Connect `inner` to the ports of `s`, all but commit."""
    for name in (*MEMORIES, *DRIVER):
        connect(getattr(s, name), getattr(inner, name))
