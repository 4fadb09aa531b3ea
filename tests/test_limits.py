"""Limits of shape and style (limits.toml): commands, files by folder, columns, first words of sentences."""

import ast
import collections
import re
from pathlib import Path

import msgspec
from modexlab.eval.cli.routes import GROUPS

from tests.harness import finished, parametrize
from tests.paths import ROOT

LIMITS = msgspec.toml.decode((ROOT / "tests" / "limits.toml").read_text())
# first words of a sentence that stand in for a noun, and words that are not the field's
FIRST = re.compile(
    r"(?:^|[.:;?!]\s+)(What|Of|Those|Whoever|Who|By (which|what|whom)|In (which|what|words)|As (it|they|is)"
    r"|All that|From what|That (which|of)|Where (it|there|what)|On (which|what))\b(?![^.;:!]*\?)"
)
PRIVATE = re.compile(
    r"\b((is|are|was|were) (told|said)\b(?! to\b)|hangs? on\b|passed over\b|as far as (it|they) goe?s?\b"
    r"|s(econds)? of a processor\b|(units|machines) in a row\b|what (leaves|proves|stands|comes of|hangs)\b"
    r"|nobody (reads|waits|asks)\b|stands? failed\b|(is|are) given up\b|refuted\b)"
)
SIGNS = {".py": "# ", **dict.fromkeys((".c", ".cpp", ".h", ".sv", ".v"), "// ")}  # of comments
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def tracked():
    """Files of the repository, or of the folder where there is no git."""
    run = finished(["git", "ls-files"], cwd=ROOT)
    known = map(ROOT.joinpath, run.stdout.splitlines())
    there = (path for path in ROOT.rglob("*") if ".venv" not in path.parts) if run.returncode else known
    return [path.relative_to(ROOT) for path in there if path.is_file()]


def faults(text, sign="# "):
    """Lines of a text that break a rule of style, with the rule; "# ", the sign of a comment: in Python."""
    for node in ast.walk(ast.parse(text)) if sign == "# " else ():
        if isinstance(node, DOCUMENTED) and (said := ast.get_docstring(node)):
            first = said.splitlines()[0]
            if found := FIRST.search(said) or PRIVATE.search(first):
                yield node.body[0].lineno, f"docstring: {first}: {found[0]}"
        name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
        if name == "each":
            yield getattr(node, "lineno", 0), "a variable called `each`"
    for number, line in enumerate(text.splitlines(), 1):
        _, found, said = line.partition(sign)
        if found and (FIRST.search(said) or PRIVATE.search(said)) and '"' not in said:
            yield number, f"comment: {said}"
        if sign == "# " and len(line) > LIMITS["columns"]:
            yield number, f"{len(line)} columns"


def test_files_per_folder():
    found = collections.Counter(file.parent for file in tracked() if file.parent != Path())
    limit = LIMITS["files_per_folder"]
    assert {str(folder): count for folder, count in found.items() if count > limit} == {}


def test_commands():
    assert sum(map(len, GROUPS.values())) == LIMITS["commands"]


@parametrize("room", ["fl", "rtl", "cl", "proc", "flow", "eval", "tests"])
def test_style(room):
    exempt = tuple(f"{name}/" for name in LIMITS["style"]["exempt"])
    files = [file for file in tracked() if file.suffix in SIGNS and file.parts[0] == room]
    plain = [file for file in files if not str(file).startswith(exempt)]
    assert plain
    texts = [(file, (ROOT / file).read_text()) for file in plain]
    assert [(file, fault) for file, text in texts for fault in faults(text, SIGNS[file.suffix])] == []


def test_one_class_is_called_outcome():
    texts = [(ROOT / file).read_text() for file in tracked() if file.suffix == ".py"]
    assert len(re.findall(r"\nclass Outcome\b", "".join(texts))) == 1


def test_faults_are_found():
    text = '"""Cells. What it is."""\nfor each in ():  # Of the others\n    pass\n' + f"x = '{'y' * 110}'\n"
    assert [line for line, _ in faults(text)] == [1, 2, 2, 4]
    assert not list(faults('"""The cells, which are told to move."""\n'))
