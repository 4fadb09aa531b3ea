"""Inputs of modules: none is tied to one constant by all instances."""

from collections import defaultdict

from modexlab.eval.designs.catalogue import find
from modexlab.rtl.sim.base import elaborate
from modexlab.rtl.verilog.constants import constant
from modexlab.rtl.verilog.read import Reader
from modexlab.rtl.verilog.simplify import simplified
from modexlab.rtl.verilog.translate import design_of
from modexlab.rtl.verilog.tree import Design, Instance, walk

from tests.harness import each_design, parametrize


def tied(design):
    """The inputs that are the same constant in all instances of a module."""
    found = defaultdict(set)
    for item in walk(tuple(module.items for module in design.modules)):
        if isinstance(item, Instance):
            for pin in item.pins:
                if pin.is_input:
                    found[item.module, pin.port].add(pin.value and constant(pin.value))
    return {port for port, values in found.items() if len(values) == 1 and None not in values}


def component_of(design, interface, nbits=16):
    machine = design.at(nbits)
    component = machine.exported(machine.interface(interface))
    elaborate(component)
    return component


@each_design("mont", "mont-keyed")
@parametrize("interface", ["stream", "axi4lite"])
def test_no_input_is_one_constant_in_all_instances(design, interface):
    assert not tied(design_of(component_of(design, interface)))


def test_tied_inputs_are_found():
    """As PyMTL3 connects them, some are: without random numbers, no operand of a slave is stale."""
    before = Reader(component_of(find("mont"), "axi4lite")).design()
    assert tied(Design(tuple(map(simplified, before.modules))))
