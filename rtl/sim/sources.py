"""Source files on which a result depends: the given modules, their imports, and the data files next to them.
Keys of caches and of the store contain this digest, so no list has to be maintained by hand.

A module includes its text, its parent packages, all modules that it imports from this package (also inside
functions, but not those imported only for type checking), modules that it runs (a string
"modexlab.room.module"), the non-Python files in its folder, and those in subfolders that its text names.
"""

import ast
import functools
import io
import sys
import threading
import tokenize
from collections.abc import Collection, Iterator
from pathlib import Path

from . import cache

ROOT = Path(__file__).parents[2]  # the folder with the rooms
PACKAGE = __name__.split(".")[0]
# Python 3.11 counts the recursion depth of the parser for all threads together, and raises SystemError if two
# threads parse at once
_PARSER = threading.Lock()
STATEMENTS = (
    "body",
    "orelse",
    "finalbody",
    "handlers",
    "cases",
)  # fields of syntax nodes that contain statements
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
NOT_SOURCES = (".py", ".pyc", ".md", ".svg", ".so")


@functools.cache
def digest(*modules: str, without: tuple[str, ...] = ()) -> str:
    """The digest of these modules ("flow.synth.synthesis") and all their imports; `without`: rooms and
    modules to leave out.
    """
    files = sorted(files_of(*modules, without=without))
    return cache.key(*(f"{_name(path)} {cache.file_digest(path)}" for path in files))


@functools.cache
def _name(path: Path) -> str:
    """The path of a file in this package, or the name of a user's file."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


def code_digest(*modules: str) -> str:
    """The digest of these modules and all their imports, without comments, docstrings and blank lines."""
    files = sorted(files_of(*modules))
    return cache.key(*(f"{_name(path)} {_code_digest(path)}" for path in files))


@functools.cache
def _code_digest(path: Path) -> str:
    """The digest of a file; of Python, of the text besides comments, docstrings and blank lines, which is the
    same in every version of Python.
    """
    if path.suffix != ".py":
        return cache.file_digest(path)
    text = path.read_text(encoding="utf-8")
    lines: list[str | None] = [*text.split("\n")]
    docstrings = _docstrings(text)
    blank = set()  # lines of which nothing may be left
    for token in [*tokenize.generate_tokens(io.StringIO(text).readline)][::-1]:
        (first, left), (last, right) = token.start, token.end
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.start in docstrings):
            rest = (lines[last - 1] or "")[right:]
            cut = f"{(lines[first - 1] or '')[:left].rstrip()}{rest}"
            lines[first - 1 : last] = [cut, *[None] * (last - first)]
            blank.add(first)
        elif token.type == tokenize.NL:
            blank.add(first)
    kept = [
        line
        for number, line in enumerate(lines, 1)
        if line is not None and (number not in blank or line.strip())
    ]
    return cache.key("\n".join(kept))


def _docstrings(text: str) -> set[tuple[int, int]]:
    """The places of docstrings that are no data."""
    if "__doc__" in text:
        return set()
    with _PARSER:
        tree = ast.parse(text)
    return {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(tree)
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None
    }


def module_digest(module: str) -> str:
    """The digest of one module's text, without its imports."""
    path = _path(module)
    assert path is not None, module
    return cache.file_digest(path)


def files_of(*modules: str, without: Collection[str] = ()) -> set[Path]:
    """The files that `digest` covers."""
    return set().union(*map(_files_of_one, closure(*modules, without=without)))


@functools.cache
def _files_of_one(module: str) -> frozenset[Path]:
    """The file of a module and its data; none if there is no such module in this package."""
    path = _path(module)
    if path is None:
        return frozenset()
    return frozenset([path] if path.name == "__init__.py" else [path, *_data(path)])


def closure(*modules: str, without: Collection[str] = ()) -> set[str]:
    """These modules and all modules that they import, directly or indirectly."""
    seen = set()
    ahead = list(modules)
    for module in modules:
        if _path(module) is None:
            raise ValueError(f"there is no module {module} in this package")
    while ahead:
        module = ahead.pop()
        if module in seen or any(f"{module}.".startswith(f"{item}.") for item in without):
            continue
        seen.add(module)
        ahead += imports(module)
        if "." in module:
            ahead.append(module.rpartition(".")[0])
    return {module for module in seen if _files_of_one(module)}


@functools.cache
def imports(module: str) -> tuple[str, ...]:
    """The modules of this package that one module imports."""
    path = _path(module)
    if path is None:
        return ()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = []
    text = path.read_text(encoding="utf-8")
    with _PARSER:
        tree = ast.parse(text)
    quoted = any(f"{quote}{PACKAGE}." in text for quote in ("'", '"'))
    for node in ast.walk(tree) if quoted else ():
        if isinstance(node, ast.Constant) and str(node.value).startswith(f"{PACKAGE}."):
            run = str(node.value).partition(".")[2]
            found += [run] if run.replace(".", "").isidentifier() and _path(run) else []
    for node in _imports(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found += [name.partition(".")[2] for name in names if name.startswith(f"{PACKAGE}.")]
            continue
        if node.level:
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] + (node.module.split(".") if node.module else [])
        elif node.module and node.module.split(".")[0] == PACKAGE:
            base = node.module.split(".")[1:]
        else:
            continue
        whole = ".".join(base)
        for alias in node.names:
            inner = f"{whole}.{alias.name}".lstrip(".")
            found.append(inner if _path(inner) else whole)
    return tuple(dict.fromkeys(item for item in found if item))


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All import statements that are executed. Expressions, which make up most of a tree, contain none and
    are skipped.
    """
    for part in STATEMENTS:
        for child in getattr(node, part, ()):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child
            elif isinstance(child, ast.If) and _for_type_checkers(child.test):
                for other in child.orelse:
                    yield from _imports(other)
            else:
                yield from _imports(child)


def _for_type_checkers(test: ast.expr) -> bool:
    name = test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""
    return name == "TYPE_CHECKING"


def _path(module: str) -> Path | None:
    for base in (ROOT.joinpath(*module.split(".")), *_elsewhere(module)):
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None


def _elsewhere(module: str) -> Iterator[Path]:
    """Places of a module in folders outside of this package, such as those of a user's own steps."""
    parent, _, name = module.rpartition(".")
    package = sys.modules.get(f"{PACKAGE}.{parent}")
    for folder in map(Path, getattr(package, "__path__", ())):
        if not folder.is_relative_to(ROOT):
            yield folder / name


def _data(path: Path) -> Iterator[Path]:
    """Non-Python files in the folder of a module and in the subfolders that its text names; outside of this
    package only in such subfolders.
    """
    text = path.read_text(encoding="utf-8")
    for item in path.parent.iterdir():
        if item.suffix in NOT_SOURCES:
            continue
        if item.is_file():
            if path.is_relative_to(ROOT):
                yield item
        elif item.is_dir() and f'"{item.name}' in text and not (item / "__init__.py").exists():
            yield from (file for file in item.rglob("*") if file.is_file() and file.suffix != ".pyc")
