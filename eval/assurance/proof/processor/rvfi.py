"""RVFI, the RISC-V Formal Interface, on the processor: signals derived from its commit port and memory ports.

    slot                          an instruction retires or traps in this cycle (rvfi_valid); with it come
    insn, pc, trap, cause, halt   the word, its address, and whether and how it traps
    wen, rd, data                 the register write; for a trap `data` is mtval
    rs1, rs2                      the registers that it names; while it is in W, all instructions before it
                                  have written and none after it has
    answered                      the memory answered in the cycle before; access_*: the request, answer_*:
                                  the answer
    slots                         the number of slots before, up to FOLLOWED
    mtvec, mepc                   the CSRs with the targets of a trap and of mret

The next pc of an instruction (rvfi_pc_wdata) is the pc of the next slot. The processor starts in an arbitrary
state, and its environment is arbitrary: memories, manager and accelerator accept and answer at any time. D,
X, M and W may hold garbage at first; these are the first slots, which are not judged. The instruction after
them comes from F, and the next from wherever that one leads.

The multiplier and the divider are cut out and replaced by a `unit_result` that arrives at any time. So is the
register file: two arbitrary registers are kept, and all others read as arbitrary values. Proofs of the real
units are separate (processor_checks.py).
"""

import re
from collections.abc import Sequence

from .....proc.core.messages import Commit, MemReq, MemResp
from .....rtl.sim.ports import Message
from .....rtl.sim.verilog_digests import without_comments
from .. import benches

JUDGED = 4  # slots that come before one that is judged
FOLLOWED = 5  # slots that come before one that is judged together with the next
TOP = "Proc"
FREE = ("*.free_*",)  # nets with any value in any cycle
PORT = re.compile(r"^  (input|output) +(.+) (\w+),? *$", re.MULTILINE)
RESULT = "(rs1 - rs2) ^ {29'd0, funct3}"  # of both operands; exchanged operands give another result
UNIT = """\
module {name} (input clk, input reset, input [66:0] istream__msg, input istream__val, output istream__rdy,
    output [31:0] ostream__msg, output ostream__val, input ostream__rdy);
  reg full;
  reg [66:0] asked;
  wire free_likes;
  wire [2:0] funct3 = asked[66:64];
  wire [31:0] rs1 = asked[63:32], rs2 = asked[31:0];
  assign ostream__val = full & {likes};
  assign ostream__msg = {result};
  assign istream__rdy = !full | (ostream__val & ostream__rdy);
  always @(posedge clk) begin
    if (reset) full <= 0; else if (istream__rdy) full <= istream__val;
    if (istream__rdy & istream__val) asked <= istream__msg;
  end
endmodule"""
REGISTERS = """\
module RegisterFile (input clk, input reset, input [1:0][4:0] raddr, output [1:0][31:0] rdata,
    input wen, input [4:0] waddr, input [31:0] wdata);
  reg [4:0] at_1, at_2;
  reg [31:0] word_1, word_2;
  wire [31:0] free_1, free_2;
  wire [31:0] rs1 = at_1 == 0 ? 0 : word_1, rs2 = at_2 == 0 ? 0 : at_2 == at_1 ? word_1 : word_2;
  assign rdata[0] = raddr[0] == at_1 ? rs1 : raddr[0] == at_2 ? rs2 : free_1;
  assign rdata[1] = raddr[1] == at_1 ? rs1 : raddr[1] == at_2 ? rs2 : free_2;
  always @(posedge clk) begin
    at_1 <= at_1;
    at_2 <= at_2;
    if (wen && waddr == at_1) word_1 <= wdata;
    if (wen && waddr == at_2) word_2 <= wdata;
  end
endmodule"""
SIGNALS = """\
  wire slot = val | trap;
  reg [2:0] slots = 0;
  wire [31:0] rs1 = core.decode.registers.rs1, rs2 = core.decode.registers.rs2;
  wire named = insn[19:15] == core.decode.registers.at_1 & insn[24:20] == core.decode.registers.at_2;
  wire [2:0] funct3 = insn[14:12];
  wire [31:0] unit_result = {result};
  wire [31:0] mtvec = core.execute.csrs.mtvec, mepc = core.execute.csrs.mepc;
  reg [{asks}:0] asked, access;
  reg [{answers}:0] answer;
  reg answered = 0, begun = 0;
  always @(posedge clk) begin
    begun <= 1;
    if (slot && slots != {followed}) slots <= slots + 1;
    answered <= dmem_resp__val & dmem_resp__rdy;
    if (dmem_req__val & dmem_req__rdy) asked <= dmem_req__msg;
    if (dmem_resp__val & dmem_resp__rdy) begin access <= asked; answer <= dmem_resp__msg; end
  end
"""


def cut(text: str, prompt: bool = False) -> str:
    """The processor without its multiplier, divider and register file; prompt: the replacements of the units
    answer at once.
    """
    likes = "1'b1" if prompt else "free_likes"
    for name in ("MulUnit", "DivUnit"):
        text = benches.with_module(text, name, UNIT.format(name=name, result=RESULT, likes=likes))
    return benches.with_module(text, "RegisterFile", REGISTERS)


def bench(
    text: str, lines: Sequence[str], holds: Sequence[str], given: Sequence[str] = (), prompt: bool = False
) -> str:
    """A processor, and assertions for every cycle over these signals and those that `lines` declare."""
    text = cut(without_comments(text), prompt)
    body, pins = [], {"clk": "clk", "reset": "1'b0"}
    declared = ["input clk"]
    ports = text[text.index(f"module {TOP} (") :].partition("\n);")[0]
    for way, kind, name in PORT.findall(ports):
        if name not in pins:
            pins[name] = name
            declared += [f"input {kind} {name}"] if way == "input" else []
            body += [f"  {kind} {name};"] if way == "output" else []
    asks, answers, commit = map(Message.of, (MemReq, MemResp, Commit))
    body += [
        benches.instance(TOP, "core", pins),
        *_fields("commit", commit),
        SIGNALS.format(result=RESULT, asks=asks.nbits - 1, answers=answers.nbits - 1, followed=FOLLOWED),
        *_fields("access", asks, prefix="access_"),
        *_fields("answer", answers, prefix="answer_"),
    ]
    return benches.module(text, declared, [*body, *lines], given, holds)


def _fields(word: str, message: Message, prefix: str = "") -> list[str]:
    """The fields of a message as wires; those of an instruction have their usual names."""
    nbits, place = dict(message.fields), benches.places(message)
    return [
        f"  wire [{nbits[name] - 1}:0] {prefix}{'insn' if name == 'inst' else name} = {word}{place[name]};"
        for name in nbits
    ]
