"""Grade the folder of a lab of the course.

Each checkpoint compares your files with an oracle, row by row. A failed checkpoint names its first failing
row, the value of your code, the expected value, and a hint. Exit code: 0 all passed, 1 a checkpoint failed,
2 there is no such lab or folder.

examples:
  modexlab check --lab 1
  modexlab check --lab 1 lab1 --json
"""

from argparse import Namespace
from pathlib import Path

from ....fl.errors import BadInput
from ..course import checkpoints, grade
from ..options import option
from ..render import answer

OPTIONS = (
    option("lab", "LAB", "number of the lab"),
    option("folder", "FOLDER", "your folder (default: labN)", nargs="?"),
    "--json",
)


def execute(args: Namespace) -> int:
    wanted = checkpoints(args.lab)
    folder = Path(args.folder or f"lab{args.lab}")
    if not folder.is_dir():
        raise BadInput(
            f"{folder}: there is no such folder; `modexlab new lab {args.lab} {folder}` writes the starter"
        )
    grades = []
    for index, checkpoint in enumerate(wanted, 1):
        found = grade(checkpoint, folder)
        grades.append(found)
        if not args.json:
            verdict = f"FAILED: {found.failure}" if found.failure else f"{found.rows} rows passed"
            print(f"{index}. {found.title}: {verdict}", flush=True)
            if found.failure:
                print("   hint: " + " ".join(found.hint.split()), flush=True)
    failed = sum(bool(found.failure) for found in grades)
    report = {"lab": args.lab, "ok": not failed, "checkpoints": [found._asdict() for found in grades]}
    text = f"lab {args.lab}: {len(grades) - failed} of {len(grades)} checkpoints passed"
    return answer(args, report, text, ok=not failed)
