"""The parts of the long regression: every test is in one of them, and in one only; who calls pytest by hand gets none of the long ones."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest
from tests.conftest import PARTS


def left(names: list[str], part: int | None) -> list[str]:
    """What the hook leaves of tests with these names."""
    deselected: list[Any] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items))
    config: Any = SimpleNamespace(getoption=lambda name: part, hook=hook)
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    conftest.pytest_collection_modifyitems(config, items)
    kept = [item.nodeid for item in items]
    assert Counter(kept) + Counter(item.nodeid for item in deselected) == Counter(names)
    return kept


def test_parts_are_a_partition() -> None:
    names = [f"tests/rtl/test_machines.py::test_all_widths[mont-{nbits}]" for nbits in range(8, 1008)]
    parts = [left(names, part) for part in range(1, PARTS + 1)]
    assert sorted(name for part in parts for name in part) == sorted(names)
    assert all(60 < len(part) < 150 for part in parts)
    assert left(names, None) == names


@pytest.mark.parametrize("part", [0, PARTS + 1])
def test_a_part_that_is_none(part: int) -> None:
    with pytest.raises(pytest.UsageError, match=f"--part={part}: give 1 to {PARTS}"):
        left(["a"], part)


def test_long_runs_are_left_out_unless_asked_for(pytestconfig: pytest.Config) -> None:
    assert "not regress" in pytestconfig.getini("addopts")
