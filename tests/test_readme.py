"""The pages of the project: commands that they show are run, tables and the protocol that they quote are the
code's.

`python -m tests.test_readme` writes the quoted parts anew.
"""

import itertools
import json
import math
import os
import re
from collections import Counter
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from modexlab.eval.assurance.proof.check import KINDS, UNITS
from modexlab.eval.designs import protection
from modexlab.eval.exchange.package import shuttle
from modexlab.eval.lab.comparison.cores import least_um2
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.space import Space
from modexlab.eval.lab.store.reference import REFERENCE
from modexlab.eval.lab.store.reference_verdicts import recorded
from modexlab.eval.lab.store.store import Store
from modexlab.eval.table import table as render
from modexlab.fl import xcel
from modexlab.fl.multipliers.scaled import ScaledShape
from modexlab.fl.status import MEANING
from modexlab.flow.kit.kit_file import DENSITY
from modexlab.flow.prove.report import PROVED, REFUTED, UNDECIDED
from modexlab.proc.software.compiler import compiler

from tests.cli.test_examples import EXAMPLES, marked
from tests.command_line import printed
from tests.harness import finished, parametrize, regress_if
from tests.kits.pdks import require
from tests.paths import ROOT
from tests.programs import machine_of

pytestmark = pytest.mark.usefixtures("store")  # nothing has been measured before


def pages(*names):
    return [ROOT / f"{name}.md" for name in names]


PROC = pages(  # tests/proc/test_readme.py runs their commands
    "proc/README",
    "docs/explanation/processor",
    "docs/explanation/systems",
    *(f"docs/howto/{name}" for name in ("accelerator-port", "add-instruction", "bus", "run-program")),
    "docs/reference/processor",
)
PAGES = pages("README", "CONTRIBUTING", "rtl/README", "docs/index", "docs/tutorials/first-steps")
PAGES += pages("eval/README", "flow/README", "docs/reference/flow", "docs/reference/protocol")
PAGES += [page for page in sorted(ROOT.glob("docs/[eh]*/*.md")) if page not in PROC]
# pages in which every measured number comes from a command or from code
NUMBERED = sorted({*PAGES, *PROC, *ROOT.glob("docs/*/*.md"), *ROOT.glob("docs/labs/lab?/*.md")})
TEXT = "\n".join(page.read_text() for page in PAGES)
LINK = re.compile(r"\]\((?!http)([^)#]*)#?([\w-]*)\)")
MOST_LINES = 80  # of the first page
MOST_WORDS = 1500  # of a page in docs/
CODE = re.compile(  # and blocks that a test generates
    r"^(```+).*?^\1$|^    .*?$|<!-- (?:from|measured|table)\b.*?<!-- end -->|<!--.*?-->|`[^`\n]+`",
    re.DOTALL | re.MULTILINE,
)
UNIT = (
    r"(?:[pnum]s|s|seconds?|minutes?|[num]m(?:\^?2|²)?|[pn]J|[mun]W|[kMG]Hz|fF|[kMG]i?B|%|percent|"
    r"cycles|gates|tests|proofs|flip-flops|instructions)(?!\w)"
)
MEASURED = re.compile(
    rf"\d\s?{UNIT}|^\|.*[ (]{UNIT}[^|\n]*\|.*\n\|[-| ]+\|\n(?:\|.*\n)*?\|.*\| ?[-+]?\d", re.MULTILINE
)
QUOTED = re.compile(r"<!-- (executed|from): ([^\n]+?) -->\n```\n(.*?)```\n", re.DOTALL)
SPACE = re.compile(r"<!-- a space -->\n```toml\n(.*?)```\n", re.DOTALL)
COMMAND = re.compile(r"^\$ modexlab (.+)$", re.MULTILINE)
GCC = "12.2.0"  # made the programs whose cycles are quoted
TABLES = {  # command, first column of its table
    "compare paper-001 --table 2a": "machine",
    "asic mont --nbits 8 --layout": "clock",
    "asic mont --nbits 8 --to power": "encrypt",
    "asic mont --nbits 8 --interface unit --fmax --to timing": "clock",
    "report mont-001 mont --own --cycles --text": "Design",
    "proc soc systolic --nbits 1024 --wait interrupt": "operation",
    "show mont-keyed --program --nbits 32 --set schedule=always": "0",
}


