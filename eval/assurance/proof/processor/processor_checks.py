"""Checks of the processor against its instruction set: those of riscv-formal that apply to it.

    insn NAME   an instruction that retires has its specified effect: result, memory access, trap and next pc
    ill         an illegal word traps, and no other word causes that trap
    pc_fwd      the next pc after traps, mret and everything except jumps and branches; this covers pc_bwd,
                as the pipeline is in order
    imem        a retired word is the one that the memory holds at its pc
    reg         exactly the results of retiring instructions are written to the register file
    unique      no more instructions retire than were fetched
    causal      each access to the memory or the accelerator belongs to an instruction that then retires, and
                there is one at a time
    liveness    if memories answer at once, the next instruction retires within a bound

The checks are bounded: a fixed number of cycles from any state (rvfi.py), or from the state after a reset,
with arbitrary CSRs and registers. CSRs are not checked here; tests compare them with the simulator. The units
that rvfi.py cuts out are proved on their own, without a bound.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from .....flow.prove import registers
from .....flow.prove.assertions import Decision, decide
from .....proc.core.proc import Proc
from .....proc.isa.causes import FETCH_FAULT, ILLEGAL, LOAD_FAULT, STORE_FAULT
from .....proc.isa.isa import BY_NAME
from ..check import PROCESSOR, Check, source_of
from . import rvfi
from .instructions import EFFECTS, JUMPS, OPERANDS, TAKEN, Effect, is_a
from .units import UNITS

CYCLES = 8  # from any state: an instruction that is fetched at once may wait for three
REDIRECTED = 10  # and the one that it jumps to for two
FROM_RESET = 16
LONGEST = 8  # cycles from one instruction to the next with zero-wait memories
WHOLE = source_of(Proc)
ANYTHING = ("csrs.", "registers.")  # arbitrary after a reset, as if a program had set them


class Bench(NamedTuple):
    """Assertions and assumptions of a bench. module: where mutants are planted, which the bench must kill."""

    says: str
    holds: Sequence[str]
    module: str
    lines: Sequence[str] = ()
    given: Sequence[str] = ()
    cycles: int = CYCLES
    from_reset: bool = False
    prompt: bool = False

    def decide(self, seconds: float, text: str, _: str) -> Decision:
        """Decide the text of a processor."""
        found = decide(
            rvfi.bench(text, self.lines, self.holds, self.given, self.prompt),
            seconds,
            FROM_RESET if self.from_reset else self.cycles,
            initial=_after_reset(text) if self.from_reset else {},
            free=rvfi.FREE,
            large=True,
        )
        if not self.from_reset:
            return found
        return replace(found, how=found.how.replace("any state", "reset, with any registers"))


def processor_checks() -> Iterator[Check]:
    """All checks of the processor."""
    benches = {f"insn {name}": _instruction(name) for name in EFFECTS} | BENCHES
    for name, bench in benches.items():
        yield Check(name, PROCESSOR, bench.says, bench.decide, WHOLE, bench.module)
    yield from UNITS


@functools.cache
def _after_reset(text: str) -> dict[str, int]:
    return {
        f"core.{name}": value
        for name, (value, _) in registers.resets(rvfi.cut(text), rvfi.TOP).items()
        if not any(part in name for part in ANYTHING)
    }


# ---- one instruction

CAME = f"slot & slots >= {rvfi.JUDGED} & !(trap & cause == {FETCH_FAULT})"
# the address after the judged instruction; after a taken branch or jump, the instruction in F does not count
FOLLOWED = f"""\
  reg followed = 0;
  reg [31:0] expected;
  always @(posedge clk) if (slot) begin
    followed <= goes_on & slots >= (away ? {rvfi.JUDGED} : {rvfi.FOLLOWED});
    expected <= next_pc;
  end"""
STOPPED = (
    "  reg stopped = 0;\n  always @(posedge clk) stopped <= stopped | (slot & halt & slots >= "
    f"{rvfi.JUDGED});"
)
GOES_ON = "!(slot & followed) || pc == expected"


def _instruction(name: str) -> Bench:
    effect = EFFECTS[name]
    traps = f"judged & ({'misaligned | fault' if effect.nbytes else 'misaligned'})"
    lines = [
        OPERANDS,
        f"  wire judged = {CAME} & named & ({is_a(name)});",
        f"  wire [31:0] next_pc = {effect.next_pc};",
        f"  wire misaligned = {effect.traps};",
        _access(effect) if effect.nbytes else "",
        f"  wire traps = {traps};",
        f"  wire away = {TAKEN.get(name, int(name in JUMPS))}, goes_on = judged & !trap;",
        f"  wire [31:0] result = {effect.result};" if effect.result else "",
        FOLLOWED,
    ]
    written = "insn[11:7] != 0" if effect.result else "0"
    holds = [
        "!judged || trap == traps",
        f"!(judged & misaligned) || cause == {effect.cause} && data == {effect.value} && halt == (mtvec == "
        "0)",
        f"!judged || wen == (!traps & ({written}))",
        GOES_ON,
    ]
    if effect.result:
        holds.append("!(judged & wen) || rd == insn[11:7] && data == result")
    if effect.nbytes:
        fault = STORE_FAULT if effect.stores else LOAD_FAULT
        holds += [
            "!judged || misaligned || answered && access_write == stores && access_addr == {at[31:2], 2'b00}",
            f"!(judged & !misaligned & fault) || halt && cause == {fault} && data == at",
        ]
    if effect.stores:
        holds.append(
            "!judged || misaligned || access_strobe == strobe && (access_data & mask) == (placed & mask)"
        )
    leads_away = name in TAKEN or name in JUMPS
    module = "BranchUnit" if leads_away else "ExecuteStage" if name == "auipc" else "Alu"
    if effect.nbytes:
        module = "StoreAlign" if effect.stores else "LoadAlign"
    if effect.result == "unit_result":
        module = "DecodeStage"
    return Bench(_said(name, effect), holds, module, lines, cycles=REDIRECTED if leads_away else CYCLES)


def _access(effect: Effect) -> str:
    """An access to the aligned word, with its bytes at their places."""
    ones = (1 << effect.nbytes) - 1
    return f"""\
  wire [31:0] at = {effect.address};
  wire [4:0] place = {{at[1:0], 3'b000}};
  wire [31:0] word = answer_data >> place, placed = rs2 << place;
  wire stores = {int(effect.stores)}, fault = answered & answer_error;
  wire [3:0] strobe = {ones} << at[1:0];
  wire [31:0] mask = {{{{8{{strobe[3]}}}}, {{8{{strobe[2]}}}}, {{8{{strobe[1]}}}}, {{8{{strobe[0]}}}}}};"""


def _said(name: str, effect: Effect) -> str:
    if effect.nbytes:
        what = f"{effect.nbytes} bytes at {effect.address}"
        return f"{what} are written" if effect.stores else f"rd = {effect.result}, of {what}"
    told = [f"rd = {effect.result}"] if effect.result else []
    return "; ".join([*told, f"then {effect.next_pc}"])


# ---- all of them

_JUMPS = " | ".join(f"({is_a(name)})" for name in (*JUMPS, *TAKEN))
_LEGAL = " | ".join(f"({is_a(name)})" for name in BY_NAME)
_CSR = " | ".join(f"({is_a(name)})" for name, instruction in BY_NAME.items() if instruction.group == "csr")
_MEMORY = " | ".join(f"({is_a(name)})" for name, item in EFFECTS.items() if item.nbytes)


def _reg() -> Bench:
    inner = "core.decode.registers"
    return Bench(
        "exactly the results of retiring instructions are written to the register file",
        [
            f"slots < {rvfi.JUDGED} || {inner}.wen == wen",
            f"slots < {rvfi.JUDGED} || !wen || {inner}.waddr == rd && {inner}.wdata == data && rd != 0 && "
            "val && !trap",
        ],
        "WritebackStage",
    )


def _causal() -> Bench:
    """An access must belong to an instruction that retires, since no access can be undone."""
    lines, holds = [STOPPED], []
    for port, is_one in (("dmem", _MEMORY), ("xcel", _CSR)):
        asks, answers = (f"{port}_{way}__val & {port}_{way}__rdy" for way in ("req", "resp"))
        lines.append(
            f"""\
  reg {port}_waits = 0, {port}_ends = 0;
  always @(posedge clk) begin
    {port}_waits <= ({asks}) | ({port}_waits & !({answers}));
    {port}_ends <= {answers};
  end"""
        )
        holds += [
            f"slots < {rvfi.JUDGED} || !{port}_ends || slot & ({is_one})",
            f"slots < {rvfi.JUDGED} || !({asks}) || !{port}_waits || {answers}",
            f"!stopped || !{port}_waits",
        ]
    return Bench(
        "each request to memory or accelerator belongs to an instruction that ends when it is answered; "
        "requests do not overlap",
        holds,
        "ExecuteStage",
        lines,
        cycles=REDIRECTED,
    )


def _liveness() -> Bench:
    prompt = ["imem_req__rdy", "imem_resp__val", "dmem_req__rdy", "dmem_resp__val", "xcel_req__rdy"]
    prompt += ["xcel_resp__val", "mngr2proc__val", "proc2mngr__rdy"]
    return Bench(
        f"if memories, accelerator and manager respond at once, the next instruction ends within {LONGEST} "
        "cycles, or the processor has halted",
        [f"waited < {LONGEST}"],
        "FetchUnit",
        ["  reg [4:0] waited = 0;\n  always @(posedge clk) waited <= slot | halted ? 0 : waited + 1;"],
        prompt,
        from_reset=True,
        prompt=True,
    )


BENCHES: dict[str, Bench] = {
    "ill": Bench(
        "an illegal word traps as an illegal instruction, with the word in mtval; no legal instruction does, "
        "except for accesses to missing CSRs",
        [
            f"!judged || legal || trap && cause == {ILLEGAL} && data == insn && !wen",
            f"!judged || !legal || is_csr || !(trap && cause == {ILLEGAL})",
        ],
        "Decoder",
        [f"  wire judged = {CAME}, legal = {_LEGAL}, is_csr = {_CSR};"],
    ),
    "pc_fwd": Bench(
        "the next pc is mtvec after a trap, mepc after mret, and pc + 4 after any other instruction except "
        "jumps and branches; nothing follows a trap that halts",
        [GOES_ON, "!(slot & stopped)"],
        "FetchUnit",
        [
            f"  wire goes_on = trap ? !halt : !({_JUMPS}), is_mret = {is_a('mret')}, away = trap | is_mret;",
            "  wire [31:0] next_pc = trap ? mtvec : is_mret ? mepc : pc + 4;",
            FOLLOWED,
            STOPPED,
        ],
        cycles=REDIRECTED,
    ),
    # bench of an instruction memory with any word, or none, at any address
    "imem": Bench(
        "the word that retires or traps at an address is the one in memory there; an address without memory "
        "traps",
        [
            "!judged || pc != place || insn == held[31:0]",
            f"!judged || pc != place || (trap & cause == {FETCH_FAULT}) == held[32]",
            f"!judged || !(trap & cause == {FETCH_FAULT}) || data == pc",
        ],
        "FetchUnit",
        [
            f"""\
  reg [31:0] place, fetched;
  reg [32:0] held;
  always @(posedge clk) begin
    place <= place;
    held <= held;
    if (imem_req__val & imem_req__rdy) fetched <= imem_req__msg.addr;
  end
  wire judged = slot & slots >= {rvfi.FOLLOWED};"""
        ],
        ["!imem_resp__val || fetched != place || imem_resp__msg == held"],
    ),
    "reg": _reg(),
    "unique": Bench(
        "no more instructions retire or trap than words were fetched",
        ["ended <= words"],
        "FetchUnit",
        [
            """\
  reg [5:0] words = 0, ended = 0;
  always @(posedge clk) begin
    words <= words + (imem_resp__val & imem_resp__rdy);
    ended <= ended + slot;
  end"""
        ],
        from_reset=True,
    ),
    "causal": _causal(),
    "liveness": _liveness(),
}
