"""ResidueDpath: the datapath of a ProgramExp (program_exp.py).

                 request            product[]      memory, adder, converter
                    |                   |                     |
    modulus   exponent <---- muxes by select fields of the microinstruction
                    |                   |
                  Sequencer    r, b, s (ResidueRegister)  ->  muxes  ->  factors of the product units,
                                                                        memory, adder, comparator, converter

Each multiplexer is called like the select field that controls it, and has the sources that the program names;
with one source it is a wire. On a scaled modulus (`form`) residues have more bits than the modulus, which is
next to its constant M'. M' is 0 while it is made. A machine that joins two words answers {s, r}.

Ports: the request, factors and products of the units, the converter's operands, DpathIfc to the Sequencer.
"""

from pymtl3 import *
from pymtl3.stdlib.basic_rtl import EqComparator, Mux, RegEn

from ...fl.program.ir import Setup
from ..units.block_count import BlockCount
from ..units.mod_add_sub import ModAddSub
from ..units.residue_memory import ResidueMemory
from ..units.shielded_memory import ShieldedMemory
from ..wires import connect_low
from .exponent_register import ExponentRegister
from .residue_register import ResidueRegister, ResidueValue
from .sequencer import DpathIfc


def source_mux(code, select):
    """The multiplexer of a select field; a wire if there is one source, None without a source."""
    kind = mk_bits(code.shape.residue_nbits)
    nsources = len(code.sources[select])
    return Mux(kind, nsources) if nsources > 1 else Wire(kind) if nsources else None


class Lifted(Component):
    """A factor, shifted up if it is one of an integer product."""

    def construct(s, nbits, wide, places):
        s.factor = InPort(nbits)
        s.lifts = InPort()
        s.out = OutPort(wide)

        @update
        def lift():
            s.out @= zext(s.factor, wide)
            if s.lifts:
                s.out @= zext(s.factor, wide) << places


class OneResidue(Component):
    """1 modulo the modulus that is loaded, which is 0 for modulus 1. A refused request shows 0.

    Ports: load_modulus, modulus, refuse -> one.
    """

    def construct(s, nbits):
        s.load_modulus = InPort()
        s.modulus = InPort(nbits)
        s.refuse = InPort()
        s.one = OutPort(nbits)
        s.above_one = Wire()
        s.is_one = Wire()

        @update
        def residue_of_one():
            s.is_one @= s.above_one
            if s.load_modulus:
                s.is_one @= s.modulus != 1
            if s.refuse:
                s.is_one @= 0
            s.one @= zext(s.is_one, nbits)

        @update_ff
        def remember_comparison():
            if s.load_modulus:
                s.above_one <<= s.modulus != 1


class TableScan(Component):
    """Reads all 2^k entries of a table, one a cycle, and finds the one of a digit.

    Ports: start, in the cycle before the first; digit -> reads, at; found, a cycle after its address; busy.
    """

    def construct(s, k):
        s.start = InPort()
        s.digit = InPort(k)
        s.reads = OutPort()
        s.at = OutPort(k)
        s.found = OutPort()
        s.busy = OutPort()
        s.valid = Wire()  # the entry `read_at` is there
        s.read_at = Wire(k)
        LAST = mk_bits(k)((1 << k) - 1)

        @update
        def find():
            s.busy @= s.reads | s.valid
            s.found @= s.valid & (s.read_at == s.digit)

        @update_ff
        def scan():
            s.valid <<= s.reads
            s.read_at <<= s.at
            s.at <<= 0
            if s.reads:
                s.at <<= s.at + 1
            if s.reset:
                s.reads <<= 0
            elif s.start:
                s.reads <<= 1
            elif s.at == LAST:
                s.reads <<= 0


