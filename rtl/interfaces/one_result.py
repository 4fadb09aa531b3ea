"""OneResult: an accelerator whose response is a status and one number with all results.

Each result takes as many words as the widest; without a status of its own it is 0. Wires alone.

Ports: istream {the fields of the shape} -> ostream {status, result}. Cycles: those of the accelerator.
"""

from pymtl3 import *

from ...fl.mod_exp import is_exponentiation
from ..messages import (
    connect_fields,
    connect_handshake,
    declare_streams,
    fields_of,
    mk_modexp_resp,
    mk_request,
    pass_memory,
)
from ..wires import connect_low


def one_result(shape, mk_accelerator):
    """A new accelerator with such a response: bare if it has one already."""
    return mk_accelerator() if is_exponentiation(shape) else OneResult(shape, mk_accelerator)


class OneResult(Component):
    def construct(s, shape, mk_accelerator):
        declare_streams(s, mk_request(shape), mk_modexp_resp(shape.result_nbits))
        s.accelerator = mk_accelerator()
        pass_memory(s, s.accelerator, shape.memory)

        connect_handshake(s.accelerator.istream, s.istream)
        connect_fields(s.accelerator.istream.msg, s.istream.msg, *dict(shape.request))

        connect_handshake(s.accelerator.ostream, s.ostream)
        answer, status, result = s.accelerator.ostream.msg, s.ostream.msg.status, s.ostream.msg.result
        if shape.has_status:
            connect_low(status, answer.status)
        else:
            status //= 0
        for place, field in enumerate(fields_of(answer, shape.results).values()):
            low, nbits = place * shape.stride, field.get_type().nbits
            result[low : low + nbits] //= field
            if low + nbits < min(low + shape.stride, shape.result_nbits):
                result[low + nbits : low + shape.stride] //= 0

    def line_trace(s):
        return s.accelerator.line_trace()
