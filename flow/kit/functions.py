"""The Boolean functions of Liberty: parsed once, then written as Verilog or tabulated.

Operators by the Liberty user guide, binding tightest first: `!` before or `'` after its operand; `^`; `&`, `*` or nothing but
a blank; `|` or `+`. Exclusive or binds tighter than and, other than in Verilog, so that what is written here has all its
parentheses.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from ...fl.errors import BadInput

TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_]\w*(?:\[\d+\])?)|(?P<constant>[01])|(?P<operator>[!'^&*|+()]))")
LEVELS = (("|+", "|"), ("&*", "&"), ("^", "^"))  # loosest first: how it is written, what it is

# a name, "0" or "1", or an operator with its operands
Tree = str | tuple["str", "Tree"] | tuple["str", "Tree", "Tree"]


@dataclass(frozen=True)
class Function:
    """A function of the pins (or states) `inputs`, which stand in the order of their first use."""

    inputs: tuple[str, ...]
    tree: Tree

    @functools.cached_property
    def verilog(self) -> str:
        """As an expression of Verilog."""
        return _verilog(self.tree)

    def value(self, **at: int) -> int:
        """At one point; inputs that are not given are 0. All bits of the words given are computed beside one another."""
        return _value(self.tree, at) & 1

    def table(self, inputs: tuple[str, ...]) -> int:
        """The truth table over these inputs: bit i is the value where input k is bit k of i."""
        unknown = set(self.inputs) - set(inputs)
        if unknown:
            raise BadInput(
                f"a function of {', '.join(sorted(unknown))}, which is no pin beside {', '.join(inputs)}"
            )
        size = 1 << len(inputs)
        words = {}
        for k, name in enumerate(inputs):
            # k = 0: 1010...; k = 1: 1100...
            words[name] = sum(1 << i for i in range(size) if i >> k & 1)
        return _value(self.tree, words) & (1 << size) - 1


@functools.cache
def parse(text: str) -> Function:
    """The function that this text stands for; BadInput if it is none."""
    tokens = _tokens(text)
    inputs = tuple(dict.fromkeys(token for token in tokens if token[0].isalpha() or token[0] == "_"))
    tree, rest = _level(tokens, 0, text)
    if rest:
        raise _no_function(text)
    return Function(inputs, tree)


def _no_function(text: str) -> BadInput:
    return BadInput(
        f"{text!r} is no Boolean function in Liberty's way of writing: this Liberty file is damaged"
    )


def _tokens(text: str) -> list[str]:
    tokens, position, text_end = [], 0, len(text.rstrip())
    while position < text_end:
        match = TOKEN.match(text, position)
        if match is None:
            raise _no_function(text)
        tokens.append(match[match.lastgroup or 0])
        position = match.end()
    return tokens


def _level(tokens: list[str], depth: int, text: str) -> tuple[Tree, list[str]]:
    """The operands of one level, and what is left of the tokens."""
    if depth == len(LEVELS):
        return _operand(tokens, text)
    signs, kind = LEVELS[depth]
    tree, tokens = _level(tokens, depth + 1, text)
    while tokens:
        if tokens[0] in signs:
            right, tokens = _level(tokens[1:], depth + 1, text)
        elif kind == "&" and tokens[0] not in "|+^)'":  # side by side
            right, tokens = _level(tokens, depth + 1, text)
        else:
            break
        tree = (kind, tree, right)
    return tree, tokens


def _operand(tokens: list[str], text: str) -> tuple[Tree, list[str]]:
    if not tokens:
        raise _no_function(text)
    head, tokens = tokens[0], tokens[1:]
    tree: Tree
    if head == "!":
        inner, tokens = _operand(tokens, text)
        tree = ("!", inner)
    elif head == "(":
        tree, tokens = _level(tokens, 0, text)
        if not tokens or tokens[0] != ")":
            raise _no_function(text)
        tokens = tokens[1:]
    elif head.isalnum() or head[0].isalpha() or head[0] == "_":
        tree = head
    else:
        raise _no_function(text)
    while tokens and tokens[0] == "'":
        tree, tokens = ("!", tree), tokens[1:]
    return tree, tokens


def _verilog(tree: Tree) -> str:
    if isinstance(tree, str):
        return f"1'b{tree}" if tree in ("0", "1") else tree
    if len(tree) == 2:
        return f"~{_verilog(tree[1])}"
    return f"({_verilog(tree[1])} {tree[0]} {_verilog(tree[2])})"


def _value(tree: Tree, words: dict[str, int]) -> int:
    if isinstance(tree, str):
        return -int(tree) if tree in ("0", "1") else words.get(tree, 0)
    if len(tree) == 2:
        return ~_value(tree[1], words)
    left, right = _value(tree[1], words), _value(tree[2], words)
    return left & right if tree[0] == "&" else left | right if tree[0] == "|" else left ^ right
