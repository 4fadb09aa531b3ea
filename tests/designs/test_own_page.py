"""The page about your own accelerator: its files pass, and its commands run."""

import re
from pathlib import Path

import pytest

from tests.harness import parametrize, regress, regress_if
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "tutorials" / "accelerator.md").read_text()
FILES = re.findall(r"<!-- file: (.+?) -->\n```\w+\n(.*?)```\n", TEXT, re.DOTALL)
PYTHON = re.search(r"## From Python\n\n```python\n(.*?)```", TEXT, re.DOTALL)
NEW, *COMMANDS = re.findall(r"^\$ modexlab (.+)$", TEXT, re.MULTILINE)
# the flow, campaigns, proofs (similar ones are in test_own_attacks), and twins
SLOW = re.compile(r"asic|fpga|sweep|report|leak|faults|prove|package|soc|--trace|digits=4$|--stats")

EXAMPLES = sorted((ROOT / "eval" / "examples").glob("*/README.md"))
EXAMPLE_COMMANDS = re.findall(
    r"^\$ modexlab (.+)$", "\n".join(page.read_text() for page in EXAMPLES), re.MULTILINE
)


def each_of(commands):
    """One test per command, the slow ones in the long regression."""
    marked = [pytest.param(text, marks=regress_if(SLOW.search(text))) for text in commands]
    return parametrize("command", marked)


@each_of(EXAMPLE_COMMANDS)
@pytest.mark.usefixtures("store")
def test_command_of_an_example(cli, monkeypatch, command):
    monkeypatch.chdir(ROOT)
    cli.of_page(command)


@pytest.fixture
def page(cli, store, tmp_path, monkeypatch):
    """A command line in a folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    cli.passes(NEW)
    for name, text in FILES:
        Path(name).write_text(text)
    return cli


@each_of(COMMANDS)
def test_command(page, command):
    page.of_page(command)


def test_python(page, capsys):
    exec(PYTHON[1], {})
    assert capsys.readouterr().out == "[(31, 39)]\n"


@regress
def test_the_front_of_the_page(page):
    """More digits per cycle are faster and larger."""
    (front,) = page.json("sweep roots.toml")["fronts"]
    points = sorted((point["values"]["time_ns"], point["values"]["area_um2"]) for point in front["points"])
    assert len(points) > 1 and points == sorted(points, key=lambda point: -point[1])
    assert points[0][0] < points[-1][0]
