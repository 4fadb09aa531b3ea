"""The house: arrows between rooms run upward, and traps of PyMTL3 that no tool reports."""

import ast
import re
from pathlib import Path

import pytest
from modexlab.rtl.sim import sources

from tests.paths import ROOT

# what a room may import from; cl takes port types and plans from rtl, whose twin it is
BELOW = {
    "fl": set(),
    "rtl": {"fl"},
    "cl": {"fl", "rtl"},
    "proc": {"fl", "rtl", "cl"},
    "flow": {"fl", "rtl", "cl", "proc"},
    "eval": {"fl", "rtl", "cl", "proc", "flow"},
}
# the rooms inside a room, lowest first; "": the files beside them
INSIDE = {
    "rtl": ["", "sim", "units", "machines", "interfaces"],
    "proc": ["", "isa", "software", "iss", "core", "sim"],
    "flow": [
        "",
        "kit",
        "netlist",
        "timing",
        "synth",
        "prove",
        "gates",
        "power",
        "layout",
        "check",
        "fpga",
        "graph",
    ],
    "eval": ["", "papers", "designs", "lab", "report", "vectors", "soc", "package", "api", "cli"],
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
FILES = [file for room in BELOW for file in sorted((ROOT / room).rglob("*.py"))]
HARDWARE = [file for room in ("rtl", "cl", "proc") for file in sorted((ROOT / room).rglob("*.py"))]


def room_of(file: Path) -> str:
    return file.relative_to(ROOT).parts[0]


def imported_rooms(file: Path) -> set[str]:
    """The rooms that a file imports from, relatively or as modexlab.<room>."""
    rooms = set()
    depth = len(file.relative_to(ROOT).parts) - 1  # dots that lead out of the file's room
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            if node.level == 0 and parts[0] == "modexlab" and len(parts) > 1:
                rooms.add(parts[1])
            elif node.level == depth + 1:
                rooms |= {parts[0]} if parts[0] else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            rooms |= {name[1] for name in names if name[0] == "modexlab" and len(name) > 1}
    return rooms - {room_of(file)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_arrows_run_upward(file: Path) -> None:
    assert imported_rooms(file) <= BELOW[room_of(file)]


@pytest.mark.parametrize("room", INSIDE)
def test_arrows_run_upward_inside_a_room(room: str) -> None:
    for file in sorted((ROOT / room).rglob("*.py")):
        if file.name == "construct.py":  # mflowgen runs it by its path, from outside
            continue
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for used in sources.imports(module):
            if used.split(".")[0] == room:
                order = INSIDE[room]
                assert order.index(inner_room(used)) <= order.index(inner_room(module)), f"{module} -> {used}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_string_reaches_an_upper_room(file: Path) -> None:
    """Neither a program that is started nor a module that is loaded by its name: the test of imports would not see it."""
    tree = ast.parse(file.read_text())
    said = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, DOCUMENTED)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in said:
            for room in re.findall(r"\bmodexlab\.([a-z]+)", node.value):
                assert room not in BELOW or room in BELOW[room_of(file)] | {room_of(file)}, node.value


def test_no_circles() -> None:
    """No module imports itself by way of others, not even inside a function."""
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for file in FILES
    }
    left = {module: set(sources.imports(module)) & modules - {module} for module in modules}
    while free := {module for module, used in left.items() if not used}:
        left = {module: used - free for module, used in left.items() if module not in free}
    while left and (users := left.keys() - set().union(*left.values())):  # not in a circle, but above one
        left = {module: used for module, used in left.items() if module not in users}
    assert not left, left


def inner_room(module: str) -> str:
    """The room inside the room, or "" for a file beside them."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and ROOT.joinpath(*parts[:2]).is_dir() else ""


@pytest.mark.parametrize("room", BELOW)
def test_every_room_says_what_is_in_it(room: str) -> None:
    for folder in {file.parent for file in (ROOT / room).rglob("*.py")}:
        if "steps" not in folder.parts:
            assert (folder / "__init__.py").exists(), folder


def test_functional_level_knows_no_clock() -> None:
    for file in (ROOT / "fl").glob("*.py"):
        assert "pymtl3" not in file.read_text().replace("no PyMTL3", ""), file


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_file_says_what_it_is(file: Path) -> None:
    text = file.read_text()
    assert not text.strip() or ast.get_docstring(ast.parse(text)), file


@pytest.mark.parametrize("file", HARDWARE, ids=lambda file: str(file.relative_to(ROOT)))
def test_blocks_of_a_component_have_names_of_their_own(file: Path) -> None:
    """PyMTL3 keeps one syntax tree for each class and block name: a second block of a name would be taken for the first."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ClassDef):
            blocks = [
                each.name
                for each in ast.walk(node)
                if isinstance(each, ast.FunctionDef)
                and any(
                    isinstance(mark, ast.Name) and mark.id.startswith("update")
                    for mark in each.decorator_list
                )
            ]
            assert len(blocks) == len(set(blocks)), f"{file.name}, {node.name}: {sorted(blocks)}"
