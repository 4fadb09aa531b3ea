"""Comparison and merge of two stores: nothing is lost or doubled, and the newest measurement of a point
counts, in whatever order stores are merged.
"""

from dataclasses import replace

import pytest
from modexlab.eval.lab.metrics import figure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store import store as stores
from modexlab.eval.lab.store.entries import text_of
from modexlab.eval.lab.store.merge import compare, merge
from modexlab.eval.lab.store.reference import REFERENCE, Reference

from tests.command_line import picked, refusals
from tests.harness import refused
from tests.lab.test_store import WHOLE, point, put


def taking(cycles):
    return replace(WHOLE, figures=(figure("cycles", cycles, "encrypt"),), artifacts={"a.png": b"1"})


@pytest.fixture
def make(tmp_path, monkeypatch):
    """A function that makes stores with measurements on given days."""
    made = []

    def with_measurements(name, *measured):
        store = stores.Store(tmp_path / name / "store.jsonl")
        for subject, cycles, day in measured:
            monkeypatch.setattr(stores, "_now", lambda day=day: f"2026-11-{day}T00:00:00.000+00:00")
            put(store, subject, taking(cycles))
        made.append(store)
        return store

    yield with_measurements
    for item in made:
        item.close()


def cycles(store, **filters):
    found = {}
    for row in store.rows(**filters):
        found.setdefault(row.key, []).append(row.value)
    return found


def counts(into, other):
    """Merge; measurements that were added, and entries that were there."""
    merged = merge(into, other)
    return merged.added["measurement"], merged.there


def test_a_merge_loses_nothing_and_doubles_nothing(make):
    one = make("one", ("p", 10, "01"), ("q", 20, "02"))
    two = make("two", ("q", 20, "03"), ("r", 30, "04"))
    assert counts(one, two) == (2, 0) and counts(one, two) == (0, 2)
    assert cycles(one) == {"p": [10], "q": [20], "r": [30]}
    assert cycles(one, history=True) == {"p": [10], "q": [20, 20], "r": [30]}
    (row,) = one.rows(subject="proc-naive", key="r")
    assert one.measurement(row.measurement) == taking(30), "with its picture"
    assert row.when.startswith("2026-11-04")
    assert counts(two, one) == (2, 2)
    assert cycles(two) == cycles(one)


def test_the_newest_of_a_point_counts_wherever_it_was_measured(make):
    """An older measurement that is merged later is history; one recorded here afterwards counts."""
    one, two = make("one", ("p", 10, "05")), make("two", ("p", 11, "04"), ("p", 12, "09"))
    assert counts(one, two) == (2, 0)
    assert cycles(one) == {"p": [12]} == cycles(two)
    assert cycles(one, history=True) == {"p": [11, 10, 12]}
    make("one", ("p", 13, "10"))
    assert cycles(one) == {"p": [13]}


def test_either_order_answers_alike(make, monkeypatch):
    """Measurements of one moment, too; and so do files that cat(1) joined."""
    one = make("one", ("q", 1, "02"), ("r", 1, "02"), ("s", 1, "03"))
    two = make("two", ("q", 2, "01"))
    three, four, five = (make(name) for name in ("three", "four", "five"))
    for day, store, message in (("04", one, "no"), ("01", two, "never")):
        monkeypatch.setattr(stores, "_now", lambda day=day: f"2026-11-{day}T00:00:00.000+00:00")
        store.fail(point("s"), message, 1.0)
        store.add([stores.result_of("task", message, 1.0)])
    make("one", ("p", 10, "05"))
    make("two", ("p", 11, "05"), ("r", 2, "09"))
    for into, sources in ((three, (one, two)), (four, (two, one))):
        for source in sources:
            merge(into, source)
    five.path.parent.mkdir()
    five.path.write_bytes(two.path.read_bytes() + one.path.read_bytes() + two.path.read_bytes())
    for store in (three, four, five):
        found = cycles(store)
        assert found == {"p": found["p"], "q": [1], "r": [2], "s": [1]} and found == cycles(three)
        assert cycles(store, history=True) == cycles(three, history=True)
        assert len(store.rows(history=True)) == 7
        assert [failure.message for failure in store.failures()] == ["no"]
        assert store.results(["task"]) == {"task": ("no", 1.0)}


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


