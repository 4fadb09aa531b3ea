"""ResidueDpath: what a program works on (program_exp.py): residues, modulus, exponent, memory.

The working registers r, b and s (ResidueRegister) have the value that they will take (`next`) as a wire of
its own, from which products may start a cycle earlier. The exponent (ExponentRegister) moves by a bit to the
right or by a digit to the left; its next value decides what the sequencer does next. The memory has the table
of a window and the numbers of a key. All multiplexers have the sources that the program names, and no others.
On a scaled modulus (`form`) residues are words of more bits than the modulus, which is beside its constant
M'; M' is 0 from the word on that sets a modulus, until it is made. A machine that joins takes numbers of two
words, and shows {s, r}.

Ports: the fields of the request, factors and products of the units, the unit that converts, and wires to the
Sequencer.
"""

from pymtl3 import *

from ...fl.program.ir import Check, Setup
from ..units.block_count import BlockCount
from ..units.mod_add_sub import ModAddSub
from ..units.residue_memory import ResidueMemory
from ..units.shielded_memory import ShieldedMemory
from ..wires import connect_low
from .exponent_register import ExponentRegister


def choose(s, name, sources, index, nbits):
    """A wire with the value of the source that `index` means."""
    out = Wire(nbits)
    if len(sources) == 1:
        setattr(s, name, out)
        connect(out, sources[0])
        return out
    chooser = Chooser(nbits, len(sources))
    setattr(s, name, chooser)
    for port, source in zip(chooser.sources, sources, strict=True):
        connect(port, source)
    connect(chooser.index, index)
    return chooser.out


class Chooser(Component):
    """One of its sources."""

    def construct(s, nbits, nsources):
        s.sources = [InPort(nbits) for _ in range(nsources)]
        s.index = InPort(clog2(nsources))
        s.out = OutPort(nbits)
        LAST = nsources - 1

        @update
        def pick():
            s.out @= s.sources[LAST]
            for i in range(LAST):
                if s.index == i:
                    s.out @= s.sources[i]


def s_lifted(s, at, factor, lifts, form):
    """The first factor of a product, as wide as a unit takes it: as it is, or shifted up."""
    lifted = Lifted(form.word_nbits, form.shape.wide, form.lift_nbits)
    setattr(s, f"lifted_{at}", lifted)
    lifted.factor //= factor
    connect(lifted.lifts, lifts)
    return lifted.out


class Lifted(Component):
    """A factor, shifted up where it is one of an integer product."""

    def construct(s, nbits, wide, places):
        s.factor = InPort(nbits)
        s.lifts = InPort()
        s.out = OutPort(wide)

        @update
        def lift():
            s.out @= zext(s.factor, wide)
            if s.lifts:
                s.out @= zext(s.factor, wide) << places


