"""ResidueDpath: the datapath of a ProgramExp (program_exp.py).

    request, product[], memory, adder, converter
        |
        v
    r_from, b_from, s_from ...  ->  r, b, s (ResidueRegister)  --> x0, y0, x1, y1 -> req_a, req_b
    modulus_from                ->  modulus (RegEn)             |-> write_from    -> memory
    exponent_from               ->  exponent                    |-> sum_*_from    -> adder
                                                                |-> compare_with  -> comparator
                                                                '-> convert_from  -> converter

A multiplexer has the name of the select field that controls it, and the sources that the program names; with
one source it is a wire. On a scaled modulus (`shape.form`) residues are wider than the modulus, and m_prime
is the constant M' of the modulus, 0 while it is computed. A machine of two residues a result answers {s, r}.

Ports: the request, factors and products of the units, the converter's operands, DpathIfc to the Sequencer.
"""

from pymtl3 import *
from pymtl3.stdlib.basic_rtl import EqComparator, Mux, RegEn

from ...fl.program.ir import Setup
from ..messages import fields_of
from ..units.block_count import BlockCount
from ..units.memory.residue_memory import ResidueMemory
from ..units.memory.shielded_memory import ShieldedMemory
from ..units.mod_add_sub import ModAddSub
from ..wires import connect_low
from .exponent_register import ExponentRegister
from .residue_register import ResidueRegister, ResidueValue
from .sequencer import DpathIfc


def source_mux(microcode, select, nbits=0):
    """The multiplexer of a select field, for residues without `nbits`; a wire if there is one source, None
    without a source.
    """
    kind = mk_bits(nbits or microcode.shape.residue_nbits)
    nsources = len(microcode.sources[select])
    return Mux(kind, nsources) if nsources > 1 else Wire(kind) if nsources else None


class FactorShift(Component):
    """A factor, shifted left by `places` if `shift` is 1."""

    def construct(s, nbits, wide, places):
        s.factor = InPort(nbits)
        s.shift = InPort()
        s.out = OutPort(wide)

        @update
        def lift():
            s.out @= zext(s.factor, wide)
            if s.shift:
                s.out @= zext(s.factor, wide) << places


