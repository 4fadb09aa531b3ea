"""The parts of the long regression: every test is in one of them, and in one only; who calls pytest by hand
gets none of the long ones.
"""

from collections import Counter
from types import SimpleNamespace

import pytest

from tests import conftest
from tests.conftest import PARTS
from tests.harness import parametrize, regress_if


def left(names, part=None, design=None):
    """Return the tests with these names that the hook keeps."""
    items = [SimpleNamespace(nodeid=name, own_markers=[]) for name in names]
    deselected = collected(items, part, design)
    kept = [item.nodeid for item in items]
    assert Counter(kept) + Counter(item.nodeid for item in deselected) == Counter(names)
    return kept


def collected(items, part=None, design=None):
    """The items that the hook takes out of these."""
    deselected = []
    hook = SimpleNamespace(pytest_deselected=lambda items: deselected.extend(items))
    config = SimpleNamespace(getoption={"--part": part, "--design": design}.__getitem__, hook=hook)
    conftest.pytest_collection_modifyitems(config, items)
    return deselected


def test_parts_are_a_partition():
    names = [f"tests/rtl/test_machines.py::test_all_widths[mont-{nbits}]" for nbits in range(8, 1008)]
    parts = [left(names, part) for part in range(1, PARTS + 1)]
    assert sorted(name for part in parts for name in part) == sorted(names)
    assert all(60 < len(part) < 150 for part in parts)
    assert left(names, None) == names


@parametrize("part", [0, PARTS + 1])
def test_a_part_that_is_none(part):
    with pytest.raises(pytest.UsageError, match=f"--part={part}: give 1 to {PARTS}"):
        left(["a"], part)


UNIT, WIPE, BUS = (
    "tests/rtl/test_units.py::test_formula",
    "tests/rtl/keyed/test_program_wipe.py::test_x",
    "tests/rtl/test_axi4lite.py",
)


@parametrize(
    "design, test, runs",
    [
        ("mont", "tests/rtl/test_machines.py::test_table[mont schedule=ladder]", True),
        ("mont", "tests/rtl/test_machines.py::test_all_widths[mont-64]", True),
        ("mont", "tests/rtl/test_machines.py::test_x[right-to-left-2-mont-001-5-82]", False),
        ("mont-001", "tests/rtl/test_machines.py::test_x[right-to-left-2-mont-001-5-82]", True),
        ("mont", "tests/rtl/test_machines.py::test_ours_meets_its_goal", False),
        ("mont", f"{UNIT}[mont-001 nstages=2]", True),  # the same multiplier
        ("naive", f"{UNIT}[mont-001 nstages=2]", False),
        ("mont", f"{UNIT}_of_a_family[MontMulRem-16]", True),
        ("mont-001", f"{WIPE}[mont-keyed modulus]", False),  # its machine executes no program
        ("mont-keyed", f"{WIPE}[mont-keyed modulus]", True),
        ("naive", f"{BUS}::test_zeroise_forgets_everything", True),
        ("fold", "tests/rtl/test_fold.py::test_constant_time", True),  # imports a unit of the design
        ("mont", "tests/rtl/test_fold.py::test_constant_time", False),
    ],
)
def test_tests_of_a_design(design, test, runs):
    assert left([test], design=design) == ([test] if runs else [])


def test_long_runs_of_the_design_are_no_longer_left_out():
    """With --design, a test that is marked as long but belongs to this design loses the mark."""
    items = [
        SimpleNamespace(
            nodeid=f"tests/rtl/sim/test_power_up.py::test_reset[{name}]",
            own_markers=[mark.mark for mark in regress_if(True, of=name)],
        )
        for name in ("ssmm", "mont")
    ]
    both = list(items)
    collected(items, design="ssmm")
    assert items == both[:1]
    assert [len(item.own_markers) for item in both] == [0, 1]


def test_no_design_of_that_name():
    with pytest.raises(pytest.UsageError, match="--design: unknown design 'munt': did you mean 'mont'"):
        left(["a"], design="munt")


def test_long_runs_are_left_out_unless_asked_for(pytestconfig):
    assert "not regress" in pytestconfig.getini("addopts")
