"""The names of a component: its attributes, the ports of its children, and their types.

A port of a child is the signal `child__port`; lists of children, of interfaces and of signals are arrays, the
outermost list first.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import IntEnum
from itertools import chain, count
from typing import Any

from pymtl3 import Component
from pymtl3.datatypes import Bits, is_bitstruct_class
from pymtl3.dsl import Const, Interface, Signal
from pymtl3.passes.rtlir import BehavioralRTLIR as bir

from .source_comments import comments_of
from .tree import (
    Array,
    Enum,
    Expr,
    Field,
    Member,
    Name,
    Number,
    Struct,
    Type,
    Typed,
    Vector,
    element,
    part,
    value_of,
)

WORDS_OF_CPP = (
    " asm auto bool catch char delete double explicit export friend goto inline long mutable namespace "
    "operator private protected public short sizeof template this throw try typename using volatile "
)


def field_name(name: str) -> str:
    """Verilator warns of fields with names that C++ reserves."""
    return f"{name}_" if f" {name} " in WORDS_OF_CPP else name


def snake(name: str) -> str:
    """ModExpReq_8 as mod_exp_req_8."""
    words = (
        f"_{c.lower()}" if c.isupper() and not p.isupper() and p != "_" else c.lower()
        for p, c in zip(f"_{name}", name, strict=False)
    )
    return "".join(words)


class Types:
    """The types of a design, each made once."""

    def __init__(self) -> None:
        self._made: dict[Any, Type] = {}
        self.constants: dict[tuple[str, str], Number] = {}  # fields that are not declared

    def of(self, kind: Any) -> Type:
        """The type of Bits, of a message, or of a list of them in a message."""
        if isinstance(kind, list):
            return Array(len(kind), self.of(kind[0]))
        return self.struct(kind) if is_bitstruct_class(kind) else Vector(kind.nbits)

    def struct(self, kind: Any) -> Struct:
        if kind not in self._made:
            enums, constants = getattr(kind, "ENUMS", {}), getattr(kind, "CONSTANTS", {})
            fields = tuple(
                (
                    field_name(name),
                    self.enum(f"{name}_e", enums[name], self.of(field).width)
                    if name in enums
                    else self.of(field),
                )
                for name, field in kind.__bitstruct_fields__.items()
                if name not in constants
            )
            made = Struct(self.new_name(snake(kind.__name__), "_t"), fields)
            for name, value in constants.items():
                number = Number(self.of(kind.__bitstruct_fields__[name]).width, value, name)
                self.constants[made.name, field_name(name)] = number
            self._made[kind] = made
        found = self._made[kind]
        assert isinstance(found, Struct)
        return found

    def new_name(self, name: str, end: str) -> str:
        """The name of a type; a number tells classes of one name apart."""
        taken = {made.name for made in self._made.values() if isinstance(made, Enum | Struct)}
        numbered = (f"{name}_{number}{end}" for number in count(2))
        return next(found for found in chain([f"{name}{end}"], numbered) if found not in taken)

    def codes(self, kind: type[IntEnum], width: int) -> Enum | None:
        """An IntEnum of constants, of the width that it has first."""
        if kind not in self._made:
            name = self.new_name(snake(kind.__name__), "_e")
            self._made[kind] = replace(self.enum(name, kind.__members__, width), is_codes=True)
        made = self._made[kind]
        return made if isinstance(made, Enum) and made.width == width else None

    def enum(self, name: str, members: Any, width: int) -> Enum:
        """members: their names from 0 on, or with their values."""
        prefix = name.removesuffix("_e").upper()
        values = members if isinstance(members, Mapping) else {member: i for i, member in enumerate(members)}
        codes = {
            f"{prefix}_{member.removeprefix(f'{prefix}_')}".upper(): int(value)
            for member, value in values.items()
        }
        return Enum(name, width, tuple(codes.items()))


class Scope:
    """The signals of a component as its module sees them."""

    def __init__(self, component: Component, types: Types, states: Any) -> None:
        self.component, self.types = component, types
        self.comments = comments_of(component)
        self._types: dict[str, Type] = {}  # of signals
        self.temporaries: dict[str, Type] = {}
        self.apart: set[str] = set()  # lists of different children, whose elements have names of their own
        self.state: Enum | None = None
        if states.codes:
            first = next(iter(states.codes.values()))
            self.state = types.codes(type(first), states.nbits) if isinstance(first, IntEnum) else None
            self.state = self.state or Enum("state_e", states.nbits, tuple(states.codes.items()))
        self._states = states

    def type_of(self, signal: Signal, name: str) -> Type:
        if self.state and name in self._states.signals:
            return self.state
        return self.types.of(signal._dsl.Type)

    def signals(
        self, owner: Any, prefix: str = "", sizes: tuple[int, ...] = ()
    ) -> Iterator[tuple[str, Type, Any]]:
        """The signals of a component or an interface: name, type, and one that stands for a list."""
        for name, value in vars(owner).items():
            if not name.startswith("_"):
                value, more = first_of(value)
                if isinstance(value, Interface):
                    yield from self.signals(value, f"{prefix}{name}__", sizes + more)
                elif isinstance(value, Signal):
                    kind = (
                        self.type_of(value, name)
                        if owner is self.component
                        else self.types.of(value._dsl.Type)
                    )
                    for size in reversed(sizes + more):
                        kind = Array(size, kind)
                    yield f"{prefix}{name}", kind, value

    def children(self) -> Iterator[tuple[str, tuple[int, ...], Component]]:
        """Name, place in a list, and component."""
        for name, value in vars(self.component).items():
            if not name.startswith("_"):
                for place, child in places(value):
                    if isinstance(child, Component):
                        yield name, place, child

    def declare(self, name: str, kind: Type) -> None:
        self._types[name] = kind

    def signal(self, name: str) -> Name | None:
        return Name(name, self._types[name]) if name in self._types else None

    def state_named(self, name: str) -> Member | None:
        """A state by its name in the source."""
        if self.state is None or name not in self._states.codes:
            return None
        member = self.state.member(int(self._states.codes[name]))
        return Member(self.state, member) if member else None

    def temporary(self, block: str, name: str, width: int) -> Name:
        found = f"{block}_{name}"
        self.temporaries.setdefault(found, Vector(width))
        return Name(found, self.temporaries[found])

    # ---- references

    def end(self, signal: Any) -> Expr:
        """An end of a connection."""
        if isinstance(signal, Const):
            value = signal._dsl.const
            if not isinstance(value, int | Bits):
                value = value.to_bits()
            return Number(getattr(value, "nbits", 0), int(value))
        bits = signal._dsl.slice if signal.is_sliced_signal() else None
        steps = []
        at = signal.get_parent_object() if bits else signal
        while at is not self.component:
            steps.append((at._dsl._my_name, [*(at._dsl._my_indices or ())]))
            at = at.get_parent_object()
        found = self.path(steps[::-1], lambda index: Number(32, index))
        return part(found, bits.start, bits.stop - bits.start) if bits else found

    def path(self, steps: list[tuple[str, list[Any]]], index: Callable[[Any], Expr]) -> Expr:
        """Names and indices, from the component on."""
        name, at = "", 0
        indices: list[Any] = []
        while name not in self._types:
            step, more = steps[at]
            if step in self.apart:
                step, more = "__".join([step, *(str(value_of(index(item))) for item in more)]), []
            name, indices, at = f"{name}__{step}" if name else step, [*indices, *more], at + 1
        found: Expr = Name(name, self._types[name])
        for item in indices:
            found = element(found, index(item))
        for step, more in steps[at:]:
            step = field_name(step)
            assert isinstance(found, Typed) and isinstance(found.type, Struct)
            constant = self.types.constants.get((found.type.name, step))
            found = constant or Field(found, step, dict(found.type.fields)[step])
            for item in more:
                found = element(found, index(item))
        return found

    def attribute(self, node: Any, index: Callable[[Any], Expr]) -> Expr:
        """A signal in an update block."""
        steps: list[tuple[str, list[Any]]] = []
        indices: list[Any] = []
        while not isinstance(node, bir.Base):
            if isinstance(node, bir.Index):
                indices.insert(0, node.idx)
            else:
                steps.append((node.attr, indices))
                indices = []
            node = node.value
        return self.path(steps[::-1], index)

    def is_signal(self, node: Any) -> bool:
        """Whether this is a signal, or a part of one that names and indices select."""
        while isinstance(node, bir.Attribute | bir.Index):
            node = node.value
        return isinstance(node, bir.Base)


def first_of(value: Any) -> tuple[Any, tuple[int, ...]]:
    """The first in a list of lists, and their lengths."""
    sizes: tuple[int, ...] = ()
    while isinstance(value, list) and value:
        value, sizes = value[0], (*sizes, len(value))
    return value, sizes


def places(value: Any, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Any]]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, (*at, i))
    else:
        yield at, value
