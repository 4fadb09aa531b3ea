"""The ledger: recorded data survives concurrent processes, killed processes and full disks; and every format
of export.
"""

import csv
import itertools
import json
import os
import pickle
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path
from random import Random
from textwrap import dedent
from types import SimpleNamespace

import pytest
from modexlab.eval.errors import NoMeasurement
from modexlab.eval.lab.ledger import ledger as ledger_file
from modexlab.eval.lab.ledger import records, schema
from modexlab.eval.lab.ledger.ledger import Ledger, Row
from modexlab.eval.lab.metrics import Figure, Measurement, figure
from modexlab.eval.lab.point import Point

from tests.harness import parametrize, refused
from tests.paths import DATA, ROOT

MODULUS = (1 << 4000) - 1  # not exact in JSON readers that use doubles


def point(key="k", name=None, **changes):
    """A cheap substitute for a point, with the attributes that the ledger reads."""
    fields = {"subject": "proc-naive", "nbits": 32, "interface": "system", "workload": "encrypt"}
    fields |= {
        "stage": "native",
        "flow": (("clock_period", 3.0),),
        "resolved": {"modulus": MODULUS},
        **changes,
    }
    return SimpleNamespace(
        key=key,
        version=key,
        label=fields["subject"],
        command=["modexlab", "systems", "--system", "a b"],
        as_json=lambda: {"name": name or key},
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


def put(ledger, key="k", measurement=WHOLE, **changes):
    """Record a measurement of a point with this key."""
    return ledger.record(point(key, **changes), measurement)


@pytest.fixture(name="ledger")
def make_ledger(tmp_path):
    with Ledger(tmp_path / "deep" / "ledger.sqlite") as ledger:
        yield ledger


# ---- rows


def test_what_is_recorded_is_read(ledger):
    assert not ledger.exists and ledger.rows() == [] and ledger.names() == set()
    number = put(ledger)
    assert ledger.measurement(number) == WHOLE
    rows = cycles, area = ledger.rows()
    assert [Figure(row.metric, row.value, row.unit, row.operation) for row in rows] == list(WHOLE.figures)
    assert isinstance(cycles.value, int) and cycles.id != area.id
    expected = (number, "k", "proc-naive", "software", {"modulus": MODULUS}, {"clock_period": 3.0})
    with_it = attrgetter("tools", "verilog_hash", "tests")
    for row in rows:
        assert attrgetter("measurement", "key", "subject", "family", "parameters", "flow")(row) == expected
        assert with_it(row) == with_it(WHOLE)
        assert row.command == ("modexlab", "systems", "--system", "a b") and row.comparable
        assert ledger.row(row.id) == row


def test_a_real_point_comes_back(ledger):
    """Its row knows whether the sources are still those of the measurement."""
    real = Point("mont", 64, settings={"nstages": 4})
    ledger.record(real, WHOLE)
    ledger.record(_Old(real), WHOLE)
    current, old = (ledger.rows(key=key, history=True)[0] for key in (real.version, "old"))
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


def test_a_point_that_is_no_more_is_stale(ledger):
    class Gone(_Old):
        def as_json(self):
            return {**self._now.as_json(), "subject": "a-design-of-yesterday"}

    ledger.record(Gone(Point("mont", 32)), WHOLE)
    assert [row.stale for row in ledger.rows()] == [True, True]


def test_the_newest_counts_and_the_history_stays(ledger):
    for value, key in ((1, "old sources"), (2, "new sources"), (3, "new sources")):
        ledger.record(point(key, name="one point"), replace(WHOLE, figures=(figure("cycles", value),)))
    put(ledger, "another")
    assert [row.value for row in ledger.rows(metric="cycles")] == [3, 91]
    assert [row.value for row in ledger.rows(metric="cycles", history=True)] == [1, 2, 3, 91]
    assert ledger.names() == {"old sources", "new sources", "another"}


def test_a_clock_that_jumps_back(ledger, monkeypatch):
    """The last recorded measurement counts, whatever its date is."""
    put(ledger)
    monkeypatch.setattr(ledger_file, "_now", lambda: "1999-12-31T23:59:59.000+00:00")
    last = put(ledger)
    assert {row.measurement for row in ledger.rows()} == {last}
    assert len(ledger.rows(history=True)) == 2 * len(ledger.rows())


def test_filters(ledger):
    for nbits in (32, 64, 128):
        put(ledger, f"k{nbits}", nbits=nbits, stage="flow" if nbits == 128 else "native")

    def widths(**filters):
        return [row.nbits for row in ledger.rows(**filters)]

    assert widths(metric="cycles") == [32, 64, 128]
    assert widths(metric="cycles", nbits=64) == [64]
    assert widths(nbits={64, 128}, operation="") == [64, 128]
    assert widths(key=["k32", "k128"], stage="flow", metric=("cycles", "area_um2")) == [128, 128]
    assert widths(subject="mont") == widths(nbits=[]) == []


@parametrize(
    "name", ["metrics", "point", "parameters", "flow", "command", "tools", "marks", "details", "at", "value"]
)
def test_unknown_filters(name, ledger):
    with refused(f"unknown filter of the ledger '{name}'"):
        ledger.rows(**{name: "cycles"})


def test_a_measurement_is_checked_once(ledger, monkeypatch):
    """Only its figures are kept in memory."""
    numbers = [put(ledger), put(ledger, "another")]
    reads = []
    real = records.read
    monkeypatch.setattr(records, "read", lambda *asked: reads.append(asked[1:]) or real(*asked))
    for filters in ({}, {"metric": "cycles"}, {"history": True, "key": ["k"]}):
        assert ledger.rows(**filters)
    assert reads == [("measurement", number) for number in numbers]
    figures = {(item.operation, item.metric, item.value, item.unit) for item in WHOLE.figures}
    assert ledger._intact == dict.fromkeys(numbers, figures)
    ledger.close()
    assert ledger.rows(id=1) and len(reads) == 3, "another file may be there now"


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
def test_refused(ledger, wrong, why):
    with pytest.raises(NoMeasurement, match=why):
        ledger.record(point(), wrong)
    assert ledger.rows() == [] and ledger.names() == set()


def test_failures_until_they_are_measured(ledger):
    assert ledger.failures() == []
    for key, message in (("a", "first"), ("a", "again"), ("b", "b's")):
        ledger.fail(point(key), message, 2.5)
    found = set(map(attrgetter("key", "message", "seconds"), ledger.failures()))
    assert found == {("a", "again", 2.5), ("b", "b's", 2.5)}
    assert messages(ledger, ["b", "c"]) == ["b's"] and ledger.rows() == []
    put(ledger, "a")
    assert messages(ledger) == ["b's"]


def messages(ledger, keys=None):
    return [failure.message for failure in ledger.failures(keys)]


def test_a_failure_of_old_sources_ends_when_the_point_is_measured(ledger, monkeypatch):
    """A failure with newer sources counts, whatever was measured with the old ones."""
    times = itertools.count()
    monkeypatch.setattr(ledger_file, "_now", lambda: f"2026-01-01T00:00:{next(times):02}.000+00:00")
    old, new = point("old sources", name="one point"), point("new sources", name="one point")
    ledger.fail(old, "with the old ones", 1.0)
    ledger.record(new, WHOLE)
    assert messages(ledger) == messages(ledger, ["new sources"]) == []
    assert messages(ledger, ["old sources"]) == ["with the old ones"], "just so it fails"
    ledger.fail(point("newer sources", name="one point"), "broken again", 1.0)
    assert messages(ledger) == ["broken again"]
    ledger.fail(old, "and as before", 1.0)
    assert messages(ledger) == ["and as before"], "once for a point"


def test_numbers_that_there_are_not(ledger):
    put(ledger)
    for ask, text in ((ledger.row, "has no row 99"), (ledger.measurement, "has no measurement 99")):
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
def test_export(format, ledger, tmp_path):
    path, read = tmp_path / "rows", READERS[format]
    assert ledger.export(format, path) == 0 and read(path) == []
    marked = replace(WHOLE, marks=('misses its clock, "by far"', "a\nb"))
    put(ledger)
    put(ledger, "m", marked)
    assert ledger.export(format, path) == 4
    assert read(path) == [flat(row) for row in ledger.rows()]
    assert ledger.export(format, path, metric="cycles", key="m") == 1
    assert [row["id"] for row in read(path)] == [3]
    assert [item.name for item in tmp_path.iterdir() if item.is_file()] == ["rows"]


@parametrize("format", READERS)
def test_export_into_a_pipe_or_through_a_link(format, ledger, tmp_path):
    put(ledger)
    pipe, whole, link = (tmp_path / name for name in ("pipe", "whole", "link"))
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    ledger.export(format, pipe)
    reader.join(timeout=10)
    link.symlink_to(whole)
    ledger.export(format, link)
    assert got == [whole.read_bytes()]
    assert pipe.is_fifo() and link.is_symlink()


def test_unknown_format(ledger, tmp_path):
    with refused("unknown format of an export 'json': did you mean 'jsonl'"):
        ledger.export("json", tmp_path / "rows")


# ---- the file


def test_place(monkeypatch, tmp_path):
    monkeypatch.setenv("MODEXLAB_LEDGER", "here.sqlite")
    assert Ledger().path == Path.cwd() / "here.sqlite"
    assert Ledger(tmp_path / "x").path == tmp_path / "x"
    monkeypatch.delenv("MODEXLAB_LEDGER")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Ledger().path == tmp_path / "modexlab" / "ledger.sqlite"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert Ledger().path == tmp_path / ".local" / "share" / "modexlab" / "ledger.sqlite"


def sql(path, *statements, **options):
    with closing(sqlite3.connect(path, isolation_level=None, **options)) as connection:
        return [connection.execute(statement).fetchall() for statement in statements]


@pytest.fixture
def old(tmp_path):
    """The path of a file of version 1."""
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as connection:
        connection.executescript((DATA / "ledger_v1.sql").read_text())
    return tmp_path / "old.sqlite"


def test_a_file_of_version_1_loses_nothing(old):
    measurements, figures = sql(old, "SELECT * FROM measurement", "SELECT * FROM figure")
    # defaults of the columns that versions 3 and 4 add: not older than another one, no digest
    before = [[(*columns, 0, None) for columns in measurements], figures]
    with Ledger(old) as ledger:
        rows = ledger.rows()
        assert [(row.id, row.subject, row.metric, row.value) for row in rows] == [
            (1, "mont", "cycles", 91),
            (2, "mont", "time_ns", 273.0),
            (3, "mont-001", "cycles", 169),
        ]
        assert rows[2].marks == ("misses its clock",)
        assert ledger.measurement(1).details == {"caveats": ["one corner"]}
        assert ledger.failures() == [] and ledger.measurement(1).artifacts == {}
        assert put(ledger) == 3
        assert ledger.measurement(3) == WHOLE
    old_rows = ("SELECT * FROM measurement WHERE id < 3", "SELECT * FROM figure WHERE id < 4")
    assert sql(old, "PRAGMA user_version", *old_rows) == [[(schema.VERSION,)], *before]


def test_a_migration_that_fails_leaves_the_old_file(old, monkeypatch):
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS[:1], "CREATE TABLE half (x);\nCREATE NONSENSE;\n"))
    with pytest.raises(sqlite3.OperationalError, match="NONSENSE"):
        Ledger(old).rows()
    half = "SELECT name FROM sqlite_master WHERE name = 'half'"
    assert sql(old, "PRAGMA user_version", half) == [[(1,)], []]
    monkeypatch.undo()
    with Ledger(old) as ledger:
        assert len(ledger.rows()) == 3


