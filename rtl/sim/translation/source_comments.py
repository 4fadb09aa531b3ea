"""Comments of the Python source in the exported modules: of declarations, instances, connections, update
blocks and statements. A heading stands before the first instance or block of its group, else before its first
wire.

They are added last, by the names of signals and blocks, and change no other line. A comment whose place in
the Verilog is uncertain is omitted: that of a name that a class assigns twice, or of a statement that occurs
more or less often in the block than in the source.
"""

import ast
import functools
import inspect
import io
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pymtl3 import Component
from pymtl3.dsl import Interface

from .source_text import MODULE
from .verilog_format import MAX_COLUMNS

_TRAILING = 92  # columns of a line with its comment behind it, numbers as two digits each
_INDENT = 4  # of Python
_INDEX = r"(?:\[[^=\n]*\])"
_TYPE = r"[A-Za-z]\w*(?: ?\[[^\]\n]*\])*"
_DECLARED = re.compile(
    rf"^  (?:(?:\(\* latch \*\) )?(?:input|output) +{_TYPE} (?P<port>\w+)(?: \[[^\n]*\])?,?"
    rf"|(?!assign |input |output )(?:localparam )?{_TYPE} (?P<own>\w+)(?: \[[^=\n]*\])?(?: = [^\n]*)?;)$"
)
_INSTANCE = re.compile(r"^  (?:\w+(?: #\(.*\))?|for \(genvar .* begin :) (\w+?)(?:__\d+)?(?: \()?$")
_CONNECTED = re.compile(r"^(?:  assign (\w+) = .*|    \.(\w+)\( .*)$")


@dataclass(eq=False)
class _Statement:
    """An assignment to a signal in an update block."""

    path: tuple[str, ...]  # the names of the signal, from the component inwards; none for a variable
    index: str  # a pattern of its last index
    depth: int  # the number of loops and branches around it
    behind: str = ""  # the comment behind it
    above: list[tuple[str, int]] = field(default_factory=list)  # with the number of those they include

    def pattern(self, exact: bool) -> str:
        """A pattern of the lines that assign the signal; with any index if not `exact`."""
        names = rf"{_INDEX}?(?:\.|__)".join(map(re.escape, self.path))
        return rf" *(?:assign |[\w, ]+: )?{names}{self.index if exact else f'{_INDEX}*'} <?= "


@dataclass
class _Block:
    """An update block; comment: above it, or behind its name."""

    comment: str
    statements: list[_Statement]


@dataclass
class Comments:
    """The comments of a component by subject."""

    # and of connections, as "x=" and "instance.port="
    declarations: dict[str, str] = field(default_factory=dict)
    blocks: dict[str, _Block] = field(default_factory=dict)
    headings: dict[str, list[str]] = field(default_factory=dict)  # with the names that they are about

    def __and__(self, other: "Comments | None") -> "Comments":
        """The comments of two components of one class that may become one module."""
        if other is None:
            return self
        blocks = {name: block for name, block in self.blocks.items() if name in other.blocks}
        return Comments(self.declarations | other.declarations, blocks, self.headings | other.headings)


def comments_of(component: Component) -> Comments:
    """The comments of its class, and on the ports in its interfaces."""
    found = _of_class(component.__class__)
    blocks = {block.__name__ for block in (*component.get_update_blocks(), *component.get_update_ff())}
    ports = {
        f"{name}__{port}": comment
        for name, value in vars(component).items()
        if isinstance(value, Interface)
        for port, comment in _of_class(value.__class__).declarations.items()
    }
    return Comments(
        found.declarations | ports,
        {name: block for name, block in found.blocks.items() if name in blocks},
        found.headings,
    )


@functools.cache
def _of_class(kind: Any) -> Comments:
    """From the source of a class and its bases, without those of PyMTL3."""
    declarations: dict[str, str] = {}
    blocks: dict[str, _Block] = {}
    headings: dict[str, list[str]] = {}
    times = Counter[str]()
    for part in kind.__mro__:
        if part.__module__.split(".")[0] in ("builtins", "pymtl3"):
            continue
        try:
            source = textwrap.dedent(inspect.getsource(part))
        except (OSError, TypeError):  # made in an interpreter, or from text
            continue
        read = _Source(source)
        times.update(read.names)
        declarations |= read.declarations
        blocks |= read.blocks
        headings |= read.headings
    return Comments(
        {name: text for name, text in declarations.items() if times[name] == times[f"{name} {text}"]},
        {name: block for name, block in blocks.items() if times[f"{name}()"] == 1},
        {text: [name for name in names if times[name] == 1] for text, names in headings.items()},
    )


