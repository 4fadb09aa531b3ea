"""ProcCtrl: which slots of the pipeline are full, which stages wait, what is squashed, where operands come
from.

A stage that waits holds all stages before it, and sends a bubble on. What holds them:
  M  no answer yet of the data memory, or of the accelerator
  X  a product or quotient is not ready; a request to the memory, the accelerator or the manager is not taken
  D  an operand is still being loaded (one cycle behind the load: load_use)
Redirections come from X (taken branch, jalr, trap, mret, fence.i: squash D and F) and from D (jal: squash F).
An instruction traps in X, when all before it are past the point where they could fail; only the data memory's
error comes later, in M,
and it halts the machine. Nothing that can be seen outside leaves X before M is sure of its own.

A bubble carries its reason to W, so that every cycle is accounted for at the commit port.

With `bus`, bus/interrupt_unit.py may hold D as well: what an interrupt takes the place of is decided there.

Ports: status signals from the datapath and the handshakes of its units; enables, bypass selects, squash and
redirect to it.
"""

from pymtl3 import *

from ..isa.causes import *
from .messages import *

# where an operand is taken from in D
REGISTERS, BYPASS_X, BYPASS_M, BYPASS_W = range(4)


class ProcCtrl(Component):
    def construct(s, bus=None):
        Decoded = mk_decoded()

        # ---- F and D
        s.fetch_val = InPort()
        s.fetch_rdy = OutPort()
        s.fetch_error = InPort()
        s.fetch_fresh = InPort()
        s.inst_D = InPort(32)
        s.decoded = InPort(Decoded)
        s.target_misaligned_D = InPort()
        s.mul_req_val = OutPort()
        s.mul_req_rdy = InPort()
        s.div_req_val = OutPort()
        s.div_req_rdy = InPort()
        s.bypass_D = [OutPort(2) for _ in range(2)]
        s.redirect_D = OutPort()
        # ---- X
        s.decoded_X = OutPort(Decoded)
        s.enable_X = OutPort()
        s.branch_taken_X = InPort()
        s.target_misaligned_X = InPort()
        s.access_misaligned_X = InPort()
        s.csr_illegal_X = InPort()
        s.csr_from_manager_X = InPort()
        s.csr_to_manager_X = InPort()
        s.csr_to_xcel_X = InPort()
        s.has_handler = InPort()  # mtvec is set
        s.mul_resp_val = InPort()
        s.mul_resp_rdy = OutPort()
        s.div_resp_val = InPort()
        s.div_resp_rdy = OutPort()
        s.dmem_req_val = OutPort()
        s.dmem_req_rdy = InPort()
        s.xcel_req_val = OutPort()
        s.xcel_req_rdy = InPort()
        s.mngr2proc_val = InPort()
        s.mngr2proc_rdy = OutPort()
        s.proc2mngr_val = OutPort()
        s.proc2mngr_rdy = InPort()
        s.redirect_X = OutPort()
        s.trap_X = OutPort()  # the instruction leaves X by a trap
        s.cause_X = OutPort(4)
        s.csr_go = OutPort()
        s.retire_X = OutPort()
        s.stop = OutPort()
        # ---- M
        s.enable_M = OutPort()
        s.is_load_M = OutPort()
        s.is_xcel_M = OutPort()
        s.dmem_resp_val = InPort()
        s.dmem_resp_rdy = OutPort()
        s.dmem_resp_error = InPort()
        s.xcel_resp_val = InPort()
        s.xcel_resp_rdy = OutPort()
        s.fault_M = OutPort()
        s.enable_W = OutPort()
        # ---- W
        s.stats_en = InPort()
        s.val_W = OutPort()
        s.trap_W = OutPort()
        s.halt_W = OutPort()
        s.stats_W = OutPort()
        s.wen_W = OutPort()
        s.is_store_W = OutPort()
        s.rd_W = OutPort(5)
        s.cause_W = OutPort(4)
        s.bubble_W = OutPort(BUBBLE_NBITS)
        s.halted = OutPort()

        s.stall_D = Wire()
        s.stall_X = Wire()
        s.stall_M = Wire()
        s.squash_D = Wire()

        # ================ D

        s.val_D = Wire()
        s.error_D = Wire()
        s.bubble_D = Wire(BUBBLE_NBITS)
        s.rs = [Wire(5) for _ in range(2)]
        s.uses = [Wire() for _ in range(2)]
        s.rs[0] //= s.inst_D[15:20]
        s.rs[1] //= s.inst_D[20:25]

        @update
        def uses_registers():
            s.uses[0] @= s.val_D & s.decoded.uses_rs1 & (s.rs[0] != 0)
            s.uses[1] @= s.val_D & s.decoded.uses_rs2 & (s.rs[1] != 0)

        s.in_X = [Wire() for _ in range(2)]  # the operand is what X, M, W will write
        s.in_M = [Wire() for _ in range(2)]
        s.in_W = [Wire() for _ in range(2)]
        s.load_use = Wire()

        @update
        def find_writers():
            for i in range(2):
                s.in_X[i] @= s.uses[i] & s.val_X & s.decoded_X.writes_rd & (s.rd_X == s.rs[i])
                s.in_M[i] @= s.uses[i] & s.val_M & s.writes_M & (s.rd_M == s.rs[i])
                s.in_W[i] @= s.uses[i] & s.wen_W & (s.rd_W == s.rs[i])

        @update
        def bypass():
            for i in range(2):
                if s.in_X[i]:
                    s.bypass_D[i] @= BYPASS_X
                elif s.in_M[i]:
                    s.bypass_D[i] @= BYPASS_M
                elif s.in_W[i]:
                    s.bypass_D[i] @= BYPASS_W
                else:
                    s.bypass_D[i] @= REGISTERS

        @update
        def loads():
            s.load_use @= (s.in_X[0] | s.in_X[1]) & s.late_X

        s.is_mul_D = Wire()
        s.is_div_D = Wire()
        s.leaves_D = Wire()  # nothing but the multiplier or divider could hold it

        @update
        def to_units():
            s.is_mul_D @= s.val_D & ~s.error_D & s.decoded.legal & (s.decoded.result == FROM_MUL)
            s.is_div_D @= s.val_D & ~s.error_D & s.decoded.legal & (s.decoded.result == FROM_DIV)

        @update
        def request_units():
            s.leaves_D @= ~s.stall_X & ~s.load_use & ~s.squash_D
            s.mul_req_val @= s.is_mul_D & s.leaves_D
            s.div_req_val @= s.is_div_D & s.leaves_D

        s.hold_D = Wire()
        s.hold_reason_D = Wire(BUBBLE_NBITS)

        if bus:
            s.fetched_D = OutPort()  # there is an instruction in D
            s.is_csr_instruction_X = OutPort()
            s.waits_D = InPort()
            s.wait_reason_D = InPort(BUBBLE_NBITS)

            @update
            def tell_interrupts():
                s.fetched_D @= s.val_D & ~s.error_D
                s.is_csr_instruction_X @= s.is_csr_X

            @update
            def hold_or_wait_in_D():
                s.hold_D @= (
                    s.waits_D | s.load_use | (s.is_mul_D & ~s.mul_req_rdy) | (s.is_div_D & ~s.div_req_rdy)
                )
                s.hold_reason_D @= BUBBLE_DIVIDER
                if s.waits_D:
                    s.hold_reason_D @= s.wait_reason_D
                elif s.load_use:
                    s.hold_reason_D @= BUBBLE_LOAD_USE
                elif s.is_mul_D:
                    s.hold_reason_D @= BUBBLE_MULTIPLIER

        else:

            @update
            def hold_in_D():
                s.hold_D @= s.load_use | (s.is_mul_D & ~s.mul_req_rdy) | (s.is_div_D & ~s.div_req_rdy)
                if s.load_use:
                    s.hold_reason_D @= BUBBLE_LOAD_USE
                elif s.is_mul_D:
                    s.hold_reason_D @= BUBBLE_MULTIPLIER
                else:
                    s.hold_reason_D @= BUBBLE_DIVIDER

        @update
        def stall_in_D():
            s.stall_D @= s.stall_X | s.hold_D
            s.fetch_rdy @= ~s.stall_D

        @update
        def jump_in_D():
            s.redirect_D @= (
                s.val_D
                & ~s.error_D
                & (s.decoded.transfer == TO_JAL)
                & ~s.target_misaligned_D
                & ~s.stall_D
                & ~s.squash_D
            )

        @update_ff
        def register_D():
            if s.reset:
                s.val_D <<= 0
                s.error_D <<= 0
                s.bubble_D <<= BUBBLE_START
            elif s.squash_D:
                s.val_D <<= 0
                s.bubble_D <<= s.squash_reason
            elif ~s.stall_D:
                s.val_D <<= s.fetch_val
                s.error_D <<= s.fetch_error
                if s.redirect_D:
                    s.bubble_D <<= BUBBLE_BRANCH
                elif s.fetch_fresh:
                    s.bubble_D <<= BUBBLE_START
                else:
                    s.bubble_D <<= BUBBLE_FETCH

        # ================ X

        s.val_X = Wire()
        s.error_X = Wire()
        s.bubble_X = Wire(BUBBLE_NBITS)
        s.rd_X = Wire(5)

        @update_ff
        def register_X():
            if s.reset:
                s.val_X <<= 0
                s.error_X <<= 0
                s.bubble_X <<= BUBBLE_START
            elif s.stop:
                s.val_X <<= 0
                s.bubble_X <<= BUBBLE_FLUSH
            elif ~s.stall_X:
                s.val_X <<= s.val_D & ~s.hold_D & ~s.squash_D
                s.error_X <<= s.error_D
                s.decoded_X <<= s.decoded
                s.rd_X <<= s.inst_D[7:12]
                if s.squash_D:
                    s.bubble_X <<= s.squash_reason
                elif s.val_D:
                    s.bubble_X <<= s.hold_reason_D
                else:
                    s.bubble_X <<= s.bubble_D

        s.is_csr_X = Wire()
        s.to_xcel_X = Wire()
        s.from_manager_X = Wire()
        s.to_manager_X = Wire()
        s.late_X = Wire()  # the value for rd is known in M only

        @update
        def classify_X():
            s.is_csr_X @= s.val_X & ~s.error_X & (s.decoded_X.system == SYS_CSR)
            s.to_xcel_X @= s.is_csr_X & s.csr_to_xcel_X
            s.from_manager_X @= s.is_csr_X & s.csr_from_manager_X
            s.to_manager_X @= s.is_csr_X & s.csr_to_manager_X
            s.late_X @= (s.decoded_X.memory == MEM_LOAD) | s.to_xcel_X

        s.traps_X = Wire()
        s.jumps_X = Wire()

        @update
        def transfer_X():
            s.jumps_X @= (s.decoded_X.transfer == TO_JALR) | (
                (s.decoded_X.transfer == TO_BRANCH) & s.branch_taken_X
            )

        s.jump_faults_X = Wire()

        @update
        def find_trap():
            s.jump_faults_X @= (s.jumps_X | (s.decoded_X.transfer == TO_JAL)) & s.target_misaligned_X
            s.traps_X @= s.val_X
            s.cause_X @= ILLEGAL
            if s.error_X:
                s.cause_X @= FETCH_FAULT
            elif ~s.decoded_X.legal | (s.is_csr_X & s.csr_illegal_X):
                s.cause_X @= ILLEGAL
            elif s.jump_faults_X:
                s.cause_X @= MISALIGNED_FETCH
            elif (s.decoded_X.memory == MEM_LOAD) & s.access_misaligned_X:
                s.cause_X @= MISALIGNED_LOAD
            elif (s.decoded_X.memory == MEM_STORE) & s.access_misaligned_X:
                s.cause_X @= MISALIGNED_STORE
            elif s.decoded_X.system == SYS_ECALL:
                s.cause_X @= ECALL
            elif s.decoded_X.system == SYS_EBREAK:
                s.cause_X @= BREAKPOINT
            else:
                s.traps_X @= 0

        s.may_act_X = Wire()  # nothing before it can fail any more
        s.is_memory_X = Wire()
        s.wait_X = Wire()
        s.wait_reason_X = Wire(BUBBLE_NBITS)

        @update
        def may_act():
            s.may_act_X @= s.val_X & ~s.traps_X & ~s.stall_M & ~s.fault_M
            s.is_memory_X @= s.decoded_X.memory != MEM_NONE

        @update
        def requests_X():
            s.dmem_req_val @= s.may_act_X & s.is_memory_X
            s.xcel_req_val @= s.may_act_X & s.to_xcel_X
            s.proc2mngr_val @= s.may_act_X & s.to_manager_X
            s.mngr2proc_rdy @= s.may_act_X & s.from_manager_X
            s.mul_resp_rdy @= s.may_act_X & (s.decoded_X.result == FROM_MUL)
            s.div_resp_rdy @= s.may_act_X & (s.decoded_X.result == FROM_DIV)

        @update
        def wait_in_X():
            s.wait_X @= 0
            s.wait_reason_X @= BUBBLE_DATA_MEMORY
            if s.val_X & ~s.traps_X:
                if s.decoded_X.result == FROM_MUL:
                    s.wait_X @= ~s.mul_resp_val
                    s.wait_reason_X @= BUBBLE_MULTIPLIER
                elif s.decoded_X.result == FROM_DIV:
                    s.wait_X @= ~s.div_resp_val
                    s.wait_reason_X @= BUBBLE_DIVIDER
                elif s.to_xcel_X:
                    s.wait_X @= ~s.xcel_req_rdy
                    s.wait_reason_X @= BUBBLE_ACCELERATOR
                elif s.from_manager_X:
                    s.wait_X @= ~s.mngr2proc_val
                    s.wait_reason_X @= BUBBLE_MANAGER
                elif s.to_manager_X:
                    s.wait_X @= ~s.proc2mngr_rdy
                    s.wait_reason_X @= BUBBLE_MANAGER
                elif s.is_memory_X:
                    s.wait_X @= ~s.dmem_req_rdy

        @update
        def stall_in_X():
            s.stall_X @= s.stall_M | s.wait_X
            s.enable_X @= ~s.stall_X

        s.goes_on_X = Wire()  # an instruction leaves X, and M does not halt the machine
        s.halts_X = Wire()
        s.flushes_X = Wire()

        @update
        def leave():
            s.goes_on_X @= s.val_X & ~s.stall_X & ~s.fault_M
            s.enable_M @= s.goes_on_X
            s.retire_X @= s.goes_on_X & ~s.traps_X
            s.trap_X @= s.goes_on_X & s.traps_X
            s.csr_go @= s.goes_on_X & ~s.traps_X & s.is_csr_X

        @update
        def redirect():
            s.halts_X @= s.trap_X & ~s.has_handler
            s.flushes_X @= (s.trap_X & s.has_handler) | (
                s.retire_X & ((s.decoded_X.system == SYS_MRET) | (s.decoded_X.system == SYS_FENCE_I))
            )
            s.redirect_X @= s.flushes_X | (s.retire_X & s.jumps_X)

        s.halting = Wire()
        s.squash_reason = Wire(BUBBLE_NBITS)

        @update
        def squash():
            s.stop @= s.halts_X | s.fault_M | s.halting
            s.squash_D @= s.redirect_X | s.stop
            s.squash_reason @= BUBBLE_BRANCH
            if s.flushes_X:
                s.squash_reason @= BUBBLE_FLUSH

        @update_ff
        def halting_state():
            if s.reset:
                s.halting <<= 0
            else:
                s.halting <<= s.stop

        # ================ M

        s.val_M = Wire()  # of an instruction that retires or traps
        s.trap_M = Wire()
        s.halt_M = Wire()
        s.stats_M = Wire()
        s.writes_M = Wire()
        s.memory_M = Wire(2)
        s.rd_M = Wire(5)
        s.cause_M = Wire(4)
        s.bubble_M = Wire(BUBBLE_NBITS)
        s.accesses_M = Wire()

        @update_ff
        def register_M():
            if s.reset:
                s.val_M <<= 0
                s.memory_M <<= MEM_NONE
                s.is_xcel_M <<= 0
                s.stats_M <<= 0
                s.bubble_M <<= BUBBLE_START
            elif ~s.stall_M:
                s.val_M <<= s.goes_on_X
                s.trap_M <<= s.traps_X
                s.halt_M <<= s.halts_X
                s.stats_M <<= s.stats_en
                s.writes_M <<= s.decoded_X.writes_rd & ~s.traps_X
                s.memory_M <<= MEM_NONE
                if s.retire_X:
                    s.memory_M <<= s.decoded_X.memory
                s.is_xcel_M <<= s.retire_X & s.to_xcel_X
                s.rd_M <<= s.rd_X
                s.cause_M <<= s.cause_X
                if s.fault_M:
                    s.bubble_M <<= BUBBLE_FLUSH
                elif s.val_X:
                    s.bubble_M <<= s.wait_reason_X
                else:
                    s.bubble_M <<= s.bubble_X

        @update
        def access_M():
            s.accesses_M @= s.memory_M != MEM_NONE
            s.is_load_M @= s.memory_M == MEM_LOAD
            s.dmem_resp_rdy @= s.accesses_M
            s.xcel_resp_rdy @= s.is_xcel_M

        @update
        def stall_in_M():
            s.stall_M @= (s.accesses_M & ~s.dmem_resp_val) | (s.is_xcel_M & ~s.xcel_resp_val)
            s.enable_W @= s.val_M & ~s.stall_M
            s.fault_M @= s.accesses_M & s.dmem_resp_val & s.dmem_resp_error

        # ================ W

        s.writes_W = Wire()
        s.memory_W = Wire(2)
        s.full_W = Wire()

        @update_ff
        def register_W():
            if s.reset:
                s.full_W <<= 0
                s.trap_W <<= 0
                s.halt_W <<= 0
                s.bubble_W <<= BUBBLE_START
                s.stats_W <<= 0
            else:
                s.full_W <<= s.val_M & ~s.stall_M
                s.trap_W <<= s.val_M & ~s.stall_M & (s.trap_M | s.fault_M)
                s.halt_W <<= s.val_M & ~s.stall_M & ((s.trap_M & s.halt_M) | s.fault_M)
                s.stats_W <<= s.stats_M
                s.writes_W <<= s.writes_M & ~s.fault_M
                s.memory_W <<= s.memory_M
                s.rd_W <<= s.rd_M
                s.cause_W <<= s.cause_M
                if s.fault_M:
                    s.cause_W <<= STORE_FAULT
                    if s.is_load_M:
                        s.cause_W <<= LOAD_FAULT
                s.bubble_W <<= s.bubble_M
                if s.stall_M:
                    s.bubble_W <<= BUBBLE_DATA_MEMORY
                    if s.is_xcel_M:
                        s.bubble_W <<= BUBBLE_ACCELERATOR

        @update
        def commit():
            s.val_W @= s.full_W & ~s.trap_W
            s.is_store_W @= (s.memory_W == MEM_STORE) & ~s.trap_W  # a fault reports its address

        @update
        def write_back():
            s.wen_W @= s.full_W & ~s.trap_W & s.writes_W & (s.rd_W != 0)

        @update_ff
        def halted_state():
            if s.reset:
                s.halted <<= 0
            elif s.halt_W:
                s.halted <<= 1
