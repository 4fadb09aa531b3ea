"""Expressions and statements without what constants decide."""

import operator
from dataclasses import replace
from typing import Any

from .tree import (
    Assertion,
    Assign,
    Binary,
    Case,
    Cast,
    For,
    If,
    Member,
    Module,
    Mux,
    Number,
    Seq,
    Statement,
    Unary,
    commented,
    rebuilt,
    root,
    truncated,
    written_in,
)

EQUAL = {"==": True, "!=": False}
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def folded(module: Module) -> Module:
    return replace(module, items=tuple(_node(item) for item in module.items if not _is_empty(item)))


def _is_empty(item: Any) -> bool:
    """Whether an assertion is about a handshake or a flag that is tied to a constant."""
    return isinstance(item, Assertion) and any(
        isinstance(word, Number) and word.width == 1 for word in item.words
    )


def _node(node: Any) -> Any:
    """From the inside: `rebuilt` goes from the outside, so that children are folded first here."""
    return rebuilt(node, _changed)


def _changed(node: Any) -> Any:
    match node:
        case Unary(op="~"):
            value = _node(node.value)
            if isinstance(value, Number) and not value.name:
                return truncated(~value.value, value.width)
            return replace(node, value=value)
        case Binary():
            return binary(node.op, _node(node.left), _node(node.right))
        case Mux():
            condition = _node(node.condition)
            if isinstance(condition, Number):
                return _node(node.then if condition.value else node.other)
            then, other = _node(node.then), _node(node.other)
            return then if then == other else Mux(condition, then, other)
        case Cast(value=Number(value=value)) if type(node) is Cast:
            return truncated(value, node.size)
    if isinstance(node, Seq):
        return replace(node, body=statements(without_idle(node.body, set())))
    if hasattr(node, "body"):
        return replace(node, body=statements(node.body))
    return None


def binary(op: str, left: Any, right: Any) -> Any:
    """Without a constant operand that decides the result or changes nothing."""
    node = Binary(op, left, right)
    if isinstance(left, Number | Member) and isinstance(right, type(left)) and op in EQUAL:
        return Number(1, int((left == right) == EQUAL[op]))
    if isinstance(left, Number) and isinstance(right, Number):
        if op in ORDER:
            return Number(1, int(ORDER[op](left.value, right.value)))
        if op in ARITHMETIC:
            return truncated(ARITHMETIC[op](left.value, right.value), left.width)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Number):
            ones = (1 << one.width) - 1
            if op in ("&", "|") and one.value in (0, ones):
                return other if (one.value == ones) == (op == "&") else one
            if op == "^" and one.value == 0:
                return other
    if op in ("&", "|") and (left == Unary("~", right) or right == Unary("~", left)):
        return truncated(0 if op == "&" else -1, left.width)
    if isinstance(right, Number) and right.value == 1 and op == "*":
        return left
    if isinstance(right, Number) and right.value == 0 and op in ("+", "-", "<<", ">>"):
        return left
    return node


def statements(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for node in body:
        match node:
            case If():
                condition = _node(node.condition)
                then, other = statements(node.then), statements(node.other)
                if isinstance(condition, Number):
                    found += commented(then if condition.value else other, node.comment)
                elif then:
                    found.append(replace(node, condition=condition, then=then, other=other))
                elif other:
                    found.append(replace(node, condition=negated(condition), then=other, other=()))
            case Case():
                branches = tuple((value, statements(inner)) for value, inner in node.branches)
                subject, default = _node(node.subject), statements(node.default)
                if default or any(inner for _, inner in branches):
                    found.append(replace(node, subject=subject, branches=branches, default=default))
            case For():
                if inner := statements(node.body):
                    found.append(replace(node, body=inner))
            case _:
                found.append(_node(node))
    return tuple(found)


def without_idle(body: tuple[Statement, ...], assigned: set[str]) -> tuple[Statement, ...]:
    """Statements with a clock, without `x <= x` if x has not been assigned before.

    After an assignment, `x <= x` cancels it.
    """
    found: list[Statement] = []
    for node in body:
        match node:
            case Assign() if node.target == node.value and root(node.target) not in assigned:
                continue
            case If():
                before = {*assigned}
                then, other = without_idle(node.then, assigned), without_idle(node.other, before)
                node = replace(node, then=then, other=other)
                assigned |= before
            case Case():
                befores = [{*assigned} for _ in node.branches]
                branches = tuple(
                    (value, without_idle(inner, before))
                    for (value, inner), before in zip(node.branches, befores, strict=True)
                )
                default = without_idle(node.default, assigned)
                node = replace(node, branches=branches, default=default)
                assigned.update(*befores)
            case _:
                assigned |= {root(target) for target in written_in(node)}
        found.append(node)
    return tuple(found)


def negated(condition: Any) -> Any:
    return (
        Unary("~", condition) if condition.width == 1 else Binary("==", condition, Number(condition.width, 0))
    )
