"""The ports that AMBA gives AXI4-Lite, and AXI4 for memory ports, as a module around an exported slave.

PyMTL3 has an implicit clk and an active-high reset. The standard has aclk and an active-low aresetn, here
sampled with the clock. Its address channels carry awprot and arprot, which such a slave may ignore.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..verilog.tree import Design, Expr, Instance, Module, Name, Pin, Port, Unary, Unused, Vector

BUS = "s_axi__"
CLOCK, RESET = "aclk", "aresetn"
CLOCKING = {"clk": CLOCK, "reset": RESET}  # the standard's ports by those of a component
PROT = {"s_axi_awaddr": "s_axi_awprot", "s_axi_araddr": "s_axi_arprot"}  # by the port before it
UNREAD = "all accesses have the same rights"


def with_amba_ports(design: Design) -> Design:
    """A design whose top module has the standard's ports; unchanged unless it is a slave."""
    top = design.top
    if not _is_slave(top.ports):
        return design
    slave = replace(top, name=f"{top.name}_slave")
    pins = tuple(Pin(port.name, port.is_input, _connection(port)) for port in slave.ports)
    ports = amba_ports(slave.ports)
    prots = tuple(Name(port.name, port.type) for port in ports if port.name in PROT.values())
    items = (Unused(((UNREAD, prots),)), Instance(slave.name, "slave", (), pins))
    comment = (f"{top.name}: the slave with the ports of AMBA AXI4-Lite",)
    outer = Module(top.name, comment, types=(), ports=ports, nets=(), items=items)
    return Design((outer, slave, *design.modules[1:]))


def amba_ports(ports: Iterable[Port]) -> tuple[Port, ...]:
    """The ports of an exported component by their standard names; unchanged unless it is a slave."""
    ports = tuple(ports)
    return tuple(_standard(ports)) if _is_slave(ports) else ports


def _is_slave(ports: Iterable[Port]) -> bool:
    return any(port.name.startswith(BUS) for port in ports)


def _standard(ports: Iterable[Port]) -> Iterator[Port]:
    for port in ports:
        name = _name(port)
        yield Port(name, port.type, port.is_input)
        if name in PROT:
            yield Port(PROT[name], Vector(3), is_input=True)


def _name(port: Port) -> str:
    """The standard's name of a port; ports of a key get one underscore as well."""
    return CLOCKING.get(port.name, re.sub(r"^(s_axi|m_axi\w*?|key)__", r"\1_", port.name))


def _connection(port: Port) -> Expr:
    """The signal at a port of the slave."""
    signal = Name(_name(port), port.type)
    return Unary("!", signal) if signal.name == RESET else signal
