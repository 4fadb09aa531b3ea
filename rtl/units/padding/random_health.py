"""RandomHealth: the continuous health tests of SP 800-90B over a stream of random bytes (fl/random_bytes.py).

A stub of a source's supervision, not a source: it sees failures as a stuck or a heavily biased source has
them, and no others.

Ports: istream -> ostream, bytes as they come; failed, which stays until reset and stops the stream. The first
`startup` bytes are tested and thrown away. The byte that fails a test has passed. Area order: two bytes and
three counters.
"""

from pymtl3 import *

from ....fl.random_bytes import WINDOW, proportion_cutoff, repetition_cutoff
from ...messages import declare_streams

STARTUP = 1024  # SP 800-90B, 4.3


class RandomHealth(Component):
    def construct(s, entropy=8, startup=STARTUP):
        declare_streams(s, mk_bits(8), mk_bits(8))
        s.failed = OutPort()

        REPETITIONS, PROPORTION = repetition_cutoff(entropy), proportion_cutoff(entropy)
        s.last = Wire(8)
        s.run = Wire(clog2(REPETITIONS + 1))  # length of the current run of equal bytes
        s.first = Wire(8)
        s.place = Wire(clog2(WINDOW))
        s.equal = Wire(clog2(PROPORTION + 1))
        s.left = Wire(clog2(startup + 2))
        s.has_failed = Wire()
        s.failed //= s.has_failed
        s.ostream.msg //= s.istream.msg

        s.add_handshakes()
        s.count_equal_bytes()
        s.add_registers(REPETITIONS, PROPORTION, startup)

    def add_handshakes(s):
        """Pass bytes on after the startup, and none after a failure."""
        s.started = Wire()
        s.moves = Wire()

        @update
        def handshakes():
            s.started @= s.left == 0
            s.ostream.val @= s.istream.val & s.started & ~s.has_failed
            s.istream.rdy @= (s.ostream.rdy | ~s.started) & ~s.has_failed
            s.moves @= s.istream.val & s.istream.rdy

    def count_equal_bytes(s):
        """The length of the run with this byte, and the bytes of the window that equal its first one."""
        s.next_run = Wire(s.run.get_type())
        s.next_equal = Wire(s.equal.get_type())

        @update
        def count():
            s.next_run @= 1
            if (s.run != 0) & (s.istream.msg == s.last):
                s.next_run @= s.run + 1
            s.next_equal @= s.equal
            if s.place == 0:
                s.next_equal @= 1
            elif s.istream.msg == s.first:
                s.next_equal @= s.equal + 1

    def add_registers(s, REPETITIONS, PROPORTION, startup):
        """The counters, the bytes that they compare with, and the failure."""

        @update_ff
        def control():
            if s.reset:
                s.run <<= 0
                s.place <<= 0
                s.left <<= startup
                s.has_failed <<= 0
            elif s.moves:
                s.run <<= s.next_run
                s.place <<= s.place + 1
                if s.left != 0:
                    s.left <<= s.left - 1
                if (s.next_run == REPETITIONS) | (s.next_equal == PROPORTION):
                    s.has_failed <<= 1

        @update_ff
        def data():
            if s.moves:
                s.last <<= s.istream.msg
                s.equal <<= s.next_equal
                if s.place == 0:
                    s.first <<= s.istream.msg

    def line_trace(s):
        return f"{s.ostream}{'!' if s.failed else ''}"
