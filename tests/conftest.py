"""What all tests share: Hypothesis without time limits, and a way to keep exhaustive tests from being traced."""

import os
import signal
import sys
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# a shell's background job ignores Ctrl-C, and so would the programs that tests start and interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# examples are drawn afresh in every run of `make regress`, and the same in every run of `make test`
settings.register_profile(
    "test", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("regress", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("regress" if os.environ.get("MODEXLAB_EXAMPLES_FACTOR", "1") != "1" else "test")


PARTS = 10  # of the long regression


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", type=int, help=f"only this part of the tests, 1 to {PARTS}: each test is in one of them"
    )


def part_of(name: str) -> int:
    """The part that a test is in: the same in every run, whatever other tests there are."""
    return zlib.crc32(name.encode()) % PARTS + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = config.getoption("--part")
    if part is None:
        return
    if not 1 <= part <= PARTS:
        raise pytest.UsageError(f"--part={part}: give 1 to {PARTS}")
    config.hook.pytest_deselected(items=[item for item in items if part_of(item.nodeid) != part])
    items[:] = [item for item in items if part_of(item.nodeid) == part]


@pytest.fixture
def untraced() -> Iterator[None]:
    """For exhaustive tests of lines that other tests run as well: tracing them for coverage takes three times as long.

    pytest-cov's own marker `no_cover` does nothing in a worker of xdist, where a second tracer goes on.
    """
    tracer = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(tracer)
