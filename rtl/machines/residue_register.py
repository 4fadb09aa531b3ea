"""ResidueRegister: a working register of a program, with the value that it is about to take.

It takes a product when that arrives, a source at the end of the microinstruction (`loads`), or an entry of
the table when a scan finds it. Products that are sent in the same cycle read `next`, and conversions `kept`,
the next value if no product arrives. A source that comes too late for that is loaded by `loads_late`.

Ports: product[], arrives, takes, ends, loads, source, loads_late, late_source, finds, entry -> value {now,
next, kept}.
"""

from pymtl3 import *


class ResidueValue(Interface):
    """A register now and after this cycle; kept: after this cycle, without arriving products."""

    def construct(s, nbits):
        s.now = OutPort(nbits)
        s.next = OutPort(nbits)
        s.kept = OutPort(nbits)


class ResidueRegister(Component):
    def construct(s, nbits, nproducts):
        s.product = [InPort(nbits) for _ in range(nproducts)]
        s.arrives = InPort(nproducts)
        s.takes = InPort(nproducts)
        s.ends = InPort()
        s.loads = InPort()
        s.source = InPort(nbits)
        s.loads_late = InPort()
        s.late_source = InPort(nbits)
        s.finds = InPort()
        s.entry = InPort(nbits)
        s.value = ResidueValue(nbits)

        s.now = Wire(nbits)
        s.now //= s.value.now
        LAST = nproducts - 1

        @update
        def without_products():
            s.value.kept @= s.now
            if s.ends & s.loads:
                s.value.kept @= s.source
            elif s.finds:
                s.value.kept @= s.entry

        @update
        def with_products():
            s.value.next @= s.value.kept
            for i in range(nproducts):
                if s.arrives[LAST - i] & s.takes[LAST - i]:
                    s.value.next @= s.product[LAST - i]

        @update_ff
        def register():
            s.now <<= s.value.next
            if s.ends & s.loads_late:
                s.now <<= s.late_source
