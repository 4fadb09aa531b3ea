"""Ports of a top module: their directions and widths under given parameters, as Verilator finds them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....fl.errors import BadInput
from ....rtl.sim import ToolError, cache, toolchain

PORTS = "ports.json"
OPTIONS = ("--json-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "-Wno-style")


@dataclass(frozen=True)
class Port:
    """A port of the core."""

    direction: str  # INPUT, OUTPUT, INOUT
    nbits: int


def ports_of(verilog: str, top: str, parameters: Mapping[str, int | str]) -> dict[str, Port]:
    """All ports by name, in order; BadInput with Verilator's message, file and line if it refuses the text."""
    given = [f"-G{name}={_literal(value)}" for name, value in parameters.items()]
    key = cache.key(verilog, top, *given, toolchain.fingerprint())

    def find(directory: Path) -> None:
        work = directory / "work"
        work.mkdir()
        (work / "design.sv").write_text(verilog)
        try:
            toolchain.verilator([*OPTIONS, *given, "--top-module", top, "--Mdir", ".", "design.sv"], cwd=work)
        except ToolError as error:
            raise BadInput(refusal(str(error), top, verilog)) from None
        (tree,) = work.glob("*.tree.json")
        found = _ports(json.loads(tree.read_text()), top)
        (directory / PORTS).write_text(json.dumps(found))

    entry = cache.cached_tree(cache.tree_name("ports", key), find)
    return {name: Port(*each) for name, each in json.loads((entry / PORTS).read_text()).items()}


def refusal(message: str, top: str, verilog: str) -> str:
    """What Verilator says, in a sentence: its first errors, with file and line."""
    if "top-module" in message and "not found" in message:
        modules = re.findall(r"^\s*module\s+(\w+)", verilog, re.MULTILINE)
        return f"there is no module {top} in these files, but {', '.join(dict.fromkeys(modules)) or 'none at all'}; mend `top`"
    errors = re.findall(r"%Error[\w-]*: (.*)", message)
    told = [each for each in errors if not each.startswith("Exiting due to")][:3]
    missing = re.search(r"module: '(\w+)'", message)
    if missing and "Cannot find" in message:
        remedy = f"add the file with module {missing[1]} to `files`"
    elif "Parameters from the command line" in message or "parameter" in " ".join(told).lower():
        remedy = "mend [parameters]"
    else:
        remedy = "mend the Verilog, or `files`, `include` and `define`"
    return f"Verilator refuses the Verilog: {'; '.join(told) or message}; {remedy}"


def _literal(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f'"{value}"'


def _ports(tree: dict[str, Any], top: str) -> dict[str, tuple[str, int]]:
    types = {node["addr"]: node for node in _nodes(tree) if "DTYPE" in node.get("type", "")}
    modules = [
        node
        for node in _nodes(tree)
        if node.get("type") == "MODULE" and node.get("origName", node["name"]) == top
    ]
    return {
        node["verilogName"]: (node["direction"], _width(types, node["dtypep"]))
        for module in modules[:1]
        for node in module["stmtsp"]
        if node.get("type") == "VAR" and node.get("direction", "NONE") != "NONE"
    }


def _nodes(tree: Any) -> list[dict[str, Any]]:
    """All nodes of the tree."""
    found, ahead = [], [tree]
    while ahead:
        node = ahead.pop()
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
        f"a port of a kind that is no row of bits ({node['type']}); wrap the core in a module with plain ports"
    )
