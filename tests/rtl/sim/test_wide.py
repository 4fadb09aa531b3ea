"""Bits beyond PyMTL3's limit of 1023: arithmetic and structs; test_backends simulates them."""

import pytest
from modexlab.rtl import wide
from pymtl3 import Bits, concat, mk_bits, mk_bitstruct, sext, trunc, zext
from pymtl3.datatypes import PythonBits

from tests.harness import parametrize


@parametrize("nbits", [1023, 1024, 2050, 4100, 8256, wide.MAX_NBITS])
def test_arithmetic(nbits):
    top = (1 << nbits) - 1
    ones = mk_bits(nbits)(top)
    assert (int(ones + 1), int(ones * ones), int(~ones), int(ones << 1)) == (0, 1, 0, top - 1)
    assert int(ones[nbits - 8 : nbits]) == 0xFF
    assert int(trunc(ones, 1)) == 1
    assert int(concat(ones[0:8], ones[8:nbits])) == top
    assert Bits(nbits, -1) == ones
    if nbits < wide.MAX_NBITS:
        assert int(zext(ones, nbits + 1)) == top
        assert int(sext(ones, nbits + 1)) == 2 * top + 1
    value = mk_bits(nbits)(0)
    value @= ones
    value[0:8] = 0
    assert int(value) == top - 0xFF


def test_checks_are_those_of_pymtl3():
    for message, arguments in (
        (f"Only support 1 <= nbits <= {wide.MAX_NBITS}, not {wide.MAX_NBITS + 1}", (wide.MAX_NBITS + 1,)),
        ("not 0", (0,)),
        (r"Value 0x10 is too wide for Bits4!\n.Bits4 only accepts -0x8 <= value <= 0xf", (4, 16)),
        ("Bits8 object on RHS is too wide to be used to construct Bits4", (4, Bits(8, 1))),
        ("Bits2 object on RHS is too narrow to be used to construct Bits4", (4, Bits(2, 1))),
    ):
        with pytest.raises(ValueError, match=message):
            Bits(*arguments)
    with pytest.raises(ValueError, match="too wide"):
        mk_bits(2050)(0).__imatmul__(1 << 2050)
    assert Bits(4, 16, trunc_int=True) == 0
    assert Bits(4, Bits(4, 3)) == 3
    assert Bits(1, -1) == 1


def test_bitstruct_of_three_operands():
    word = mk_bits(4096)
    Request = mk_bitstruct("WideRequest", {"base": word, "exp": word, "mod": word})
    request = Request(1, 2, (1 << 4096) - 1)
    packed = request.to_bits()
    assert packed.nbits == 12288
    assert Request.from_bits(packed) == request


def test_bits_from_elsewhere_are_refused(monkeypatch):
    wide.widen()  # nothing to do: already applied
    monkeypatch.setattr(PythonBits.Bits, "__init__", lambda self, *args: None)
    monkeypatch.setattr(wide.bits_import, "Bits", int)
    with pytest.raises(RuntimeError, match=r"a package named `mamba`.*uninstall it, or set PYMTL_BITS=1"):
        wide.widen()
