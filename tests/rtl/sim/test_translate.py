"""The Verilog text: names, lint, omitted parts, and reproducibility."""

import re

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.fl.errors import BadInput
from modexlab.flow.netlist import yosys
from modexlab.rtl.messages import declare_streams
from modexlab.rtl.sim import ToolError, lint, simulate, translate
from modexlab.rtl.units.cond_sub import CondSub
from pymtl3 import (
    Bits4,
    Bits8,
    Bits16,
    Component,
    InPort,
    OutPort,
    Wire,
    b8,
    bitstruct,
    concat,
    connect,
    update,
    update_ff,
)

from tests.harness import later, one_now, parametrize, ran_alike, refused, regress
from tests.paths import ROOT
from tests.rtl.sim.examples import (
    Add,
    AddMod,
    Chain,
    CountOnes,
    Distance,
    Loops,
    Parities,
    Pass,
    Positions,
    ReservedWord,
    Wasteful,
    mk_twin,
    other_process,
)


class Invert(Component):
    """Has the ports of Add."""

    def construct(s, nbits, k):
        s.a, s.b, s.out = InPort(nbits), InPort(nbits), OutPort(nbits)

        @update
        def invert():
            s.out @= ~s.a


class Inner(Component):
    """A component with parameters of all kinds."""

    def construct(s, nbits, kind, mk=None, scale=1):
        s.a = InPort(nbits)
        s.out = OutPort(nbits)
        s.leaf = (mk or Add)(nbits, scale)
        s.leaf.a //= s.a
        s.leaf.b //= 0
        s.out //= s.leaf.out


class Outer(Component):
    def construct(s):
        s.a = InPort(8)
        s.out = OutPort(8)
        s.parts = [
            Inner(8, "plain"),
            Inner(8, "with-dash"),  # equal to the first one
            Inner(8, "with-dash", scale=2),
            Inner(8, "with dash", lambda *given: Invert(*given), scale=2),  # would have the name of the third
            Inner(8, "a" * 80, scale=4),
            Inner(8, "plain", scale=3),
        ]
        for i, part in enumerate(s.parts):
            part.a //= s.a if i == 0 else s.parts[i - 1].out
        s.out //= s.parts[5].out


class Mixed(Component):
    """Conflicting names: constants and temporaries of several blocks, and a block and a constant with names
    of signals.
    """

    def construct(s):
        declare_streams(s, Bits8, Bits16)
        s.istream.val //= s.ostream.val
        s.istream.rdy //= s.ostream.rdy
        s.a = Wire(8)
        s.a //= s.istream.msg
        s.high = Wire(8)
        s.low = Wire(8)
        s.LIMIT = Wire(8)
        s.ostream.msg[0:8] //= s.low
        s.ostream.msg[8:16] //= s.high
        WIDTH = 4
        NONE = 0
        ODD = b8(0x55)

        @update
        def block_high():
            top = s.a + ODD
            s.high @= top
            if s.a[0]:
                s.high @= 0
            else:
                for i in range(NONE):
                    s.high[i] @= 1
            for i in range(WIDTH):
                s.high[i + WIDTH] @= top[i]

        LIMIT = 200

        @update
        def low():
            s.LIMIT @= ~s.a
            s.low @= ODD
            if s.a < LIMIT:
                s.low @= s.LIMIT


EXAMPLES = {
    "pass": lambda: Pass(8),
    "add_mod": lambda: AddMod(32),
    "add_mod_wide": lambda: AddMod(4100),
    "chain": lambda: Chain(16, 4),
    "count_ones": lambda: CountOnes(16),
    "twin": lambda: mk_twin(1),
    "outer": Outer,
    "mixed": Mixed,
}


def text_of(name, nbits, *top, **options):
    """The Verilog of a machine."""
    return translate(find(name).at(nbits).rtl(), *top, **options)


def modules(verilog):
    return re.findall(r"^module (\w+) #?\($", verilog, re.MULTILINE)[::-1]


@parametrize("name", EXAMPLES)
def test_clean_under_lint_and_free_of_noise(name):
    verilog = translate(EXAMPLES[name]())
    lint(verilog)
    for noise in (str(ROOT), "PyMTL Component", "@update", "__const__", "__tmpvar__"):
        assert noise not in verilog
    assert not re.search(r"[ \t]$|\n\n\n", verilog, re.MULTILINE)
    assert all("__" not in module and len(module) < 64 for module in modules(verilog))
    assert len(set(modules(verilog))) == len(modules(verilog))


