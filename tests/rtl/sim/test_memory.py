"""The memory of tests: in Python and in C++ alike, with every width and timing, and what it refuses."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.cl.steps import StepsCL, together
from modexlab.fl.errors import BadInput
from modexlab.fl.memory import WIDTHS, Left, MemoryPort, OnMemory, snapshots, words, wrong_image
from modexlab.rtl.messages import mk_message
from modexlab.rtl.sim import BrokenPromise, MemoryFault, SimulationTimeout, Stall, simulate
from modexlab.rtl.sim.memory.access import CAPACITY, MemorySettings
from pymtl3 import Bits32, Component
from pymtl3.stdlib.ifcs import MasterIfcRTL as EnableIfc
from pymtl3.stdlib.mem import mk_mem_msg
from pymtl3.stdlib.stream.ifcs import MasterIfcRTL, RecvIfcRTL, SendIfcRTL

from tests.harness import parametrize

from .memory_examples import ANSWER, ASK, COPY, DONE, CopyRTL, OneAccessRTL, ports_of_copy

BACKENDS = ("python", "verilog", "native")
PORT = (MemoryPort(),)
READ, WRITE = 0, 1


def copied(backend, requests, nbits=32, opaque_nbits=8, stall=None, delays=0, size=4096):
    """A run of CopyRTL."""
    memory = MemorySettings(ports_of_copy(nbits), size, delays)
    with simulate(CopyRTL(nbits, opaque_nbits), backend) as simulation:
        return simulation.run(requests, memory=memory, stall=stall, max_cycles=20_000)


def copies(nbits, generator, count=4):
    """Requests to copy: some on a memory of their own, the others on what is left."""
    nbytes = nbits // 8
    requests = []
    for number in range(count):
        n = generator.randrange(0, 9)
        fields = (0, 2048 - nbytes * generator.randrange(3), n)
        values = words([generator.getrandbits(nbits) for _ in range(max(n, 1))], nbits)
        requests.append(OnMemory(fields, {0: values}) if number % 3 != 1 else fields)
    return requests


def left_by_copies(requests, nbits, size=4096):
    """The responses and memories as a second implementation has them."""
    memory, found = bytearray(size), []
    for request, kept in zip(requests, snapshots(requests), strict=True):
        if isinstance(request, OnMemory):
            for address, contents in request.image.items():
                memory[address : address + len(contents)] = contents
        source, target, n = request
        for place in range(0, n * nbits // 8, nbits // 8):
            memory[target + place : target + place + nbits // 8] = memory[
                source + place : source + place + nbits // 8
            ]
        found.append(Left((n,), bytes(memory) if kept else None))
    return found


@parametrize("nbits", WIDTHS)
def test_every_width(nbits):
    requests = copies(nbits, random.Random(nbits))
    runs = [copied(backend, requests, nbits, 8 if nbits < 512 else 1) for backend in BACKENDS]
    assert runs[0].responses == left_by_copies(requests, nbits)
    assert runs[0] == runs[1] == runs[2]


@given(
    st.integers(0, 2**32),
    st.none() | st.tuples(*[st.sampled_from((0.0, 0.3, 0.8))] * 3),
    st.lists(st.integers(0, CAPACITY + 2), min_size=4, max_size=4),
)
def test_every_timing(seed, stall, delays):
    requests = copies(32, random.Random(seed))
    timing = {"stall": stall and Stall(seed, *stall), "delays": delays}
    one, other = (copied(backend, requests, **timing) for backend in ("python", "native"))
    assert one.responses == left_by_copies(requests, 32)
    assert one == other


def test_a_word_a_cycle():
    """Requests need not wait for answers: a copy of n words takes n cycles and some."""
    run = copied("native", [OnMemory((0, 2048, 100), {0: list(range(100))})])
    assert run.latencies == [103]


def test_answers_wait_at_most():
    """At a memory that is late, as many requests are on the way as answers fit."""
    delay, n = 100, 2 * CAPACITY
    run = copied("native", [OnMemory((0, 2048, n), {0: list(range(n))})], delays=delay)
    assert 3 * delay < run.latencies[0] < 4 * delay


# ---- the model by steps


def steps_of_copy(source, target, n, ports):
    """Copies by two ports, a word at a time while the next one is read."""
    target_port, source_port = ports
    value = (yield from source_port.read(source)) if n else 0
    for place in range(0, 4 * n, 4):
        writing = target_port.write(target + place, value)
        if place + 4 < 4 * n:
            _, value = yield from together(writing, source_port.read(source + place + 4))
        else:
            yield from writing
    return n


def test_steps_with_several_ports():
    """The generator gets the ports in the order of the shape; an element takes two cycles."""
    requests = copies(32, random.Random(5), count=6)
    made = StepsCL(mk_message("Q", COPY), mk_message("A", DONE), COPY, ports_of_copy(32), steps_of_copy)
    with simulate(made, "python") as simulation:
        run = simulation.run(requests, memory=MemorySettings(ports_of_copy(32), 4096))
    assert run.responses == left_by_copies(requests, 32)
    assert run.latencies == [2 * n + 2 * (n > 0) + 1 for _, _, n in requests]


# ---- what is refused, with equal words in Python and in C++


def access(backend, *requests, ports=PORT, size=256, settled=True, stall=None, **kind):
    """A run of OneAccessRTL."""
    with simulate(OneAccessRTL(**kind), backend) as simulation:
        memory = MemorySettings(ports, size, 0, settled)
        return simulation.run(requests, memory=memory, stall=stall, max_cycles=1000)


@parametrize("backend", BACKENDS)
def test_parts_of_words(backend):
    run = access(
        backend,
        OnMemory((READ, 0, 4, 0, 0), {0: [0x03020100, 0x07060504]}),
        (READ, 1, 6, 0, 0),
        (READ, 2, 6, 0, 0),
        (READ, 3, 5, 0, 0),
        (WRITE, 1, 5, 0x1234, 0),
        (WRITE, 2, 0, 0xABCDEF, 0),
        (READ, 0, 4, 0, 0),
        (READ, 0, 0, 0, 0),
    )
    values = [0x07060504, 6, 0x0706, 0x070605, 0, 0, 0x07063404, 0x0302CDEF]
    assert [tuple(response) for response in run.responses] == [(value,) for value in values]
    assert run.responses[-1].memory[:8] == words([0x0302CDEF, 0x07063404])


@parametrize("backend", BACKENDS)
@parametrize(
    "request_, words_, ports",
    [
        ((READ, 0, 256, 0, 0), "reads 4 bytes at 0x100: the memory has 256 bytes; stay below 0x100", PORT),
        ((WRITE, 1, 2**32 - 1, 0, 0), "writes 1 bytes at 0xffffffff: the memory has 256 bytes", PORT),
        ((READ, 0, 2, 0, 0), "reads 4 bytes at 0x2: it crosses a boundary of 4-byte words", PORT),
        ((WRITE, 2, 7, 0, 0), "writes 2 bytes at 0x7: it crosses a boundary of 4-byte words", PORT),
        ((3, 0, 4, 0, 0), "sends a request of type ad; send 0 to read or 1 to write", PORT),
        (
            (WRITE, 0, 8, 5, 0),
            "writes 4 bytes at 0x8: this port is read-only",
            (MemoryPort("mem", writes=False),),
        ),
        ((WRITE, 0, 8, 5, 1), "writes 4 bytes at 0x8, but no request is in flight", PORT),
    ],
)
def test_refused(backend, request_, words_, ports):
    with pytest.raises(MemoryFault) as fault:
        access(backend, request_, ports=ports)
    cycle = 2 if request_[-1] == 0 else 3
    assert str(fault.value).startswith(
        f"memory port mem in cycle {cycle - 1} with backend {backend} {words_}"
    ), fault.value


@parametrize("backend", BACKENDS)
def test_writes_behind_registers(backend):
    """Behind registers a write may follow the answer to an access; the memory has it in time all the same."""
    run = access(backend, (WRITE, 0, 8, 5, 1), (READ, 0, 8, 0, 0), settled=False)
    assert tuple(run.responses[1]) == (5,)


@parametrize("backend", BACKENDS)
def test_an_answer_that_is_never_taken(backend):
    with pytest.raises(
        SimulationTimeout, match="memory port mem has 1 answer that the design did not accept"
    ):
        access(backend, (READ, 0, 8, 0, 0), lost=True)


@parametrize("backend", BACKENDS)
def test_a_request_that_changes(backend):
    with pytest.raises(BrokenPromise, match=r"memory port mem, request 0 with backend .*the message changed"):
        access(backend, (READ, 0, 8, 0, 0), fickle=True, stall=Stall(3, memory=0.9))


@parametrize(
    "image, words_",
    [
        ({256: [1]}, "the contents at 0x100 end at 0x104, and the memory has 256 bytes"),
        ({0: [1, 2], 4: [3]}, "the contents at 0x4 overlap those before"),
        ({-4: [1]}, "-4 is not an address"),
        ({0: [2**32]}, "give bytes, or whole numbers of 32 bits"),
        ({0: 5}, "give bytes, or whole numbers of 32 bits"),
    ],
)
def test_images_that_do_not_fit(image, words_):
    assert words_ in wrong_image(image, 256)
    with pytest.raises(BadInput, match=re.escape(words_)):
        access("python", OnMemory((READ, 0, 0, 0, 0), image))


class Wired(Component):
    """A component with this memory port, which does nothing."""

    def construct(s, port):
        s.istream = RecvIfcRTL(mk_message("AskRequest", ASK))
        s.ostream = SendIfcRTL(mk_message("AskResponse", ANSWER))
        s.mem = port


@parametrize(
    "make, words_",
    [
        (lambda: MasterIfcRTL(Bits32, Bits32), "the messages of memory port mem are not those of PyMTL3"),
        (lambda: MasterIfcRTL(*reversed(mk_mem_msg(8, 32, 32))), "are not those of PyMTL3"),
        (
            lambda: MasterIfcRTL(*mk_mem_msg(8, 64, 32)),
            "has addresses of 64 bits and 8 bits of opaque; give 32",
        ),
        (
            lambda: EnableIfc(*mk_mem_msg(8, 32, 32)),
            "port mem has en and rdy; use MasterIfcRTL of pymtl3.st",
        ),
    ],
)
def test_ports_that_are_none(make, words_):
    with pytest.raises(BadInput, match=words_):
        simulate(Wired(make()), "python")


def test_a_shape_without_the_port():
    with pytest.raises(BadInput, match="the component has memory ports mem:32, and the shape has none"):
        access("python", (READ, 0, 0, 0, 0), ports=())
