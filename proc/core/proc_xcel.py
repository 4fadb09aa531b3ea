"""ProcXcel: a processor with an accelerator at its xcel port (paper 001, Figure 7 and section 5.1) and, with
`mk_slave`, a slave on its bus.

`mk_proc()` makes the processor, `mk_xcel()` the accelerator: any component with the streams istream {write,
addr, data} and ostream {write, data}. It answers every request, one or more cycles later, and istream.rdy
does not depend on the ostream.rdy of the answer to that request: the processor is ready for an answer only
when the request has moved. `mk_slave()` makes a component with the streams istream {write, strobe, addr,
data} and ostream {error, data}, and the line irq; it answers every request, in order, one or more cycles
later. The processor then has a bus. The memory is outside, at the ports imem and dmem. With `memory`, the
memory ports of the accelerator, or of that behind the slave (fl/memory.py), it shares dmem with the processor
(memory_arbiter.py).

Ports: those of Proc without xcel, bus and irq. `observed=False` omits the commit port, for a chip: synthesis
then removes the logic that only that port needs.
"""

from pymtl3 import *

from ...rtl.interfaces.axi4_ifc import masters_of
from ...rtl.messages import memory_ports
from .axi4_words import Axi4Words
from .memory_arbiter import AcceleratorPort, SharedMemory
from .ports import join_processor, processor_ports


class ProcXcel(Component):
    def construct(s, mk_proc, mk_xcel, mk_slave=None, observed=True, memory=()):
        processor_ports(s, observed)
        s.proc = mk_proc()
        join_processor(s, s.proc, shares_memory=bool(memory))
        if observed:
            s.proc.commit //= s.commit
        s.xcel = m = mk_xcel()
        m.istream //= s.proc.xcel_req
        m.ostream //= s.proc.xcel_resp
        s.slave = m = mk_slave and mk_slave()
        if m:
            m.istream //= s.proc.bus_req
            m.ostream //= s.proc.bus_resp
            m.irq //= s.proc.irq
        if memory:
            s.share_memory(memory)

    def share_memory(s, memory):
        """Put the memory ports of the accelerator, or the masters of the slave, beside the processor."""
        s.shared = m = SharedMemory(len(memory))
        m.mem_req //= s.dmem_req
        m.mem_resp //= s.dmem_resp
        m.proc_req //= s.proc.dmem_req
        m.proc_resp //= s.proc.dmem_resp
        if s.slave:
            s.clients = [Axi4Words() for _ in memory]
            for client, bus in zip(s.clients, masters_of(s.slave, memory), strict=True):
                bus //= client.s_axi
        else:
            ports = memory_ports(s.xcel, memory)
            s.clients = [AcceleratorPort(port.ReqType, port.RespType) for port in ports]
            for client, port in zip(s.clients, ports, strict=True):
                port //= client.port
        for client, req, resp in zip(s.clients, m.reqs, m.resps, strict=True):
            client.req //= req
            resp //= client.resp

    def line_trace(s):
        slave = s.slave.line_trace() if s.slave else ""
        return f"{s.proc.line_trace()} {s.xcel.line_trace()}{slave}".rstrip()
