"""Count the cost of each program.

Costs of private operations with a full exponent, for a key with primes of half the width and e = 65537:
each schedule, then CRT, blinding and the check of the result. Cycles are counted per microinstruction and
by the closed formula; overhead is relative to the unprotected program. For a program whose time depends on
the exponent, half of the exponent's bits are ones. The table has a row for each protection, so there are no
options for them.

examples:
  modexlab show --costs --nbits 2048
  modexlab show mont-keyed --costs --nbits 512 --nbits 1024 --set steps_per_stage=16
  modexlab show mont-keyed --costs --nbits 256 --json
"""

from argparse import Namespace

from .....fl.errors import BadInput
from ....designs import catalogue
from ....designs.protection import PROGRAMS, costs, fitted
from ...arguments import settings_of
from ...options import shared
from ...render import Columns, Table, answer

DEFAULT_DESIGN = "mont-keyed"
WIDTHS = (1024, 2048, 4096)


OPTIONS = (
    shared("design", f"default: {DEFAULT_DESIGN}", convert=catalogue.find, default=DEFAULT_DESIGN),
    shared("--nbits", f"may be repeated; default: {' '.join(map(str, WIDTHS))}", action="append"),
    "--set",
    "--json",
)


def execute(args: Namespace) -> int:
    design = args.design
    design.needs_program("--costs")
    settings = settings_of(design, args.settings)
    for name in settings:
        if name in ("schedule", "crt", "blind", "verify"):
            raise BadInput(
                f"--set {name}: the table has a row for each; set what is left, such as window or "
                "steps_per_stage"
            )
    assert isinstance(design.control.schedule.legal, tuple)
    rows = []
    for nbits in args.nbits or WIDTHS:
        base: dict[str, int] = {}
        for name, chosen in PROGRAMS.items():
            if chosen["schedule"] not in design.control.schedule.legal:
                continue
            wanted = fitted(design, nbits, {**settings, **chosen}, bool(chosen.get("crt")))
            if chosen["schedule"] != "fixed-window":
                wanted.pop("window", None)
            machine = design.at(nbits, **wanted)
            found, program = costs(machine), machine.programmed.program
            plain = base.setdefault(name.split(",")[0], found.cycles)
            rows.append(
                {
                    "design": machine.name,
                    "nbits": nbits,
                    "program": name,
                    **found.as_json(),
                    "overhead_percent": round(100 * (found.cycles / plain - 1), 1),
                    "words": len(program.words),
                    "registers": len(program.registers),
                    "memory_words": program.depth,
                    "word_nbits": machine.programmed.recipe.word_nbits,
                }
            )
    return answer(args, rows, f"{design.name}: a private operation", Table.of(rows, COLUMNS))


COLUMNS: Columns = {
    "bits": "nbits",
    "program": "program",
    "constant time": "constant",
    **{name: f"{name}:," for name in ("products", "cycles", "formula")},
    "overhead": lambda row: f"{row['overhead_percent']:+.1f} %" if "," in row["program"] else "",
    "words": "words",
    "memory": lambda row: f"{row['memory_words']} x {row['word_nbits']}" if row["memory_words"] else "",
}
