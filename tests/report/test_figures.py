"""Figures for papers: their widths and fonts, their data, and the provenance that reproduces them. The page
in print, which needs Debian's package `chromium`.
"""

import contextlib
import csv
import functools
import json
import re
import xml.etree.ElementTree as ElementTree
import zlib

import pytest
from modexlab.eval import browser
from modexlab.eval.report import palette
from modexlab.eval.report.render_png import WIDTHS

from tests.command_line import printed
from tests.harness import module_fixture, needs_chromium, one_now, parametrize

DRAW = "report mont --no-measure --figures figures --columns"


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path, store):
    monkeypatch.chdir(tmp_path)


@module_fixture
def figures(tmp_path_factory):
    """The folder with all figures of a width in a format, drawn once."""

    @functools.cache
    def drawn(columns, form):
        folder = tmp_path_factory.mktemp("drawn")
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(folder)
            patched.setenv("MODEXLAB_STORE", str(folder / "store.jsonl"))
            assert printed(f"{DRAW} {columns} --format {form}").code == 0
        return folder / "figures"

    return drawn


def test_provenance_reproduces_a_figure(cli, figures, tmp_path):
    """Its command draws the figure again, and the commands of its measurements compute the drawn values."""
    before = {file.name: file.read_text() for file in figures(1, "svg").iterdir()}
    names = {name.partition(".")[0] for name in before}
    assert {"widths", "choices"} <= names and len(before) == 3 * len(names)
    made = json.loads(before["widths.json"])
    cli.passes(made["command"].removeprefix("modexlab "))
    assert {file.name: file.read_text() for file in (tmp_path / "figures").iterdir()} == before

    drawn = list(csv.DictReader(before["widths.csv"].splitlines()))
    assert [record["cycles"] for record in drawn] == [str(record["cycles"]) for record in made["data"]]
    measured = {item["m"]: item for item in made["measurements"]}
    cited = {item["p"] for item in made["published"]}
    assert {record["m"] for record in made["data"] if "m" in record} == measured.keys()
    assert cited and {record["p"] for record in made["data"] if "p" in record} == cited
    for record in made["data"]:
        if "m" in record:
            rows = {row["row"]: row for row in measured[record["m"]]["rows"]}
            assert rows[record["row"]]["value"] == record["cycles"]
    narrow = [record for record in made["data"] if record["nbits"] <= 32 and record.get("stage") == "formula"]
    assert len(narrow) > 2
    for record in narrow:
        source = measured[record["m"]]
        assert cli.json(source["command"].removeprefix("modexlab "))["cycles"] == record["cycles"]
        assert source["commit"] and source["tests"] and made["modexlab"] and made["commit"]


def test_drawn_published_cores_have_their_sources(figures):
    data = json.loads((figures(1, "svg") / "choices.json").read_text())["data"]
    published = [record for record in data if record["kind"] == "published"]
    assert published and all(record["source"] and record["obtained"] for record in published)


@parametrize("columns", WIDTHS)
def test_figures_are_as_wide_as_columns(figures, columns):
    """In print, no text is smaller than 7.5 points."""
    files = sorted(figures(columns, "svg").glob("*.svg"))
    assert len(files) > 5
    for file in files:
        root = ElementTree.parse(file).getroot()
        assert int(root.get("width")) / 96 == pytest.approx({1: 3.5, 2: 7.16}[columns], abs=0.01)
        sizes = {element.get("font-size") for element in root.iter() if element.get("font-size")}
        assert sizes and min(float(size.removesuffix("px")) for size in sizes) * 72 / 96 >= 7.5


@parametrize("columns", one_now(WIDTHS, 1))
def test_pdf_figures_embed_their_fonts(figures, columns):
    """They are as wide as the figures in SVG."""
    for file in figures(columns, "svg").glob("*.svg"):
        inches = int(ElementTree.parse(file).getroot().get("width")) / 96
        pdf = (figures(columns, "pdf") / file.with_suffix(".pdf").name).read_bytes()
        assert f"/MediaBox [0 0 {72 * inches:g} ".encode() in pdf
        assert b"/FontFile" in pdf


# ---- the page in print


@needs_chromium
def test_the_printed_page_has_its_charts(cli, tmp_path):
    """The colour of mont's family is that of its points in the charts; tables have it nowhere."""
    out = cli.passes("report mont --no-measure --pdf").out.splitlines()
    assert out[-2:] == [str(tmp_path / f"modexlab-report.{kind}") for kind in ("pdf", "html")]
    pdf = (tmp_path / "modexlab-report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", pdf)) > 4
    colour = palette.light(palette.look("MontMulRem").colour)
    parts = [f"{int(colour[at : at + 2], 16) / 255:.4f}".strip("0").rstrip(".") or "0" for at in (1, 3, 5)]
    drawn = 0
    for start in re.finditer(rb"stream\r?\n", pdf):
        with contextlib.suppress(zlib.error):
            drawn += (
                zlib.decompressobj().decompress(pdf[start.end() :]).count(f"{' '.join(parts)} rg".encode())
            )
    assert drawn > 50


def test_no_page_is_printed_without_a_browser(cli, monkeypatch, tmp_path):
    """The command ends before it measures anything."""
    monkeypatch.setattr(browser.shutil, "which", lambda _: None)
    message = cli.fails("report mont --pdf")
    assert "none of chromium, " in message and "apt-get install chromium" in message
    assert not [*tmp_path.glob("modexlab-report*")]
