"""The reference results: complete, with origin, shown for points that a store lacks, and reproducible."""

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
from unittest.mock import Mock

import psutil
import pytest
from modexlab.eval.cli.main import parsed
from modexlab.eval.grouping import grouped
from modexlab.eval.lab import content, keys, space, sweep
from modexlab.eval.lab.executors import Processes
from modexlab.eval.lab.measure import measure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.runner import Runner
from modexlab.eval.lab.stages import FLOW, FORMULA, LAYOUT, NATIVE, NETLIST
from modexlab.eval.lab.store import artifacts, export
from modexlab.eval.lab.store import reference as references
from modexlab.eval.lab.store import reference_verdicts as verdicts
from modexlab.eval.lab.store.entries import text_of
from modexlab.eval.lab.store.lines import sealed
from modexlab.eval.lab.store.reference import REFERENCE, RESULTS, Reference
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.store.store import Store
from modexlab.eval.lab.sweep import Measuring
from modexlab.eval.lab.task import LARGE, LATE, Estimate
from modexlab.eval.report.html import page
from modexlab.eval.report.sections import Content
from modexlab.fl.errors import BadInput

from tests.command_line import picked
from tests.conftest import part_of
from tests.harness import module_fixture, one_now, parametrize, refused, regress
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
        command = line["command"]
        assert command == Point.from_json(line["point"]).command
        parsed(command[1:])


def test_layouts_have_their_pictures(rows):
    """The amoeba plot of each, and no other picture."""
    reference = Reference()
    layouts = {row.measurement for row in rows if row.stage == LAYOUT}
    pictures = [reference.measurement(number).artifacts[export.PICTURE] for number in layouts]
    assert pictures and all(picture.startswith(b"\x89PNG") for picture in pictures)
    assert len(pictures) == len([*(RESULTS / artifacts.PICTURES).iterdir()])