def protocol():
    """The protocol, as the header of its model has it."""
    text = xcel.__doc__ or ""
    return text[text.index("Each access") :].strip() + "\n"


def statuses():
    """The status codes with their meanings."""
    rows = [(int(code), code.name, meaning) for code, meaning in MEANING.items()]
    return render(("code", "name", "meaning"), rows) + "\n"


def verdicts():
    """The reference verdicts, counted by check."""
    found = Counter[tuple[str, str]]()
    for (_, _, check), verdict in recorded().items():
        kind = check.split()[0]
        found[kind if kind in KINDS else UNITS, verdict] += 1
    kinds = [kind for kind in KINDS if any(kind in key for key in found)]
    rows = [(kind, *(found[kind, name] for name in (PROVED, REFUTED, UNDECIDED))) for kind in kinds]
    return render(("check", "proved", "disproved", "undecided"), rows) + "\n"


def public_exponents():
    """The cycles of `heap` for private and for public exponents."""
    rows = []
    for nbits in (256, 1024, 2048):
        public, alone = (machine_of("heap", nbits, public=public) for public in (True, False))
        base, exp, mod = public.some_operands()
        form = public.programmed.recipe.scaled
        checked = protection.costs(machine_of("heap", nbits, verify=True)).cycles
        private = alone.cycles(base, exp, mod)
        row = private, public.cycles(base, 65537, mod), form.constant_cycles(mod), checked - private
        rows.append((nbits, *(f"{cycles:,}" for cycles in row)))
    columns = "bits", "private", "public, e = 65537", "of which R^2", "check of a private result"
    return render(columns, rows) + "\n"


def heap_lines():
    """The reference results of the unit of `heap` with 64 bits or more: the shape, the kind of rows, the
    density of the layout (0 before it), and the figures.
    """
    for line in map(json.loads, REFERENCE.read_text().splitlines()):
        point = line["point"]
        unit = (point["subject"], point["interface"]) == ("heap", "unit")
        if unit and point["nbits"] >= 64 and "figures" in line:
            chosen = line["parameters"]
            shape = ScaledShape(point["nbits"], chosen["digit_nbits"], chosen["quotient_delay"])
            figures = {metric: value for _, metric, value, _ in line["figures"]}
            yield shape, chosen["rows"], point["flow"].get("density", 0), figures


def heap_energy():
    """The cost of a product of 128 bits by kind of rows, and with a quotient digit used a step later."""
    rows = []
    for shape, kind, density, found in heap_lines():
        if shape.nbits == 128 and shape.digit_nbits == 66 and not density:
            clean, full = found["energy_nj"], found["energy_with_glitches_nj"]
            clock = found["clock_ns"] - found["wns_ns"]
            nj = f"{clean:.2f}", f"{full:.2f}", f"{(full - clean) / found['cycles'] * 1e3:.0f}"
            time = found["cycles"], f"{clock:.2f}", f"{found['cycles'] * clock:.1f}"
            rows.append((kind, shape.quotient_delay, *time, f"{found['area_um2']:,.0f}", *nj))
    columns = "rows", "delay", "cycles", "ns", "product", "um2", "nJ", "with glitches", "glitch pJ/cycle"
    return render(columns, sorted(rows)) + "\n"


def smallest():
    """The reference results of the smallest machine."""
    rows = []
    for line in map(json.loads, REFERENCE.read_text().splitlines()):
        point, found = line["point"], {tuple(figure[:2]): figure[2] for figure in line.get("figures", ())}
        whole = point["stage"] == "flow" and "leave_out" not in point["flow"]
        if point["subject"] in ("tiny", "tiny-ct") and whole:
            nbits, area, cycles = point["nbits"], found["", "area_um2"], found.get(("decrypt", "cycles"))
            time = [f"{cycles:,}", f"{found['decrypt', 'time_ns'] / 1e3:,.1f}"] if cycles else ["-"] * 2
            energy = f"{found['decrypt', 'energy_nj']:,.1f}" if cycles else "-"
            floors = f"{area / least_um2(None, nbits)[1]:.2f}"
            k, cells = line["parameters"]["digit_nbits"], f"{found['', 'cells']:,.0f}"
            rows.append((point["subject"], nbits, k, f"{area:,.0f}", floors, cells, *time, energy))
    return render(("design", "bits", "k", "um2", "floors", "cells", "cycles", "us", "nJ"), rows) + "\n"


