"""OneResidue: 1 modulo the modulus, which is 0 for modulus 1 and for a refused request.

Ports: load, modulus (of the request), refuse -> one. After `load` the answer is that of the loaded modulus.
"""

from pymtl3 import *


class OneResidue(Component):
    def construct(s, nbits):
        s.load = InPort()
        s.modulus = InPort(nbits)
        s.refuse = InPort()
        s.one = OutPort(nbits)
        s.above_one = Wire()
        s.is_one = Wire()

        @update
        def residue_of_one():
            s.is_one @= s.above_one
            if s.load:
                s.is_one @= s.modulus != 1
            if s.refuse:
                s.is_one @= 0
            s.one @= zext(s.is_one, nbits)

        @update_ff
        def remember_comparison():
            if s.load:
                s.above_one <<= s.modulus != 1