class ResidueDpath(Component):
    def construct(s, code):
        shape, program = code.shape, code.program
        residue = mk_bits(shape.residue_nbits)
        s.request = InPort(code.request_type)
        s.result = OutPort(shape.nbits)
        s.mod = OutPort(shape.modulus_nbits)
        s.product = [InPort(residue) for _ in range(shape.nunits)]
        s.req_a = [OutPort(shape.factor_nbits) for _ in range(shape.nunits)]
        s.req_b = [OutPort(residue) for _ in range(shape.nunits)]
        s.ctrl = DpathIfc(code, InPort, OutPort)
        if code.converts:
            s.convert_in = OutPort(residue)
            s.converted = InPort(residue)
        if code.scaled:
            s.left = InPort(residue)  # a number that leaves the form

        # working registers
        lane = (shape.residue_nbits, code.nproducts)
        s.r = ResidueRegister(*lane)
        s.r_from = source_mux(code, "r_from")
        s.r_late_from = source_mux(code, "r_late_from")
        if "b" in program.registers:
            s.b = ResidueRegister(*lane)
            s.b_from = source_mux(code, "b_from")
            s.b_late_from = source_mux(code, "b_late_from")
        if "s" in program.registers:
            s.s = ResidueRegister(*lane)
            s.s_from = source_mux(code, "s_from")
            s.s_late_from = source_mux(code, "s_late_from")

        # factors of the products
        s.x0, s.y0 = source_mux(code, "x0"), source_mux(code, "y0")
        if code.nproducts == 2:
            s.x1, s.y1 = source_mux(code, "x1"), source_mux(code, "y1")
        if code.scaled:
            s.lifted = [
                Lifted(shape.residue_nbits, shape.factor_nbits, shape.form.lift_nbits)
                for _ in range(code.nproducts)
            ]
        if code.in_order:
            s.factor_a = Mux(mk_bits(shape.factor_nbits), 2)
            s.factor_b = Mux(residue, 2)

        # modulus, exponent, memory, adder, comparator, converter
        s.modulus = RegEn(mk_bits(shape.modulus_nbits))
        s.modulus_from = source_mux(code, "modulus_from")
        if code.reads_one:
            s.one_residue = OneResidue(shape.residue_nbits)
        if program.given:
            s.given_one = Wire(residue)
        s.exponent = ExponentRegister(code)
        s.exponent_from = source_mux(code, "exponent_from")
        if program.depth:
            s.memory = (ShieldedMemory if code.shielded else ResidueMemory)(
                program.depth, shape.residue_nbits
            )
            s.write_from = source_mux(code, "write_from")
        if code.scans:
            s.scan = TableScan(program.digit_nbits)
        if code.adds:
            s.adder = ModAddSub(shape.residue_nbits)
            s.sum_x_from = source_mux(code, "sum_x_from")
            s.sum_y_from = source_mux(code, "sum_y_from")
        if code.compares:
            s.comparator = EqComparator(residue)
            s.compare_with = source_mux(code, "compare_with")
        if code.converts:
            s.convert_from = source_mux(code, "convert_from")

        for lane in s.registers(code):
            s.connect_register(code, *lane)
        s.connect_factors(code)
        s.connect_modulus(code)
        s.connect_exponent(code)
        if program.depth:
            s.connect_memory(code)
        if code.adds:
            s.connect_adder(code)
        if code.compares:
            s.connect_comparator(code)
        if code.converts:
            s.connect_converter(code)
        s.connect_result(code)

    # ---- multiplexers

    def named(s, code):
        """Registers, fields of the request and results of boxes, as programs call them."""
        found = {name: register.value for name, register, *_ in s.registers(code)}
        for field in code.request_type.__bitstruct_fields__:
            found[f"in.{field}"] = getattr(s.request, field)
        if code.program.depth:
            found["memory"] = s.memory.data
        if code.adds:
            found["sum"] = s.adder.out
        if code.converts:
            found["setup"] = s.converted
        if code.scaled:
            found["left"] = s.left
        if code.reads_one:
            found["1"] = s.one_residue.one
        if code.program.given:
            found["in.one"] = s.given_one
        return found

    def operand(s, code, name, factor, value):
        """The signal or constant that a program calls `name`; value: the one of a register."""
        form, residue = code.shape.form, mk_bits(code.shape.residue_nbits)
        constants = {"0": 0}
        if form:
            constants |= {"1": 1, "unit": 1 << form.halvings, "half": 1 << form.shape.nbits}
        elif factor:
            constants |= {"1": 1}
        if name in constants:
            return residue(constants[name])
        named = s.named(code)
        whole, part = (name, "") if name in named else name.rsplit(".", 1)
        signal = named[whole]
        if isinstance(signal, ResidueValue):
            signal = {"now": signal.now, "next": signal.next, "kept": signal.kept}[value]
        nbits, low_nbits = signal.get_type().nbits, code.shape.modulus_nbits
        if part == "low":
            return signal[0 : min(nbits, low_nbits)]
        if part:
            return signal[low_nbits * (form.folds - 1 if part == "top" else 1) : nbits]
        return signal

    def select(s, code, mux, field, word, factor=False, value="now"):
        """Connect the sources and the select of a multiplexer; return its output."""
        ports = mux.in_ if isinstance(mux, Mux) else [mux]
        for port, name in zip(ports, code.sources[field], strict=True):
            source = s.operand(code, name, factor, value)
            if isinstance(source, Bits) or source.get_type() is port.get_type():
                connect(port, source)
            else:
                connect_low(port, source)
        if isinstance(mux, Mux):
            connect(mux.sel, getattr(word, field))
            return mux.out
        return mux

    # ---- boxes

    def registers(s, code):
        """The working registers, with their names and the multiplexers before them."""
        lanes = [("r", s.r, s.r_from, s.r_late_from)]
        if "b" in code.program.registers:
            lanes.append(("b", s.b, s.b_from, s.b_late_from))
        if "s" in code.program.registers:
            lanes.append(("s", s.s, s.s_from, s.s_late_from))
        return lanes

    def connect_register(s, code, name, register, source, late_source):
        register.arrives //= s.ctrl.arrives
        register.ends //= s.ctrl.ends
        connect(register.takes, getattr(s.ctrl.word, f"{name}_takes"))
        for port, product in zip(register.product, s.product * code.nproducts, strict=False):
            port //= product
        s.connect_load(code, register.loads, register.source, source, f"{name}_from")
        s.connect_load(code, register.loads_late, register.late_source, late_source, f"{name}_late_from")
        if name == "s" and code.scans:
            register.finds //= s.scan.found
            register.entry //= s.memory.data
        else:
            register.finds //= 0
            register.entry //= 0

    def connect_load(s, code, loads, port, mux, field):
        """Connect the source of a register's load, if it has one."""
        if mux is None:
            loads //= 0
            port //= 0
        else:
            connect(loads, getattr(s.ctrl.word, field.replace("from", "loads")))
            connect(port, s.select(code, mux, field, s.ctrl.word))

    def connect_factors(s, code):
        forward = code.shape.forward
        word = s.ctrl.ahead_word if forward and code.reads_ahead else s.ctrl.word
        how = (word, True, "next" if forward else "now")
        a, b = [s.select(code, s.x0, "x0", *how)], [s.select(code, s.y0, "y0", *how)]
        if code.nproducts == 2:
            a.append(s.select(code, s.x1, "x1", *how))
            b.append(s.select(code, s.y1, "y1", *how))
        if code.scaled:
            for at, lifted in enumerate(s.lifted):
                lifted.factor //= a[at]
                connect(lifted.lifts, getattr(word, f"lifts{at}"))
            a = [lifted.out for lifted in s.lifted]
        ports = zip(s.req_a, s.req_b, strict=True)
        if code.in_order:
            s.factor_a.sel //= s.ctrl.second
            s.factor_a.out //= s.req_a[0]
            s.factor_b.sel //= s.ctrl.second
            s.factor_b.out //= s.req_b[0]
            ports = zip(s.factor_a.in_, s.factor_b.in_, strict=True)
        for at, (port_a, port_b) in enumerate(ports):
            port_a //= a[at]
            port_b //= b[at]

    def connect_modulus(s, code):
        shape, word = code.shape, s.ctrl.word
        modulus = s.select(code, s.modulus_from, "modulus_from", word)
        s.modulus.en //= s.ctrl.load_modulus
        s.modulus.in_ //= modulus[0 : shape.modulus_nbits] if shape.form else modulus
        s.modulus.out //= s.mod
        if code.program.given:
            # a refused request has no result, and shows 0
            @update
            def one_of_request():
                s.given_one @= s.request.one
                if s.ctrl.refuse:
                    s.given_one @= 0

        if code.reads_one:
            s.one_residue.load_modulus //= s.ctrl.load_modulus
            s.one_residue.modulus //= modulus
            s.one_residue.refuse //= s.ctrl.refuse

        if code.scaled:
            s.m_prime = OutPort(shape.modulus_nbits)
            s.m_prime_in = InPort(shape.modulus_nbits)
            ONES = mk_bits(shape.modulus_nbits)(shape.form.ones)

            @update_ff
            def constant_of_modulus():
                if s.ctrl.load_modulus:
                    s.m_prime <<= 0
                    if s.ctrl.word.sets_ones:
                        s.m_prime <<= ONES
                elif s.ctrl.ends & s.ctrl.word.makes_m_prime:
                    s.m_prime <<= s.m_prime_in

        if shape.block_nbits:
            BLOCKS = shape.nblocks
            blocks = mk_bits(clog2(BLOCKS + 1))
            s.count_blocks = BlockCount(shape.residue_nbits, shape.block_nbits)
            s.count_blocks.value //= modulus
            s.blocks = RegEn(blocks)
            s.blocks.en //= s.ctrl.load_modulus
            s.blocks.in_ //= s.count_blocks.nblocks
            s.nblocks = OutPort(blocks)  # of the product under way

            @update
            def blocks_of_product():
                s.nblocks @= s.blocks.out
                if s.ctrl.word.wide:
                    s.nblocks @= BLOCKS

    def connect_exponent(s, code):
        word = s.ctrl.word
        s.exponent.source //= s.select(code, s.exponent_from, "exponent_from", word)
        s.exponent.ctrl //= s.ctrl.exponent
        if code.clears_lowest:
            s.exponent.even //= word.even
        if code.places:
            s.exponent.at_top //= word.at_top
        if code.both_ways:
            s.exponent.load_right //= word.load_right
        if code.skips:
            s.exponent.blocks //= s.blocks.out
        if code.stretches:
            s.exponent.adds //= word.adds
            s.exponent.random_in //= s.s.value.now[0 : code.program.random_nbits]

    def connect_memory(s, code):
        address = mk_bits(code.address_nbits)
        s.memory.write //= s.ctrl.store
        s.memory.in_data //= s.select(code, s.write_from, "write_from", s.ctrl.word)
        s.entry_at = Wire(address)
        connect_low(s.entry_at, s.ctrl.index)

        @update
        def write_address():
            s.memory.write_at @= s.ctrl.word.write_at
            if s.ctrl.word.at_index:
                s.memory.write_at @= s.entry_at

        if code.scans:
            s.connect_scan(code)
        elif code.program.sliding:
            s.window_at = Wire(address)
            connect_low(s.window_at, s.exponent.window_n)

            @update
            def read_address():
                s.memory.read_at @= s.ctrl.ahead_word.read_at
                if s.ctrl.ahead_word.at_window:
                    s.memory.read_at @= s.window_at

        else:
            s.memory.read_at //= s.ctrl.ahead_word.read_at
        if code.shielded and not code.scans:
            s.memory.read //= s.ctrl.ahead_word.reads

    def connect_scan(s, code):
        """All entries of the table are read, and s takes the one of the exponent's digit."""
        address_nbits = code.address_nbits
        s.scan.start //= s.ctrl.scan_start
        s.scan.busy //= s.ctrl.scan_busy
        s.scan.digit //= s.exponent.digit

        @update
        def read_address_of_scan():
            s.memory.read_at @= s.ctrl.ahead_word.read_at
            if s.scan.reads:
                s.memory.read_at @= zext(s.scan.at, address_nbits)

        if code.shielded:

            @update
            def read_or_scan():
                s.memory.read @= s.ctrl.ahead_word.reads | s.scan.reads

    def connect_adder(s, code):
        word = s.ctrl.word
        s.adder.x //= s.select(code, s.sum_x_from, "sum_x_from", word)
        s.adder.y //= s.select(code, s.sum_y_from, "sum_y_from", word)
        s.adder.subtract //= word.subtracts
        connect_low(s.adder.n, s.mod)

    def connect_comparator(s, code):
        s.comparator.in0 //= s.r.value.now
        s.comparator.in1 //= s.select(code, s.compare_with, "compare_with", s.ctrl.word)
        s.comparator.out //= s.ctrl.equal

    def connect_converter(s, code):
        shape = code.shape
        word = s.ctrl.next_word if len(code.sources["convert_from"]) > 1 else s.ctrl.word
        s.convert_in //= s.select(code, s.convert_from, "convert_from", word, value="kept")
        if not code.counts_doublings:
            return
        most = (
            max(setup.fixed + setup.per_block * shape.nblocks for setup in code.program.find(Setup))
            // shape.doublings_per_cycle
        )
        counted = clog2(most + 1)
        s.convert_last = OutPort(counted)  # cycles, less one
        s.cycles = Wire(counted)
        connect_low(s.cycles, s.ctrl.word.convert_cycles)
        PER_BLOCK = code.doublings_per_block // shape.doublings_per_cycle
        if PER_BLOCK:

            @update
            def cycles_of_blocks():
                s.convert_last @= s.cycles - 1
                if s.ctrl.word.convert_blocks:
                    s.convert_last @= s.cycles + zext(s.blocks.out, counted) * PER_BLOCK - 1

        else:

            @update
            def cycles_alone():
                s.convert_last @= s.cycles - 1

    def connect_result(s, code):
        """The result, one word or two, if it is released."""
        low = min(code.shape.nbits, code.shape.modulus_nbits)
        s.answer = Wire(code.shape.nbits)
        s.answer[0:low] //= s.r.value.now[0:low]
        if low < code.shape.nbits:
            s.answer[low : code.shape.nbits] //= s.s.value.now[0 : code.shape.nbits - low]
        if not code.program.verified:
            s.result //= s.answer
            return

        @update
        def release_result():
            s.result @= 0
            if s.ctrl.released:
                s.result @= s.answer

        if code.program.joins:
            s.high = Wire(code.shape.residue_nbits)
            connect_low(s.high, s.mod)

            @update
            def agree_in_both_words():
                s.ctrl.equal_at_end @= (s.r.value.now == s.b.value.now) & (s.s.value.now == s.high)

        else:

            @update
            def agree():
                s.ctrl.equal_at_end @= s.r.value.now == s.b.value.now
