"""The store: recorded data survives concurrent processes, killed processes, damage and full disks; and every
format of export.
"""

import csv
import errno
import itertools
import json
import os
import pickle
import shlex
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path
from random import Random
from textwrap import dedent
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab.metrics import Figure, Measurement, figure
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store import artifacts, lines
from modexlab.eval.lab.store import index as indices
from modexlab.eval.lab.store import store as stores
from modexlab.eval.lab.store.entries import text_of
from modexlab.eval.lab.store.export import export
from modexlab.eval.lab.store.lines import sealed
from modexlab.eval.lab.store.rows import Row
from modexlab.eval.lab.store.store import Store, result_of

from tests.harness import parametrize, refused
from tests.paths import ROOT

MODULUS = (1 << 4000) - 1  # not exact in JSON readers that use doubles


def point(key="k", name=None, **changes):
    """A cheap substitute for a point, with the attributes that the store reads."""
    fields = {"subject": "proc-naive", "nbits": 32, "interface": "system", "workload": "encrypt"}
    fields |= {
        "stage": "native",
        "flow": (("clock_period", 3.0),),
        "resolved": {"modulus": MODULUS},
        "family": "software",
        **changes,
    }
    shown = {name: fields[name] for name in ("subject", "nbits", "interface", "workload", "stage")}
    shown["flow"] = dict(fields["flow"])
    return SimpleNamespace(
        key=key,
        version=key,
        label=fields["subject"],
        command=["modexlab", "systems", "--system", "a b"],
        as_json=lambda: {"name": name or key, **shown},
        **fields,
    )


WHOLE = Measurement(
    figures=(figure("cycles", 91, "encrypt"), figure("area_um2", 1234.5)),
    seconds=1.5,
    tools={"verilator": "5.028"},
    verilog_hash="ab" * 32,
    tests="result checked against pow",
    details={"area_by_module": [{"path": "", "share": 1}]},
    artifacts={"amoeba.png": b"\x89PNG\0", "empty": b""},
)


def put(store, key="k", measurement=WHOLE, **changes):
    """Record a measurement of a point with this key."""
    return store.record(point(key, **changes), measurement)


@pytest.fixture(name="store")
def make_store(tmp_path):
    with Store(tmp_path / "deep" / "store.jsonl") as store:
        yield store


# ---- rows


def test_what_is_recorded_is_read(store):
    assert not store.exists and store.rows() == [] and store.names() == set()
    number = put(store)
    assert store.measurement(number) == WHOLE
    rows = cycles, area = store.rows()
    assert [Figure(row.metric, row.value, row.unit, row.operation) for row in rows] == list(WHOLE.figures)
    assert isinstance(cycles.value, int) and cycles.id != area.id
    expected = (number, "k", "proc-naive", "software", {"modulus": MODULUS}, {"clock_period": 3.0})
    with_it = attrgetter("tools", "verilog_hash", "tests")
    for row in rows:
        assert attrgetter("measurement", "key", "subject", "family", "parameters", "flow")(row) == expected
        assert with_it(row) == with_it(WHOLE)
        assert row.command == ("modexlab", "systems", "--system", "a b") and row.comparable
        assert store.row(row.id) == row


def test_a_real_point_comes_back(store):
    """Its row knows whether the sources are still those of the measurement."""
    real = Point("mont", 64, settings={"nstages": 4})
    store.record(real, WHOLE)
    store.record(_Old(real), WHOLE)
    current, old = (store.rows(key=key, history=True)[0] for key in (real.version, "old"))
    assert Point.from_json(current.point) == real == Point.from_json(old.point)
    assert current.family == "MontMulRem" and current.parameters == json.loads(json.dumps(real.resolved))
    assert current.stale is False and old.stale is True


class _Old:
    """A point as it was with other sources."""

    key = version = "old"

    def __init__(self, now):
        self._now = now

    def __getattr__(self, name):
        return getattr(self._now, name)


