"""A truncated ledger, or one with flipped bits: intact records are found, and nothing else."""

import shutil
from dataclasses import astuple, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modexlab.eval.lab.ledger.join import join
from modexlab.eval.lab.ledger.ledger import Ledger
from modexlab.eval.lab.ledger.salvage import salvage, verify
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.verdicts import Verdict
from modexlab.fl.errors import BadInput

from tests.command_line import picked
from tests.harness import parametrize, refused, regress

from .test_ledger import WHOLE, point, put, sql

SETTINGS = {"nstages": 1, "schedule": "ladder"}  # of verdicts
COUNT, NOTES = 60, 3  # measurements; failures, and the same number of verdicts
WITH_PICTURE = replace(WHOLE, artifacts={"picture": bytes(range(256)) * 8})


@pytest.fixture(name="content", scope="module")
def make_content(tmp_path_factory):
    """The file of a ledger with COUNT measurements."""
    path = tmp_path_factory.mktemp("whole") / "ledger.sqlite"
    with Ledger(path) as ledger:
        for index in range(COUNT):
            put(ledger, f"k{index}", WITH_PICTURE if index % 7 == 0 else WHOLE)
        for index in range(NOTES):
            ledger.fail(point(f"failed {index}"), "no room", index)
            ledger.note(verdict(f"check {index}"))
    found = verify(path)
    assert found.whole and found.intact == COUNT and found.notes == 2 * NOTES
    return path.read_bytes()


def verdict(name, outcome="proved", at=""):
    return Verdict("key", "mont", "MontMulRem", 8, SETTINGS, name, "time", outcome, "PDR", 2, at)


def figures(ledger):
    found = {}
    for row in ledger.rows(history=True):
        found.setdefault(row.key, []).append(picked(row, "metric operation value"))
    return found


RIGHT = sorted(picked(figure, "metric operation value") for figure in WHOLE.figures)


def check(path, into):
    """Salvage the ledger at `path`: every recovered record is as it was recorded, and none is doubled."""
    with Ledger(into) as ledger:
        salvaged = salvage(path, ledger)
        found = figures(ledger)
        notes = [picked(failure, "key message seconds") for failure in ledger.failures()]
        notes += [picked(item, "name verdict settings seconds") for item in ledger.verdicts()]
    assert salvaged.joined.added == len(found) == salvaged.found.intact
    assert salvaged.joined.noted == salvaged.found.notes == len(notes)
    rights = [(f"failed {index}", "no room", index) for index in range(NOTES)]
    rights += [(f"check {index}", "proved", SETTINGS, 2) for index in range(NOTES)]
    assert all(note in rights for note in notes)
    assert salvaged.found.intact + len(salvaged.found.damaged) >= COUNT or not salvaged.found.sound
    assert found.keys() <= {f"k{index}" for index in range(COUNT)}
    assert all(sorted(figure) == RIGHT for figure in found.values())
    assert verify(into).whole
    return len(found)


@parametrize("share", [0.3, 0.7, 0.95])
def test_cut_off(content, share, tmp_path):
    path, cut = tmp_path / "cut.sqlite", content[: int(share * len(content))]
    path.write_bytes(cut)
    assert not verify(path).whole
    count = check(path, tmp_path / "new.sqlite")
    assert 0 < count < COUNT if share > 0.5 else count < COUNT
    assert path.read_bytes() == cut


def test_a_figure_in_which_a_bit_has_changed(content, tmp_path):
    """SQLite does not notice; the digest does."""
    path = tmp_path / "changed.sqlite"
    path.write_bytes(content)
    sql(path, "UPDATE figure SET value = value + 1 WHERE measurement = 5 AND id % 2 = 0")
    assert picked(verify(path), "sound damaged whole") == (True, (5,), False)
    new = tmp_path / "new.sqlite"
    with Ledger(path) as source, Ledger(new) as into, refused("measurement 5 is not what was written"):
        join(into, source)  # it would get a new digest there, and look intact
    assert check(path, tmp_path / "salvaged.sqlite") == COUNT - 1


def test_a_note_in_which_a_bit_has_changed(content, tmp_path):
    """A damaged note is skipped; all others are copied once, even if copied again."""
    path, new = tmp_path / "changed.sqlite", tmp_path / "new.sqlite"
    path.write_bytes(content)
    sql(
        path,
        "UPDATE verdict SET verdict = 'qroved' WHERE id = 2",
        "UPDATE failure SET message = 'mo room' WHERE id = 3",
    )
    damaged = ("failure 3", "verdict 2")
    assert picked(verify(path), "damaged_notes sound whole") == (damaged, True, False)
    with Ledger(path) as source, Ledger(new) as into, refused("verdict 2 is not"):
        join(into, source)
    assert check(path, new) == COUNT
    with Ledger(new) as ledger:
        assert [verdict.name for verdict in ledger.verdicts()] == ["check 0", "check 2"]
        assert [failure.key for failure in ledger.failures()] == ["failed 0", "failed 1"]
        assert salvage(path, ledger).joined.noted == 0
        assert len(ledger.verdicts()) == 2


