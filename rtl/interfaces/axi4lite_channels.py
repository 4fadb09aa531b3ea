"""Axi4LiteChannels: the five channels of an AXI4-Lite slave of 32 bits, and single accesses behind them.

The channels are independent: address and data of a write may come in any order, and reads go on beside
writes. Each channel has one register, so that no path leads from an input to an output. An access is done
when its answer can be kept: one write and one read every two cycles, at most.

Ports: s_axi_*, the bus. A write is done in the cycle in which `write` is 1: at `write_address` (of a word),
the bytes of `write_mask` from `write_data`, which is 0 elsewhere; `write_refused` answers SLVERR. A read has
no effect: `read_data` and `read_refused` follow `read_address`.
"""

from pymtl3 import *

from ...fl.axi4lite import ADDRESS_NBITS, OKAY, SLVERR
from ...fl.xcel import WORD_NBITS

WORD_ADDRESS_NBITS = ADDRESS_NBITS - 2
ADDRESSES = ("awaddr", "araddr")  # which have more bits where there are more registers
BUS = {  # signals by channel: bits, and whether they come from the master
    "awaddr": (ADDRESS_NBITS, True),
    "awvalid": (1, True),
    "awready": (1, False),
    "wdata": (WORD_NBITS, True),
    "wstrb": (WORD_NBITS // 8, True),
    "wvalid": (1, True),
    "wready": (1, False),
    "bresp": (2, False),
    "bvalid": (1, False),
    "bready": (1, True),
    "araddr": (ADDRESS_NBITS, True),
    "arvalid": (1, True),
    "arready": (1, False),
    "rdata": (WORD_NBITS, False),
    "rresp": (2, False),
    "rvalid": (1, False),
    "rready": (1, True),
}


def declare_bus(s, prefix, master=False, address_nbits=ADDRESS_NBITS):
    """The ports of a slave, or of a master."""
    for name, (usual, from_master) in BUS.items():
        nbits = address_nbits if name in ADDRESSES else usual
        setattr(s, f"{prefix}_{name}", (OutPort if from_master == master else InPort)(nbits))


def connect_bus(left, left_prefix, right, right_prefix):
    """All signals of a bus, from one component to another."""
    for name in BUS:
        connect(getattr(left, f"{left_prefix}_{name}"), getattr(right, f"{right_prefix}_{name}"))


def declare_write(s, address_nbits):
    """Wires of a slave `s` for the write that its channels offer: write, aw, data, mask and refused."""
    names = {"write": 1, "aw": address_nbits, "data": WORD_NBITS, "mask": WORD_NBITS, "refused": 1}
    for name, nbits in names.items():
        setattr(s, name, Wire(nbits))
    s.write //= s.channels.write
    s.aw //= s.channels.write_address
    s.data //= s.channels.write_data
    s.mask //= s.channels.write_mask
    s.refused //= s.channels.write_refused


class Axi4LiteChannels(Component):
    def construct(s, address_nbits=ADDRESS_NBITS):
        declare_bus(s, "s_axi", address_nbits=address_nbits)
        word_nbits = address_nbits - 2
        s.write = OutPort()
        s.write_address = OutPort(word_nbits)
        s.write_data = OutPort(WORD_NBITS)
        s.write_mask = OutPort(WORD_NBITS)
        s.write_refused = InPort()
        s.read_address = OutPort(word_nbits)
        s.read_data = InPort(WORD_NBITS)
        s.read_refused = InPort()

        # ---- channels of a write

        s.aw_held = Wire()
        s.w_held = Wire()
        s.aw = Wire(word_nbits)
        s.w = Wire(WORD_NBITS)
        s.strobes = Wire(WORD_NBITS // 8)
        s.b_held = Wire()
        s.b = Wire(2)
        s.s_axi_bvalid //= s.b_held
        s.s_axi_bresp //= s.b

        @update
        def write_handshakes():
            s.s_axi_awready @= ~s.aw_held
            s.s_axi_wready @= ~s.w_held
            s.write @= s.aw_held & s.w_held & (~s.b_held | s.s_axi_bready)

        @update_ff
        def write_channels():
            if s.reset:
                s.aw_held <<= 0
                s.w_held <<= 0
                s.b_held <<= 0
            else:
                if s.write:
                    s.aw_held <<= 0
                    s.w_held <<= 0
                    s.b_held <<= 1
                elif s.s_axi_bready:
                    s.b_held <<= 0
                if s.s_axi_awvalid & ~s.aw_held:
                    s.aw_held <<= 1
                if s.s_axi_wvalid & ~s.w_held:
                    s.w_held <<= 1

        @update_ff
        def write_payloads():
            if ~s.aw_held:
                s.aw <<= s.s_axi_awaddr[2:address_nbits]
            if ~s.w_held:
                s.w <<= s.s_axi_wdata
                s.strobes <<= s.s_axi_wstrb
            if s.write:
                s.b <<= OKAY
                if s.write_refused:
                    s.b <<= SLVERR

        for octet in range(WORD_NBITS // 8):
            for bit in range(8 * octet, 8 * octet + 8):
                s.write_mask[bit] //= s.strobes[octet]
        s.write_address //= s.aw

        @update
        def written_bytes():
            s.write_data @= s.w & s.write_mask

        # ---- channels of a read

        s.ar_held = Wire()
        s.ar = Wire(word_nbits)
        s.r_held = Wire()
        s.r = Wire(WORD_NBITS)
        s.r_fault = Wire()
        s.read = Wire()
        s.s_axi_rvalid //= s.r_held
        s.s_axi_rdata //= s.r
        s.read_address //= s.ar

        @update
        def read_handshakes():
            s.s_axi_arready @= ~s.ar_held
            s.s_axi_rresp @= OKAY
            if s.r_fault:
                s.s_axi_rresp @= SLVERR
            s.read @= s.ar_held & (~s.r_held | s.s_axi_rready)

        @update_ff
        def read_channels():
            if s.reset:
                s.ar_held <<= 0
                s.r_held <<= 0
            else:
                if s.read:
                    s.ar_held <<= 0
                    s.r_held <<= 1
                elif s.s_axi_rready:
                    s.r_held <<= 0
                if s.s_axi_arvalid & ~s.ar_held:
                    s.ar_held <<= 1

        @update_ff
        def read_payloads():
            if ~s.ar_held:
                s.ar <<= s.s_axi_araddr[2:address_nbits]
            if s.reset:
                s.r <<= 0
            elif s.read:
                s.r <<= s.read_data
                s.r_fault <<= s.read_refused
            elif s.s_axi_rready:
                s.r <<= 0  # taken: a word of a result does not stay on the bus
