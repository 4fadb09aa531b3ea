"""Sequencer: the control of a ProgramExp (program_exp.py); it reads the program's words out of ROMs and says when each of them ends.

A word's products, called 0 and 1, are sent when it is entered: unsent[i] has still to be sent, awaited[i] has still to come back. With
`forward` they leave in the cycle in which the word before ends, from the values that registers are about to take, unless that word
changes the modulus, which the units see from the next cycle on; otherwise in the cycle after. So two counters address ROMs: `pc`, the
word at hand, and `ahead`, the word that is entered in this cycle, or the same. What is not a product or a conversion takes a cycle.

`index` counts the repetitions of a word and is the address of a table's entry. A scan reads the whole table from the cycle after it is
begun, an entry a cycle, and leaves the one that is meant in s: words that read s wait for it.

Ports: the two streams, the units' handshakes, those of the unit that converts, and wires to ResidueDpath, named there as here.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS, Status
from .micro_rom import MicroRom

# of the word at hand, for the datapath alone
HANDED = (
    *(
        "wide",
        "store_from",
        "by_index",
        "write_at",
        "modulus_from",
        "exponent_from",
        "at_top",
        "even",
        "adds",
    ),
    *("compare_with", "subtracts", "setup_cycles", "setup_by_block", "right", "sum_x_from", "sum_y_from"),
)


def handed(program):
    """These, and those of its registers."""
    return (*HANDED, *(f"{name}_{what}" for name in program.registers for what in ("takes", "moves", "from")))


class Sequencer(Component):
    def construct(s, code, nunits, forward):
        program = code.program
        pc = mk_bits(code.pc_nbits)
        nproducts = code.positions

        s.istream_val = InPort()
        s.istream_rdy = OutPort()
        s.in_status = InPort(STATUS_NBITS)
        s.ostream_val = OutPort()
        s.ostream_rdy = InPort()
        s.out_status = OutPort(STATUS_NBITS)
        s.req_val = [OutPort() for _ in range(nunits)]
        s.req_rdy = [InPort() for _ in range(nunits)]
        s.resp_val = [InPort() for _ in range(nunits)]

        s.bit_now = InPort()  # of the exponent, at hand

        # ---- the words

        s.pc = Wire(pc)
        s.next_pc = Wire(pc)
        s.ahead_pc = Wire(pc)
        s.bit_ahead = Wire()
        now, ahead, sending = code.now(), code.ahead(), code.sending()
        send_ahead = forward
        s.now = MicroRom(code.pc_nbits, [*now, *([] if send_ahead else sending)])
        s.ahead = MicroRom(code.pc_nbits, [*ahead, *(sending if send_ahead else [])])
        s.now.pc //= s.pc
        s.ahead.pc //= s.ahead_pc
        if hasattr(s.now, "exponent_bit"):
            s.now.exponent_bit //= s.bit_now
        if hasattr(s.ahead, "exponent_bit"):
            s.ahead.exponent_bit //= s.bit_ahead
        sent_by = s.ahead if send_ahead else s.now

        # ---- wires to the datapath

        s.accept = OutPort()  # an operation arrives
        s.load = OutPort()  # ... and can be computed
        s.ends = OutPort()  # the word at hand ends, but for one that aligns
        s.shift = OutPort()  # the exponent moves by a digit
        s.align = OutPort()  # the exponent may lose a leading zero
        s.stretch = OutPort()
        s.load_exponent = OutPort()
        s.load_modulus = OutPort()
        s.load_random = OutPort()
        s.store = OutPort()
        s.index = OutPort(code.index_nbits)
        s.arrives = OutPort(nproducts)  # product by product
        s.finished_n = InPort()  # as the exponent will be after this cycle: no digit is left
        s.aligned_n = InPort()  # its highest 1 is at the top
        s.bit_n = InPort()

        def hand(rom, *names):
            for name in names:
                setattr(s, name, OutPort(getattr(rom, name).get_type()))
                connect(getattr(s, name), getattr(rom, name))

        hand(s.now, *handed(program))
        hand(s.ahead, "read_at", "setup_from")
        hand(sent_by, *(f"{which}{at}" for at in range(nproducts) for which in "xy"))

        # ---- the end of a word: two units answer separately, one unit answers in order

        s.unsent = [Wire() for _ in range(nproducts)]
        s.awaited = [Wire() for _ in range(nproducts)]
        s.arrived = [Wire() for _ in range(nproducts)]
        s.product_done = Wire()
        s.convert_done = Wire()
        s.advance = Wire()
        s.first = Wire()  # the word at hand is in its first cycle
        s.scanning = Wire()

        in_order = nunits < nproducts
        for at in range(nproducts):
            s.arrives[at] //= s.arrived[at]

        if not in_order:

            @update
            def arrivals():
                for i in range(nproducts):
                    s.arrived[i] @= s.resp_val[i] & s.awaited[i]

        else:

            @update
            def arrivals_in_order():
                s.arrived[0] @= s.resp_val[0] & s.awaited[0]
                s.arrived[1] @= s.resp_val[0] & ~s.awaited[0] & s.awaited[1]

        if nproducts == 2:

            @update
            def ends_products():
                s.product_done @= (
                    (s.awaited[0] | s.awaited[1])
                    & (~s.awaited[0] | s.arrived[0])
                    & (~s.awaited[1] | s.arrived[1])
                )

        else:

            @update
            def ends_product():
                s.product_done @= s.arrived[0]

        @update
        def takes_requests():
            s.istream_rdy @= s.now.accepts
            s.accept @= s.now.accepts & s.istream_val
            s.load @= s.accept & (s.in_status == 0)

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
                | (s.now.passes & ~(s.now.holds_entry & s.scanning))
                | (s.now.answers & s.ostream_rdy)
            )

        @update
        def moves_exponent():
            s.shift @= s.ends & s.now.moves_on
            s.align @= s.now.aligns | s.before_loop
            s.load_exponent @= s.ends & s.now.sets_exponent
            s.load_modulus @= s.ends & s.now.sets_modulus
            s.load_random @= s.ends & s.now.sets_random
            s.stretch @= s.ends & s.now.stretches

        @update
        def advances():
            s.advance @= s.ends | (s.now.aligns & s.aligned_n)

        # leading zeros leave from the request on; there is one loop that wants it
        s.before_loop = Wire()
        aligning = [at for at, word in enumerate(program.words) if word.aligns]
        if aligning:
            ALIGN = pc(aligning[0])

            @update
            def before_the_loop():
                s.before_loop @= (s.pc < ALIGN) & ~s.now.takes

        else:
            ALIGN = pc(0)
            s.before_loop //= 0

        # ---- the next word

        FAILURE = pc(program.failure)
        s.refused = Wire()
        s.again = Wire()
        s.unequal = Wire()
        s.goes_to_align = Wire()

        if aligning:

            @update
            def enters_by_aligning():
                s.goes_to_align @= s.now.loops & ~s.now.moves_on & ~s.now.aligns & ~s.aligned_n

        else:
            s.goes_to_align //= 0

        @update
        def where_to():
            s.next_pc @= s.now.to
            if s.refused:
                s.next_pc @= FAILURE
            elif s.again:
                s.next_pc @= s.pc
            elif s.now.loops:
                if s.goes_to_align:
                    s.next_pc @= ALIGN
                elif s.finished_n:
                    s.next_pc @= s.now.out

        @update
        def refuses():
            s.refused @= (s.accept & ~s.load) | s.unequal
            s.again @= s.now.repeats & (s.index != s.now.last)

        @update
        def goes_ahead():
            s.ahead_pc @= s.pc
            if s.advance:
                s.ahead_pc @= s.next_pc

        @update
        def bit_ahead_of():
            s.bit_ahead @= s.bit_now
            if s.advance:
                s.bit_ahead @= s.bit_n

        # ---- sending

        s.makes = [Wire() for _ in range(nproducts)]
        for at in range(nproducts):
            s.makes[at] //= getattr(s.ahead, f"makes{at}")
        s.want = [Wire() for _ in range(nproducts)]
        s.send = [Wire() for _ in range(nproducts)]
        s.sent = [Wire() for _ in range(nproducts)]
        s.forwards = Wire()
        s.held = Wire()  # the entry that a product wants is not there yet

        if forward:

            @update
            def forwarding():
                s.forwards @= s.advance & ~s.now.settles

        else:
            s.forwards //= 0

        if program.table:

            @update
            def waits_for_entry():
                s.held @= s.waits & s.scanning

        else:
            s.held //= 0
        s.waits = Wire()
        s.waits //= sent_by.waits

        @update
        def wanting():
            for i in range(nproducts):
                s.want[i] @= s.unsent[i] | (s.forwards & s.makes[i])
                s.send[i] @= s.want[i] & ~s.held

        if not in_order:
            # all units are idle when a word begins, so that requests fire in its first cycle
            @update
            def requests():
                for i in range(nproducts):
                    s.req_val[i] @= s.send[i]
                    s.sent[i] @= s.send[i] & s.req_rdy[i]

            for i in range(nproducts, nunits):
                s.req_val[i] //= 0

        else:
            s.second = OutPort()  # product 1 is on the unit's port, not product 0

            @update
            def requests_in_turn():
                s.second @= ~s.send[0]
                s.sent[0] @= s.send[0] & s.req_rdy[0]
                s.sent[1] @= s.second & s.send[1] & s.req_rdy[0]
                s.req_val[0] @= s.send[0] | s.send[1]

        # ---- the unit that converts

        if code.converts:
            s.setup_req_val = OutPort()
            s.setup_resp_val = InPort()
            s.convert_done //= s.setup_resp_val

            @update
            def converts():
                s.setup_req_val @= s.advance & s.ahead.converts

        else:
            s.convert_done //= 0

        # ---- memory and scan

        if program.depth:

            @update
            def stores():
                s.store @= s.now.stores & (s.first | (s.now.takes & s.istream_val))

        else:
            s.store //= 0

        if program.table:
            k = program.digit_nbits
            s.scan_at = OutPort(k)
            s.scan_reads = OutPort()
            s.scan_read = OutPort()  # the entry read in the cycle before is there
            LAST_ENTRY = mk_bits(k)((1 << k) - 1)

            @update
            def scan_under_way():
                s.scanning @= s.scan_reads | s.scan_read

            @update_ff
            def scan():
                s.scan_read <<= s.scan_reads
                if s.reset:
                    s.scan_reads <<= 0
                elif s.advance & s.ahead.scans & ~s.again:
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
            s.scanning //= 0

        if code.counts:

            @update_ff
            def count():
                if s.advance:
                    s.index <<= s.ahead.start
                    if s.again:
                        s.index <<= s.index + 1

        else:
            s.index //= 0

        # ---- checks

        s.status = Wire(STATUS_NBITS)
        s.released = OutPort()
        FAULT = int(Status.FAULT)
        if code.checks:
            s.equal = InPort()

            @update
            def differs():
                s.unequal @= s.now.compares & s.ends & ~s.equal

        else:
            s.unequal //= 0

        if program.verified:
            s.released_by_check = Wire()

            @update
            def releases():
                s.released @= s.released_by_check & s.equal_at_end

            s.equal_at_end = InPort()

            @update_ff
            def remember_check():
                if s.accept:
                    s.released_by_check <<= 0
                elif s.ends & s.now.releases & s.equal:
                    s.released_by_check <<= 1

            @update
            def tell():
                s.out_status @= s.status
                if (s.status == 0) & ~s.released:
                    s.out_status @= FAULT

        else:
            s.released //= 1
            s.out_status //= s.status

        # ---- registers

        @update_ff
        def state():
            if s.reset:
                s.pc <<= 0
                for i in range(nproducts):
                    s.unsent[i] <<= 0
                    s.awaited[i] <<= 0
            else:
                for i in range(nproducts):
                    s.unsent[i] <<= s.want[i] & ~s.sent[i]
                    s.awaited[i] <<= s.awaited[i] & ~s.arrived[i]
                if s.advance:
                    s.pc <<= s.next_pc
                    for i in range(nproducts):
                        s.awaited[i] <<= s.makes[i]
                        if ~s.forwards:
                            s.unsent[i] <<= s.makes[i]

        if program.depth:

            @update_ff
            def first_cycle():
                s.first <<= s.advance

        else:
            s.first //= 0

        if code.checks:

            @update_ff
            def remember_status():
                if s.accept:
                    s.status <<= s.in_status
                elif s.unequal:
                    s.status <<= s.now.reason

        else:

            @update_ff
            def remember_status_of_request():
                if s.accept:
                    s.status <<= s.in_status
