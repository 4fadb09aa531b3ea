"""The pipeline of a processor in one cycle as one line: five columns F D X M W, for a student to read.

F            the address that is being fetched; D X M W: the instruction in that stage
#            the stage holds its instruction for another cycle
~            the instruction is squashed in this cycle, and leaves no trace
...          F waits for the instruction memory
…            at the end of a column: the text is cut
(branch)     a bubble, and the reason why the slot is empty (outcome.BUBBLES)
!            in W: the instruction traps
"""

from pymtl3 import Bits, Component

from ..isa.isa import disassemble
from ..iss.outcome import BUBBLES

WIDTH = 26  # of a column: enough for a branch to 0x80000000 with registers of two letters


def line(proc: Component) -> str:
    """Show the five stages after the combinational logic of a cycle has settled."""
    ctrl, dpath = proc.ctrl, proc.dpath
    squashed = bool(ctrl.squash_D)
    columns = [
        _fetch(proc),
        _stage(
            ctrl.val_D,
            dpath.inst_D,
            dpath.pc_D,
            ctrl.bubble_D,
            "~" if squashed else "#" if ctrl.stall_D else "",
        ),
        _stage(ctrl.val_X, dpath.inst_X, dpath.pc_X, ctrl.bubble_X, "#" if ctrl.stall_X else ""),
        _stage(ctrl.val_M, dpath.inst_M, dpath.pc_M, ctrl.bubble_M, "#" if ctrl.stall_M else ""),
        _stage(ctrl.full_W, dpath.inst_W, dpath.pc_W, ctrl.bubble_W, "!" if ctrl.trap_W else ""),
    ]
    return " ".join(f"{cut(column):{WIDTH}}" for column in columns)


def cut(text: str) -> str:
    """Cut a text to the width of a column; a mark shows that it was cut."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def header() -> str:
    """The line above the first one."""
    return " ".join(f"{name:{WIDTH}}" for name in "FDXMW").rstrip()


def _fetch(proc: Component) -> str:
    fetch = proc.fetch
    if not fetch.busy:
        return ""
    dropped = bool(fetch.stale | fetch.redirect_val | fetch.stop)
    mark = "~" if dropped else "#" if fetch.imem_resp.val and not fetch.out_rdy else ""
    return f"{mark}{int(fetch.pc):x}{'' if fetch.imem_resp.val else ' ...'}"


def _stage(full: object, inst: Bits, pc: Bits, bubble: Bits, mark: str) -> str:
    return f"{mark}{disassemble(int(inst), int(pc))}" if full else f"({BUBBLES[int(bubble)]})"
