"""Axi4LiteIfc: the five channels of AMBA AXI4-Lite with 32 bits of data.

    s.s_axi = Axi4LiteIfc(InPort, OutPort)  # of a slave
    s.m_axi = Axi4LiteIfc(OutPort, InPort)  # of a master

awprot and arprot are ports of the exported top module alone (amba_ports.py).
"""

from pymtl3 import *

from ...fl.axi4lite import ADDRESS_NBITS
from ...fl.xcel import WORD_NBITS

STROBE_NBITS = WORD_NBITS // 8


class Axi4LiteIfc(Interface):
    def construct(s, FromMaster, FromSlave, address_nbits=ADDRESS_NBITS):
        s.awaddr = FromMaster(address_nbits)
        s.awvalid = FromMaster()
        s.awready = FromSlave()
        s.wdata = FromMaster(WORD_NBITS)
        s.wstrb = FromMaster(STROBE_NBITS)
        s.wvalid = FromMaster()
        s.wready = FromSlave()
        s.bresp = FromSlave(2)
        s.bvalid = FromSlave()
        s.bready = FromMaster()
        s.araddr = FromMaster(address_nbits)
        s.arvalid = FromMaster()
        s.arready = FromSlave()
        s.rdata = FromSlave(WORD_NBITS)
        s.rresp = FromSlave(2)
        s.rvalid = FromSlave()
        s.rready = FromMaster()
