"""OneAtATimeCL: the cycle-level model of any unit that works on one request at a time.

`serve(msg, modulus)` returns the response and its cycles, from the handshake of the request to the first
cycle in which the response is offered. The models of units, and of machines with a controller of their own,
have a generator that does the work and yields once for each of these cycles (`counted`). ProgramExpCL counts
by microinstruction, and the default model of a user's accelerator has its formula.

With `overlap`, the next request is accepted in the cycle in which the response leaves, otherwise one cycle
later. `waits` says for how many cycles an idle unit examines a request before it accepts it.

Ports are those of the RTL unit: istream, ostream, and `modulus` if the unit has one (modulus_nbits > 0).
`restart()` is called in reset, for a unit with state between requests.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pymtl3 import *

from ..fl.status import Status
from ..rtl.messages import declare_streams, mk_keyed_req, mk_modexp_req, mk_modexp_resp, mk_product_req


@dataclass(frozen=True)
class Waits:
    """Cycles before a unit accepts a request."""

    of: Callable[[Any], int]  # for which it examines this request
    after_reset: int = 0  # in which it overwrites itself


class OneAtATimeCL(Component):
    def construct(s, Req, Resp, serve, overlap, modulus_nbits=0, waits=None, restart=None):
        declare_streams(s, Req, Resp)
        if modulus_nbits:
            s.modulus = InPort(modulus_nbits)
        else:
            s.modulus = Wire()
            s.modulus //= 0

        s.full = Wire()
        s.left = Wire(32)  # remaining cycles until the response
        s.answer = Wire(Resp)
        s.ostream.msg //= s.answer

        @update
        def out_val():
            s.ostream.val @= s.full & (s.left == 0)

        if waits is None:

            @update
            def in_rdy():
                s.istream.rdy @= ~s.full | (s.ostream.val & s.ostream.rdy & overlap)

        else:
            s.waited = Wire(32)
            s.sleeps = Wire(32)  # remaining cycles after reset

            @update
            def in_rdy_in_time():
                in_time = (s.sleeps == 0) & (s.waited == waits.of(s.istream.msg))
                s.istream.rdy @= ~s.full & s.istream.val & in_time

            @update_ff
            def count_waits():
                s.waited <<= 0
                s.sleeps <<= 0
                if s.reset:
                    s.sleeps <<= waits.after_reset
                elif s.sleeps != 0:
                    s.sleeps <<= s.sleeps - 1
                elif ~s.full & s.istream.val & ~s.istream.rdy:
                    s.waited <<= s.waited + 1

        @update_ff
        def work():
            if s.reset:
                s.full <<= 0
                if restart is not None:
                    restart()
            elif s.istream.val & s.istream.rdy:
                answer, cycles = serve(s.istream.msg, int(s.modulus))
                s.answer <<= answer
                s.left <<= cycles - 1
                s.full <<= 1
            elif s.left != 0:
                s.left <<= s.left - 1
            elif s.ostream.rdy:
                s.full <<= 0

    def line_trace(s):
        return f"{s.istream}({int(s.left) if s.full else ''}){s.ostream}"


def counted(work):
    """The result of a generator, and the number of times that it yielded: once for each cycle of work."""
    for cycles in itertools.count():
        try:
            next(work)
        except StopIteration as end:
            return end.value, cycles


def together(*works):
    """The work of generators at the same time, which ends with the last of them; returns their results."""
    results, running = [None] * len(works), dict(enumerate(works))
    while running:
        for place, work in list(running.items()):
            try:
                next(work)
            except StopIteration as end:
                results[place] = end.value
                del running[place]
        if running:
            yield
    return results


def stepped_cl(nbits, work):
    """A product unit that does the work of the generator `work(a, b, modulus)`."""
    Product = mk_bits(nbits)

    def serve(msg, modulus):
        product, cycles = counted(work(int(msg.a), int(msg.b), modulus))
        return Product(product), cycles

    return OneAtATimeCL(mk_product_req(nbits), Product, serve, True, nbits)


def stepped_mod_exp_cl(nbits, inspect, work, given=(), loads=0, loads_all=False):
    """A machine that does the work of the generator `work(base, exp, mod, *given)` for valid operands, whose
    status `inspect(base, mod)` is OK; given: names and bits of the numbers after the modulus. It examines
    valid operands for `loads` cycles before it accepts them, and with `loads_all` also invalid ones.
    """
    Request = mk_keyed_req(nbits, given) if given else mk_modexp_req(nbits)
    Response = mk_modexp_resp(nbits)
    names = ("base", "exp", "mod", *(name for name, _ in given))

    def serve(msg, _):
        status = inspect(int(msg.base), int(msg.mod))
        if status != Status.OK:
            return Response(int(status), 0), 1
        result, cycles = counted(work(*(int(getattr(msg, name)) for name in names)))
        return Response(int(status), result), cycles

    def waits(msg):
        return loads if loads_all or inspect(int(msg.base), int(msg.mod)) == Status.OK else 0

    return OneAtATimeCL(Request, Response, serve, False, waits=Waits(waits) if loads else None)