def test_a_point_that_is_no_more_is_stale(store):
    class Gone(_Old):
        def as_json(self):
            return {**self._now.as_json(), "subject": "a-design-of-yesterday"}

    store.record(Gone(Point("mont", 32)), WHOLE)
    assert [row.stale for row in store.rows()] == [True, True]


def test_the_newest_counts_and_the_history_stays(store):
    for value, key in ((1, "old sources"), (2, "new sources"), (3, "new sources")):
        store.record(point(key, name="one point"), replace(WHOLE, figures=(figure("cycles", value),)))
    put(store, "another")
    assert [row.value for row in store.rows(metric="cycles")] == [3, 91]
    assert [row.value for row in store.rows(metric="cycles", history=True)] == [1, 2, 3, 91]
    assert store.names() == {"old sources", "new sources", "another"}


def test_filters(store):
    for nbits in (32, 64, 128):
        put(store, f"k{nbits}", nbits=nbits, stage="flow" if nbits == 128 else "native")

    def widths(**filters):
        return [row.nbits for row in store.rows(**filters)]

    assert widths(metric="cycles") == [32, 64, 128]
    assert widths(metric="cycles", nbits=64) == [64]
    assert widths(nbits={64, 128}, operation="") == [64, 128]
    assert widths(key=["k32", "k128"], stage="flow", metric=("cycles", "area_um2")) == [128, 128]
    assert widths(subject="mont") == widths(nbits=[]) == []


@parametrize(
    "name", ["metrics", "point", "parameters", "flow", "command", "tools", "marks", "details", "at", "value"]
)
def test_unknown_filters(name, store):
    with refused(f"unknown filter of the store '{name}'"):
        store.rows(**{name: "cycles"})


@parametrize(
    "wrong, why",
    [
        (replace(WHOLE, tests=""), "systems --system a b: no functional run of this hardware passed"),
        (replace(WHOLE, figures=(*WHOLE.figures, figure("energy_nj", float("nan")))), "energy_nj is nan"),
        (replace(WHOLE, figures=(figure("fmax_mhz", float("inf")),)), "fmax_mhz is inf"),
        (replace(WHOLE, figures=(Figure("area_um2", 1.0, "mm2"),)), "area_um2 in 'mm2', not in um2"),
        (replace(WHOLE, figures=(Figure("acres", 1.0, ""),)), "acres in '', not in a unit that is known"),
    ],
)
def test_refused(store, wrong, why):
    with pytest.raises(NoMeasurement, match=why):
        store.record(point(), wrong)
    assert store.rows() == [] and store.names() == set()


def test_failures_until_they_are_measured(store):
    assert store.failures() == []
    for key, message in (("a", "first"), ("a", "again"), ("b", "b's")):
        store.fail(point(key), message, 2.5)
    found = set(map(attrgetter("key", "message", "seconds"), store.failures()))
    assert found == {("a", "again", 2.5), ("b", "b's", 2.5)}
    assert messages(store, ["b", "c"]) == ["b's"] and store.rows() == []
    put(store, "a")
    assert messages(store) == ["b's"]


def messages(store, keys=None):
    return [failure.message for failure in store.failures(keys)]


def test_a_failure_of_old_sources_ends_when_the_point_is_measured(store, monkeypatch):
    """A failure with newer sources counts, whatever was measured with the old ones."""
    times = itertools.count()
    monkeypatch.setattr(stores, "_now", lambda: f"2026-01-01T00:00:{next(times):02}.000+00:00")
    old, new = point("old sources", name="one point"), point("new sources", name="one point")
    store.fail(old, "with the old ones", 1.0)
    store.record(new, WHOLE)
    assert messages(store) == messages(store, ["new sources"]) == []
    assert messages(store, ["old sources"]) == ["with the old ones"], "just so it fails"
    store.fail(point("newer sources", name="one point"), "broken again", 1.0)
    assert messages(store) == ["broken again"]
    store.fail(old, "and as before", 1.0)
    assert messages(store) == ["and as before"], "once for a point"