def test_the_version_is_read_at_one_moment(tmp_path):
    """Another process that creates the file at this moment has to wait: half of what it writes would not look
    like a ledger.
    """
    connection = sqlite3.connect(tmp_path / "new.sqlite", isolation_level=None)
    tried = []

    def meanwhile(statement):
        if "user_version" in statement:
            tried.append(statement)
            other = sqlite3.connect(tmp_path / "new.sqlite", isolation_level=None, timeout=0)
            with suppress(sqlite3.OperationalError):
                schema.migrate(other, tmp_path)
            other.close()

    connection.set_trace_callback(meanwhile)
    assert schema.version_of(connection, tmp_path) == 0 and tried
    connection.close()


def test_a_newer_version_is_refused(ledger):
    put(ledger)
    ledger.close()
    sql(ledger.path, f"PRAGMA user_version = {schema.VERSION + 1}")
    for use in (ledger.rows, lambda: put(ledger)):
        with refused(
            f"has version {schema.VERSION + 1}, from a newer modexlab, and this one knows "
            f"{schema.VERSION}; update",
        ):
            use()
    sql(ledger.path, f"PRAGMA user_version = {schema.VERSION}")
    assert len(ledger.rows()) == 2


def test_what_is_no_ledger(tmp_path):
    (tmp_path / "text").write_text("no database at all\n" * 100)
    sql(tmp_path / "other", "CREATE TABLE bookmarks (url)")
    (tmp_path / "directory").mkdir()
    for name, text in (
        ("text", "is no ledger, or is damaged: it is no SQLite file; move it away"),
        ("other", "is a database, but no ledger of modexlab; give another file"),
        ("directory", "is a directory; give the name of a file"),
        ("text/deeper", "cannot be made: .*; give another place by --ledger FILE or MODEXLAB_LEDGER"),
    ):
        before = (tmp_path / name).read_bytes() if (tmp_path / name).is_file() else b""
        for use in (Ledger.rows, put):
            if name == "text/deeper" and use is Ledger.rows:
                continue  # no file, so nothing has been measured
            with refused(f"{name}.* {text}"):
                use(Ledger(tmp_path / name))
        assert not before or (tmp_path / name).read_bytes() == before
    (tmp_path / "empty").touch()
    with Ledger(tmp_path / "empty") as ledger:
        assert ledger.rows() == [] and put(ledger) == 1