def saved(*stores):
    """The paths of closed stores."""
    for store in stores:
        store.close()
    return [str(store.path) for store in stores]


def test_commands(make, cli):
    one, two = saved(make("one", ("p", 100, "01")), make("two", ("p", 101, "02"), ("q", 5, "02")))
    different = cli.finds("store diff", one, two).out
    assert different.endswith("\n1 of 1 figures differ; 1 figures are in the second alone\n")
    assert "+1.00%" in different
    cli.passes(f"store diff {one} --store {two} --tolerance 0.01")
    report = cli.json(f"store diff {one} {two}")
    assert report["differences"][0]["before"] == 100 and report["only_after"] == 1
    command = f"store merge {two} --store {one}"
    assert cli(command).out == f"{two}: 2 measurements added; 0 were there\n"
    assert cli.json(command) == [{"path": two, "there": 2, "added": {}}]
    assert cli(command).out == f"{two}: nothing added; 2 were there\n"
    cli.passes("store diff", one, two)


def test_reference_results(cli, tmp_path):
    """A reference file holds each figure, is the same for equal figures, and shows which figure moved."""
    files = [tmp_path / f"{name}.jsonl" for name in ("first", "again", "moved")]
    for file, figures in zip(files, ({32: 100, 64: 5}, {64: 5, 32: 100}, {32: 2**60, 64: 5}), strict=True):
        with stores.Store(file.with_suffix(".own")) as store:
            for nbits, value in figures.items():
                store.record(Point("mont", nbits), taking(value))
        cli.passes(f"store export {file} --format reference --store {store.path}")
        assert cli("store diff", file, store.path).out == "0 of 2 figures differ\n"
    first, again, moved = files
    assert first.read_text() == again.read_text() and len(first.read_text().splitlines()) == 2
    found = cli.finds(f"store diff {first} {moved} --json").json()
    assert [picked(row, "before after") for row in found["differences"]] == [(100, 2**60)]
    first.write_text(first.read_text().replace('"figures"', '"numbers"', 1))
    assert f"{first}, line 1 is damaged; skipped" in cli.passes("store diff", first, moved).err


test_refused = refusals(
    "store",
    {
        "merge": "merge which store? give a file, as in `modexlab store merge other.jsonl`",
        "diff": "diff which store?",
        "merge nix.jsonl": "nix.jsonl: there is no such file; give a store",
        "diff a b c": "diff c: it takes at most 2 arguments; drop it",
        "diff a --tolerance 2": "2 is not a share; give 0 to 1, as in 0.005",
        "list --tolerance 0.1": "--tolerance with list: it is an option of diff and renew; drop it",
    },
)


def test_a_store_is_not_merged_into_itself(make, cli):
    (one,) = saved(make("one", ("p", 100, "01")))
    assert "that is the store itself" in cli.fails(f"store merge {one} --store {one}")


def test_entries_of_a_newer_version_are_merged(make):
    one, two = make("one", ("p", 10, "05")), make("two", ("q", 11, "06"))
    two.append(lambda at, _: [text_of("of tomorrow", at=at, key="b")])
    assert merge(one, two).added == {"measurement": 1, "unknown": 1}
    assert merge(one, two).there == 2 and b'"of tomorrow"' in one.path.read_bytes()


def test_reference_results_are_not_merged(tmp_path):
    """They would be the user's own, and hide the shipped ones."""
    with stores.Store(tmp_path / "store.jsonl") as store, refused("reference results are not yours"):
        merge(store, Reference())
    with refused("which only an export writes"):
        stores.Store(REFERENCE).check_writable()
