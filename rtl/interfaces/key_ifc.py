"""KeyIfc: a key at ports, which must be stable during an operation.

`given`: names and bits of the numbers that a machine needs with the modulus, each a port of that name.
"""

from pymtl3 import *


class KeyIfc(Interface):
    def construct(s, nbits, given=()):
        s.modulus = InPort(nbits)
        s.public = InPort(nbits)
        s.private = InPort(nbits)
        for name, width in given:
            setattr(s, name, InPort(width))
