"""Enumerated states in update blocks (rtl/states.py): drops branches on impossible states, and writes choices
by state as `case`.

PyMTL3 has neither enumerations nor case statements: in its tree of an update block a state is a constant, a
choice by state a chain of comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRDataType as rdt
from pymtl3.passes.rtlir import RTLIRType as rt

from ...states import States


@dataclass(frozen=True)
class Choice:
    """Branches by the state that a signal holds, and the statements for all other states."""

    signal: Any
    branches: list[tuple[list[int], list[Any]]]
    others: list[Any]


def holds_state(node: Any, states: States) -> bool:
    """Whether an expression is a signal of the component that holds a state."""
    return (
        isinstance(node, bir.Attribute) and isinstance(node.value, bir.Base) and node.attr in states.signals
    )


def state_name(node: Any, states: States) -> str | None:
    """The name of the state that an expression is, where it is one that can be."""
    return states.name(int(node._value)) if hasattr(node, "_value") else None


def without_unreached(statements: Sequence[Any], states: States) -> list[Any]:
    """The statements that can have an effect."""
    kept = []
    for statement in statements:
        if isinstance(statement, bir.If):
            kept += _of_if(statement, states)
        elif isinstance(statement, bir.For):
            statement.body = without_unreached(statement.body, states)
            kept += [statement] if statement.body else []
        elif not _enters_unreached(statement, states):
            if isinstance(statement, bir.Assign):
                statement.value = _simplified(statement.value, states)
            kept.append(statement)
    return kept


def _of_if(node: Any, states: States) -> list[Any]:
    """Return the branches that remain."""
    node.cond = _simplified(node.cond, states)
    never = _truth(node.cond) == 0 or (len(node.body) == 1 and _enters_unreached(node.body[0], states))
    if never:
        return without_unreached(node.orelse, states)
    if _truth(node.cond) == 1:
        return without_unreached(node.body, states)
    node.body, node.orelse = without_unreached(node.body, states), without_unreached(node.orelse, states)
    return [node] if node.body or node.orelse else []


def _enters_unreached(node: Any, states: States) -> bool:
    """Whether a statement, which is then never executed, gives a signal a state that cannot be."""
    return (
        isinstance(node, bir.Assign)
        and all(holds_state(target, states) for target in node.targets)
        and hasattr(node.value, "_value")
        and state_name(node.value, states) is None
    )


def _simplified(node: Any, states: States) -> Any:
    """An expression without comparisons to states that cannot be."""
    if isinstance(node, bir.Compare) and isinstance(node.op, bir.Eq | bir.NotEq):
        unreached = hasattr(node.right, "_value") and state_name(node.right, states) is None
        if holds_state(node.left, states) and unreached:
            return _bit(isinstance(node.op, bir.NotEq))
    elif isinstance(node, bir.UnaryOp) and isinstance(node.op, bir.Invert):
        node.operand = _simplified(node.operand, states)
        truth = _truth(node.operand)
        return node if truth is None else _bit(not truth)
    elif isinstance(node, bir.BinOp) and isinstance(node.op, bir.BitAnd | bir.BitOr):
        node.left, node.right = _simplified(node.left, states), _simplified(node.right, states)
        neutral = int(isinstance(node.op, bir.BitAnd))
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if (truth := _truth(one)) is not None:
                return other if truth == neutral else one
    return node


def _bit(value: bool) -> Any:
    """A constant that this module has made."""
    node = bir.Number(int(value))
    node.Type = rt.Const(rdt.Vector(1))
    node._value, node._is_explicit, node._decided = int(value), True, True
    return node


def _truth(node: Any) -> int | None:
    """The value of a constant that this module has made; others stay as they are written."""
    return node.value if getattr(node, "_decided", False) else None


def choice(node: Any, states: States) -> Choice | None:
    """An if statement as a choice by state, if at least two of its branches in a row are chosen by the same
    signal.
    """
    branches: list[tuple[list[int], list[Any]]] = []
    signal, others = None, [node]
    seen: set[int] = set()
    while len(others) == 1 and isinstance(others[0], bir.If):
        selects = _selects(others[0].cond, states)
        if selects is None or (signal is not None and selects[0].attr != signal.attr):
            break
        signal, codes = selects
        if seen & set(codes):
            break
        seen |= set(codes)
        branches.append((codes, others[0].body))
        others = others[0].orelse
    return Choice(signal, branches, others) if len(branches) > 1 else None


def _selects(cond: Any, states: States) -> tuple[Any, list[int]] | None:
    """The signal and the states of a condition that asks for nothing but the state."""
    if isinstance(cond, bir.Compare) and isinstance(cond.op, bir.Eq):
        known = hasattr(cond.right, "_value") and state_name(cond.right, states) is not None
        return (cond.left, [int(cond.right._value)]) if known and holds_state(cond.left, states) else None
    if isinstance(cond, bir.BinOp) and isinstance(cond.op, bir.BitOr):
        left, right = _selects(cond.left, states), _selects(cond.right, states)
        if left is not None and right is not None and left[0].attr == right[0].attr:
            return left[0], left[1] + right[1]
    return None