def test_the_report_of_the_reference_is_small(tmp_path):
    with Store(tmp_path / "empty.jsonl", Reference()) as store:
        assert len(page(Content(Snapshot(store))).encode()) < MOST_PAGE_BYTES


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
    figures of the file. Points whose hardware has changed are left out: `modexlab store check` counts them.
    """
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    points = [*grouped(rows, attrgetter("measurement")).values()]
    random.Random(f"{commit} {draw}").shuffle(points)
    points.sort(key=lambda found: found[0].stage != FORMULA)
    end, estimate, fates, wrong = spent() + CPU_SECONDS, Estimate(), Counter(), []
    with Processes(1) as process:
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


# ---- with a store


@pytest.fixture
def small(tmp_path):
    """A file with the cycles of mont at 8 bits by formula."""
    with Store(tmp_path / "made.jsonl") as store:
        store.record(MONT, measure(MONT))
        export.export(store, "reference", tmp_path / "results.jsonl")
    return tmp_path / "results.jsonl"


def row_of(file):
    """The only row of a file."""
    (row,) = Reference(file).rows()
    return row


def test_a_store_has_them_where_it_has_nothing(small, tmp_path):
    with Store(tmp_path / "own.jsonl", Reference(small)) as store:
        (row,) = store.rows(subject="mont")
        assert row.reference and not row.stale and row.id < 0
        assert store.row(row.id) == row
        again, made = store.measurement(row.measurement), measure(MONT)
        assert again.value("cycles") == row.value == made.value("cycles")
        assert again.details["commit"] == made.details["commit"]
        assert store.rows(subject="naive") == []
        number = store.record(MONT, made)
        (row,) = store.rows()
        assert row.measurement == number and not row.reference
        assert len(store.rows(history=True)) == 2


def changed(file, **values):
    """Change the only line of a file of results, which is sealed again."""
    line = json.loads(file.read_text()) | values
    del line["digest"]
    file.write_bytes(sealed(text_of(line.pop("entry"), **line)))


def test_they_are_stale_when_the_hardware_changes(small):
    assert not row_of(small).stale and Reference(small).has(MONT)
    changed(small, content="another")
    assert row_of(small).stale and not Reference(small).has(MONT)


def test_they_are_verified_unless_there_is_a_reason_to_measure_again(small, monkeypatch):
    number, found = Reference(small).verified(MONT)
    assert (number, found.value("cycles")) == (row_of(small).measurement, row_of(small).value)
    assert Reference(small).verified(MONT.at(nbits=16)) is None
    changed(small, unverified={"cycles": "a reason"})
    assert Reference(small).verified(MONT) is None and Reference(small).has(MONT)
    changed(small, unverified={})
    monkeypatch.setattr(content, "content_of", Mock(side_effect=AttributeError))  # it cannot be translated
    assert Reference(small).verified(MONT.at()) is None


@parametrize("most", one_now((16, 64), 16))
def test_recorded_contents_are_those_of_the_hardware(rows, most):
    """The file never says that hardware is what it is not. It lacks hardware whose code has changed."""
    points = {Point.from_json(row.point) for row in rows if row.nbits <= most and row.stage != FORMULA}
    assert points
    for point in points:
        hardware = content.verilog_digests(point).hardware
        assert content.recorded_contents().get(content.origin_of(point), hardware) == hardware, point


def test_contents_that_are_recorded_spare_elaboration(monkeypatch, tmp_path):
    point = MONT.at(stage=NATIVE)
    monkeypatch.setattr(content, "CONTENTS", tmp_path / "contents.json")
    content.CONTENTS.write_text("{}")
    content.recorded_contents.cache_clear()
    content.record_contents([point, NAIVE])
    hardware = content.verilog_digests(point).hardware
    assert [*content.recorded_contents().values()] == [hardware]
    monkeypatch.setattr(content, "verilog_digests", Mock(side_effect=AssertionError))
    assert content.content_of(point) == hardware
    monkeypatch.undo()
    content.recorded_contents.cache_clear()


def test_contents_are_not_recorded_after_an_edit(monkeypatch):
    """The code of this process is not that of the files then."""
    before = content.CONTENTS.read_bytes()
    monkeypatch.setattr(content, "_BEGUN", 0.0)
    with refused("changed meanwhile"):
        content.record_contents([])
    assert content.CONTENTS.read_bytes() == before


def test_they_are_stale_when_the_kit_changes(small):
    changed(
        small, point=MONT.at(stage=FLOW).as_json(), kit="of other files", content=MONT.at(stage=FLOW).content
    )
    assert row_of(small).stale
    changed(small, kit=keys.kit_of(FLOW))
    assert not row_of(small).stale


def test_verify_names_what_changed(small, cli, monkeypatch):
    """Verdicts are compared with modexlab's own file, and nothing is written."""
    assert "0 of 1 reference results and 0 verdicts" in cli.passes(f"store check {small}").out
    changed(small, content="another")
    found = cli.finds(f"store check {small}").out
    assert "1 of 1 reference results" in found and "modexlab run mont --level formula --nbits 8" in found
    changed(small, content=MONT.content, unverified={"cycles": "a reason"})
    assert cli.reports(f"store check {small}", stale=[])["unverified"] == [shlex.join(row_of(small).command)]
    assert row_of(small).unverified == "a reason"
    changed(small, unverified={})
    before = small.read_bytes(), sorted(RESULTS.iterdir())
    monkeypatch.setattr(references, "REFERENCE", small)
    (verdict, *_) = known = verdicts.reference()
    monkeypatch.setattr(verdicts, "reference", lambda: [replace(verdict, content="another")])
    assert cli.finds(f"store check {small} --json").json()["stale"] == [verdict.command]
    assert len(known) > 400 and before == (small.read_bytes(), sorted(RESULTS.iterdir()))


def test_a_changed_figure_is_refused(small, cli):
    text = small.read_text()
    value = json.loads(text)["figures"][0][2]
    small.write_text(text.replace(f" {value},", f" {value + 1},"))
    with refused("line 1: not as it was written"):
        Reference(small).rows()
    assert "1 lines are damaged and skipped: 1" in cli.finds(f"store check {small}").out


def test_no_line_is_damaged():
    for path in (REFERENCE, verdicts.FILE):
        store = Store(path)
        assert len(store.entries()) == path.read_text().count("\n") and store.damaged == ()


def test_a_changed_verdict_is_refused(monkeypatch, tmp_path):
    """An edit of any line is found when the first is read."""
    text = verdicts.FILE.read_text()
    assert len(verdicts.recorded()) == text.count("\n")
    edited = re.sub(r"largest t [3-9]\d\.", "largest t 3.", text, count=1)
    monkeypatch.setattr(verdicts, "FILE", tmp_path / "verdicts.jsonl")
    verdicts.FILE.write_text(edited)
    assert edited != text
    with pytest.raises(BadInput, match=r"line \d+: .*not what was written.*--record"):
        verdicts.reference()