def levels(rows):
    """Full adders in series that reduce so many rows to two."""
    height, depth = 2, 0
    while height < rows:
        height, depth = 3 * height // 2, depth + 1
    return depth


def heap_model():
    """A model of area and clock of `heap`'s unit, fitted to the reference results, and products by it."""
    plain = [line for line in heap_lines() if line[1] == "radix-4" and not line[0].quotient_delay]
    measured = [(shape, density, figures) for shape, _, density, figures in plain]

    def columns(shape):
        return np.array([1, shape.digit_nbits]) * (shape.nbits + shape.digit_nbits)

    def terms(shape, density):
        side = math.sqrt(columns(shape) @ area / density) / 1000 if density else 0
        return np.array([1, levels(shape.digit_nbits + 2), side])

    areas = np.array([figures["area_um2"] for *_, figures in measured])
    area = fitted([columns(shape) for shape, *_ in measured], areas)
    clocks = np.array([figures["clock_ns"] - figures["wns_ns"] for *_, figures in measured])
    clock = fitted([terms(*line[:2]) for line in measured], clocks)
    rows = [
        (
            shape.nbits,
            shape.digit_nbits,
            density or "-",
            f"{columns(shape) @ area:,.0f}",
            f"{figures['area_um2']:,.0f}",
            f"{terms(shape, density) @ clock:.2f}",
            f"{shortest:.2f}",
        )
        for (shape, density, figures), shortest in zip(measured, clocks, strict=True)
    ]
    compared = render(("bits", "digit", "density", "area", "measured", "clock", "measured"), rows)
    rows = []
    for nbits, digit in itertools.product((128, 256, 512, 1024), (34, 66, 86, 130)):
        shape = ScaledShape(nbits, digit)
        cycles, shortest = shape.ndigits + 2, terms(shape, DENSITY) @ clock
        product = cycles * shortest
        both = columns(shape) @ area * product / 1e6
        rows.append((nbits, digit, cycles, f"{shortest:.2f}", f"{product:.1f}", f"{both:.2f}"))
    products = render(("bits", "digit", "cycles", "clock", "product", "area x time"), rows)
    same = clock[0].round(2) + 0.0  # no -0.00
    return (
        f"area  = (bits + digit) * ({area[0]:.0f} + {area[1]:.2f} * digit)              um2\n"
        f"clock = {same:.2f} + {clock[1]:.3f} * levels + {clock[2]:.2f} * side in mm      ns\n\n"
        f"{compared}\n\n{products}\n"
    )


def fitted(rows, values):
    """The weights with the least relative errors, in the sum of squares."""
    return np.linalg.lstsq(np.array(rows) / values[:, None], np.ones(len(values)), rcond=None)[0]


def table(output, first):
    """Return the table whose first column this is, without the text around it."""
    lines = output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{first} "))
    end = next(i for i, line in enumerate(lines) if i > start and not line.strip())
    return "\n".join(line.rstrip() for line in lines[start:end]) + "\n"


def comparable(text):
    """A quotation; where another compiler makes other programs, without its numbers and widths."""
    here = finished([compiler(), "-dumpfullversion"], check=True)
    return text if here.stdout.strip() == GCC else re.sub(r"[\d.]+|[ -]+", " ", text)


def quotations():
    return {source: text for _, source, text in QUOTED.findall(TEXT)}


SOURCES = {
    "fl/xcel.py": protocol,
    "fl/status.py": statuses,
    "heap with public=true": public_exponents,
    "heap after layout": heap_model,
    "energy of heap": heap_energy,
    "the smallest machines": smallest,
    "eval/results/verdicts.jsonl": verdicts,
}


@parametrize("source", SOURCES)
def test_quotation(source):
    assert quotations()[source] == SOURCES[source]()


