"""The files of a netlist: netlist.v, netlist.json, hierarchy.json and area.json, with names from the source.

A register is named after the net of the source that it drives, x_reg, and a latch of the source x_latch
(timing judges them differently: graph.py). All other cells are named after their module, with a number.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Mapping
from pathlib import Path

from ..files import replace_text
from ..kit import kit
from ..kit.liberty import Library
from ..netlist import logic, ownership, yosys
from ..netlist.document import SEPARATOR, Bit, Document, Module, fresh_nets, joined, made_cell, port_bits
from ..netlist.hierarchy import Hierarchy
from ..netlist.netlist import SOURCE_LATCH
from .area import area

RESETS_OF_A_TIE = 16


def name_cells(
    before: logic.Logic,
    module: Module,
    hierarchy: Document,
    module_name: str,
    library: Library,
    named: Collection[str] = (),
    latches: Collection[tuple[str, int]] = (),
) -> dict[str, str]:
    """Rename the cells of a mapped module in place; return {cell: path of its module}.

    `before` is the module before mapping, `named` are the cells that the design names, which keep their
    names, and `latches` are the bits of nets, by name and place, that latches of the source drive.
    """
    after = logic.read(module, library)
    names = ownership.module_names(hierarchy, module_name)
    owners = ownership.owners(before, after, names, ownership.input_ports(hierarchy, module_name))
    kept = named & module["cells"].keys()
    owners |= {name: name.rpartition(SEPARATOR)[0] for name in kept}
    new = _new_names(after, owners, kept, latches)
    module["cells"] = {new[name]: {**cell, "hide_name": 0} for name, cell in module["cells"].items()}
    return {new[name]: path for name, path in owners.items()}


def tie_and_split(module: Module, library: Library, ports: Container[str]) -> None:
    """Insert tie cells for constants, and buffers for those bits of these output ports that share their net
    with another port.
    """
    roles = library.roles
    buffer = library.cells[roles.buffers[0]]
    ties = {"0": roles.tie_low, "1": roles.tie_high, "x": roles.tie_low}
    cells, fresh = module["cells"], fresh_nets(module)

    def add(kind: str, output: str, *inputs: Bit) -> int:
        cell, bit = library.cells[kind], next(fresh)
        pins = dict(zip((*cell.inputs, output), (*inputs, bit), strict=True))
        cells[f"$finish${bit}"] = made_cell(kind, {pin: [net] for pin, net in pins.items()}, [output])
        return bit

    def tied(bit: Bit) -> Bit:
        if isinstance(bit, int):
            return bit
        tie = library.cells[ties[bit]]
        functions = {tie.pins[pin].logic.table(()): pin for pin in tie.outputs}
        return add(tie.name, functions[logic.CONSTANTS[bit]])

    shared: list[Bit] = []  # outputs of a tie cell shared by registers with an unused reset
    for cell in list(cells.values()):
        resets = library.cells[cell["type"]].resets if cell["type"] in library.cells else ()
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input" and pin in resets and bits == ["1"]:
                shared = shared or [tied("1")] * RESETS_OF_A_TIE
                cell["connections"][pin] = [shared.pop()]
            elif cell["port_directions"][pin] == "input":
                cell["connections"][pin] = [tied(bit) for bit in bits]
    taken = set(port_bits(module, "input"))
    for name, port in module["ports"].items():
        if port["direction"] == "output":
            out = []
            for bit in port["bits"]:
                driven = (
                    add(buffer.name, buffer.outputs[0], bit) if bit in taken and name in ports else tied(bit)
                )
                taken.add(driven)
                out.append(driven)
            port["bits"] = module["netnames"][name]["bits"] = out


def _new_names(
    after: logic.Logic,
    owners: Mapping[str, str],
    named: Collection[str],
    latches: Collection[tuple[str, int]],
) -> dict[str, str]:
    """{name in the mapped netlist: PATH.NAME}: registers and latches are named after the nets that they
    drive, other cells are numbered in their module.

    Cells that the design names keep their names.
    """
    nets = defaultdict(list)
    for own, net in after.module["netnames"].items():
        if not net.get("hide_name"):
            for place, bit in enumerate(net["bits"]):
                kind = "latch" if (own, place) in latches else "reg"
                nets[bit].append(f"{own}_{kind}_{place}" if len(net["bits"]) > 1 else f"{own}_{kind}")

    def of_register(state: logic.State) -> str | None:
        """The shortest name in the register's module, or else the shortest of all."""
        path = owners[state.cell]
        known = nets[state.outputs[0][0]] if state.outputs else []
        ranks = ((name.rpartition(SEPARATOR)[0] != path, len(name), name) for name in known)
        *_, name = min(ranks, default=("",))
        leaf = name.removeprefix(joined(path, ""))
        short = name.rpartition(SEPARATOR)[2] if leaf == name else leaf
        return joined(path, re.sub(r"\W", "_", short)) if name else None

    registers = {state.cell: of_register(state) for state in after.states}
    counted: Counter[str] = Counter()
    # a register of a net x is called x_reg; if there is a net of that name, the register is numbered, as
    # yosys accepts no two objects of one name
    taken = {*after.module["netnames"], *named}
    names = {}
    for cell in after.module["cells"]:
        name = cell if cell in named else registers.get(cell)
        latch = "_latch" if SOURCE_LATCH.search(name or "") else ""
        while name is None or (name in taken and cell not in named):
            counted[owners[cell]] += 1
            name = joined(owners[cell], f"g{counted[owners[cell]]}{latch}")
        taken.add(name)
        names[cell] = name
    return names


WRITE = """\
read_liberty -lib {lib}
read_json netlist.json
hierarchy -check -top {top}
write_verilog -noattr -simple-lhs netlist.v
"""


def write_netlist(
    out: Path,
    top: str,
    module: Module,
    owners: dict[str, str],
    modules: Mapping[str, str],
    files: kit.Kit,
) -> None:
    """Write netlist.json, netlist.v, hierarchy.json and area.json."""
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"modules": {top: module}}, separators=(",", ":"))
    (work / "netlist.json").write_text(text)
    yosys.run("write", WRITE.format(lib=yosys.scripted(files.lib, work), top=top), work)
    replace_text(out / "netlist.v", (work / "netlist.v").read_text())
    replace_text(out / "netlist.json", text)
    Hierarchy(cells=owners, modules=dict(modules)).write(out)
    area(module, owners, modules, files.library).write(out)
