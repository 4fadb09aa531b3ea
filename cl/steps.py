"""StepsCL: the cycle-level model of an accelerator with memory, written as a function that waits.

`work(*request, memory)` is a generator with the response as its result. It begins in the cycle after the
request was accepted. Each `yield` is one cycle: after k of them, the response is offered k + 1 cycles after
the request was accepted. The last argument of `work` is the port, or a tuple of ports if there are several.
On a port

    value = yield from memory.read(address)     two cycles, if the memory answers in the next cycle
    yield from memory.write(address, value)     the same
    yield from memory.request_read(address)     one cycle: the request alone
    value = yield from memory.response()        one cycle: the answer to the oldest request

`together` runs several at the same time. All outputs are registers, so that a state machine at RTL has the
same cycles if it offers a request in one state and accepts its answer in the next.
"""

from collections import deque
from inspect import isgenerator

from pymtl3 import *

from ..fl.errors import BadInput
from ..fl.memory import ADDRESS_NBITS, READ, WORD_NBYTES, WRITE
from ..rtl.messages import declare_memory, declare_streams, fields_of, mk_memory_request
from .one_at_a_time import together

__all__ = ["PortCL", "StepsCL", "together"]


class PortCL:
    """A memory port as the generator sees it."""

    def __init__(self, port):
        self.port = port
        self.clear()

    def clear(self):
        """Forget all requests."""
        self.offer = None  # the fields of the request that waits
        self.waiting: deque[list[int]] = deque()  # for each answer that is due, the oldest first

    def read(self, address, nbytes=WORD_NBYTES):
        """Read a number, and wait for it."""
        yield from self.request_read(address, nbytes)
        return (yield from self.response(nbytes))

    def write(self, address, value, nbytes=WORD_NBYTES):
        """Write a number, and wait for the answer."""
        yield from self.request_write(address, value, nbytes)
        yield from self.response(nbytes)

    def request_read(self, address, nbytes=WORD_NBYTES):
        """Send a request to read."""
        yield from self._send(READ, address, nbytes, 0)

    def request_write(self, address, value, nbytes=WORD_NBYTES):
        """Send a request to write."""
        yield from self._send(WRITE, address, nbytes, value)

    def response(self, nbytes=WORD_NBYTES):
        """The answer to the oldest request: the number that was read; 0 for a write."""
        answer: list[int] = []
        self.waiting.append(answer)
        while not answer:
            yield
        return answer[0] & (1 << 8 * nbytes) - 1

    def _send(self, kind, address, nbytes, value):
        port = self.port
        if not 0 < nbytes <= port.nbytes:
            raise BadInput(
                f"steps: an access of {nbytes} bytes at memory port {port.name}, whose words have "
                f"{port.nbytes}; give nbytes, as in memory.read(address, 2)"
            )
        if not 0 <= address < 1 << ADDRESS_NBITS:
            raise BadInput(f"steps: memory port {port.name} has no address {address:#x}; stay below 2**32")
        while self.offer is not None:  # a request of another generator waits
            yield
        self.offer = kind, 0, address, nbytes % port.nbytes, value & (1 << 8 * nbytes) - 1
        while self.offer is not None:
            yield


class StepsCL(Component):
    def construct(s, Req, Resp, fields, memory, work):
        declare_streams(s, Req, Resp)
        models = s.cl_models = [PortCL(port) for port in memory]
        used = models[0] if len(models) == 1 else tuple(models)
        ports = s.cl_ports = declare_memory(s, memory)
        Requests = [mk_memory_request(port.nbits) for port in memory]
        s.cl_running = s.cl_result = None

        s.cl_ready = Wire()
        s.cl_valid = Wire()
        s.cl_response = Wire(Resp)
        s.istream.rdy //= s.cl_ready
        s.ostream.val //= s.cl_valid
        s.ostream.msg //= s.cl_response
        s.cl_vals = [Wire() for _ in memory]
        s.cl_msgs = [Wire(Request) for Request in Requests]
        s.cl_rdys = [Wire() for _ in memory]
        for port, offers, request, accepts in zip(ports, s.cl_vals, s.cl_msgs, s.cl_rdys, strict=True):
            port.req.val //= offers
            port.req.msg //= request
            port.resp.rdy //= accepts

        @update_ff
        def step():
            s.advance(fields, used, work)
            s.cl_ready <<= (s.cl_running is None) & (s.cl_result is None)
            s.cl_valid <<= s.cl_result is not None
            if s.cl_result is not None:
                s.cl_response <<= Resp(*s.cl_result)
            for i in range(len(models)):
                offer = models[i].offer
                s.cl_vals[i] <<= offer is not None
                s.cl_rdys[i] <<= bool(models[i].waiting)
                if offer is not None:
                    s.cl_msgs[i] <<= Requests[i](*offer)

    def advance(s, fields, used, work):
        """Process the handshakes of this cycle, then run the generator to its next yield or its end."""
        if s.reset:
            s.cl_running = s.cl_result = None
            for model in s.cl_models:
                model.clear()
            return
        for port, model in zip(s.cl_ports, s.cl_models, strict=True):
            if port.req.val & port.req.rdy:
                model.offer = None
            if port.resp.val & port.resp.rdy:
                model.waiting.popleft().append(int(port.resp.msg.data))
        if s.ostream.val & s.ostream.rdy:
            s.cl_result = None
        if s.istream.val & s.istream.rdy:
            request = [int(field) for field in fields_of(s.istream.msg, fields).values()]
            s.cl_running = work(*request, used)
            if not isgenerator(s.cl_running):
                raise BadInput(f"steps returns {s.cl_running!r:.60}; wait for the memory by `yield from`")
        if s.cl_running is not None:
            try:
                next(s.cl_running)
            except StopIteration as end:
                value = end.value
                s.cl_running, s.cl_result = (
                    None,
                    tuple(value) if isinstance(value, tuple | list) else (value,),
                )

    def line_trace(s):
        return f"{s.istream}({'*' if s.cl_running else ''}){s.ostream}  {'  '.join(map(str, s.cl_ports))}"
