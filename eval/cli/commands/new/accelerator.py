"""Write a folder with an accelerator of your own.

It has the function, the hardware, a table of requests and a test, which pass as they are: edit them step by
step. The cycle-level model comes from the function and the formula of the cycles.

examples:
  modexlab new accelerator gcd --operand a:16 --operand b:16 --result g:16
  modexlab new accelerator vvadd --memory
  modexlab run --accelerator gcd --field a=12 --field b=18
  modexlab check --accelerator gcd
"""

import re
from argparse import ArgumentTypeError, Namespace
from pathlib import Path

from .....fl.errors import BadInput
from ....designs import catalogue
from ....designs.own_template import files, memory_files
from ....folders import write_folder
from ...arguments import refuse
from ...options import flag, option, repeated
from ...render import answer


def field(text: str) -> tuple[str, int]:
    """Parse a field such as a:16."""
    match = re.fullmatch(r"(\w+):(\d{1,9})", text)
    if match is None:
        raise ArgumentTypeError(f"{text!r} is not a field; write its name and its width, as in a:16")
    return match[1], int(match[2])


OPTIONS = (
    option("name", "NAME", "its name, and that of the folder"),
    repeated(
        "--operand", "NAME:BITS", "a field of the request; may be repeated", type=field, dest="operands"
    ),
    repeated("--result", "NAME:BITS", "a field of the response; may be repeated", type=field, dest="results"),
    flag("--memory", "with a memory port: a vector add, whose request has addresses"),
    "--output (a folder; default: NAME)",
    "--json",
)


def execute(args: Namespace) -> int:
    if args.name in [design.name for design in catalogue.DESIGNS]:
        raise BadInput(catalogue.taken(args.name))
    if args.memory:
        refuse(
            args, ["operands", "results"], " with --memory, whose fields are those of a vector add; drop it"
        )
        texts = memory_files(args.name)
    else:
        texts = files(args.name, tuple(args.operands or ()), tuple(args.results or ()))
    folder = Path(args.output or args.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder} exists and is not empty; give another folder with --output")
    write_folder(folder, texts)
    names, lines = sorted(texts), sum(text.count("\n") for text in texts.values())
    return answer(
        args,
        {"folder": str(folder), "files": names, "lines": lines},
        f"{folder}: {', '.join(names)}, {lines} lines\nnext: modexlab check --accelerator {folder}",
    )
