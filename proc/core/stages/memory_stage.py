"""MemoryStage: pipeline stage M, which waits for the responses of the data memory and the accelerator.

Ports: slot_X and result_X from X; dmem_resp, xcel_resp -> stall_M, fault_M (the memory's error); write_M to
the bypasses; slot and result to W. Area order: 175 flip-flops, of which a chip without commit port needs 85.
"""

from pymtl3 import *
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL

from ....rtl.messages import mk_xcel_resp
from ...isa.causes import LOAD_FAULT, STORE_FAULT
from ..load_store import LoadAlign
from ..messages import *


class MemoryStage(Component):
    def construct(s):
        s.slot_X = InPort(Slot)
        s.result_X = InPort(Result)
        s.dmem_resp = RecvIfcRTL(MemResp)
        s.xcel_resp = RecvIfcRTL(mk_xcel_resp())
        s.stall_M = OutPort()
        s.fault_M = OutPort()
        s.write_M = OutPort(Write)
        s.slot = OutPort(Slot)
        s.result = OutPort(Result)

        s.slot_M = Wire(Slot)
        s.result_M = Wire(Result)

        @update_ff
        def control_M():
            if s.reset:
                s.slot_M <<= Slot(0, 0, 0, 0, 0, MEM_NONE, 0, BUBBLE_START)
            elif ~s.stall_M:
                s.slot_M <<= s.slot_X

        @update_ff
        def data_M():
            if s.slot_X.val:  # bubbles move no data, so the clock can be gated
                s.result_M <<= s.result_X

        s.accept_response()
        s.send_slot()

    def accept_response(s):
        """The response that the instruction waits for, and the value that the instruction writes."""
        s.is_mem = Wire()
        s.is_xcel = Wire()
        s.value = Wire(32)

        @update
        def accept():
            s.is_mem @= (s.slot_M.mem == MEM_LOAD) | (s.slot_M.mem == MEM_STORE)
            s.is_xcel @= s.slot_M.mem == MEM_CSR
            s.dmem_resp.rdy @= s.is_mem
            s.xcel_resp.rdy @= s.is_xcel

        @update
        def stall():
            s.stall_M @= (s.is_mem & ~s.dmem_resp.val) | (s.is_xcel & ~s.xcel_resp.val)
            s.fault_M @= s.is_mem & s.dmem_resp.val & s.dmem_resp.msg.error

        s.load_align = m = LoadAlign()
        m.funct3 //= s.result_M.inst[12:15]
        m.addr //= s.result_M.addr[0:2]
        m.word //= s.dmem_resp.msg.data

        @update
        def select_value():
            s.value @= s.result_M.value
            if s.slot_M.mem == MEM_LOAD:
                s.value @= s.load_align.out
            elif s.is_xcel:
                s.value @= s.xcel_resp.msg.data

        @update
        def bypass():
            s.write_M @= Write(s.slot_M.val & s.slot_M.rf_wen, s.result_M.inst[7:12], s.value)

    def send_slot(s):
        """The slot and the result to W."""

        @update
        def next_slot():
            s.slot @= s.slot_M
            s.slot.val @= s.slot_M.val & ~s.stall_M
            if s.fault_M:
                s.slot.trap @= 1
                s.slot.halt @= 1
                s.slot.cause @= STORE_FAULT
                if s.slot_M.mem == MEM_LOAD:
                    s.slot.cause @= LOAD_FAULT
            if s.stall_M:
                s.slot.bubble @= BUBBLE_DATA_MEMORY
                if s.is_xcel:
                    s.slot.bubble @= BUBBLE_ACCELERATOR

        @update
        def next_result():
            s.result @= s.result_M
            s.result.value @= s.value
            if s.fault_M:  # mtval is the address
                s.result.value @= s.result_M.addr
