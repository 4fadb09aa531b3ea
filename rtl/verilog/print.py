"""A design as SystemVerilog: one visitor, one layout."""

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any

from .assertions import MACRO, USE
from .parameters import Expression
from .tree import (
    Array,
    Assertion,
    Assign,
    Binary,
    Case,
    Cast,
    Comb,
    Comment,
    Concat,
    Design,
    Element,
    Enum,
    Expr,
    Field,
    For,
    Heading,
    If,
    Instance,
    Loop,
    Member,
    Module,
    Mux,
    Name,
    Net,
    Number,
    Parameter,
    Pattern,
    Port,
    Range,
    Reference,
    Seq,
    SignExtend,
    Struct,
    Turn,
    Type,
    Unary,
    Unused,
    Vector,
    commented,
    part,
    walk,
)

COLUMNS = 100
PACKAGE = "_pkg"  # behind the name of the top module
UNIT = "unit"  # the name of an instance in a generate loop
BEHIND = "\t"  # in a line: before the comment that is to be behind it
SMALL = 1 << 16  # numbers from here on are hexadecimal
PRECEDENCE = ("|", "^", "&", "== !=", "< <= > >=", "<< >>", "+ -", "* / %", "**")
RANKS = {op: rank for rank, ops in enumerate(PRECEDENCE, 2) for op in ops.split()}
LOOSE, CHOICE, UNARY, ATOM = 0, 1, 20, 30
SHIFTS = ("<<", ">>")
MIXED = ("|", "^", "&", "<<", ">>")  # readers do not know by heart which of these goes first


def verilog(design: Design) -> str:
    has_assertions = any(isinstance(item, Assertion) for module in design.modules for item in module.items)
    macro = MACRO.rstrip() if has_assertions else ""
    package = _Package(design)
    texts = [package.text(), macro, *(_Printer(module, package).text() for module in design.modules)]
    return "\n\n".join(filter(None, texts)) + "\n"


class _Package:
    """The package of the types that modules share, each after the types of its fields.

    Modules use qualified names, because Yosys reads no import.
    """

    def __init__(self, design: Design) -> None:
        self.top, self.name = design.top, f"{design.top.name}{PACKAGE}"
        self.found: dict[Type, str] = {}
        self.of_signals: dict[str, None] = {}  # names of types
        for module in design.modules:
            own = set(module.types)
            for item in module.signals:
                self.declare(item.type, own)
                kind = innermost(item.type)
                if isinstance(kind, Struct | Enum) and kind not in own:
                    self.of_signals[kind.name] = None
            for node in walk(module.items):
                if isinstance(node, Member | Name | Field):
                    self.declare(node.type, own)

    def declare(self, kind: Type, own: set[Enum]) -> None:
        if isinstance(kind, Array):
            self.declare(kind.element, own)
        elif isinstance(kind, Struct) and kind not in self.found:
            for _, field in kind.fields:
                self.declare(field, own)
            lines = "".join(f"    {declared(field, name)};\n" for name, field in kind.fields)
            self.found[kind] = f"  typedef struct packed {{\n{lines}  }} {kind.name};"
        elif isinstance(kind, Enum) and kind not in own | self.found.keys():
            self.found[kind] = enumeration(kind)

    def imports(self, module: Module) -> list[str]:
        """Return lines of the top module for Icarus 11.

        It looks up a qualified type by its plain name, in the module and in the parents of the module.
        """
        if not self.of_signals or module is not self.top:
            return []
        lines = (f"  import {self.name}::{name};" for name in self.of_signals)
        return [f"`ifdef __ICARUS__{BEHIND}for version 11", *lines, f"`endif{BEHIND}__ICARUS__"]

    def text(self) -> str:
        types = "\n\n".join(self.found.values())
        return f"package {self.name};\n{types}\nendpackage" if types else ""


def innermost(kind: Type) -> Type:
    """The type of the elements of nested arrays."""
    while isinstance(kind, Array):
        kind = kind.element
    return kind


