"""The wire that reads what nothing else reads: its bits by name, and names that are kept free for it."""

import re

from modexlab.rtl.sim import lint, translate
from pymtl3 import (
    Bits4,
    Bits8,
    Component,
    InPort,
    OutPort,
    Wire,
    bitstruct,
    update,
)

from tests.harness import parametrize, refused
from tests.rtl.sim.test_readers import icarus


@bitstruct
class Pair:
    high: Bits8
    low: Bits4


class PartlyRead(Component):
    """Leaves ranges of a vector, fields of a message, an element of a list, and too many bits to name."""

    def construct(s):
        s.x = InPort(8)
        s.pair = InPort(Pair)
        s.rows = [InPort(4) for _ in range(3)]
        s.comb = InPort(12)
        s.out = OutPort(12)
        s.sum = Wire(4)

        @update
        def add():
            s.sum @= s.x[2:6] + s.pair.high[4:8]

        @update
        def collect():
            s.out @= 0
            s.out[0:4] @= s.rows[0] ^ s.rows[2]
            s.out[4] @= s.comb[0] ^ s.comb[2] ^ s.comb[4] ^ s.comb[6] ^ s.comb[8] ^ s.comb[10]
            s.out[5:7] @= s.sum[1:3]


def test_unread_bits_are_named(tmp_path):
    """Ranges, fields and elements; a signal with more than four parts is named as a whole."""
    text = translate(PartlyRead(), "top")
    (found,) = re.findall(r"wire unused = \^\{(.*?)\};", text, re.DOTALL)
    assert set(re.split(r",\s+", found)) == {
        *("clk", "reset"),
        *("x[7:6]", "x[1:0]"),
        *("pair.high[3:0]", "pair.low"),
        *("rows[1]", "sum[3]", "sum[0]"),
        "comb",
    }
    notes = dict(re.findall(r"^  // (.*): (.*)$", text, re.MULTILINE))
    assert notes["every top module has it"] == "clk, reset"
    assert notes["some bits are not read"] == "comb"
    assert notes["nothing reads these bits"].startswith("x[7:6], x[1:0], pair.high[3:0], pair.low, rows[1]")
    lint(text)
    (tmp_path / "top.sv").write_text(text)
    assert icarus(tmp_path / "top.sv", "top", tmp_path / "top.vvp") == []


def named(name):
    """A component that has a port of this name, or a list of components."""

    class Named(Component):
        def construct(s):
            setattr(s, name, InPort(8))
            s.out = OutPort(8)
            s.out //= getattr(s, name)

    return Named()


class UnusedParts(Component):
    """Has a list of components whose name the passes use."""

    def construct(s):
        s.out = OutPort(8)
        s.unused_parts = [named("data"), named("data")]
        for part in s.unused_parts:
            part.data //= 1
        s.out //= s.unused_parts[1].out


@parametrize("name", ["unused", "unused_bits"])
def test_names_of_the_wire_are_refused(name):
    with refused(
        rf"test_unused\.py, line \d+: Named has an attribute named '{name}', which the Verilog uses"
    ):
        translate(named(name))


def test_names_of_the_wire_are_refused_in_lists():
    with refused(r"line \d+: UnusedParts has an attribute named 'unused_parts', .*; rename it"):
        translate(UnusedParts())


class UnusedBlock(Component):
    """Has an update block whose name the passes use."""

    def construct(s):
        s.x = InPort(8)
        s.out = OutPort(8)

        @update
        def unused():
            s.out @= s.x


def test_names_of_the_wire_are_refused_for_blocks():
    with refused(r"test_unused\.py, line \d+: UnusedBlock has an update block named 'unused', which the"):
        translate(UnusedBlock())


@parametrize("name", ["unusedbits", "unuse", "bits_unused"])
def test_similar_names_are_free(name):
    assert f"input  logic [7:0] {name}" in translate(named(name))
