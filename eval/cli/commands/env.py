"""Show the cell libraries, the tools and the cache.

Kits other than nangate45 are read from $PDK_ROOT. A kit that is not installed is shown with the command that
fetches it, which needs a network.

The cache is $MODEXLAB_CACHE, else $XDG_CACHE_HOME/modexlab, else ~/.cache/modexlab.

Every external tool has a limit of elapsed time: two hours, and eight for a whole step of the flow.
MODEXLAB_PATIENCE=2 doubles these limits.

examples:
  modexlab env
  modexlab env tools
  modexlab env cache --json
"""

import os
import shutil
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from ....fl.errors import BadInput
from ....rtl.sim.cache import root
from ..options import Option
from ..render import Json, Table, answer

TOOLS = {  # program, with the variable that can replace it: its use
    "CXX:g++": "compiled simulation",
    "RISCV_CC:riscv64-unknown-elf-gcc": "programs of the processor",
    "iverilog": "simulation of exported Verilog",
    "sta": "timing",
    "klayout": "design rules by a foundry's deck",
    "chromium": "`report --pdf`, and tests of the report",
    "qemu-riscv32": "crosscheck of the processor",
}


def _kits() -> list[Json]:
    from ....flow.kit import kit  # not at the top: it needs the extra [flow]

    rows = []
    for name in kit.NAMES:
        source = kit.named(name)
        try:
            folder, remedy = str(kit.find(source).directory), ""
        except BadInput:
            folder, remedy = None, kit.described(name).files.fetch
        rows.append(
            {"kit": name, "file": str((source or kit.DEFAULT).absolute()), "folder": folder, "fetch": remedy}
        )
    return rows


def _tools() -> list[Json]:
    rows = []
    for tool, use in TOOLS.items():
        variable, _, usual = tool.rpartition(":")
        name = os.environ.get(variable, usual)
        rows.append({"tool": name, "path": shutil.which(name), "for": use})
    return rows


def _cache() -> list[Json]:
    sizes = []
    for folder, _, names in os.walk(root()):
        for name in names:
            with suppress(OSError):  # another process has just removed it
                sizes.append((Path(folder) / name).lstat().st_size)
    return [{"cache": str(root()), "files": len(sizes), "bytes": sum(sizes)}]


PARTS = {"kits": _kits, "tools": _tools, "cache": _cache}
OPTIONS = (Option("part", nargs="?", choices=tuple(PARTS), help="only this part (default: all)"), "--json")


def execute(args: Namespace) -> int:
    found = {part: PARTS[part]() for part in ([args.part] if args.part else PARTS)}
    tables = []
    for part, rows in found.items():
        cells = [["not found" if value is None else value for value in row.values()] for row in rows]
        tables.append(Table([*rows[0]], cells, part))
    return answer(args, found, *tables)
