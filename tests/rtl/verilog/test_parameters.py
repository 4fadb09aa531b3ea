"""Modules with parameters: one that is unified from two elaborations is a third one at its values."""

import re

import pytest
from modexlab.rtl.interfaces.registers.channel_queues import RequestQueue, ResponseQueue
from modexlab.rtl.units.add_red import AddRedTextbook
from modexlab.rtl.units.compression_tree import Inverters
from modexlab.rtl.units.cond_sub import CondSub
from modexlab.rtl.units.heap.full_adders import FullAdders, FullAddersLevel
from modexlab.rtl.units.heap.row_select import RowSelect
from modexlab.rtl.units.serial_ctrl import PassCtrl, Registered
from modexlab.rtl.verilog.loops import Different
from modexlab.rtl.verilog.parameters import STDLIB, instantiated, unified
from modexlab.rtl.verilog.translate import design_of
from pymtl3 import mk_bits
from pymtl3.stdlib.basic_rtl import Mux, RegEn, RegEnRst

from tests.harness import parametrize
from tests.paths import ROOT

LEAVES = {
    "AddRedTextbook": (AddRedTextbook, ((8,), (9,), (21,))),
    "CondSub": (CondSub, ((8,), (11,), (32,))),
    "FullAdders": (FullAdders, ((5,), (6,), (12,))),
    "FullAddersLevel": (FullAddersLevel, ((2, 16), (3, 18), (7, 40))),
    "Inverters": (Inverters, ((4,), (5,), (9,))),
    "Mux": (Mux, ((mk_bits(8), 2), (mk_bits(9), 3), (mk_bits(24), 5))),
    "PassCtrl": (PassCtrl, ((0, 3), (0, 4), (0, 7))),
    "RegEn": (RegEn, ((mk_bits(8),), (mk_bits(9),), (mk_bits(24),))),
    "RegEnRst": (RegEnRst, ((mk_bits(8),), (mk_bits(9),), (mk_bits(24),))),
    "Registered": (Registered, ((8,), (9,), (17,))),
    "RequestQueue": (RequestQueue, ((8,), (9,), (36,))),
    "ResponseQueue": (ResponseQueue, ((2,), (9,), (34,))),
    "RowSelect": (RowSelect, ((9, 8), (9, 11), (9, 32))),
}
INHERITED = {"PrefixLevel"}  # its base declares them
CONSTANTS = {"CarryLevel", "PrefixLevel", "SumMinus"}  # have some that no expression gives, as parameters


def tree(component):
    component.elaborate()
    return design_of(component).top


@parametrize("name", LEAVES)
def test_two_elaborations_make_a_third(name):
    make, arguments = LEAVES[name]
    trees = [tree(make(*values)) for values in arguments]
    found, _ = unified(trees[:2])
    _, values = unified([trees[0], trees[2]])
    assert found.parameters and trees[0] != trees[1]
    third = instantiated(found, dict(values[1]))
    assert (third.ports, third.nets, third.items) == (trees[2].ports, trees[2].nets, trees[2].items)


def test_every_class_with_parameters_is_among_them():
    """Classes of PyMTL3, and all classes that declare parameters."""
    declared = re.compile(r"^class (\w+)\((?:(?!^class ).)*?^    PARAMETERS = ", re.MULTILINE | re.DOTALL)
    texts = (file.read_text() for room in ("rtl", "proc") for file in (ROOT / room).rglob("*.py"))
    found = {name for text in texts for name in declared.findall(text)}
    assert found | STDLIB.keys() | INHERITED == LEAVES.keys() | CONSTANTS


def test_modules_without_an_expression_stay_apart():
    with pytest.raises(Different):
        unified([tree(RegEn(mk_bits(8))), tree(RegEnRst(mk_bits(9)))])
