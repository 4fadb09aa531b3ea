"""Reads the ports of a Verilog top module, and of the core inside it, with Verilator."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....fl.errors import BadInput
from ....rtl.sim import ToolError, cache, toolchain

FILE = "modules.json"
WRAPPER = "wrapper"  # the instance in a shell
OPTIONS = ("--json-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "-Wno-style")


@dataclass(frozen=True)
class Port:
    """A port of a module."""

    direction: str  # INPUT, OUTPUT, INOUT
    nbits: int

    def __str__(self) -> str:
        return f"{self.direction.lower()} of {self.nbits} bits"


@dataclass(frozen=True)
class Module:
    """An elaborated module: its ports in order, and its parameters as Verilog."""

    name: str
    ports: Mapping[str, Port]
    parameters: Mapping[str, str]

    def instance(self, name: str, connections: Mapping[str, str]) -> str:
        """The Verilog of an instance with these connections."""
        parameters = ", ".join(f".{parameter}({value})" for parameter, value in self.parameters.items())
        joined = ",\n".join(f"    .{port}({signal})" for port, signal in connections.items())
        return f"  {self.name} {f'#({parameters}) ' if parameters else ''}{name} (\n{joined}\n  );"

    def shell(self, name: str) -> str:
        """The Verilog of a module that only contains an instance of this one, with its parameters set."""
        ports = ",\n".join(
            f"  {port.direction.lower()} wire [{port.nbits - 1}:0] {signal}"
            for signal, port in self.ports.items()
        )
        inner = self.instance(WRAPPER, {signal: signal for signal in self.ports})
        return f"module {name} (\n{ports}\n);\n{inner}\nendmodule\n"


def modules(
    verilog: str, top: str, parameters: Mapping[str, int | str], instance: str
) -> tuple[Module, Module | None]:
    """The top module, and the module of an instance in it or None; BadInput if Verilator rejects the text."""
    given = [
        f"-G{name}={value}" if isinstance(value, int) else f'-G{name}="{value}"'
        for name, value in parameters.items()
    ]
    key = cache.key(verilog, top, instance, *given, toolchain.fingerprint())

    def find(directory):
        work = directory / "work"
        work.mkdir()
        (work / "design.sv").write_text(verilog)
        try:
            toolchain.verilator([*OPTIONS, *given, "--top-module", top, "--Mdir", ".", "design.sv"], cwd=work)
        except ToolError as error:
            raise BadInput(refusal(str(error), top, verilog)) from None
        (tree,) = work.glob("*.tree.json")
        (directory / FILE).write_text(json.dumps(_modules(json.loads(tree.read_text()), top, instance)))

    entry = cache.cached_tree(cache.tree_name("ports", key), find)
    found, *core = (
        Module(name, {port: Port(*described) for port, described in ports.items()}, parameters)
        for name, ports, parameters in json.loads((entry / FILE).read_text())
    )
    return found, core[0] if core else None


def refusal(message: str, top: str, verilog: str) -> str:
    """Verilator's first errors as a sentence, with file and line."""
    if "top-module" in message and "not found" in message:
        modules = re.findall(r"^\s*module\s+(\w+)", verilog, re.MULTILINE)
        found = ", ".join(dict.fromkeys(modules)) or "none at all"
        return f"there is no module {top} in these files, but {found}; correct `top`"
    errors = re.findall(r"%Error[\w-]*: (.*)", message)
    first = [error for error in errors if not error.startswith("Exiting due to")][:3]
    missing = re.search(r"module: '(\w+)'", message)
    if missing and "Cannot find" in message:
        remedy = f"add the file with module {missing[1]} to `files`"
    elif "Parameters from the command line" in message or "parameter" in " ".join(first).lower():
        remedy = "correct [parameters]"
    else:
        remedy = "correct the Verilog, or `files`, `include` and `define`"
    return f"Verilator refuses the Verilog: {'; '.join(first) or message}; {remedy}"


def _modules(
    tree: dict[str, Any], top: str, instance: str
) -> list[tuple[str, dict[str, Any], dict[str, str]]]:
    """Names, ports and parameters of the top module and of the module of an instance in it."""
    nodes = {node["addr"]: node for node in _nodes(tree) if "addr" in node}
    modules = (node for node in nodes.values() if node["type"] == "MODULE")
    found = next(node for node in modules if node.get("origName", node["name"]) == top)
    cells = [node for node in found["stmtsp"] if node["type"] == "CELL" and node["name"] == instance]
    described = []
    for module in (found, *(nodes[cell["modp"]] for cell in cells)):
        variables = [node for node in module["stmtsp"] if node["type"] == "VAR"]
        ports = {
            node["verilogName"]: (node["direction"], _width(nodes, node["dtypep"]))
            for node in variables
            if node.get("direction", "NONE") != "NONE"
        }
        parameters = {node["name"]: node["valuep"][0]["name"] for node in variables if node.get("isGParam")}
        described.append((module.get("origName", module["name"]), ports, parameters))
    return described


def _nodes(tree: Any) -> list[dict[str, Any]]:
    """All nodes of the tree."""
    found, ahead = [], [tree]
    for node in ahead:
        if isinstance(node, dict):
            found.append(node)
            ahead += node.values()
        elif isinstance(node, list):
            ahead += node
    return found


def _width(types: Mapping[str, dict[str, Any]], address: str) -> int:
    """The bits of a type."""
    node = types[address]
    if node["type"] == "BASICDTYPE":
        high, _, low = node.get("range", "0:0").partition(":")
        return abs(int(high) - int(low)) + 1
    if node["type"] in ("PACKARRAYDTYPE", "UNPACKARRAYDTYPE"):
        high, low = map(int, node["declRange"].strip("[]").split(":"))
        return (abs(high - low) + 1) * _width(types, node["refDTypep"])
    if node["type"] == "STRUCTDTYPE":
        return sum(_width(types, member["dtypep"]) for member in node["membersp"])
    if node.get("refDTypep", "UNLINKED") not in ("UNLINKED", address):
        return _width(types, node["refDTypep"])
    raise BadInput(
        f"a port is not a plain vector ({node['type']}); wrap the core in a module with plain ports"
    )
