"""Modules of a class that differ in declared arguments alone, as one module with parameters.

A leaf class declares them, `PARAMETERS = ("ninputs",)`. The trees of its modules are unified at the very end:
each number in which they differ must be an expression of one parameter that is right for all of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from typing import Any, NamedTuple

from .loops import Different
from .simplify import simplified
from .tree import (
    Array,
    Comb,
    Design,
    For,
    Instance,
    Loop,
    Module,
    Number,
    Parameter,
    Seq,
    Vector,
    at_turn,
    compared,
    is_node,
    rebuilt,
)
from .types import without_lists_of_one

STDLIB = {  # parameters of PyMTL3's own classes
    "Mux": ("Type", "ninputs"),
    "RegEn": ("Type",),
    "RegEnRst": ("Type",),
}
MOST = 1 << 31  # of a parameter, which is an int
FACTORS = (1, 2)


class Term(NamedTuple):
    """A parameter, or the bits of an index below it."""

    name: str
    is_log: bool

    def __str__(self) -> str:
        return f"$clog2({self.name})" if self.is_log else self.name

    def at(self, value: int) -> int:
        return max(0, value - 1).bit_length() if self.is_log else value


class Expression(int):
    """A number that prints as `factor * term + offset`. Sums and products with numbers are such again."""

    term: Term
    factor: int
    offset: int

    def __new__(cls, value: int, term: Term, factor: int, offset: int) -> "Expression":
        found = super().__new__(cls, value)
        found.term, found.factor, found.offset = term, factor, offset
        return found

    def at(self, values: Mapping[str, int]) -> int:
        """The number with these values of the parameters."""
        return self.factor * self.term.at(values[self.term.name]) + self.offset

    def __str__(self) -> str:
        term = str(self.term) if self.factor == 1 else f"{self.factor} * {self.term}"
        sign = "-" if self.offset < 0 else "+"
        return f"{term} {sign} {abs(self.offset)}" if self.offset else term

    __repr__ = __str__

    def __format__(self, _: str) -> str:
        return str(self)

    def __add__(self, other: int) -> int:
        if not isinstance(other, Expression):
            return Expression(int(self) + other, self.term, self.factor, self.offset + other)
        if other.term != self.term:
            raise Different
        value, factor = int(self) + int(other), self.factor + other.factor
        return Expression(value, self.term, factor, self.offset + other.offset) if factor else value

    __radd__ = __add__

    def __mul__(self, other: int) -> int:
        return Expression(int(self) * other, self.term, self.factor * other, self.offset * other)

    __rmul__ = __mul__

    def __sub__(self, other: int) -> int:
        return self + -1 * other

    def __rsub__(self, other: int) -> int:
        return -1 * self + other


def with_parameters(design: Design) -> Design:
    """The design with one module for several of a class that unify."""
    modules = {module.name: module for module in design.modules}
    settings: dict[str, tuple[str, tuple[tuple[str, Any], ...]]] = {}
    for group in _groups(design.modules[1:]):
        try:
            whole, values = unified(group)
        except Different:
            continue
        for module, given in zip(group, values, strict=True):
            settings[module.name] = whole.name, given
            del modules[module.name]
        modules[whole.name] = whole

    def change(node: Any) -> Any:
        if isinstance(node, Instance) and node.module in settings:
            name, given = settings[node.module]
            return replace(node, module=name, parameters=given)
        return None

    order = dict.fromkeys(settings.get(module.name, (module.name,))[0] for module in design.modules)
    found = (modules[name] for name in order)
    return Design(tuple(replace(module, items=rebuilt(module.items, change)) for module in found))


def settled(design: Design) -> Design:
    """The design with lists of one element as that element, and loops of one turn as their body, but where
    other modules with these parameters have more."""
    general: set[str] = set()
    for group in _groups(design.modules[1:]):
        try:
            whole, _ = unified(group)
        except Different:
            continue
        if not _has_single(whole):
            general |= {module.name for module in group}
    return Design(tuple(module if module.name in general else _plain(module) for module in design.modules))


def _plain(module: Module) -> Module:
    plain = without_lists_of_one(replace(module, items=tuple(_unrolled(module.items))))
    return module if plain == module else simplified(plain)


def _unrolled(items: Iterable[Any]) -> Iterator[Any]:
    """Items or statements without loops of at most one turn."""
    for item in items:
        if isinstance(item, For | Loop):
            turns = range(item.count) if isinstance(item, Loop) else range(item.start, item.end, item.step)
            body = item.items if isinstance(item, Loop) else item.body
            if len(turns) == 1:
                yield from _unrolled(at_turn(body, item.turn, turns[0]))
                continue
            if not turns:
                continue
        elif isinstance(item, Comb | Seq):
            item = replace(item, body=tuple(_unrolled(item.body)))
        yield item


def _has_single(tree: Any) -> bool:
    """Whether lists have one element, or loops one turn, for all values of the parameters."""
    if isinstance(tree, tuple):
        return any(map(_has_single, tree))
    if not is_node(tree):
        return False
    size = {Array: "size", Loop: "count", For: "end"}.get(type(tree))
    if size and getattr(tree, size) <= 1 and not isinstance(getattr(tree, size), Expression):
        return True
    return any(_has_single(getattr(tree, name)) for name in compared(tree))


def _groups(modules: Sequence[Module]) -> list[list[Module]]:
    """Modules of a class with the same trees but for numbers."""
    found: dict[Any, list[Module]] = {}
    for module in modules:
        if module.declared:
            key = module.kind, _shape((module.types, module.ports, module.nets, module.items))
            found.setdefault(key, []).append(module)
    return [group for group in found.values() if len(group) > 1]


def _shape(tree: Any) -> Any:
    """A tree without its numbers."""
    if isinstance(tree, int):
        return None
    if isinstance(tree, tuple):
        return tuple(map(_shape, tree))
    if is_node(tree):
        return type(tree), tuple(_shape(getattr(tree, item.name)) for item in fields(tree))
    return tree


def unified(modules: Sequence[Module]) -> tuple[Module, list[tuple[tuple[str, Any], ...]]]:
    """One module, and the values of its parameters for each of these; Different if there is none."""
    unifier = _Unifier([_numbers(module) for module in modules])
    first = modules[0]
    parts = {
        name: unifier.tree([getattr(module, name) for module in modules])
        for name in ("ports", "nets", "items")
    }
    if any(module.types != first.types for module in modules):
        raise Different
    comment = tuple(line for line in first.comment if all(line in module.comment for module in modules))
    used = [name for name in unifier.given if name in unifier.used]
    parameters = [Parameter(name, None, unifier.given[name][0]) for name in used]
    parameters += [Parameter(name, kind, values[0]) for name, (kind, values) in unifier.constants.items()]
    names = {parameter.name for parameter in parameters}
    signals = {item.name for item in first.signals}
    if names & signals:
        raise Different
    values = [
        (
            *((name, unifier.given[name][at]) for name in used),
            *((name, replace(found[at], name="")) for name, (_, found) in unifier.constants.items()),
        )
        for at in range(len(modules))
    ]
    return replace(first, comment=comment, parameters=tuple(parameters), **parts), values


def _numbers(module: Module) -> dict[str, int]:
    """The declared arguments of a module as numbers, the width of a type of bits too."""
    found = {}
    for name, value in module.arguments:
        if name in module.declared:
            number = getattr(value, "nbits", value)
            if isinstance(number, int) and number < MOST:
                found["NBITS" if name == "Type" else name.upper()] = number
    return found


class _Unifier:
    """given: the parameters with their values; constants: named ones that no expression gives."""

    def __init__(self, numbers: list[dict[str, int]]) -> None:
        self.given = {name: [found[name] for found in numbers] for name in numbers[0]}
        self.used: set[str] = set()
        self.constants: dict[str, tuple[Vector, list[Number]]] = {}

    def tree(self, trees: list[Any]) -> Any:
        first = trees[0]
        if all(tree == first for tree in trees[1:]):
            return first
        if any(type(tree) is not type(first) for tree in trees):
            raise Different
        if isinstance(first, int):
            return self.number(trees)
        if isinstance(first, tuple):
            return tuple(self.tree([*items]) for items in zip(*trees, strict=True))
        if isinstance(first, Number):
            return self.constant(trees)
        if not is_node(first):
            raise Different
        names = compared(first)
        return replace(first, **{name: self.tree([getattr(tree, name) for tree in trees]) for name in names})

    def constant(self, trees: list[Number]) -> Number:
        """A number, or the constant of this name as a parameter of its own."""
        first = trees[0]
        size = self.tree([tree.size for tree in trees])
        try:
            value = self.tree([tree.value for tree in trees])
            if max(tree.value for tree in trees) >= 1 << 32:
                raise Different
        except Different:
            name = first.name
            if not name or name in self.given or any(tree.name != name for tree in trees):
                raise
            found = Vector(size), trees
            if self.constants.setdefault(name, found) != found:
                raise
            return replace(first, size=size, is_parameter=True)
        return Number(size, value, "" if first.name in self.given else first.name)

    def number(self, values: list[int]) -> int:
        """The simplest expression that is all of these."""
        found = []
        for (name, given), is_log, factor in product(self.given.items(), (False, True), FACTORS):
            term = Term(name, is_log)
            offsets = {value - factor * term.at(at) for value, at in zip(values, given, strict=True)}
            if len(offsets) == 1:
                offset = offsets.pop()
                found.append((abs(offset), is_log, factor, term, offset))
        if not found:
            raise Different
        _, _, factor, term, offset = min(found)
        self.used.add(term.name)
        return Expression(values[0], term, factor, offset)


def instantiated(tree: Any, values: Mapping[str, Any]) -> Any:
    """A tree with these values of the parameters, to be compared with one that is read."""
    if isinstance(tree, Expression):
        return tree.at(values)
    if isinstance(tree, tuple):
        return tuple(instantiated(item, values) for item in tree)
    if isinstance(tree, Number) and tree.is_parameter:
        return values[tree.name]
    if is_node(tree):
        return replace(tree, **{name: instantiated(getattr(tree, name), values) for name in compared(tree)})
    return tree
