"""Sequencer: the controller of a ProgramExp (program_exp.py), which executes the microinstructions of a ROM.

The ROM is read at three addresses, by three copies:

    rom        pc         inst        the microinstruction that executes
    next_rom   next_pc    next_inst   its successor, which is entered when `inst_done` is 1
    ahead_rom  ahead_pc   ahead_inst  the one of the two that executes in the next cycle

A microinstruction ends (`inst_done`) with the last of its products or its conversion, or else after one
cycle. The products of its successor are issued one cycle later. With `forward` they are issued in the same
cycle, with factors from the inputs of the registers, unless the modulus changes (`no_forward`).

A scan reads the whole table, an entry a cycle, from the cycle after it starts. The datapath loads the entry
of the exponent's digit into s. Microinstructions that read s wait for the end of the scan.

After reset a program with a key overwrites registers and memory as it does when it refuses a request, without
an answer (`resetting`).

Ports: the handshakes of the two streams, of the product units and of the converter; DpathIfc to ResidueDpath.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS, Status
from ..messages import connect_fields
from ..mod_exp.product_issue import ProductIssue
from ..units.serial_ctrl import declare_handshakes
from .exponent_register import ExponentIfc
from .micro_rom import MicroRom


class DpathIfc(Interface):
    """Control and status signals between Sequencer and ResidueDpath. Control and State are the port types, In
    and Out at one end, Out and In at the other.
    """

    def construct(s, microcode, Control, State):
        program = microcode.program
        s.inst = Control(microcode.inst_type)
        if len(microcode.sources["convert_from"]) > 1:
            s.next_inst = Control(microcode.inst_type)
        if microcode.reads_ahead:
            s.ahead_inst = Control(microcode.inst_type)
        s.inst_done = Control()  # last cycle of the microinstruction
        s.product_val = Control(microcode.nproducts)  # one bit per product that arrives in this cycle
        if microcode.shares_unit:
            s.second = Control()  # the unit's request is product 1, not product 0
        if microcode.reads_one:
            s.refuse = Control()  # the request is rejected
        s.load_modulus = Control()

        s.exponent = ExponentIfc(microcode, Control, State)
        if program.depth:
            s.store = Control()
            s.index = Control(microcode.index_nbits)
        if microcode.scans_table:
            s.scan_start = Control()
            s.scan_busy = State()

        if microcode.has_comparator:
            s.equal = State()
        if program.verified:
            s.equal_at_end = State()
            s.released = Control()


class RepeatCounter(Component):
    """Counts the repetitions of a microinstruction.

    Ports: advance, a microinstruction is entered; again, it is the same one; first, the start value -> index.
    """

    def construct(s, nbits):
        s.advance = InPort()
        s.again = InPort()
        s.first = InPort(nbits)
        s.index = OutPort(nbits)

        @update_ff
        def count():
            if s.advance:
                s.index <<= s.first
                if s.again:
                    s.index <<= s.index + 1


class ReleaseCheck(Component):
    """Releases a result that passed its check and is equal in two registers; answers FAULT for any other.

    A fault in the program counter, whose inverse is kept here, withdraws the check: a jump behind the check
    could fetch two equal numbers that are no result.

    Ports: the program counter; accept (of a request), check_passed, equal, status -> released, out_status.
    """

    def construct(s, pc_nbits):
        s.pc = InPort(pc_nbits)
        s.advance = InPort()
        s.next_pc = InPort(pc_nbits)
        s.accept = InPort()
        s.check_passed = InPort()
        s.equal = InPort()
        s.status = InPort(STATUS_NBITS)
        s.released = OutPort()
        s.out_status = OutPort(STATUS_NBITS)
        FAULT = Status.FAULT
        ALL_ONES = mk_bits(pc_nbits)(-1)
        s.inverse = Wire(pc_nbits)
        s.checked = Wire()
        s.assertions = {"InverseOfPc": "inverse == ~pc"}

        # countermeasure INVERSE_PC: an inverse of the program counter reveals a jump past the check
        @update_ff
        def inverse_of_program_counter():
            if s.reset:
                s.inverse <<= ALL_ONES
            elif s.advance:
                s.inverse <<= ~s.next_pc

        @update_ff
        def remember_check():
            if s.accept | (s.pc ^ s.inverse != ALL_ONES):
                s.checked <<= 0
            elif s.check_passed:
                s.checked <<= 1

        # countermeasure RESULT_CHECK: a result that did not pass its check is answered with FAULT
        @update
        def release_result():
            s.released @= s.checked & s.equal & (s.status == 0)
            s.out_status @= s.status
            if (s.status == 0) & ~s.released:
                s.out_status @= FAULT


class Sequencer(Component):
    """The controller of a programmed machine, which executes the microinstructions of a ROM."""

    def construct(s, microcode):
        declare_handshakes(s, STATUS_NBITS)
        s.req_val = OutPort(1)
        s.req_rdy = InPort(1)
        s.resp_val = InPort(1)
        s.convert_done = InPort()
        if microcode.has_converter:
            s.convert_val = OutPort()
        if microcode.scaled:
            s.convert_kind = OutPort(2)
        s.dpath = DpathIfc(microcode, OutPort, InPort)

        s.pc = Wire(microcode.pc_nbits)
        s.next_pc = Wire(microcode.pc_nbits)
        s.chosen_pc = Wire(microcode.pc_nbits)  # next_pc if the request is not rejected
        s.advance = Wire()  # pc becomes next_pc
        s.accept = Wire()
        s.refuse = Wire()
        s.again = Wire()
        s.unequal = Wire()
        s.status = Wire(STATUS_NBITS)

        s.read_rom(microcode)
        s.issue = ProductIssue(microcode.nproducts, 1, microcode.scans_table)  # sends factors to the units
        if microcode.has_counter:
            s.repetition = RepeatCounter(microcode.index_nbits)  # of the microinstruction that executes
        s.accept_request(microcode)
        s.send_products(microcode)
        s.end_inst(microcode)
        s.choose_next(microcode)
        s.count_repetitions(microcode)
        s.access_memory(microcode)
        s.answer(microcode)

        @update_ff
        def program_counter():
            if s.reset:
                s.pc <<= 0
            elif s.advance:
                s.pc <<= s.next_pc

    def read_rom(s, microcode):
        """Connect the three copies of the ROM."""
        s.inst = Wire(microcode.inst_type)
        s.rom = MicroRom(microcode)  # the microinstruction that executes
        s.rom.pc //= s.pc
        s.rom.inst //= s.inst
        s.inst //= s.dpath.inst
        s.next_inst = Wire(microcode.inst_type)
        s.next_rom = MicroRom(microcode)  # its successor, entered when inst_done is 1
        s.next_rom.pc //= s.next_pc
        s.next_rom.inst //= s.next_inst
        if len(microcode.sources["convert_from"]) > 1:
            s.next_inst //= s.dpath.next_inst
        if microcode.by_bit:
            s.rom.exponent_bit //= s.dpath.exponent.current_bit
            s.next_rom.exponent_bit //= s.dpath.exponent.next_bit
        if microcode.reads_ahead:
            s.ahead_pc = Wire(microcode.pc_nbits)
            s.ahead_inst = Wire(microcode.inst_type)
            s.ahead_rom = MicroRom(microcode)  # the one that executes in the next cycle
            s.ahead_rom.pc //= s.ahead_pc
            s.ahead_rom.inst //= s.ahead_inst
            s.ahead_inst //= s.dpath.ahead_inst

            @update
            def address_ahead():
                s.ahead_pc @= s.pc
                if s.advance:
                    s.ahead_pc @= s.chosen_pc

            if microcode.by_bit:
                s.ahead_bit = Wire()
                s.ahead_rom.exponent_bit //= s.ahead_bit

                @update
                def exponent_ahead_bit():
                    s.ahead_bit @= s.dpath.exponent.current_bit
                    if s.advance:
                        s.ahead_bit @= s.dpath.exponent.next_bit

    def accept_request(s, microcode):
        if microcode.program.wipes_when_refused:
            s.overwrite_after_reset()
        else:

            @update
            def request():
                s.istream_rdy @= s.inst.accept
                s.accept @= s.inst.accept & s.istream_val
                s.refuse @= s.accept & (s.in_status != 0)

        if microcode.reads_one:
            s.dpath.refuse //= s.refuse

    def overwrite_after_reset(s):
        """Begin as if a request were refused, so that nothing of a key stays in the machine."""
        s.resetting = Wire()

        @update_ff
        def until_the_answer():
            if s.reset:
                s.resetting <<= 1
            elif s.inst.answer:
                s.resetting <<= 0

        # countermeasure RESET_OVERWRITE: after reset the program wipes before it accepts a request
        @update
        def request_after_reset():
            s.istream_rdy @= s.inst.accept & ~s.resetting
            s.accept @= s.istream_rdy & s.istream_val
            s.refuse @= (s.accept & (s.in_status != 0)) | (s.inst.needs_request & s.resetting)

        @update
        def answer_after_reset():
            s.ostream_val @= s.inst.answer & ~s.resetting

    def send_products(s, microcode):
        """Issue the products of the next microinstruction, and start its conversion."""
        s.issue.products //= s.next_inst.products
        connect_fields(s.issue, s, "advance", "req_val", "req_rdy", "resp_val")
        s.issue.product_val //= s.dpath.product_val
        if microcode.shares_unit:
            s.issue.second //= s.dpath.second

        if microcode.shape.forward:

            @update
            def forwards_products():
                s.issue.send_now @= s.advance & ~s.inst.no_forward

        else:
            s.issue.send_now //= 0

        if microcode.scans_table:
            s.sends_entry = Wire()
            s.sends_entry //= (s.ahead_inst if microcode.shape.forward else s.inst).sends_entry

            @update
            def holds_for_scan():
                s.issue.stall @= s.sends_entry & s.dpath.scan_busy

        if microcode.has_converter:

            @update
            def conversion():
                s.convert_val @= s.advance & s.next_inst.convert

        if microcode.scaled:
            s.convert_kind //= s.next_inst.convert_kind

    def end_inst(s, microcode):
        """Find the end of a microinstruction, and enable the loads that happen there, in separate blocks, so
        that no tool sees a loop from inst_done over the exponent to advance.
        """
        s.one_cycle_done = Wire()
        if microcode.scans_table:

            @update
            def passes_without_a_scan():
                s.one_cycle_done @= s.inst.one_cycle & ~(s.inst.reads_entry & s.dpath.scan_busy)

        else:
            s.one_cycle_done //= s.inst.one_cycle

        s.assert_ends(microcode)
        if microcode.program.wipes_when_refused:

            @update
            def end_of_word_or_reset():
                s.dpath.inst_done @= (
                    (s.inst.needs_request & (s.istream_val | s.resetting))
                    | s.issue.done
                    | s.convert_done
                    | s.one_cycle_done
                    | (s.inst.answer & (s.ostream_rdy | s.resetting))
                )

        else:

            @update
            def end_of_word():
                s.dpath.inst_done @= (
                    (s.inst.needs_request & s.istream_val)
                    | s.issue.done
                    | s.convert_done
                    | s.one_cycle_done
                    | (s.inst.answer & s.ostream_rdy)
                )

        @update
        def loads_and_shift():
            s.dpath.exponent.load @= s.dpath.inst_done & s.inst.load_exponent
            s.dpath.load_modulus @= s.dpath.inst_done & s.inst.load_modulus
            s.dpath.exponent.shift @= s.dpath.inst_done & s.inst.next_digit

        if microcode.blinds_exponent:

            @update
            def blind():
                s.dpath.exponent.load_random @= s.dpath.inst_done & s.inst.load_random
                s.dpath.exponent.blind_step @= s.dpath.inst_done & s.inst.blind_step

    def assert_ends(s, microcode):
        """A microinstruction ends in one way, and its fields have known codes."""
        ends = [
            f"inst.{name}"
            for name in ("needs_request", "answer", "one_cycle")
            if name not in microcode.constants
        ]
        ends += ["issue__done", *["convert_done"] * microcode.has_converter]
        s.assertions = {"EndsInOneWay": " + ".join(f"32'({end})" for end in ends) + " <= 1"}
        ranges = {"pc": len(microcode.words)}
        for field in microcode.fields:
            if field.name not in microcode.constants:
                ranges[f"inst.{field.name}"] = len(field.labels)
        if found := [f"{name} < {count}" for name, count in ranges.items() if count & (count - 1)]:
            s.assertions |= {"CodesAreKnown": " && ".join(found)}

    def choose_next(s, microcode):
        FAILURE = mk_bits(microcode.pc_nbits)(microcode.program.failure)
        ALIGN = mk_bits(microcode.pc_nbits)(microcode.align_pc or 0)
        s.enter_align = Wire()

        # leading zeros are shifted out in every cycle from the request to the microinstruction that aligns
        if microcode.align_pc:

            @update
            def align():
                s.dpath.exponent.align @= (s.pc <= ALIGN) & ~s.inst.needs_request

            @update
            def enter_by_aligning():
                s.enter_align @= (
                    s.inst.in_loop & ~s.inst.next_digit & ~s.inst.align & ~s.dpath.exponent.next_aligned
                )

            @update
            def advance_when_aligned():
                s.advance @= s.dpath.inst_done | (s.inst.align & s.dpath.exponent.next_aligned)

        else:
            s.enter_align //= 0
            s.advance //= s.dpath.inst_done

        @update
        def next_address():
            s.chosen_pc @= s.inst.target
            if s.again:
                s.chosen_pc @= s.pc
            elif s.enter_align:
                s.chosen_pc @= ALIGN
            elif s.inst.in_loop & s.dpath.exponent.next_finished:
                s.chosen_pc @= s.inst.loop_exit

        # A refused request jumps to a microinstruction without a product. Factors are selected as if it had
        # been accepted, which keeps the comparison of the operands off the critical path.
        if not microcode.program.public:

            @update
            def next_address_or_refusal():
                s.next_pc @= s.chosen_pc
                if s.refuse | s.unequal:
                    s.next_pc @= FAILURE

            return
        s.public = InPort()  # the request has a public exponent
        PUBLIC = mk_bits(microcode.pc_nbits)(microcode.program.public)

        # neither microinstruction issues a product, so that it may be late as well
        @update
        def next_address_by_request():
            s.next_pc @= s.chosen_pc
            if s.refuse | s.unequal:
                s.next_pc @= FAILURE
            elif s.inst.ask & s.public:
                s.next_pc @= PUBLIC

    def count_repetitions(s, microcode):
        if microcode.has_counter:
            s.repetition.advance //= s.advance
            s.repetition.again //= s.again
            s.repetition.first //= s.next_inst.first_index
        if not microcode.has_repeats:
            s.again //= 0
            return
        s.last_index = Wire(microcode.index_nbits)
        s.more = Wire()
        if microcode.program.sliding:

            @update
            def end_of_repetition():
                s.last_index @= s.inst.last_index
                if s.inst.to_window_end:
                    s.last_index @= s.dpath.exponent.window_nbits

        else:
            s.last_index //= s.inst.last_index

        if microcode.skips_blocks:

            @update
            def more_repetitions_or_blocks():
                s.dpath.exponent.skip @= s.inst.skip & s.dpath.exponent.can_skip
                s.more @= s.repetition.index != s.last_index
                if s.inst.skip:
                    s.more @= s.dpath.exponent.can_skip

        else:

            @update
            def more_repetitions():
                s.more @= s.repetition.index != s.last_index

        @update
        def repeat_word():
            s.again @= s.inst.repeats & s.more

    def access_memory(s, microcode):
        if microcode.program.depth:
            s.dpath.index //= s.repetition.index
            s.first = Wire()  # first cycle of the microinstruction

            @update_ff
            def first_cycle():
                s.first <<= s.advance

            if microcode.stores_fields:
                # a field of the request is stored while the request is valid
                @update
                def store_field():
                    s.dpath.store @= s.inst.write & (s.istream_val if s.inst.needs_request else s.first)

            else:

                @update
                def store():
                    s.dpath.store @= s.inst.write & s.first

        if microcode.scans_table:

            @update
            def start_scan():
                s.dpath.scan_start @= s.advance & s.next_inst.start_scan & ~s.again

    def answer(s, microcode):
        """The status, and the result's handshake."""
        if not microcode.program.wipes_when_refused:
            s.ostream_val //= s.inst.answer
        if microcode.has_comparator:

            @update
            def compare():
                s.unequal @= s.inst.compare & s.dpath.inst_done & ~s.dpath.equal

            @update_ff
            def status_register():
                if s.accept:
                    s.status <<= s.in_status
                elif s.unequal:
                    s.status <<= s.inst.fail

        else:
            s.unequal //= 0

            @update_ff
            def status_of_request():
                if s.accept:
                    s.status <<= s.in_status

        if microcode.program.verified:
            s.release_check = ReleaseCheck(microcode.pc_nbits)
            connect_fields(s.release_check, s, "pc", "advance", "next_pc", "accept", "status", "out_status")
            s.release_check.equal //= s.dpath.equal_at_end
            s.release_check.released //= s.dpath.released

            @update
            def pass_check():
                s.release_check.check_passed @= s.dpath.inst_done & s.inst.release_result & s.dpath.equal

        else:
            s.out_status //= s.status
