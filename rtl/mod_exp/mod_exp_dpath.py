"""ModExpDpath: the registers of a ModExp, and the multiplexers before them and before its units.

    request.base --+                      +---- b ----> y0, x1, y1 --+
    converted -----+--> b_mux ----> b ----+                          |
    product[] -----+                                                 +--> req_a, req_b of units
                                                                     |
    1 -------------+--> r_mux ----> r --------- r -------------------+
    converted, b --+               |
    product[] -----+               +--> result        product 0 is r * y0, product 1 is x1 * y1

    request.base, r or one --> converter
    request.mod --> modulus --> units, converter      request.exp --> exponent --> bits, for ctrl

A multiplexer has the sources that the plan needs (shape.py); with one source there is none. With `forward`
the units read the value that enters a register in this cycle, otherwise the register.

Ports: the request, products, factors and result; ModExpIfc to the controller.
"""

from pymtl3 import *
from pymtl3.stdlib.basic_rtl import Mux, RegEn

from ..messages import connect_fields
from .exponent import LeftToRightExponent, RightToLeftExponent
from .one_residue import OneResidue


def select_nbits(sources):
    return max(1, clog2(len(sources)))


class ModExpIfc(Interface):
    """Control and status signals between ModExpCtrl and ModExpDpath. Control and State are the port types, In
    and Out at one end, Out and In at the other. A multiplexer with one source has no select.
    """

    def construct(s, shape, Control, State):
        plan = shape.plan
        s.load = Control()  # a request is accepted
        s.refuse = Control()  # and is not computed
        s.r_en = Control()
        s.b_en = Control()
        s.r_sel = Control(select_nbits(shape.r_sources))
        if len(shape.b_sources) > 1:
            s.b_sel = Control(select_nbits(shape.b_sources))
        if len(shape.y0_sources) > 1:
            s.y0_sel = Control(select_nbits(shape.y0_sources))
        if len(shape.x1_sources) > 1:
            s.x1_sel = Control(select_nbits(shape.x1_sources))
            s.y1_sel = Control(select_nbits(shape.y1_sources))
        if plan.nunits < shape.nproducts:
            s.second = Control()  # the unit makes product 1
        s.shift = Control()  # a bit of the exponent has been used
        if shape.looks_ahead:
            s.next_bit = State()  # of the exponent, after this cycle
        s.next_done = State()  # no bit is left after this cycle
        if not plan.right_to_left:
            s.exp_bit = State()
        if plan.aligns:
            s.align = Control()
            s.next_aligned = State()


def connect_mux(mux, select, sources, signals):
    """The select and the inputs of a multiplexer, by the names of the sources."""
    mux.sel //= select
    for port, name in zip(mux.in_, sources, strict=True):
        port //= signals[name]


