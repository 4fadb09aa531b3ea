"""`modexlab new accelerator`: write a folder with an accelerator to start from."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ....fl.errors import BadInput
from ..arguments import add_json, answer

SUMMARY = "write a folder with an accelerator of your own"
TEXT = """\
It has the function, the hardware, a table of requests and a test, which pass as they are:
edit them step by step. The cycle-level model comes from the function and the formula of the cycles."""
EXAMPLES = """\
  modexlab new accelerator gcd --field a:16 --field b:16 --result g:16
  modexlab run --accelerator gcd --field a=12 --field b=18
  modexlab check --accelerator gcd"""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name, and that of the folder")
    for option, what in (("field", "request"), ("result", "response")):
        parser.add_argument(
            f"--{option}",
            action="append",
            default=[],
            type=field,
            metavar="NAME:BITS",
            dest=f"{option}s",
            help=f"a field of the {what} with its width; may be repeated",
        )
    parser.add_argument("--output", "-o", metavar="FOLDER", help="the folder (default: NAME)")
    add_json(parser)


def field(text: str) -> tuple[str, int]:
    """A field as a user writes it, such as a:16."""
    match = re.fullmatch(r"(\w+):(\d{1,5})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no field; write its name and its width, as in a:16")
    return match[1], int(match[2])


def execute(args: argparse.Namespace) -> int:
    from ...designs.own_template import files

    texts = files(args.name, tuple(args.fields), tuple(args.results))
    folder = Path(args.output or args.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} exists and is not empty; give another folder with --output")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    lines = sum(text.count("\n") for text in texts.values())
    answer(
        args,
        lambda: {"folder": str(folder), "files": sorted(texts), "lines": lines},
        lambda: [
            f"{folder}: {', '.join(sorted(texts))}, {lines} lines",
            f"next: modexlab check --accelerator {folder}",
        ],
    )
    return 0
