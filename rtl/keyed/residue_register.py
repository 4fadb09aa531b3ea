"""ResidueRegister: a working register (r, b or s) of a ProgramExp, with its next value for forwarding.

    load_product, product_val    a product, when it arrives
    load, inst_done              source, at the end of the microinstruction; it is forwarded
    load_late, inst_done         late_source, likewise, but it comes too late to be forwarded
    load_entry                   entry, which a table scan has found

Ports: these, product[] -> value.
"""

from pymtl3 import *


class ResidueValue(Interface):
    """Outputs of a register: `out`, the register; `next`, its next value, which forwarded products read;
    `loaded`, its next value if no product arrives, which conversions read.
    """

    def construct(s, nbits):
        s.out = OutPort(nbits)
        s.next = OutPort(nbits)
        s.loaded = OutPort(nbits)


class ResidueRegister(Component):
    """A working register and its next value."""

    def construct(s, nbits, nproducts):
        s.product = [InPort(nbits) for _ in range(nproducts)]
        s.product_val = InPort(nproducts)
        s.load_product = InPort(nproducts)
        s.inst_done = InPort()
        s.load = InPort()
        s.source = InPort(nbits)
        s.load_late = InPort()
        s.late_source = InPort(nbits)
        s.load_entry = InPort()
        s.entry = InPort(nbits)
        s.value = ResidueValue(nbits)

        s.residue = Wire(nbits)
        s.residue //= s.value.out
        LAST = nproducts - 1
        if nproducts > 1:
            s.assertions = {"OneProductArrives": "~&(product_val & load_product)"}

        @update
        def loaded_value():
            s.value.loaded @= s.residue
            if s.inst_done & s.load:
                s.value.loaded @= s.source
            elif s.load_entry:
                s.value.loaded @= s.entry

        @update
        def next_value():
            s.value.next @= s.value.loaded
            for i in range(nproducts):
                if s.product_val[LAST - i] & s.load_product[LAST - i]:
                    s.value.next @= s.product[LAST - i]

        @update_ff
        def register():
            s.residue <<= s.value.next
            if s.inst_done & s.load_late:
                s.residue <<= s.late_source
