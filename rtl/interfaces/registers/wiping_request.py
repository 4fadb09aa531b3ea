"""WipingRequest: the request that overwrites what an exponentiator holds, in the place of a cleared one.

While `wiping` the request is 0^3 modulo `modulus`, provided that the cleared one is 0.

Ports: cleared, wiping -> request.
"""

from pymtl3 import *

from ....fl.axi4lite import WIPING_EXPONENT
from ...messages import connect_fields, mk_request

EXPONENT = WIPING_EXPONENT


class WipingRequest(Component):
    """Replaces a cleared request by one that overwrites the operands in the machine."""

    def construct(s, shape, modulus):
        s.cleared = InPort(mk_request(shape))
        s.wiping = InPort()
        s.request = OutPort(mk_request(shape))

        MODULUS = mk_bits(shape.widest)(modulus)

        s.exponent = Wire(shape.widest)
        s.modulus = Wire(shape.widest)
        s.request.base //= s.cleared.base
        s.request.exp //= s.exponent
        s.request.mod //= s.modulus
        connect_fields(s.request, s.cleared, *dict(shape.request[3:]))

        # countermeasure ZEROISE: an operation on constants overwrites the machine
        @update
        def overwrite():
            s.exponent @= s.cleared.exp
            s.modulus @= s.cleared.mod
            if s.wiping:
                s.exponent @= s.cleared.exp | EXPONENT
                s.modulus @= s.cleared.mod | MODULUS
