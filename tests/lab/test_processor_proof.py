"""The proof of the processor: it covers every instruction, and each of its checks disproves a defect of its
kind.
"""

from modexlab.eval.assurance.proof.processor import instructions, units
from modexlab.eval.assurance.proof.processor.processor_checks import BENCHES, processor_checks
from modexlab.flow.prove.assertions import refused
from modexlab.flow.prove.report import PROVED, REFUTED
from modexlab.proc.isa.isa import INSTRUCTIONS
from modexlab.proc.iss.semantics import VALUES

from tests.harness import one_now, parametrize, regress

from .test_proof import changed

SECONDS = 120.0  # CPU time of a check
CHECKS = {processor_check.name: processor_check for processor_check in processor_checks()}
# by check: the change that plants a defect in the text of the processor or of the unit
DEFECTS = {
    "insn add": ("else if (bypass_M) begin", "else if (1'd0) begin"),  # no bypass from M
    "insn sub": (
        "bypass__load_use[0] | bypass__load_use[1]",
        "bypass__load_use[0]",
    ),  # the second operand does not wait for a load
    "insn sra": ("sign = a[31] & (fn == ALU_SRA)", "sign = 1'd0"),
    "insn mulhu": ("bypass__operand[0], bypass__operand[1]}", "bypass__operand[0], bypass__operand[0]}"),
    "insn jalr": ("? {alu_out[31:1], 1'd0} :", "? alu_out :"),
    "insn beq": ("? a == b :", "? a[31:1] == b[31:1] :"),
    "insn blt": ("? a[31] : a < b", "? b[31] : a < b"),
    "insn lbu": ("? halfword[15:8] :", "? halfword[7:0] :"),
    "insn sh": ("{{2{addr[1]}}, {2{~addr[1]}}}", "{{2{addr[1]}}, ~addr[1], addr[1]}"),
    "ill": ("cs = {funct3 < 3'd3,", "cs = {Y,"),  # stores of any size
    "pc_fwd": (
        "refused_is_stale <= off_path;",
        "refused_is_stale <= 1'd0;",
    ),  # a branch before the previous address was accepted
    "imem": ("pc <= addr;", "pc <= next_pc;"),
    "reg": ("slot_W.rf_wen & (rd_W != 5'd0)", "slot_W.rf_wen"),
    "unique": (
        "stale | redirect_val | stop | ostream__rdy",
        "stale | redirect_val | stop",
    ),  # accepted, and offered again
    "causal": ("~trap & ~stall_M & ~fault_M;", "~trap & ~stall_M;"),  # a request that is not withdrawn
    "liveness": (
        "stale <= off_path;\n      end else if (answered)",
        "stale <= 1'd1;\n      end else if (answered)",
    ),
    "MulUnit": ("(funct3 != 3'd3)", "(funct3 == 3'd1)"),  # mulhsu
    "DivUnit": ("& (istream__msg.b != 32'd0)", ""),  # by 0
    "RegisterFile": ("waddr == 5'(i)", "waddr[3:0] == 4'(i)"),
}


def test_each_instruction_is_asked_for():
    """All of RV32IM except instructions about the machine itself, with operands named as in the simulator."""
    about_the_machine = {
        instruction.name for instruction in INSTRUCTIONS if instruction.group in ("csr", "system", "fence")
    }
    assert (
        instructions.EFFECTS.keys() == {instruction.name for instruction in INSTRUCTIONS} - about_the_machine
    )
    assert {name for name in VALUES if name in instructions.RESULTS} == VALUES.keys()
    assert CHECKS.keys() == {
        *(f"insn {name}" for name in instructions.EFFECTS),
        *BENCHES,
        *(unit.name for unit in units.UNITS),
    }


@parametrize("name", one_now(DEFECTS, "reg"))
def test_a_defect_is_refuted(name):
    check = CHECKS[name]
    text, top = check.source()
    text = changed(text, DEFECTS[name])
    assert refused(text, top) == ""
    assert check.run(SECONDS, text).verdict == REFUTED


def test_each_kind_of_check_has_a_defect():
    assert DEFECTS.keys() >= {*BENCHES, *(unit.name for unit in units.UNITS)}


@regress
@parametrize("name", CHECKS)
def test_proved(name):
    assert CHECKS[name].run(SECONDS).verdict == PROVED