@pytest.fixture
def unmerged(monkeypatch):
    """Modules before those that differ only by numbers are merged."""
    monkeypatch.setattr("modexlab.rtl.verilog.translate.with_parameters", lambda design: design)


def test_names_of_modules():
    """A module has the name of its class, with the arguments in which modules of the class differ."""
    assert modules(translate(AddMod(32))) == ["Add", "AddMod"]
    assert modules(translate(AddMod(32), "my_top")) == ["Add", "my_top"]
    assert modules(translate(AddMod(32), "Add")) == ["AddModAdd", "Add"]
    assert modules(translate(Chain(8, 3))) == ["Add_2", "Add_1", "Chain"]
    assert modules(translate(Outer())) == [
        "Add_3",
        "Inner_plain_3",
        "Add_4",
        "Inner_3",
        "Invert",
        "Inner_2",
        "Add_2",
        "Inner_with_dash_2",
        "Add_1",
        "Inner_plain_1",
        "Outer",
    ]


def test_modules_that_differ_by_declared_arguments_are_one(monkeypatch):
    """Their instances give the arguments as parameters."""
    monkeypatch.setattr(Add, "PARAMETERS", ("k",), raising=False)
    verilog = translate(Outer())
    lint(verilog)
    assert modules(verilog).count("Add") == 1
    assert "// Add: out = a + b + k\nmodule Add #(\n  parameter int K = 1\n) (" in verilog
    assert re.findall(r"^  Add #\(\.K\((\d)\)\) leaf \($", verilog, re.MULTILINE) == ["1", "2", "4", "3"]


@parametrize(
    "name, nbits",
    [("heap", 16), ("fold", 16), *later(("mont", 16), ("fold", 32), ("systolic", 16), ("ssmm", 16))],
)
def test_no_two_modules_are_equal_up_to_their_numbers(name, nbits):
    """Modules of one class differ in more than numbers."""
    verilog = text_of(name, nbits)
    assert len({*modules(verilog)}) == len(modules(verilog))
    bodies = re.findall(r"^module (\w+?)(?:_\d+)* #?\(\n(.*?)^endmodule", verilog, re.DOTALL | re.MULTILINE)
    assert len({(kind, re.sub(r"\d+", "#", body)) for kind, body in bodies}) == len(bodies)
    assert name in ("mont", "ssmm") or "parameter int" in verilog


def test_modules_of_one_element_merge_and_the_others_follow_their_owner():
    names = modules(text_of("fold", 32))
    assert {"FullAddersLevel", "PrefixLevel", "ProductPairBitHeap", "RowFoldBitHeap"} <= {*names}
    assert not re.search(r"\d", "".join(names))


def test_arguments_stand_above_each_module():
    """Modules that are one have above them what is common to all."""
    verilog = translate(Outer())
    inner = "// Inner: a component with parameters of all kinds"
    assert f"{inner}; nbits = 8, kind = with-dash, scale = 2\nmodule Inner_with_dash_2 (\n" in verilog
    assert f"{inner}; nbits = 8, kind = plain, scale = 3\nmodule Inner_plain_3 (\n" in verilog
    assert f"{inner}\nmodule Inner_plain_1 (\n" in verilog
    assert "0x" not in verilog  # no addresses of functions


def test_combinational_modules_have_no_clock_and_structs_short_names():
    verilog = translate(AddMod(32))
    assert "} product_req_32_t;" in verilog
    top, adder = verilog.split("endmodule")[:2]
    assert "clk" not in adder and "reset" not in adder and "adder__clk" not in top
    assert "input  logic clk," in top
    # the top keeps both in any case
    assert "input  logic clk," in translate(Pass(8))


def test_comments_say_all_parameters_in_words():
    verilog = text_of("mont", 32)
    assert all(len(line) <= 100 for line in verilog.splitlines())
    comment = re.search(r"((?:^//.*\n)+)module MontMulRem \($", verilog, re.MULTILINE)[1]
    assert comment.startswith("// MontMulRem: ")
    assert comment.endswith(
        "\n// nbits = 32, steps_per_stage = 8, nstages = 1, add_red = koc, pipelined = 0, gated = 1\n"
    )
    modulus = str(find("dm-m-000").at(128).modulus)
    verilog = text_of("dm-m-000", 128)
    assert not re.search(rf"^//.*{modulus}", verilog, re.MULTILINE)  # both ends of the number suffice