def enumeration(kind: Enum) -> str:
    members = ",\n".join(f"    {name} = {kind.width}'d{value}" for name, value in kind.members)
    return f"  typedef enum logic{_bits(kind.width)} {{\n{members}\n  }} {kind.name};"


def constant(name: str, node: Number, is_int: bool) -> str:
    """The declaration of a localparam, without the keyword."""
    if is_int:
        return f"int {name} = {node.value}"
    return f"{declared(Vector(node.size), name)} = {number(node)}"


def declared(kind: Type, name: str, scope: Callable[[Enum | Struct], str] = lambda _: "") -> str:
    """The declaration of a signal or a field. scope: the text before the name of a type."""
    apart = ""
    while isinstance(kind, Array) and not kind.packed:
        apart += f" [{kind.size}]"
        kind = kind.element
    sizes = ""
    while isinstance(kind, Array):
        sizes += f"[{kind.size - 1}:0]"
        kind = kind.element
    own = _bits(kind.width) if isinstance(kind, Vector) else ""
    word = "logic" if isinstance(kind, Vector) else f"{scope(kind)}{kind.name}"
    ranges = " " + sizes + own.strip() if sizes or own else ""
    return f"{word}{ranges} {name}{apart}"


def _bits(width: int) -> str:
    return f" [{width - 1}:0]" if width > 1 or isinstance(width, Expression) else ""


def term(size: int) -> str:
    """A number in front of a cast or of a replication."""
    return f"({size})" if isinstance(size, Expression) and " " in str(size) else str(size)


def zeros(width: int) -> str:
    return f"{{{term(width)}{{1'd0}}}}" if isinstance(width, Expression) else f"{width}'d0"


def parameter(item: Parameter) -> str:
    is_plain = isinstance(item.value, Number) and is_integer(item.value)
    kind = f"int {item.name}" if item.type is None or is_plain else declared(item.type, item.name)
    return f"  parameter {kind} = {setting(item.value)}"


def is_integer(node: Number) -> bool:
    """Whether a number is an integer of the source, as a shift amount is."""
    return node.size == 32 and node.value < SMALL


def setting(value: int | Number) -> str:
    """The value of a parameter."""
    if isinstance(value, Number):
        return str(value.value) if is_integer(value) else number(value)
    return str(int(value))