class ResidueRegister(Component):
    """A working register: it takes a product that arrives, what its word moves there when it ends, or
    (`entry`) an entry of the table.

    Ports: what it takes, and when -> now, its value; next, the value that products see which are sent ahead.
    moves_late: nothing is sent ahead of what is moved there, so that next has products alone. kept: the next
    value, where no product arrives. late: it takes what comes late, too, of which nothing is sent ahead
    either.
    """

    def construct(
        s,
        nbits,
        nproducts,
        nunits,
        moves,
        entry=False,
        read_now=True,
        read_next=True,
        read_kept=False,
        moves_late=False,
        late=False,
    ):
        s.product = [InPort(nbits) for _ in range(nunits)]
        s.arrives = InPort(nproducts)
        s.takes = InPort(nproducts)
        s.now = OutPort(nbits) if read_now else Wire(nbits)
        s.next = OutPort(nbits) if read_next else Wire(nbits)
        s.below = Wire(nbits)  # what a product takes the place of
        s.taken = Wire(nbits)
        LAST_UNIT = nunits - 1

        s.moved = Wire(nbits)
        s.moves_in = Wire()
        if moves or late:
            s.ends = InPort()
        if moves:
            s.moves = InPort()
            s.source = InPort(nbits)
            s.moved //= s.source

            @update
            def moves_at_the_end():
                s.moves_in @= s.ends & s.moves

        else:
            s.moved //= s.now
            s.moves_in //= 0

        s.from_product = Wire(nproducts)

        @update
        def arriving():
            s.from_product @= s.arrives & s.takes

        if moves_late:
            s.below //= s.now
        else:
            s.kept = OutPort(nbits) if read_kept else Wire(nbits)
            s.below //= s.kept
            s.entered = Wire(nbits)
            s.takes_entry = Wire()
            if entry:
                s.entry_there = InPort()
                s.entry = InPort(nbits)
                s.entered //= s.entry
                s.takes_entry //= s.entry_there
            else:
                s.entered //= s.now
                s.takes_entry //= 0

            @update
            def without_products():
                s.kept @= s.now
                if s.moves_in:
                    s.kept @= s.moved
                elif s.takes_entry:
                    s.kept @= s.entered

        if nproducts == 1:

            @update
            def next_value():
                s.next @= s.below
                if s.from_product[0]:
                    s.next @= s.product[0]

        else:

            @update
            def next_value_of_two():
                s.next @= s.below
                if s.from_product[0]:
                    s.next @= s.product[0]
                elif s.from_product[1]:
                    s.next @= s.product[LAST_UNIT]

        if late:
            s.late = InPort()
            s.late_source = InPort(nbits)

            @update
            def comes_late():
                s.taken @= s.next
                if s.ends & s.late:
                    s.taken @= s.late_source

        elif moves_late:

            @update
            def moves_instead():
                s.taken @= s.next
                if s.moves_in:
                    s.taken @= s.moved

        else:
            s.taken //= s.next

        @update_ff
        def register():
            s.now <<= s.taken


