"""The house: arrows between rooms run upward, and traps of PyMTL3 that no tool reports."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# what a room may import from; cl takes port types and plans from rtl, whose twin it is
BELOW = {
    "fl": set(),
    "rtl": {"fl"},
    "cl": {"fl", "rtl"},
    "proc": {"fl", "rtl", "cl"},
    "flow": {"fl", "rtl", "cl", "proc"},
    "eval": {"fl", "rtl", "cl", "proc", "flow"},
}
FILES = [file for room in BELOW for file in sorted((ROOT / room).rglob("*.py"))]
HARDWARE = [file for room in ("rtl", "cl", "proc") for file in sorted((ROOT / room).glob("*.py"))]


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
