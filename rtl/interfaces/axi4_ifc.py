"""Axi4Ifc: the five channels of an AMBA AXI4 master with accesses of one beat and one identifier.

    s.m_axi = Axi4Ifc(OutPort, InPort, 32)  # of a master
    s.s_axi = Axi4Ifc(InPort, OutPort, 32)  # of a slave

Bursts have one beat, so that awlen and arlen are 0, wlast is 1, and rlast is not needed.
"""

from pymtl3 import *

from ...fl.memory import ADDRESS_NBITS
from ..messages import declare, fields_of

OKAY, SLVERR = 0, 2  # responses
INCR = 1  # kind of bursts
MODIFIABLE, UNPRIVILEGED = 3, 0  # cache: normal, bufferable; prot: data, secure


class Axi4Ifc(Interface):
    def construct(s, FromMaster, FromSlave, nbits):
        s.awaddr = FromMaster(ADDRESS_NBITS)
        s.awlen = FromMaster(8)
        s.awsize = FromMaster(3)
        s.awburst = FromMaster(2)
        s.awcache = FromMaster(4)
        s.awprot = FromMaster(3)
        s.awvalid = FromMaster()
        s.awready = FromSlave()
        s.wdata = FromMaster(nbits)
        s.wstrb = FromMaster(nbits // 8)
        s.wlast = FromMaster()
        s.wvalid = FromMaster()
        s.wready = FromSlave()
        s.bresp = FromSlave(2)
        s.bvalid = FromSlave()
        s.bready = FromMaster()
        s.araddr = FromMaster(ADDRESS_NBITS)
        s.arlen = FromMaster(8)
        s.arsize = FromMaster(3)
        s.arburst = FromMaster(2)
        s.arcache = FromMaster(4)
        s.arprot = FromMaster(3)
        s.arvalid = FromMaster()
        s.arready = FromSlave()
        s.rdata = FromSlave(nbits)
        s.rresp = FromSlave(2)
        s.rlast = FromSlave()
        s.rvalid = FromSlave()
        s.rready = FromMaster()


def declare_buses(s, memory):
    """The buses of masters for these memory ports; returns them."""
    buses = [Axi4Ifc(OutPort, InPort, port.nbits) for port in memory]
    return declare(s, dict(zip(names_of_masters(memory), buses, strict=True)))


def pass_masters(s, inner, memory):
    """The masters of a wrapper, connected to those of the component in it."""
    for outer, within in zip(declare_buses(s, memory), masters_of(inner, memory), strict=True):
        connect(outer, within)


def names_of_masters(memory):
    """The names of the buses of these memory ports: m_axi, or m_axi_NAME if there are several."""
    return ["m_axi"] if len(memory) == 1 else [f"m_axi_{port.name}" for port in memory]


def masters_of(s, memory):
    """The buses of a component that has them."""
    return [*fields_of(s, [(name, 0) for name in names_of_masters(memory)]).values()]
