"""Countermeasures against attacks: the marks in hardware and microprograms, and the page that lists them.

A mark is a comment `countermeasure NAME: what it does`. `python -m tests.designs.test_countermeasures` writes
the table of the page anew.
"""

import ast
import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from modexlab.eval.designs.catalogue import find
from modexlab.eval.designs.verilog.machine import verilog

from tests.harness import parametrize
from tests.paths import ROOT
from tests.tables.keyed import FOUR

PAGE = ROOT / "docs" / "explanation" / "countermeasures.md"
TABLE = re.compile(r"(?<=<!-- from: rtl -->\n\n).*?(?=\n\n<!-- end -->)", re.DOTALL)
ROOMS = ("rtl", "fl/program")
MARK = re.compile(r"# countermeasure ([A-Z_]+): (.+)")
FAR = 8  # lines from a mark to the note of its microinstruction
NOTE = re.compile(r'\bnote ?= ?"([^"]+)"')
MACHINES = {  # by what the page calls them: the design and its settings, the width and the interface
    "`mont-ct`": ("mont-ct", {}),
    "`mont` with `schedule=always`": ("mont", {"schedule": "always"}),
    "`tiny-ct`": ("tiny-ct", {}),
    "`mont-keyed` with a key": ("mont-keyed", FOUR),
    "`heap` with a key": ("heap", FOUR),
    "all behind `axi4lite`": ("mont", {}, "axi4lite"),
    "`mont-keyed` with a key behind `axi4lite`": ("mont-keyed", FOUR, "axi4lite"),
    "all behind `axi4lite-000`": ("mont", {}, "axi4lite-000", 128),
    "`mont-keyed` without protections": ("mont-keyed", {"blind": "no", "verify": False}),
}
CT, ALWAYS, TINY, KEYED, HEAP, BUS, KEYED_BUS, PADDED, BARE = MACHINES
TIME, WIPED = "tests/designs/test_promises.py::test_time", "tests/rtl/keyed/test_program_wipe.py"
FAULTS, SLAVE = "tests/rtl/keyed/test_program_faults.py", "tests/rtl/test_axi4lite.py"
LEAKAGE, DEFECTS = "tests/lab/test_leakage.py", "tests/lab/test_proof_defects.py"


class Countermeasure(NamedTuple):
    """machines: some that have it, by their names in MACHINES; tests: those that show it."""

    against: str
    machines: tuple[str, ...]
    tests: tuple[str, ...]


LISTED = {
    "LADDER": Countermeasure(
        "timing and simple power analysis of the exponent",
        (CT,),
        (f"{TIME}_by_proof", f"{TIME}_of_the_hardware"),
    ),
    "ALWAYS_MULTIPLY": Countermeasure(
        "timing of the exponent",
        (ALWAYS, TINY),
        (TIME, "tests/rtl/test_tiny.py::test_every_operation_of_tiny_ct_takes_the_same_time"),
    ),
    "ALWAYS_SUBTRACT": Countermeasure(
        "timing of the final subtraction, as in Kocher's attack",
        (CT, KEYED),
        (f"{TIME}_of_the_hardware",),
    ),
    "TABLE_SCAN": Countermeasure(
        "addresses that show a digit of the exponent",
        (KEYED, HEAP),
        (
            "tests/rtl/keyed/test_program_exp.py::test_constant_time_by_the_rule",
            f"{LEAKAGE}::test_what_is_blinded_passes",
        ),
    ),
    "UNPADDING_TIME": Countermeasure(
        "timing of invalid paddings, as in Bleichenbacher's attack",
        (PADDED,),
        ("tests/rtl/test_axi4lite_000.py::test_everything_wrong_is_one_answer_in_the_same_cycles",),
    ),
    "MESSAGE_BLINDING": Countermeasure(
        "power analysis with chosen or known messages",
        (KEYED, HEAP),
        (f"{LEAKAGE}::test_what_is_blinded_passes", f"{LEAKAGE}::test_without_its_blinding_it_leaks"),
    ),
    "EXPONENT_BLINDING": Countermeasure(
        "power analysis of the exponent over many operations",
        (KEYED, HEAP),
        (f"{LEAKAGE}::test_what_is_blinded_passes", f"{LEAKAGE}::test_without_its_blinding_it_leaks"),
    ),
    "SHIELDED_MEMORY": Countermeasure(
        "power of a memory that shows words that are not read",
        (KEYED, HEAP),
        ("tests/rtl/keyed/test_shielded_memory.py::test_machines_that_blind_an_exponent_have_it",),
    ),
    "FRESH_RANDOM": Countermeasure(
        "blinding by numbers that an attacker has seen in use",
        (KEYED_BUS,),
        (f"{SLAVE}::test_a_private_key_is_loaded",),
    ),
    "RESULT_CHECK": Countermeasure(
        "faults in CRT (Boneh, DeMillo and Lipton) and in the exponentiation",
        (KEYED, HEAP),
        (f"{FAULTS}::test_a_sample", f"{FAULTS}::test_without_the_check_wrong_results_leave"),
    ),
    "TWO_COPIES": Countermeasure(
        "a fault in the result after its check",
        (KEYED, HEAP),
        (f"{FAULTS}::test_every_bit",),
    ),
    "INVERSE_PC": Countermeasure(
        "a fault in the program counter that jumps behind the check",
        (KEYED, HEAP),
        (f"{FAULTS}::test_jumps_behind_the_check",),
    ),
    "WIPE": Countermeasure(
        "keys that remain in registers and memory after an operation",
        (KEYED, HEAP),
        (f"{WIPED}::test_nothing_of_a_key_is_left", f"{DEFECTS}::test_wiping"),
    ),
    "RESET_OVERWRITE": Countermeasure(
        "keys that survive a reset",
        (KEYED, BUS),
        (f"{WIPED}::test_no_key_outlives_a_reset", f"{SLAVE}::test_no_key_outlives_a_reset"),
    ),
    "ZEROISE": Countermeasure(
        "keys in a device that is lost or retired",
        (BUS,),
        (f"{SLAVE}::test_zeroise_forgets_everything", f"{DEFECTS}::test_zeroise"),
    ),
    "STATUS_ALONE": Countermeasure(
        "results of rejected or failed operations",
        (BUS,),
        (f"{SLAVE}::test_every_access_as_the_model_has_it", f"{DEFECTS}::test_refusals"),
    ),
}


