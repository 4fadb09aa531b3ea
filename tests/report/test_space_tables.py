"""The tables of results that pages include."""

import json
from pathlib import Path

import pytest
from modexlab.eval.lab.comparison import space_tables
from modexlab.eval.lab.comparison.space_tables import Figures, change, explored, figures, published
from modexlab.eval.lab.point import Point
from modexlab.eval.lab.store.reference import REFERENCE, Reference

from tests.harness import module_fixture, parametrize

WHOLE = Figures(1000.0, 500, 3.0, 0.5, {"product": 4}, {"product": 0.05}, ())


@module_fixture
def reference():
    with Reference() as reference:
        yield reference


def rows_of(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def recorded_area(subject, interface, **settings):
    """From the lines of the file itself."""
    flow = {"clock_period": 3.0, "equivalence": False, "style": "plain"}
    for text in Path(REFERENCE).read_text().splitlines():
        line = json.loads(text)
        point = line["point"]
        place = (point["subject"], point["nbits"], point["interface"], point["settings"], point["flow"])
        if place == (subject, 32, interface, settings, flow):
            return next(value for _, metric, value, _ in line["figures"] if metric == "area_um2")
    raise LookupError(subject)


def test_the_exploration_shows_the_recorded_figures(reference):
    tables = dict(explored(reference))
    rows = rows_of(tables["mont"])
    assert len(rows) == 24
    koc = next(row for row in rows if row[:3] == ["koc", "1", "8"])
    assert koc[3] == f"{recorded_area('mont', 'unit'):,.0f}"
    forms = {
        form: float(row[3].replace(",", "")) for row in rows for form in row[:1] if row[1:3] == ["1", "8"]
    }
    assert forms["textbook"] > 1.5 * forms["koc"]
    assert all(len(row) == len(rows[0]) for row in rows)


def test_areas_of_paper_001_are_close(reference):
    """Whole accelerators and their multipliers, which the paper's tools made from other Verilog."""
    rows = {row[0]: row for row in rows_of(published(reference))}
    assert rows["RSAMontXcel"][2:4] == ["75,284", f"{recorded_area('mont-001', 'xcel'):,.0f}"]
    for part in ("RSAXcel", "RSAMontXcel"):
        for name in (part, f"{part}, a multiplier on average"):
            assert 0.9 < float(rows[name][4]) < 1.1, name


def test_a_missing_point_is_named(reference):
    point = Point("mont", 8, (("add_red", "textbook"),), stage="flow", flow={"clock_period": 2.75})
    assert figures(reference, point) is None
    with pytest.raises(AssertionError, match=r"mont, 8 bits.*modexlab sweep exploration"):
        space_tables.recorded(reference, point, "exploration")


@parametrize(
    "less, text",
    [
        (None, "-"),
        (WHOLE, "0"),
        (WHOLE._replace(area_um2=1010.0), "+1.0%, +0.0%, +0.0%"),
        (WHOLE._replace(area_um2=1040.0), "**+4.0%, +0.0%, +0.0%**"),
        (WHOLE._replace(cells=520), "**+0.0%, +4.0%, +0.0%**"),
        (WHOLE._replace(slack_ns=0.6), "**+0.0%, +0.0%, -4.0%**"),
    ],
    ids=str,
)
def test_a_change_counts_from_three_per_cent(less, text):
    assert change(WHOLE, less) == text
