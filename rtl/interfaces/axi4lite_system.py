"""Axi4LiteSystem: a test harness for an accelerator behind AXI4-Lite, with a bus master that executes the
accesses of a stream, from the moment when the slave is not busy after reset.

Ports: istream {write, wait_for_irq, address, data, strobes} -> ostream {write, data, fault}, and the memory
ports of the accelerator, which it reaches by AXI4. Cycles: those of both.
"""

from pymtl3 import *

from ...fl.axi4lite import NO_TRAITS, address_nbits, register_map
from ..messages import declare_memory, declare_streams, mk_bus_req, mk_bus_resp
from .axi4_ifc import masters_of
from .axi4_memory import Axi4Memory
from .axi4lite import Axi4Lite
from .axi4lite_master import Axi4LiteMaster


class Axi4LiteSystem(Component):
    def construct(s, shape, mk_accelerator, traits=NO_TRAITS):
        address = address_nbits(shape)
        declare_streams(s, mk_bus_req(address), mk_bus_resp())
        s.master = Axi4LiteMaster(address, register_map(shape)["STATUS"].address)
        s.slave = Axi4Lite(shape, mk_accelerator, traits)
        s.istream //= s.master.istream
        s.master.ostream //= s.ostream
        s.master.m_axi //= s.slave.s_axi
        s.slave.irq //= s.master.irq
        s.connect_memory(shape.memory)

    def connect_memory(s, memory):
        """The bus between each master of the slave and a memory port of the system."""
        ports = declare_memory(s, memory)
        s.memories = [Axi4Memory(port.ReqType, port.RespType) for port in ports]
        for port, master, bus in zip(ports, masters_of(s.slave, memory), s.memories, strict=True):
            bus.port //= port
            master //= bus.s_axi

    def line_trace(s):
        return f"{s.master.line_trace()}{s.slave.line_trace()}"
