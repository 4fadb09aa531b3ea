"""Blocks that say no more than assignments outside of a block."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from .prune import with_assignments
from .tree import (
    Assign,
    Binary,
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
    Pattern,
    Reference,
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
    """The block, or assignments of the same meaning where they are as easy to read."""
    items = _assignments(block.name, block.body)
    if items is not None:
        return [replace(item, comment=block.comment + item.comment) for item in items]
    found = _expressions(block.body)
    names = {root(item.target) for item in found}
    rest = with_assignments(block.body, lambda item: root(item.target) not in names)
    if not rest:
        return [replace(item, comment=block.comment + item.comment) for item in found]
    return [*found, replace(block, body=rest)]


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


def _expressions(body: tuple[Statement, ...]) -> list[Assign]:
    """Assignments to the signals of which a block says no more.

    No statement may read what it or a later one assigns, as a block gives a signal one value after the other.
    """
    for at, statement in enumerate(body):
        if {root(node) for node in read_in(statement)} & {root(target) for target in written_in(body[at:])}:
            return []
    items = []
    targets = [*dict.fromkeys(written_in(body))]
    parts = Counter(map(root, targets))
    for target in targets:
        about = [statement for statement in body if target in written_in((statement,))]
        is_whole = isinstance(target, Name) and parts[target.name] == 1
        if is_whole and not isinstance(target.type, Enum) and not _is_commented(about):
            value = _value(about, target, None)
            nodes = [*walk(value)]
            if value and sum(isinstance(node, Mux) for node in nodes) <= MOST and len(nodes) <= LONGEST:
                comment = sum((statement.comment for statement in about), Comment())
                items.append(Assign(target, value, comment=comment))
    return items


def _value(body: Iterable[Any], target: Reference, before: Expr | None) -> Expr | None:
    """The value of a signal after these statements; None if it may have none, or one that a loop gives."""
    for node in body:
        match node:
            case Assign():
                before = node.value if node.target == target else before
            case If():
                then, other = (_value(inner, target, before) for inner in (node.then, node.other))
                before = _chosen(node.condition, then, other)
            case Case():
                found = _value(node.default, target, before)
                for value, branches in reversed(_by_value(node, target, before)):
                    tests = (Binary("==", node.subject, label) for label in branches)
                    found = _chosen(reduce(partial(Binary, "|"), tests), value, found)
                before = found
            case _:
                before = None if target in written_in((node,)) else before
    return before


def _by_value(node: Case, target: Reference, before: Expr | None) -> list[tuple[Expr | None, list[Expr]]]:
    """The values that the branches give a signal, with their labels."""
    found: list[tuple[Expr | None, list[Expr]]] = []
    for label, body in node.branches:
        value = _value(body, target, before) if not isinstance(label, Pattern) else None
        labels = next((labels for other, labels in found if other == value), None)
        if labels is None:
            found.append((value, [label]))
        else:
            labels.append(label)
    return found


def _chosen(condition: Expr, then: Expr | None, other: Expr | None) -> Expr | None:
    if then is None or other is None:
        return None
    return then if then == other else Mux(condition, then, other)


def _is_commented(statements: list[Any]) -> bool:
    """Whether statements inside of these have comments."""
    inside = (node for node in walk(tuple(statements)) if isinstance(node, Assign | If | Case))
    return any(node.comment != Comment() for node in inside if node not in statements)
