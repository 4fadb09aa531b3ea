"""The harness: a wrong answer fails its row, and the message has both the answer and the expected value."""

import pytest
from modexlab.eval.designs.catalogue import find
from modexlab.fl.status import Status
from modexlab.rtl.sim import Run

from tests.harness import check_fl_mod_exps, check_formula
from tests.tables.rows import ModExpRow, ProductRow

MONT = find("mont")
WIDE = (1 << 1024) - 105


def message(row, answer, expected):
    with pytest.raises(AssertionError) as failed:
        row.judge(answer, expected, "backend native")
    return str(failed.value)


def test_a_failing_row_prints_what_was_expected():
    row = ModExpRow("small", 5, 3, 13, sink_delay=7)
    row.judge((Status.OK, 8), (0, 8), "backend native")
    words = "small: base 5, exp 3, mod 13, sink_delay 7; backend native gives (0, 9), expected (0, 8)"
    assert message(row, (0, 9), (Status.OK, 8)) == words


def test_wide_numbers_are_shortened():
    text = message(ProductRow("wide", WIDE, WIDE - 1, WIDE), WIDE - 2, WIDE - 3)
    assert "0xffffffff...ffffff97 (1024 bits)" in text and len(text) < 300


def test_the_harness_judges_results_and_cycles(monkeypatch):
    rows = [ModExpRow("row", 5, 3, 13)]
    cycles = MONT.at(8).cycles(5, 3, 13)
    check_formula(MONT, rows, Run([(0, 8)], [0], [cycles]), 8)
    with pytest.raises(AssertionError, match=f"gives {cycles + 1}, expected {cycles}$"):
        check_formula(MONT, rows, Run([(0, 8)], [0], [cycles + 1]), 8)
    monkeypatch.setattr(ModExpRow, "golden", lambda *_, **__: (Status.OK, 9))
    with pytest.raises(AssertionError, match=r"the functional level gives \(0, 8\), expected \(0, 9\)$"):
        check_fl_mod_exps(MONT, rows, 8)
