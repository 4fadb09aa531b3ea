"""Sphinx settings of the documentation site, and its generated pages: commands, designs, interfaces, rooms,
tables of results.

`make docs` writes the generated pages into folders below docs/reference, which git ignores.
"""

import inspect
import re
import tempfile
from collections.abc import Iterator
from importlib import metadata
from os.path import normpath, relpath
from pathlib import Path
from textwrap import dedent
from typing import Any

import modexlab
from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from modexlab.eval.cli.commands.compare_cores import PRIVATE, PRODUCT
from modexlab.eval.cli.commands.show import designs as show
from modexlab.eval.cli.main import parser_of
from modexlab.eval.cli.render import Table
from modexlab.eval.cli.routes import ROUTES, SUMMARIES, forms
from modexlab.eval.designs.catalogue import designs
from modexlab.eval.designs.foreign import manifest
from modexlab.eval.designs.interfaces import AXI4LITE, AXI4LITE_000, STREAM
from modexlab.eval.designs.machine import Design
from modexlab.eval.designs.verilog_header import register_lines
from modexlab.eval.exchange.package.block_diagram import DEPTH, block_diagram
from modexlab.eval.lab import space
from modexlab.eval.lab.comparison import space_tables
from modexlab.eval.lab.comparison.cores import MACHINE, MULTIPLIER, Core, cores, widths
from modexlab.eval.lab.store.reference import Reference
from modexlab.eval.lab.store.snapshot import Snapshot
from modexlab.eval.lab.store.store import Store
from modexlab.eval.papers.published import Paper, papers
from modexlab.eval.report import markdown, proofs
from modexlab.flow import kit
from pymtl3 import Component

project = "modexlab"
release = metadata.version(project)
extensions = ["myst_parser", "sphinx.ext.autodoc"]
default_role = "code"
exclude_patterns = [
    "labs/instructor",  # students read the site
    "reference/results",  # tables that pages include
]
autodoc_typehints, autodoc_preserve_defaults = "none", True
html_theme, html_title = "furo", f"modexlab {release}"
html_copy_source = html_show_search_summary = html_show_sphinx = html_show_copyright = smartquotes = False
html_math_renderer = "mathml"  # browsers draw it themselves, without a script from another site
myst_enable_extensions, myst_heading_anchors = ["dollarmath"], 4
myst_dmath_allow_digits = False
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]  # local labels of RISC-V assembly, such as 1f

ROOT = Path(__file__).parents[1]
PICTURED_NBITS = 8
FIRST_SCREEN_ENDS = "<!-- the first screen ends here -->"
# autodoc sees only what has been imported
vars(modexlab).update({name: getattr(modexlab, name) for name in modexlab.__all__})
# Markdown pages of the repository outside docs, and their places in the site
ROOMS = {
    "CONTRIBUTING.md": "docs/reference/rooms/contributing.md",
    "rtl/README.md": "docs/reference/rooms/rtl.md",
    "proc/README.md": "docs/reference/rooms/proc.md",
    "flow/README.md": "docs/reference/rooms/flow.md",
    "eval/README.md": "docs/reference/rooms/eval.md",
    "eval/examples/crc/README.md": "docs/reference/rooms/crc.md",
    "eval/examples/gcd/README.md": "docs/reference/rooms/gcd.md",
    "eval/examples/inverse/README.md": "docs/reference/rooms/inverse.md",
}
FORMATS = {"Spaces of sweeps": space, "Manifests of Verilog": manifest, "Cell libraries": kit}


def escaped(text: str) -> str:
    """Text without Markdown of its own, except for what backticks enclose."""
    return re.sub(r"(`[^`]*`)|([<*_$\[\]])", lambda found: found[1] or f"\\{found[2]}", text)


def sentence(text: str) -> str:
    """A summary as a sentence."""
    return escaped(f"{text[0].upper()}{text[1:]}.")


def fence(text: str, language: str = "text") -> str:
    """A block of code."""
    return f"```{language}\n{dedent(text)}\n```"


def prose(text: str | None) -> str:
    """A docstring as Markdown: indented paragraphs keep their layout."""
    parts = (fence(part) if "\n  " in f"\n{part}" else escaped(part) for part in str(text).split("\n\n"))
    return "\n\n".join(parts).replace("\n```\n\n```text\n", "\n\n")


def linked(text: str, place: str, page: str) -> str:
    """The text of a file with its links and pictures as they are in a page of the site. Links to files that
    the site lacks become plain text.
    """

    def link(found: re.Match[str]) -> str:
        picture, title, file, heading = found.groups()
        target = normpath(Path(place).parent / file)
        target = relpath(ROOMS.get(target, target), Path(page).parent)
        outside = target.startswith("../" * page.count("/"))
        return title if outside and not picture else f"{picture}[{title}]({target}{heading})"

    return re.sub(r"(!?)\[([^]]+)\]\((?!\w+:)([^)#\s]+)(#[\w-]+|)\)", link, text)


def command(name: str) -> Iterator[str]:
    """The page of a command: the help of each of its forms, and a link to the page that it names."""
    yield f"# modexlab {name}\n\n{sentence(SUMMARIES[name])}"
    for form in forms(name):
        route = ROUTES[form]
        yield f"## {form}\n\nUse it to [{route.use}](../../{route.page}.md)."
        yield fence(parser_of(form).format_help())


def catalogue() -> str:
    """The table of designs: name, paper and settings."""
    rows = [
        (
            f'[<span style="white-space:nowrap">{design.name}</span>](designs/{design.name}.md)',
            design.paper,
            " ".join(f"`{setting}`" for setting in show.settings(design).split()).replace("`=`", "="),
        )
        for design in designs()
    ]
    notes = (f"- `{word}`: {escaped(meaning)}" for word, meaning in show.explained().items())
    return Table(show.HEAD, rows).markdown() + "\n\n" + "\n".join(notes)


