"""Comparison and merge of two ledgers: nothing is lost or doubled, and the newest measurement of a point
counts.
"""

from dataclasses import replace
from unittest.mock import DEFAULT, Mock

import pytest
from modexlab.eval.lab.ledger import join as joining
from modexlab.eval.lab.ledger import ledger as ledgers
from modexlab.eval.lab.ledger import records
from modexlab.eval.lab.ledger.join import compare, join
from modexlab.eval.lab.metrics import figure
from modexlab.eval.lab.point import Point

from tests.command_line import picked, refusals
from tests.lab.test_ledger import WHOLE, put


def taking(cycles):
    return replace(WHOLE, figures=(figure("cycles", cycles, "encrypt"),), artifacts={"a.png": b"1"})


@pytest.fixture
def make(tmp_path, monkeypatch):
    """A function that makes ledgers with measurements on given days."""
    made = []

    def with_measurements(name, *measured):
        ledger = ledgers.Ledger(tmp_path / f"{name}.sqlite")
        for subject, cycles, day in measured:
            monkeypatch.setattr(ledgers, "_now", lambda day=day: f"2026-11-{day}T00:00:00.000+00:00")
            put(ledger, subject, taking(cycles))
        made.append(ledger)
        return ledger

    yield with_measurements
    for item in made:
        item.close()


def cycles(ledger, **filters):
    found = {}
    for row in ledger.rows(**filters):
        found.setdefault(row.key, []).append(row.value)
    return found


def counts(into, other):
    """Join; measurements that were added, were there already, are older, and have conflicting figures."""
    return picked(join(into, other), "added there older conflicts")


def test_join_loses_nothing_and_doubles_nothing(make):
    one = make("one", ("p", 10, "01"), ("q", 20, "02"))
    two = make("two", ("q", 20, "03"), ("r", 30, "04"))
    assert counts(one, two) == (2, 0, 0, 0)
    assert counts(one, two)[:2] == (0, 2)
    assert cycles(one) == {"p": [10], "q": [20], "r": [30]}
    assert cycles(one, history=True) == {"p": [10], "q": [20, 20], "r": [30]}
    (row,) = one.rows(subject="proc-naive", key="r")
    assert one.measurement(row.measurement) == taking(30)
    assert row.when.startswith("2026-11-04")
    assert counts(two, one)[:2] == (2, 2)
    assert cycles(two) == cycles(one)


def test_the_newest_of_a_point_counts_wherever_it_was_measured(make):
    """An older measurement that is merged later is history; one recorded here afterwards counts."""
    one, two = make("one", ("p", 10, "05")), make("two", ("p", 11, "04"), ("p", 12, "09"))
    assert counts(one, two) == (2, 0, 1, 2)
    assert cycles(one) == {"p": [12]}
    assert cycles(one, history=True) == {"p": [10, 11, 12]}
    put(one, "p", taking(13))
    assert cycles(one) == {"p": [13]}


def test_the_newest_counts_in_whatever_order_the_other_ledger_has_it(make):
    one, two = make("one"), make("two", ("p", 12, "09"), ("p", 11, "04"))
    assert counts(one, two) == (2, 0, 1, 1)
    assert cycles(one) == {"p": [12]}


def test_a_join_reads_little_of_what_is_there(make):
    """It reads no artifacts of measurements with the same key, and only digests of points."""
    one, two = make("one", ("p", 10, "05")), make("two", ("p", 10, "05"), ("p", 11, "06"))
    with one.writing() as connection:
        assert {len(point): at[:10] for point, at in joining.newest_of(connection).items()} == {
            records.DIGEST_SIZE: "2026-11-05"
        }
    statements = []
    connection.set_trace_callback(statements.append)
    assert counts(one, two)[:2] == (1, 1)
    assert any("FROM figure" in statement for statement in statements)
    assert not any("FROM artifact" in statement for statement in statements)


