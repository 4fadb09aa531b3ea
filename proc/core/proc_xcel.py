"""ProcXcel: a processor with an accelerator behind its xcel port (paper 001, Figure 7 and section 5.1).

`mk_proc()` makes the processor, `mk_xcel()` the accelerator: any component with the streams istream {write, addr, data} and ostream
{write, data}. It answers every request, one or more cycles after it, and istream.rdy does not wait for the ostream.rdy of that
request's own answer: the processor is ready for an answer only when the request has moved. The memory is outside, at the ports imem
and dmem.

Ports: those of Proc without xcel. `observed=False` leaves out the commit port, for a chip: synthesis then removes what only that
port needs.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from .messages import mk_commit, mk_mem_req, mk_mem_resp


class ProcXcel(Component):
    def construct(s, mk_proc, mk_xcel, observed=True):
        s.imem_req = SendIfcRTL(mk_mem_req())
        s.imem_resp = RecvIfcRTL(mk_mem_resp())
        s.dmem_req = SendIfcRTL(mk_mem_req())
        s.dmem_resp = RecvIfcRTL(mk_mem_resp())
        s.mngr2proc = RecvIfcRTL(Bits32)
        s.proc2mngr = SendIfcRTL(Bits32)
        s.entry = InPort(32)
        s.core_id = InPort(32)
        s.halted = OutPort()
        s.stats_en = OutPort()

        s.proc = mk_proc()
        s.xcel = mk_xcel()

        s.proc.imem_req //= s.imem_req
        s.imem_resp //= s.proc.imem_resp
        s.proc.dmem_req //= s.dmem_req
        s.dmem_resp //= s.proc.dmem_resp
        s.mngr2proc //= s.proc.mngr2proc
        s.proc.proc2mngr //= s.proc2mngr
        s.proc.entry //= s.entry
        s.proc.core_id //= s.core_id
        s.proc.halted //= s.halted
        s.proc.stats_en //= s.stats_en
        s.proc.xcel_req //= s.xcel.istream
        s.xcel.ostream //= s.proc.xcel_resp
        if observed:
            s.commit = OutPort(mk_commit())
            s.proc.commit //= s.commit

    def line_trace(s):
        return f"{s.proc.line_trace()} {s.xcel.line_trace()}".rstrip()