def test_a_damaged_file(ledger):
    for index in range(40):
        put(ledger, f"k{index}")
    ledger.close()
    content = bytearray(ledger.path.read_bytes())
    content[4096:] = Random(1).randbytes(len(content) - 4096)  # all pages except that of the schema
    ledger.path.write_bytes(content)
    for use in (ledger.rows, lambda: put(ledger)):
        with refused(r"is damaged \(SQLite: .*\); `modexlab ledger salvage .*` recovers"):
            use()


# ---- write errors


def test_full_disk(ledger):
    """A limit on the number of pages makes SQLite report a full disk. Once there is room again, the same
    object works.
    """
    put(ledger, "a")
    connection = ledger._opened()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    large = replace(WHOLE, artifacts={"layout.png": bytes(100_000)})
    with refused(r"the disk is full; make room, or give another place.*nothing that was recorded"):
        put(ledger, "b", large)
    assert ledger.names() == {"a"}
    connection.execute("PRAGMA max_page_count = 100000")
    put(ledger, "b", large)
    assert ledger.names() == {"a", "b"}


def test_files_that_must_not_grow(tmp_path):
    """The kernel fails a write half-way: all earlier records are intact, and nothing of the failed one is
    left.
    """
    path = tmp_path / "ledger.sqlite"
    outcome = python(
        f"""
        import resource
        from modexlab.fl.errors import BadInput

        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        ledger = Ledger({str(path)!r})
        try:
            for index in range(1000):
                ledger.record(point(f"k{{index}}"), replace(WHOLE, artifacts={{"x": bytes(5000)}}))
        except BadInput as error:
            print(index, error)
        """
    ).communicate(timeout=60)
    count, _, message = outcome[0].partition(" ")
    assert 2 < int(count) < 1000 and "make room" in message and "nothing that was recorded before" in message
    with Ledger(path) as ledger:
        assert len(ledger.rows()) == 2 * int(count)
        assert put(ledger, "more")


