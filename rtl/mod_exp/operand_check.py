"""OperandCheck: checks the preconditions of a machine once, when an operation arrives.

Any modulus but 0 will do for a machine that divides. A Montgomery machine needs an odd one (odd_only), and
all machines that do not divide need a base below it (reduced_only). Ports: base (with reduced_only), mod ->
status (codes in modexlab.fl.status); combinational, one comparator.
"""

from pymtl3 import *

from ...fl.status import STATUS_NBITS, Status


def check_operands(s, nbits, odd_only=True, reduced_only=True):
    """A machine `s` gets an OperandCheck of what arrives."""
    s.operand_check = OperandCheck(nbits, odd_only, reduced_only)
    if reduced_only:
        s.operand_check.base //= s.istream.msg.base
    s.operand_check.mod //= s.istream.msg.mod


class OperandCheck(Component):
    """Checks the operands of a request."""

    def construct(s, nbits, odd_only, reduced_only):
        s.mod = InPort(nbits)
        s.status = OutPort(STATUS_NBITS)

        OK, ZERO_MODULUS, EVEN_MODULUS, BASE_TOO_LARGE, *_ = Status
        s.odd = Wire()
        s.too_large = Wire()

        s.odd //= s.mod[0] if odd_only else 1
        if reduced_only:
            s.base = InPort(nbits)

            @update
            def compare():
                s.too_large @= s.base >= s.mod

        else:
            s.too_large //= 0

        @update
        def judge():
            s.status @= OK
            if s.mod == 0:
                s.status @= ZERO_MODULUS
            elif ~s.odd:
                s.status @= EVEN_MODULUS
            elif s.too_large:
                s.status @= BASE_TOO_LARGE
