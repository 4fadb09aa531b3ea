"""ProcXcel: a processor with an accelerator at its xcel port (paper 001, Figure 7 and section 5.1) and, with
`mk_slave`, a slave on its bus.

`mk_proc()` makes the processor, `mk_xcel()` the accelerator: any component with the streams istream {write,
addr, data} and ostream {write, data}. It answers every request, one or more cycles later, and istream.rdy
does not depend on the ostream.rdy of the answer to that request: the processor is ready for an answer only
when the request has moved. `mk_slave()` makes a component with the streams istream {write, strobe, addr,
data} and ostream {error, data}, and the line irq; it answers every request, in order, one or more cycles
later. The processor then has a bus. The memory is outside, at the ports imem and dmem. With `memory`, the
memory ports of the accelerator (fl/memory.py), both share dmem (memory_arbiter.py).

Ports: those of Proc without xcel, bus and irq. `observed=False` omits the commit port, for a chip: synthesis
then removes the logic that only that port needs.
"""

from pymtl3 import *

from ...rtl.messages import fields_of
from .memory_arbiter import SharedMemory
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
        if memory:
            s.share_memory(memory)
        s.slave = m = mk_slave and mk_slave()
        if m:
            m.istream //= s.proc.bus_req
            m.ostream //= s.proc.bus_resp
            m.irq //= s.proc.irq

    def share_memory(s, memory):
        """Put the accelerator's memory ports beside the processor's."""
        ports = [*fields_of(s.xcel, ((port.name, port.nbits) for port in memory)).values()]
        s.shared = m = SharedMemory([(port.ReqType, port.RespType) for port in ports])
        m.mem_req //= s.dmem_req
        m.mem_resp //= s.dmem_resp
        m.proc_req //= s.proc.dmem_req
        m.proc_resp //= s.proc.dmem_resp
        for own, port in zip(m.ports, ports, strict=True):
            own //= port

    def line_trace(s):
        slave = s.slave.line_trace() if s.slave else ""
        return f"{s.proc.line_trace()} {s.xcel.line_trace()}{slave}".rstrip()
