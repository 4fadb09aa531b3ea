"""Sign extension of every form of expression is the same in Python, in Verilog, and in Yosys."""

import random

from modexlab.flow.netlist import yosys
from modexlab.rtl.messages import declare_streams, mk_message
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.text import verilog_text
from pymtl3 import (
    Component,
    InPort,
    OutPort,
    Wire,
    clog2,
    concat,
    mk_bits,
    mk_bitstruct,
    reduce_xor,
    sext,
    trunc,
    update,
)

from tests.harness import later, parametrize, ran, ran_alike

FORMS = (
    *("element", "turn", "index", "nested", "bit", "part", "moving", "whole", "port", "instance", "added"),
    *("chosen", "inverted", "compared", "reduced", "truncated", "joined", "constant", "temporary", "alone"),
)
OF_STRUCTS = ("field", "deep")


class Inverter(Component):
    def construct(s, nbits):
        s.a = InPort(nbits)
        s.out = OutPort(nbits)

        @update
        def invert():
            s.out @= ~s.a


class Signs(Component):
    """A response with one field for each form; `structs`: also of lists of structs, which Yosys' own reader
    refuses.
    """

    def construct(s, nbits, wide, structs):
        Item = mk_bitstruct(f"Item{nbits}", {"v": mk_bits(nbits), "l": [mk_bits(nbits)] * 2})
        Request = mk_message(
            f"SignRequest{nbits}", (("i", 1), ("at", clog2(nbits)), ("x", nbits), ("y", nbits))
        )
        forms = (*FORMS, *(OF_STRUCTS if structs else ()))
        Response = mk_message(f"Sign{nbits}_{wide}_{structs}", tuple((f"{form}_r", wide) for form in forms))
        declare_streams(s, Request, Response)
        s.istream.val //= s.ostream.val
        s.istream.rdy //= s.ostream.rdy
        s.which, s.at = Wire(1), Wire(clog2(nbits))
        s.which //= s.istream.msg.i
        s.at //= s.istream.msg.at
        s.x, s.z = [Wire(nbits) for _ in range(2)], [Wire(wide) for _ in range(2)]
        s.grid = [[Wire(nbits) for _ in range(2)] for _ in range(2)]
        s.one, s.y = [Wire(nbits)], Wire(nbits)
        s.parts = [Inverter(nbits) for _ in range(2)]
        for i in range(2):
            s.parts[i].a //= s.x[i]
        TOP = mk_bits(nbits)(1 << nbits - 1)
        HALF = nbits // 2

        @update
        def load():
            s.x[0] @= s.istream.msg.x
            s.x[1] @= s.istream.msg.y
            s.one[0] @= s.istream.msg.x
            s.y @= s.istream.msg.y
            for i in range(2):
                s.z[i] @= sext(s.x[i], wide)
                for j in range(2):
                    s.grid[i][j] @= s.x[i] ^ s.x[j]

        @update
        def forms_of_names():
            s.ostream.msg.element_r @= sext(s.x[1], wide)
            s.ostream.msg.turn_r @= s.z[0] ^ s.z[1]
            s.ostream.msg.index_r @= sext(s.x[s.which], wide)
            s.ostream.msg.nested_r @= sext(s.grid[s.which][1], wide)
            s.ostream.msg.bit_r @= sext(s.x[1][HALF], wide)
            s.ostream.msg.part_r @= sext(s.x[s.which][0:HALF], wide)
            s.ostream.msg.moving_r @= sext(s.y[s.at : s.at + HALF], wide)
            s.ostream.msg.whole_r @= sext(s.y, wide)
            s.ostream.msg.port_r @= sext(s.istream.msg.x, wide)
            s.ostream.msg.instance_r @= sext(s.parts[1].out, wide)
            s.ostream.msg.alone_r @= sext(s.one[0], wide)

        @update
        def forms_of_expressions():
            difference = s.x[0] - s.y
            s.ostream.msg.added_r @= sext(s.x[0] + s.x[1], wide)
            s.ostream.msg.chosen_r @= sext(s.x[0] if s.which else s.y, wide)
            s.ostream.msg.inverted_r @= sext(~s.x[0], wide)
            s.ostream.msg.compared_r @= sext(s.x[0] < s.x[1], wide)
            s.ostream.msg.reduced_r @= sext(reduce_xor(s.x[0]), wide)
            s.ostream.msg.truncated_r @= sext(trunc(s.x[0], HALF), wide)
            s.ostream.msg.joined_r @= sext(concat(s.x[1][0:HALF], s.which), wide)
            s.ostream.msg.constant_r @= sext(TOP, wide)
            s.ostream.msg.temporary_r @= sext(difference, wide)

        if structs:
            s.items = [Wire(Item) for _ in range(2)]

            @update
            def load_structs():
                for i in range(2):
                    s.items[i].v @= s.x[i]
                    s.items[i].l[0] @= s.x[i]
                    s.items[i].l[1] @= s.y

            @update
            def forms_of_structs():
                s.ostream.msg.field_r @= sext(s.items[s.which].v, wide)
                s.ostream.msg.deep_r @= sext(s.items[0].l[1], wide)