class _Printer:
    """One module."""

    def __init__(self, module: Module, package: _Package) -> None:
        self.module, self.package = module, package
        self.constants = self._constants()
        self.headings: set[Heading] = set()  # that are in the text
        self.amounts = self._amounts()

    def _constants(self) -> dict[str, Number]:
        """The constants that have one value in the module and no name of a signal."""
        found: dict[str, set[tuple[int, int]]] = {}
        numbers = [node for node in walk(self.module.items) if isinstance(node, Number) and node.name]
        for node in numbers:
            found.setdefault(node.name, set()).add((node.size, node.value))
        taken = {item.name for item in self.module.signals}
        taken |= {name for kind in self.enums() for name, _ in kind.members}
        spelled = Counter(name.upper() for name in found)
        return {
            node.name: node
            for node in numbers
            if len(found[node.name]) == 1
            and not node.is_parameter
            # one name in capitals, which no signal and no member has
            and spelled[node.name.upper()] == 1
            and node.name.upper() not in taken
        }

    def enums(self) -> set[Enum]:
        return {node.type for node in walk(self.module.items) if isinstance(node, Member)}.union(
            self.module.types
        )

    def _amounts(self) -> set[str]:
        """The constants that are but amounts of shifts."""
        uses = Counter(node.name for node in walk(self.module.items) if isinstance(node, Number))
        shifts = Counter(
            node.right.name
            for node in walk(self.module.items)
            if isinstance(node, Binary) and node.op in SHIFTS and isinstance(node.right, Number)
        )
        return {name for name in self.constants if uses[name] == shifts[name]}

    def scope(self, kind: Enum | Struct) -> str:
        """Return the package of a type and `::`; nothing for a type that the module declares."""
        return "" if kind in self.module.types else f"{self.package.name}::"

    def text(self) -> str:
        module = self.module
        body = [*self.body()]  # first: a heading that an item has is not above a declaration, too
        lines = [*head(module.comment), *self.opening(), *self.ports(), ");"]
        inner = [*self.package.imports(module), *map(enumeration, module.types)]
        for name, node in self.constants.items():
            text = constant(name.upper(), node, is_int=is_integer(node) or name in self.amounts)
            inner += self.declaration(node, f"localparam {text};")
        for net in module.nets:
            inner += self.declaration(net, f"{self.attributed(net)};")
        checks = [*fitted(_indented(self.assertions()))]
        lines += [*inner, *([""] if inner and body else []), *body]
        lines += [*([""] if checks and body else []), *checks, "endmodule"]
        return "\n".join(aligned(lines))

    def opening(self) -> list[str]:
        """The first lines of the module, with its parameters."""
        if not self.module.parameters:
            return [f"module {self.module.name} ("]
        declarations = ",\n".join(map(parameter, self.module.parameters))
        return [f"module {self.module.name} #(", *declarations.split("\n"), ") ("]

    def ports(self) -> Iterator[str]:
        for port in self.module.ports:
            way = f"{'(* latch *) ' * port.is_latch}{'input ' if port.is_input else 'output'}"
            end = "" if port is self.module.ports[-1] else ","
            yield from self.declaration(port, f"{way} {self.attributed(port)}{end}")

    def attributed(self, signal: Port | Net) -> str:
        """The declaration of a signal with its attribute."""
        text = declared(signal.type, signal.name, self.scope)
        return f"{text} {signal.attribute}" if signal.attribute else text

    def declaration(self, node: Any, text: str) -> Iterator[str]:
        return fitted(_indented(self.commented(node.comment, [text])))

    def body(self) -> Iterator[str]:
        before = ""
        for item in self.module.items:
            if isinstance(item, Assertion):
                continue
            lines = [*fitted(_indented(self.commented(item.comment, self.item(item))))]
            if before and (len(lines) > 1 or before in ("  end", "  );") or isinstance(item, Unused)):
                yield ""
            yield from lines
            before = lines[-1]

    def commented(self, comment: Comment, lines: Iterable[str]) -> Iterator[str]:
        """The lines of a node with its comments; a heading that is in the text already is omitted."""
        first, *others = lines
        headings = [heading for heading in comment.headings if heading not in self.headings]
        self.headings.update(headings)
        above = dict.fromkeys((*(heading.text for heading in headings), *comment.above))
        yield from (f"// {text}" for text in above)
        yield f"{first}{BEHIND}{comment.behind}" if comment.behind else first
        yield from others

    def assertions(self) -> Iterator[str]:
        for item in self.module.items:
            if isinstance(item, Assertion):
                text = "".join(word if isinstance(word, str) else self.expr(word) for word in item.words)
                yield f"{USE}{'_HELD' * item.is_held}({item.name}, {text})"

    # ---- items and statements: lines

    def item(self, node: Any, outer: bool = True) -> Iterator[str]:
        match node:
            case Assign():
                yield f"assign {self.expr(node.target)} = {self.expr(node.value)};"
            case Instance():
                name = instance_name(node) if outer else UNIT
                if not node.pins:
                    yield f"{node.module} {name} ();"
                    return
                given = ", ".join(f".{key}({setting(value)})" for key, value in node.parameters)
                yield f"{node.module}{f' #({given})' if given else ''} {name} ("
                for pin in node.pins:
                    value = "" if pin.value is None else self.expr(pin.value)
                    end = "," if pin is not node.pins[-1] else ""
                    yield from _indented(self.commented(pin.comment, [f".{pin.port}({value}){end}"]))
                yield ");"
            case Loop():
                i = node.turn.name
                yield f"for (genvar {i} = 0; {i} < {node.count}; {i}++) begin : gen_{node.name}"
                for item in node.items:
                    yield from _indented(self.commented(item.comment, self.item(item, outer=False)))
                yield "end"
            case Comb():
                yield f"always_comb begin : {self.label(node.name)}"
                yield from self.statements(node.body, "=")
                yield "end"
            case Seq():
                yield f"always_ff @(posedge clk) begin : {self.label(node.name)}"
                yield from self.statements(node.body, "<=")
                yield "end"
            case Unused():
                yield from self.unused(node)

    def unused(self, node: Unused) -> Iterator[str]:
        """A wire that reads them all, behind or below the reasons."""
        names = [self.expr(part) for _, parts in node.signals for part in parts]
        line = f"wire unused = ^{{{', '.join(names)}}};"
        (reason, _), *others = node.signals
        if not others:
            yield f"{line}{BEHIND}{reason}"
            return
        for reason, parts in node.signals:
            text = f"{reason}: {', '.join(map(self.expr, parts))}"
            yield from (f"// {line}" for line in textwrap.wrap(text, COLUMNS - 5))
        yield line

    def label(self, name: str) -> str:
        taken = {item.name for item in self.module.signals}
        return f"{name}_block" if name in taken or name == self.module.name else name

    def statements(self, body: Iterable[Any], op: str) -> Iterator[str]:
        for statement in body:
            yield from _indented(self.commented(statement.comment, self.statement(statement, op)))

    def statement(self, node: Any, op: str) -> Iterator[str]:
        match node:
            case Assign(target=Name(type=Struct()), value=Number(value=0)):
                yield f"{self.expr(node.target)} {op} '0;"
            case Assign():
                yield f"{self.expr(node.target)} {op} {self.expr(node.value)};"
            case If():
                yield f"if ({self.expr(node.condition)}) begin"
                yield from self.statements(node.then, op)
                while len(node.other) == 1 and isinstance(node.other[0], If):
                    node = node.other[0]
                    yield f"end else if ({self.expr(node.condition)}) begin"
                    yield from self.statements(commented(node.then, node.comment), op)
                if node.other:
                    yield "end else begin"
                    yield from self.statements(node.other, op)
                yield "end"
            case Case():
                wild = any(isinstance(value, Pattern) and value.has_wildcards for value, _ in node.branches)
                word = f"{'unique ' * node.is_unique}case{'z' * wild}"
                yield f"{word} ({self.expr(node.subject)})"
                for body, branches in groupby(node.branches, lambda branch: branch[1]):
                    yield from self.branch(", ".join(self.expr(value) for value, _ in branches), body, op)
                yield from self.branch("default", node.default, op)
                yield "endcase"
            case For():
                i, up = node.turn.name, node.step > 0
                move = f"{i}++" if node.step == 1 else f"{i} {'+' if up else '-'}= {abs(node.step)}"
                end = f"{i} {'<' if up else '>'} {node.end}"
                kind = "int" if isinstance(node.end, Expression) else "int unsigned"  # the end may be 0
                yield f"for ({kind} {i} = {node.start}; {end}; {move}) begin"
                yield from self.statements(node.body, op)
                yield "end"

    def branch(self, label: str, body: tuple[Any, ...], op: str) -> Iterator[str]:
        if not body:
            yield f"  {label}: ;"
        elif len(body) == 1 and isinstance(body[0], Assign):
            (line,) = self.statement(body[0], op)
            yield from _indented(self.commented(body[0].comment, [f"{label}: {line}"]))
        else:
            yield f"  {label}: begin"
            yield from _indented(self.statements(body, op))
            yield "  end"

    # ---- expressions: text

    def expr(self, node: Expr, outer: int = LOOSE) -> str:
        text, rank = self.ranked(node)
        return f"({text})" if rank < outer else text

    def ranked(self, node: Expr) -> tuple[str, int]:
        match node:
            case Number():
                named = node.is_parameter or self.constants.get(node.name) == node
                return (node.name.upper() if named else number(node)), ATOM
            case Pattern():
                return node.text, ATOM
            case Member():
                return f"{self.scope(node.type)}{node.name}", ATOM
            case Turn() | Name():
                return node.name, ATOM
            case Field():
                return f"{self.expr(node.base)}.{node.name}", ATOM
            case Element():
                return f"{self.expr(node.base)}[{self.index(node.index)}]", ATOM
            case Range():
                return f"{self.expr(node.base)}[{self.bounds(node)}]", ATOM
            case Concat():
                return self.concat(node), ATOM
            case SignExtend():
                return self.extended(node), ATOM
            case Cast():
                if node.size > node.value.width and isinstance(node.value, Unary | Binary | Mux):
                    # readers differ over the width of an operation in a cast
                    return f"{{{zeros(node.size - node.value.width)}, {self.expr(node.value)}}}", ATOM
                return f"{term(node.size)}'({self.expr(node.value)})", ATOM
            case Unary():
                operand = self.expr(node.value, ATOM)
                if isinstance(node.value, Cast):  # Yosys' reader takes the operator for a part of the size
                    operand = f"({operand})"
                text = f"{node.op}{operand}"
                return text, LOOSE if node.reduces else UNARY
            case Binary():
                return self.binary(node)
            case Mux():
                then, other = self.expr(node.then, CHOICE + 1), self.expr(node.other, CHOICE)
                is_simple = not isinstance(node.condition, Binary)
                condition = self.expr(node.condition, CHOICE + 1 if is_simple else ATOM)
                return f"{condition} ? {then} : {other}", CHOICE
        raise TypeError(type(node).__name__)

    def binary(self, node: Binary) -> tuple[str, int]:
        rank = RANKS[node.op]
        if node.op in SHIFTS and (amount := self.amount(node.right)):
            return f"{self.expr(node.left, self.limit(node, node.left, rank))} {node.op} {amount}", rank
        left = self.expr(node.left, self.limit(node, node.left, rank))
        if node.op in ("<<", ">>") and isinstance(node.right, Number):
            return f"{left} {node.op} {self.index(node.right)}", rank
        return f"{left} {node.op} {self.expr(node.right, self.limit(node, node.right, rank + 1))}", rank

    def amount(self, node: Expr) -> str:
        """The amount of a shift that is a plain integer."""
        match node:
            case Number(is_parameter=False) if self.constants.get(node.name) != node:
                return str(node.value)
            case Cast(value=Turn(name=name)):
                return name
        return ""

    @staticmethod
    def limit(node: Binary, operand: Expr, rank: int) -> int:
        """Parentheses where precedence asks for them, and around another bitwise operator."""
        mixed = isinstance(operand, Binary) and operand.op != node.op and {operand.op, node.op} & {*MIXED}
        return ATOM if mixed else rank

    def index(self, node: Expr) -> str:
        """Integers of 32 bits are plain."""
        match node:
            case Number(size=32, is_parameter=False) if self.constants.get(node.name) != node:
                return str(node.value)
            case Binary() if node.width == 32:
                left, right = self.index(node.left), self.index(node.right)
                inner = isinstance(node.left, Binary) and RANKS[node.left.op] < RANKS[node.op]
                return f"{f'({left})' if inner else left} {node.op} {right}"
        return self.expr(node)

    def bounds(self, node: Range) -> str:
        if node.width == 1:
            return self.index(node.low)
        if isinstance(node.low, Number):
            return f"{node.low.value + node.width - 1}:{node.low.value}"
        return f"{self.index(node.low)} +: {node.width}"

    def concat(self, node: Concat) -> str:
        texts: list[str] = []
        parts = [*node.parts]
        while parts:
            count = next((i for i, item in enumerate(parts) if item != parts[0]), len(parts))
            text = self.expr(parts[0])
            texts.append(f"{{{count}{{{text}}}}}" if count > 1 else text)
            del parts[:count]
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"

    def extended(self, node: SignExtend) -> str:
        value, more = node.value, node.size - node.value.width
        if value.width == 1:
            return f"{{{term(node.size)}{{{self.expr(value)}}}}}"
        first = value.parts[0] if isinstance(value, Concat) else value
        if isinstance(first, Number | Reference):
            return f"{{{{{term(more)}{{{self.expr(_sign(first))}}}}}, {self.expr(value)}}}"
        return f"{term(node.size)}'($signed({self.expr(value)}))"


