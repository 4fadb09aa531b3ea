"""PseudoMul: a * b mod m for one modulus m that is fixed in the hardware (paper 000, sections 2.2.1 and 4.1).

A CompressionTree folds and compresses the partial products to two rows, a ModAdder adds them modulo m. The
modulus is any of the shapes 2^n, 2^n - 1, 2^n + 1, 2^n - k, 2^n + k; the paper's machines take a
pseudo-modulus, a multiple c * m of shape 2^n - 1, and reduce once at the end. `PseudoSquare` is the same for
a * a with half of the products, `PseudoReduce` gives the residue of a longer word (section 5.1).

Ports: istream {a, b} -> ostream, the residue; a and b may be any words of nbits. PseudoSquare: istream a.
PseudoReduce: istream of nbits, ostream as long as a residue. The static port `modulus`, which every product
unit has, is not read: the modulus is baked in. `plan` is the plan of the tree. Cycles: 1, the tree is
combinational and its result is registered, as operands come from registers in all machines. Takes the next
operands in the cycle in which its result is taken. Area order: that of the tree (compression_tree.py), one
register of nbits.
"""

from pymtl3 import *

from ...fl.compression.compression import BEST, make_plan
from ...fl.errors import BadInput
from ...fl.moduli import classify
from ..messages import declare_streams, mk_product_req
from .compression_tree import CompressionTree
from .mod_adder import ModAdder
from .serial_ctrl import answer_registered

MIN_NBITS = 4


def modulus_of(modulus, nbits):
    """The modulus of a unit; BadInput if its residues are longer than the unit's words."""
    found = classify(modulus)
    if nbits < MIN_NBITS:
        raise BadInput(f"a compression tree of {nbits} bits: give {MIN_NBITS} or more")
    if found.operand_nbits > nbits:
        raise BadInput(
            f"the residues modulo {found} have {found.operand_nbits} bits, the unit has {nbits}: "
            f"give it {found.operand_nbits} bits or more"
        )
    return found


class PseudoUnit(Component):
    """A tree and a register; the subclass defines the function."""

    UNREAD = (("modulus", "every product unit has this port; here the modulus is baked in"),)
    OPERATION = ""

    def construct(s, nbits, modulus, strategy=BEST, adder="brent-kung"):
        m = modulus_of(modulus, nbits)
        multiplies = s.OPERATION == "multiply"
        out_nbits = m.operand_nbits if s.OPERATION == "reduce" else nbits
        declare_streams(s, mk_product_req(nbits) if multiplies else mk_bits(nbits), mk_bits(out_nbits))
        s.modulus = InPort(nbits)
        s.plan = make_plan(s.OPERATION, m, nbits, strategy, adder)
        s.core = PseudoCore(s.OPERATION, nbits, out_nbits, m.value, strategy, adder)
        if multiplies:
            s.core.a //= s.istream.msg.a
            s.core.b //= s.istream.msg.b
        else:
            s.core.a //= s.istream.msg
        answer_registered(s, s.core.out)

    def line_trace(s):
        return f"{s.istream}|{s.ostream}"


class PseudoMul(PseudoUnit):
    OPERATION = "multiply"


class PseudoSquare(PseudoUnit):
    OPERATION = "square"


class PseudoReduce(PseudoUnit):
    """The residue modulo m of a longer word, for a modulus m that is fixed in the hardware."""

    OPERATION = "reduce"


class PseudoCore(Component):
    """Compression tree and final modular adder of a pseudo-modulus unit, combinational."""

    def construct(s, operation, nbits, out_nbits, m, strategy, adder):
        plan = make_plan(operation, classify(m), nbits, strategy, adder)
        s.a = InPort(nbits)
        s.out = OutPort(out_nbits)
        s.tree = CompressionTree(operation, m, nbits, strategy, adder)
        s.tree.a //= s.a
        if operation == "multiply":
            s.b = InPort(nbits)
            s.tree.b //= s.b
        final = plan.mod_sum
        s.mod_adder = ModAdder(m, plan.columns, final.most_a, final.most_b, adder)
        s.mod_adder.a //= s.tree.row_a
        s.mod_adder.b //= s.tree.row_b
        residue_nbits = plan.modulus.operand_nbits
        s.out[0:residue_nbits] //= s.mod_adder.out
        if out_nbits > residue_nbits:
            s.out[residue_nbits:out_nbits] //= 0
