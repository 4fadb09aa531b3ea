"""The pipeline of a processor in one cycle as one line of text, with five columns F D X M W.

F            the address that is being fetched; D X M W: the instruction in that stage
#            the stage holds its instruction for another cycle
~            the instruction is squashed in this cycle, and has no effect
...          F waits for the instruction memory
…            at the end of a column: the text is cut
(branch)     a bubble, and the reason why the slot is empty (outcome.BUBBLES)
!            in W: the instruction traps
"""

from typing import Any

from pymtl3 import Bits, Component

from ..isa.isa import disassemble
from ..iss.outcome import BUBBLES

WIDTH = 26  # of a column: enough for a branch to 0x80000000 with registers of two letters


def line(proc: Component) -> str:
    """The five stages, after the combinational logic of a cycle has settled."""
    decode, execute, memory, writeback = proc.decode, proc.execute, proc.memory, proc.writeback
    in_M, in_W = memory.slot_M, writeback.slot_W
    mark_D = _mark(decode.squash_D.val, decode.stall_D)
    columns = [
        _fetch(proc),
        _stage(decode.val_D, decode.fetched_D, decode.bubble_D, mark_D),
        _stage(execute.x.val, execute.operands_X, execute.x.bubble, "#" * int(execute.stall_X)),
        _stage(in_M.val, memory.result_M, in_M.bubble, "#" * int(memory.stall_M)),
        _stage(in_W.val, writeback.result_W, in_W.bubble, "!" * int(in_W.trap)),
    ]
    return " ".join(f"{cut(column):{WIDTH}}" for column in columns)


def cut(text: str) -> str:
    """The text, cut to the width of a column with a mark at the end if it is longer."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def header() -> str:
    """The header line."""
    return " ".join(f"{name:{WIDTH}}" for name in "FDXMW").rstrip()


def _fetch(proc: Component) -> str:
    fetch = proc.fetch
    if not fetch.busy:
        return ""
    dropped = bool(fetch.stale | fetch.redirect_val | fetch.stop)
    mark = _mark(dropped, fetch.imem_resp.val and not fetch.ostream.rdy)
    return f"{mark}{int(fetch.pc):x}{'' if fetch.imem_resp.val else ' ...'}"


def _mark(dropped: object, stalled: object) -> str:
    """The mark before an instruction that is dropped or that waits."""
    if dropped:
        return "~"
    return "#" if stalled else ""


def _stage(full: object, data: Any, bubble: Bits, mark: str) -> str:
    return f"{mark}{disassemble(int(data.inst), int(data.pc))}" if full else f"({BUBBLES[int(bubble)]})"
