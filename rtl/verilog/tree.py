"""The tree of a design: types, expressions, statements, modules.

All nodes are frozen, so that equal hardware is equal trees; every expression knows its width. No node knows
PyMTL3 or the layout of the text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from typing import Any

# ---- comments


@dataclass(frozen=True, order=True)
class Heading:
    """A comment on several nodes: the first item of a module that has it is below it, else the first
    declaration."""

    line: int  # of the source
    text: str


@dataclass(frozen=True)
class Comment:
    """Comments of one node, paragraph by paragraph."""

    headings: tuple[Heading, ...] = ()
    above: tuple[str, ...] = ()
    behind: str = ""  # its first line

    def __add__(self, other: Comment) -> Comment:
        """Both, the second text behind a line above it."""
        more = (other.behind,) if self.behind and other.behind else ()
        return Comment(
            tuple(dict.fromkeys((*self.headings, *other.headings))),
            (*self.above, *other.above, *more),
            self.behind or other.behind,
        )


@dataclass(frozen=True)
class Commented:
    """A node with comments, which do not count when nodes are compared."""

    comment: Comment = field(default=Comment(), compare=False, kw_only=True)

    @cached_property
    def reads(self) -> tuple[Reference, ...]:
        """The outermost references that it reads."""
        return tuple(_reads(self))

    @cached_property
    def writes(self) -> tuple[Reference, ...]:
        """The references to which it assigns."""
        return tuple(_writes(self))


# ---- types


@dataclass(frozen=True)
class Vector:
    width: int


@dataclass(frozen=True)
class Enum:
    name: str
    width: int
    members: tuple[tuple[str, int], ...]  # their names in Verilog
    is_codes: bool = False  # of an IntEnum

    def member(self, value: int) -> str | None:
        return next((name for name, code in self.members if code == value), None)


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple[tuple[str, Type], ...]  # the most significant first
    constants: tuple[tuple[str, int], ...] = field(default=(), compare=False)  # values of some fields

    @property
    def width(self) -> int:
        return sum(kind.width for _, kind in self.fields)

    def low(self, name: str) -> int:
        """The place of the lowest bit of a field."""
        names = [field for field, _ in self.fields]
        return sum(kind.width for _, kind in self.fields[names.index(name) + 1 :])


@dataclass(frozen=True)
class Array:
    """A packed array; not packed: the nets of a list of instances, whose elements are apart."""

    size: int
    element: Type
    packed: bool = True

    @property
    def width(self) -> int:
        return self.size * self.element.width

    def elements(self) -> int:
        """How many elements are apart from each other."""
        inner = self.element.elements() if isinstance(self.element, Array) else 1
        return 1 if self.packed else self.size * inner


Type = Vector | Enum | Struct | Array

# ---- expressions


@dataclass(frozen=True)
class Expr:
    """An expression, whose width is known."""

    @property
    def width(self) -> int:
        raise NotImplementedError


class Typed(Expr):
    """An expression of any type; the others are vectors."""

    type: Type

    @property
    def width(self) -> int:
        return self.type.width


@dataclass(frozen=True)
class Number(Expr, Commented):
    size: int
    value: int
    name: str = field(default="", compare=False)  # of the constant in the source
    is_parameter: bool = field(default=False, compare=False)

    @property
    def width(self) -> int:
        return self.size


@dataclass(frozen=True)
class Member(Typed):
    """A value of an enumeration."""

    type: Enum
    name: str

    @property
    def value(self) -> int:
        return dict(self.type.members)[self.name]


@dataclass(frozen=True)
class Turn(Typed):
    """The variable of a loop, an integer of 32 bits."""

    name: str
    type: Vector = Vector(32)


@dataclass(frozen=True)
class Name(Typed):
    name: str
    type: Type


@dataclass(frozen=True)
class Field(Typed):
    base: Typed
    name: str
    type: Type

    @property
    def struct(self) -> Struct:
        """The type of which this is a field."""
        assert isinstance(self.base.type, Struct)
        return self.base.type


@dataclass(frozen=True)
class Element(Typed):
    base: Typed
    index: Expr
    type: Type

    @property
    def array(self) -> Array:
        """The type of which this is an element."""
        assert isinstance(self.base.type, Array)
        return self.base.type


@dataclass(frozen=True)
class Range(Typed):
    """Neighbouring bits of a vector, from `low` on."""

    base: Expr
    low: Expr
    type: Vector


@dataclass(frozen=True)
class Concat(Expr):
    parts: tuple[Expr, ...]  # the most significant first

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)


@dataclass(frozen=True)
class Pattern(Expr):
    """A label of a case, in which a bit may be `?`."""

    size: int
    digits: str
    is_decimal: bool = False

    @property
    def width(self) -> int:
        return self.size

    @property
    def has_wildcards(self) -> bool:
        return "?" in self.digits

    @property
    def text(self) -> str:
        return f"{self.size}'d{int(self.digits, 2)}" if self.is_decimal else f"{self.size}'b{self.digits}"


@dataclass(frozen=True)
class Cast(Expr):
    """Extended by zeros, or truncated."""

    size: int
    value: Expr

    @property
    def width(self) -> int:
        return self.size


@dataclass(frozen=True)
class SignExtend(Cast):
    pass


@dataclass(frozen=True)
class Unary(Expr):
    op: str
    value: Expr
    reduces: bool = False

    @property
    def width(self) -> int:
        return 1 if self.reduces else self.value.width


COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr

    @property
    def width(self) -> int:
        return 1 if self.op in COMPARISONS else self.left.width


@dataclass(frozen=True)
class Mux(Expr):
    condition: Expr
    then: Expr
    other: Expr

    @property
    def width(self) -> int:
        return self.then.width


Selection = Field | Element | Range
Reference = Name | Selection

# ---- statements


@dataclass(frozen=True)
class Assign(Commented):
    """In a block; as an item of a module it is continuous."""

    target: Reference
    value: Expr
    block: str = field(default="", compare=False)  # the update block that it was


@dataclass(frozen=True)
class If(Commented):
    condition: Expr
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True)
class Case(Commented):
    subject: Expr
    branches: tuple[tuple[Expr, tuple[Statement, ...]], ...]
    default: tuple[Statement, ...]
    is_unique: bool = False  # a choice by state


@dataclass(frozen=True)
class For(Commented):
    turn: Turn
    start: int
    end: int
    step: int
    body: tuple[Statement, ...]


Statement = Assign | If | Case | For

# ---- modules


@dataclass(frozen=True)
class Port(Commented):
    name: str
    type: Type
    is_input: bool
    unread: str = field(default="", compare=False)  # the reason why the module need not read it
    is_latch: bool = False  # an output of flip-flops that synthesis makes latches
    attribute: str = ""  # a comment of its declaration that a tool reads


@dataclass(frozen=True)
class Net(Commented):
    name: str
    type: Type
    of_pins: bool = False  # made for the pins of an instance, or of a list of them
    attribute: str = ""  # as that of a port


@dataclass(frozen=True)
class Pin(Commented):
    port: str
    is_input: bool
    value: Expr | None


@dataclass(frozen=True)
class Instance(Commented):
    module: str
    name: str
    place: tuple[int, ...]  # in a list of instances
    pins: tuple[Pin, ...]
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Comb(Commented):
    name: str
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Seq(Commented):
    name: str
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop(Commented):
    name: str
    turn: Turn
    count: int
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Assertion(Commented):
    """words: the text between which its signals and states are."""

    name: str
    words: tuple[str | Name | Member | Number, ...]
    is_held: bool


@dataclass(frozen=True)
class Unused(Commented):
    """Signals, or parts of them, that are not read, by the reason; they are read for the sake of lint."""

    signals: tuple[tuple[str, tuple[Reference, ...]], ...]


Item = Instance | Assign | Comb | Seq | Loop | Assertion | Unused


@dataclass(frozen=True)
class Parameter:
    """A parameter of a module: a number, or a constant of this type."""

    name: str
    type: Vector | None
    value: int | Number


@dataclass(frozen=True)
class Module:
    name: str = field(compare=False)
    comment: tuple[str, ...] = field(compare=False)  # its paragraphs
    types: tuple[Enum, ...]  # declared inside
    ports: tuple[Port, ...]
    nets: tuple[Net, ...]
    items: tuple[Item, ...]
    kind: str = field(default="", compare=False)  # the name of its class
    arguments: tuple[tuple[str, Any], ...] = field(default=(), compare=False)  # of its construction
    declared: tuple[str, ...] = field(default=(), compare=False)  # those that are parameters
    parameters: tuple[Parameter, ...] = ()

    @property
    def signals(self) -> tuple[Port | Net, ...]:
        return (*self.ports, *self.nets)

    @cached_property
    def is_clocked(self) -> bool:
        return any(isinstance(item, Seq) for item in walk(self.items))

    @cached_property
    def instances(self) -> tuple[Instance, ...]:
        """Its instances, with those in loops."""
        return tuple(_instances(self.items))


@dataclass(frozen=True)
class Design:
    modules: tuple[Module, ...]  # the top comes first, parts after what they are part of

    @property
    def top(self) -> Module:
        return self.modules[0]


def _instances(items: tuple[Item, ...]) -> Iterator[Instance]:
    for item in items:
        if isinstance(item, Instance):
            yield item
        elif isinstance(item, Loop):
            yield from _instances(item.items)


# ---- walks


PLAIN = ("int", "str", "bool")  # types of fields without nodes


@cache
def _children(kind: type) -> tuple[str, ...] | None:
    """The fields of a kind of node that may hold nodes; None for anything else."""
    if not hasattr(kind, "__dataclass_fields__"):
        return None
    skipped = ("type", "comment")
    return tuple(item.name for item in fields(kind) if item.name not in skipped and item.type not in PLAIN)


def is_node(value: Any) -> bool:
    return _children(value.__class__) is not None


def compared(node: Any) -> list[str]:
    """The names of the fields that count when nodes are compared."""
    return [item.name for item in fields(node) if item.compare]


def inside(node: Any) -> list[Any]:
    """The fields of a node that hold other nodes."""
    return [getattr(node, name) for name in _children(node.__class__) or ()]


def walk(node: Any, below: Callable[[Any], list[Any]] = inside) -> Iterator[Any]:
    """A node, or several, and all that is in them; below: where to go on from a node."""
    ahead = [node]
    while ahead:
        node = ahead.pop()
        if node.__class__ is tuple:
            ahead += node[::-1]
        elif _children(node.__class__) is not None:
            yield node
            ahead += below(node)[::-1]


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """A copy in which `change` has replaced nodes, from the outside: it returns None for one to descend
    into."""
    if node.__class__ is tuple:
        items = tuple([rebuilt(item, change) for item in node])
        return node if all(map(operator.is_, items, node)) else items
    names = _children(node.__class__)
    if names is None:
        return node
    if (new := change(node)) is not None:
        return new
    found = {}
    for name in names:
        before = getattr(node, name)
        after = rebuilt(before, change)
        if after is not before:
            found[name] = after
    return replace(node, **found) if found else node


def at_turn(node: Any, turn: Turn, number: int) -> Any:
    """Statements, items or an expression at one turn of a loop."""
    return rebuilt(node, lambda found: Number(turn.width, number) if found == turn else None)


def commented(body: tuple[Any, ...], comment: Comment) -> tuple[Any, ...]:
    """Statements or items of which the first has one more comment."""
    if not body or comment == Comment():
        return body
    first, *others = body
    return (replace(first, comment=comment + first.comment), *others)


def type_of(node: Expr | None) -> Type | None:
    """The type of an expression that has one."""
    return node.type if isinstance(node, Typed) else None


def signal_of(node: Expr | None) -> Name | None:
    """The signal that a reference is, or is a part of."""
    while isinstance(node, Selection):
        node = node.base
    return node if isinstance(node, Name) else None


def root(node: Expr | None) -> str:
    """The name of the signal of a reference; empty for other expressions."""
    signal = signal_of(node)
    return signal.name if signal else ""


def read_in(node: Any) -> Iterator[Reference]:
    """The outermost references that expressions, statements or items read."""
    for item in node if isinstance(node, tuple) else (node,):
        yield from item.reads if isinstance(item, Commented) else _reads(item)


def written_in(node: Any) -> Iterator[Reference]:
    """The references to which statements or items assign."""
    for item in node if isinstance(node, tuple) else (node,):
        if isinstance(item, Commented):
            yield from item.writes


def _reads(node: Any) -> Iterator[Reference]:
    return (found for found in walk(node, _below_reads) if isinstance(found, Reference))


def _below_reads(node: Any) -> list[Any]:
    """The parts of a node that it reads: of a target, an output pin or a reference the indices alone."""
    match node:
        case Assign():
            return [node.value, *indices_of(node.target)]
        case Pin():
            return [node.value] if node.is_input else indices_of(node.value)
        case Name() | Field() | Element() | Range():
            return indices_of(node)
    return inside(node)


def _writes(node: Any) -> Iterator[Reference]:
    for found in walk(node, lambda node: [] if isinstance(node, Expr | Assign | Pin) else inside(node)):
        if isinstance(found, Assign):
            yield found.target
        elif isinstance(found, Pin) and not found.is_input and isinstance(found.value, Reference):
            yield found.value


def indices_of(node: Expr | None) -> list[Expr]:
    """The indices of a reference, from the last on."""
    found: list[Expr] = []
    while isinstance(node, Selection):
        if not isinstance(node, Field):
            found.append(node.index if isinstance(node, Element) else node.low)
        node = node.base
    return found


def bits_of(node: Expr) -> tuple[int, int]:
    """The lowest bit and the number of bits that a reference may read of its signal."""
    if isinstance(node, Name):
        return 0, node.width
    assert isinstance(node, Selection)
    low, width = bits_of(node.base)
    if width != node.base.width:
        return low, width  # a variable has selected
    if isinstance(node, Field):
        return low + node.struct.low(node.name), node.width
    place = node.index if isinstance(node, Element) else node.low
    if not isinstance(place, Number):
        return low, width
    return low + place.value * (node.width if isinstance(node, Element) else 1), node.width


def mask_of(node: Expr) -> int:
    """A one for each bit that a reference may read of its signal."""
    low, width = bits_of(node)
    return (1 << width) - 1 << low


def truncated(value: int, width: int, name: str = "") -> Number:
    """The low bits of an integer."""
    return Number(width, value & (1 << width) - 1, name)


def value_of(node: Expr) -> int:
    """The value of a number."""
    assert isinstance(node, Number)
    return node.value


def element(base: Expr, index: Expr) -> Expr:
    """An element of an array, or a bit of a vector."""
    if isinstance(base, Typed) and isinstance(base.type, Array):
        return Element(base, index, base.type.element)
    if isinstance(index, Number):
        bit = part(base, index.value, 1)
        return replace(bit, low=index) if isinstance(bit, Range) and bit.base == base else bit
    return base if base.width == 1 else Range(base, index, Vector(1))


def part(base: Expr, low: int, width: int) -> Expr:
    """Bits of an expression that is a vector."""
    if (low, width) == (0, base.width):
        return base
    if isinstance(base, Number):
        return truncated(base.value >> low, width)
    if isinstance(base, Range) and isinstance(base.low, Number):
        return part(base.base, base.low.value + low, width)
    return Range(base, Number(32, low), Vector(width))
