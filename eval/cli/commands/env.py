"""`modexlab env`: cell libraries, installed tools and the cache."""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...table import table
from ..arguments import add_json, answer

TOOLS = {  # program, which a variable may replace: who uses it
    "CXX:g++": "compiled simulation",
    "RISCV_CC:riscv64-unknown-elf-gcc": "programs of the processor",
    "sta": "timing",
    "chromium": "tests of the report",
    "qemu-riscv32": "a second opinion on the processor",
    "nextpnr-himbaechel": "place and route for Artix-7",
}
PARTS = ("kits", "tools", "cache")

SUMMARY = "show the libraries of cells, the tools and the cache"
TEXT = "The cache is $MODEXLAB_CACHE, else $XDG_CACHE_HOME/modexlab, else ~/.cache/modexlab."
EXAMPLES = """\
  modexlab env
  modexlab env tools
  modexlab env cache --json"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="?", choices=PARTS, help="only this part (default: all)")
    add_json(parser)


def execute(args: argparse.Namespace) -> int:
    found = {part: globals()[f"_{part}"]() for part in ([args.part] if args.part else PARTS)}
    answer(args, lambda: found, lambda: "\n\n".join(_text(part, rows) for part, rows in found.items()))
    return 0


def _kits() -> list[dict[str, Any]]:
    from ....flow.kit import kit

    return [{"kit": name, "file": str((kit.named(name) or kit.DEFAULT).absolute())} for name in kit.NAMES]


def _tools() -> list[dict[str, Any]]:
    rows = []
    for tool, use in TOOLS.items():
        variable, _, usual = tool.rpartition(":")
        name = os.environ.get(variable, usual)
        rows.append({"tool": name, "path": shutil.which(name), "for": use})
    return rows


def _cache() -> list[dict[str, Any]]:
    from ....rtl.sim.cache import root

    sizes = []
    for folder, _, names in os.walk(root()):
        for name in names:
            with suppress(OSError):  # another process has just removed it
                sizes.append((Path(folder) / name).lstat().st_size)
    return [{"cache": str(root()), "files": len(sizes), "bytes": sum(sizes)}]


def _text(part: str, rows: list[dict[str, Any]]) -> str:
    cells = [["not found" if value is None else str(value) for value in row.values()] for row in rows]
    return f"{part}\n{table([*rows[0]], cells)}"