def test_the_newest_verdict_counts_wherever_it_was_found(tmp_path):
    old, new, day = tmp_path / "old.sqlite", tmp_path / "new.sqlite", "2026-01-0{}T00:00:00.000+00:00"
    with Ledger(old) as first, Ledger(new) as second:
        first.note(verdict("a", "undecided", day.format(1)))
        first.note(verdict("b", "proved", day.format(3)))
        second.note(verdict("a", "disproved", day.format(2)))
        second.note(verdict("b", "undecided", day.format(2)))
        assert join(second, first).noted == 1
        assert {item.name: item.verdict for item in second.verdicts()} == {"a": "disproved", "b": "proved"}
        first.fail(point(), "here, and not there", 1.0)
        assert join(second, first).noted == 0 and second.failures() == []


def test_a_ledger_that_is_written_meanwhile(tmp_path, monkeypatch):
    """A writer checkpoints the log between the copy of the file and that of the log: its content is found all
    the same.
    """
    path, copyfile = tmp_path / "ledger.sqlite", shutil.copyfile
    with Ledger(path) as ledger:
        for index in range(COUNT):
            put(ledger, f"k{index}")

        def copied(source, target):
            copyfile(source, target)
            put(ledger, source.name)
            sql(path, "PRAGMA wal_checkpoint(TRUNCATE)", timeout=0.1)

        monkeypatch.setattr(shutil, "copyfile", copied)
        found = verify(path)
    assert found.whole and found.intact >= COUNT


def flipped(content, where, bit):
    damaged = bytearray(content)
    damaged[where] ^= 1 << bit
    return bytes(damaged)


def flipped_anywhere(content, generator):
    return flipped(content, generator.randrange(len(content)), generator.randrange(8))


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1, max_size=4))
def test_any_bits(content, tmp_path_factory, bits):
    """Whichever bits change, nothing wrong is recovered."""
    directory = tmp_path_factory.mktemp("bits")
    damaged = content
    for where, bit in bits:
        damaged = flipped(damaged, int(where * len(damaged)), bit)
    path = directory / "bits.sqlite"
    path.write_bytes(damaged)
    try:
        check(path, directory / "new.sqlite")
    except BadInput as error:  # damage in the first page
        assert any(int(where * len(damaged)) < 4096 for where, _ in bits), error


def test_numbers_after_the_last_record_are_not_called_damaged(content, tmp_path):
    """Without SQLite's table of assigned numbers, only a gap before the last record is damage."""
    path = tmp_path / "sequence.sqlite"
    path.write_bytes(content)
    sql(path, "DELETE FROM sqlite_sequence", "DELETE FROM measurement WHERE id IN (5, 9)")
    assert picked(verify(path), "intact damaged damaged_notes") == (COUNT - 2, (5, 9), ())


def test_by_command(content, tmp_path, cli, monkeypatch):
    """The damaged ledger is kept under another name, and the ledger has the intact records."""
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("MODEXLAB_LEDGER", str(path))
    cut = content[: int(0.8 * len(content))]
    path.write_bytes(cut)
    verified = cli("ledger verify")
    assert verified.code == 1 and "the file is damaged" in verified.out
    kept = tmp_path / "ledger.sqlite.damaged-1"
    assert str(kept) in cli.passes("ledger salvage").out and kept.read_bytes() == cut
    cli.passes("ledger verify")
    with Ledger() as ledger:
        assert 0 < len(figures(ledger)) < COUNT


def test_whole_seconds_are_no_damage(tmp_path):
    """SQLite may return an integer as a float of the same value, and results may have been deleted; neither
    is damage.
    """
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.record(point(), replace(WHOLE, seconds=3))
        ledger.keep("task", 1, 3)
        ledger.forget(["task"])
    assert verify(tmp_path / "ledger.sqlite").whole


# ---- commands on flipped bits

FLIPS = 100
SPACE = """
title = "a machine"
objectives = {cycles = "min"}
[[part]]
designs = ["mont"]
nbits = [8]
workloads = ["encrypt", "decrypt"]
stages = ["formula"]
"""


@pytest.fixture(name="real", scope="module")
def make_real(untranslated, tmp_path_factory):
    """The file of a small ledger of real points."""
    path = tmp_path_factory.mktemp("real") / "ledger.sqlite"
    with Ledger(path) as ledger:
        for workload in ("encrypt", "decrypt"):
            ledger.record(Point("mont", 8, workload=workload, stage="formula"), WITH_PICTURE)
        ledger.record(Point("mont", 8, stage="flow"), WITH_PICTURE)
        ledger.fail(Point("naive", 8, stage="flow"), "no room", 1.0)
        ledger.note(verdict("check"))
    return path.read_bytes()


