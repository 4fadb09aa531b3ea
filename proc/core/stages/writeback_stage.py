"""WritebackStage: stage W, which writes the register file and reports retired and trapped instructions at
the commit port.

Ports: slot_M and result_M from M -> write_W, commit (messages.Commit), halted. Area order: 175 flip-flops, of
which a chip without commit port needs 41.
"""

from pymtl3 import *

from ..messages import *


class WritebackStage(Component):
    def construct(s):
        s.slot_M = InPort(Slot)
        s.result_M = InPort(Result)
        s.write_W = OutPort(Write)
        s.commit = OutPort(Commit)
        s.halted = OutPort()

        s.slot_W = Wire(Slot)
        s.result_W = Wire(Result)
        s.retires_W = Wire()
        s.rd_W = Wire(5)

        @update_ff
        def control_W():
            if s.reset:
                s.slot_W <<= Slot(0, 0, 0, 0, 0, MEM_NONE, 0, BUBBLE_START)
            else:
                s.slot_W <<= s.slot_M

        @update_ff
        def data_W():
            if s.slot_M.val:
                s.result_W <<= s.result_M

        @update
        def write_back():
            s.retires_W @= s.slot_W.val & ~s.slot_W.trap
            s.rd_W @= s.result_W.inst[7:12]
            s.write_W @= Write(s.retires_W & s.slot_W.rf_wen & (s.rd_W != 0), s.rd_W, s.result_W.value)

        @update
        def commit_slot():
            s.commit @= Commit(
                s.retires_W,
                s.slot_W.val & s.slot_W.trap,
                s.slot_W.val & s.slot_W.halt,
                s.slot_W.stats,
                s.write_W.en,
                s.slot_W.bubble,
                s.slot_W.cause,
                s.rd_W,
                s.result_W.pc,
                s.result_W.inst,
                s.result_W.value,
                s.result_W.addr,
            )
            if s.retires_W & (s.slot_W.mem == MEM_STORE):  # for a fault, data is the address
                s.commit.data @= s.result_W.store

        @update_ff
        def halt():
            if s.reset:
                s.halted <<= 0
            elif s.commit.halt:
                s.halted <<= 1