def test_numbers_that_there_are_not(store):
    put(store)
    for ask, text in ((store.row, "has no row 99"), (store.measurement, "has no measurement 99")):
        with refused(text):
            ask(99)


# ---- exports


NESTED = ("parameters", "flow", "tools", "point", "marks")


def flat(row):
    """A row as in CSV."""
    columns = {field.name: getattr(row, field.name) for field in fields(Row) if field.name != "source"}
    columns["parameters"] = {"modulus": hex(MODULUS)}
    columns |= {name: json.dumps(columns[name]) for name in NESTED}
    return columns | {"command": shlex.join(row.command)}


def from_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    for row in found:
        row |= {name: int(row[name]) for name in ("id", "measurement", "nbits")}
        row |= {name: float(row[name]) for name in ("value", "seconds")}
    return found


def from_jsonl(path):
    found = [json.loads(line) for line in path.read_text().splitlines()]
    for row in found:
        row |= {name: json.dumps(row[name]) for name in NESTED}
    return found


READERS = {"csv": from_csv, "jsonl": from_jsonl}


@parametrize("format", READERS)
def test_export(format, store, tmp_path):
    path, read = tmp_path / "rows", READERS[format]
    assert export(store, format, path) == 0 and read(path) == []
    marked = replace(WHOLE, marks=('misses its clock, "by far"', "a\nb"))
    put(store)
    put(store, "m", marked)
    assert export(store, format, path) == 4
    assert read(path) == [flat(row) for row in store.rows()]
    assert export(store, format, path, metric="cycles", key="m") == 1
    assert [row["id"] for row in read(path)] == [2001]
    assert [item.name for item in tmp_path.iterdir() if item.is_file()] == ["rows"]


@parametrize("format", READERS)
def test_export_into_a_pipe_or_through_a_link(format, store, tmp_path):
    put(store)
    pipe, whole, link = (tmp_path / name for name in ("pipe", "whole", "link"))
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    export(store, format, pipe)
    reader.join(timeout=10)
    link.symlink_to(whole)
    export(store, format, link)
    assert got == [whole.read_bytes()]
    assert pipe.is_fifo() and link.is_symlink()


def test_unknown_format(store, tmp_path):
    with refused("unknown format of an export 'json': did you mean 'jsonl'"):
        export(store, "json", tmp_path / "rows")


# ---- the file


