"""The reference results: complete, with origin, shown for points that a ledger lacks, and reproducible."""

import json
import random
import re
import shlex
import subprocess
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter

import psutil
import pytest
from modexlab.eval.cli.main import parsed
from modexlab.eval.grouping import grouped
from modexlab.eval.json_values import canonical
from modexlab.eval.lab import keys, space, verdicts
from modexlab.eval.lab.campaign import Estimate
from modexlab.eval.lab.explore import Measuring
from modexlab.eval.lab.ledger import export
from modexlab.eval.lab.ledger.export import REFERENCE, RESULTS, Reference
from modexlab.eval.lab.ledger.ledger import Ledger
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.schedulers import Local
from modexlab.eval.lab.stages import FLOW, FORMULA, LAYOUT, NETLIST
from modexlab.eval.lab.task import LARGE, LATE
from modexlab.eval.report.html import page
from modexlab.eval.report.sections import Content
from modexlab.fl.errors import BadInput

from tests.command_line import picked
from tests.conftest import part_of
from tests.harness import module_fixture, parametrize, regress
from tests.paths import ROOT
from tests.report.examples import implemented, picture

MOST_BYTES = 5_000_000
MOST_PAGE_BYTES = 3_000_000
QUICK_NBITS = 32
DRAWN = {"cycles": "operands", "energy_drawn_nj": "drawn"}  # details with the operands of a metric
CPU_SECONDS = 600  # in which a part of the long regression measures points again
AGAIN = "tests/lab/test_reference.py::test_results_are_measured_again[{}]"
MONT, NAIVE = (Point(name, 8, stage=FORMULA) for name in ("mont", "naive"))


@module_fixture
def rows():
    return Reference().rows()


def test_figures_come_with_their_origin(rows):
    """The tests that passed, the tools, the digest of the measured hardware, the corner and the operands."""
    reference = Reference()
    assert REFERENCE.stat().st_size <= MOST_BYTES
    assert {row.metric for row in rows} >= {"cycles", "area_um2", "wns_ns", "energy_nj"}
    for row in rows:
        assert row.tests and row.command[0] == "modexlab", row
        assert row.tools, row
        assert len(row.verilog_hash) >= 20, row
        details = reference.measurement(row.measurement).details
        assert row.stage not in NETLIST or details["corner"], row
        if row.metric in DRAWN:
            assert details[DRAWN[row.metric]][row.operation]["count"], row


def test_commands_are_those_of_today():
    """Each recorded command is accepted, and a result's is that of its point."""
    reference = Reference()
    verdicts = reference.verdicts()
    assert verdicts
    for verdict in verdicts:
        parsed(shlex.split(verdict.command)[1:])
    for line in map(json.loads, REFERENCE.read_text().splitlines()):
        command = shlex.split(line["command"])
        assert command == Point.from_json(line["point"]).command
        parsed(command[1:])


def test_layouts_have_their_pictures(rows):
    """The amoeba plot of each, and no other picture."""
    reference = Reference()
    layouts = {row.measurement for row in rows if row.stage == LAYOUT}
    pictures = [reference.measurement(number).artifacts[export.PICTURE] for number in layouts]
    assert pictures and all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert len(pictures) == len([*(RESULTS / export.PICTURES).iterdir()])


def test_the_report_of_the_reference_is_small(tmp_path):
    with Ledger(tmp_path / "empty.sqlite", Reference()) as ledger:
        assert len(page(Content(ledger)).encode()) < MOST_PAGE_BYTES


def test_formulas_give_the_reference_results(rows):
    """Cycles by formula equal those of the file, for the file's values of all parameters."""
    found = [row for row in rows if row.stage == FORMULA and row.nbits <= QUICK_NBITS]
    assert len(found) > 100
    for row in found:
        point = Point(*picked(row, "subject nbits parameters interface workload stage"))
        assert measure(point).value("cycles", row.operation) == row.value, row


def spent():
    """CPU seconds of this process and of all processes that it has started."""
    own, seconds = psutil.Process(), 0.0
    for process in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:4])
    return seconds


def differences(found, outcome):
    """The verified figures of a point in the file that are not those of the outcome, with both values."""
    if outcome.error:
        return [outcome.error]
    now = {picked(figure, "operation metric"): figure.value for figure in outcome.result.figures}
    both = [(row, now.get(picked(row, "operation metric"))) for row in found if not row.unverified]
    return [
        f"{row.point} {row.metric}: {row.value}, now {value}" for row, value in both if row.value != value
    ]