@parametrize(
    "command, first",
    [
        pytest.param(*item, marks=regress_if(not item[0].startswith(("show ", "compare "))))
        for item in TABLES.items()
    ],
)
def test_table(command, first, cli):
    quoted, present = quotations()[f"modexlab {command}"], table(cli.of_page(command).out, first)
    assert comparable(quoted) == comparable(present)


def later(command):
    """Whether `make test` leaves a command out: it is slow, or the example of a help text is the same."""
    example = marked(f"modexlab {command}")
    return example.values[0] in EXAMPLES or bool(example.marks)


@parametrize(
    "command",
    [
        pytest.param(command, marks=regress_if(later(command)))
        for command in dict.fromkeys(COMMAND.findall(TEXT))
    ],
)
def test_commands(command, tmp_path, monkeypatch, cli):
    for room in ("eval", "flow", "proc", "tests"):  # whose files the commands name
        (tmp_path / room).symlink_to(ROOT / room)
    monkeypatch.chdir(tmp_path)
    if "--shuttle" in command:
        require(monkeypatch, shuttle.KIT)
    if command == "store check":  # of a store that is there
        monkeypatch.setenv("MODEXLAB_STORE", str(tmp_path / "own.jsonl"))
        with Store() as store:
            store.fail(Point("mont", 8), "no measurement", 1.0)
    assert cli.of_page(command).out


@parametrize("text", [TEXT, "\n".join(page.read_text() for page in PROC)], ids=("pages", "proc"))
def test_compiler_of_the_quoted_cycles_is_named(text):
    assert f"gcc {GCC}" in text


def test_files_that_are_named_exist():
    """Every path in a page that is not an example of one's own."""
    text = re.sub(r"`[\w/]*/blakley\.py`", "", "\n".join(page.read_text() for page in PAGES + PROC))
    for name in set(re.findall(r"`((?:fl|rtl|cl|proc|flow|eval|tests|docs)/[\w/.]*)`", text)):
        assert (ROOT / name).exists(), name


@parametrize("page", PAGES + PROC, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_headings(page):
    for target, heading in LINK.findall(page.read_text()):
        file = page.parent / target if target else page
        assert file.exists(), target
        if heading:
            titles = re.sub(r"[^\w\n -]", "", file.read_text()).lower().replace(" ", "-").splitlines()
            assert f"-{heading}" in titles, heading


def test_first_page_is_short():
    assert len(PAGES[0].read_text().splitlines()) <= MOST_LINES


@parametrize("page", NUMBERED, ids=lambda page: str(page.relative_to(ROOT)))
def test_measured_numbers_are_generated(page):
    text = page.read_text()
    assert not MEASURED.search(CODE.sub("", text))
    assert len(text.split()) <= MOST_WORDS or page.parent.name == "reference"


@parametrize(
    "text, number",
    {
        "it takes 3.04 nJ": "4 nJ",
        "14 % smaller": "4 %",
        "162 cycles": "2 cycles",
        "at `--clock 3 ns`": None,
        "```\n3 ns\n```\n": None,
        "| bits | at ns |\n|---|---|\n| 8 | 1.7 |\n": "| bits | at ns |\n|---|---|\n| 8 | 1",
    }.items(),
)
def test_measured_numbers_are_found(text, number):
    found = MEASURED.search(CODE.sub("", text))
    assert (found and found[0]) == number


def rewrite():
    """Put the present texts into the pages."""
    present = {source: generate() for source, generate in SOURCES.items()}
    for command, first in TABLES.items():
        with TemporaryDirectory() as folder:  # an empty store for each command
            os.environ["MODEXLAB_STORE"] = f"{folder}/store.jsonl"
            present[f"modexlab {command}"] = table(printed(command).out, first)
    for page in PAGES:
        text = QUOTED.sub(
            lambda found: f"<!-- {found[1]}: {found[2]} -->\n```\n{present[found[2]]}```\n", page.read_text()
        )
        page.write_text(text)


if __name__ == "__main__":
    rewrite()


def test_the_space_that_it_shows_has_points():
    (text,) = SPACE.findall(TEXT)
    points = list(Space.parse(text).points())
    assert {dict(point.flow)["clock_period"] for point in points} == {2.0, 3.0, 4.0}
    assert all(point.resolved["nstages"] * point.resolved["steps_per_stage"] <= 32 for point in points)