def test_place(monkeypatch, tmp_path):
    monkeypatch.setenv("MODEXLAB_STORE", "here.jsonl")
    assert Store().path == Path.cwd() / "here.jsonl"
    assert Store(tmp_path / "x").path == tmp_path / "x"
    monkeypatch.delenv("MODEXLAB_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Store().path == tmp_path / "modexlab" / "store.jsonl"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert Store().path == tmp_path / ".local" / "share" / "modexlab" / "store.jsonl"


def test_a_file_that_is_no_store(tmp_path, cli):
    (tmp_path / "text").write_text("no store at all\n" * 100)
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as connection:
        connection.execute("CREATE TABLE measurement (key TEXT)")
    (tmp_path / "directory").mkdir()
    for name, text in (
        ("text", "is no store of modexlab; give another place by --store FILE or MODEXLAB_STORE"),
        (
            "old.sqlite",
            "is an SQLite file of an older modexlab, which alone can export it as CSV; measure again",
        ),
        ("directory", "is a directory; give the name of a file"),
        ("text/deeper", "cannot be written: .*; give another place by --store FILE or MODEXLAB_STORE"),
    ):
        before = (tmp_path / name).read_bytes() if (tmp_path / name).is_file() else b""
        for use in (Store.rows, put, Store.check_writable):
            if name == "text/deeper" and use is Store.rows:
                continue  # no file, so nothing has been measured
            with refused(f"{name}.* {text}"):
                use(Store(tmp_path / name))
        assert not before or (tmp_path / name).read_bytes() == before
    assert "is an SQLite file of an older modexlab" in cli.fails(f"store --store {tmp_path / 'old.sqlite'}")
    (tmp_path / "empty").touch()
    assert Store(tmp_path / "empty").rows() == [] and put(Store(tmp_path / "empty")) == 1


def test_a_damaged_line_is_named_and_skipped(store, capsys):
    for index in range(4):
        put(store, f"k{index}")
    store.close()
    content = bytearray(store.path.read_bytes())
    lines = store.path.read_bytes().splitlines(keepends=True)
    content[len(lines[0]) + len(lines[1]) // 2] ^= 1
    store.path.write_bytes(content)
    for again in (store, Store(store.path)):
        assert {row.key for row in again.rows()} == {"k0", "k2", "k3"} and again.damaged == (2,)
    assert capsys.readouterr().err == f"modexlab: warning: {store.path}, line 2 is damaged; skipped\n"
    assert put(store, "k1") == 5 and store.row(3001).key == "k2", "numbers of rows stay"


def test_a_damaged_first_line(store):
    for index in range(2):
        put(store, f"k{index}")
    content = bytearray(store.path.read_bytes())
    content[3] ^= 1
    store.path.write_bytes(content)
    assert Store(store.path).names() == {"k1"}


def test_a_clock_that_jumps_back(store, monkeypatch):
    """The last recorded entry is the newest, whatever the clock says."""
    put(store)
    store.add([result_of("task", 1, 0.5)])
    monkeypatch.setattr(stores, "_now", lambda: "1999-12-31T23:59:59.000000+00:00")
    last = put(store)
    store.add([result_of("task", 2, 0.5)])
    for again in (store, Store(store.path)):
        assert {row.measurement for row in again.rows()} == {last}
        assert len(again.rows(history=True)) == 2 * len(again.rows())
        assert again.results(["task"]) == {"task": (2, 0.5)}
    store.forget(["task"])
    assert Store(store.path).results(["task"]) == {}


def test_ctrl_c_while_reading_loses_nothing(store, monkeypatch):
    put(store, "a")
    with Store(store.path) as again:
        with monkeypatch.context() as patch:
            patch.setattr(indices, "decode", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                again.names()
        assert again.names() == {"a"}


def test_a_file_that_is_replaced_is_not_written(store, monkeypatch):
    """Another file may take the place of the store while a writer waits for the lock."""
    put(store)

    def replaced(file, how):
        if how == lines.LOCK_EX:
            other = store.path.with_name("other")
            other.write_bytes(store.path.read_bytes())
            other.replace(store.path)

    monkeypatch.setattr(lines, "flock", replaced)
    before = store.path.read_bytes()
    with refused("was replaced meanwhile"):
        put(store, "b")
    assert store.path.read_bytes() == before


@parametrize("format", ["csv", "jsonl", "reference"])
def test_an_export_replaces_no_store(format, store, tmp_path):
    put(store)
    other = Store(tmp_path / "other.jsonl")
    put(other, "b")
    for path in (store.path, other.path):
        before = path.read_bytes()
        with refused("is the store itself" if path == store.path else "it is a store"):
            export(store, format, path)
        assert path.read_bytes() == before


@parametrize("content", [b'{"my": "data"}', b"x"])
def test_a_file_of_others_is_not_written(content, store):
    store.path.parent.mkdir()
    store.path.write_bytes(content)
    with refused("no store of modexlab"):
        put(store)
    assert store.path.read_bytes() == content


@parametrize("file", ["../x.png", "/tmp/x.png", "a/b.png", "", ".."])
def test_pictures_are_in_their_folder(file, tmp_path):
    with refused("no name of a picture"):
        artifacts.read(tmp_path / "store.jsonl", {"layout.png": file})


def test_an_entry_of_a_newer_version_is_skipped(store, capsys):
    put(store)
    store.append(lambda at, _: [text_of("of tomorrow", at=at, key="b")])
    assert store.names() == {"k"} and put(store, "c") == 3
    assert "line 2 is of a kind that this version does not know" in capsys.readouterr().err


def test_any_torn_line_leaves_the_next_alone(store, capsys):
    """A writer that was killed leaves some part of its line."""
    put(store, "a")
    put(store, "b")
    whole = store.path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in [*range(first, len(whole), 61), len(whole) - 1]:
        store.path.write_bytes(whole[:end])
        with Store(store.path) as again:
            assert again.names() == {"a"} and again.torn == (end > first)
            put(again, "c")
            there = {"a", "b", "c"} if end == len(whole) - 1 else {"a", "c"}
            assert again.names() == Store(store.path).names() == there
    assert "line 2 is damaged" in capsys.readouterr().err


def test_another_file_in_its_place(store, tmp_path):
    """For example, of another branch of the repository; it may be longer."""
    put(store, "a")
    assert store.names() == {"a"}
    with Store(tmp_path / "other.jsonl") as other:
        for key in "bcd":
            put(other, key)
        other.path.replace(store.path)
    assert store.names() == {"b", "c", "d"}
    store.path.unlink()
    assert store.names() == set()


def test_results_of_tasks(store):
    for result in (1, None, {"a": [1, 2**70]}):
        store.add([result_of("task", result, 1.5)])
        assert store.results(["task", "other"]) == {"task": (result, 1.5)}
    store.forget(["task", "other"])
    assert store.results(["task"]) == Store(store.path).results(["task"]) == {}
    store.add([result_of("task", 2, 1.0)])
    assert store.results(["task"]) == {"task": (2, 1.0)}


# ---- write errors


def test_files_that_must_not_grow(tmp_path):
    """The kernel fails a write half-way: all earlier entries are intact, and nothing of the failed one is
    left.
    """
    path = tmp_path / "store.jsonl"
    outcome = python(
        f"""
        import resource
        from modexlab.fl.errors import BadInput

        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        store = Store({str(path)!r})
        try:
            for index in range(1000):
                store.record(point(f"k{{index}}"), replace(WHOLE, details={{"x": "x" * 5000}}))
        except BadInput as error:
            print(index, error)
        """
    ).communicate(timeout=60)
    count, _, message = outcome[0].partition(" ")
    assert 2 < int(count) < 1000 and "make room" in message and "nothing that was recorded before" in message
    with Store(path) as store:
        assert len(store.rows()) == 2 * int(count) and not store.torn and store.damaged == ()
        assert put(store, "more")


def test_a_full_disk_is_one_sentence(store, cli, monkeypatch):
    """Exit code 2; once there is room again, the same object works."""
    put(store, "a")
    size = store.path.stat().st_size
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:10]))
    with refused(r"cannot be written: No space left on device; make room, or give another.*nothing that was"):
        put(store, "b")
    out = cli.fails(f"store merge {other_store(store)}")
    assert "No space left on device; make room" in out and "\n" not in out
    assert store.path.stat().st_size == size
    monkeypatch.undo()
    put(store, "b")
    assert store.names() == {"a", "b"}


