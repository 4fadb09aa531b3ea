"""The report's page in a browser: it opens from a file without a network, and its controls work. Needs
Debian's package `chromium`.
"""

import itertools
import random
import shlex
from pathlib import Path

import pytest
from modexlab.eval.lab import pareto
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.report.html import page as page_of
from modexlab.eval.report.sections import Content

from tests.command_line import picked
from tests.harness import CHROMIUM, module_fixture, needs_chromium, regress

from .examples import COMMIT, CORNER, HOSTILE, MANY_CYCLES, write, write_many
from .test_report import records_of

DATUM = "each => each.__data__.datum"  # the data of a mark
DATA = f"all => all.map({DATUM})"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
DRAW = """async () => {
  await modexlab.drawAll();
  for (const chart of modexlab.charts.values()) {
    await chart.drawing;
    await chart.view?.runAsync();
  }
}"""
# the visible sections and blocks without a visible row, picture or painted mark, and sections without a link
EMPTY = f"""async chips => {{
  for (const chip of chips) document.querySelector(chip).click();
  await ({DRAW})();
  const visible = each => each.checkVisibility();
  const painted = each => ["fill", "stroke"].some(name => getComputedStyle(each)[name] !== "none");
  const inside = "tbody tr:not(.group), figure, ul.trust li, #method p, "
    + ":is(.mark-symbol, .mark-rect, .mark-line).role-mark path";
  const full = part => [...part.querySelectorAll(inside)].some(each => visible(each) && painted(each));
  const linked = part => visible(document.querySelector(`.contents a[href="#${{part.id}}"]`));
  const parts = [...document.querySelectorAll("section, .block")].filter(visible);
  return parts.filter(part => !full(part) || (part.tagName === "SECTION" && !linked(part)))
    .map(part => part.closest("section").id + ": " + part.innerText);
}}"""
MIXED = 12  # random choices of three filters
WIDE, NARROW = {"width": 1360, "height": 900}, {"width": 400, "height": 800}
SECONDS = 60_000  # milliseconds; long, because the machine may be busy

playwright = pytest.importorskip("playwright.sync_api", reason="Python's package playwright is missing")
pytestmark = [
    needs_chromium,
    pytest.mark.usefixtures("untranslated"),
]