class _Source:
    """The comments in the source of one class; names: those that it assigns or defines."""

    def __init__(self, source: str) -> None:
        tree, self._lines = ast.parse(source), source.splitlines()
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self._comments = {part.start[0]: part for part in tokens if part.type == tokenize.COMMENT}
        self._outside = {  # of a block: the branch of which it is the first statement
            child.body[0]: child for child in ast.walk(tree) if isinstance(child, ast.If)
        }
        self.names: list[str] = []
        self.declarations: dict[str, str] = {}
        self.blocks: dict[str, _Block] = {}
        self.headings: dict[str, list[str]] = {}
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
                self.blocks[node.name] = self._block(node)
                found = [f"{node.name}()"]
                self.names += found
            else:
                found = [*self._assigned(node), *self._read(node)]
                if not (isinstance(node, ast.If) and _updates(node.body[0])):
                    above = self._above(first)
            for line in range(end + 1 if end else first, first):
                if ruler := self._alone(line) and self._comments[line].string.partition("# ---- ")[2]:
                    section = self.headings.setdefault(ruler, [])
            if above:
                paragraph = self.headings.setdefault(" ".join(above), [])
            elif first > end + 1:
                paragraph = []
            section += found
            paragraph += found
            if found[:1] == [""] or (above and first == end + 1 + len(above)):
                paragraph = []  # about no hardware, or one statement alone
            end = node.end_lineno or first
            names += found
        return [] if isinstance(tree, ast.FunctionDef) else names

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
            self.declarations[names[0]] = self._text(line)
            self.names.append(f"{names[0]} {self._text(line)}")
        return [] if mark else names

    def _block(self, node: ast.FunctionDef) -> _Block:
        first = node.decorator_list[0].lineno
        above = self._above(first)
        branch = self._outside.get(node)
        if not above and branch is not None and self._lines[branch.lineno - 1].lstrip().startswith("if "):
            above = self._above(branch.lineno)
        body = node.body[0].lineno
        heads = [self._text(line) for line in range(first, body) if self._behind(line)]
        assigned = sorted(
            (part for part in ast.walk(node) if isinstance(part, ast.Assign | ast.AugAssign)),
            key=lambda part: part.lineno,
        )
        statements = {part.lineno: _statement(part) for part in assigned}
        for about, text, depth in self._inside(body, node.end_lineno or body, assigned):
            own = statements[about]
            if depth is not None:
                own.above.append((text, max(own.depth - depth, 0)))
            else:
                own.behind = text
        return _Block(" ".join([*above, *heads]), [*statements.values()])

    def _inside(
        self, first: int, last: int, assigned: list[ast.Assign | ast.AugAssign]
    ) -> Iterator[tuple[int, str, int | None]]:
        """The comments in the body of a block: the line of the assignment, the text, and the depth, which a
        comment behind the assignment has not. One behind the head of a branch is about its first statement.
        """
        while self._alone(first - 1):
            first -= 1
        lines = iter(range(first, last + 1))
        for line in lines:
            if line not in self._comments or any(
                part.lineno <= line < (part.end_lineno or 0) for part in assigned
            ):
                continue  # none, or about a term of a long expression
            texts, depth = [self._text(line)], None
            if self._alone(line):
                depth = _depth(self._comments[line].start[1])
                while self._alone(line + 1):
                    texts.append(self._text(line := next(lines)))
            for part in assigned:
                if part.lineno > line or (depth is None and part.end_lineno == line):
                    head = depth is None and part.lineno > line
                    yield part.lineno, " ".join(texts), _depth(part.col_offset) if head else depth
                    break

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


def _depth(column: int) -> int:
    return column // _INDENT


def _statement(node: ast.Assign | ast.AugAssign) -> _Statement:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    number = target.slice if isinstance(target, ast.Subscript) else None
    index = (
        rf"\[{number.value}\]"
        if isinstance(number, ast.Constant) and isinstance(number.value, int)
        else f"{_INDEX}*"
    )
    return _Statement(_path(target) or (), index, _depth(node.col_offset))


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


def with_comments(text: str, comments: Mapping[str, Comments]) -> str:
    """The text with the comments of its modules."""
    return MODULE.sub(
        lambda module: _Module(module[0].split("\n"), comments.get(module[1], Comments())).text(), text
    )


