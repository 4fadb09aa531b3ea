"""KeyIfc: a key at ports, which must be stable during an operation.

one, square, n_prime: bits of the numbers that a machine needs with the modulus, each a port of that name.
"""

from pymtl3 import *


class KeyIfc(Interface):
    def construct(s, nbits, one=0, square=0, n_prime=0):
        s.modulus = InPort(nbits)
        s.public = InPort(nbits)
        s.private = InPort(nbits)
        if one:
            s.one = InPort(one)
        if square:
            s.square = InPort(square)
        if n_prime:
            s.n_prime = InPort(n_prime)