class Opened:
    """The page in a new window without stored settings; errors in its console, and its network requests."""

    def __init__(self, browser, path, **options):
        page = browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **options}).new_page()
        self.page, self.errors, self.requests = page, [], []
        page.set_default_timeout(SECONDS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")

    def draw(self):
        """Draw all charts, including those far below the window, as the filters are now."""
        self.page.evaluate(DRAW)

    def points(self, chart):
        """The number of records that a chart shows."""
        return int(self.find(f"#chart-{chart}").get_attribute("data-points"))

    def wait_for_points(self, count):
        """Wait until the chart of area and time shows this number of points."""
        self.page.wait_for_selector(f"#chart-area-time[data-points='{count}']")

    def choose(self, name, value):
        self.page.click(f".chip[data-filter={name}][data-value='{value}']")

    def pressed(self, name):
        """The chosen values of a filter."""
        return self.texts(f".chip[data-filter={name}][aria-pressed=true]")

    def find(self, selector, **more):
        return self.page.locator(selector, **more)

    def texts(self, selector):
        return self.find(selector).all_inner_texts()

    def marks(self, chart, kind):
        """The marks of a chart: symbol, rect or text."""
        return self.find(f"#chart-{chart} .mark-{kind}.role-mark {'text' if kind == 'text' else 'path'}")

    def close(self):
        """Close the page, which must not have reported errors."""
        assert self.errors == []
        self.page.context.close()


@module_fixture
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@module_fixture
def content(tmp_path_factory):
    return Content(Snapshot(write(tmp_path_factory.mktemp("report") / "store.jsonl")))


@module_fixture
def path(content):
    path = content.path.with_name("report.html")
    path.write_text(page_of(content), encoding="utf-8")
    return path


@pytest.fixture
def report(browser, path):
    result = Opened(browser, path)
    yield result
    result.close()


@pytest.fixture
def drawn(report):
    report.draw()
    return report


def first_points(content, **more):
    """The points of the first chart of a freshly opened page."""
    records = records_of(content, "points", **content.opening._asdict() | more)
    return [record for record in records if record.get("time_ns") and record.get("area_um2")]


def test_opens_without_network(drawn, path, content):
    assert [url for url in drawn.requests if not url.startswith("data:")] == [path.as_uri()]
    charts = [chart.name for chart in content.charts()]
    wanted = "choices area-time energy-time widths areas energies leakage ratios"
    assert sorted(charts) == sorted(wanted.split())
    for name in charts:
        assert drawn.points(name) > 0
        box = drawn.find(f"#chart-{name} svg").bounding_box()
        assert box["width"] > 200 and box["height"] > 50, name
    assert drawn.points("area-time") == len(first_points(content))
    assert drawn.find("section:visible").count() == len(drawn.page.query_selector_all("nav.contents a"))


def test_filters_change_points_and_tables(drawn, content):
    before = first_points(content)
    own = first_points(content, family="MontMulRem")
    assert 0 < len(own) < len(before)
    drawn.choose("family", "MontMulRem")
    drawn.wait_for_points(len(own))
    assert drawn.marks("area-time", "symbol").count() == len(own)
    visible = drawn.find("#table-designs tbody tr:visible")
    assert {row.get_attribute("data-family") for row in visible.all()} == {"MontMulRem"}
    drawn.choose("operation", "encrypt")  # operations exclude each other
    assert [*map(drawn.pressed, ("operation", "interface"))] == [["encrypt"], ["machine alone"]]
    drawn.choose("interface", content.opening.interface)  # add systems
    drawn.choose("nbits", "32")  # and all widths
    records = records_of(content, "points", family="MontMulRem", operation="encrypt")
    drawn.wait_for_points(sum(bool(record.get("area_um2")) for record in records))
    drawn.page.click("#first")
    drawn.wait_for_points(len(before))
    drawn.choose("metric", "energy_nj")
    heads = drawn.texts("#figures-table thead th:visible")
    assert heads[-1].startswith("Energy without glitches")
    first_words = [head.split()[0] for head in heads]
    assert first_words == ["Design", "Bits", "Operation", "Interface", "Stage", "Energy"]
    criteria = drawn.texts("#table-best tbody tr:visible td:first-child")
    assert set(criteria) == {"least energy without glitches", "least energy without glitches × time"}


def test_no_choice_of_filters_leaves_an_empty_section(drawn):
    """Every visible section and block has a visible row, picture or mark: with each chip pressed on the
    opening page, and with random combinations.
    """
    names = drawn.find(".chip").evaluate_all("all => all.map(each => ({...each.dataset}))")
    chips = [f".chip[data-filter={name['filter']}][data-value='{name['value']}']" for name in names]
    seeded = random.Random(31)
    mixed = [["#all", *seeded.sample(chips, 3)] for _ in range(MIXED)]
    for clicked in [["#all"], *(["#first", chip] for chip in chips), *mixed]:
        assert drawn.page.evaluate(EMPTY, clicked) == [], clicked
    assert len(chips) > 20


def test_the_line_is_the_pareto_front(report, content):
    """The front equals that of eval/lab/pareto.py; its members are labelled, once for each design."""
    groups = {}
    shown_points = [
        record for name in ("system", "stream") for record in first_points(content, interface=name)
    ]
    for record in shown_points:
        if record["kind"] != "published":
            point = picked(record, "time_ns area_um2"), record["label"]
            groups.setdefault(record["group"], []).append(point)
    fronts = [[label for _, label in pareto.Front(points).sorted()] for points in groups.values()]
    wanted = [label for labels in fronts for label in set(labels)]
    assert len(wanted) > 4
    assert len(wanted) < sum(map(len, fronts)), "one design is on a front at two clocks"
    report.draw()
    report.choose("interface", "system")
    report.wait_for_points(len(shown_points))
    texts = report.marks("area-time", "text")
    data = [item for item in texts.evaluate_all(DATA) if item["kind"] != "published"]
    shown = [item["label"] for item in data if item["before"] is None or item["area_um2"] < item["before"]]
    assert sorted(shown) == sorted(wanted)
    assert len(data) > len(shown), "all of a few points are labelled"


@regress
def test_names_do_not_lie_over_each_other(drawn):
    drawn.choose("interface", "system")  # shows systems, machines alone, and published ones
    drawn.page.wait_for_timeout(500)
    for chart in ("area-time", "energy-time"):
        texts = drawn.marks(chart, "text")
        boxes = [item.bounding_box() for item in texts.all() if item.get_attribute("opacity") != "0"]
        assert len(boxes) > 5
        for one, other in itertools.combinations(boxes, 2):
            apart = (
                one["x"] + one["width"] <= other["x"] + 1
                or other["x"] + other["width"] <= one["x"] + 1
                or one["y"] + one["height"] <= other["y"] + 3
                or other["y"] + other["height"] <= one["y"] + 3
            )
            assert apart, (chart, one, other)


@regress
def test_the_legend_has_those_that_are_drawn(report, content):
    """The legend follows the filters."""

    def legend():
        return report.find("#chart-area-time .role-legend-label text").all_text_contents()

    report.draw()
    assert set(legend()) == {point["family"] for point in first_points(content)} < set(content.families)
    own = first_points(content, family="MontMulRem")
    report.choose("family", "MontMulRem")
    report.wait_for_points(len(own))
    assert legend() == ["MontMulRem"]


@regress
def test_numbers_of_axes_are_read_at_once(drawn):
    """0.9 nJ is not shown as 900m."""
    drawn.choose("operation", "encrypt")
    drawn.draw()
    labels = drawn.find("#chart-energy-time .role-axis-label text").all_text_contents()
    assert any(label.startswith("0.") for label in labels)
    assert not any(label.endswith("m") for label in labels)


def test_axes_can_be_chosen(drawn):
    drawn.page.select_option("#chart-area-time [name=y]", "energy_nj")
    drawn.find("#chart-area-time .role-axis-title text", has_text="Energy without glitches (nJ)").wait_for()


def test_a_click_on_a_point_shows_where_it_comes_from(drawn, content):
    points = drawn.find(
        "#chart-area-time .mark-symbol.role-mark path:is([aria-label*=ssmm], [aria-label*=heap])"
    )
    drawer = drawn.find("#drawer")
    seen = set()
    for point in points.all():
        datum = point.evaluate(DATUM)
        if datum["kind"] == "published":
            continue
        entry = next(item for item in content.entries if item.measurement == datum["m"])
        point.click(force=True)
        drawer.wait_for(state="visible")
        assert drawer.locator("h2").inner_text() == f"{entry.label}, {entry.nbits} bits"
        commands = drawer.locator(".command pre").all_inner_texts()
        assert commands == [f"modexlab store reproduce {datum['row']}", shlex.join(entry.first.command)]
        assert datum["row"] in {row.id for row in entry.rows.values()}
        assert drawer.locator("tr.chosen td:last-child").all_inner_texts() == [str(datum["row"])]
        said = drawer.inner_text()
        assert (
            "52 rows at RTL, 52 at gates" in said
            and f"Corner\n{CORNER}" in said
            and f"Commit\n{COMMIT}" in said
        )
        drawn.page.keyboard.press("Escape")
        drawer.wait_for(state="hidden")
        seen.add(entry.measurement)
    assert len(seen) == 2


@regress
def test_energies_are_bars_and_all_else_is_points(drawn, content):
    records = records_of(content, "ratios", nbits=content.opening.nbits)
    ranged = [record for record in records if record["operation"] in ("", "decrypt")]
    bars = [record for record in ranged if "ratio_to" in record]
    assert 0 < len(bars) < len(ranged) == drawn.points("ratios")
    assert drawn.marks("ratios", "symbol").count() == len(ranged) - len(bars)
    assert drawn.marks("ratios", "rect").count() == len(bars)
    bar = drawn.marks("ratios", "rect").first
    datum = bar.evaluate(DATUM)
    bar.click(force=True)
    assert f"modexlab store reproduce {datum['row']}" in drawn.page.inner_text("#drawer")


@regress
def test_what_was_counted_is_exact(report, content):
    rows = (row for entry in content.entries for row in entry.rows.values())
    row = next(row for row in rows if row.value == MANY_CYCLES)
    report.page.evaluate(f"location.hash = 'row-{row.id}'")
    chosen = report.find("#drawer tr.chosen td:nth-child(3)")
    chosen.wait_for()
    assert chosen.inner_text() == f"{MANY_CYCLES:,}"


def test_figures_of_tables_lead_to_their_rows(report, content):
    figure = report.find("#table-designs tbody tr:visible .fig").first
    row, measurement = int(figure.get_attribute("data-r")), int(figure.get_attribute("data-m"))
    figure.hover()
    assert f"modexlab store reproduce {row}" in figure.get_attribute("title")
    figure.click()
    drawer = report.find("#drawer")
    assert f"modexlab store reproduce {row}" in drawer.inner_text()
    entry = next(item for item in content.entries if item.measurement == measurement)
    assert shlex.join(entry.first.command) in drawer.inner_text()
    assert drawer.locator("tr.chosen").count() == 1
    drawer.locator(".close").click()
    report.find("#table-paper-001 tbody tr:visible .fig[data-p]").first.click()
    assert "paper 001, section 5.1, Table 1" in drawer.inner_text()
    report.page.evaluate(f"location.hash = 'row-{row}'")
    report.page.wait_for_function(f"document.querySelector('#drawer').innerText.includes('reproduce {row}')")


def test_tables_are_sorted_by_numbers(report):
    def column(table, index):
        cells = report.texts(f"{table} tbody tr:visible td:nth-child({index})")
        return [float(cell.replace(",", "")) for cell in cells if cell != "-"]

    head = report.find("#table-designs thead th:nth-child(4) button")
    for falling in (False, True):
        head.dispatch_event("click")  # not by mouse: charts that are still being drawn move the table
        numbers = column("#table-designs", 4)
        assert numbers == sorted(numbers, reverse=falling)
    report.find("#figures-table thead th:nth-child(6) button").dispatch_event("click")
    assert column("#figures-table", 6) == sorted(column("#figures-table", 6))


def test_all_figures_and_csv(report, content):
    rows = report.find("#figures-table tbody tr")
    report.page.click("#all")
    assert rows.count() == 20
    report.page.click("#every")
    own = [record for record in content.data["points"] if record["kind"] != "published"]
    assert rows.count() == len(own)
    with report.page.expect_download() as download:
        report.page.click("#csv")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0].startswith("label,nbits,operation,what,setup,cycles,")
    assert len(lines) == 1 + len(own)