def _sign(node: Expr) -> Expr:
    if isinstance(node, Range) and not isinstance(node.low, Number):
        return Range(node.base, Binary("+", node.low, Number(node.low.width, node.width - 1)), Vector(1))
    return part(node, node.width - 1, 1)


def instance_name(instance: Instance) -> str:
    """The name of an instance that is in no loop: units[1] of a component is units__1."""
    return "__".join([instance.name, *map(str, instance.place)])


def number(node: Number) -> str:
    """Decimal where a reader would think so; a wide power of two as a shift."""
    if isinstance(node.size, Expression) or isinstance(node.value, Expression):
        # a parameter is signed, a cast keeps that, and Yosys keeps it in a localparam too
        value = f"$unsigned({node.value})" if isinstance(node.value, Expression) else f"'d{node.value}"
        return f"{term(node.size)}'({value})"
    if node.value > 1 << 64 and node.value & node.value - 1 == 0:
        return f"({node.size}'d1 << {node.value.bit_length() - 1})"
    return f"{node.size}'d{node.value}" if node.value < SMALL else f"{node.size}'h{node.value:x}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def head(comment: tuple[str, ...]) -> list[str]:
    """The comment above a module: a paragraph of one line is behind the one before it if it fits there."""
    lines: list[str] = []
    for paragraph in comment:
        more = wrapped(paragraph, "")
        if lines and len(more) == 1 and len(lines[-1]) + len(f"; {paragraph}") <= COLUMNS:
            lines[-1] += f"; {paragraph}"
        else:
            lines += more
    return lines