@parametrize("others", [False, True], ids=["alone", "with a log beside it"])
def test_place_that_may_only_be_read(ledger, others, monkeypatch):
    """access(2) is replaced, because the tests may run as a user who can write everywhere."""
    put(ledger)
    if not others:
        ledger.close()  # the last connection removes the log
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    before = set(ledger.path.parent.iterdir())
    with Ledger(ledger.path) as reader:
        assert len(reader.rows()) == 2
        assert set(ledger.path.parent.iterdir()) == before, "files beside it could not be made"
        with refused("cannot be written: it may only be read here; give another place"):
            put(reader, "b")
        with refused("cannot be written: it may only be read here"):
            reader.fail(point("b"), "no", 1)
        assert reader.names() == {"k"}


def test_old_file_in_such_a_place(old, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    with refused("has version 1 and may not be written; copy it"):
        Ledger(old).rows()


# ---- concurrency


def python(code):
    """A process with the names of this module."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from tests.lab.test_ledger import *\n{dedent(code)}"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def write(path, name, count):
    """Record measurements, in a writer process."""
    with Ledger(path) as ledger:
        for index in range(count):
            put(ledger, f"{name}{index}")


def watch(path, count):
    """Read in a reader process: measurements are complete, and never fewer than before."""
    seen = 0
    end = time.monotonic() + 240
    with Ledger(path) as ledger:
        while seen < count and time.monotonic() < end:
            rows = ledger.rows()
            assert len(rows) % 2 == 0 and len(rows) // 2 >= seen
            seen = len(rows) // 2
            for row in rows[-2:]:
                assert ledger.measurement(row.measurement) == WHOLE
    print(seen)


def test_writers_and_readers(tmp_path):
    """Two writers and two readers on a file that does not exist yet."""
    path, count = tmp_path / "ledger.sqlite", 20
    place = f"Path({str(path)!r})"
    readers = [python(f"watch({place}, {2 * count})") for _ in range(2)]
    writers = [python(f"write({place}, {name!r}, {count})") for name in "ab"]
    for process in (*writers, *readers):
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert process in writers or out == f"{2 * count}\n"
    with Ledger(path) as ledger:
        assert ledger.names() == {f"{name}{index}" for name in "ab" for index in range(count)}


def test_a_writer_that_waits_in_vain(ledger, monkeypatch):
    put(ledger, "a")
    ledger.close()
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(ledger_file, "WAIT_SECONDS", 0.05)
    with refused("is busy: another process has been writing it for a long time; wait"):
        put(ledger, "b")
    assert ledger.names() == {"a"}, "readers are not hindered"
    other.execute("ROLLBACK")
    other.close()
    put(ledger, "b")
    assert ledger.names() == {"a", "b"}


def test_a_new_file_that_is_being_read(tmp_path):
    """The file gets its log once the other process has finished reading."""
    path = tmp_path / "ledger.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE t (x)")
    other.execute("DROP TABLE t")
    other.execute("BEGIN")
    other.execute("SELECT * FROM sqlite_master").fetchall()
    timer = threading.Timer(0.2, other.execute, ["ROLLBACK"])
    timer.start()
    with Ledger(path) as ledger:
        assert put(ledger) == 1
    timer.join()
    other.close()


def test_threads(ledger):
    with ThreadPoolExecutor(4) as threads:
        for name in "abcd":
            threads.submit(lambda name=name: [put(ledger, f"{name}{i}") for i in range(8)])
    assert len(ledger.rows(metric="cycles")) == 32


def test_forked_processes_open_their_own(tmp_path):
    path = tmp_path / "ledger.sqlite"
    process = python(
        f"""
        ledger = Ledger({str(path)!r})
        put(ledger, "parent")
        connection = ledger._opened()
        children = []
        for name in "ab":
            child = os.fork()
            if not child:
                inherited = ledger._opened() is connection
                put(ledger, name)
                ledger.close()
                os._exit(inherited)
            children.append(child)
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
        put(ledger, "after")
        """
    )
    out, err = process.communicate(timeout=60)
    assert out == "[0, 0]\n" and process.returncode == 0, err
    with Ledger(path) as ledger:
        assert ledger.names() == {"parent", "a", "b", "after"}


def test_goes_to_other_processes_as_its_path(ledger):
    put(ledger)
    with pickle.loads(pickle.dumps(ledger)) as copy:
        assert copy.path == ledger.path and copy.rows() == ledger.rows()


def write_and_say(path, first):
    """Record measurements for ever, and print the number of each once it is recorded."""
    large = replace(WHOLE, artifacts={"layout.png": bytes(30_000)})
    ledger = Ledger(path)
    for index in range(first, first + 100_000):
        put(ledger, f"k{index}", large)
        print(index, flush=True)


def test_killed_at_any_moment(tmp_path):
    """Measurements reported as recorded are complete, and the one in progress leaves no fragment."""
    path, generator = tmp_path / "ledger.sqlite", Random(6)
    recorded = []
    for kill in range(4):
        process = python(f"write_and_say(Path({str(path)!r}), {1000 * kill})")
        first = process.stdout.readline()
        time.sleep(generator.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()  # communicate() would lose what readline() has buffered
        process.communicate(timeout=60)
        recorded += [int(line) for line in (first + rest).split()]
        with Ledger(path) as ledger:
            found = {row.key for row in ledger.rows()}
            said = {f"k{index}" for index in recorded}
            assert said <= found and len(found - said) <= kill + 1
            assert len(ledger.rows()) == 2 * len(found)
            for row in ledger.rows(metric="cycles")[-3:]:
                assert len(ledger.measurement(row.measurement).artifacts["layout.png"]) == 30_000
    assert sql(path, "PRAGMA integrity_check") == [[("ok",)]]
