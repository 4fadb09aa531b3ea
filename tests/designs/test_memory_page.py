"""The tutorial on memory ports: its commands print what it shows, and its parts are those of the template."""

import re

import pytest
from modexlab.eval.designs.own_template import memory_files

from tests.harness import parametrize
from tests.paths import ROOT

TEXT = (ROOT / "docs" / "tutorials" / "memory.md").read_text()
PARTS = re.findall(r"<!-- part of: vvadd/(\S+) -->\n```\w+\n(.*?)```\n", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^\$ modexlab (.+)\n((?:.+\n)*?)```$", TEXT, re.MULTILINE)
ANYTHING = "..."


def shown(text):
    """Lines without spaces at their ends."""
    return [line.rstrip() for line in text.splitlines()]


def test_parts():
    files = memory_files("vvadd")
    assert len(PARTS) > 5
    for name, part in PARTS:
        assert part in files[name], part


@pytest.fixture
def page(cli, store, tmp_path, monkeypatch):
    """A command line in a folder with the accelerator of the page."""
    monkeypatch.chdir(tmp_path)
    assert shown(cli.passes(COMMANDS[0][0]).out) == shown(COMMANDS[0][1])
    return cli


@parametrize("command, output", COMMANDS[1:])
def test_command(page, command, output):
    found, expected = shown(page.of_page(command).out), shown(output)
    if ANYTHING in expected:  # some lines are left out
        place = expected.index(ANYTHING)
        end = len(expected) - place - 1
        found = [*found[:place], ANYTHING, *found[len(found) - end :]]
    assert not expected or found == expected


@parametrize(
    "words, file, old, new",
    [
        (
            "memory port mem in cycle 5 with backend python reads 4 bytes at 0x200000",
            "rtl.py",
            "addr @= s.b",
            "addr @= s.b << 8",
        ),
        (
            "memory port mem has 16 answers that the design did not accept",
            "accelerator.py",
            "yield from memory.write(",
            "yield from memory.request_write(",
        ),
        (
            "count = 3 (in memory, the word at 0x3004 is 4294967284, not 4294967294), and fl has count = 3",
            "accelerator.py",
            "total + offset, x + y)",
            "total + offset, x + y - 10 * (offset == 4))",
        ),
    ],
)
def test_mistakes_say_what_the_page_says(page, tmp_path, words, file, old, new):
    assert words in TEXT
    path = tmp_path / "vvadd" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    out = page.finds("check --accelerator vvadd").out
    assert words in out, out
