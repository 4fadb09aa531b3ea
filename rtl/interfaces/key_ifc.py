"""KeyIfc: a key at ports, which must stay while the hardware works with it."""

from pymtl3 import *


class KeyIfc(Interface):
    def construct(s, nbits, given=()):
        s.modulus = InPort(nbits)
        s.public = InPort(nbits)
        s.private = InPort(nbits)
        for name, wide in given:  # numbers that a machine takes with the modulus
            setattr(s, name, InPort(wide))
