"""Stream wrappers, for proofs only, around units without streams and units whose response depends on several
requests.

    ArrayStream   a systolic array with operand registers: {a, b} -> the product
    SetupStream   a ScaledSetup that gets the modulus first, then the request: {kind, word} -> {m_prime, word}
"""

from types import SimpleNamespace

from pymtl3 import Component, InPort, Wire, b2, mk_bits, mk_bitstruct, update, update_ff
from pymtl3.stdlib.stream.ifcs import RecvIfcRTL, SendIfcRTL

from ....rtl.states import states
from ....rtl.units.scaled.scaled_setup import ConvertKind, ScaledSetup
from ....rtl.units.systolic.systolic_mont import SystolicMont


class ArrayStream(SystolicMont):
    """One product at a time, on either array."""

    def construct(s, array, k, nwords):  # type: ignore[override]
        super().construct(SimpleNamespace(digit_nbits=k, nwords=nwords, wide=k * nwords), array)


class SetupStream(Component):
    """A modulus, and a request that uses it."""

    def construct(s, entry):
        nbits, word = entry.shape.nbits, entry.word_nbits
        s.istream = RecvIfcRTL(mk_bitstruct("SetupReq", {"kind": mk_bits(2), "word": mk_bits(word)}))
        s.ostream = SendIfcRTL(mk_bitstruct("SetupResp", {"m_prime": mk_bits(nbits), "word": mk_bits(word)}))
        s.modulus = InPort(nbits)
        SCALE = b2(ConvertKind.SCALE)

        s.unit = ScaledSetup(entry)
        s.unit.modulus //= s.modulus
        s.kind = Wire(2)
        s.word = Wire(word)
        s.m_prime = Wire(nbits)
        s.st = Wire(3)
        IDLE, FIRST, SCALES, SECOND, COMPUTES, DONE = states(
            s.st, IDLE=0, FIRST=1, SCALES=2, SECOND=3, COMPUTES=4, DONE=5
        )

        @update
        def handshakes():
            s.istream.rdy @= s.st == IDLE
            s.unit.istream.val @= (s.st == FIRST) | (s.st == SECOND)
            s.unit.istream.msg @= s.word
            s.unit.kind @= s.kind
            if s.st == FIRST:
                s.unit.kind @= SCALE
            s.unit.ostream.rdy @= (s.st == SCALES) | (s.st == COMPUTES)
            s.ostream.val @= s.st == DONE
            s.ostream.msg.m_prime @= s.m_prime
            s.ostream.msg.word @= s.word

        @update_ff
        def control():
            if s.reset:
                s.st <<= IDLE
            elif s.st == IDLE:
                if s.istream.val:
                    s.st <<= FIRST
            elif (s.st == FIRST) & s.unit.istream.rdy:
                s.st <<= SCALES
            elif (s.st == SCALES) & s.unit.ostream.val:
                s.st <<= SECOND
            elif (s.st == SECOND) & s.unit.istream.rdy:
                s.st <<= COMPUTES
            elif (s.st == COMPUTES) & s.unit.ostream.val:
                s.st <<= DONE
            elif s.ostream.val & s.ostream.rdy:
                s.st <<= IDLE

        @update_ff
        def request_and_answer():
            if (s.st == IDLE) & s.istream.val:
                s.kind <<= s.istream.msg.kind
                s.word <<= s.istream.msg.word
            elif (s.st == SCALES) & s.unit.ostream.val:
                s.m_prime <<= s.unit.m_prime
            elif (s.st == COMPUTES) & s.unit.ostream.val:
                s.word <<= s.unit.ostream.msg