def signed(value, nbits, wide):
    """Sign extension by arithmetic on Python integers."""
    value %= 1 << nbits
    return (value - ((value >> nbits - 1) << nbits)) % (1 << wide)


def expected(request, nbits, wide, structs):
    """The response by Python integers."""
    i, at, x, y = request
    half, chosen = nbits // 2, (x, y)[i]
    values = {
        "element": (y, nbits),
        "index": (chosen, nbits),
        "nested": (chosen ^ y, nbits),
        "bit": (y >> half, 1),
        "part": (chosen, half),
        "moving": (y >> at, half),
        "whole": (y, nbits),
        "port": (x, nbits),
        "instance": (~y, nbits),
        "added": (x + y, nbits),
        "chosen": ((y, x)[i], nbits),
        "inverted": (~x, nbits),
        "compared": (x < y, 1),
        "reduced": (x.bit_count(), 1),
        "truncated": (x, half),
        "joined": (y << 1 | i, half + 1),
        "constant": (1 << nbits - 1, nbits),
        "temporary": (x - y, nbits),
        "alone": (x, nbits),
        "field": (chosen, nbits),
        "deep": (y, nbits),
    }
    found = {form: signed(*value, wide) for form, value in values.items()}
    found["turn"] = signed(x, nbits, wide) ^ signed(y, nbits, wide)
    return tuple(found[form] for form in (*FORMS, *(OF_STRUCTS if structs else ())))


def requests_of(nbits):
    rng = random.Random(nbits)
    return [
        (
            rng.getrandbits(1),
            rng.randrange(nbits - nbits // 2),
            rng.getrandbits(nbits),
            rng.getrandbits(nbits),
        )
        for _ in range(50)
    ]


def as_component(text, nbits, wide, structs):
    """A text of Signs as a component."""
    ports = Signs(nbits, wide, structs)
    ports.elaborate()
    return verilog_text("Signs", text, ports.istream.msg._dsl.Type, ports.ostream.msg._dsl.Type)


@parametrize("nbits, wide", [(7, 18), *later((2, 40), (4, 5), (8, 8), (33, 70))])
def test_every_form(nbits, wide):
    requests = requests_of(nbits)
    right = [expected(request, nbits, wide, True) for request in requests]
    assert ran_alike(lambda: Signs(nbits, wide, True), requests).responses == right


@parametrize("nbits, wide", [(7, 18), *later((2, 40), (33, 70))])
def test_yosys_reads_the_same(tmp_path, nbits, wide):
    (tmp_path / "in.sv").write_text(translate(Signs(nbits, wide, False), "Signs"))
    script = "read_verilog -sv in.sv\nhierarchy -top Signs\nproc\nflatten\nwrite_verilog -noattr out.v\n"
    yosys.run("same", script, tmp_path)
    requests = requests_of(nbits)
    component = as_component((tmp_path / "out.v").read_text(), nbits, wide, False)
    assert ran(component, requests).responses == [expected(r, nbits, wide, False) for r in requests]
