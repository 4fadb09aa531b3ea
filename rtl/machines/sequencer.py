"""Sequencer: the control of a ProgramExp (program_exp.py); it reads the program's words out of ROMs and says
when each of them ends.

A word's products, called 0 and 1, are sent when it is entered: unsent[i] has still to be sent, awaited[i] has
still to come back. With `forward` they leave in the cycle in which the word before ends, from the values that
registers are about to take, unless that word changes the modulus, which the units see from the next cycle on;
otherwise in the cycle after. So ROMs are addressed by `pc`, the word at hand, by `next_pc`, the word that is
entered when it ends, and by `ahead_pc`, the one of them that is at hand after this cycle. What is not a
product or a conversion takes a cycle.

`index` counts the repetitions of a word and is the address of a table's entry. A scan reads the whole table
from the cycle after it is begun, an entry a cycle, and leaves the one that is meant in s: words that read s
wait for it.

Ports: the two streams, the units' handshakes, those of the unit that converts, and wires to ResidueDpath,
named there as here.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS, Status
from ..units.serial_ctrl import declare_handshakes
from .micro_rom import MicroRom


class Sequencer(Component):
    def construct(s, code):
        nunits, forward = code.nunits, code.forward
        program = code.program
        pc = mk_bits(code.pc_nbits)
        nproducts = code.positions
        in_order = nunits < nproducts

        declare_handshakes(s, STATUS_NBITS)
        s.req_val = [OutPort() for _ in range(nunits)]
        s.req_rdy = [InPort() for _ in range(nunits)]
        s.resp_val = [InPort() for _ in range(nunits)]

        # ---- the words: what the datapath wants of them goes there as it is

        s.pc = Wire(pc)
        s.next_pc = Wire(pc)
        s.meant_pc = Wire(pc)  # the next word too, but perhaps for a refusal
        s.advance = Wire()
        now, entered, looked_ahead, sending = code.read.values()
        if forward:
            looked_ahead = [*looked_ahead, *sending]
        else:
            now = [*now, *sending]
        s.now = MicroRom(code.pc_nbits, now)
        s.entered = MicroRom(code.pc_nbits, entered)
        s.now.pc //= s.pc
        s.entered.pc //= s.next_pc
        roms = [s.now, s.entered]
        if looked_ahead:
            s.ahead_pc = Wire(pc)
            s.ahead = MicroRom(code.pc_nbits, looked_ahead)
            s.ahead.pc //= s.ahead_pc
            roms.append(s.ahead)

            @update
            def goes_ahead():
                s.ahead_pc @= s.pc
                if s.advance:
                    s.ahead_pc @= s.meant_pc

        for name in code.handed:
            rom = next(micro_rom for micro_rom in roms if hasattr(micro_rom, name))
            setattr(s, name, OutPort(code.fields[name].nbits))
            connect(getattr(s, name), getattr(rom, name))

        s.accept = OutPort() if code.reads_one else Wire()  # an operation arrives
        s.ends = OutPort()  # the word at hand ends, but for one that aligns
        s.load_exponent = OutPort()
        s.load_modulus = OutPort()
        s.arrives = OutPort(nproducts)  # product by product

        # ---- the end of a word: two units answer separately, one unit answers in order

        s.unsent = Wire(nproducts)
        s.awaited = Wire(nproducts)
        s.makes = Wire(nproducts)  # the products of the word that is entered
        s.product_done = Wire()
        s.convert_done = Wire()
        s.passed = Wire()
        for at in range(nproducts):
            connect(s.makes[at], getattr(s.entered, f"makes{at}"))

        if in_order:

            @update
            def arrivals_in_order():
                s.arrives[0] @= s.resp_val[0] & s.awaited[0]
                s.arrives[1] @= s.resp_val[0] & ~s.awaited[0] & s.awaited[1]

        else:

            @update
            def arrivals():
                for i in range(nproducts):
                    s.arrives[i] @= s.resp_val[i] & s.awaited[i]

        @update
        def all_products():
            s.product_done @= (s.awaited != 0) & ((s.awaited & ~s.arrives) == 0)

        if code.reads_one or program.given:
            s.load = OutPort()  # ... and can be computed

            @update
            def takes_requests():
                s.istream_rdy @= s.now.accepts
                s.accept @= s.now.accepts & s.istream_val
                s.load @= s.accept & (s.in_status == 0)

        else:

            @update
            def takes_requests_alone():
                s.istream_rdy @= s.now.accepts
                s.accept @= s.now.accepts & s.istream_val

        @update
        def offers():
            s.ostream_val @= s.now.answers

        # (blocks apart, so that no tool sees a loop from `ends` over the exponent to `advance`)
        @update
        def ends_word():
            s.ends @= (
                (s.now.takes & s.istream_val)
                | s.product_done
                | s.convert_done
                | s.passed
                | (s.now.answers & s.ostream_rdy)
            )

        @update
        def loads():
            s.load_exponent @= s.ends & s.now.sets_exponent
            s.load_modulus @= s.ends & s.now.sets_modulus

        # ---- the exponent, and what follows from how it will be after this cycle

        s.out_of_loop = Wire()
        s.to_align = Wire()
        if code.loops:
            s.shift = OutPort()  # it moves by a digit
            s.finished_n = InPort()  # no digit is left

            @update
            def moves_exponent():
                s.shift @= s.ends & s.now.moves_on

            @update
            def ends_loop():
                s.out_of_loop @= s.now.loops & s.finished_n

        else:
            s.out_of_loop //= 0

        if code.by_bit:
            s.bit_now = InPort()  # at hand
            if hasattr(s.now, "exponent_bit"):
                s.now.exponent_bit //= s.bit_now
        if code.by_bit_ahead:
            s.bit_n = InPort()
            if hasattr(s.entered, "exponent_bit"):
                s.entered.exponent_bit //= s.bit_n
            if looked_ahead and hasattr(s.ahead, "exponent_bit"):
                s.bit_ahead = Wire()
                s.ahead.exponent_bit //= s.bit_ahead

                @update
                def bit_of_word_ahead():
                    s.bit_ahead @= s.bit_now
                    if s.advance:
                        s.bit_ahead @= s.bit_n

        # leading zeros leave from the request on, at the latest in the word that waits for it
        ALIGN = pc(code.aligning or 0)
        if code.aligning:
            s.align = OutPort()  # it may lose one
            s.aligned_n = InPort()  # its highest 1 is at the top

            @update
            def aligns():
                s.align @= (s.pc <= ALIGN) & ~s.now.takes

            @update
            def enters_by_aligning():
                s.to_align @= s.now.loops & ~s.now.moves_on & ~s.now.aligns & ~s.aligned_n

            @update
            def advances():
                s.advance @= s.ends | (s.now.aligns & s.aligned_n)

        else:
            s.to_align //= 0
            s.advance //= s.ends

        # ---- the next word

        FAILURE = pc(program.failure)
        s.refused = Wire()
        s.unequal = Wire()
        s.again = Wire()

        @update
        def refuses():
            s.refused @= (s.accept & (s.in_status != 0)) | s.unequal

        # who is refused goes where nothing is sent; on a scaled modulus, where a product is so short that the
        # way from a comparison to its factors would decide, what is sent is chosen as if there were no
        # refusal
        s.turned_away = Wire()
        if code.scaled:
            s.turned_away //= 0

            @update
            def where_to_if_refused():
                s.next_pc @= s.meant_pc
                if s.refused:
                    s.next_pc @= FAILURE

        else:
            s.turned_away //= s.refused
            s.next_pc //= s.meant_pc

        if code.loops:

            @update
            def where_to_in_loops():
                s.meant_pc @= s.now.to
                if s.turned_away:
                    s.meant_pc @= FAILURE
                elif s.again:
                    s.meant_pc @= s.pc
                elif s.to_align:
                    s.meant_pc @= ALIGN
                elif s.out_of_loop:
                    s.meant_pc @= s.now.out

        else:

            @update
            def where_to():
                s.meant_pc @= s.now.to
                if s.turned_away:
                    s.meant_pc @= FAILURE
                elif s.again:
                    s.meant_pc @= s.pc

        # ---- sending

        s.want = Wire(nproducts)
        s.send = Wire(nproducts)
        s.sent = Wire(nproducts)
        s.forwards = Wire()
        if forward:

            @update
            def forwarding():
                s.forwards @= s.advance & ~s.now.settles

        else:
            s.forwards //= 0

        @update
        def wanting():
            s.want @= s.unsent
            if s.forwards:
                s.want @= s.makes

        if code.scans:
            s.scanning = Wire()
            s.waits = Wire()  # a product wants the entry that is meant
            s.waits //= (s.ahead if forward else s.now).waits

            @update
            def sends_behind_a_scan():
                s.send @= s.want
                if s.waits & s.scanning:
                    s.send @= 0

        else:
            s.send //= s.want

        if in_order:
            s.second = OutPort()  # product 1 is on the unit's port, not product 0

            @update
            def requests_in_turn():
                s.second @= ~s.send[0]
                s.sent[0] @= s.send[0] & s.req_rdy[0]
                s.sent[1] @= s.second & s.send[1] & s.req_rdy[0]
                s.req_val[0] @= s.send[0] | s.send[1]

        else:
            # all units are idle when a word begins, so that requests fire in its first cycle
            @update
            def requests():
                for i in range(nproducts):
                    s.req_val[i] @= s.send[i]
                    s.sent[i] @= s.send[i] & s.req_rdy[i]

            for i in range(nproducts, nunits):
                s.req_val[i] //= 0

        # ---- the unit that converts

        if code.converts:
            s.setup_req_val = OutPort()
            s.setup_resp_val = InPort()
            s.convert_done //= s.setup_resp_val

            if code.scaled:
                s.setup_kind = OutPort(2)
                s.setup_kind //= s.entered.setup_kind

            @update
            def converts():
                s.setup_req_val @= s.advance & s.entered.converts

        else:
            s.convert_done //= 0

        # ---- repetitions

        if code.repeats:
            s.last_index = Wire(code.index_nbits)
            s.more = Wire()

            @update
            def repeats():
                s.again @= s.now.repeats & s.more

            if code.skips:
                s.can_skip = InPort()
                s.skip = OutPort()  # a block of the exponent

                @update
                def more_or_a_block_to_skip():
                    s.more @= s.index != s.last_index
                    s.skip @= s.now.skips & s.can_skip
                    if s.now.skips:
                        s.more @= s.can_skip

            else:

                @update
                def more_to_count():
                    s.more @= s.index != s.last_index

            if program.sliding:
                s.window_nbits = InPort(code.index_nbits)  # of the window at hand

                @update
                def to_the_end_of_the_window():
                    s.last_index @= s.now.last
                    if s.now.by_window:
                        s.last_index @= s.window_nbits

            else:
                s.last_index //= s.now.last

        else:
            s.again //= 0

        if code.counts:
            s.index = OutPort(code.index_nbits)

            @update_ff
            def count():
                if s.advance:
                    s.index <<= s.entered.start
                    if s.again:
                        s.index <<= s.index + 1

        # ---- memory and scan

        if program.depth:
            s.store = OutPort()
            s.first = Wire()  # the word at hand is in its first cycle

            @update_ff
            def first_cycle():
                s.first <<= s.advance

            @update
            def stores():
                # a request is looked at while it is there; all else is stored in the first cycle
                s.store @= s.now.stores & s.first
                if s.now.takes:
                    s.store @= s.now.stores & s.istream_val

        if code.scans:
            k = program.digit_nbits
            s.scan_at = OutPort(k)
            s.scan_reads = OutPort()
            s.scan_read = OutPort()  # the entry read in the cycle before is there
            LAST_ENTRY = mk_bits(k)((1 << k) - 1)

            @update
            def passes_behind_a_scan():
                s.scanning @= s.scan_reads | s.scan_read
                s.passed @= s.now.passes & ~(s.now.holds_entry & s.scanning)

            @update_ff
            def scan():
                s.scan_read <<= s.scan_reads
                if s.reset:
                    s.scan_reads <<= 0
                elif s.advance & s.entered.scans & ~s.again:
                    s.scan_reads <<= 1
                elif s.scan_at == LAST_ENTRY:
                    s.scan_reads <<= 0

            @update_ff
            def scan_counter():
                if ~s.scan_reads:
                    s.scan_at <<= 0
                else:
                    s.scan_at <<= s.scan_at + 1

        else:
            s.passed //= s.now.passes

        # ---- the blinding of an exponent

        if code.stretches:
            s.load_random = OutPort()
            s.stretch = OutPort()

            @update
            def stretches():
                s.load_random @= s.ends & s.now.sets_random
                s.stretch @= s.ends & s.now.stretches

        # ---- status and checks

        s.status = Wire(STATUS_NBITS)
        if code.checks:
            s.equal = InPort()

            @update
            def differs():
                s.unequal @= s.now.compares & s.ends & ~s.equal

            @update_ff
            def remember_status():
                if s.accept:
                    s.status <<= s.in_status
                elif s.unequal:
                    s.status <<= s.now.reason

        else:
            s.unequal //= 0

            @update_ff
            def remember_status_of_request():
                if s.accept:
                    s.status <<= s.in_status

        if program.verified:
            FAULT = int(Status.FAULT)
            s.equal_at_end = InPort()
            s.checked = Wire()
            s.released = OutPort()

            @update_ff
            def remember_check():
                if s.accept:
                    s.checked <<= 0
                elif s.ends & s.now.releases & s.equal:
                    s.checked <<= 1

            # a result leaves that was checked and stands in two registers alike
            @update
            def tell():
                s.released @= s.checked & s.equal_at_end & (s.status == 0)
                s.out_status @= s.status
                if (s.status == 0) & ~s.released:
                    s.out_status @= FAULT

        else:
            s.out_status //= s.status

        # ---- registers

        @update_ff
        def state():
            if s.reset:
                s.pc <<= 0
                s.unsent <<= 0
                s.awaited <<= 0
            else:
                s.unsent <<= s.unsent & ~s.sent
                s.awaited <<= s.awaited & ~s.arrives
                if s.advance:
                    s.pc <<= s.next_pc
                    s.unsent <<= s.makes & ~s.sent
                    s.awaited <<= s.makes