def other_store(store):
    """Another store with one failure."""
    path = store.path.with_name("other.jsonl")
    fields = {"at": "2026-11-01T00:00:00.000000+00:00", "key": "c", "command": ["x"], "message": "no"}
    path.write_bytes(sealed(text_of("failure", point={"name": "c"}, **fields)))
    return path


def test_place_that_may_only_be_read(store, monkeypatch):
    """open(2) is replaced, because the tests may run as a user who can write everywhere."""
    put(store)
    before = set(store.path.parent.iterdir())

    def refusing(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refusing)
    with Store(store.path) as reader:
        assert len(reader.rows()) == 2
        assert set(store.path.parent.iterdir()) == before
        with refused("cannot be written: Permission denied; give another place"):
            reader.fail(point("b"), "no", 1)
        assert reader.names() == {"k"}


# ---- concurrency


def python(code):
    """A process with the names of this module."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from tests.lab.test_store import *\n{dedent(code)}"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def write(path, name, count):
    """Record measurements, in a writer process."""
    with Store(path) as store:
        for index in range(count):
            put(store, f"{name}{index}")


def watch(path, count):
    """Read in a reader process: measurements are complete, and never fewer than before."""
    seen = 0
    end = time.monotonic() + 240
    with Store(path) as store:
        while seen < count and time.monotonic() < end:
            rows = store.rows()
            assert len(rows) % 2 == 0 and len(rows) // 2 >= seen
            seen = len(rows) // 2
            for row in rows[-2:]:
                assert store.measurement(row.measurement) == WHOLE
    assert not store.damaged
    print(seen)


def test_writers_and_readers(tmp_path):
    """Two writers and two readers on a file that does not exist yet."""
    path, count = tmp_path / "store.jsonl", 20
    place = f"Path({str(path)!r})"
    readers = [python(f"watch({place}, {2 * count})") for _ in range(2)]
    writers = [python(f"write({place}, {name!r}, {count})") for name in "ab"]
    for process in (*writers, *readers):
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert process in writers or out == f"{2 * count}\n"
    with Store(path) as store:
        assert store.names() == {f"{name}{index}" for name in "ab" for index in range(count)}


def test_one_of_two_writers_records_a_version(tmp_path):
    one, two = (Store(tmp_path / "store.jsonl") for _ in range(2))
    assert one.add([one.measured(point(), WHOLE)], first=True) == [1]
    assert two.add([two.measured(point(), WHOLE)], first=True) == [None] and len(two.rows()) == 2


def test_threads(store):
    with ThreadPoolExecutor(4) as threads:
        for name in "abcd":
            threads.submit(lambda name=name: [put(store, f"{name}{i}") for i in range(8)])
    assert len(store.rows(metric="cycles")) == 32


def test_goes_to_other_processes_as_its_path(store):
    put(store)
    with pickle.loads(pickle.dumps(store)) as copy:
        assert copy.path == store.path and copy.rows() == store.rows()


def write_and_say(path, first):
    """Record measurements for ever, and print the number of each once it is recorded."""
    store = Store(path)
    for index in range(first, first + 100_000):
        details = {"x": "x" * (index * 7919 % 30_000)}
        put(store, f"k{index}", replace(WHOLE, details=details, artifacts={}))
        print(index, flush=True)


def killed(path, kills):
    """Kill one of two writers again and again, and return the numbers that they said are recorded."""
    generator, first, said = Random(6), 0, ""

    def start():
        nonlocal first
        first += 100_000
        return python(f"write_and_say(Path({str(path)!r}), {first})")

    writers = [start(), start()]
    for process in writers:
        said += process.stdout.readline()
    for kill in range(kills + 2):
        time.sleep(generator.uniform(0, 0.1))
        victim = writers.pop(0)
        victim.kill()
        left = victim.stdout.read()  # communicate() would lose what readline() has buffered
        said += left[: left.rfind("\n") + 1]  # its last line may be torn
        victim.communicate(timeout=60)
        if kill < kills:
            writers.append(start())
            said += writers[-1].stdout.readline()
    return set(said.split())


@parametrize("kills", [3, pytest.param(12, marks=pytest.mark.regress)])
def test_killed_at_any_moment(kills, tmp_path):
    """Measurements reported as recorded are complete, and those in progress damage no other."""
    path = tmp_path / "store.jsonl"
    said = {f"k{number}" for number in killed(path, kills)}
    with Store(path) as store:
        found = store.names()
        assert len(said) > kills and said <= found and len(found - said) <= kills + 2
        assert len(store.damaged) <= kills + 2
        put(store, "after")
        assert "after" in store.names() and len(store.rows()) == 2 * len(found) + 2