def commands(directory):
    """The commands that read a ledger, except those that prove or measure."""
    (directory / "space.toml").write_text(SPACE)
    made = directory / "made"
    return [
        "ledger list",
        "ledger list --failures",
        "ledger show 1",
        f"ledger export {made}.csv",
        f"ledger diff {directory / 'whole.sqlite'}",
        f"ledger merge {directory / 'ledger.sqlite'} --ledger {made}.sqlite",
        "ledger reproduce 1",
        f"report --no-measure -o {made}.html",
        f"sweep {directory / 'space.toml'} --dry-run",
        f"verilog --package mont --nbits 8 --interface stream -o {made}-package --force",
        "compare paper-003",
    ]


def run(monkeypatch, cli, directory, content, damaged):
    """A function that runs a command with this ledger, each time on a fresh copy of the file."""
    path = directory / "ledger.sqlite"
    monkeypatch.setenv("MODEXLAB_LEDGER", str(path))
    (directory / "whole.sqlite").write_bytes(content)

    def result(command):
        for file in directory.glob("ledger.sqlite*"):
            file.unlink()
        path.write_bytes(damaged)
        return cli(command)

    return result


def test_flipped_bits_show_no_wrong_figure(real, tmp_path):
    """Each read returns what was written, or raises BadInput that names the file."""
    path, generator = tmp_path / "ledger.sqlite", Random(27)

    def answers(content):
        found = []
        with Ledger(path) as ledger:
            asked = [
                lambda: [picked(row, "point metric operation value") for row in ledger.rows(history=True)],
                lambda: [picked(failure, "message point") for failure in ledger.failures()],
                lambda: [replace(found, at="") for found in ledger.verdicts()],
                lambda: [ledger.measurement(number) for number in (1, 2, 3)],
                lambda: len(list(ledger.records("measurement"))) and ledger.names(),
            ]
            for ask in asked:
                for file in path.parent.glob("ledger.sqlite*"):
                    file.unlink()
                path.write_bytes(content)
                ledger.close()
                try:
                    found.append(ask())
                except BadInput as error:
                    assert str(path) in str(error), error
                    found.append(None)
        return found

    rows, *others = answers(real)
    assert isinstance(rows, list) and len(rows) == 6 and None not in others
    refused = 0
    for _ in range(FLIPS):
        read, *more = answers(flipped_anywhere(real, generator))
        refused += read is None
        assert read is None or all(row in rows for row in read), "a figure that nobody measured"
        for right, answer in zip(others[1:3], more[1:3], strict=True):
            assert answer in (None, right, [])
    assert 10 < refused < FLIPS


def test_every_command_names_the_damage_and_the_remedy(real, tmp_path, monkeypatch, cli):
    damaged = real.replace(b'"subject": "mont"', b'"subject": "lont"').replace(b"no room", b"no soom")
    result = run(monkeypatch, cli, tmp_path, real, damaged)
    for command in commands(tmp_path):
        code, _, said = astuple(result(command))
        assert code == 2, command
        assert "ledger.sqlite is damaged: " in said and "`modexlab ledger salvage " in said, command
        assert said.startswith("modexlab: error: ") and said.count("\n") == 1, command
    assert result("ledger verify").code == 1


@regress
def test_no_command_ends_in_a_traceback(real, tmp_path, monkeypatch, cli):
    generator = Random(28)
    for _ in range(FLIPS):
        result = run(monkeypatch, cli, tmp_path, real, flipped_anywhere(real, generator))
        for command in (*commands(tmp_path), "ledger verify", "ledger salvage"):
            assert result(command).code in (0, 1, 2), command


def test_salvage_writes_to_the_file_that_it_is_given(real, tmp_path, monkeypatch, cli):
    mine, damaged = tmp_path / "mine.sqlite", tmp_path / "damaged.sqlite"
    monkeypatch.setenv("MODEXLAB_LEDGER", str(mine))
    mine.write_bytes(real)
    damaged.write_bytes(flipped(real, real.index(b'"subject": "mont"') + 3, 0))
    cli.passes("ledger salvage", damaged)
    assert mine.read_bytes() == real
    assert (tmp_path / "damaged.sqlite.damaged-1").exists() and verify(damaged).intact == 2
    other = tmp_path / "other.sqlite"
    cli.passes(f"ledger salvage {damaged} --ledger {other}")
    assert verify(other).intact == 2 and verify(damaged).intact == 2 and mine.read_bytes() == real


@parametrize("action", ["verify", "list", "salvage", "merge"])
def test_devices_are_no_ledgers(action, monkeypatch, cli):
    """Reading one might never end."""
    monkeypatch.setenv("MODEXLAB_LEDGER", "/dev/zero")
    assert "/dev/zero" in cli.fails(f"ledger {action}{'' if action == 'list' else ' /dev/zero'}")


@parametrize("content", [b"metric = 1\n", b"\xff" * 5000])
def test_what_is_no_ledger_stays_where_it_is(content, tmp_path, cli):
    other = tmp_path / "other.sqlite"
    other.write_bytes(content)
    for action in ("verify", "salvage"):
        assert "its first page" in cli.fails(f"ledger {action} {other}")
    assert [*tmp_path.glob("other*")] == [other] and other.read_bytes() == content
