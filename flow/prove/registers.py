"""Registers of a SystemVerilog text, elaborated and flattened by Yosys, and the registers that its outputs
depend on.

An assertion can refer to a register by its name (`unit.control.count`), so that a proof about values computed
from registers becomes an easier proof about the registers themselves.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...fl.errors import BadInput
from ..files import scratch
from ..netlist import document, yosys
from ..netlist.document import Module, cell_bits, port_bits

ELABORATE = "read_slang --ignore-timing --no-implicit-memories --top {top} registers.sv\n"
READ = """\
prep -top {top} -flatten
memory_map
opt_clean
"""
# before multiplexers are merged, so that the reset is the last one
RESETS = """\
hierarchy -check -top {top}
proc
flatten
opt_expr
opt_clean
opt_dff
opt_clean
"""
WRITE = "write_json registers.json\n"
FLIP_FLOPS = ("$dff", "$sdff", "$adff", "$aldff")


@dataclass(frozen=True)
class Registers:
    """The flattened top module."""

    module: Module

    def ports(self, direction: str) -> dict[str, int]:
        """The bit lengths of the inputs or outputs, by name."""
        ports = self.module["ports"].items()
        return {name: len(port["bits"]) for name, port in ports if port["direction"] == direction}

    def behind(self, ports: Iterable[str], through: bool) -> tuple[dict[str, int], frozenset[str]]:
        """The registers that these outputs are computed from (bit length by shortest name), and the inputs;
        with `through`, also the registers and inputs that those registers are computed from. BadInput for a
        register without a name.
        """
        drivers = {bit: cell for cell in self.module["cells"].values() for bit in cell_bits(cell, "output")}
        todo = [bit for name in ports for bit in self.module["ports"][name]["bits"]]
        seen, stored = set(todo), set()
        while todo:
            bit = todo.pop()
            cell = drivers.get(bit)
            if cell is None:
                continue
            if cell["type"].startswith(FLIP_FLOPS):
                stored.add(bit)
                if not through:
                    continue
            read = set(cell_bits(cell, "input"))
            todo += read - seen
            seen |= read
        inputs = frozenset(
            name
            for name, port in self.module["ports"].items()
            if port["direction"] == "input" and seen.intersection(port["bits"])
        )
        computed = {bit for bit, cell in drivers.items() if not cell["type"].startswith(FLIP_FLOPS)}
        computed.update(port_bits(self.module, "input"))
        found = {}
        for name, bits in _nets(self.module):
            # a net with a computed bit is no register
            if stored.intersection(bits) and not computed.intersection(bits):
                found[name] = len(bits)
                stored -= set(bits)
        if stored:
            raise BadInput(
                f"{len(stored)} bits of registers have no name to be spoken of; give each register one"
            )
        return found, inputs


def _nets(module: Module) -> Iterator[tuple[str, list[Any]]]:
    """The named nets of a module with their bits, shortest names first."""
    for name, net in sorted(module["netnames"].items(), key=lambda item: (len(item[0]), item[0])):
        if not net["hide_name"]:
            yield name, net["bits"]


def read(verilog: str, top: str) -> Registers:
    """The registers of a text."""
    return Registers(_module(verilog, top, READ))


def resets(verilog: str, top: str) -> dict[str, tuple[int, int]]:
    """The registers that reset sets, each by one of its names: (value, bit length)."""
    module = _module(verilog, top, RESETS)
    values: dict[Any, str] = {}
    for cell in module["cells"].values():
        if (
            cell["type"] in ("$sdff", "$sdffe")
            and int(cell["parameters"]["SRST_POLARITY"], 2) == 1
            and cell["connections"]["SRST"] == module["ports"]["reset"]["bits"]
        ):
            value = cell["parameters"]["SRST_VALUE"]
            values |= dict(zip(cell["connections"]["Q"], reversed(value), strict=True))
    found = {}
    told: set[Any] = set()
    for name, bits in _nets(module):
        if values.keys() >= set(bits) and not told >= set(bits):
            found[name] = int("".join(values[bit] for bit in reversed(bits)), 2), len(bits)
            told |= set(bits)
    return found


def _module(verilog: str, top: str, script: str) -> Module:
    with scratch() as work:
        (work / "registers.sv").write_text(verilog)
        yosys.run("registers", (ELABORATE + script + WRITE).format(top=top), work)
        return document.module(work / "registers.json", top)
