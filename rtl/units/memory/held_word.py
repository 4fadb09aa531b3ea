"""HeldWord: a register that is written once and then only read, built from latches if the cell library has
them.

The source holds the word from the cycle in which `opens` is 1 until the cycle after it, like a stream whose
request is accepted later. `opens` is the output of a flip-flop, and no logic uses the word before `opens` is
0 again. Under these conditions a latch has the function of the flip-flop that simulates it, with 60 % of the
area (flow/synth/latches.py). Ports: opens, entering -> word.
"""

from pymtl3 import *


class HeldWord(Component):
    """A word that is stored once and then only read, in latches if the cell library has some."""

    LATCHES = ("word",)  # marked in Verilog

    def construct(s, nbits):
        s.opens = InPort()
        s.entering = InPort(nbits)
        s.word = OutPort(nbits)

        @update_ff
        def hold():
            if s.opens:
                s.word <<= s.entering