def test_ports_in_the_order_of_a_reader():
    verilog = text_of("mont", 32)
    ports = {
        module: re.findall(r"^  (?:in|out)put [^/]*?(\w+),?(?:  //.*)?$", text, re.MULTILINE)
        for module, text in re.findall(r"^module (\w+) \(\n(.*?)\n\);", verilog, re.MULTILINE | re.DOTALL)
    }
    streams = [f"{stream}__{port}" for stream in ("istream", "ostream") for port in ("msg", "val", "rdy")]
    assert ports["ModExp"] == ["clk", "reset", *streams]
    ctrl = ports["ModExpCtrl"]
    assert ctrl[:5] == ["clk", "reset", "istream_val", "istream_rdy", "in_status"]
    assert ctrl.index("in_status") < ctrl.index("out_status") < ctrl.index("req_val")


@regress
def test_two_designs_in_one_project():
    unique = [
        text_of(name, nbits, f"{name}_{nbits}", unique=True)
        for name, nbits in (("mont", 8), ("mont", 16), ("naive", 8))
    ]
    packages = r"^package (\w+);"
    names = [name for text in unique for name in modules(text) + re.findall(packages, text, re.MULTILINE)]
    assert len(set(names)) == len(names)
    assert {"mont_8", "mont_8_ModExpCtrl", "mont_16_ModExpCtrl", "naive_8_pkg"} <= set(names)
    lint_several(*unique)
    # files of the same names: a module of one design is taken for that of the other
    with pytest.raises(ToolError, match=r"MODDUP|Pin not found"):
        lint_several(text_of("mont", 8, "one"), text_of("naive", 8, "two"))


def test_names_of_a_project_stay_short():
    tops = ["long" * 12 + end for end in ("a", "b")]
    texts = [text_of("mont", 8, top, unique=True) for top in tops]
    assert all(len(name) < 64 and "__" not in name for text in texts for name in modules(text))
    assert not set(modules(texts[0])) & set(modules(texts[1]))
    for text in texts:
        lint(text)


def lint_several(*texts):
    """Lint all texts in one run; each has its own top."""
    lint("".join(texts), "-Wno-MULTITOP")


def test_lint_is_silenced_where_there_is_a_reason():
    verilog = translate(Wasteful(False))
    lint(verilog)
    reasons = dict(re.findall(r"^  // (.*): (.*)$", verilog, re.MULTILINE))
    assert reasons == {
        "every top module has it": "clk, reset",
        "kept for a later version": "mode",
        "nothing reads these bits": "istream__msg.b, sum[0]",
    }
    assert "wire unused = ^{clk, reset, istream__msg.b, sum[0], mode};" in verilog
    assert "verilator lint_off UNUSED" not in verilog
    assert "istream__rdy" not in verilog[verilog.index("module Pass") :]  # an output without readers
    assert "dead;" not in translate(Wasteful(True))  # a signal without readers
    assert simulate(Wasteful(True), "verilog").run([(5, 0)]).responses == [3]


def test_a_row_is_a_loop_if_every_pin_follows_the_index():
    """Chains in both directions become loops; a chain with registers in between does not."""
    up = translate(find("mont").at(32).multiplier())
    assert re.search(r"begin : gen_steps  //.*\n    AddRedKoc unit \($", up, re.MULTILINE)
    assert ".out(steps__out[i + 1])" in up and ".state(steps__out[i])" in up
    down = text_of("systolic", 64)
    assert ".low(result[i + 1])" in down and ".a(result[i + 2])" in down
    parted = translate(find("mont-001").at(32).multiplier())
    assert "gen_steps" not in parted and " steps__1 (" in parted


def test_short_names_mean_the_same():
    verilog = translate(Mixed())
    assert verilog.count("localparam logic [7:0] ODD = 8'd85;") == 1
    assert "begin : block_high\n" in verilog
    assert "assign low = (istream__msg < 8'd200) ? LIMIT : ODD;" in verilog
    ran_alike(Mixed, range(256))