def background(report):
    return report.page.evaluate("getComputedStyle(document.body).backgroundColor")


@regress
def test_light_dark_and_paper(browser, path):
    report = Opened(browser, path, color_scheme="dark")
    page = report.page
    report.draw()
    ink = "getComputedStyle(document.querySelector('#chart-area-time .role-axis-label text')).fill"
    dark, dark_ink = background(report), page.evaluate(ink)
    symbols = (
        "each => ['fill', 'stroke'].every(name => /none|rgb.0, 0, 0/.test(getComputedStyle(each)[name]))"
    )
    black = report.find(".role-legend-symbol path").evaluate_all(f"all => all.filter({symbols}).length")
    assert report.find(".role-legend-symbol path").count() > 20 and black == 0
    page.click("#theme")  # light
    assert page.inner_text("#theme") == "Theme: light"
    assert background(report) == "rgb(255, 255, 255)" != dark
    page.wait_for_function(f"{ink} !== '{dark_ink}'")  # charts are drawn again
    page.reload()  # remembered
    page.wait_for_selector("html[data-ready]")
    assert background(report) == "rgb(255, 255, 255)"
    page.click("#theme")
    assert background(report) == dark
    page.emulate_media(media="print")
    assert background(report) == "rgb(255, 255, 255)"
    for hidden in (".filters", "nav.contents", "#theme"):
        assert not report.find(hidden).is_visible()
    assert "bits: 32; operation: decrypt; interface: machine alone" in page.inner_text("#filtered")
    # the head is repeated on each page of a long table, but Chromium does not repeat buttons
    head = report.find("#table-designs thead th button").first
    assert head.evaluate("each => getComputedStyle(each).display") == "contents"
    report.draw()
    printed = page.pdf(format="A4", print_background=True)
    assert printed.startswith(b"%PDF-") and len(printed) > 50_000
    report.close()


