"""The page about your own accelerator: its files pass, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import Cli
from tests.harness import regress_if
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "tutorials" / "accelerator.md").read_text()
FILES = re.findall(r"<!-- file: (.+?) -->\n```\w+\n(.*?)```\n", TEXT, re.DOTALL)
PYTHON = re.search(r"## From Python\n\n```python\n(.*?)```", TEXT, re.DOTALL)
NEW, *COMMANDS = re.findall(r"^\$ modexlab (.+)$", TEXT, re.MULTILINE)
# the flow, campaigns, proofs (similar ones are in test_own_attacks), and twins
SLOW = re.compile(r"asic|fpga|explore|leak|faults|prove|package|soc|--trace|digits=4$|--stats")

EXAMPLES = sorted((ROOT / "eval" / "examples").glob("*/README.md"))
EXAMPLE_COMMANDS = re.findall(
    r"^\$ modexlab (.+)$", "\n".join(page.read_text() for page in EXAMPLES), re.MULTILINE
)


def each_of(commands):
    """One test per command, the slow ones in the long regression."""
    marked = [pytest.param(text, marks=regress_if(SLOW.search(text))) for text in commands]
    return pytest.mark.parametrize("command", marked)


@each_of(EXAMPLE_COMMANDS)
def test_command_of_an_example(capsys, tmp_path, monkeypatch, command):
    monkeypatch.setenv("MODEXLAB_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.chdir(ROOT)
    assert Cli(capsys)(*shlex.split(command, comments=True)).code == code_of(command)


def code_of(command):
    """The exit code that a comment on the page promises."""
    code = re.search(r"# exit code (\d)", command)
    return int(code[1]) if code else 0


@pytest.fixture(name="cli")
def make_cli(capsys, tmp_path, monkeypatch):
    """A command line in a folder with the files of the page."""
    monkeypatch.setenv("MODEXLAB_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.chdir(tmp_path)
    cli = Cli(capsys)
    assert cli(*shlex.split(NEW)).code == 0
    for name, text in FILES:
        Path(name).write_text(text)
    return cli


@each_of(COMMANDS)
def test_command(cli, command):
    told = cli(*shlex.split(command, comments=True))
    assert told.code == code_of(command), told.err


def test_python(cli, capsys):
    exec(PYTHON[1], {})
    assert capsys.readouterr().out == "[(31, 39)]\n"


@pytest.mark.regress
def test_the_front_of_the_page(cli):
    """More digits per cycle are faster and larger."""
    (front,) = cli("sweep", "roots.toml", "--json").json()["fronts"]
    points = sorted((point["values"]["time_ns"], point["values"]["area_um2"]) for point in front["points"])
    assert len(points) > 1 and points == sorted(points, key=lambda point: -point[1])
    assert points[0][0] < points[-1][0]