class Reversal(Component):
    """The bits of a in the opposite order."""

    def construct(s):
        s.a, s.out = InPort(200), OutPort(200)
        for i in range(200):
            s.out[i] //= s.a[199 - i]


def test_a_long_concatenation_is_broken():
    verilog = translate(Reversal())
    lint(verilog)
    assert f"assign out = {{{', '.join(f'a[{i}]' for i in range(200))}}};" in " ".join(verilog.split())
    assert all(len(line) <= 100 for line in verilog.splitlines())


def test_a_reduction_is_of_the_whole_expression():
    run = ran_alike(Parities, range(256))
    odd = [message.bit_count() % 2 for message in range(256)]
    expected = [128 * odd[message] + odd[message & 0x5A] for message in range(256)]
    expected[0xA5] = 2
    assert run.responses == expected


@parametrize("count", one_now((1, 2), 2))
def test_loops_are_written_as_a_reader_would(count):
    verilog = translate(Loops(count))
    lint(verilog.replace("idle;", "idle = 8'd0;"))  # driven only by its loop without iterations
    assert "begin : nothing" not in verilog
    assert not re.search(r"^ *;$|'\([ij]\)", verilog, re.MULTILINE)
    assert "[0:0]" not in verilog  # an array of one element becomes a scalar
    assert ("for (int unsigned j = 0; j < 2; j++) begin" in verilog) == (count == 2)
    assert ("begin : spread\n    for (int unsigned i = 0; i < 2; i++) begin" in verilog) == (count == 2)
    assert "else\n" not in verilog
    assert "if (~istream__msg[0]) begin" in verilog
    assert "istream__msg[1])" not in verilog
    ran_alike(lambda: Loops(count), range(256))


class Holding(Component):
    """Two registers that may keep their value, x in spite of an assignment before."""

    def construct(s):
        s.hold, s.x, s.y = InPort(), OutPort(8), OutPort(8)

        @update_ff
        def registers():
            s.x <<= 0
            if s.hold:
                s.x <<= s.x
                s.y <<= s.y
            else:
                s.y <<= s.y + 1


def test_registers_are_not_assigned_to_themselves():
    text = translate(Holding())
    assert "x <= x;" in text and "y <= y;" not in text


@bitstruct
class Pair:
    high: Bits4
    low: Bits4


class Gated(Component):
    """The sum of a and b if `on`, else a; a message may be constant, too."""

    def construct(s):
        s.pair, s.on, s.b, s.out = InPort(Pair), InPort(), InPort(8), OutPort(8)

        @update
        def add():
            s.out @= concat(s.pair.high, s.pair.low) + s.b if s.on else concat(s.pair.high, s.pair.low)


class Tied(Component):
    """Several of them, which these values switch on or off."""

    def construct(s, values):
        s.b, s.out = InPort(8), OutPort(8)
        s.parts = [Gated() for _ in values]
        for part, value in zip(s.parts, values, strict=True):
            part.pair //= Pair(1, 2)
            part.b //= s.b
            part.on //= value
        s.out //= s.parts[-1].out


@parametrize("values, kept, adds", [((1, 1), False, True), ((0, 0), False, False), ((0, 1), True, True)])
def test_inputs_that_are_one_constant_are_gone(values, kept, adds):
    """An input of two constants stays, as does every input in a text that is to be compared."""
    text = translate(Tied(values))
    assert "input  logic on" in translate(Tied(values), whole=True)
    assert ("input  logic on" in text, " + b" in text) == (kept, adds)


class Constant(Component):
    """An output that is a constant, next to one that is not."""

    def construct(s, value):
        s.a, s.on, s.same = InPort(8), OutPort(), OutPort(8)
        s.on //= value
        s.same //= s.a


class Siblings(Component):
    """A constant from one child goes to a sibling, a block and an output; those of a list go to outputs."""

    def construct(s):
        s.b, s.out, s.last = InPort(8), OutPort(8), OutPort(8)
        s.both, s.on, s.listed = OutPort(2), OutPort(), OutPort(2)
        s.part, s.gated = Constant(1), Gated()
        s.part.a //= s.b
        s.gated.pair //= Pair(1, 2)
        s.gated.b //= s.part.same
        s.gated.on //= s.part.on
        s.out //= s.gated.out
        s.on //= s.part.on
        s.items = [Constant(0) for _ in range(2)]
        for i, item in enumerate(s.items):
            item.a //= s.items[i - 1].same if i else s.part.same
            s.listed[i] //= item.on
        s.last //= s.items[-1].same

        @update
        def read():
            s.both @= concat(s.part.on, s.b[0])