def test_a_join_that_fails_adds_nothing(make, monkeypatch):
    one, two = make("one", ("p", 10, "05")), make("two", ("q", 11, "04"), ("r", 12, "09"))
    insert = Mock(wraps=records.insert, side_effect=[DEFAULT, KeyboardInterrupt])
    monkeypatch.setattr("modexlab.eval.lab.ledger.join.insert", insert)
    with pytest.raises(KeyboardInterrupt):
        join(one, two)
    assert cycles(one, history=True) == {"p": [10]}
    monkeypatch.undo()
    assert join(one, two).added == 2


def test_compare(make):
    before = make("one", ("p", 100, "01"), ("q", 20, "01"), ("s", 0, "01"), ("only", 1, "01"))
    after = make("two", ("p", 101, "02"), ("q", 20, "02"), ("s", 5, "02"), ("r", 1, "02"))
    found = compare(before, after)
    assert found.compared == 3
    differences = {(item.row.key, item.before, item.after) for item in found.differences}
    assert differences == {("p", 100, 101), ("s", 0, 5)}
    assert [[row.key for row in rows] for rows in (found.only_before, found.only_after)] == [["only"], ["r"]]
    # a relative tolerance does not hide a change from zero
    assert [item.row.key for item in compare(before, after, 0.01).differences] == ["s"]


# ---- the commands


def saved(*ledgers):
    """The paths of closed ledgers."""
    for ledger in ledgers:
        ledger.close()
    return [str(ledger.path) for ledger in ledgers]


def test_commands(make, cli):
    one, two = saved(make("one", ("p", 100, "01")), make("two", ("p", 101, "02"), ("q", 5, "02")))
    different = cli.finds("ledger diff", one, two).out
    assert different.endswith("\n1 of 1 figures differ; 1 figures are in the second alone\n")
    assert "+1.00%" in different
    cli.passes(f"ledger diff {one} --ledger {two} --tolerance 0.01")
    report = cli.json(f"ledger diff {one} {two}")
    assert report["differences"][0]["before"] == 100 and report["only_after"] == 1
    merge = f"ledger merge {two} --ledger {one}"
    said = "2 measurements added; 0 were there; 1 have other figures than one of the same key, which stays"
    assert cli(merge).out == f"{two}: {said}\n"
    assert cli.json(merge)[0]["there"] == 2
    cli.passes("ledger diff", one, two)


def test_reference_results(cli, tmp_path):
    """A reference file holds each figure, is the same for equal figures, and shows which figure moved."""
    files = [tmp_path / f"{name}.jsonl" for name in ("first", "again", "moved")]
    for file, figures in zip(files, ({32: 100, 64: 5}, {64: 5, 32: 100}, {32: 2**60, 64: 5}), strict=True):
        with ledgers.Ledger(file.with_suffix(".sqlite")) as ledger:
            for nbits, value in figures.items():
                ledger.record(Point("mont", nbits), taking(value))
        cli.passes(f"ledger export {file} --format reference --ledger {ledger.path}")
        assert cli("ledger diff", file, ledger.path).out == "0 of 2 figures differ\n"
    first, again, moved = files
    assert first.read_text() == again.read_text() and len(first.read_text().splitlines()) == 2
    found = cli.finds(f"ledger diff {first} {moved} --json").json()
    assert [picked(row, "before after") for row in found["differences"]] == [(100, 2**60)]
    first.write_text(first.read_text().replace('"figures"', '"numbers"'))
    assert f"{first}, line 1: not a reference result" in cli.fails("ledger diff", first, moved)


test_refused = refusals(
    "ledger",
    {
        "merge": "merge which ledger? give a file, as in `modexlab ledger merge other.sqlite`",
        "diff": "diff which ledger?",
        "merge nix.sqlite": "nix.sqlite: there is no such file; give a ledger",
        "diff a b c": "diff c: it takes at most 2 arguments; drop it",
        "diff a --tolerance 2": "2 is not a share; give 0 to 1, as in 0.005",
        "list --tolerance 0.1": "--tolerance with list: it is an option of diff; drop it",
    },
)


def test_a_ledger_is_not_merged_into_itself(make, cli):
    (one,) = saved(make("one", ("p", 100, "01")))
    assert "that is the ledger itself" in cli.fails(f"ledger merge {one} --ledger {one}")