class _Module:
    """The lines of a module, and the comments to be added above and behind them."""

    def __init__(self, lines: list[str], comments: Comments) -> None:
        self._lines = lines
        self._above: dict[int, list[str]] = {}
        self._behind: dict[int, str] = {}
        places: dict[str, int] = {}
        instance = ""
        for at, line in enumerate(lines):
            if found := _DECLARED.match(line):
                places[found["port"] or found["own"]] = at
            elif found := _INSTANCE.match(line):
                places.setdefault(instance := found[1], at)
            elif found := _CONNECTED.match(line):
                places.setdefault(f"{found[1] or f'{instance}.{found[2]}'}=".replace("__", "."), at)
        blocks = {
            name: self._of_block(name, block, exact=False) or self._of_block(name, block, exact=True)
            for name, block in comments.blocks.items()
        }
        places |= {f"{name}()": found[0] for name, found in blocks.items() if found}
        for heading, names in comments.headings.items():
            below = [places[name] for name in names if name in places]
            if below:
                self._add_above(min(below, key=lambda at: bool(_DECLARED.match(lines[at]))), heading)
        for name, comment in comments.declarations.items():
            if name in places:
                self._add_behind(places[name], comment)
        for name, block in comments.blocks.items():
            if blocks[name]:
                self._add(blocks[name], block)

    def text(self) -> str:
        found = []
        for at, line in enumerate(self._lines):
            indent = " " * _indent(line)
            for comment in dict.fromkeys(self._above.get(at, ())):
                found += textwrap.wrap(
                    comment,
                    MAX_COLUMNS,
                    initial_indent=f"{indent}// ",
                    subsequent_indent=f"{indent}// ",
                    break_on_hyphens=False,
                )
            found.append(f"{line}  // {self._behind[at]}" if at in self._behind else line)
        return "\n".join(found)

    def _add(self, lines: list[int], block: _Block) -> None:
        self._add_above(lines[0], block.comment)
        left = [one for one in block.statements if one.path]
        for exact in (False, True):  # all that assign the signal, or else those with the same index
            for pattern in {one.pattern(exact): None for one in left}:
                statements = [one for one in left if one.pattern(exact) == pattern]
                places = [at for at in lines if re.match(pattern, self._lines[at])]
                if len(places) == 1 and self._lines[places[0]].count(" ? ") == len(statements) - 1:
                    places *= len(statements)  # a default and its exceptions in one expression
                if len(places) != len(statements):
                    continue
                left = [one for one in left if one not in statements]
                for at, statement in zip(places, statements, strict=True):
                    for comment, levels in statement.above:
                        self._add_above(self._outside(at, levels, lines[0]), comment)
                    self._add_behind(at, statement.behind)

    def _of_block(self, name: str, block: _Block, exact: bool) -> list[int]:
        """The lines of a block; none if they are not together."""
        heads = [
            at for at, line in enumerate(self._lines) if re.search(rf"\bbegin : {name}(?:_block)?$", line)
        ]
        found = set()
        for head in heads:
            indent = _indent(self._lines[head])
            inside = range(head + 1, len(self._lines))
            end = next(at for at in inside if self._lines[at].startswith(f"{' ' * indent}end"))
            found |= {*range(head, end + 1)}
        patterns = {statement.pattern(exact) for statement in block.statements if statement.path}
        for at, line in enumerate(self._lines):
            if line.startswith("  assign ") and any(re.match(pattern, line) for pattern in patterns):
                found.add(at)
        if not found or len(heads) > 1:
            return []
        between = set(range(min(found), max(found))) - found
        return sorted(found) if all(not self._lines[at] for at in between) else []

    def _add_above(self, at: int, comment: str) -> None:
        if comment:
            self._above.setdefault(at, []).append(comment)

    def _add_behind(self, at: int, comment: str) -> None:
        """Above the line if it is long, or has a comment already."""
        opened = self._lines[at + 1] == "  ("  # an instance, which `layout` writes in one line
        fits = len(re.sub(r"\d+", "00", self._lines[at])) + 2 * opened + len(comment) + 4 <= _TRAILING
        if comment and fits and "//" not in self._lines[at] and at + opened not in self._behind:
            self._behind[at + opened] = comment
        else:
            self._add_above(at, comment)

    def _outside(self, at: int, levels: int, first: int) -> int:
        """The line, or the head of the branch that it begins, this many levels outside."""
        for _ in range(levels):
            indent = _indent(self._lines[at])
            outside = [line for line in range(first, at) if _indent(self._lines[line]) < indent]
            if not outside or self._lines[outside[-1]].lstrip().startswith("end"):
                break
            at = outside[-1]
        return at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