def test_outputs_that_are_one_constant_are_gone():
    """Their readers have the constant."""
    text = translate(Siblings())
    lint(text)
    assert "both = {1'd1, b[0]};" in text and "assign on = 1'd1;" in text and " + b;" in text
    assert text.count("output logic on") == 1  # of the top
    assert translate(Siblings(), whole=True).count("output logic on") == 3


# just below and at powers of two
@parametrize("nbits", one_now((14, 15, 16, 30, 31, 32, 62, 63, 64), 16))
def test_arithmetic_on_constants_is_done_before_translation(nbits):
    verilog = translate(Positions(nbits))
    lint(verilog)
    assert f"istream__msg[{nbits + 1}]" in verilog
    assert not re.search(r"\[[^\]]*[-+]", verilog)
    ones = [1 << i for i in range(nbits + 2)]
    assert ran_alike(lambda: Positions(nbits), ones).responses == [*ones[1:], 1]


@parametrize("nbits", one_now((15, 16, 31, 32, 63, 64), 64))
def test_constants_have_the_width_of_their_context(nbits):
    lint(translate(Distance(nbits)))
    requests = [0, 1, nbits - 1, 1 << (nbits - 1), (1 << nbits) - 1]
    run = ran_alike(lambda: Distance(nbits), requests)
    assert run.responses == [nbits + 1, nbits + 1, nbits, nbits + 2, nbits + 2]


def all_examples():
    return "".join(translate(make()) for make in EXAMPLES.values())


def test_same_text_in_every_process():
    assert other_process(f"from {__name__} import *; print(all_examples())") == f"{all_examples()}\n"


def test_reserved_word_is_named():
    with refused("ReservedWord has an attribute named 'final', which is a reserved word"):
        translate(ReservedWord())


class Numbers(Component):
    """Assigns a number, and chooses one."""

    def construct(s, assigned, chosen):
        s.on, s.out, s.other = InPort(), OutPort(4), OutPort(4)

        @update
        def assign():
            s.out @= assigned

        @update
        def choose():
            s.other @= s.out if s.on else chosen


@parametrize(
    "numbers, reason",
    {
        (16, 0): r"line \d+: 16 does not fit in the 4 bits of its target",
        (-9, 0): r"line \d+: -9 does not fit in the 4 bits of its target",
        (0, -9): "a constant expression in choose is -9: 4 bits are too few",
    }.items(),
)
def test_numbers_without_enough_bits_are_refused(numbers, reason):
    lint(translate(Numbers(15, -8)))
    with pytest.raises(BadInput, match=reason):
        translate(Numbers(*numbers))


def test_lint_raises_with_the_message_of_verilator():
    latch = "module d(input logic a, output logic b);\n  always_comb if (a) b = 1;\nendmodule\n"
    with pytest.raises(ToolError, match=r"LATCH: d.sv:4:"):
        lint(latch)


class TwoReductions(Component):
    """Two conditional subtractions of different widths, whose constants exceed the sign bit of a word."""

    def construct(s):
        s.wide, s.narrow = CondSub(9), CondSub(6)
        for one, name in ((s.wide, "wide"), (s.narrow, "narrow")):
            for port in ("value", "n", "out"):
                inner = getattr(one, port)
                setattr(s, f"{name}_{port}", (OutPort if port == "out" else InPort)(inner.get_type()))
                connect(inner, getattr(s, f"{name}_{port}"))


def test_merged_modules_mean_the_same_to_yosys(tmp_path, request):
    """A parameter is signed, and so is a cast of one, but the number that it replaces is not."""
    (tmp_path / "merged.sv").write_text(translate(TwoReductions(), "merged", unique=True))
    request.getfixturevalue("unmerged")
    (tmp_path / "apart.sv").write_text(translate(TwoReductions(), "apart", unique=True))
    assert "parameter int NBITS" in (tmp_path / "merged.sv").read_text()
    script = (
        "read_verilog -sv merged.sv apart.sv\nproc\nmiter -equiv -flatten merged apart both\n"
        "hierarchy -top both\nsat -verify -prove trigger 0 both\n"
    )
    yosys.run("same", script, tmp_path)
