"""Blocks that say no more than assignments outside of a block."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .tree import (
    Assign,
    Case,
    Comb,
    Comment,
    Enum,
    Expr,
    For,
    If,
    Loop,
    Mux,
    Name,
    Statement,
    at_turn,
    mask_of,
    read_in,
    root,
    walk,
    written_in,
)

MOST = 2  # conditions in an expression that a reader follows without a block
LONGEST = 30  # nodes of such an expression


def unblocked(block: Comb) -> list[Comb | Assign | Loop]:
    """The block, or assignments of the same meaning if they are as easy to read."""
    items = _assignments(block.name, block.body) or _expressions(block.body)
    if items is None:
        return [block]
    return [replace(item, comment=block.comment + item.comment) for item in items]


def _assignments(name: str, body: tuple[Statement, ...]) -> list[Assign | Loop] | None:
    """Statements that mean the same outside of a block, where none reads or changes what it or a later one
    assigns; a loop whose turns are independent is a loop there."""
    targets: list[tuple[str, int]] = []  # signals, and bits that are assigned
    items: list[Assign | Loop] = []
    for at, statement in enumerate(body):
        read = {root(found) for found in read_in(statement)}
        if read & {root(target) for target in written_in(body[at:])}:
            return None
        if isinstance(statement, For):
            assigns = tuple(item for item in statement.body if isinstance(item, Assign))
            if assigns != statement.body or (statement.start, statement.step) != (0, 1):
                return None
            label = f"{name}_{at}" if at else name
            items.append(Loop(label, statement.turn, statement.end, assigns, comment=statement.comment))
        elif isinstance(statement, Assign):
            items.append(replace(statement, block=name))
        else:
            return None
        for target in written_in(statement):
            parts = [target]
            if isinstance(statement, For):
                parts = [at_turn(target, statement.turn, number) for number in range(statement.end)]
            targets += ((root(target), mask_of(found)) for found in parts)
    taken: dict[str, int] = {}
    for signal, mask in targets:
        if taken.get(signal, 0) & mask:
            return None
        taken[signal] = taken.get(signal, 0) | mask
    return items


def _expressions(body: tuple[Statement, ...]) -> list[Assign] | None:
    """One assignment for each signal; None if a block says it better.

    No statement may read what it or a later one assigns, as a block gives a signal one value after the other.
    """
    targets = [*dict.fromkeys(written_in(body))]
    if not all(isinstance(target, Name) and not isinstance(target.type, Enum) for target in targets):
        return None
    if any(isinstance(node, For | Case) for node in walk(body)):
        return None
    for at, statement in enumerate(body):
        if any(map(_is_commented, _inside(statement))):
            return None
        if {root(node) for node in read_in(statement)} & {root(target) for target in written_in(body[at:])}:
            return None
    items = []
    for target in targets:
        value = _value(body, target, None)
        nodes = [*walk(value)]
        if value is None or sum(isinstance(node, Mux) for node in nodes) > MOST or len(nodes) > LONGEST:
            return None
        about = (statement.comment for statement in body if target in written_in((statement,)))
        items.append(Assign(target, value, comment=sum(about, Comment())))
    return items


def _value(body: Iterable[Any], target: Expr, before: Expr | None) -> Expr | None:
    """The value of a signal after these statements; None if it may have none."""
    for node in body:
        if isinstance(node, If):
            then, other = (_value(inner, target, before) for inner in (node.then, node.other))
            if then is None or other is None:
                before = None
            elif then != other:
                before = Mux(node.condition, then, other)
            else:
                before = then
        elif node.target == target:
            before = node.value
    return before


def _inside(statement: Any) -> list[Any]:
    """The statements in a statement."""
    return [node for node in walk(statement) if isinstance(node, Assign | If) and node is not statement]


def _is_commented(node: Any) -> bool:
    return node.comment != Comment()