class Mark(NamedTuple):
    """owner: the class, or else the function; note: of the microinstruction below it."""

    name: str
    text: str
    file: str
    owner: str
    note: str


@functools.cache
def marks() -> tuple[Mark, ...]:
    """All marks, in the order of files and lines."""
    files = sorted(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))
    return tuple(mark for file in files for mark in marks_of(file))


def marks_of(file) -> Iterator[Mark]:
    lines = file.read_text().splitlines()
    path = file.relative_to(ROOT).as_posix()
    for number, line in enumerate(lines):
        if found := MARK.search(line):
            words = [found[2]]
            below = number + 1
            while line.lstrip()[0] == "#" and lines[below].lstrip().startswith("# "):
                words.append(lines[below].strip("# "))
                below += 1
            note = NOTE.search("\n".join(lines[below : below + FAR])) if path.startswith("fl/") else None
            assert note or not path.startswith("fl/"), f"{path}, line {number + 1}: no note below the mark"
            yield Mark(
                found[1], " ".join(words), path, owner("\n".join(lines), number + 1), note[1] if note else ""
            )


def owner(source: str, line: int) -> str:
    """The class of a line, or else its outermost function."""
    kinds = ast.ClassDef, ast.FunctionDef
    around = [
        node
        for node in ast.parse(source).body
        if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return around[0].name


def table() -> str:
    """The table of the page, in the order of LISTED."""
    rows = [
        "| name | what it does | against | where | for example in | shown by |",
        "|---|---|---|---|---|---|",
    ]
    for name, item in LISTED.items():
        found = [mark for mark in marks() if mark.name == name]
        places = "; ".join(dict.fromkeys(f"`{mark.owner}` in `{mark.file}`" for mark in found))
        tests = "; ".join(f"`{test}`" for test in item.tests)
        does = "; ".join(dict.fromkeys(mark.text for mark in found))
        machines = ", ".join(item.machines)
        rows.append(f"| {name} | {does} | {item.against} | {places} | {machines} | {tests} |")
    return "\n".join(rows)


@functools.cache
def hardware(machine: str) -> str:
    """The modules of a machine, each comment in one line."""
    name, settings, *where = MACHINES[machine]
    interface, nbits = (*where, *("stream", 16)[len(where) :])
    text = verilog(find(name).at(nbits, **settings), interface)
    return re.sub(r"\n *// *", " ", text.partition("`default_nettype none")[2])


def appears(mark: Mark, machine: str) -> bool:
    """Whether the hardware has the mark, or the microinstruction that is marked."""
    text = f"; {mark.note}" if mark.note else f"countermeasure {mark.name}: {mark.text}"
    return text in hardware(machine)


def test_the_page_has_the_marks_of_the_sources():
    assert {mark.name for mark in marks()} == LISTED.keys()
    found = TABLE.search(PAGE.read_text())
    assert found and found[0] == table()


@parametrize("name", LISTED)
def test_a_countermeasure_is_in_the_hardware_of_its_machines(name):
    """Each machine has one of its marks, and each mark is in one of the machines."""
    own = [mark for mark in marks() if mark.name == name]
    for machine in LISTED[name].machines:
        assert any(appears(mark, machine) for mark in own), machine
    for mark in own:
        assert any(appears(mark, machine) for machine in LISTED[name].machines), mark


@parametrize(
    "machine, name",
    [
        (CT, "ALWAYS_MULTIPLY"),
        (BARE, "MESSAGE_BLINDING"),
        (BARE, "EXPONENT_BLINDING"),
        (BARE, "SHIELDED_MEMORY"),
        (BARE, "RESULT_CHECK"),
        (BARE, "TWO_COPIES"),
        (BARE, "INVERSE_PC"),
    ],
)
def test_a_machine_without_a_countermeasure_has_no_mark_of_it(machine, name):
    """`mont-ct` has a ladder; a keyed machine may be built without protections."""
    assert not any(appears(mark, machine) for mark in marks() if mark.name == name)


@parametrize("name", LISTED)
def test_its_tests_exist(name):
    for test in LISTED[name].tests:
        file, function = test.split("::")
        assert re.search(rf"^def {function}\(", (ROOT / file).read_text(), re.MULTILINE), test


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()))
