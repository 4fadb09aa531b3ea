"""TrapUnit: whether the instruction in X traps, with its cause and its mtval (privileged specification,
section 3.1.15 f.).

All instructions before it are past the point where they could fail, so that traps are precise. The data
memory's error comes later, in M, and halts the machine.

Ports: x, the instruction in X; pc, inst; csr_illegal, jump_misaligned with the target, access_fault with
its address -> trap, cause, value. Combinational; area order: a mux of 5 to 1 over 32 bits.
"""

from pymtl3 import *

from ...isa.causes import *
from ..messages import *


class TrapUnit(Component):
    def construct(s):
        s.x = InPort(Issue)
        s.cs = InPort(Control)
        s.pc = InPort(32)
        s.inst = InPort(32)
        s.csr_illegal = InPort()
        s.jump_misaligned = InPort()
        s.jump_pc = InPort(32)
        s.access_fault = InPort()
        s.addr = InPort(32)
        s.trap = OutPort()
        s.cause = OutPort(4)
        s.value = OutPort(32)

        @update
        def find_trap():
            s.trap @= s.x.val
            s.cause @= ILLEGAL
            s.value @= 0
            if s.x.error:
                s.cause @= FETCH_FAULT
                s.value @= s.pc
            elif ~s.cs.legal | s.csr_illegal:
                s.value @= s.inst
            elif s.jump_misaligned:
                s.cause @= MISALIGNED_FETCH
                s.value @= s.jump_pc
            elif (s.cs.mem == MEM_LOAD) & s.access_fault:
                s.cause @= MISALIGNED_LOAD
                s.value @= s.addr
            elif (s.cs.mem == MEM_STORE) & s.access_fault:
                s.cause @= MISALIGNED_STORE
                s.value @= s.addr
            elif s.cs.system == SYS_ECALL:
                s.cause @= ECALL
            elif s.cs.system == SYS_EBREAK:
                s.cause @= BREAKPOINT
            else:
                s.trap @= 0
