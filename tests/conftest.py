"""Fixtures shared by all tests: Hypothesis without time limits, and an option against tracing exhaustive
tests.
"""

import contextlib
import functools
import gc
import os
import re
import signal
import sys
import zlib

import pytest
from hypothesis import HealthCheck, settings
from modexlab.eval.designs.catalogue import find
from modexlab.eval.lab import content
from modexlab.eval.lab.store.store import Store
from modexlab.fl.errors import BadInput
from modexlab.flow.kit import kit

from tests.command_line import Cli
from tests.design_tests import concerns
from tests.harness import HAS_OPENSTA, NO_OPENSTA, forget_content, module_fixture

# a shell's background job ignores Ctrl-C, and so would the programs that tests start and interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# elaborated hardware has so many objects that full collections would take a third of a worker's CPU time
gc.set_threshold(700, 10, 100)

# examples are drawn afresh in every run of `make regress`, and the same in every run of `make test`
settings.register_profile(
    "test", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("regress", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("regress" if os.environ.get("MODEXLAB_EXAMPLES_FACTOR", "1") != "1" else "test")


PARTS = 10  # of the long regression
CONTENT_OF = content.content_of


def pytest_addoption(parser):
    parser.addoption(
        "--part", type=int, help=f"only this part of the tests, 1 to {PARTS}: each test is in one of them"
    )
    parser.addoption(
        "--design", help="only tests of this design, its multiplier, its programs and its interfaces"
    )


# the error itself, or the line of a command that failed; a summary may have a note of the same words
OPENSTA_IS_MISSING = re.compile(r"^OpenSTA is missing|modexlab: error: OpenSTA is missing")


def part_of(name):
    """The part that a test is in: the same in every run, whatever other tests there are."""
    return zlib.crc32(name.encode()) % PARTS + 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    """Skip a test whose fixtures need OpenSTA where there is none."""
    with needing_opensta():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a test that needs OpenSTA where there is none."""
    with needing_opensta():
        return (yield)


@contextlib.contextmanager
def needing_opensta():
    """Skip a test that fails because OpenSTA is not installed. Debian dropped the package in release 14."""
    try:
        yield
    except (BadInput, AssertionError) as error:
        if not HAS_OPENSTA and OPENSTA_IS_MISSING.search(str(error)):
            pytest.skip(NO_OPENSTA)
        raise


def pytest_collection_modifyitems(config, items):
    part, design = config.getoption("--part"), config.getoption("--design")
    if part is not None and not 1 <= part <= PARTS:
        raise pytest.UsageError(f"--part={part}: give 1 to {PARTS}")
    if design is not None:
        check_design(design)
        for item in items:  # this comes before pytest's own hook, which leaves out marked tests
            item.own_markers[:] = [mark for mark in item.own_markers if mark.kwargs.get("of") != design]
    kept = [
        item
        for item in items
        if (part is None or part_of(item.nodeid) == part)
        and (design is None or concerns(item.nodeid, design))
    ]
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


def check_design(name):
    """UsageError for a name that is not in the catalogue."""
    try:
        find(name)
    except BadInput as error:
        raise pytest.UsageError(f"--design: {error}") from None


@pytest.fixture
def untraced():
    """For exhaustive tests of lines that other tests run as well: tracing them for coverage takes three times
    as long.

    pytest-cov's own marker `no_cover` does nothing in a worker of xdist, where a second tracer goes on.
    """
    tracer = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(tracer)


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory):
    """Keep the user's store out of the tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MODEXLAB_STORE", str(tmp_path_factory.mktemp("store") / "store.jsonl"))
        yield


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The store that commands use, empty."""
    monkeypatch.setenv("MODEXLAB_STORE", str(tmp_path / "store.jsonl"))
    with Store() as store:
        yield store


@pytest.fixture
def cli(capsys):
    """Call the command line in this process."""
    return Cli(capsys)


@pytest.fixture(scope="session")
def library():
    """The cells of the kit that comes along."""
    return kit.find().library


@module_fixture
def untranslated():
    """Translate no hardware to name figures, for modules whose figures are made up.

    Workers are forks even beside threads that other tests left: a fork server names figures otherwise.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("threading.active_count", lambda: 1)
        patched.setattr(content, "content_of", lambda point: "made up")
        yield


@pytest.fixture
def real_content(monkeypatch):
    """Undo `untranslated`: a worker process that is not a fork of this one does not have it."""
    monkeypatch.setattr(content, "content_of", CONTENT_OF)


class Patches(pytest.MonkeyPatch):
    """Patches that note whether code may be among them, also in a `context`."""

    of_code = False


def noting(patch):
    """A method of MonkeyPatch that notes its call."""

    @functools.wraps(patch)
    def noted(*args, **kwargs):
        Patches.of_code = True
        return patch(*args, **kwargs)

    return noted


for name in ("setattr", "delattr", "setitem", "delitem", "syspath_prepend"):
    setattr(Patches, name, noting(getattr(pytest.MonkeyPatch, name)))


@pytest.fixture
def monkeypatch():
    """Patch as pytest's own fixture, and forget digests of code after a test that patches objects: a process
    keeps them otherwise. Folders and environment variables change no code.
    """
    Patches.of_code = False
    patches = Patches()
    yield patches
    patches.undo()
    if Patches.of_code:
        forget_content()
