"""Comments of the Python source, by the declarations, update blocks and statements that they are about.

A heading is about a group of declarations and blocks: its first instance or block has it, else its first
wire. A comment on a name that a class assigns twice is omitted, and so is one inside a long expression.
"""

import ast
import functools
import inspect
import io
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from pymtl3 import Component
from pymtl3.dsl import Interface

from .tree import Comment, Heading

Statement = ast.Assign | ast.AugAssign | ast.If | ast.For


@dataclass
class BlockComments:
    """The comments of an update block: one above it or behind its name, others by the lines of statements."""

    heading: str = ""
    statements: dict[int, Comment] = field(default_factory=dict)  # the decorator is on line 1

    def of(self, statement: ast.stmt) -> Comment:
        return self.statements.get(statement.lineno, Comment())


@dataclass
class Comments:
    """The comments of a component. The name of a block is "f()", that of a connection "x=" or
    "instance.port=".
    """

    behind: dict[str, str] = field(default_factory=dict)  # by name
    headings: dict[Heading, list[str]] = field(default_factory=dict)  # with the names that they are about
    blocks: dict[tuple[str, int], BlockComments] = field(default_factory=dict)  # by name and first line

    def of(self, name: str) -> Comment:
        """The comment of a declaration or a connection."""
        return Comment(self._headings(name), behind=self.behind.get(name, "") if name else "")

    def of_block(self, function: FunctionType) -> Comment:
        line = function.__code__.co_firstlineno
        own = self.inside(function).heading
        headings = self._headings(f"{function.__name__}()")
        return Comment((*headings, Heading(line, own)) if own else headings)

    def inside(self, function: FunctionType) -> BlockComments:
        """The comments of the statements of a block."""
        return self.blocks.get((function.__name__, function.__code__.co_firstlineno), BlockComments())

    def _headings(self, name: str) -> tuple[Heading, ...]:
        return tuple(heading for heading, names in self.headings.items() if name and name in names)


def comments_of(component: Component) -> Comments:
    """The comments of its class, and on the ports in its interfaces."""
    found = _of_class(component.__class__)
    return Comments(found.behind | dict(_of_ports(component)), found.headings, found.blocks)


