"""Verilog of a flat netlist with the names of its cells and nets.

Yosys would rename those that begin with `$`.
"""

from collections import defaultdict

from .netlist import Netlist


def verilog(netlist: Netlist) -> str:
    """The netlist as flat Verilog, every net by the name that it has in `netlist`."""

    def spelled(name: str) -> str:
        simple = name.replace("_", "a").isalnum() and not name[0].isdigit() and name.isascii()
        return name if simple else f"\\{name} "

    ports, aliases, wires, cells = [], [], [], []
    references = {net: netlist.nets[net] for net in netlist.constants}
    for name, (way, nets) in netlist.ports.items():
        indices = [bit[len(name) :] for bit in netlist.port_names[name]]  # "[7]", or "" for no bus
        size = f"[{indices[-1][1:-1]}:{indices[0][1:-1]}] " if indices[0] else ""
        ports.append(f"  {way} {size}{spelled(name)}")
        for index, net in zip(indices, nets, strict=True):
            own = spelled(name) + index
            if references.setdefault(net, own) != own:  # a constant, or the net of another port
                aliases.append(f"  assign {own} = {references[net]};")
    buses = defaultdict(list)
    for net, name in enumerate(netlist.nets):
        if net in references:
            continue
        references[net] = spelled(name)
        if name in netlist.bus_bits:
            bus, _, index = name.removesuffix("]").rpartition("[")
            buses[bus].append(int(index))
            references[net] = f"{spelled(bus)}[{index}]"
        else:
            wires.append(f"  wire {references[net]};")
    wires += [f"  wire [{max(bits)}:{min(bits)}] {spelled(bus)};" for bus, bits in buses.items()]
    for name, cell in netlist.cells.items():
        pins = ", ".join(f".{pin}({references[net]})" for pin, net in cell.pins.items())
        cells.append(f"  {cell.kind} {spelled(name)} ({pins});")
    head = f"module {spelled(netlist.name)} (\n" + ",\n".join(ports) + "\n);"
    return "\n".join([head, *wires, *cells, *aliases, "endmodule", ""])
