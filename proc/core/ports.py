"""The ports of a processor, and their connection between two components that have them."""

from pymtl3 import Bits32, Component, InPort, OutPort
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ...rtl.messages import connect_fields
from .messages import Commit, MemReq, MemResp


def processor_ports(s: Component, observed: bool = True) -> None:
    """Declare the ports of a system: memories, the driver of a simulation and, if observed, commit."""
    s.imem_req = SendIfcRTL(MemReq)
    s.imem_resp = RecvIfcRTL(MemResp)
    s.dmem_req = SendIfcRTL(MemReq)
    s.dmem_resp = RecvIfcRTL(MemResp)
    s.mngr2proc = RecvIfcRTL(Bits32)
    s.proc2mngr = SendIfcRTL(Bits32)
    s.entry = InPort(32)
    s.core_id = InPort(32)
    s.halted = OutPort()
    s.stats_en = OutPort()
    if observed:
        s.commit = OutPort(Commit)


def join_processor(s: Component, inner: Component, *, shares_memory: bool = False) -> None:
    """Connect the ports of `inner` to those of a system `s`, except commit, and dmem if it is shared."""
    connect_fields(inner, s, "imem_req", "imem_resp", "mngr2proc", "proc2mngr")
    if not shares_memory:
        connect_fields(inner, s, "dmem_req", "dmem_resp")
    connect_fields(inner, s, "entry", "core_id", "halted", "stats_en")