@regress
def test_no_table_is_cut_off(report):
    for name in ("critical", "leaks", "best"):
        beyond = report.find(f"#table-{name}").evaluate(
            "each => each.scrollWidth - each.parentElement.clientWidth"
        )
        assert beyond <= 0, name


@regress
def test_no_table_leaves_the_paper(report):
    report.page.set_viewport_size({"width": 690, "height": 1000})  # A4 without its margins
    report.page.emulate_media(media="print")
    ends = report.find("table:visible").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().right)"
    )
    assert len(ends) > 8 and max(ends) <= 691


@regress
def test_a_narrow_window(browser, path):
    report = Opened(browser, path, viewport=NARROW)
    report.draw()
    assert report.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows = report.find("#table-paper-001 tbody tr:not(.group):visible").all()
    assert rows and max(row.bounding_box()["height"] for row in rows) < 75, "three lines at most"
    report.close()


def test_names_and_messages_cannot_do_anything(report):
    """A message in the store that is a script is shown, not run."""
    assert HOSTILE in report.page.inner_text("#table-failed")
    assert report.page.evaluate("window.hacked") is None
    report.find("#table-marked .fig").first.click()
    assert HOSTILE in report.page.inner_text("#drawer")
    assert report.page.evaluate("window.hacked") is None


@regress
def test_five_thousand_points(browser, tmp_path):
    """The page stays below 10 MB and opens within 2 s of CPU time of its own thread; elapsed time would
    depend on the machine's load.
    """
    path = tmp_path / "many.html"
    path.write_text(page_of(Content(Snapshot(write_many(tmp_path / "store.jsonl", 5000)))), encoding="utf-8")
    assert path.stat().st_size < 10_000_000
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.set_default_timeout(SECONDS)
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy():
        return {
            metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]
        }["TaskDuration"]

    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate("modexlab.drawAll()")
    assert int(page.get_attribute("#chart-area-time", "data-points")) >= 5000
    assert busy() < 2.0
    before = busy()
    page.click(".chip[data-filter=family] >> nth=0")
    page.wait_for_selector("#chart-area-time:not([data-points='5004'])")
    assert busy() - before < 2.0
    context.close()