def test_verdicts_are_those_of_the_own_file_by_any_path(small, monkeypatch, tmp_path):
    """For example, of an installation behind a symbolic link."""
    (tmp_path / "link").symlink_to(RESULTS)
    linked = tmp_path / "link" / REFERENCE.name
    own = [*verdicts.reference()]
    assert own and Reference(linked).verdicts() == own
    monkeypatch.setattr(references, "REFERENCE", linked)
    assert Reference(linked).verdicts() == Reference(REFERENCE).verdicts() == own
    assert Reference(small).verdicts() == []


def test_an_export_replaces_the_points_of_the_store_alone(small, cli, tmp_path):
    """Lines that stay keep what was known of their provenance."""
    with Store(tmp_path / "other.jsonl") as store:
        store.record(NAIVE, measure(NAIVE))
    changed(small, unverified={"cycles": "a reason"})
    before = small.read_text()
    for _ in range(2):
        cli.passes(f"store export {small} --format reference --store {tmp_path / 'other.jsonl'}")
        assert small.read_text().startswith(before)
        assert Reference(small).points() == [MONT, NAIVE]


def test_an_export_keeps_the_picture_of_a_layout(small, tmp_path):
    with Store(tmp_path / "own.jsonl", Reference(small)) as store:
        store.record(MONT.at(stage=LAYOUT), implemented(9.0, artifacts={export.PICTURE: picture()}))
        export.export(store, "reference", small)
    for _ in range(2):  # an export without it leaves it alone
        reference = Reference(small)
        (row,) = reference.rows(stage=LAYOUT, metric="area_um2")
        assert reference.measurement(row.measurement).artifacts[export.PICTURE].startswith(b"\x89PNG")
        with Store(tmp_path / "other.jsonl", reference) as store:
            export.export(store, "reference", small)


@parametrize("why", [f"yosys {LATE} 3,600 s of CPU time", f"top {LARGE} 831,132 cells"])
def test_a_point_that_was_ended_says_so(why, small, tmp_path):
    """It has a message in place of figures, until it is measured."""
    with Store(tmp_path / "late.jsonl") as store:
        store.fail(NAIVE, f"naive: {why}", 3600.0)
        store.fail(Point("ssmm", 8, stage=FORMULA), "another reason", 1.0)
        store.fail(MONT, f"{LATE} 3,600 s", 3600.0)
        store.reference = Reference(small)
        for _ in range(2):  # figures of another store stay, as does the digest of the hardware
            export.export(store, "reference", small)
            assert {entry.content for entry in Reference(small).entries()} == {MONT.content, NAIVE.content}
    with Store(tmp_path / "own.jsonl", Reference(small)) as own:
        (failure,) = own.failures()
        assert failure.message.endswith(why) and failure.point == NAIVE.as_json()
        assert {row.subject for row in own.rows()} == {"mont"}
        own.record(NAIVE, measure(NAIVE))
        assert own.failures() == []


@pytest.fixture
def aged(small, tmp_path):
    """A file in which the hardware and the cycles of naive are others."""
    other = tmp_path / "other.jsonl"
    with Store(tmp_path / "naive.jsonl") as store:
        store.record(NAIVE, measure(NAIVE))
        export.export(store, "reference", other)
    ((operation, metric, _, unit),) = json.loads(other.read_text())["figures"]
    changed(other, content="of then", figures=[[operation, metric, 1, unit]])
    with small.open("a") as file:
        file.write(other.read_text())
    return small


def test_stale_results_are_renewed(aged, cli, tmp_path):
    """The stale point is measured again; the line of the other stays."""
    before, store = aged.read_text(), tmp_path / "own.jsonl"
    planned = cli.reports(f"store renew {aged} --dry-run --store {store}", stale=1)
    assert planned["chosen"] == [NAIVE.as_json()] and aged.read_text() == before
    cli.reports(f"store renew {aged} --subject ssmm --dry-run --store {store}", stale=1, chosen=[])
    found = cli.passes(f"store renew {aged} --store {store}")
    cycles = measure(NAIVE).value("cycles")
    assert f"{cycles - 1:+.2%}" in found.out and "1 of 1 results are renewed" in found.out
    renewed = Reference(aged)
    assert [(row.subject, row.value, row.stale) for row in renewed.rows()] == [
        ("mont", measure(MONT).value("cycles"), False),
        ("naive", cycles, False),
    ]
    assert aged.read_text().splitlines()[0] == before.splitlines()[0]
    assert [entry.command for entry in renewed.entries()] == [[*MONT.command], [*NAIVE.command]]
    after = aged.read_text()
    cli.reports(f"store renew {aged} --store {store}", stale=0, renewed=0, differences=[])
    assert aged.read_text() == after


