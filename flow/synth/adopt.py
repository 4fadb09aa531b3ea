"""Adoption of a mapped netlist of another tool: writes the files of our synthesis and sizing for later steps.

Nothing is optimised or cleaned, so area and timing are those of the other tool. Modules are exact in a
netlist with its hierarchy. In a flat one the names of nets give them; input ports and module names are known
if the elaborated design is given (elaborate.py).
"""

import re
from collections.abc import Mapping
from pathlib import Path

from ...fl.errors import BadInput, some, unknown
from ..files import replace_text
from ..kit.kit import Kit
from ..netlist import document, logic, ownership, yosys
from ..netlist.document import SEPARATOR, Document, Module
from ..netlist.netlist import read
from ..netlist.verilog import verilog
from .netlist_files import write_netlist

MODULES, FLAT = "modules.json", "adopted.json"
READ = f"""\
read_liberty -lib {{lib}}
read_verilog {{netlist}}
write_json {MODULES}
hierarchy -check -top {{top}}
write_json {MODULES}
flatten -noscopeinfo
write_json {FLAT}
"""
AUTOMATIC = re.compile(r"_\d+_")  # a net that Yosys named
MOST_NAMED = 3  # cells in a message


def adopt(netlist_v: Path, top: str, out: Path, files: Kit, elaborated: Path | None = None) -> None:
    """Write netlist.v, netlist.json, hierarchy.json and area.json of a Verilog netlist of the kit's cells."""
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    sources = {"lib": yosys.scripted(files.lib, work), "netlist": yosys.scripted(netlist_v, work)}
    try:
        yosys.run("adopt", READ.format(top=top, **sources), work)
    except BadInput:
        if (work / MODULES).exists():
            _check(document.load(work / MODULES), top, netlist_v, files)
        raise
    design = document.load(work / MODULES)
    _check(design, top, netlist_v, files)
    own = {name: module for name, module in design["modules"].items() if name not in files.library.cells}
    module = _unescaped(document.module(work / FLAT, top))
    modules: Mapping[str, str] = dict(document.instances({"modules": own}, top))
    if len(modules) > 1:
        owners = {name: next(document.enclosing(name, modules)) for name in module["cells"]}
    else:
        hierarchy: Document = document.load(elaborated) if elaborated else {"modules": {}}
        modules = _modules(hierarchy, module, top)
        inputs = ownership.input_ports(hierarchy, top) if elaborated else set()
        nets = {name: net for name, net in module["netnames"].items() if not AUTOMATIC.fullmatch(name)}
        named = logic.read({**module, "netnames": nets}, files.library)
        found = ownership.owners_by_names(named, modules, inputs)
        owners = {name: found.get(name, "") for name in module["cells"]}  # a diode drives nothing
    write_netlist(out, top, module, owners, modules, files)
    netlist = read(out / "netlist.json", files.library, top)
    replace_text(out / "netlist.v", verilog(netlist))  # its names are those in netlist.json


def _unescaped(module: Module) -> Module:
    """The module without the backslashes that Yosys leaves before names like $abc and 0_0."""
    cells = {name.removeprefix("\\"): cell for name, cell in module["cells"].items()}
    nets = {name.removeprefix("\\"): net for name, net in module["netnames"].items()}
    return {**module, "cells": cells, "netnames": nets}


def _modules(hierarchy: Document, module: Module, top: str) -> Mapping[str, str]:
    """{path of an instance: its module} of a flat netlist. Without the elaborated design, the names of nets
    give the paths, and a module is called after its path.
    """
    if hierarchy["modules"]:
        return ownership.module_names(hierarchy, top)
    paths = {""}
    for name, net in module["netnames"].items():
        if not net.get("hide_name"):
            parts = name.split(SEPARATOR)[:-1]
            paths |= {SEPARATOR.join(parts[:count]) for count in range(1, len(parts) + 1)}
    return {path: path or top for path in sorted(paths)}


def _check(design: Document, top: str, netlist_v: Path, files: Kit) -> None:
    """BadInput if the netlist lacks the top module, or has instances of neither its modules nor the kit."""
    own = {name: module for name, module in design["modules"].items() if name not in files.library.cells}
    if top not in own:
        raise BadInput(f"{netlist_v.name}: {unknown('module', top, own)}; give the netlist of this design")
    for name, module in own.items():
        kinds = {cell["type"] for cell in module.get("cells", {}).values()}
        if others := sorted(kinds - own.keys() - files.library.cells.keys()):
            raise BadInput(
                f"{netlist_v.name}: module {name} has instances of {some(others, MOST_NAMED)}, and neither "
                f"the netlist nor {files.library.name} has them: map the design to the cells of this kit"
            )
