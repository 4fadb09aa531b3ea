"""Limits of shape and style (limits.toml): commands, files by folder, columns, functions, words."""

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
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
ROOMS = ("fl", "rtl", "cl", "proc", "flow", "eval")  # the product, without tests


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


def functions(node, prefix=""):
    """Each function of a syntax tree with its qualified name; those inside functions and classes, too."""
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, (ast.ClassDef, *FUNCTIONS)):
            name = f"{prefix}{child.name}."
        if isinstance(child, FUNCTIONS):
            yield name[:-1], child
        yield from functions(child, name)


def lines(function):
    """The lines of a function without its decorators and its docstring: documentation has no limit."""
    count = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is None:
        return count
    docstring = function.body[0]
    return count - (docstring.end_lineno - docstring.lineno + 1)


def parameters(function):
    """The number of parameters without self or cls; *args and **kwargs count as one each."""
    given = function.args
    names = [parameter.arg for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if names[:1] in (["self"], ["cls"]):
        names.pop(0)
    return len(names) + len([star for star in (given.vararg, given.kwarg) if star])


MEASURES = {"function_lines": lines, "parameters": parameters}


def beyond(name, texts):
    """The functions that exceed a limit, as path:name."""
    return {
        f"{file}:{qualified}"
        for file, text in texts
        for qualified, function in functions(ast.parse(text))
        if MEASURES[name](function) > LIMITS[name]
    }


@parametrize("name", MEASURES)
def test_functions(name):
    """The list of exceptions only shrinks: a function that meets the limit has to leave it."""
    files = [file for file in tracked() if file.suffix == ".py" and file.parts[0] in ROOMS]
    found = beyond(name, [(file, (ROOT / file).read_text()) for file in files])
    listed = LIMITS["beyond"][name]
    assert listed == sorted(set(listed))
    assert {"too large": found - {*listed}, "no longer too large": {*listed} - found} == {
        "too large": set(),
        "no longer too large": set(),
    }


def test_large_functions_are_found():
    line = "        x = 1\n"
    most = LIMITS["function_lines"] - 1  # below the line with the name
    documented = '        """A line.\n\n        Another line.\n        """\n'
    long = f"class A:\n    def long(self):\n{line * (most + 1)}"
    long += f"\n    def short(self):\n{documented}{line * most}"
    assert beyond("function_lines", [("a.py", long)]) == {"a.py:A.long"}
    names = ", ".join(f"p{number}" for number in range(LIMITS["parameters"] - 1))
    many = f"class A:\n    def few(self, {names}, *a): ...\n    def many(self, {names}, *a, **b): ...\n"
    inner = f"def outer():\n    def inner({names}, *, a, b): ...\n"
    assert beyond("parameters", [("a.py", many), ("b.py", inner)]) == {"a.py:A.many", "b.py:outer.inner"}


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
