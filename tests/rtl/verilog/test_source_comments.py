"""Comments of the Python source in the Verilog."""

from modexlab.eval.assurance.attacks.operands import constants
from modexlab.rtl.sim import lint, translate
from modexlab.rtl.sim.verilog_digests import Digests, without_comments
from modexlab.rtl.verilog import source_comments
from pymtl3 import Component, InPort, Interface, OutPort, Wire, b1, concat, update, update_ff

from tests.harness import parametrize


class Handshake(Interface):
    def construct(s, Sent, Received):
        s.done = Received()
        s.go = Sent()  # a step begins


class Half(Component):
    def construct(s):
        s.en = InPort()
        s.out = OutPort(2)

        @update
        def double():
            s.out @= concat(s.en, b1(0))


class Steps(Component):
    """Counts steps."""

    def construct(s, scanned=False):
        TOP = 5  # the last place
        s.count = OutPort(3)  # steps that were made
        s.ends = OutPort()  # after this step: it is the last one of an operation, which takes all
        s.out = OutPort(8)
        s.low = OutPort(2)
        s.twice = Wire()
        s.hands = Handshake(InPort, OutPort)

        # halves
        s.half = Half()  # of two
        s.half.en //= s.hands.go  # in each step
        s.half.out //= s.low

        # without hardware
        assert TOP

        # ---- a heading

        # A step is
        # counted at its end.
        @update_ff
        def counts():
            if s.reset:
                s.count <<= 0
            # s.count stays between steps
            elif s.hands.go:
                s.count <<= s.count + 1  # wraps

        if scanned:
            s.twice = Wire()  # declared twice

            # only with a scan
            @update
            def ends_early():
                s.ends @= s.count == 1

        else:
            s.twice //= 0

            # in the last step
            @update
            def ends_late():
                s.ends @= s.count == TOP

        # ends with the operation
        if not scanned:

            @update
            def finishes():  # at once
                s.hands.done @= s.ends | s.twice

        else:
            s.hands.done //= s.ends | s.twice

        @update
        def outputs():
            # zeros above
            s.out @= 0
            # even places first
            for i in range(3):
                s.out[i] @= s.count[i]
            s.out[7] @= (
                s.ends  # a term
                & s.hands.go
            )  # the flag
            if s.hands.go:  # a step
                s.out[6] @= 1


def exported():
    return translate(Steps(), "steps", assertions=True)


def under(text, comment):
    """The line of code to which a comment belongs."""
    lines = text.splitlines()
    (at,) = (at for at, line in enumerate(lines) if line.partition("// ")[2] == comment)
    while lines[at].lstrip().startswith("//"):
        at += 1
    return " ".join(lines[at].partition("//")[0].split())


@parametrize(
    "comment, line",
    [
        ("a step begins", "input logic hands__go"),
        ("the last place", "localparam logic [2:0] TOP = 3'd5;"),
        ("steps that were made", "output logic [2:0] count,"),
        ("halves", "Half half ("),
        ("of two", "Half half ("),
        ("in each step", ".en(hands__go),"),
        ("a heading", "always_ff @(posedge clk) begin : counts"),
        ("A step is counted at its end.", "always_ff @(posedge clk) begin : counts"),
        ("count stays between steps", "count <= count + 3'd1;"),
        ("wraps", "count <= count + 3'd1;"),
        ("in the last step", "assign ends = count == TOP;"),
        ("ends with the operation at once", "assign hands__done = ends;"),
        ("zeros above", "out = 8'd0;"),
        ("even places first", "for (int unsigned i = 0; i < 3; i++) begin"),
        ("the flag", "out[7] = ends & hands__go;"),
        ("a step", "out[6] = 1'd1;"),
    ],
)
def test_comment_is_at_what_it_is_about(comment, line):
    assert under(exported(), comment) == line


@parametrize("comment", ["without hardware", "declared twice", "only with a scan", "a term"])
def test_comment_without_a_certain_place_is_left_out(comment):
    assert comment not in exported()


def test_long_comment_is_above_its_line():
    text = exported()
    assert (
        under(text, "after this step: it is the last one of an operation, which takes all")
        == "output logic ends,"
    )
    assert max(map(len, text.splitlines())) <= 100


def test_comments_change_nothing_else(monkeypatch):
    text = translate(Steps(), "steps")
    lint(text)
    monkeypatch.setattr(source_comments, "_of_class", lambda _: source_comments.Comments())
    bare = translate(Steps(), "steps")
    assert "steps that were made" not in bare
    assert Digests.of(text).hardware == Digests.of(bare).hardware


def test_text_without_comments():
    text = 'wire a; // negedge\nx = "// text"; /* a\nb */ y <= \\a//b ;\n'
    assert without_comments(text) == 'wire a;\nx = "// text";   y <= \\a//b ;\n'


def test_constants_of_comments_are_no_operands():
    text = "localparam int LIMIT = 7;  // 8'd9\nassign b = a == 8'h1f;\n"
    assert constants(text) == [7, 0x1F]
