"""The course: commands of the handouts run; checkpoints pass with the solution and fail with the starter."""

import re
import shlex
import shutil
import subprocess
import sys

import pytest
from modexlab.eval.cli.course import LABS, Row, checkpoints, grade, lab_folder

from tests.harness import parametrize, refused, regress_if
from tests.paths import ROOT

NUMBERS = [path.name.removeprefix("lab") for path in sorted(LABS.glob("lab[0-9]"))]
NOW = "1"  # the lab of `make test`
MOST_WORDS = 1500
COMMAND = re.compile(r"^\$ ((?:modexlab|python) .+)$", re.MULTILINE)
LAB_CASES = [pytest.param(number, marks=regress_if(number != NOW)) for number in NUMBERS]


@pytest.fixture(autouse=True)
def empty_folder(store, tmp_path, monkeypatch):
    """With a store of its own."""
    monkeypatch.chdir(tmp_path)


def solve(number, folder):
    """Put the solution into a student's folder."""
    shutil.copytree(LABS / "instructor" / f"lab{number}" / "solution", folder, dirs_exist_ok=True)


def handout(number):
    return (lab_folder(number) / "index.md").read_text()


@parametrize("number", LAB_CASES)
def test_starter_fails_and_solution_passes(number, cli, tmp_path):
    cli.passes("new lab", number)
    for checkpoint in checkpoints(number):
        found = grade(checkpoint, tmp_path / f"lab{number}")
        assert found.failure and found.title and found.hint, checkpoint
    assert cli.finds("check --lab", number).out.count("hint: ") == len(checkpoints(number))
    solve(number, tmp_path / f"lab{number}")
    report = cli.json(f"check --lab {number}")
    assert report["ok"], report
    assert all(found["rows"] for found in report["checkpoints"])


def commands():
    for number in NUMBERS:
        for command in COMMAND.findall(handout(number)):
            slow = number != NOW or "check --accelerator" in command
            yield pytest.param(number, command, marks=regress_if(slow))


@parametrize("number, command", [*commands()])
def test_commands_of_the_handout(number, command, cli, tmp_path):
    """In a folder with the solution."""
    program, _, command = re.sub("# exit code 1 until .*", "", command).partition(" ")
    if not command.startswith("new lab"):
        cli.passes("new lab", number)
    if not command.startswith("new"):
        solve(number, tmp_path / f"lab{number}")
    if program == "python":
        subprocess.run([sys.executable, *shlex.split(command, comments=True)], check=True)
    else:
        cli.of_page(command)


@parametrize("number", NUMBERS)
def test_handout(number):
    text = handout(number)
    assert len(text.split()) <= MOST_WORDS
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Goals", "Background", "Steps", "Questions"]
    answers = (LABS / "instructor" / f"lab{number}" / "index.md").read_text()
    questions = text.partition("## Questions")[2]
    assert len(re.findall(r"^\d+\. ", answers, re.M)) == len(re.findall(r"^\d+\. ", questions, re.M)) > 3
    names = checkpoints(number)[0].__globals__
    for name, limit in re.findall(r"<!-- from: (\w+) -->(.+?)<!-- end -->", text):
        assert f"{names[name]:,g}" == limit, name
    assert f"labs/lab{number}/index.md" in (ROOT / "docs" / "tutorials" / "course.md").read_text()


def test_checkpoints_do_not_import_solutions():
    for path in LABS.glob("lab?/*.py"):
        assert "instructor" not in path.read_text() and "solution" not in path.read_text(), path


def test_bad_input(cli):
    assert "unknown lab '7'" in cli.fails("check --lab 7")
    assert "`modexlab new lab 1 nix` writes the starter" in cli.fails("check --lab 1 nix")
    cli.passes("new lab 1")
    assert "there are files in it" in cli.fails("new lab 1")


# ---- the grader


def graded(call, expected, folder):
    def checkpoint(folder):
        """Title

        Hint.
        """
        yield Row("first", call, {"a": 2}, expected)

    return grade(checkpoint, folder)


def test_a_failure_names_the_row_and_its_values(tmp_path):
    assert graded(lambda a: a, 2, tmp_path) == ("Title", 1, "", "")
    assert graded(lambda a: 3, 2, tmp_path)[2:] == ("row 'first' (a = 2): 3, expected 2", "Hint.")
    assert "ZeroDivisionError" in graded(lambda a: a / 0, 2, tmp_path).failure


@parametrize("value, failure", [(1.005, ""), (1.02, "row 'first' (a = 2): 1.02, expected 1.0")])
def test_fractions_have_a_tolerance(value, failure, tmp_path):
    assert graded(lambda a: value, 1.0, tmp_path).failure == failure


def test_a_missing_file_is_named(tmp_path):
    assert "accelerator.py is missing; the handout says" in grade(checkpoints("1")[0], tmp_path).failure


def test_an_unknown_lab_is_refused():
    with refused("unknown lab '0'"):
        lab_folder("0")
