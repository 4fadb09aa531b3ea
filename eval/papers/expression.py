"""Arithmetic expressions over named values, used by the constraints of a space: "nstages * steps_per_stage <=
32".

Python's own syntax, of which arithmetic, comparisons, `and`, `or`, `not`, `in`, and a few functions are
allowed: the text is parsed (ast) and walked, never executed. A name may have a dot, as in energy_nj.decrypt.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...fl.errors import BadInput, unknown

MOST_CHARACTERS = 500
MOST_EXPONENT = 10_000  # 2 ** nbits is wanted, a number that fills the memory is not
MOST_BITS = 100_000

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda value, group: value in group,
    ast.NotIn: lambda value, group: value not in group,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "bits": lambda value: operator.index(value).bit_length(),
    "words": lambda value, nbits: -(-operator.index(value).bit_length() // nbits),
    "inverse": lambda value, modulus: pow(value, -1, modulus),
    "pow": lambda value, exponent, modulus: pow(value, operator.index(exponent), operator.index(modulus)),
}
WORDS = {"true": True, "false": False}  # as TOML and the command line have them
ALLOWED = "numbers, words in quotes, names, + - * / // % **, comparisons, in, and, or, not, " + ", ".join(
    FUNCTIONS
)


@dataclass(frozen=True)
class Expression:
    """An expression that has been checked: nothing in it but what may be."""

    text: str

    def __post_init__(self) -> None:
        self._check(self._tree)

    @cached_property
    def _tree(self) -> ast.expr:
        if len(self.text) > MOST_CHARACTERS:
            raise BadInput(f"expression of {len(self.text)} characters; give at most {MOST_CHARACTERS}")
        try:
            return ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise BadInput(f'expression "{self.text}": {reason}; write it as in "nbits <= 64"') from None

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of values in it."""
        return frozenset(_names(self._tree))

    def require(self, known: Collection[str]) -> None:
        """BadInput, with the nearest one, for a name that is not known."""
        for name in sorted(self.names):
            if name not in known:
                raise unknown(f'name in the expression "{self.text}":', name, sorted(known))

    def value(self, values: Mapping[str, Any]) -> Any:
        """The expression's value; all of its names must be there. BadInput where there is none (1 / 0)."""
        try:
            return _value(self._tree, values)
        except (ArithmeticError, TypeError, ValueError) as error:
            given = ", ".join(f"{name} = {values[name]}" for name in sorted(self.names))
            raise BadInput(f'expression "{self.text}" has no value for {given}: {error}') from None

    def _refuse(self, what: str) -> BadInput:
        return BadInput(f'expression "{self.text}": {what} is not possible here; there are {ALLOWED}')

    def _check(self, node: ast.expr) -> None:
        """Refuse whatever is not listed above."""
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, (int, float, str)):
                raise self._refuse(repr(node.value))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            if _dotted(node) is None:
                raise self._refuse(ast.unparse(node))
        else:
            for child in self._children(node):
                self._check(child)

    def _children(self, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            return [node.left, node.right]
        if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            return [node.operand]
        if isinstance(node, ast.BoolOp):
            return node.values
        if isinstance(node, ast.Compare) and all(type(op) in COMPARE for op in node.ops):
            return [node.left, *node.comparators]
        if isinstance(node, (ast.List, ast.Tuple)):
            return node.elts
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id not in FUNCTIONS:
                raise unknown(f'function in the expression "{self.text}":', node.func.id, FUNCTIONS)
            return node.args
        raise self._refuse(ast.unparse(node))


def _dotted(node: ast.expr) -> str | None:
    """A name, or one with a dot."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return None


def _names(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = _dotted(node)
        return set() if name is None or name in WORDS else {name}
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.Call):
        children = iter(node.args)
    return {name for child in children for name in _names(child)}


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = _dotted(node)
        assert name is not None
        return values[name] if name in values else WORDS[name]
    if isinstance(node, ast.BoolOp):
        last: Any = None
        for value in node.values:
            last = _value(value, values)
            if bool(last) is isinstance(node.op, ast.Or):
                break
        return last
    if isinstance(node, ast.UnaryOp):
        return UNARY[type(node.op)](_value(node.operand, values))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, values), _value(node.right, values)
        return _bounded(node.op, left, right)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(elt, values) for elt in node.elts]
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        return FUNCTIONS[node.func.id](*(_value(arg, values) for arg in node.args))
    assert isinstance(node, ast.Compare)
    left = _value(node.left, values)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, values)
        if not COMPARE[type(op)](left, right):
            return False
        left = right
    return True


def _bounded(op: ast.operator, left: Any, right: Any) -> Any:
    """An operation on two numbers, whose result fits in a computer; words and lists only compare."""
    if not all(isinstance(item, (int, float)) for item in (left, right)):
        raise TypeError("words and lists can only be compared")
    if isinstance(op, ast.Pow) and abs(right) > MOST_EXPONENT:
        raise ValueError(f"an exponent of {right}; give at most {MOST_EXPONENT}")
    sizes = [value.bit_length() for value in (left, right) if isinstance(value, int)]
    if isinstance(op, ast.Pow) and isinstance(left, int) and left.bit_length() * right > MOST_BITS:
        raise ValueError(f"a number of more than {MOST_BITS} bits")
    if isinstance(op, ast.Mult) and sum(sizes) > MOST_BITS:
        raise ValueError(f"a number of more than {MOST_BITS} bits")
    return BINARY[type(op)](left, right)