def _of_ports(owner: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The comments on the ports in interfaces, by their names in Verilog."""
    for name, value in vars(owner).items():
        while isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, Interface) and not name.startswith("_"):
            inside = f"{prefix}{name}__"
            yield from ((f"{inside}{port}", text) for port, text in _of_class(value.__class__).behind.items())
            yield from _of_ports(value, inside)


@functools.cache
def _of_class(kind: Any) -> Comments:
    """From the source of a class and its bases, without those of PyMTL3."""
    found = Comments()
    times = Counter[str]()
    for part in kind.__mro__:
        if part.__module__.split(".")[0] in ("builtins", "pymtl3"):
            continue
        try:
            lines, first = inspect.getsourcelines(part)
        except (OSError, TypeError):  # made in an interpreter, or from text
            continue
        read = _Source(textwrap.dedent("".join(lines)), first)
        times.update(read.names)
        found.behind |= read.behind
        found.blocks |= read.blocks
        found.headings |= read.headings
    return Comments(
        {name: text for name, text in found.behind.items() if times[name] == times[f"{name} {text}"]},
        {about: [name for name in names if times[name] == 1] for about, names in found.headings.items()},
        found.blocks,
    )


class _Source:
    """The comments in the source of one class, whose lines count from `first` on; names: those that it
    assigns or defines.
    """

    def __init__(self, source: str, first: int) -> None:
        tree, self._lines, self._first = ast.parse(source), source.splitlines(), first
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self._comments = {part.start[0]: part for part in tokens if part.type == tokenize.COMMENT}
        self._outside = {  # of a block: the branch of which it is the first statement
            child.body[0]: child for child in ast.walk(tree) if isinstance(child, ast.If)
        }
        self.names: list[str] = []
        self.behind: dict[str, str] = {}
        self.blocks: dict[tuple[str, int], BlockComments] = {}
        self.headings: dict[Heading, list[str]] = {}
        self._read(tree)

    def _read(self, tree: ast.AST) -> list[str]:
        """The names that a statement assigns or defines; none for a method."""
        names: list[str] = []
        section: list[str] = []
        paragraph: list[str] = []
        end = 0
        for node in ast.iter_child_nodes(tree):
            if not isinstance(node, ast.stmt):
                continue
            first = min([node.lineno, *(mark.lineno for mark in _marks(node))])
            above: list[str] = []
            if isinstance(node, ast.FunctionDef) and _updates(node):
                self.blocks[node.name, self._first + first - 1] = self._block(node)
                found = [f"{node.name}()"]
                self.names += found
            else:
                found = [*self._assigned(node), *self._read(node)]
                if not (isinstance(node, ast.If) and _updates(node.body[0])):
                    above = self._above(first)
            for line in range(end + 1 if end else first, first):
                if ruler := self._alone(line) and self._comments[line].string.partition("# ---- ")[2]:
                    section = self._heading(line, ruler)
            if above:
                paragraph = self._heading(first, " ".join(above))
            elif first > end + 1:
                paragraph = []
            section += found
            paragraph += found
            if found[:1] == [""] or (above and first == end + 1 + len(above)):
                paragraph = []  # about no hardware, or one statement alone
            end = node.end_lineno or first
            names += found
        return [] if isinstance(tree, ast.FunctionDef) else names

    def _heading(self, line: int, text: str) -> list[str]:
        """The list of the names that a heading is about, which is empty at first."""
        return self.headings.setdefault(Heading(self._first + line - 1, text), [])

    def _assigned(self, node: ast.AST) -> list[str]:
        """Note a declaration, or a connection as "x=", and the comment behind it."""
        targets, mark = [], ""
        if isinstance(node, ast.Assign):
            targets = [one for target in node.targets for one in getattr(target, "elts", [target])]
        elif isinstance(node, ast.AugAssign):
            targets, mark = [node.target], "="
        names = []
        for target in targets:
            constant = getattr(target, "id", "")
            names.append(".".join(_path(target) or [constant * constant.isupper()]) + mark)
        self.names += names
        line = getattr(node, "end_lineno", 0)
        if len(names) == 1 and self._behind(line):
            self.behind[names[0]] = self._text(line)
            self.names.append(f"{names[0]} {self._text(line)}")
        return [] if mark else names

    def _block(self, node: ast.FunctionDef) -> BlockComments:
        first, body = node.decorator_list[0].lineno, node.body[0].lineno
        above = self._above(first)
        branch = self._outside.get(node)
        if not above and branch is not None and self._lines[branch.lineno - 1].lstrip().startswith("if "):
            above = self._above(branch.lineno)
        heads = [self._text(line) for line in range(first, body) if self._behind(line)]
        found = BlockComments(" ".join([*above, *heads]))
        for line, comment in self._inside(node):
            at = line - first + 1
            found.statements[at] = found.statements.get(at, Comment()) + comment
        return found

    def _inside(self, block: ast.FunctionDef) -> Iterator[tuple[int, Comment]]:
        """The comments in the body of a block, with the lines of their statements: the next one, or the
        assignment that a comment is behind. One behind the head of a branch is about its first assignment.
        """
        statements = sorted(
            (part for part in ast.walk(block) if isinstance(part, Statement)), key=lambda part: part.lineno
        )
        assigned = [part for part in statements if isinstance(part, ast.Assign | ast.AugAssign)]
        first = block.body[0].lineno
        while self._alone(first - 1):
            first -= 1
        lines = iter(range(first, (block.end_lineno or first) + 1))
        for line in lines:
            if line not in self._comments or any(
                part.lineno <= line < (part.end_lineno or 0) for part in assigned
            ):
                continue  # none, or about a term of a long expression
            text, is_alone = self._text(line), self._alone(line)
            while is_alone and self._alone(line + 1):
                text = f"{text} {self._text(line := next(lines))}".strip()
            own = [part.lineno for part in assigned if part.end_lineno == line and not is_alone]
            below = [part.lineno for part in (statements if is_alone else assigned) if part.lineno > line]
            if text and own:
                yield own[0], Comment(behind=text)
            elif text and below:
                yield below[0], Comment(above=(text,))

    def _alone(self, line: int) -> bool:
        return line in self._comments and not self._lines[line - 1][: self._comments[line].start[1]].strip()

    def _behind(self, line: int) -> bool:
        return line in self._comments and not self._alone(line)

    def _above(self, line: int) -> list[str]:
        """The comment lines directly above a line; none if a ruler is among them."""
        found: list[str] = []
        while self._alone(line := line - 1):
            found.insert(0, self._text(line))
        return found if all(found) else []

    def _text(self, line: int) -> str:
        """A comment in the names of the module; nothing for rulers, and heads of tables."""
        text = self._comments[line].string.lstrip("#")
        return "" if "---" in text or text.startswith("   ") else re.sub(r"\bs\.(?=\w)", "", text.strip())


def _marks(node: ast.stmt) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def _updates(node: ast.stmt) -> bool:
    return any(getattr(mark, "id", "") in ("update", "update_ff") for mark in _marks(node))


def _path(node: ast.AST) -> tuple[str, ...] | None:
    """The names that lead from the component to a signal, without indices."""
    if isinstance(node, ast.Subscript):
        return _path(node.value)
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name):
            return (node.attr,) if node.value.id == "s" else None
        inside = _path(node.value)
        return None if inside is None else (*inside, node.attr)
    return None
