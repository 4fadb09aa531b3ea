"""Write the starter folder of a lab of the course.

Edit its files as the handout says, then grade them with `modexlab check --lab`.

examples:
  modexlab new lab 1
  modexlab new lab 1 mylab
"""

from argparse import Namespace

from ....folders import new_directory, write_folder
from ...course import lab_folder
from ...options import option
from ...render import answer

OPTIONS = (
    option("lab", "LAB", "number of the lab"),
    option("folder", "FOLDER", "the folder to write (default: labN)", nargs="?"),
    "--force",
    "--json",
)


def execute(args: Namespace) -> int:
    starter = lab_folder(args.lab) / "starter"
    texts = {
        str(path.relative_to(starter)): path.read_text(encoding="utf-8")
        for path in sorted(starter.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    folder = new_directory("FOLDER", args.folder or f"lab{args.lab}", args.force)
    write_folder(folder, texts)
    return answer(
        args,
        {"folder": str(folder), "files": list(texts)},
        f"{folder}: {', '.join(texts)}\nnext: modexlab check --lab {args.lab} {folder}",
    )
