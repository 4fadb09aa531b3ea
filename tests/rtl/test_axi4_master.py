"""Axi4Master: memory ports of every width by AXI4, and what the bus may do to it."""

import random

from hypothesis import given
from hypothesis import strategies as st
from modexlab.fl.memory import WIDTHS, MemoryPort, OnMemory, words
from modexlab.rtl.interfaces.axi4_master import Axi4Master
from modexlab.rtl.interfaces.axi4_memory import Axi4Memory
from modexlab.rtl.messages import declare_streams, fields_of
from modexlab.rtl.sim import Stall, simulate
from modexlab.rtl.sim.memory.access import MemorySettings
from pymtl3 import Component, connect
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL

from tests.harness import parametrize

from .sim.memory_examples import CopyRTL, OneAccessRTL, ports_of_copy

READ, WRITE = 0, 1


class ByAxi(Component):
    """An accelerator whose memory ports go by AXI4."""

    def construct(s, make, memory):
        s.accelerator = make()
        names = [port.name for port in memory]
        ports = fields_of(s.accelerator, [(name, 0) for name in names])
        declare_streams(s, s.accelerator.istream.msg.get_type(), s.accelerator.ostream.msg.get_type())
        s.istream //= s.accelerator.istream
        s.accelerator.ostream //= s.ostream
        s.masters = [Axi4Master(port.ReqType, port.RespType) for port in ports.values()]
        s.memories = [Axi4Memory(port.ReqType, port.RespType) for port in ports.values()]
        for (name, port), master, memory_ in zip(ports.items(), s.masters, s.memories, strict=True):
            master.port //= port
            master.m_axi //= memory_.s_axi
            setattr(s, name, MasterIfcRTL(port.ReqType, port.RespType))
            connect(getattr(s, name), memory_.port)


def ran(make, memory, requests, by_axi=True, backend="native", stall=None, delays=0):
    """A run with or without the bus; all ports may read, as the bus reads words that are written in part."""
    made = ByAxi(make, memory) if by_axi else make()
    ports = tuple(MemoryPort(port.name, port.nbits) for port in memory)
    with simulate(made, backend) as simulation:
        return simulation.run(
            requests, memory=MemorySettings(ports, 4096, delays), stall=stall, max_cycles=100_000
        )


@parametrize("nbits", WIDTHS)
def test_every_width(nbits):
    generator = random.Random(nbits)
    values = words([generator.getrandbits(nbits) for _ in range(5)], nbits)
    requests = [OnMemory((0, 2048, 5), {0: values}), (0, 2048 + nbits // 8, 4)]
    found = [ran(lambda: CopyRTL(nbits, 3), ports_of_copy(nbits), requests, by) for by in (False, True)]
    assert found[0].responses == found[1].responses


ACCESS = st.tuples(
    st.sampled_from([READ, WRITE]), st.integers(0, 3), st.integers(0, 12), st.integers(0, 2**32 - 1)
)


@given(
    st.lists(ACCESS, min_size=1, max_size=12),
    st.none() | st.tuples(*[st.sampled_from((0.0, 0.4))] * 3),
    st.integers(0, 3),
)
def test_bytes_of_words(accesses, stall, delay):
    """Reads and writes of parts of words, in any order and with any delay, as without the bus."""
    fitting = [
        (kind, length, address, data, 0)
        for kind, length, address, data in accesses
        if address % 4 + (length or 4) <= 4
    ]
    first, *others = fitting or [(READ, 0, 0, 0, 0)]
    requests = [OnMemory(first, {0: list(range(0x10203, 0x10203 + 5))}), *others]
    timing = {"stall": stall and Stall(7, *stall), "delays": delay}
    found = [ran(OneAccessRTL, (MemoryPort(),), requests, by, **timing) for by in (False, True)]
    assert found[0].responses == found[1].responses


def test_backends_agree():
    requests = [OnMemory((0, 2048, 6), {0: list(range(6))})]
    runs = [
        ran(lambda: CopyRTL(32), ports_of_copy(32), requests, backend=one)
        for one in ("python", "verilog", "native")
    ]
    assert runs[0] == runs[1] == runs[2]
