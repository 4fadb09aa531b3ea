"""ProcBus: a processor with an accelerator behind its xcel port and a slave on its bus.

`mk_proc()` makes a processor with a bus, `mk_xcel()` what is behind the accelerator port (proc_xcel.py),
`mk_slave()` a component with the streams istream {write, strobe, addr, data} and ostream {error, data}, and
the line irq. It answers every request, in order, one or more cycles after it. The memory is outside.

Ports: those of ProcXcel.
"""

from .proc_xcel import ProcXcel


class ProcBus(ProcXcel):
    def construct(s, mk_proc, mk_xcel, mk_slave, observed=True):  # type: ignore[override]
        super().construct(mk_proc, mk_xcel, observed)
        s.slave = mk_slave()
        s.proc.bus_req //= s.slave.istream
        s.slave.ostream //= s.proc.bus_resp
        s.slave.irq //= s.proc.irq

    def line_trace(s):
        return f"{s.proc.line_trace()} {s.xcel.line_trace()}{s.slave.line_trace()}".rstrip()
