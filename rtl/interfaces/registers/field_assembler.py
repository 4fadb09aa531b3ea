"""FieldAssembler: assembles the request of an accelerator from operands of whole words.

Ports: operand, one for each field -> request; too_wide: an operand has a 1 above its field. Wires, and a
comparison with 0.
"""

from pymtl3 import *

from ....fl.xcel import WORD_NBITS, words_of
from ...messages import fields_of, mk_request


class FieldAssembler(Component):
    """Assembles a request from operands of whole words."""

    def construct(s, shape):
        wide = words_of(shape.widest) * WORD_NBITS
        s.operand = [InPort(wide) for _ in shape.request]
        s.request = OutPort(mk_request(shape))
        s.too_wide = OutPort()

        spilt = [wide - nbits for _, nbits in shape.request]  # bits above the fields
        if not any(spilt):
            s.too_wide //= 0
        else:
            s.spill = Wire(sum(spilt))

            @update
            def fits():
                s.too_wide @= s.spill != 0

        low = 0
        for operand, field in zip(s.operand, fields_of(s.request, shape.request).values(), strict=True):
            nbits = field.get_type().nbits
            field //= operand[0:nbits]
            if nbits < wide:
                s.spill[low : low + wide - nbits] //= operand[nbits:wide]
                low += wide - nbits