class ModExpDpath(Component):
    """The registers b, r, modulus and exponent of an exponentiation, and what they are loaded from."""

    def construct(s, shape, Request):
        plan, nbits = shape.plan, shape.plan.nbits
        Word = mk_bits(nbits)
        s.request = InPort(Request)
        s.product = [InPort(nbits) for _ in range(plan.nunits)]
        s.req_a = [OutPort(nbits) for _ in range(plan.nunits)]
        s.req_b = [OutPort(nbits) for _ in range(plan.nunits)]
        s.mod = OutPort(nbits)
        s.result = OutPort(nbits)
        s.ctrl = ModExpIfc(shape, InPort, OutPort)

        s.modulus = RegEn(Word)
        s.modulus.in_ //= s.request.mod
        s.modulus.en //= s.ctrl.load
        s.modulus.out //= s.mod

        s.r = Wire(nbits)  # the result
        s.r_in = Wire(nbits)
        s.r_next = Wire(nbits)
        s.result //= s.r
        s.b = Wire(nbits)  # the base, and its powers
        s.b_in = Wire(nbits)
        s.b_next = Wire(nbits)

        @update
        def next_values():
            s.r_next @= s.r_in if s.ctrl.r_en else s.r
            s.b_next @= s.b_in if s.ctrl.b_en else s.b

        @update_ff
        def registers():
            s.r <<= s.r_next
            s.b <<= s.b_next

        s.make_one(plan)
        signals = {"one": s.one, "base": s.request.base, "b": s.b}
        signals |= {f"product_{i}": product for i, product in enumerate(s.product)}
        if shape.converts:
            s.connect_converter(shape)
            signals["converted"] = s.converted
        s.r_mux = Mux(Word, len(shape.r_sources))
        s.r_mux.out //= s.r_in
        connect_mux(s.r_mux, s.ctrl.r_sel, shape.r_sources, signals)
        if len(shape.b_sources) > 1:
            s.b_mux = Mux(Word, len(shape.b_sources))
            s.b_mux.out //= s.b_in
            connect_mux(s.b_mux, s.ctrl.b_sel, shape.b_sources, signals)
        else:
            s.b_in //= s.request.base
        s.connect_factors(shape)
        s.connect_exponent(shape)

    def make_one(s, plan):
        """The first value of r: 1 modulo the modulus. A refused request gives 0."""
        s.one = Wire(plan.nbits)
        if plan.conversion == "given":

            @update
            def one_of_request():
                s.one @= s.request.one
                if s.ctrl.refuse:
                    s.one @= 0

        else:
            s.one_residue = OneResidue(plan.nbits)
            s.one_residue.load //= s.ctrl.load
            s.one_residue.modulus //= s.request.mod
            s.one_residue.refuse //= s.ctrl.refuse
            s.one_residue.one //= s.one

    def connect_converter(s, shape):
        """The converter starts with the base, and then with r if that is 1; for a constant, with 1."""
        s.convert_in = OutPort(shape.plan.nbits)
        s.converted = InPort(shape.plan.nbits)
        if "CONVERT_ONE" in shape.states:

            @update
            def base_or_one():
                s.convert_in @= s.request.base if s.ctrl.load else s.r

        else:
            s.convert_in //= s.request.base if "CONVERT" in shape.states else s.one

    def connect_factors(s, shape):
        """The factors of products, two of which one unit makes in series."""
        plan, Word = shape.plan, mk_bits(shape.plan.nbits)
        r, b = (s.r_next, s.b_next) if plan.forward else (s.r, s.b)
        signals = {"r": r, "b": b, "1": 1}
        y0, x1, y1 = b, b, b
        if len(shape.y0_sources) > 1:
            s.y0_mux = Mux(Word, len(shape.y0_sources))
            connect_mux(s.y0_mux, s.ctrl.y0_sel, shape.y0_sources, signals)
            y0 = s.y0_mux.out
        if len(shape.x1_sources) > 1:
            s.x1_mux = Mux(Word, len(shape.x1_sources))
            connect_mux(s.x1_mux, s.ctrl.x1_sel, shape.x1_sources, signals)
            s.y1_mux = Mux(Word, len(shape.y1_sources))
            connect_mux(s.y1_mux, s.ctrl.y1_sel, shape.y1_sources, signals)
            x1, y1 = s.x1_mux.out, s.y1_mux.out
        elif shape.nproducts > 1:
            x1, y1 = signals[shape.x1_sources[0]], signals[shape.y1_sources[0]]
        if plan.nunits < shape.nproducts:
            s.a_factor_mux = Mux(Word, 2)
            s.a_factor_mux.out //= s.req_a[0]
            connect_mux(s.a_factor_mux, s.ctrl.second, (0, 1), (r, x1))
            s.b_factor_mux = Mux(Word, 2)
            s.b_factor_mux.out //= s.req_b[0]
            connect_mux(s.b_factor_mux, s.ctrl.second, (0, 1), (y0, y1))
            return
        s.req_a[0] //= r
        s.req_b[0] //= y0
        if plan.nunits > 1:
            s.req_a[1] //= x1
            s.req_b[1] //= y1

    def connect_exponent(s, shape):
        plan = shape.plan
        if plan.right_to_left:
            s.exponent = RightToLeftExponent(plan.nbits)
        else:
            s.exponent = LeftToRightExponent(plan.nbits, plan.aligns, shape.looks_ahead)
            s.exponent.exp_bit //= s.ctrl.exp_bit
        if plan.aligns:
            s.exponent.align //= s.ctrl.align
            s.exponent.next_aligned //= s.ctrl.next_aligned
        s.exponent.exp //= s.request.exp
        if shape.looks_ahead:
            s.exponent.next_bit //= s.ctrl.next_bit
        connect_fields(s.exponent, s.ctrl, "load", "shift", "next_done")