class OneResidue(Component):
    """1 modulo the modulus, which is 0 for modulus 1 and for a refused request.

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
    """Reads all 2^k entries of a table, one per cycle, and marks the entry of a digit.

    Ports: start, in the cycle before the first; digit -> reads, at; found, a cycle after its address; busy.
    """

    def construct(s, k):
        s.start = InPort()
        s.digit = InPort(k)
        s.reads = OutPort()
        s.at = OutPort(k)
        s.found = OutPort()
        s.busy = OutPort()
        s.valid = Wire()  # the memory's output is entry `read_at`
        s.read_at = Wire(k)
        LAST = mk_bits(k)((1 << k) - 1)
        s.assertions = {"OneScanAtATime": "!(start && busy)"}

        @update
        def find():
            s.busy @= s.reads | s.valid
            s.found @= s.valid & (s.read_at == s.digit)

        # countermeasure TABLE_SCAN: every entry is read, so that no address depends on the exponent
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
    """The datapath: working registers, their multiplexers, exponent and modulus."""

    def construct(s, microcode):
        shape, program = microcode.shape, microcode.program
        residue = mk_bits(shape.residue_nbits)
        s.request = InPort(microcode.request_type)
        s.result = OutPort(shape.nbits)
        s.mod = OutPort(shape.modulus_nbits)
        s.product = [InPort(residue)]
        s.req_a = [OutPort(shape.factor_nbits)]
        s.req_b = [OutPort(residue)]
        s.ctrl = DpathIfc(microcode, InPort, OutPort)
        if microcode.has_converter:
            s.convert_in = OutPort(residue)
            s.converted = InPort(residue)
        if microcode.scaled:
            s.halved = InPort(residue)  # converter output, below the modulus

        s.add_registers(microcode)
        s.add_factors(microcode)
        s.modulus = RegEn(mk_bits(shape.modulus_nbits))  # of the operation in progress
        s.modulus_from = source_mux(microcode, "modulus_from")  # source of the modulus
        if microcode.reads_one:
            s.one_residue = OneResidue(shape.residue_nbits)  # the constant 1 of the program
        s.exponent = ExponentRegister(microcode)  # its digits, in the order of the program
        s.exponent_from = source_mux(
            microcode, "exponent_from", microcode.exponent_nbits
        )  # source of the exponent
        if program.depth:
            s.memory = (ShieldedMemory if microcode.shielded else ResidueMemory)(
                program.depth, shape.residue_nbits
            )  # the table and other numbers of the program
            s.write_from = source_mux(microcode, "write_from")  # the number to be stored
        if microcode.scans_table:
            s.scan = TableScan(program.digit_nbits)  # reads every entry, to hide the digit
        if microcode.has_adder:
            s.adder = ModAddSub(shape.residue_nbits)
            s.sum_x_from = source_mux(microcode, "sum_x_from")  # first operand of the adder
            s.sum_y_from = source_mux(microcode, "sum_y_from")  # second operand of the adder
        if microcode.has_comparator:
            s.comparator = EqComparator(residue)  # compares r with compare_with
            s.compare_with = source_mux(microcode, "compare_with")
        if microcode.has_converter:
            s.convert_from = source_mux(microcode, "convert_from")  # operand of the converter

        for lane in s.registers(microcode):
            s.connect_register(microcode, *lane)
        s.connect_factors(microcode)
        s.connect_modulus(microcode)
        s.connect_exponent(microcode)
        if program.depth:
            s.connect_memory(microcode)
        if microcode.has_adder:
            s.connect_adder(microcode)
        if microcode.has_comparator:
            s.connect_comparator(microcode)
        if microcode.has_converter:
            s.connect_converter(microcode)
        s.connect_result(microcode)

    def add_registers(s, microcode):
        """The working registers, and the multiplexers before them."""
        lane = (microcode.shape.residue_nbits, microcode.nproducts)
        s.r = ResidueRegister(*lane)  # the result
        s.r_from = source_mux(microcode, "r_from")  # source of r
        s.r_late_from = source_mux(microcode, "r_late_from")  # for r, too late to be forwarded
        if "b" in microcode.program.registers:
            s.b = ResidueRegister(*lane)  # the base
            s.b_from = source_mux(microcode, "b_from")  # source of b
            s.b_late_from = source_mux(microcode, "b_late_from")  # for b, too late to be forwarded
        if "s" in microcode.program.registers:
            s.s = ResidueRegister(*lane)  # an operand, or the table entry of a digit
            s.s_from = source_mux(microcode, "s_from")  # source of s
            s.s_late_from = source_mux(microcode, "s_late_from")  # for s, too late to be forwarded

    def add_factors(s, microcode):
        """The multiplexers of the factors, and the shifters behind them."""
        shape = microcode.shape
        s.x0 = source_mux(microcode, "x0")  # first factor of product 0
        s.y0 = source_mux(microcode, "y0")  # second factor of product 0
        if microcode.nproducts == 2:
            s.x1 = source_mux(microcode, "x1")  # first factor of product 1
            s.y1 = source_mux(microcode, "y1")  # second factor of product 1
        if microcode.scaled:
            s.factor_shift = [
                FactorShift(shape.residue_nbits, shape.factor_nbits, shape.form.lift_nbits)
                for _ in range(microcode.nproducts)
            ]  # lifts a factor into the form
        if microcode.shares_unit:
            s.factor_a = Mux(mk_bits(shape.factor_nbits), 2)  # first factor of the product to be issued
            s.factor_b = Mux(mk_bits(shape.residue_nbits), 2)  # its second factor

    # ---- multiplexers

    def signals(s, microcode):
        """Registers, request fields and box outputs by their names in programs."""
        found = {name: register.value for name, register, *_ in s.registers(microcode)}
        request = fields_of(s.request, microcode.request_type.__bitstruct_fields__.items())
        found |= {f"in.{field}": signal for field, signal in request.items()}
        if microcode.program.depth:
            found["memory"] = s.memory.data
        if microcode.has_adder:
            found["sum"] = s.adder.out
        if microcode.has_converter:
            found["setup"] = s.converted
        if microcode.scaled:
            found["halved"] = s.halved
        if microcode.reads_one:
            found["1"] = s.one_residue.one
        return found

    def operand(s, microcode, name, factor, value):
        """Return the signal or constant of a name in programs; value: which output of a register."""
        form, residue = microcode.shape.form, mk_bits(microcode.shape.residue_nbits)
        constants = {"0": 0}
        if form:
            constants |= {"1": 1, "unit": 1 << form.halvings, "half": 1 << form.shape.nbits}
        elif factor:
            constants |= {"1": 1}
        if name in constants:
            return residue(constants[name])
        named = s.signals(microcode)
        whole, part = (name, "") if name in named else name.rsplit(".", 1)
        signal = named[whole]
        if isinstance(signal, ResidueValue):
            signal = {"out": signal.out, "next": signal.next, "loaded": signal.loaded}[value]
        nbits, low_nbits = signal.get_type().nbits, microcode.shape.modulus_nbits
        if part == "low":
            return signal[0 : min(nbits, low_nbits)]
        if part:
            return signal[low_nbits * (form.folds - 1 if part == "top" else 1) : nbits]
        return signal

    def select(s, microcode, mux, field, inst, factor=False, value="out"):
        """Connect the sources and the select of a multiplexer; return its output."""
        ports = mux.in_ if isinstance(mux, Mux) else [mux]
        for port, name in zip(ports, microcode.sources[field], strict=True):
            source = s.operand(microcode, name, factor, value)
            if isinstance(source, Bits):
                port //= port.get_type()(int(source))
            elif source.get_type() is port.get_type():
                port //= source
            else:
                connect_low(port, source)
        if isinstance(mux, Mux):
            mux.sel //= microcode.signals(inst)[field]
            return mux.out
        return mux

    # ---- boxes

    def registers(s, microcode):
        """The working registers, with their names and the multiplexers before them."""
        lanes = [("r", s.r, s.r_from, s.r_late_from)]
        if "b" in microcode.program.registers:
            lanes.append(("b", s.b, s.b_from, s.b_late_from))
        if "s" in microcode.program.registers:
            lanes.append(("s", s.s, s.s_from, s.s_late_from))
        return lanes

    def connect_register(s, microcode, name, register, source, late_source):
        register.product_val //= s.ctrl.product_val
        register.inst_done //= s.ctrl.inst_done
        register.load_product //= microcode.signals(s.ctrl.inst)[f"{name}_load_product"]
        for port, product in zip(register.product, s.product * microcode.nproducts, strict=False):
            port //= product
        s.connect_load(microcode, register.load, register.source, source, name)
        s.connect_load(microcode, register.load_late, register.late_source, late_source, f"{name}_late")
        if name == "s" and microcode.scans_table:
            register.load_entry //= s.scan.found
            register.entry //= s.memory.data
        else:
            register.load_entry //= 0
            register.entry //= 0

    def connect_load(s, microcode, load, source, mux, name):
        """Connect a register's load enable and source; 0 without a multiplexer."""
        if mux is None:
            load //= 0
            source //= 0
        else:
            load //= microcode.signals(s.ctrl.inst)[f"{name}_load"]
            source //= s.select(microcode, mux, f"{name}_from", s.ctrl.inst)

    def connect_factors(s, microcode):
        forward = microcode.shape.forward
        inst = s.ctrl.ahead_inst if forward and microcode.reads_ahead else s.ctrl.inst
        how = (inst, True, "next" if forward else "out")
        a, b = [s.select(microcode, s.x0, "x0", *how)], [s.select(microcode, s.y0, "y0", *how)]
        if microcode.nproducts == 2:
            a.append(s.select(microcode, s.x1, "x1", *how))
            b.append(s.select(microcode, s.y1, "y1", *how))
        if microcode.scaled:
            for at, shifter in enumerate(s.factor_shift):
                shifter.factor //= a[at]
                shifter.shift //= microcode.signals(inst)[f"shift_factor{at}"]
            a = [shifter.out for shifter in s.factor_shift]
        ports = zip(s.req_a, s.req_b, strict=True)
        if microcode.shares_unit:
            s.factor_a.sel //= s.ctrl.second
            s.factor_a.out //= s.req_a[0]
            s.factor_b.sel //= s.ctrl.second
            s.factor_b.out //= s.req_b[0]
            ports = zip(s.factor_a.in_, s.factor_b.in_, strict=True)
        for at, (port_a, port_b) in enumerate(ports):
            port_a //= a[at]
            port_b //= b[at]

    def connect_modulus(s, microcode):
        shape, inst = microcode.shape, s.ctrl.inst
        modulus = s.select(microcode, s.modulus_from, "modulus_from", inst)
        s.modulus.en //= s.ctrl.load_modulus
        s.modulus.in_ //= modulus[0 : shape.modulus_nbits] if shape.form else modulus
        s.modulus.out //= s.mod
        if microcode.reads_one:
            s.one_residue.load_modulus //= s.ctrl.load_modulus
            s.one_residue.modulus //= modulus
            s.one_residue.refuse //= s.ctrl.refuse

        if microcode.scaled:
            s.m_prime = OutPort(shape.modulus_nbits)
            s.m_prime_in = InPort(shape.modulus_nbits)
            ONES = mk_bits(shape.modulus_nbits)(shape.form.ones)

            @update_ff
            def constant_of_modulus():
                if s.ctrl.load_modulus:
                    s.m_prime <<= 0
                    if s.ctrl.inst.load_ones:
                        s.m_prime <<= ONES
                elif s.ctrl.inst_done & s.ctrl.inst.load_m_prime:
                    s.m_prime <<= s.m_prime_in

        if shape.block_nbits:
            BLOCKS = shape.nblocks
            blocks = mk_bits(clog2(BLOCKS + 1))
            s.count_blocks = BlockCount(shape.residue_nbits, shape.block_nbits)
            s.count_blocks.value //= modulus
            s.blocks = RegEn(blocks)
            s.blocks.en //= s.ctrl.load_modulus
            s.blocks.in_ //= s.count_blocks.nblocks
            s.nblocks = OutPort(blocks)  # blocks of the current product

            @update
            def blocks_of_product():
                s.nblocks @= s.blocks.out
                if s.ctrl.inst.all_blocks:
                    s.nblocks @= BLOCKS

    def connect_exponent(s, microcode):
        inst = s.ctrl.inst
        s.exponent.source //= s.select(microcode, s.exponent_from, "exponent_from", inst)
        s.exponent.ctrl //= s.ctrl.exponent
        if microcode.clears_lowest:
            s.exponent.clear_lowest //= inst.clear_lowest
        if microcode.two_positions:
            s.exponent.at_top //= inst.at_top
        if microcode.two_directions:
            s.exponent.load_right //= inst.load_right
        if microcode.skips_blocks:
            s.exponent.blocks //= s.blocks.out
        if microcode.blinds_exponent:
            s.exponent.add //= inst.add_exponent
            s.exponent.random_in //= s.s.value.out[0 : microcode.program.random_nbits]

    def connect_memory(s, microcode):
        address = mk_bits(microcode.address_nbits)
        s.memory.write //= s.ctrl.store
        s.memory.in_data //= s.select(microcode, s.write_from, "write_from", s.ctrl.inst)
        s.entry_at = Wire(address)
        connect_low(s.entry_at, s.ctrl.index)

        @update
        def write_address():
            s.memory.write_at @= s.ctrl.inst.write_at
            if s.ctrl.inst.write_at_index:
                s.memory.write_at @= s.entry_at

        if microcode.scans_table:
            s.connect_scan(microcode)
        elif microcode.program.sliding:
            s.window_at = Wire(address)
            connect_low(s.window_at, s.exponent.next_window_half)

            @update
            def read_address():
                s.memory.read_at @= s.ctrl.ahead_inst.read_at
                if s.ctrl.ahead_inst.read_at_window:
                    s.memory.read_at @= s.window_at

        else:
            s.memory.read_at //= s.ctrl.ahead_inst.read_at
        if microcode.shielded and not microcode.scans_table:
            s.memory.read //= s.ctrl.ahead_inst.read

    def connect_scan(s, microcode):
        """All entries of the table are read, and s takes the one of the exponent's digit."""
        address_nbits = microcode.address_nbits
        s.scan.start //= s.ctrl.scan_start
        s.scan.busy //= s.ctrl.scan_busy
        s.scan.digit //= s.exponent.digit

        @update
        def read_address_of_scan():
            s.memory.read_at @= s.ctrl.ahead_inst.read_at
            if s.scan.reads:
                s.memory.read_at @= zext(s.scan.at, address_nbits)

        if microcode.shielded:

            @update
            def read_or_scan():
                s.memory.read @= s.ctrl.ahead_inst.read | s.scan.reads

    def connect_adder(s, microcode):
        inst = s.ctrl.inst
        s.adder.x //= s.select(microcode, s.sum_x_from, "sum_x_from", inst)
        s.adder.y //= s.select(microcode, s.sum_y_from, "sum_y_from", inst)
        s.adder.subtract //= inst.subtract
        connect_low(s.adder.n, s.mod)

    def connect_comparator(s, microcode):
        s.comparator.in0 //= s.r.value.out
        s.comparator.in1 //= s.select(microcode, s.compare_with, "compare_with", s.ctrl.inst)
        s.comparator.out //= s.ctrl.equal

    def connect_converter(s, microcode):
        shape = microcode.shape
        inst = s.ctrl.next_inst if len(microcode.sources["convert_from"]) > 1 else s.ctrl.inst
        s.convert_in //= s.select(microcode, s.convert_from, "convert_from", inst, value="loaded")
        if not microcode.counts_doublings:
            return
        most = (
            max(setup.fixed + setup.per_block * shape.nblocks for setup in microcode.program.find(Setup))
            // shape.doublings_per_cycle
        )
        counted = clog2(most + 1)
        s.convert_last = OutPort(counted)  # cycles of the conversion, less one
        s.cycles = Wire(counted)
        connect_low(s.cycles, s.ctrl.inst.convert_cycles)
        PER_BLOCK = microcode.doublings_per_block // shape.doublings_per_cycle
        if PER_BLOCK:

            @update
            def cycles_of_blocks():
                s.convert_last @= s.cycles - 1
                if s.ctrl.inst.convert_blocks:
                    s.convert_last @= s.cycles + zext(s.blocks.out, counted) * PER_BLOCK - 1

        else:

            @update
            def cycles_alone():
                s.convert_last @= s.cycles - 1

    def connect_result(s, microcode):
        """The result, one word or two, if it is released."""
        low = min(microcode.shape.nbits, microcode.shape.modulus_nbits)
        s.answer = Wire(microcode.shape.nbits)
        s.answer[0:low] //= s.r.value.out[0:low]
        if low < microcode.shape.nbits:
            s.answer[low : microcode.shape.nbits] //= s.s.value.out[0 : microcode.shape.nbits - low]
        if not microcode.program.verified:
            s.result //= s.answer
            return

        @update
        def release_result():
            s.result @= 0
            if s.ctrl.released:
                s.result @= s.answer

        if microcode.program.joins:
            s.high = Wire(microcode.shape.residue_nbits)
            connect_low(s.high, s.mod)

            # countermeasure TWO_COPIES: a result is released only if two registers agree
            @update
            def agree_in_both_words():
                s.ctrl.equal_at_end @= (s.r.value.out == s.b.value.out) & (s.s.value.out == s.high)

        else:
            # countermeasure TWO_COPIES: a result is released only if two registers agree
            @update
            def agree():
                s.ctrl.equal_at_end @= s.r.value.out == s.b.value.out