def design_page(design: Design, component: Component, store: Store, measured: list[Core]) -> Iterator[str]:
    """The page of a design: its parts, parameters, formula, reference results, verdicts and sources."""
    parts = [(name, getattr(design, name)) for name in ("family", "domain", "schedule")]
    yield f"# {design.name}\n\n{sentence(design.summary)}"
    yield Table(("part", "value"), [*parts, ("constant time", design.promises.sentence)]).markdown()
    rows = [
        (param.name, param.default, escaped(param.describe_legal()), escaped(param.help))
        for param in design.params
    ]
    yield f"![Block diagram]({design.name}.svg)\n\nIts block diagram at {PICTURED_NBITS} bits, from the RTL."
    yield "## Parameters\n\nDefaults at 32 bits; `--set NAME=VALUE` changes one."
    yield Table(("parameter", "default", "values", "meaning"), rows).markdown()
    timing = design.at(design.usual_nbits).timing
    formula = inspect.getsource(type(timing))
    yield f"## Formula\n\nThe cycles of a product:\n\n{fence(formula, 'python')}"
    yield "## Figures\n\nThe reference results, or cycles by formula where nothing has been measured."
    for part, work, title in (
        (MULTIPLIER, PRODUCT, "A product, by the multiplier alone:"),
        (MACHINE, PRIVATE, "A private operation, by the machine:"),
    ):
        found = [core for core in measured if (core.design, core.part) == (design.name, part)]
        table = Table.of(found, {"bits": "nbits", **work.columns}).markdown()
        yield f"{title}\n\n{table}" if found else ""
    verdicts = [verdict for verdict in store.verdicts() if verdict.subject == design.name]
    for of_verdicts in (proofs.table(proofs.proven(verdicts)), proofs.attacks(proofs.attacked(verdicts))):
        yield markdown.of_table(of_verdicts.explained) if of_verdicts.lines else ""
    paper = f"The machine of [a paper](../papers/{design.paper}.md). " if design.paper else ""
    files = {relpath(inspect.getfile(type(part)), ROOT) for part in (timing, *component.get_all_components())}
    names = ", ".join(f"`{name}`" for name in sorted(files) if name.startswith(("cl/", "rtl/")))
    yield f"## Sources\n\n{paper}Its formula and RTL are in {names}."
    yield fence(f"$ modexlab show {design.name}\n$ modexlab compare cores {design.name}", "console")


def errata(paper: Paper) -> Iterator[str]:
    """The errors that were found in a paper."""
    yield f"# Paper {paper.number}\n\n{escaped(paper.citation)}"
    rows = [
        (f"{item.where} {item.row} {item.column}", item.printed, item.corrected, item.reason)
        for item in paper.errata
    ]
    yield Table(
        ("where", "printed", "instead", "reason"), [tuple(map(escaped, row)) for row in rows]
    ).markdown()


def pages() -> Iterator[tuple[str, str]]:
    """The generated pages by their paths."""
    for name in SUMMARIES:
        yield f"commands/{name}", "\n\n".join(command(name))
    with tempfile.TemporaryDirectory() as folder, Reference() as reference:
        store = Store(f"{folder}/store.jsonl", reference)
        measured = cores(Snapshot(store), widths())
        for name, table in space_tables.explored(reference):
            yield f"results/exploration-{name}", table
        yield "results/published-001", space_tables.published(reference)
        yield "results/passes", space_tables.passes(reference)
        for design in designs():
            component = design.at(PICTURED_NBITS).exported(STREAM)
            component.elaborate()
            picture = block_diagram(component, design.name, DEPTH, files=True)
            yield f"designs/{design.name}.svg", picture
            yield f"designs/{design.name}", "\n\n".join(design_page(design, component, store, measured))
    machine = modexlab.design("mont").at(32)
    for interface in (AXI4LITE, AXI4LITE_000):
        lines = "\n".join(register_lines(interface.registers(machine.shape, machine.traits)))
        yield (
            f"formats/{interface.name}",
            f"# Registers of {interface.name}, `mont` at 32 bits\n\n{fence(lines)}",
        )
    for paper in papers():
        yield f"papers/{paper.number}", "\n\n".join(errata(paper))
    for title, module in FORMATS.items():
        yield f"formats/{module.__name__}", f"# {title}\n\n{prose(module.__doc__)}"
    for source, page in ROOMS.items():
        yield (
            page.removeprefix("docs/reference/").removesuffix(".md"),
            linked((ROOT / source).read_text(), source, page),
        )


def write(app: Any) -> None:
    """Write the generated pages."""
    for name, text in pages():
        path = Path(app.srcdir, "reference", name if Path(name).suffix else f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read(app: Any, name: str, text: list[str]) -> None:
    """Adapt the links of a page to the site. Begin the first page with that of README.md; add the table of
    designs to its page.
    """
    text[0] = linked(text[0], f"docs/{name}.md", f"docs/{name}.md")
    if name == "index":
        first = (ROOT / "README.md").read_text().partition(FIRST_SCREEN_ENDS)[0]
        text[0] = linked(first, "README.md", "docs/index.md") + text[0]
    if name == "reference/designs":
        text[0] += f"\n{catalogue()}\n"


def formula(translator: Any, node: Any) -> None:
    """Write a formula as MathML; a wide one scrolls on a phone."""
    block = node.tagname == "math_block"
    text = tex2mathml(node.astext(), as_block=block)
    translator.body.append(f'<div style="margin:1em 0;overflow-x:auto">{text}</div>' if block else text)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("builder-inited", write)
    app.connect("source-read", read)
