"""Print the program that a machine executes.

Each line is a microinstruction: its products (mul; mulw: of the full machine width; .if: only for a 1 of
the exponent; (b|r): b for a 1, r for a 0), the loads, stores, sums and comparisons that take effect at its
end, and the next microinstruction if it is not the following one. Registers: r result, b base, s fetched
operand or the table entry of a secret digit.

examples:
  modexlab show mont-keyed --program
  modexlab show mont-keyed --program --nbits 1024 --set schedule=fixed-window
  modexlab show mont-keyed --program --nbits 2048 --crt --blind
  modexlab show mont-keyed --program --nbits 64 --verify --json
"""

from argparse import Namespace

from .....fl.param import PAPER_NBITS
from ....designs.machine import Design
from ....designs.protection import costs
from ...arguments import described, designs_of, program_settings
from ...options import SETTINGS, WIDTH
from ...render import Json, answer_all

OPTIONS = ("design", "--accelerator", WIDTH, *SETTINGS, "--json")


def execute(args: Namespace) -> int:
    return answer_all(args, [_of(args, design) for design in designs_of(args)])


def _of(args: Namespace, design: Design) -> tuple[Json, str]:
    """The program of one design, as JSON and as text."""
    nbits = PAPER_NBITS if args.nbits is None else args.nbits
    _ = design.at(nbits).programmed  # BadInput for a design without programs
    machine = design.at(nbits, **program_settings(args, design, nbits))
    program, found = machine.programmed.program, costs(machine)
    word_nbits, lines = machine.programmed.recipe.word_nbits, program.listing()
    report = {
        **described(machine),
        "words": len(program.words),
        "registers": program.registers,
        "memory_words": program.depth,
        "word_nbits": word_nbits,
        "slots": program.slots,
        "table": program.table,
        "fields": [{"name": name, "nbits": wide} for name, wide in program.fields],
        **found.as_json(),
        "program": lines,
    }
    memory = f"a memory of {program.depth} words of {word_nbits} bits ({program.table} of the table)"
    lines = [
        *lines,
        f"\n{machine.name}, {nbits} bits: {found.sentence()}",
        f"{len(program.words)} words; registers {', '.join(program.registers)}, and "
        f"{memory if program.depth else 'no memory'}",
    ]
    if program.fields:
        fields = ", ".join(f"{name} ({wide} bits)" for name, wide in program.fields)
        lines.append(f"after base, exp and mod, the request has: {fields}")
    return report, "\n".join(lines)