@regress
@parametrize("draw", {part_of(AGAIN.format(draw)): draw for draw in range(100)}.values())
def test_results_are_measured_again(rows, draw):
    """Formulas, and then points chosen by the commit and the draw, as many as CPU_SECONDS allow, have the
    figures of the file. Points whose hardware has changed are left out: `modexlab ledger verify` counts them.
    """
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    points = [*grouped(rows, attrgetter("measurement")).values()]
    random.Random(f"{commit} {draw}").shuffle(points)
    points.sort(key=lambda found: found[0].stage != FORMULA)
    end, estimate, fates, wrong = spent() + CPU_SECONDS, Estimate(), Counter(), []
    with Local(1) as process:
        for found in points:
            row, begin = found[0], spent()
            task = Measuring(Point.from_json(row.point))
            if row.kit and not keys.kit_of(row.stage, row.kit):
                fate = "without the kit"
            elif begin + estimate.seconds(task.cost) > end:
                fate = "left"
            elif row.stale:
                fate = "stale"
            else:
                fate, ended = "ended at the limit", []
                process.submit(task)
                while not ended and spent() < end:
                    ended = process.collect(1.0)
                for outcome in ended:
                    fate = "measured"
                    estimate.learn(task.cost, spent() - begin)
                    wrong += differences(found, outcome)
            fates[f"{row.stage} {fate}"] += 1
    warnings.warn(f"draw {draw}: {dict(fates)}", stacklevel=1)
    assert not wrong, "\n".join(wrong)
    hardware = [what for what in fates if not what.startswith(FORMULA)]
    assert not all(what.endswith("stale") for what in hardware), "record the results again"


# ---- with a ledger


@pytest.fixture
def small(tmp_path):
    """A file with the cycles of mont at 8 bits by formula."""
    with Ledger(tmp_path / "made.sqlite") as ledger:
        ledger.record(MONT, measure(MONT))
        ledger.export("reference", tmp_path / "results.jsonl")
    return tmp_path / "results.jsonl"


def row_of(file):
    """The only row of a file."""
    (row,) = Reference(file).rows()
    return row


def test_a_ledger_has_them_where_it_has_nothing(small, tmp_path):
    with Ledger(tmp_path / "own.sqlite", Reference(small)) as ledger:
        (row,) = ledger.rows(subject="mont")
        assert row.reference and not row.stale and row.id < 0
        assert ledger.row(row.id) == row
        again, made = ledger.measurement(row.measurement), measure(MONT)
        assert again.value("cycles") == row.value == made.value("cycles")
        assert again.details["commit"] == made.details["commit"]
        assert ledger.rows(subject="naive") == []
        number = ledger.record(MONT, made)
        (row,) = ledger.rows()
        assert row.measurement == number and not row.reference
        assert len(ledger.rows(history=True)) == 2


def changed(file, **values):
    """Change the only line of a file of results, which is sealed again."""
    line = json.loads(file.read_text()) | values
    del line["digest"]
    file.write_text(canonical(keys.sealed(line)) + "\n")


def test_they_are_stale_when_the_hardware_changes(small):
    """The content decides, unless the origin is that of the measured hardware."""
    assert not row_of(small).stale
    changed(small, content="another")
    assert not row_of(small).stale and Reference(small).has(MONT)
    changed(small, origin="another")
    assert row_of(small).stale and not Reference(small).has(MONT)
    changed(small, content=MONT.content)
    assert not row_of(small).stale


def test_they_are_stale_when_the_kit_changes(small):
    changed(
        small, point=MONT.at(stage=FLOW).as_json(), kit="of other files", content=MONT.at(stage=FLOW).content
    )
    assert row_of(small).stale
    changed(small, kit=keys.kit_of(FLOW))
    assert not row_of(small).stale


def test_verify_names_what_changed(small, cli, monkeypatch):
    """Verdicts are compared with modexlab's own file, and nothing is written."""
    assert "0 of 1 measurements and 0 verdicts" in cli.passes(f"ledger verify {small}").out
    changed(small, origin="", content="another")
    found = cli.finds(f"ledger verify {small}").out
    assert "1 of 1 measurements" in found and "modexlab run mont --level formula --nbits 8" in found
    changed(small, content=MONT.content, unverified={"cycles": "a reason"})
    assert cli.reports(f"ledger verify {small}", stale=[])["unverified"] == [
        shlex.join(row_of(small).command)
    ]
    assert row_of(small).unverified == "a reason"
    changed(small, unverified={})
    before = small.read_bytes(), sorted(RESULTS.iterdir())
    monkeypatch.setattr(export, "REFERENCE", small)
    (verdict, *_) = reference = [*verdicts.reference()]
    monkeypatch.setattr(verdicts, "reference", lambda: [replace(verdict, content="another", origin="")])
    monkeypatch.setattr(export, "reference", verdicts.reference)
    assert cli.finds(f"ledger verify {small} --json").json()["stale"] == [verdict.command]
    assert len(reference) > 400 and before == (small.read_bytes(), sorted(RESULTS.iterdir()))


def test_a_changed_figure_is_refused(small):
    text = small.read_text()
    value = json.loads(text)["figures"][0][2]
    small.write_text(text.replace(f" {value},", f" {value + 1},"))
    with pytest.raises(BadInput, match=r"line 1: .*not what was written"):
        Reference(small).rows()


