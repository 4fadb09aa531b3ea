"""ShieldedMemory: a ResidueMemory whose idle words cause no switching: reads and writes toggle only the
addressed word.

All words of a plain memory feed one multiplexer, whose toggling on every address change depends on the
contents of all words. A stored number of the key is therefore visible on a netlist even if it is never read
(`modexlab attack leakage --netlist`). Here each word has a gate of its own, and the output is the OR of all
gated words. Flip-flops drive the enables for reading and writing, because an address changes bit by bit and
would briefly enable other words. Without a read, all gates are closed. An FPGA implements the memory in
flip-flops, not in block RAM.

Ports: read, read_at -> data, in the next cycle (0 without a read); write, write_at, in_data. Reading a word
in the cycle in which it is written returns the old word. Area order: depth * nbits flip-flops with a gate
each, two flip-flops for each word, and a register of nbits bits behind the write port. Data passes a gate and
an OR of depth words from the flip-flops.
"""

from pymtl3 import *

from .residue_memory import declare_memory


class ShieldedMemory(Component):
    def construct(s, depth, nbits):
        s.read = InPort()
        declare_memory(s, depth, nbits)
        s.opened = [Wire() for _ in range(depth)]  # one per word: it is read
        s.taking = [Wire() for _ in range(depth)]  # one per word: it is written at the end of the cycle
        s.arrived = Wire(nbits)  # the word to be written

        opened, taking = (
            f"{{{', '.join(f'{name}[{i}]' for i in reversed(range(depth)))}}}"
            for name in ("opened", "taking")
        )
        if depth > 1:
            s.assertions = {
                "OneWordIsRead": f"({opened} & ({opened} - 1)) == 0",
                "OneWordIsWritten": f"({taking} & ({taking} - 1)) == 0",
            }

        # countermeasure SHIELDED_MEMORY: gates keep words that are not read from switching
        @update
        def choose():
            s.data @= 0
            for i in range(depth):
                s.data @= s.data | (s.words[i] & sext(s.opened[i], nbits))

        @update_ff
        def ports():
            if s.write:
                s.arrived <<= s.in_data
            for i in range(depth):
                s.opened[i] <<= s.read & (s.read_at == i)
                s.taking[i] <<= s.write & (s.write_at == i)
                if s.taking[i]:
                    s.words[i] <<= s.arrived