def fitted(lines: Iterable[str]) -> Iterator[str]:
    """Wrap and break lines that are longer than COLUMNS. A comment that does not fit behind its code is
    above it."""
    for line in lines:
        code, _, comment = line.partition(BEHIND)
        indent = " " * (len(code) - len(code.lstrip()))
        if code.startswith("//", len(indent)):
            yield from wrapped(code.removeprefix(f"{indent}// "), indent)
        elif comment and len(whole := f"{code}  // {comment}") <= COLUMNS:
            yield whole if code.endswith(("(", "{")) else line
        else:
            yield from wrapped(comment, indent)
            yield from _broken(code)


def aligned(lines: Iterable[str]) -> Iterator[str]:
    """Lines with `//` instead of BEHIND, in one column of neighbouring lines if all comments fit there."""
    for is_commented, run in groupby(lines, lambda line: BEHIND in line):
        if not is_commented:
            yield from run
            continue
        parts = [line.split(BEHIND) for line in run]
        column = max(len(code) for code, _ in parts)
        if any(column + len(f"  // {comment}") > COLUMNS for _, comment in parts):
            column = 0
        yield from (f"{code:{column}}  // {comment}" for code, comment in parts)


def wrapped(comment: str, indent: str) -> list[str]:
    """The lines of a comment, `name = value` on one of them."""
    lines = textwrap.wrap(
        comment.replace(" = ", "\0=\0"), COLUMNS - len(f"{indent}// "), break_on_hyphens=False
    )
    return [f"{indent}// {line}".replace("\0", " ") for line in lines]


def _broken(line: str) -> Iterator[str]:
    """A line of code, broken behind the operator or comma that is nested least."""
    indent = len(line) - len(line.lstrip()) + 4
    while len(line) > COLUMNS and (at := _break(line, indent)):
        yield line[:at]
        line = " " * indent + line[at + 1 :]
    yield line


def _break(line: str, indent: int) -> int:
    """The place of a break behind the indentation of the next line; 0 if there is none."""
    depth, best = 0, (1 << 30, 0)
    for at, char in enumerate(line[:COLUMNS]):
        depth += (char in "({[") - (char in ")}]")
        if char == " " and at > indent and line[at - 1] in "&|^+,?:-*":
            best = min(best, (depth, -at))
    return -best[1]
