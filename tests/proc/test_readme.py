"""The pages about the processor: quotations equal the current output of commands and tables, costs are
measured, programs run, and the guide to adding an instruction is followed on a copy.

`python -m tests.proc.test_readme` regenerates the quoted parts.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
from modexlab.eval.cli.commands.proc import NAMES
from modexlab.proc.core import pipeline_trace
from modexlab.proc.isa import causes
from modexlab.proc.isa.csrs import CSRS, ON_BUS
from modexlab.proc.iss.outcome import CAUSES_OF_CYCLES
from modexlab.proc.software.memory import REGIONS

from tests.command_line import printed
from tests.harness import finished, parametrize, regress, regress_if
from tests.paths import ROOT
from tests.proc import costs as proc_costs
from tests.test_readme import PROC, comparable

TEXT = "\n".join(page.read_text() for page in PROC)
ROOMS = ("fl", "rtl", "cl", "proc", "eval")

QUOTED = re.compile(r"(<!-- (executed|from|measured): (.+?) -->\n)(```\n.*?```|.*?<!-- end -->)\n", re.DOTALL)
COMMAND = re.compile(r"^\$ modexlab (.+)$", re.MULTILINE)
PROGRAM = re.compile(r"```(?:c|asm)\n((?://|#) (\w+\.\w+)\n.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
EDIT = re.compile(r"`((?:proc|tests)/[\w/]+\.py)`:\n\n((?:```diff\n.*?```\n\n?)+)", re.DOTALL)
DIFF = re.compile(r"```diff\n(.*?)```", re.DOTALL)
FAILING = re.compile(r"<!-- failing: step 1 -->\n```\n(.*?)```", re.DOTALL)


def write_programs(directory):
    """Write the programs of the pages."""
    for text, name in PROGRAM.findall(TEXT):
        (directory / name).write_text(text)


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A directory with the programs of the pages, as working directory."""
    write_programs(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- quotations


def fenced(text):
    return "```\n" + "".join(f"{line.rstrip()}\n" for line in text.splitlines()) + "```"


def executed(command):
    """The output of a command; for a traced run, only the trace."""
    result = printed(command.removeprefix("modexlab "))
    assert result.code == 0, command
    lines = result.out.splitlines()
    if "--trace" in command:
        lines = [line for line in lines if re.match(r" +(cycle |\d+: )", line)]
    return fenced("\n".join(lines))


def legend():
    """The legend in the header of pipeline_trace.py."""
    return fenced((pipeline_trace.__doc__ or "").split("\n\n", 1)[1].strip())


def csr_table(csrs=CSRS):
    rows = []
    for csr in csrs:
        last = csr.number + csr.registers - 1
        many = csr.registers > 1
        name = f"`{csr.name}` to `{csr.name[:-1]}{csr.registers - 1}`" if many else f"`{csr.name}`"
        number = f"0x{csr.number:03X}" + (f" to 0x{last:03X}" if many else "")
        rows.append((number, name, csr.access, csr.meaning))
    return proc_costs.markdown(("number", "name", "access", "what it is"), rows)


def memory_map():
    rows = [(f"0x{first:08X}", f"0x{end - 1:08X}", f"{(end - first) / 1024:g} KiB") for first, end in REGIONS]
    return proc_costs.markdown(("first address", "last address", "size"), rows)


SLOW = (  # machines of up to 2048 bits, all systems, and a processor for each parameter
    "coupling_table",
    "modexlab proc systems",
    "parameter_table",
)
SOURCES = {
    "pipeline_trace.py": legend,
    "csrs.py": csr_table,
    "csrs.py, with a bus": lambda: csr_table(ON_BUS),
    "memory.py": memory_map,
    "cost_table": proc_costs.cost_table,
    "parameter_table": proc_costs.parameter_table,
    "memory_table": proc_costs.memory_table,
    "coupling_table": proc_costs.coupling_table,
}


def present(kind, source):
    """The text that a page must quote."""
    return executed(source) if kind == "executed" else SOURCES[source]()


@parametrize(
    "kind, source, text",
    [pytest.param(*found[1:], marks=regress_if(found[2] in SLOW)) for found in QUOTED.findall(TEXT)],
)
def test_quotation(kind, source, text, workplace):
    assert comparable(text) == comparable(present(kind, source)), (
        "python -m tests.proc.test_readme writes the quotations anew"
    )


def test_the_drawn_datapath_is_that_of_the_hardware():
    """Units and registers in the picture have their names in the RTL; pc_D is the field pc of a register of
    D.
    """
    core = ROOT / "proc" / "core"
    labels = re.findall(r"<text[^>]*>(\w+)(?:\[\d\])?<", (core / "datapath.svg").read_text())
    names = {label[:-2] for label in labels if re.fullmatch(r"\w+_[DXMW]", label)}
    names |= {label for label in labels if re.fullmatch(r"([A-Z][a-z]+){2,}", label)}
    hardware = set(re.findall(r"\w+", "".join(file.read_text() for file in core.rglob("*.py"))))
    assert len(names) > 15 and not names - hardware


def rows_under(title):
    """The cells of the table with this first row."""
    lines = TEXT.split(f"{title}\n", 1)[1].splitlines()[1:]
    table = lines[: next(i for i, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_reasons_of_bubbles():
    rows = rows_under("| reason | in the table | the slot is empty because |")
    assert [(name.strip("`"), shown) for name, shown, _ in rows] == [
        (item, NAMES[item]) for item in CAUSES_OF_CYCLES
    ]


def test_causes_of_traps():
    rows = rows_under("| mcause | trap | mtval | goes to |")
    assert [(int(cause, 0), meaning) for cause, meaning, _, _ in rows] == list(causes.MEANING.items())
    assert {int(row[0], 0) for row in rows if row[3] == "halt"} == set(causes.ALWAYS_HALT)


# ---- programs and commands


@parametrize(
    "command",
    [command for command in COMMAND.findall(TEXT) if f"<!-- executed: modexlab {command} -->" not in TEXT],
)
def test_command(command, workplace, cli):
    assert cli.of_page(command).out


def test_python(workplace, capsys):
    (script,) = PYTHON.findall(TEXT)
    exec(compile(script, "page", "exec"), {})
    exit_code, cycles, fetch, output = capsys.readouterr().out.split(maxsplit=3)
    assert (exit_code, output.strip()) == ("0", f"[{pow(1119317562, 65537, 2603398711)}]")
    assert int(cycles) > int(fetch) > 0


# ---- adding an instruction


def apply(diff, path):
    """Apply an edit of the page, wherever its lines are."""
    lines = diff.splitlines()
    before, after = (
        "\n".join(line[1:] for line in lines if not line.startswith(sign)) for sign in ("+", "-")
    )
    text = path.read_text()
    assert before in text, f"{path.name} has no such lines:\n{before}"
    path.write_text(text.replace(before, after))


class Copy:
    """A copy of the project in another directory, where Python uses it as the package."""

    def __init__(self, place):
        self.place = place
        ignored = shutil.ignore_patterns("__pycache__")
        for room in ROOMS:
            shutil.copytree(ROOT / room, place / "modexlab" / room, ignore=ignored)
        shutil.copytree(ROOT / "tests", place / "tests", ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", place)

    def edit(self, name, diffs):
        path = self.place / name if name.startswith("tests/") else self.place / "modexlab" / name
        for diff in DIFF.findall(diffs):
            apply(diff, path)

    def python(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
        return finished(
            [sys.executable, *arguments], cwd=self.place, env=environment | {"PYTHONPATH": str(self.place)}
        )

    def pytest(self, *tests):
        return self.python("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests)


COMPARE = """
from modexlab.proc.isa.isa import BY_NAME, decode
from modexlab.proc.core.null_xcel import NullXcel
from modexlab.proc.core.proc import Proc
from modexlab.proc.core.proc_xcel import ProcXcel
from modexlab.proc.sim import simulate_proc
from tests.proc.programs import RandomProgram, check, golden

seen = set()
with simulate_proc(ProcXcel(Proc, NullXcel), "python") as sim:
    for seed in range(6):
        drawn = RandomProgram(seed, 100)
        program = drawn.program()
        outcome = sim.run(program, manager=drawn.manager, max_cycles=100_000, record=True)
        check(golden(program, drawn.manager), outcome, drawn.name)
        seen |= {decode(commit.inst).name for commit in outcome.commits}
print(*sorted(seen))
"""


@regress
def test_add_an_instruction(tmp_path):
    """Zba, by the guide: the named tests fail after the first step, and none fails at the end."""
    copy = Copy(tmp_path)
    write_programs(tmp_path)
    program = ("-m", "modexlab.eval.cli.main", "proc", "element.c", "--json", "--backend", "python")
    refused = copy.python(*program)
    assert refused.returncode == 2 and "illegal instruction" in refused.stderr, refused

    edits = EDIT.findall(TEXT)
    (noticing,) = FAILING.findall(TEXT)
    copy.edit(*edits[0])
    done = copy.pytest(*noticing.split())
    assert set(re.findall(r"^FAILED (\S+)", done.stdout, re.MULTILINE)) == set(noticing.split()), done.stdout

    for edit in edits[1:]:
        copy.edit(*edit)
    for how in (program, (*program[:-2], "--level", "fl")):
        done = copy.python(*how)
        assert done.returncode == 0 and '"output": [\n    7\n  ]' in done.stdout, done
    done = copy.python("-c", COMPARE)
    assert done.returncode == 0 and {"sh1add", "sh2add", "sh3add"} <= set(done.stdout.split()), done
    units = ("tests/proc/test_units.py::test_corners", "tests/proc/test_units.py::test_decoder_on_every_code")
    done = copy.pytest(*noticing.split(), "tests/proc/test_isa.py", "tests/proc/test_iss.py", *units)
    assert done.returncode == 0, done.stdout


def rewrite():
    """Update the quotations in the pages."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as directory:
        write_programs(Path(directory))
        for page in PROC:
            os.chdir(directory)
            text = QUOTED.sub(lambda found: f"{found[1]}{present(found[2], found[3])}\n", page.read_text())
            os.chdir(here)
            page.write_text(text)


if __name__ == "__main__":
    rewrite()
