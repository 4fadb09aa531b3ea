"""Small components for the tests of rtl/sim, one for each difference between backends; another process."""

import os
import subprocess
import sys

from modexlab.rtl.messages import declare_streams, mk_product_req
from pymtl3 import (
    Bits8,
    Component,
    InPort,
    OutPort,
    Wire,
    mk_bits,
    reduce_and,
    reduce_or,
    reduce_xor,
    trunc,
    update,
    update_ff,
    zext,
)

from tests.paths import ROOT

# of AddMod(8)
REQUESTS, STATICS, EXPECTED = [(200, 100), (1, 2), (250, 3)], {"modulus": 251}, [49, 3, 2]


def other_process(code):
    """The output of Python for this code, in a process with another order of sets."""
    environment = os.environ | {"PYTHONHASHSEED": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout


def streams_of_words(s, nbits):
    """Declare the streams of a component whose requests and responses are words of one width."""
    declare_streams(s, mk_bits(nbits), mk_bits(nbits))


def through(s, nbits):
    """Declare the same streams, with the response in the cycle of the request."""
    streams_of_words(s, nbits)
    s.istream.val //= s.ostream.val
    s.istream.rdy //= s.ostream.rdy


class Pass(Component):
    """Combinational: the response is the request, in the same cycle."""

    def construct(s, nbits):
        streams_of_words(s, nbits)
        s.istream //= s.ostream


class Offset(Component):
    """x = a + c, y = b + c"""

    def construct(s, nbits):
        s.a = InPort(nbits)
        s.b = InPort(nbits)
        s.c = InPort(nbits)
        s.x = OutPort(nbits)
        s.y = OutPort(nbits)

        @update
        def add():
            s.x @= s.a + s.c
            s.y @= s.b + s.c


class Exchange(Component):
    """{a, b} -> {b, a}, combinational: signals have the names of the ports to which they do not belong."""

    def construct(s, nbits):
        Req = mk_product_req(nbits)
        declare_streams(s, Req, Req)
        s.a = Wire(nbits)
        s.b = Wire(nbits)
        s.offset = Offset(nbits)
        s.offset.a //= s.b
        s.offset.b //= s.a
        s.offset.c //= 0
        s.ostream.msg.a //= s.offset.x
        s.ostream.msg.b //= s.offset.y
        s.ostream.val //= s.istream.val
        s.istream.rdy //= s.ostream.rdy

        @update
        def inverted():
            s.a @= ~s.istream.msg.a
            s.b @= ~s.istream.msg.b


class Add(Component):
    """out = a + b + k"""

    def construct(s, nbits, k):
        s.a = InPort(nbits)
        s.b = InPort(nbits)
        s.out = OutPort(nbits)

        @update
        def add():
            s.out @= s.a + s.b + k


class AddMod(Component):
    """{a, b} -> a + b, minus the static port `modulus` if it fits; one register."""

    def construct(s, nbits):
        declare_streams(s, mk_product_req(nbits), mk_bits(nbits))
        s.modulus = InPort(nbits)
        wide = nbits + 1

        s.full = Wire(1)
        s.sum = Wire(wide)
        s.adder = Add(wide, 0)
        s.adder.a[0:nbits] //= s.istream.msg.a
        s.adder.b[0:nbits] //= s.istream.msg.b
        s.adder.a[nbits] //= 0
        s.adder.b[nbits] //= 0
        s.ostream.val //= s.full

        @update
        def ready():
            s.istream.rdy @= ~s.full | s.ostream.rdy

        @update
        def reduce():
            s.ostream.msg @= trunc(s.sum, nbits)
            if s.sum >= zext(s.modulus, wide):
                s.ostream.msg @= trunc(s.sum - zext(s.modulus, wide), nbits)

        @update_ff
        def registers():
            if s.reset:
                s.full <<= 0
            elif s.istream.rdy:
                s.full <<= s.istream.val
                s.sum <<= s.adder.out

    def line_trace(s):
        return f"AddMod full={s.full}"


class Chain(Component):
    """{a, b} -> {a, b} after `length` cycles: an array of registers, a loop, a list of components (a + 1 + 2
    + ...).
    """

    def construct(s, nbits, length):
        Req = mk_product_req(nbits)
        declare_streams(s, Req, Req)
        LAST = length - 1

        s.full = [Wire(1) for _ in range(length)]
        s.a = [Wire(nbits) for _ in range(length)]
        s.b = [Wire(nbits) for _ in range(length)]
        s.adders = [Add(nbits, k) for k in range(length)]
        for i, adder in enumerate(s.adders):
            adder.a //= s.a[i]
            adder.b //= 0
        s.move = Wire(1)
        s.ostream.val //= s.full[LAST]
        s.ostream.msg.a //= s.adders[LAST].out
        s.ostream.msg.b //= s.b[LAST]
        s.istream.rdy //= s.move

        @update
        def moves():
            s.move @= ~s.full[LAST] | s.ostream.rdy

        @update_ff
        def registers():
            if s.reset:
                for i in range(length):
                    s.full[i] <<= 0
            elif s.move:
                s.full[0] <<= s.istream.val
                s.a[0] <<= s.istream.msg.a
                s.b[0] <<= s.istream.msg.b
                for i in range(LAST):
                    s.full[i + 1] <<= s.full[i]
                    s.a[i + 1] <<= s.adders[i].out
                    s.b[i + 1] <<= s.b[i]


class CountOnes(Component):
    """The number of ones, one cycle per 1, so the cycles depend on the operand. Hangs on 0."""

    def construct(s, nbits):
        streams_of_words(s, nbits)
        s.left = Wire(nbits)
        s.count = Wire(nbits)
        s.busy = Wire(1)

        @update
        def handshakes():
            s.istream.rdy @= ~s.busy
            s.ostream.val @= s.busy & (s.left == 0) & (s.count != 0)
            s.ostream.msg @= s.count

        @update_ff
        def registers():
            if s.reset:
                s.busy <<= 0
            elif ~s.busy:
                s.busy <<= s.istream.val
                s.left <<= s.istream.msg
                s.count <<= 0
            elif s.left != 0:
                s.left <<= s.left & (s.left - 1)
                s.count <<= s.count + 1
            elif s.ostream.val & s.ostream.rdy:
                s.busy <<= 0


class Chatter(Component):
    """Sends responses without requests."""

    def construct(s, nbits):
        streams_of_words(s, nbits)
        s.istream.rdy //= 0
        s.ostream.val //= 1
        s.ostream.msg //= 0


class Fickle(Component):
    """Responds in the next cycle; one cycle later, refused or not, the response is withdrawn (drops) or
    changed.
    """

    def construct(s, nbits, drops):
        streams_of_words(s, nbits)
        s.full = Wire(1)
        s.kept = Wire(nbits)
        s.drops = Wire(1)
        s.drops //= int(drops)
        s.ostream.val //= s.full
        s.ostream.msg //= s.kept

        @update
        def ready():
            s.istream.rdy @= ~s.full | s.ostream.rdy

        @update_ff
        def registers():
            if s.reset:
                s.full <<= 0
            elif s.istream.val & s.istream.rdy:
                s.full <<= 1
                s.kept <<= s.istream.msg
            else:
                s.full <<= s.full & ~s.ostream.rdy & ~s.drops
                s.kept <<= ~s.kept


class Stutter(Component):
    """Sends each response twice, with `gap` idle cycles between."""

    def construct(s, nbits, gap):
        streams_of_words(s, nbits)
        s.count = Wire(8)
        s.kept = Wire(nbits)
        s.ostream.msg //= s.kept
        FIRST = gap + 2

        @update
        def handshakes():
            s.istream.rdy @= s.count == 0
            s.ostream.val @= (s.count == FIRST) | (s.count == 1)

        @update_ff
        def registers():
            if s.reset:
                s.count <<= 0
            elif s.istream.val & s.istream.rdy:
                s.count <<= FIRST
                s.kept <<= s.istream.msg
            elif (s.count != 0) & (s.ostream.rdy | ~s.ostream.val):
                s.count <<= s.count - 1


class Positions(Component):
    """x -> x rotated left by one: indices and slice bounds are sums of constants, one above 2**k - 1 for some
    widths.
    """

    def construct(s, nbits):
        wide = nbits + 2
        through(s, wide)
        s.x = Wire(wide)
        s.x //= s.istream.msg
        SHIFT = 1

        @update
        def turn():
            s.ostream.msg @= 0
            s.ostream.msg[0] @= s.x[nbits + 1]
            s.ostream.msg[1 : nbits + 1] @= s.x[0 : nbits + 1 - SHIFT]
            s.ostream.msg[nbits + 1] @= s.x[nbits + 1 - SHIFT]


class Distance(Component):
    """The same constants as operands: x -> nbits for x = nbits - 1, else (x >> (nbits - 1)) + nbits + 1."""

    def construct(s, nbits):
        through(s, nbits)
        LAST = nbits - 1

        @update
        def compute():
            if s.istream.msg == nbits - 1:
                s.ostream.msg @= s.istream.msg + (LAST + 2 - nbits)
            else:
                s.ostream.msg @= (s.istream.msg >> (nbits - 2 + 1)) + (nbits + 1)


class Parities(Component):
    """Reductions of compound expressions."""

    def construct(s):
        through(s, 8)
        MASK = 0x5A

        @update
        def reduce():
            s.ostream.msg @= zext(reduce_xor(s.istream.msg & MASK), 8)
            s.ostream.msg[7] @= reduce_xor(~s.istream.msg)
            if reduce_and(s.istream.msg | MASK) & ~reduce_or(s.istream.msg & MASK):
                s.ostream.msg @= 2


class Loops(Component):
    """Loops and arrays over `count` elements, and loops without iterations, alone in a branch and next to
    others.
    """

    def construct(s, count):
        through(s, 8)
        s.parts = [Wire(4) for _ in range(count)]
        s.flags = [Wire(1) for _ in range(count)]
        s.idle = Wire(8)
        s.out = Wire(8)
        NONE = 0

        @update
        def spread():
            for i in range(count):
                s.parts[i] @= s.istream.msg[0:4]
                s.flags[i] @= s.istream.msg[7]

        @update
        def collect():
            s.out @= 0
            if s.istream.msg[0]:
                for i in range(NONE):
                    s.out[i] @= 1
            else:
                for i in range(count):
                    s.out[i] @= s.istream.msg[i + 2 - 1]
                    for j in range(3):
                        s.out[i * 2 + j + 1] @= s.parts[i][j]
            if s.istream.msg[1]:
                for i in range(NONE):
                    s.out[i] @= 1
            if s.istream.msg[2]:
                s.out[7] @= 1
            else:
                for i in range(NONE):
                    for j in range(2):
                        s.out[i + j] @= 1
            for i in range(2):
                for j in range(count):
                    if s.flags[j]:
                        s.out[i + 5] @= s.parts[j][i] ^ s.idle[i]
                        s.out[0] @= 1

        @update_ff
        def nothing():
            for i in range(NONE):
                s.idle[i] <<= 1

        s.ostream.msg //= s.out


class NoReset(Component):
    """Responds with a register that is never written."""

    def construct(s, nbits):
        through(s, nbits)
        s.kept = Wire(nbits)
        s.ostream.msg //= s.kept

        @update_ff
        def keep():
            s.kept <<= s.kept


class ReservedWord(Component):
    """Has a port whose name is reserved in Verilog."""

    def construct(s):
        s.final = InPort(8)


class Wasteful(Component):
    """Has signals that are only partly read and, with `dead`, one that is not read at all."""

    UNREAD = (("mode", "kept for a later version"),)

    def construct(s, dead):
        Req = mk_product_req(8)
        declare_streams(s, Req, Bits8)
        s.mode = InPort(2)
        s.sum = Wire(9)
        s.high = Wire(8)
        s.inner = Pass(8)
        s.inner.istream.val //= s.istream.val
        s.inner.istream.msg //= s.high
        s.istream.rdy //= s.ostream.rdy
        s.inner.ostream //= s.ostream
        s.adder = Add(9, 0)
        s.adder.a[0:8] //= s.istream.msg.a
        s.adder.a[8] //= 0
        s.adder.b //= 1
        s.sum //= s.adder.out
        s.high //= s.sum[1:9]
        if dead:
            s.dead = Wire(8)

            @update
            def waste():
                s.dead @= s.high


class NoStreams(Component):
    """A component without streams, which cannot be driven."""

    def construct(s):
        s.a = InPort(8)
        s.out = OutPort(8)
        s.out //= s.a


def mk_twin(k):
    """Two classes with the same name and different behaviour."""

    class Twin(Component):
        def construct(s):
            through(s, 8)

            @update
            def add():
                s.ostream.msg @= s.istream.msg + k

    return Twin()
