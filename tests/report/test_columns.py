"""Follows the page docs/howto/add-column.md to the letter."""

import re

import pytest
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.report import html, tables
from modexlab.eval.report.markdown import of_table as in_markdown
from modexlab.eval.report.sections import Content
from modexlab.eval.report.text import of_table as in_text

from tests.paths import ROOT

from .examples import write

pytestmark = pytest.mark.usefixtures("untranslated", "without_libraries")

PAGE = ROOT / "docs" / "howto" / "add-column.md"
(LINE_OF_A_USER,) = re.findall(r"^    (Column\(.*\)),$", PAGE.read_text(), re.MULTILINE)


@pytest.fixture
def without_libraries(monkeypatch):
    """Build pages without Vega: bundling it takes seconds, and tables do not need it."""
    monkeypatch.setattr(html, "libraries", lambda: "")


def test_a_new_column_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "DESIGNS", (*tables.DESIGNS, eval(LINE_OF_A_USER, vars(tables))))
    content = Content(Snapshot(write(tmp_path / "store.jsonl")), pictures=False)
    table = content.tables["designs"]
    cells = (line.cells for line in table.lines)
    power = next(cell for design, *_, cell in cells if design.text == "mont" and cell.value)
    entry = next(item for item in content.entries if item.measurement == power.measurement)
    assert power.value == entry.value("power_mw")
    assert table.columns[-1].head == "Power"
    for rendered in (in_text(table), in_markdown(table), html.page(content)):
        assert re.search(r"Power\W.*mW", rendered)
        assert power.text in rendered


def test_every_table_takes_one_more(tmp_path, monkeypatch):
    names = ("BEST", "DESIGNS", "CRITICAL", "LEAKS", "MARKED", "FAILED")
    for name in names:
        more = tables.Column(f"One more {name}", lambda _, name=name: f"of the own {name}")
        monkeypatch.setattr(tables, name, (*getattr(tables, name), more))
    made = html.page(Content(Snapshot(write(tmp_path / "store.jsonl")), pictures=False))
    for name in names:
        assert f"One more {name}" in made and f"of the own {name}" in made, name


def test_heads_and_cells_are_as_many(tmp_path):
    for table in Content(Snapshot(write(tmp_path / "store.jsonl")), pictures=False).tables.values():
        assert all(len(line.cells) == len(table.columns) for line in table.lines), table.name
