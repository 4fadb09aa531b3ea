"""ResidueMemory: a memory of residues with one read and one write port, for window tables and key material.

Ports: read_at -> data, in the next cycle; write, write_at, in_data. Reading a word in the cycle in which it
is written returns the old word. On an FPGA this is a block RAM; on a chip, an array of flip-flops or a memory
of the library. There is no reset: secrets must be overwritten. No program reads or writes an address without
a word. Area order: depth * nbits cells of memory, and a register of nbits bits behind the port.
"""

from pymtl3 import *


def declare_memory(s, depth, nbits):
    """The words of a memory, and its ports."""
    at = mk_bits(max(1, clog2(depth)))
    s.read_at = InPort(at)
    s.data = OutPort(nbits)
    s.write = InPort()
    s.write_at = InPort(at)
    s.in_data = InPort(nbits)
    s.words = [Wire(nbits) for _ in range(depth)]


class ResidueMemory(Component):
    def construct(s, depth, nbits):
        declare_memory(s, depth, nbits)
        s.assertions = {"AddressIsKnown": "!write || ^write_at !== 1'dx"}

        @update_ff
        def ports():
            s.data <<= s.words[s.read_at]
            if s.write:
                s.words[s.write_at] <<= s.in_data
