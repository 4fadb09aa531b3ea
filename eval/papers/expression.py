"""Arithmetic expressions over named values, for example the constraint "nstages * steps_per_stage <= 32" of a
space.

The syntax is a subset of Python: arithmetic, comparisons, `and`, `or`, `not`, `in` and a few functions. The
text is parsed with `ast` and interpreted, never executed. A name may contain a dot, as in energy_nj.decrypt.
"""

import ast
import itertools
import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...fl.errors import BadInput, unknown

Values = Mapping[str, Any]
Compiled = Callable[[Values], Any]  # a part of an expression
MOST_CHARACTERS = 500
MOST_EXPONENT = 10_000  # allows 2 ** nbits, but no number that fills the memory
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
WORDS = {"true": True, "false": False}  # as in TOML and on the command line
ALLOWED = "numbers, words in quotes, names, + - * / // % **, comparisons, in, and, or, not, " + ", ".join(
    FUNCTIONS
)


class Expression:
    """A checked expression, which contains only allowed syntax. `names`: the names of its values."""

    def __init__(self, text: str) -> None:
        self.text, self.names = text, set[str]()
        if len(text) > MOST_CHARACTERS:
            raise BadInput(f"expression of {len(text)} characters; give at most {MOST_CHARACTERS}")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            raise BadInput(f'expression "{text}": {reason}; write it as in "nbits <= 64"') from None
        self._value = self._compiled(tree)

    def __reduce__(self) -> "tuple[type[Expression], tuple[str]]":
        return Expression, (self.text,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def require(self, known: Collection[str]) -> None:
        """BadInput for an unknown name, with the nearest known one."""
        for name in sorted(self.names):
            if name not in known:
                raise unknown(f'name in the expression "{self.text}":', name, sorted(known))

    def value(self, values: Values) -> Any:
        """The value of the expression; `values` must have all its names. BadInput if it has none (1 / 0)."""
        try:
            return self._value(values)
        except (ArithmeticError, TypeError, ValueError) as error:
            given = ", ".join(f"{name} = {values[name]}" for name in sorted(self.names))
            raise BadInput(f'expression "{self.text}" has no value for {given}: {error}') from None

    def _compiled(self, node: ast.expr) -> Compiled:
        """The function that computes a node; BadInput for any node that is not allowed."""
        match node:
            case ast.Constant(value) if isinstance(value, (int, float, str)):
                return lambda _: value
            case ast.Name() | ast.Attribute(ast.Name()):
                return self._named(ast.unparse(node))
            case ast.BinOp(left, operation, right) if type(operation) in BINARY:
                one, other = self._compiled(left), self._compiled(right)
                return lambda values: _bounded(operation, one(values), other(values))
            case ast.UnaryOp(sign, operand) if type(sign) in UNARY:
                function, argument = UNARY[type(sign)], self._compiled(operand)
                return lambda values: function(argument(values))
            case ast.BoolOp(junction, operands):
                return _junction(isinstance(junction, ast.Or), list(map(self._compiled, operands)))
            case ast.Compare(first, comparisons, others) if COMPARE.keys() >= set(map(type, comparisons)):
                tests = [COMPARE[type(comparison)] for comparison in comparisons]
                return _comparison(tests, list(map(self._compiled, (first, *others))))
            case ast.List(elements) | ast.Tuple(elements):
                parts = list(map(self._compiled, elements))
                return lambda values: [part(values) for part in parts]
            case ast.Call(ast.Name(name), given, []):
                if name not in FUNCTIONS:
                    raise unknown(f'function in the expression "{self.text}":', name, FUNCTIONS)
                arguments = list(map(self._compiled, given))
                return lambda values: FUNCTIONS[name](*(argument(values) for argument in arguments))
        raise BadInput(
            f'expression "{self.text}": {ast.unparse(node)} is not possible here; there are {ALLOWED}'
        )

    def _named(self, name: str) -> Compiled:
        if name in WORDS:
            return lambda values: values.get(name, WORDS[name])
        self.names.add(name)
        return lambda values: values[name]


def _junction(is_or: bool, parts: Sequence[Compiled]) -> Compiled:
    """A function for `and` or `or`: the first operand that decides the result, or else the last."""

    def value(values: Values) -> Any:
        last = None
        for part in parts:
            last = part(values)
            if bool(last) is is_or:
                break
        return last

    return value


def _comparison(tests: Sequence[Callable[[Any, Any], bool]], parts: Sequence[Compiled]) -> Compiled:
    """A function for a chained comparison, which stops at the first pair that fails."""

    def holds(values: Values) -> bool:
        neighbours = itertools.pairwise(part(values) for part in parts)
        return all(test(*pair) for test, pair in zip(tests, neighbours, strict=False))

    return holds


def _bounded(op: ast.operator, left: Any, right: Any) -> Any:
    """An operation on two numbers with a limit on the size of the result; strings and lists only compare."""
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
