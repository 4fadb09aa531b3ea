"""The documentation site: generated pages, links, and the whole site in a browser, without a network."""

import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from types import SimpleNamespace
from urllib.parse import unquote, urldefrag

import pytest
from docutils import nodes
from modexlab.eval.cli.main import parser_of
from modexlab.eval.cli.routes import ROUTES
from modexlab.eval.designs.catalogue import designs
from modexlab.eval.lab.store.reference import Reference
from modexlab.eval.lab.store.reference_verdicts import recorded
from modexlab.eval.lab.verdicts import ATTACKS

from tests.harness import CHROMIUM, finished, module_fixture, needs_chromium, parametrize, regress
from tests.paths import ROOT

DOCS = ROOT / "docs"
MOST_PRIVATE_WORDS = 20


@module_fixture
def conf():
    """The settings of Sphinx, which generate pages."""
    spec = importlib.util.spec_from_file_location("site_conf", DOCS / "conf.py")
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)
    return conf


@module_fixture
def generated(conf):
    return dict(conf.pages())


def test_commands_have_pages_with_their_help(generated):
    for form in ROUTES:
        text = generated[f"commands/{form.split()[0]}"].partition(f"\n## {form}\n")[2].partition("\n## ")[0]
        assert parser_of(form).format_help().strip() in text, form


def test_designs_have_pages_with_parameters_figures_and_verdicts(generated):
    lines = {(*key[:2], key[2] if key[2].startswith(ATTACKS) else "") for key in recorded()}
    for design in designs():
        text = generated[f"designs/{design.name}"]
        verdicts = re.findall(rf"^\| {design.name}‡? \|", text, re.MULTILINE)
        assert len(verdicts) == sum(name == design.name for name, *_ in lines), design.name
        assert "`rtl/" in text.partition("\n## Sources\n")[2], design.name
        assert all(f"| {param.name} | {param.default} |" in text for param in design.params), design.name
        assert "def product_cycles" in text or "cycles: int" in text, design.name
    with Reference() as reference:
        areas = {f"{row.value:,.0f}" for row in reference.rows(metric="area_um2", subject="mont")}
    assert areas & set(re.findall(r"[\d,]{4,}", generated["designs/mont"]))


def test_formulas_need_no_script(conf):
    translator = SimpleNamespace(body=[])
    for node in (nodes.math("", "R^2"), nodes.math_block("", "q = 1")):
        with pytest.raises(nodes.SkipNode):
            conf.formula(translator, node)
    inline, block = translator.body
    assert "<msup>" in inline and "<math" in block and "<script" not in inline + block


@parametrize(
    "name, command",
    {
        "diagram": "mont --diagram --nbits 8",
        "heap": "--tree --modulus 2^8-1",
        "schedule": "mont --schedule --nbits 8 --base 5 --exp 5 --mod 13",
        "wave": "mont --wave --nbits 8 --base 5 --exp 5 --mod 13",
    }.items(),
)
def test_pictures_are_those_of_the_commands(name, command, cli):
    assert cli.passes(f"show {command}").out == (DOCS / "pictures" / f"{name}.svg").read_text()


def test_pictures_have_a_white_page():
    for file in (DOCS / "pictures").iterdir():
        root = ElementTree.fromstring(file.read_text())
        pages = [rect for rect in root.iter() if rect.tag.endswith("}rect") and rect.get("x", "0") == "0"]
        text = ElementTree.tostring(root, encoding="unicode")
        assert pages and ("#fff" in text or "white" in text), file.name


def test_links_of_rooms_lead_to_the_site(conf):
    text = "[flow](../flow/README.md#one-command), [a file](machines/ir.py), [out](https://a.b/c)"
    linked = conf.linked(text, "rtl/README.md", conf.ROOMS["rtl/README.md"])
    assert linked == "[flow](flow.md#one-command), a file, [out](https://a.b/c)"


def test_glossary_has_few_private_words():
    ours = (DOCS / "reference" / "glossary.md").read_text().partition("## Words of this project")[2]
    words = re.findall(r"^(\w[\w -]*)\n  \S", ours, re.MULTILINE)
    assert "store" in words and len(words) < MOST_PRIVATE_WORDS


# ---- the whole site


@module_fixture
def site(tmp_path_factory):
    """The built site; a warning is an error."""
    out = tmp_path_factory.mktemp("site")
    options = ("-q", "-W", "--keep-going", "-b", "html", "-d", str(out / "doctrees"))
    run = finished([sys.executable, "-m", "sphinx", *options, str(DOCS), str(out / "html")])
    assert run.returncode == 0, run.stderr
    return out / "html"


class Parsed(HTMLParser):
    """The anchors of a page, its links, and the files that it loads."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given.get("id"), given.get("name")}
        if tag == "a":
            self.links.append(given.get("href"))
        elif tag != "html":
            self.loaded += [given[name] for name in ("src", "href") if name in given]


@regress
def test_links_of_the_site(site):
    """Links between pages lead to pages and anchors, and nothing is loaded from elsewhere."""
    parsed = {page: Parsed(page.read_text()) for page in site.rglob("*.html")}
    assert len(parsed) > len(designs())
    broken = []
    for page, found in parsed.items():
        for link in [*found.links, *found.loaded]:
            if not link or link.startswith(("https:", "http:")):
                assert link not in found.loaded, (page, link)
                continue
            name, anchor = urldefrag(link)
            target = (page.parent / unquote(name).partition("?")[0]).resolve() if name else page
            if not target.is_file() or (anchor and target in parsed and anchor not in parsed[target].ids):
                broken.append((page.name, link))
    assert broken == []
    styles = [file for suffix in ("css", "js") for file in site.rglob(f"*.{suffix}")]
    assert styles and not [f for f in styles if re.search(r"(url\(|@import )['\"]?https?:", f.read_text())]


@regress
@needs_chromium
def test_search_in_a_browser(site):
    playwright = pytest.importorskip("playwright.sync_api")
    complaints = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("request", lambda sent: complaints.append(sent.url) if sent.url[:5] != "file:" else None)
        for word, expected in (("Montgomery", "mont"), ("glitch", "Glossary"), ("kit", "Glossary")):
            page.goto((site / "index.html").as_uri())
            page.fill("input[name=q]", word)
            page.press("input[name=q]", "Enter")
            page.wait_for_selector("#search-results .search-summary:has-text('found')")
            results = page.locator("#search-results li a").all_inner_texts()
            assert expected in results, (word, results)
        browser.close()
    assert complaints == []
