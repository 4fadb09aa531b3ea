"""The memory with shielded words reads and writes like the plain one; and which machines use it."""

import random

from modexlab.rtl.sim import translate
from modexlab.rtl.units.memory.residue_memory import ResidueMemory
from modexlab.rtl.units.memory.shielded_memory import ShieldedMemory

from tests.harness import parametrize, stepped
from tests.programs import machine_of


@parametrize("depth", [1, 5, 8])
def test_reads_and_writes_as_the_plain_one(depth):
    """A word can be read from the cycle after its write; a memory that is not read outputs 0."""
    draw = random.Random(depth)
    shielded, plain = both = stepped(ShieldedMemory(depth, 7)), stepped(ResidueMemory(depth, 7))
    read = 0
    for _ in range(300):
        inputs = draw.randrange(depth), draw.randrange(2), draw.randrange(depth), draw.getrandbits(7)
        reads = draw.random() < 0.7
        shielded.read @= reads
        for side in both:
            side.read_at @= inputs[0]
            side.write @= inputs[1]
            side.write_at @= inputs[2]
            side.in_data @= inputs[3]
            side.sim_tick()
        assert shielded.data == (plain.data if reads else 0)
        read += int(shielded.data) > 0
    assert read > 100


def test_machines_that_blind_an_exponent_have_it():
    for blind, shielded in (("no", False), ("message", False), ("exponent", True), ("both", True)):
        text = translate(machine_of("mont-keyed", 8, schedule="fixed-window", blind=blind).rtl())
        assert ("module ShieldedMemory" in text, "module ResidueMemory" in text) == (shielded, not shielded)
