"""The module around an exported AXI4-Lite slave."""

from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.verilog.machine import verilog
from modexlab.rtl.interfaces.amba_ports import amba_ports, with_amba_ports
from modexlab.rtl.interfaces.axi4lite_channels import Axi4LiteChannels
from modexlab.rtl.interfaces.registers.run_control import RunControl
from modexlab.rtl.sim import translate
from modexlab.rtl.sim.base import elaborate
from modexlab.rtl.verilog.read import ports_of
from modexlab.rtl.verilog.translate import design_of
from modexlab.rtl.verilog.tree import Instance, Unary

from tests.harness import parametrize
from tests.verilog_ports import port_lines, port_row


def test_the_slave_is_the_only_part_of_the_new_top():
    component = Axi4LiteChannels()
    elaborate(component)
    before = design_of(component)
    outer, slave, *parts = with_amba_ports(before).modules
    assert outer.name == before.top.name and slave.name == f"{before.top.name}_slave"
    assert slave == before.top and parts == [*before.modules[1:]]
    (instance,) = (item for item in outer.items if isinstance(item, Instance))
    assert instance.module == slave.name
    assert [pin.port for pin in instance.pins] == [port.name for port in slave.ports]
    inverted = {pin.port: pin.value.value.name for pin in instance.pins if isinstance(pin.value, Unary)}
    assert inverted == {"reset": "aresetn"}


def test_other_components_stay():
    component = RunControl(wiped_after_reset=True)
    elaborate(component)
    design = design_of(component)
    assert with_amba_ports(design) is design
    assert amba_ports(ports_of(component)) == ports_of(component)
    assert translate(RunControl(wiped_after_reset=True), around=with_amba_ports) == translate(
        RunControl(wiped_after_reset=True)
    )


@parametrize("interface, nbits", [("axi4lite", 16), ("axi4lite-000", 128)])
def test_the_ports_of_a_component_are_those_of_its_text(interface, nbits):
    """A data sheet reads the ports from the component, without its text."""
    machine = find("mont").at(nbits)
    component = machine.exported(machine.interface(interface))
    elaborate(component)
    ports = amba_ports(ports_of(component))
    found = [
        (f"`{port.name}`", "input" if port.is_input else "output", str(port.type.width)) for port in ports
    ]
    lines = port_lines(verilog(machine, interface), machine.top(machine.interface(interface)))
    assert found == [*map(port_row, lines)]