def test_a_changed_verdict_is_refused(monkeypatch, tmp_path):
    """An edit of any line is found when the first is read."""
    text = verdicts.FILE.read_text()
    assert len(verdicts.recorded()) == text.count("\n")
    edited = re.sub(r"largest t [3-9]\d\.", "largest t 3.", text, count=1)
    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.jsonl")
    verdicts.FILE.write_text(edited)
    assert edited != text
    with pytest.raises(BadInput, match=r"line \d+: .*not what was written.*--record"):
        next(verdicts.reference())


def test_verdicts_are_those_of_the_own_file_by_any_path(small, monkeypatch, tmp_path):
    """For example, of an installation behind a symbolic link."""
    (tmp_path / "link").symlink_to(RESULTS)
    linked = tmp_path / "link" / REFERENCE.name
    own = [*verdicts.reference()]
    assert own and Reference(linked).verdicts() == own
    monkeypatch.setattr(export, "REFERENCE", linked)
    assert Reference(linked).verdicts() == Reference(REFERENCE).verdicts() == own
    assert Reference(small).verdicts() == []


def test_an_export_replaces_the_points_of_the_ledger_alone(small, cli, tmp_path):
    """Lines that stay keep what was known of their provenance."""
    with Ledger(tmp_path / "other.sqlite") as ledger:
        ledger.record(NAIVE, measure(NAIVE))
    changed(small, origin="of then", unverified={"cycles": "a reason"})
    before = small.read_text()
    for _ in range(2):
        cli.passes(f"ledger export {small} --format reference --ledger {tmp_path / 'other.sqlite'}")
        assert small.read_text().startswith(before)
        assert Reference(small).points() == [MONT, NAIVE]


def test_an_export_keeps_the_picture_of_a_layout(small, tmp_path):
    with Ledger(tmp_path / "own.sqlite", Reference(small)) as ledger:
        ledger.record(MONT.at(stage=LAYOUT), implemented(9.0, artifacts={export.PICTURE: picture()}))
        ledger.export("reference", small)
    for _ in range(2):  # an export without it leaves it alone
        reference = Reference(small)
        (row,) = reference.rows(stage=LAYOUT, metric="area_um2")
        assert reference.measurement(row.measurement).artifacts[export.PICTURE].startswith(b"\x89PNG")
        with Ledger(tmp_path / "other.sqlite", reference) as ledger:
            ledger.export("reference", small)


@parametrize("why", [f"yosys {LATE} 3,600 s of CPU time", f"top {LARGE} 831,132 cells"])
def test_a_point_that_was_ended_says_so(why, small, tmp_path):
    """It has a message in place of figures, until it is measured."""
    with Ledger(tmp_path / "late.sqlite") as ledger:
        ledger.fail(NAIVE, f"naive: {why}", 3600.0)
        ledger.fail(Point("ssmm", 8, stage=FORMULA), "another reason", 1.0)
        ledger.fail(MONT, f"{LATE} 3,600 s", 3600.0)
        ledger.reference = Reference(small)
        for _ in range(2):  # figures of another ledger stay, as does the digest of the hardware
            ledger.export("reference", small)
            assert {line.content for line in Reference(small)._lines} == {MONT.content, NAIVE.content}
    with Ledger(tmp_path / "own.sqlite", Reference(small)) as own:
        (failure,) = own.failures()
        assert failure.message.endswith(why) and failure.point == NAIVE.as_json()
        assert {row.subject for row in own.rows()} == {"mont"}
        own.record(NAIVE, measure(NAIVE))
        assert own.failures() == []


def test_they_are_a_space(small):
    """One command measures all of them again."""
    assert list(space.Space.load(small).points()) == [MONT]


def test_compare_shows_which_is_which(cli, tmp_path, monkeypatch):
    """Reference results are shown at once; the user's own figures replace those of the same style, with a
    mark.
    """
    ledger = tmp_path / "own.sqlite"
    monkeypatch.setenv("MODEXLAB_LEDGER", str(ledger))
    found = [row for row in cli.json("compare cores mont --nbits 32 --json") if row["ours"]]
    shown = next(row for row in found if row["part"] == "unit" and row["style"] == "optimised")
    assert shown["reference"] and shown["corner"].startswith("typical")
    rows = Reference().rows(subject="mont", nbits=32, interface="unit", stage=FLOW)
    row = next(row for row in rows if row.id == shown["row"])
    point = Point.from_json(row.point)
    with Ledger(ledger) as own:
        own.record(point, replace(Reference().measurement(row.measurement), content=point.content))
    mixed, alone = (cli.passes(f"compare cores mont --nbits 32 {more}").out for more in ("", "--own"))
    product, _, operation = mixed.partition("a private operation")
    styles = [line.split()[-2] for line in product.splitlines() if line.startswith("mont")]
    assert "\nmont+ " in product and sorted(styles) == ["optimised", "plain"]
    assert "\nmont " in product and "\nmont " in operation and "\nmont+ " not in operation
    assert "reference results" in mixed and "reference results" not in alone