class ResidueDpath(Component):
    def construct(s, code, nbits, fields, block_nbits=0, form=None):
        nunits, forward, per_cycle = code.nunits, code.forward, code.per_cycle
        program = code.program
        operation_nbits = modulus_nbits = factor_nbits = nbits
        if form is not None:
            modulus_nbits, factor_nbits, nbits = form.shape.nbits, form.shape.wide, form.word_nbits
        word = mk_bits(nbits)
        nproducts = code.positions
        fits = block_nbits > 0

        for name, wide in (*((name, operation_nbits) for name in ("base", "exp", "mod")), *fields):
            setattr(s, f"in_{name}", InPort(wide))
        s.result = OutPort(operation_nbits)
        s.mod = OutPort(modulus_nbits)
        s.product = [InPort(word) for _ in range(nunits)]
        s.req_a = [OutPort(factor_nbits) for _ in range(nunits)]
        s.req_b = [OutPort(word) for _ in range(nunits)]

        # from the sequencer
        refusals = ("accept", "load") if code.reads_one else ("load",) if program.given else ()
        for name in (*refusals, "ends", "load_exponent", "load_modulus"):
            setattr(s, name, InPort())
        s.arrives = InPort(nproducts)
        for name in code.handed:
            setattr(s, name, InPort(code.fields[name].nbits))

        def told(name):
            """A field of the word, or what it is in all of them."""
            field = code.fields[name]
            return getattr(s, name) if name in code.handed else mk_bits(field.nbits)(field.one[0])

        if program.depth:
            s.data = Wire(word)  # out of the memory
        if code.sums:
            s.sum = Wire(word)
        if code.converts:
            s.setup_result = Wire(word)
        if code.scaled:
            s.left = InPort(word)  # out of the form
        if code.reads_one:
            s.one = Wire(word)  # 1 modulo the modulus that is set
        makes_one = form is None and any(
            "1" in code.factors(at, which) for at in range(nproducts) for which in "xy"
        )
        if makes_one:
            s.one_factor = Wire(word)
            s.one_factor //= 1

        # an operation that is refused has no result, and shows 0
        if program.given:
            s.given_one = Wire(word)

            @update
            def one_that_is_given():
                s.given_one @= 0
                if s.load:
                    s.given_one @= s.in_one

        for name in program.registers:
            setattr(
                s,
                name,
                ResidueRegister(
                    nbits,
                    nproducts,
                    nunits,
                    bool(code.moves_to(name)),
                    name == "s" and code.scans,
                    name in code.read_now,
                    name in code.read_next,
                    name in code.named(Setup, "src"),
                    code.moves_late(name),
                    bool(code.late_to(name)),
                ),
            )

        widened = {}

        def as_word(name, port, first, end):
            """These bits of a port as a residue."""
            end = min(end, port.get_type().nbits, first + nbits)
            if (first, end - first) == (0, nbits) == (0, port.get_type().nbits):
                return port
            if name not in widened:
                wire = Wire(word)
                setattr(s, f"word_{name}", wire)
                whole = (first, end) == (0, port.get_type().nbits)
                wire[0 : end - first] //= port if whole else port[first:end]
                if end - first < nbits:
                    wire[end - first : nbits] //= 0
                widened[name] = wire
            return widened[name]

        def part(name, whole, port):
            """A number, or its lower or upper word."""
            which = name.partition(".")[2]
            every = operation_nbits + nbits  # more than there are
            places = {"low": (0, modulus_nbits), "high": (modulus_nbits, every), "": (0, every)}
            if form is not None:
                places["top"] = ((form.folds - 1) * modulus_nbits, every)
            return as_word(f"{whole}_{which}".rstrip("_"), port, *places[which])

        def constant(name, value):
            """A number that is the same for all operations."""
            if not hasattr(s, name):
                setattr(s, name, Wire(word))
                connect(getattr(s, name), word(value))
            return getattr(s, name)

        def source(name, when="now", factor=False):
            """What a word names."""
            if name in program.registers:
                return getattr(getattr(s, name), when)
            if name == "in.one":
                return s.given_one
            if name.startswith("in."):
                field = name[3:].partition(".")[0]
                return part(name[3:], field, getattr(s, f"in_{field}"))
            if "." in name:
                register = name.partition(".")[0]
                return part(name, register, getattr(s, register).now)
            if form is not None and name in ("1", "unit", "half"):
                powers = {"1": 0, "unit": form.halvings, "half": modulus_nbits}
                return constant(f"constant_{name}", 1 << powers[name])
            if name == "0":
                return constant("zero", 0)
            wires = {"1": "one_factor" if factor else "one", "setup": "setup_result", "memory": "data"}
            return getattr(s, wires.get(name, name))

        def chosen(name, names, field, **how):
            """A wire with the one of these sources that a field of the word means."""
            return choose(s, name, [source(item, **how) for item in names], told(field), nbits)

        def wire(name, field, width=1):
            """A wire with a field of the word."""
            setattr(s, name, Wire(width))
            connect(getattr(s, name), told(field))

        # ---- working registers

        for name in program.registers:
            register = getattr(s, name)
            register.arrives //= s.arrives
            connect(register.takes, told(f"{name}_takes"))
            for i in range(nunits):
                register.product[i] //= s.product[i]
            moved, late = code.moves_to(name), code.late_to(name)
            if moved or late:
                register.ends //= s.ends
            if late:
                connect(register.late, told(f"{name}_late"))
                register.late_source //= chosen(f"{name}_come_late", late, f"{name}_late_from")
            if moved:
                connect(register.moves, told(f"{name}_moves"))
                register.source //= chosen(f"{name}_move", moved, f"{name}_from")

        # ---- factors

        x = [
            chosen(
                f"{which}_of_{at}",
                code.factors(at, which),
                f"{which}{at}",
                when="next" if forward else "now",
                factor=True,
            )
            for at in range(nproducts)
            for which in "xy"
        ]
        if form is not None:
            x[::2] = [s_lifted(s, at, x[2 * at], told(f"lifts{at}"), form) for at in range(nproducts)]
        factors = [(x[2 * at], x[2 * at + 1]) for at in range(nproducts)]
        if nunits >= nproducts:
            for at in range(nunits):
                a, b = factors[min(at, nproducts - 1)]
                s.req_a[at] //= a
                s.req_b[at] //= b
        else:
            s.second = InPort()
            s.factor_a = Chooser(factor_nbits, 2)
            s.factor_b = Chooser(nbits, 2)
            for at in range(2):
                s.factor_a.sources[at] //= factors[at][0]
                s.factor_b.sources[at] //= factors[at][1]
            s.factor_a.index //= s.second
            s.factor_b.index //= s.second
            s.req_a[0] //= s.factor_a.out
            s.req_b[0] //= s.factor_b.out

        # ---- modulus

        s.mod_n = Wire(modulus_nbits)
        modulus = chosen("mod_choice", code.modulus_sources, "modulus_from")
        s.mod_n //= modulus if form is None else modulus[0:modulus_nbits]

        @update_ff
        def modulus_register():
            if s.load_modulus:
                s.mod <<= s.mod_n

        if form is not None:
            s.m_prime = OutPort(modulus_nbits)
            s.m_prime_in = InPort(modulus_nbits)
            wire("makes_m_prime", "scales")
            wire("of_ones", "sets_ones")
            ONES = mk_bits(modulus_nbits)(form.ones)

            @update_ff
            def constant_of_modulus():
                if s.load_modulus:
                    s.m_prime <<= 0
                    if s.of_ones:
                        s.m_prime <<= ONES
                elif s.ends & s.makes_m_prime:
                    s.m_prime <<= s.m_prime_in

        if code.reads_one:
            s.above_one = Wire()  # modulus > 1; 1 modulo 1 is 0
            s.above_one_n = Wire()
            s.shows_one = Wire()

            @update
            def one_of_modulus():
                s.above_one_n @= s.above_one
                if s.load_modulus:
                    s.above_one_n @= s.mod_n != 1

            # an operation that is refused has no result, and shows 0
            @update
            def one_of_no_refusal():
                s.shows_one @= s.above_one_n & (s.load | ~s.accept)

            @update
            def one_as_a_residue():
                s.one @= zext(s.shows_one, nbits)

            @update_ff
            def remember_whether_above_one():
                if s.load_modulus:
                    s.above_one <<= s.mod_n != 1

        if fits:
            s.count_blocks = BlockCount(nbits, block_nbits)
            s.count_blocks.value //= s.mod_n
            MOST = -(-nbits // block_nbits)
            blocks = mk_bits(clog2(MOST + 1))
            s.blocks = Wire(blocks)  # of the modulus
            s.nblocks = OutPort(blocks)  # of the product under way

            @update_ff
            def count_of_blocks():
                if s.load_modulus:
                    s.blocks <<= s.count_blocks.nblocks

            wire("wide_product", "wide")

            @update
            def blocks_of_product():
                s.nblocks @= s.blocks
                if s.wide_product:
                    s.nblocks @= MOST

        # ---- exponent

        s.exponent = ExponentRegister(code, nbits)
        s.exponent.source //= chosen("exponent_choice", code.exponent_sources, "exponent_from")
        s.exponent.load_exponent //= s.load_exponent
        if code.skips:
            s.exponent.blocks //= s.blocks
        for name in ("at_top", "even", "adds", "right"):
            if hasattr(s.exponent, name):
                connect(getattr(s.exponent, name), told(name))
        for name in ("shift", "align", "stretch", "load_random", "skip"):
            if hasattr(s.exponent, name):
                setattr(s, name, InPort())
                connect(getattr(s.exponent, name), getattr(s, name))
        if code.stretches:
            s.exponent.random_in //= s.s.now[0 : program.random_nbits]
        for name in ("finished_n", "aligned_n", "bit_n", "bit_now", "window_nbits", "can_skip"):
            if hasattr(s.exponent, name):
                setattr(s, name, OutPort(getattr(s.exponent, name).get_type()))
                connect(getattr(s.exponent, name), getattr(s, name))

        # ---- memory

        if program.depth:
            address = mk_bits(code.address_nbits)
            s.store = InPort()
            wire("fetched_at", "read_at", address)
            if code.scans:
                s.scan_at = InPort(program.digit_nbits)
                s.scan_reads = InPort()
                s.scan_read = InPort()
            if code.counts:
                s.index = InPort(code.index_nbits)
            memory = ShieldedMemory if code.shielded else ResidueMemory
            s.memory = memory(program.depth, nbits)
            s.memory.data //= s.data
            s.memory.write //= s.store
            s.memory.in_data //= chosen("stored", code.written, "store_from")
            wire("by_slot", "write_at", address)
            s.by_count = Wire(address)
            low = min(code.index_nbits, address.nbits)
            connect_low(s.by_count, s.index[0:low])
            choice = choose(s, "write_choice", [s.by_slot, s.by_count], told("by_index"), address.nbits)
            s.memory.write_at //= choice

            if code.scans:
                scanned = mk_bits(program.digit_nbits)
                s.digit = Wire(scanned)
                s.digit //= s.exponent.digit
                s.read_entry = Wire(scanned)  # whose entry is on the port

                @update
                def read_address():
                    s.memory.read_at @= s.fetched_at
                    if s.scan_reads:
                        s.memory.read_at @= zext(s.scan_at, address.nbits)

                if code.shielded:
                    wire("fetches", "reads")

                    @update
                    def read_or_scan():
                        s.memory.read @= s.fetches | s.scan_reads

                @update_ff
                def follow_scan():
                    s.read_entry <<= s.scan_at

                s.meant = Wire()

                @update
                def entry_that_is_meant():
                    s.meant @= s.scan_read & (s.read_entry == s.digit)

                s.s.entry_there //= s.meant
                s.s.entry //= s.data
            elif program.sliding:
                s.window_at = Wire(address)
                connect_low(s.window_at, s.exponent.window_n)
                places = [s.fetched_at, s.window_at]
                s.memory.read_at //= choose(s, "read_choice", places, told("picks"), address.nbits)
            else:
                s.memory.read_at //= s.fetched_at
            if code.shielded and not code.scans:
                connect(s.memory.read, told("reads"))

        # ---- sums

        if code.sums:
            s.adder = ModAddSub(nbits)
            x_names, y_names = code.sums
            s.adder.x //= chosen("sum_x", x_names, "sum_x_from")
            s.adder.y //= chosen("sum_y", y_names, "sum_y_from")
            s.adder.n //= s.mod if form is None else as_word("modulus", s.mod, 0, modulus_nbits)
            connect(s.adder.subtract, told("subtracts"))
            s.adder.out //= s.sum

        # ---- checks

        if code.checks:
            s.equal = OutPort()
            s.compared = Wire(word)
            s.compared //= chosen("compare_choice", code.named(Check, "y"), "compare_with")

            @update
            def compare():
                s.equal @= s.r.now == s.compared

        if program.verified:
            s.released = InPort()
            s.equal_at_end = OutPort()

            if program.joins:

                @update
                def agree_in_both_words():
                    s.equal_at_end @= (s.r.now == s.b.now) & (s.s.now == zext(s.mod, nbits))

            else:

                @update
                def agree():
                    s.equal_at_end @= s.r.now == s.b.now

        # the words of the result
        shown = s.r.now
        if form is not None:
            shown = s.words_of_result = Wire(operation_nbits)
            low = min(operation_nbits, modulus_nbits)
            s.words_of_result[0:low] //= s.r.now[0:low]
            if program.joins:
                s.words_of_result[low:operation_nbits] //= s.s.now[0 : operation_nbits - low]
        if not program.verified:
            s.result //= shown
        elif form is None:

            @update
            def shows_result():
                s.result @= 0
                if s.released:
                    s.result @= s.r.now

        else:

            @update
            def shows_words_of_result():
                s.result @= 0
                if s.released:
                    s.result @= s.words_of_result

        # ---- the unit that converts

        if code.converts:
            s.setup_in = InPort(word)
            s.setup_start = OutPort(word)
            s.setup_result //= s.setup_in
            s.setup_start //= chosen("setup_choice", code.named(Setup, "src"), "setup_from", when="kept")
            if form is None and code.doublings is None:
                most = max(
                    setup.fixed + setup.per_block * (MOST if fits else 0) for setup in program.find(Setup)
                )
                counted = clog2(most // per_cycle + 1)
                s.setup_last = OutPort(counted)
                PER_BLOCK = code.doublings_per_block // per_cycle
                s.cycles_fixed = Wire(counted)
                fixed_nbits = code.fields["setup_cycles"].nbits
                connect(s.cycles_fixed[0:fixed_nbits], told("setup_cycles"))
                if fixed_nbits < counted:
                    s.cycles_fixed[fixed_nbits:counted] //= 0
                if PER_BLOCK:
                    wire("by_blocks", "setup_by_block")

                    @update
                    def cycles_of_blocks():
                        s.setup_last @= s.cycles_fixed - 1
                        if s.by_blocks:
                            s.setup_last @= s.cycles_fixed + zext(s.blocks, counted) * PER_BLOCK - 1

                else:

                    @update
                    def cycles_alone():
                        s.setup_last @= s.cycles_fixed - 1
