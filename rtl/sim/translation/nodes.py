"""Nodes of PyMTL3's tree of an update block."""

import copy
from collections.abc import Iterator
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir


def nodes(tree: Any) -> Iterator[Any]:
    """All nodes of a part of an update block."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, bir.BaseBehavioralRTLIR):
            yield node
            left.extend(reversed(vars(node).values()))
        elif isinstance(node, list | tuple):
            left.extend(reversed(node))


def copied(tree: Any) -> Any:
    """Nodes that can be given other attributes than those that they are copied from."""
    if isinstance(tree, list):
        return [copied(node) for node in tree]
    if not isinstance(tree, bir.BaseBehavioralRTLIR):
        return tree
    made = copy.copy(tree)
    for name, value in vars(tree).items():
        setattr(made, name, copied(value))
    return made


def value_of(node: Any) -> int | None:
    """The value of a constant expression; None for any other."""
    return getattr(node, "_value", None)


def nbits_of(node: Any) -> int:
    """The width that PyMTL3 gives to an expression."""
    nbits: int = node.Type.get_dtype().get_length()
    return nbits


def turns_of(loop: Any) -> range | None:
    """The values of a loop variable; None if a bound is not constant."""
    bounds: list[Any] = [value_of(bound) for bound in (loop.start, loop.end, loop.step)]
    return None if None in bounds else range(*bounds)
