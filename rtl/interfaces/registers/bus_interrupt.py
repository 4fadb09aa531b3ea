"""BusInterrupt: an event that stays until software clears it, and whether it raises the interrupt.

Ports: trigger, clear; enable, which is written with enable_wen -> enabled, pending, irq. Cycles: 2 from an
event to irq.
"""

from pymtl3 import *


class BusInterrupt(Component):
    """An interrupt with enable and pending bits; it is pending until software clears it."""

    def construct(s):
        s.trigger = InPort()
        s.clear = InPort()
        s.enable_wen = InPort()
        s.enable = InPort()
        s.enabled = OutPort()
        s.pending = OutPort()
        s.irq = OutPort()
        s.assertions = {"PendingStays": ("pending && !clear", "pending")}

        @update_ff
        def registers():
            if s.reset:
                s.enabled <<= 0
                s.pending <<= 0
                s.irq <<= 0
            else:
                s.irq <<= s.enabled & s.pending
                if s.enable_wen:
                    s.enabled <<= s.enable
                if s.trigger:
                    s.pending <<= 1
                elif s.clear:
                    s.pending <<= 0
