"""SharedMemory: the data memory of a processor, shared with an accelerator that has memory ports.

If several clients request an access in one cycle, the processor has priority, then the accelerator's ports in
the order of their declaration. A request that was offered to the memory is held until it is accepted.
Accesses take effect in the order in which requests are accepted here. The accelerator therefore sees every
store that precedes the program's write to `go`, and a program that has read the status sees every write that
was accepted before the response. Each client has a queue for answers, so that a stalled client does not block
the others, and sends only as many requests as the queue has room for. If the queue is empty, an answer
bypasses it in the same cycle.

Ports: proc_req, proc_resp, and reqs and resps of other clients; mem_req, mem_resp towards the memory, which
answers in order. Cycles: 0 without contention. Area order: a few words per client.

AcceleratorPort turns a memory port of an accelerator into such a client. Its answer has test = 1 if the
access crosses a word, has an unknown type or addresses no memory.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import MinionIfcRTL, RecvIfcRTL, SendIfcRTL

from ...rtl.interfaces.registers.short_queue import ShortQueue
from ...rtl.messages import connect_handshake
from .messages import MemReq, MemResp

PROC_DEPTH, PORT_DEPTH = 2, 4  # answers that wait
READ, WRITE = 0, 1  # types of PyMTL3's memory requests
WORD = 4


class MemoryClient(Component):
    """A client of the memory: its requests while answers fit into its queue, and its answers."""

    def construct(s, depth):
        s.req = RecvIfcRTL(MemReq)
        s.resp = SendIfcRTL(MemResp)
        s.mem_req = SendIfcRTL(MemReq)
        s.mem_resp = RecvIfcRTL(MemResp)

        s.answers = m = ShortQueue(33, depth, True)
        m.recv.val //= s.mem_resp.val
        m.recv.rdy //= s.mem_resp.rdy
        m.recv.msg[32] //= s.mem_resp.msg.error
        m.recv.msg[0:32] //= s.mem_resp.msg.data
        m.send.msg[32] //= s.resp.msg.error
        m.send.msg[0:32] //= s.resp.msg.data
        connect_handshake(m.send, s.resp)
        s.mem_req.msg //= s.req.msg

        s.owed = Wire(clog2(depth + 1))  # requests whose answers have not left
        s.req_fires = Wire()  # a request is accepted
        s.resp_fires = Wire()  # an answer is accepted

        @update
        def handshakes():
            s.mem_req.val @= s.req.val & (s.owed != depth)
            s.req.rdy @= s.mem_req.rdy & (s.owed != depth)
            s.req_fires @= s.req.val & s.req.rdy
            s.resp_fires @= s.resp.val & s.resp.rdy

        @update_ff
        def count():
            if s.reset:
                s.owed <<= 0
            elif s.req_fires & ~s.resp_fires:
                s.owed <<= s.owed + 1
            elif s.resp_fires & ~s.req_fires:
                s.owed <<= s.owed - 1

    def line_trace(s):
        return f"{s.owed}"


class AcceleratorPort(Component):
    """A memory port of 32 bits of an accelerator as a client of aligned words."""

    def construct(s, Request, Response):
        s.port = MinionIfcRTL(Request, Response)
        s.req = SendIfcRTL(MemReq)
        s.resp = RecvIfcRTL(MemResp)
        opaque_nbits = Request.get_field_type("opaque").nbits

        # type, wrong, opaque, len and the address in the word of each request
        s.kept = ShortQueue(4 + 1 + opaque_nbits + 2 + 2, PORT_DEPTH)
        s.wrong = Wire()
        s.strobe = Wire(4)
        s.shift = Wire(32)
        s.kept.recv.msg[0:2] //= s.port.req.msg.addr[0:2]
        s.kept.recv.msg[2:4] //= s.port.req.msg.len
        s.kept.recv.msg[4 : 4 + opaque_nbits] //= s.port.req.msg.opaque
        s.kept.recv.msg[4 + opaque_nbits] //= s.wrong
        s.kept.recv.msg[5 + opaque_nbits : 9 + opaque_nbits] //= s.port.req.msg.type_
        connect_handshake(s.port.req, s.req)
        connect_handshake(s.resp, s.port.resp)

        @update
        def keep():
            s.kept.recv.val @= s.req.val & s.req.rdy
            s.kept.send.rdy @= s.resp.val & s.resp.rdy

        s.add_request()
        s.add_answer(opaque_nbits)

    def add_request(s):
        """The access to an aligned word."""

        @update
        def ask():
            s.shift @= zext(concat(s.port.req.msg.addr[0:2], b3(0)), 32)
            s.strobe @= 15
            s.wrong @= (s.port.req.msg.type_ != READ) & (s.port.req.msg.type_ != WRITE)
            if s.port.req.msg.len == 1:
                s.strobe @= 1
            elif s.port.req.msg.len == 2:
                s.strobe @= 3
                s.wrong @= s.wrong | (s.port.req.msg.addr[0:2] == 3)
            elif s.port.req.msg.len == 3:
                s.strobe @= 7
                s.wrong @= s.wrong | s.port.req.msg.addr[1]
            else:
                s.wrong @= s.wrong | (s.port.req.msg.addr[0:2] != 0)

        @update
        def request():
            s.req.msg.write @= (s.port.req.msg.type_ == WRITE) & ~s.wrong
            s.req.msg.strobe @= 0
            if (s.port.req.msg.type_ == WRITE) & ~s.wrong:
                s.req.msg.strobe @= s.strobe << zext(s.port.req.msg.addr[0:2], 4)
            s.req.msg.addr @= concat(s.port.req.msg.addr[2:32], b2(0))
            s.req.msg.data @= s.port.req.msg.data << s.shift

    def add_answer(s, opaque_nbits):
        """The answer, from the word and what is kept of the request."""
        s.out_type = Wire(4)
        s.out_len = Wire(2)
        s.out_shift = Wire(32)
        s.word = Wire(32)
        s.out_type //= s.kept.send.msg[5 + opaque_nbits : 9 + opaque_nbits]
        s.out_len //= s.kept.send.msg[2:4]
        s.port.resp.msg.opaque //= s.kept.send.msg[4 : 4 + opaque_nbits]
        s.port.resp.msg.type_ //= s.out_type
        s.out_wrong = Wire()
        s.out_wrong //= s.kept.send.msg[4 + opaque_nbits]

        @update
        def answer():
            s.out_shift @= zext(concat(s.kept.send.msg[0:2], b3(0)), 32)
            s.word @= s.resp.msg.data >> s.out_shift
            s.port.resp.msg.test @= zext(s.resp.msg.error | s.out_wrong, 2)
            s.port.resp.msg.len @= 0
            s.port.resp.msg.data @= 0
            if s.out_type != WRITE:
                s.port.resp.msg.len @= s.out_len
                if s.out_len == 1:
                    s.port.resp.msg.data @= zext(s.word[0:8], 32)
                elif s.out_len == 2:
                    s.port.resp.msg.data @= zext(s.word[0:16], 32)
                elif s.out_len == 3:
                    s.port.resp.msg.data @= zext(s.word[0:24], 32)
                else:
                    s.port.resp.msg.data @= s.word

    def line_trace(s):
        return s.kept.line_trace()


class SharedMemory(Component):
    def construct(s, nports):
        s.proc_req = RecvIfcRTL(MemReq)
        s.proc_resp = SendIfcRTL(MemResp)
        s.reqs = [RecvIfcRTL(MemReq) for _ in range(nports)]
        s.resps = [SendIfcRTL(MemResp) for _ in range(nports)]
        s.mem_req = SendIfcRTL(MemReq)
        s.mem_resp = RecvIfcRTL(MemResp)

        nclients = 1 + nports
        s.proc = MemoryClient(PROC_DEPTH)
        s.proc.req //= s.proc_req
        s.proc.resp //= s.proc_resp
        s.ports = [MemoryClient(PORT_DEPTH) for _ in range(nports)]
        s.requests = [Wire(MemReq) for _ in range(nclients)]
        s.req_val = Wire(nclients)  # a bit for each client
        s.first = Wire(nclients)
        s.held = Wire(nclients)  # the client whose request was offered in the last cycle, but not accepted
        s.grant = Wire(nclients)
        s.resp_grant = Wire(nclients)  # of the next answer
        s.req_fires = Wire()
        s.resp_fires = Wire()
        for i, client in enumerate([s.proc, *s.ports]):
            client.mem_req.msg //= s.requests[i]
            client.mem_req.val //= s.req_val[i]
            client.mem_resp.msg //= s.mem_resp.msg
        for req, resp, client in zip(s.reqs, s.resps, s.ports, strict=True):
            req //= client.req
            client.resp //= resp

        s.order = ShortQueue(nclients, PROC_DEPTH + PORT_DEPTH * nports)
        s.order.recv.val //= s.req_fires
        s.order.recv.msg //= s.grant
        s.order.send.rdy //= s.resp_fires
        s.resp_grant //= s.order.send.msg

        s.add_choice(nclients)
        s.add_routes(nclients)

    def add_choice(s, nclients):
        """The request that is offered to the memory."""

        @update
        def choose():
            s.first @= s.req_val & (~s.req_val + 1)
            s.grant @= s.held if s.held != 0 else s.first

        @update
        def request():
            s.mem_req.val @= s.req_val != 0
            s.mem_req.msg @= s.requests[0]
            for i in range(nclients):
                if s.grant[i]:
                    s.mem_req.msg @= s.requests[i]
            s.req_fires @= s.mem_req.val & s.mem_req.rdy

        @update_ff
        def hold():
            if s.reset | s.req_fires:
                s.held <<= 0
            else:
                s.held <<= s.grant

    def add_routes(s, nclients):
        """The way of handshakes and answers to the clients."""

        @update
        def accept():
            s.proc.mem_req.rdy @= s.grant[0] & s.mem_req.rdy
            for i in range(nclients - 1):
                s.ports[i].mem_req.rdy @= s.grant[i + 1] & s.mem_req.rdy

        @update
        def answer():
            s.mem_resp.rdy @= s.order.send.val
            s.resp_fires @= s.mem_resp.val & s.order.send.val
            s.proc.mem_resp.val @= s.resp_fires & s.resp_grant[0]
            for i in range(nclients - 1):
                s.ports[i].mem_resp.val @= s.resp_fires & s.resp_grant[i + 1]

    def line_trace(s):
        ports = " ".join(port.line_trace() for port in s.ports)
        return f"{s.proc.line_trace()} {ports}"