def test_a_renewal_goes_on(aged, cli, monkeypatch, tmp_path):
    """Results in the store are not measured again; those that fail keep their lines."""
    before = aged.read_text()
    with monkeypatch.context() as patch:
        patch.setattr(sweep.Measuring, "run", Mock(side_effect=BadInput("not today")))
        report = cli.finds(f"store renew {aged} --jobs 1 --store {tmp_path / 'none.jsonl'} --json").json()
        assert [item["message"] for item in report["failed"]] == ["not today"] and not report["renewed"]
    assert aged.read_text().splitlines()[1] == before.splitlines()[1]
    with Store(tmp_path / "own.jsonl") as store:
        store.record(NAIVE, measure(NAIVE))
        monkeypatch.setattr(sweep.Measuring, "run", Mock(side_effect=AssertionError))
    cli.reports(f"store renew {aged} --store {store.path}", stale=1, renewed=1, failed=[])


def test_a_sample_has_the_quickest_result_of_a_kind(aged, cli, tmp_path):
    wide = tmp_path / "wide.jsonl"
    with Store(tmp_path / "made.jsonl") as store:
        point = NAIVE.at(nbits=16)
        store.record(point, measure(point))
        export.export(store, "reference", wide, nbits=16)
    changed(wide, content="of then")
    with aged.open("a") as file:
        file.write(wide.read_text())
    command = f"store renew {aged} --dry-run --store {tmp_path / 'own.jsonl'}"
    cli.reports(command, chosen=[NAIVE.as_json(), point.as_json()])
    cli.reports(f"{command} --sample", stale=2, chosen=[NAIVE.as_json()])


def test_a_renewal_writes_what_it_has(aged, cli, monkeypatch, tmp_path):
    """After Ctrl-C, which is exit code 130."""

    def interrupted(self, tasks):
        yield from real(self, tasks)
        raise KeyboardInterrupt

    real = Runner.run
    monkeypatch.setattr(Runner, "run", interrupted)
    found = cli.passes(f"store renew {aged} --store {tmp_path / 'own.jsonl'}", code=130)
    assert "1 of 1 results are renewed" in found.out
    assert not any(row.stale for row in Reference(aged).rows())


def test_verdicts_are_no_results_to_renew(cli, tmp_path):
    assert "line 1 is no reference result" in cli.fails(f"store renew {verdicts.FILE} --store {tmp_path}/own")


def test_a_sample_of_the_reference_has_all_kinds(cli):
    """One of each design, interface, stage and style."""
    command = f"store renew {REFERENCE} --dry-run"
    all_, sample = (cli.reports(f"{command} {option}") for option in ("", "--sample"))

    def kinds(points):
        return {(*picked(point, "subject interface stage"), point["flow"].get("style")) for point in points}

    assert kinds(all_["chosen"]) == kinds(sample["chosen"])
    assert len(sample["chosen"]) <= len(all_["chosen"])


def test_a_store_is_not_renewed(cli, tmp_path):
    with Store(tmp_path / "own.jsonl") as store:
        store.record(MONT, measure(MONT))
    assert "is no reference result" in cli.fails(
        f"store renew {store.path} --store {tmp_path / 'other.jsonl'}"
    )


def test_they_are_a_space(small):
    """One command measures all of them again."""
    assert list(space.Space.load(small).points()) == [MONT]


def test_compare_shows_which_is_which(cli, tmp_path, monkeypatch):
    """Reference results are shown at once; the user's own figures replace those of the same style, with a
    mark.
    """
    store = tmp_path / "own.jsonl"
    monkeypatch.setenv("MODEXLAB_STORE", str(store))
    found = [row for row in cli.json("compare cores mont --nbits 32 --json") if row["ours"]]
    shown = next(row for row in found if row["part"] == "unit" and row["style"] == "optimised")
    assert shown["reference"] and shown["corner"].startswith("typical")
    rows = Reference().rows(subject="mont", nbits=32, interface="unit", stage=FLOW)
    row = next(row for row in rows if row.id == shown["row"])
    point = Point.from_json(row.point)
    with Store(store) as own:
        own.record(point, replace(Reference().measurement(row.measurement), content=point.content))
    mixed, alone = (cli.passes(f"compare cores mont --nbits 32 {more}").out for more in ("", "--own"))
    product, _, operation = mixed.partition("a private operation")
    styles = [line.split()[-2] for line in product.splitlines() if line.startswith("mont")]
    assert "\nmont+ " in product and sorted(styles) == ["optimised", "plain"]
    assert "\nmont " in product and "\nmont " in operation and "\nmont+ " not in operation
    assert "reference results" in mixed and "reference results" not in alone
