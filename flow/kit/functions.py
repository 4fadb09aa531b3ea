"""The Boolean functions of Liberty: parsed once, then evaluated or tabulated.

Operators by the Liberty user guide, binding tightest first: `!` before or `'` after its operand; `^`; `&`,
`*` or a blank; `|` or `+`.
"""

import contextlib
import functools
import itertools
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...fl.errors import BadInput

# a name that begins with a digit stands in quotes
TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*(?:\[\d+\])?)"
    r'|\\?"(?P<quoted>\w*[A-Za-z_]\w*(?:\[\d+\])?)\\?"'
    r"|(?P<constant>[01])(?!\w)"
    r"|(?P<operator>[!'^&*|+()]))"
)
LEVELS = (("|+", "|"), ("&*", "&"), ("^", "^"))  # loosest first: how it is written, what it is
OPERATORS = "!'^&*|+()"
OPERATIONS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}

# a name, "0" or "1", or an operator with its operands
Tree = str | tuple["str", "Tree"] | tuple["str", "Tree", "Tree"]


@dataclass(frozen=True)
class Function:
    """A function of the pins (or states) `inputs`, in the order of their first use."""

    inputs: tuple[str, ...]
    tree: Tree

    @functools.cached_property
    def words(self) -> Callable[[Sequence[int]], int]:
        """Computes all bits of words, one for each input; the result may be negative."""
        return _compiled(self.tree, {name: place for place, name in enumerate(self.inputs)})

    def value(self, /, **at: int) -> int:
        """At one point; inputs without a value are 0."""
        return self.words([at.get(name, 0) for name in self.inputs]) & 1

    def table(self, inputs: tuple[str, ...]) -> int:
        """The truth table over these inputs: bit i is the value where input k is bit k of i."""
        unknown = set(self.inputs) - set(inputs)
        if unknown:
            raise BadInput(
                f"a function of {', '.join(sorted(unknown))}, which is no pin beside {', '.join(inputs)}"
            )
        size = 1 << len(inputs)
        # k = 0: 1010...; k = 1: 1100...
        columns = {name: sum(1 << i for i in range(size) if i >> k & 1) for k, name in enumerate(inputs)}
        return self.words([columns[name] for name in self.inputs]) & (1 << size) - 1

    @functools.cached_property
    def cubes(self) -> tuple[str, ...]:
        """The rows of the truth table that are 1, with a digit for each input."""
        rows = itertools.product((0, 1), repeat=len(self.inputs))
        return tuple("".join(map(str, row)) for row in rows if self.words(row) & 1)

    @property
    def literal(self) -> tuple[str, bool] | None:
        """The only input, and whether the function is that input or its complement; None for others."""
        if self.cubes not in (("0",), ("1",)):
            return None
        return self.inputs[0], self.cubes == ("1",)


@functools.cache
def parse(text: str) -> Function:
    """The function that this text stands for; BadInput if it is none."""
    tokens, position, end = [], 0, len(text.rstrip())
    while position < end and (match := TOKEN.match(text, position)):
        tokens.append(match[match.lastgroup or 0])
        position = match.end()
    inputs = tuple(dict.fromkeys(token for token in tokens if _is_name(token)))
    tokens.reverse()  # the next one is the last
    tree: Tree = ""
    with contextlib.suppress(IndexError, RecursionError):
        tree = _level(tokens, 0)
    if not tree or tokens or position < end:
        raise BadInput(
            f"{text!r} is no Boolean function in Liberty's way of writing: this Liberty file is damaged"
        )
    return Function(inputs, tree)


def _is_name(token: str) -> bool:
    return token not in OPERATORS and token not in ("0", "1")


def _level(tokens: list[str], depth: int) -> Tree:
    """The operands of one level, taken from the end of the tokens; IndexError where they are no function."""
    if depth == len(LEVELS):
        return _operand(tokens)
    signs, kind = LEVELS[depth]
    tree = _level(tokens, depth + 1)
    while tokens:
        if tokens[-1] in signs:
            tokens.pop()
        elif kind != "&" or tokens[-1] in "|+^)'":  # operands of "&" may stand side by side
            break
        tree = (kind, tree, _level(tokens, depth + 1))
    return tree


def _operand(tokens: list[str]) -> Tree:
    head = tokens.pop()
    tree: Tree = head
    if head == "!":
        tree = ("!", _operand(tokens))
    elif head == "(":
        tree = _level(tokens, 0)
        if tokens.pop() != ")":
            raise IndexError
    elif head in OPERATORS:
        raise IndexError
    while tokens and tokens[-1] == "'":
        tokens.pop()
        tree = ("!", tree)
    return tree


def _compiled(tree: Tree, places: Mapping[str, int]) -> Callable[[Sequence[int]], int]:
    if isinstance(tree, str):
        if tree in ("0", "1"):
            constant = -int(tree)
            return lambda words: constant
        return operator.itemgetter(places[tree])
    one = _compiled(tree[1], places)
    if len(tree) == 2:
        return lambda words: ~one(words)
    two, operation = _compiled(tree[2], places), OPERATIONS[tree[0]]
    return lambda words: operation(one(words), two(words))
