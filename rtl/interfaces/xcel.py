"""Xcel: an accelerator behind registers, RSAXcel and RSAMontXcel of paper 001 (Figures 7 and 14).

`mk_accelerator()` makes a component of the shape, with a status first in its response.

Ports: istream {write, addr, data} -> ostream {write, data}; fl/xcel.py has the protocol. The accelerator's
memory ports are its own.
"""

from pymtl3 import *

from ..messages import declare_streams, mk_xcel_req, mk_xcel_resp, pass_memory
from .one_result import one_result
from .xcel_adapter import XcelAdapter


class Xcel(Component):
    def construct(s, shape, mk_accelerator):
        declare_streams(s, mk_xcel_req(), mk_xcel_resp())

        s.adapter = XcelAdapter(shape)
        s.machine = one_result(shape, mk_accelerator)
        pass_memory(s, s.machine, shape.memory)

        s.istream //= s.adapter.istream
        s.adapter.req //= s.machine.istream
        s.machine.ostream //= s.adapter.resp
        s.adapter.ostream //= s.ostream

    def line_trace(s):
        return f"{s.adapter.line_trace()}  {s.machine.line_trace()}"
