"""ProcXcel: a processor with an accelerator behind its xcel port (paper 001, Figure 7 and section 5.1).

`mk_proc()` makes the processor, `mk_xcel()` the accelerator: any component with the streams istream {write,
addr, data} and ostream {write, data}. It answers every request, one or more cycles after it, and istream.rdy
does not wait for the ostream.rdy of that request's own answer: the processor is ready for an answer only when
the request has moved. The memory is outside, at the ports imem and dmem.

Ports: those of Proc without xcel. `observed=False` leaves out the commit port, for a chip: synthesis then
removes what only that port needs.
"""

from pymtl3 import *

from .ports import join_processor, processor_ports


class ProcXcel(Component):
    def construct(s, mk_proc, mk_xcel, observed=True):
        processor_ports(s, observed)
        s.proc = mk_proc()
        s.xcel = mk_xcel()
        join_processor(s, s.proc)
        s.proc.xcel_req //= s.xcel.istream
        s.xcel.ostream //= s.proc.xcel_resp
        if observed:
            s.proc.commit //= s.commit

    def line_trace(s):
        return f"{s.proc.line_trace()} {s.xcel.line_trace()}".rstrip()
