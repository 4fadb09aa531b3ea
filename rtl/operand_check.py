"""OperandCheck: the preconditions of a machine, looked at once, when an operation arrives.

Any modulus but 0 will do for a machine that divides; a Montgomery machine needs an odd one, and a base below it.
Ports: base, mod -> status (codes in modexlab.fl.status); combinational, one comparator.
"""

from pymtl3 import *

from ..fl.status import STATUS_NBITS, Status


class OperandCheck(Component):
    def construct(s, nbits, montgomery):
        s.base = InPort(nbits)
        s.mod = InPort(nbits)
        s.status = OutPort(STATUS_NBITS)

        OK = int(Status.OK)
        ZERO_MODULUS = int(Status.ZERO_MODULUS)
        EVEN_MODULUS = int(Status.EVEN_MODULUS)
        BASE_TOO_LARGE = int(Status.BASE_TOO_LARGE)

        if montgomery:

            @update
            def check_montgomery():
                s.status @= OK
                if s.mod == 0:
                    s.status @= ZERO_MODULUS
                elif ~s.mod[0]:
                    s.status @= EVEN_MODULUS
                elif s.base >= s.mod:
                    s.status @= BASE_TOO_LARGE

        else:

            @update
            def check_any():
                s.status @= OK
                if s.mod == 0:
                    s.status @= ZERO_MODULUS
