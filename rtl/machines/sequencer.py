"""Sequencer: the controller of a ProgramExp (program_exp.py), which executes the microinstructions of a ROM.

Products of a microinstruction are sent when it is entered. With `forward` that is the cycle in which the one
before ends, and factors are the inputs of the registers, unless that one changes the modulus, which the units
see from the next cycle on. Otherwise it is the cycle after. So the ROM is read at three addresses: `pc`, the
microinstruction that executes; `next_pc`, the one that follows when it ends; and `ahead_pc`, the one of them
that executes after this cycle. A microinstruction without product and conversion takes a cycle.

A scan reads the whole table, an entry a cycle, from the cycle after it starts. The datapath keeps the entry
of the exponent's digit in s. Microinstructions that read s wait for the end of the scan.

Ports: the handshakes of the two streams, of the product units and of the converter; DpathIfc to ResidueDpath.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS, Status
from ..units.serial_ctrl import declare_handshakes
from .exponent_register import ExponentIfc
from .micro_rom import MicroRom


class DpathIfc(Interface):
    """Wires between Sequencer and ResidueDpath: Control to the datapath, State from it."""

    def construct(s, code, Control, State):
        program = code.program
        s.word = Control(code.word_type)
        if len(code.sources["convert_from"]) > 1:
            s.next_word = Control(code.word_type)
        if code.reads_ahead:
            s.ahead_word = Control(code.word_type)
        s.ends = Control()  # the microinstruction, unless it aligns
        s.arrives = Control(code.nproducts)  # product by product
        if code.in_order:
            s.second = Control()  # the unit's request is product 1, not product 0
        if code.reads_one or program.given:
            s.refuse = Control()  # a request
        s.load_modulus = Control()

        s.exponent = ExponentIfc(code, Control, State)
        if program.depth:
            s.store = Control()
            s.index = Control(code.index_nbits)
        if code.scans:
            s.scan_start = Control()
            s.scan_busy = State()

        if code.compares:
            s.equal = State()
        if program.verified:
            s.equal_at_end = State()
            s.released = Control()


class ProductIssue(Component):
    """Scoreboard of a microinstruction's products: those still to send, and those under way.

    Products side by side have a unit each; one unit gets and answers them in order.

    Ports: makes, the products of the next microinstruction; advance, it is entered; forwards, its products
    are sent at once; holds, none is sent; handshakes of the units -> arrives, product by product; done, with
    the last of them; second, the unit's request is product 1.
    """

    def construct(s, nproducts, nunits):
        s.makes = InPort(nproducts)
        s.advance = InPort()
        s.forwards = InPort()
        s.holds = InPort()
        s.req_val = OutPort(nunits)
        s.req_rdy = InPort(nunits)
        s.resp_val = InPort(nunits)
        s.arrives = OutPort(nproducts)
        s.done = OutPort()

        s.unsent = Wire(nproducts)
        s.awaited = Wire(nproducts)
        s.send = Wire(nproducts)
        s.sent = Wire(nproducts)

        @update
        def products_to_send():
            s.send @= s.unsent
            if s.forwards:
                s.send @= s.makes
            if s.holds:
                s.send @= 0

        if nunits < nproducts:
            s.second = OutPort()

            @update
            def requests_in_order():
                s.second @= ~s.send[0]
                s.req_val[0] @= s.send[0] | s.send[1]
                s.sent[0] @= s.send[0] & s.req_rdy[0]
                s.sent[1] @= s.second & s.send[1] & s.req_rdy[0]

            @update
            def arrivals_in_order():
                s.arrives[0] @= s.resp_val[0] & s.awaited[0]
                s.arrives[1] @= s.resp_val[0] & ~s.awaited[0] & s.awaited[1]

        else:
            # all units are idle when a microinstruction begins, so that requests fire in its first cycle
            @update
            def requests():
                s.req_val @= s.send
                s.sent @= s.send & s.req_rdy

            @update
            def arrivals():
                s.arrives @= s.resp_val & s.awaited

        @update
        def all_products():
            s.done @= (s.awaited != 0) & ((s.awaited & ~s.arrives) == 0)

        @update_ff
        def scoreboard():
            if s.reset:
                s.unsent <<= 0
                s.awaited <<= 0
            elif s.advance:
                s.unsent <<= s.makes & ~s.sent
                s.awaited <<= s.makes
            else:
                s.unsent <<= s.unsent & ~s.sent
                s.awaited <<= s.awaited & ~s.arrives


class RepeatCounter(Component):
    """Counts the repetitions of a microinstruction, from `first` on when one is entered.

    Ports: advance, first, again (the same one is entered) -> index.
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

    Ports: the program counter; accept, passes, equal (at the end), status -> released, out_status.
    """

    def construct(s, pc_nbits):
        s.pc = InPort(pc_nbits)
        s.advance = InPort()
        s.next_pc = InPort(pc_nbits)
        s.accept = InPort()
        s.passes = InPort()
        s.equal = InPort()
        s.status = InPort(STATUS_NBITS)
        s.released = OutPort()
        s.out_status = OutPort(STATUS_NBITS)
        FAULT = Status.FAULT
        ALL_ONES = mk_bits(pc_nbits)(-1)
        s.inverse = Wire(pc_nbits)
        s.checked = Wire()

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
            elif s.passes:
                s.checked <<= 1

        @update
        def release_result():
            s.released @= s.checked & s.equal & (s.status == 0)
            s.out_status @= s.status
            if (s.status == 0) & ~s.released:
                s.out_status @= FAULT


class Sequencer(Component):
    def construct(s, code):
        declare_handshakes(s, STATUS_NBITS)
        s.req_val = OutPort(code.shape.nunits)
        s.req_rdy = InPort(code.shape.nunits)
        s.resp_val = InPort(code.shape.nunits)
        s.convert_done = InPort()
        if code.converts:
            s.convert_val = OutPort()
        if code.scaled:
            s.convert_kind = OutPort(2)
        s.dpath = DpathIfc(code, OutPort, InPort)

        s.pc = Wire(code.pc_nbits)
        s.next_pc = Wire(code.pc_nbits)
        s.chosen_pc = Wire(code.pc_nbits)  # the next address, but for a refusal that comes late
        s.advance = Wire()  # next_pc is entered
        s.accept = Wire()
        s.refuse = Wire()
        s.again = Wire()
        s.unequal = Wire()
        s.status = Wire(STATUS_NBITS)

        s.read_rom(code)
        s.issue = ProductIssue(code.nproducts, code.shape.nunits)
        if code.counts:
            s.repetition = RepeatCounter(code.index_nbits)
        s.take_request(code)
        s.send_products(code)
        s.end_word(code)
        s.choose_next(code)
        s.count_repetitions(code)
        s.access_memory(code)
        s.answer(code)

        @update_ff
        def program_counter():
            if s.reset:
                s.pc <<= 0
            elif s.advance:
                s.pc <<= s.next_pc

    def read_rom(s, code):
        """The microinstructions that execute now, next and after this cycle."""
        s.word = Wire(code.word_type)
        s.now = MicroRom(code)
        s.now.pc //= s.pc
        s.now.word //= s.word
        s.word //= s.dpath.word
        s.next_word = Wire(code.word_type)
        s.entered = MicroRom(code)
        s.entered.pc //= s.next_pc
        s.entered.word //= s.next_word
        if len(code.sources["convert_from"]) > 1:
            s.next_word //= s.dpath.next_word
        if code.by_bit:
            s.now.exponent_bit //= s.dpath.exponent.bit_now
            s.entered.exponent_bit //= s.dpath.exponent.bit_n
        if code.reads_ahead:
            s.ahead_pc = Wire(code.pc_nbits)
            s.ahead_word = Wire(code.word_type)
            s.ahead = MicroRom(code)
            s.ahead.pc //= s.ahead_pc
            s.ahead.word //= s.ahead_word
            s.ahead_word //= s.dpath.ahead_word

            @update
            def address_ahead():
                s.ahead_pc @= s.pc
                if s.advance:
                    s.ahead_pc @= s.chosen_pc

            if code.by_bit:
                s.bit_ahead = Wire()
                s.ahead.exponent_bit //= s.bit_ahead

                @update
                def exponent_bit_ahead():
                    s.bit_ahead @= s.dpath.exponent.bit_now
                    if s.advance:
                        s.bit_ahead @= s.dpath.exponent.bit_n

    def take_request(s, code):
        @update
        def request():
            s.istream_rdy @= s.word.accepts
            s.accept @= s.word.accepts & s.istream_val
            s.refuse @= s.accept & (s.in_status != 0)

        if code.reads_one or code.program.given:
            s.dpath.refuse //= s.refuse

    def send_products(s, code):
        """Products of the next microinstruction, and its conversion."""
        s.issue.makes //= s.next_word.makes
        s.issue.advance //= s.advance
        s.issue.req_val //= s.req_val
        s.issue.req_rdy //= s.req_rdy
        s.issue.resp_val //= s.resp_val
        s.issue.arrives //= s.dpath.arrives
        if code.in_order:
            s.issue.second //= s.dpath.second

        if code.shape.forward:

            @update
            def forwards_products():
                s.issue.forwards @= s.advance & ~s.word.settles

        else:
            s.issue.forwards //= 0

        if code.scans:
            s.sends_entry = Wire()
            s.sends_entry //= (s.ahead_word if code.shape.forward else s.word).sends_entry

            @update
            def holds_for_scan():
                s.issue.holds @= s.sends_entry & s.dpath.scan_busy

        else:
            s.issue.holds //= 0

        if code.converts:

            @update
            def conversion():
                s.convert_val @= s.advance & s.next_word.converts

        if code.scaled:
            s.convert_kind //= s.next_word.convert_kind

    def end_word(s, code):
        """The end of a microinstruction, and the loads with it."""
        s.passes = Wire()
        if code.scans:

            @update
            def passes_without_a_scan():
                s.passes @= s.word.one_cycle & ~(s.word.reads_entry & s.dpath.scan_busy)

        else:
            s.passes //= s.word.one_cycle

        # blocks apart, so that no tool sees a loop from `ends` over the exponent to `advance`
        @update
        def end_of_word():
            s.dpath.ends @= (
                (s.word.needs_request & s.istream_val)
                | s.issue.done
                | s.convert_done
                | s.passes
                | (s.word.answers & s.ostream_rdy)
            )

        @update
        def loads_and_shift():
            s.dpath.exponent.load @= s.dpath.ends & s.word.sets_exponent
            s.dpath.load_modulus @= s.dpath.ends & s.word.sets_modulus
            s.dpath.exponent.shift @= s.dpath.ends & s.word.next_digit

        if code.stretches:

            @update
            def blind():
                s.dpath.exponent.load_random @= s.dpath.ends & s.word.sets_random
                s.dpath.exponent.stretch @= s.dpath.ends & s.word.stretches

    def choose_next(s, code):
        FAILURE = mk_bits(code.pc_nbits)(code.program.failure)
        ALIGN = mk_bits(code.pc_nbits)(code.aligning or 0)
        s.to_align = Wire()

        # leading zeros go from the request on, at the latest in the microinstruction that waits for it
        if code.aligning:

            @update
            def align():
                s.dpath.exponent.align @= (s.pc <= ALIGN) & ~s.word.needs_request

            @update
            def enter_by_aligning():
                s.to_align @= (
                    s.word.in_loop & ~s.word.next_digit & ~s.word.aligns & ~s.dpath.exponent.aligned_n
                )

            @update
            def advance_when_aligned():
                s.advance @= s.dpath.ends | (s.word.aligns & s.dpath.exponent.aligned_n)

        else:
            s.to_align //= 0
            s.advance //= s.dpath.ends

        @update
        def next_address():
            s.chosen_pc @= s.word.target
            if s.again:
                s.chosen_pc @= s.pc
            elif s.to_align:
                s.chosen_pc @= ALIGN
            elif s.word.in_loop & s.dpath.exponent.finished_n:
                s.chosen_pc @= s.word.loop_exit

        # A refusal goes on where no product is sent. Factors are selected as if there were none: the
        # comparison of the operands before a product would be the critical path.
        @update
        def next_address_or_refusal():
            s.next_pc @= s.chosen_pc
            if s.refuse | s.unequal:
                s.next_pc @= FAILURE

    def count_repetitions(s, code):
        if code.counts:
            s.repetition.advance //= s.advance
            s.repetition.again //= s.again
            s.repetition.first //= s.next_word.first_index
        if not code.repeats:
            s.again //= 0
            return
        s.last_index = Wire(code.index_nbits)
        s.more = Wire()
        if code.program.sliding:

            @update
            def end_of_repetition():
                s.last_index @= s.word.last_index
                if s.word.to_window_end:
                    s.last_index @= s.dpath.exponent.window_nbits

        else:
            s.last_index //= s.word.last_index

        if code.skips:

            @update
            def more_repetitions_or_blocks():
                s.dpath.exponent.skip @= s.word.skips & s.dpath.exponent.can_skip
                s.more @= s.repetition.index != s.last_index
                if s.word.skips:
                    s.more @= s.dpath.exponent.can_skip

        else:

            @update
            def more_repetitions():
                s.more @= s.repetition.index != s.last_index

        @update
        def repeat_word():
            s.again @= s.word.repeats & s.more

    def access_memory(s, code):
        if code.program.depth:
            s.dpath.index //= s.repetition.index
            s.first = Wire()  # cycle of the microinstruction

            @update_ff
            def first_cycle():
                s.first <<= s.advance

            # a field of the request is stored while the request is there
            @update
            def store():
                s.dpath.store @= s.word.writes & s.first
                if s.word.needs_request:
                    s.dpath.store @= s.word.writes & s.istream_val

        if code.scans:

            @update
            def start_scan():
                s.dpath.scan_start @= s.advance & s.next_word.scans & ~s.again

    def answer(s, code):
        """The status, and the result's handshake."""
        s.ostream_val //= s.word.answers
        if code.compares:

            @update
            def compare():
                s.unequal @= s.word.compares & s.dpath.ends & ~s.dpath.equal

            @update_ff
            def status_register():
                if s.accept:
                    s.status <<= s.in_status
                elif s.unequal:
                    s.status <<= s.word.fail

        else:
            s.unequal //= 0

            @update_ff
            def status_of_request():
                if s.accept:
                    s.status <<= s.in_status

        if code.program.verified:
            s.release_check = ReleaseCheck(code.pc_nbits)
            s.release_check.pc //= s.pc
            s.release_check.advance //= s.advance
            s.release_check.next_pc //= s.next_pc
            s.release_check.accept //= s.accept
            s.release_check.equal //= s.dpath.equal_at_end
            s.release_check.status //= s.status
            s.release_check.released //= s.dpath.released
            s.release_check.out_status //= s.out_status

            @update
            def pass_check():
                s.release_check.passes @= s.dpath.ends & s.word.releases & s.dpath.equal

        else:
            s.out_status //= s.status
