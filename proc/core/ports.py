"""The ports of a processor, with and without an accelerator behind it, and the wires between two components
that have them.
"""

from pymtl3 import Bits32, Component, InPort, OutPort, connect
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.messages import mk_xcel_req, mk_xcel_resp
from .messages import mk_commit, mk_mem_req, mk_mem_resp


def processor_ports(s: Component, *, xcel: bool = False, bus: bool = False, observed: bool = True) -> None:
    """Memories, manager, entry and core_id, halted and stats_en; xcel: the accelerator's; bus: that, and irq;
    observed: commit.
    """
    s.imem_req = SendIfcRTL(mk_mem_req())
    s.imem_resp = RecvIfcRTL(mk_mem_resp())
    s.dmem_req = SendIfcRTL(mk_mem_req())
    s.dmem_resp = RecvIfcRTL(mk_mem_resp())
    if xcel:
        s.xcel_req = SendIfcRTL(mk_xcel_req())
        s.xcel_resp = RecvIfcRTL(mk_xcel_resp())
    if bus:
        s.bus_req = SendIfcRTL(mk_mem_req())
        s.bus_resp = RecvIfcRTL(mk_mem_resp())
        s.irq = InPort()
    s.mngr2proc = RecvIfcRTL(Bits32)
    s.proc2mngr = SendIfcRTL(Bits32)
    s.entry = InPort(32)
    s.core_id = InPort(32)
    s.halted = OutPort()
    s.stats_en = OutPort()
    if observed:
        s.commit = OutPort(mk_commit())


def join_processor(s: Component, inner: Component) -> None:
    """`inner` at the ports of `s`, all but commit."""
    streams = ("imem_req", "imem_resp", "dmem_req", "dmem_resp", "mngr2proc", "proc2mngr")
    for name in (*streams, "entry", "core_id", "halted", "stats_en"):
        connect(getattr(s, name), getattr(inner, name))
