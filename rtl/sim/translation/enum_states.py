"""Enumerated states (rtl/states.py) and constants in update blocks: drops branches on impossible states and
on wires that are tied to a constant, and writes choices by state as `case`.

PyMTL3 has neither enumerations nor case statements: in its tree of an update block a state is a constant, a
choice by state a chain of comparisons.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRDataType as rdt
from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.structural import StructuralRTLIRSignalExpr as sexp
from pymtl3.passes.rtlir.structural.StructuralRTLIRGenL4Pass import StructuralRTLIRGenL4Pass

from ...states import States, states_of
from .nodes import nbits_of, value_of


@dataclass(frozen=True)
class Known:
    """The states of a component, and the values of its wires that are tied to a constant."""

    states: States
    constants: Mapping[str, int]


def known_of(component: Any) -> Known:
    """Find both in an elaborated component."""
    connections = component.get_metadata(StructuralRTLIRGenL4Pass.connections)
    constants: dict[str, int] = {}
    before = -1
    while before < len(constants):
        before = len(constants)
        for writer, reader in connections:
            if isinstance(reader, sexp.CurCompAttr) and isinstance(reader.get_rtype(), rt.Wire):
                if isinstance(writer, sexp.ConstInstance):
                    constants[reader.get_attr()] = int(writer.get_value())
                elif isinstance(writer, sexp.CurCompAttr) and writer.get_attr() in constants:
                    constants[reader.get_attr()] = constants[writer.get_attr()]
    return Known(states_of(component), constants)


# a signal, the branches by the state that it holds, and the statements for all other states
Choice = tuple[Any, list[tuple[list[int], list[Any]]], list[Any]]


def holds_state(node: Any, states: States) -> bool:
    """Whether an expression is a signal of the component that holds a state."""
    return (
        isinstance(node, bir.Attribute) and isinstance(node.value, bir.Base) and node.attr in states.signals
    )


def state_name(node: Any, states: States) -> str | None:
    """The name of the state that an expression is, where it is one that can be."""
    value = value_of(node)
    return None if value is None else states.name(value)


def _is_unreached(node: Any, states: States) -> bool:
    """Whether an expression is a constant, and no state that can be."""
    return value_of(node) is not None and state_name(node, states) is None


def without_unreached(statements: Sequence[Any], known: Known) -> list[Any]:
    """The statements that can have an effect."""
    kept = []
    for statement in statements:
        if isinstance(statement, bir.If):
            kept += _of_if(statement, known)
        elif isinstance(statement, bir.For):
            statement.body = without_unreached(statement.body, known)
            kept += [statement] if statement.body else []
        elif not _enters_unreached(statement, known):
            if isinstance(statement, bir.Assign):
                statement.value = _simplified(statement.value, known)
            kept.append(statement)
    return kept


def _of_if(node: Any, known: Known) -> list[Any]:
    """Return the branches that remain."""
    node.cond = _simplified(node.cond, known)
    never = _truth(node.cond) == 0 or (len(node.body) == 1 and _enters_unreached(node.body[0], known))
    if never:
        return without_unreached(node.orelse, known)
    if _truth(node.cond) == 1:
        return without_unreached(node.body, known)
    node.body, node.orelse = without_unreached(node.body, known), without_unreached(node.orelse, known)
    return [node] if node.body or node.orelse else []


def _enters_unreached(node: Any, known: Known) -> bool:
    """Whether a statement, which is then never executed, gives a signal a state that cannot be."""
    return (
        isinstance(node, bir.Assign)
        and all(holds_state(target, known.states) for target in node.targets)
        and _is_unreached(node.value, known.states)
    )


def _simplified(node: Any, known: Known) -> Any:
    """An expression without comparisons to states that cannot be, without constant wires and parameters that
    are true or false.
    """
    if isinstance(node, bir.FreeVar) and isinstance(node.obj, bool):  # a parameter of the component
        return _bit(node.obj)
    if isinstance(node, bir.Attribute) and isinstance(node.value, bir.Base) and node.attr in known.constants:
        return _number(known.constants[node.attr], nbits_of(node))
    if isinstance(node, bir.Compare) and isinstance(node.op, bir.Eq | bir.NotEq):
        if holds_state(node.left, known.states) and _is_unreached(node.right, known.states):
            return _bit(isinstance(node.op, bir.NotEq))
        node.left = _simplified(node.left, known)
        if _is_decided(node.left) and (value := value_of(node.right)) is not None:
            return _bit((node.left.value == value) == isinstance(node.op, bir.Eq))
    elif isinstance(node, bir.IfExp):
        node.cond = _simplified(node.cond, known)
        node.body, node.orelse = _simplified(node.body, known), _simplified(node.orelse, known)
        truth = _truth(node.cond)
        return node if truth is None else node.body if truth else node.orelse
    elif isinstance(node, bir.UnaryOp) and isinstance(node.op, bir.Invert):
        node.operand = _simplified(node.operand, known)
        truth = _truth(node.operand)
        return node if truth is None else _bit(not truth)
    elif isinstance(node, bir.BinOp) and isinstance(node.op, bir.Add):
        node.left = _simplified(node.left, known)
        return node.left if _is_zero(node.right, known) else node
    elif isinstance(node, bir.BinOp) and isinstance(node.op, bir.BitAnd | bir.BitOr):
        node.left, node.right = _simplified(node.left, known), _simplified(node.right, known)
        neutral = int(isinstance(node.op, bir.BitAnd))
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if (truth := _truth(one)) is not None:
                return other if truth == neutral else one
    return node


def _is_zero(node: Any, known: Known) -> bool:
    """Whether this is a wire that is tied to 0, perhaps extended."""
    while isinstance(node, bir.ZeroExt):
        node = node.value
    node = _simplified(node, known)
    return _is_decided(node) and node.value == 0


def _bit(value: bool) -> Any:
    return _number(int(value), 1)


def _is_decided(node: Any) -> bool:
    return getattr(node, "_decided", False)


def _number(value: int, nbits: int) -> Any:
    """A constant that this module has made."""
    node = bir.Number(value)
    node.Type = rt.Const(rdt.Vector(nbits))
    node._value, node._is_explicit, node._decided = value, True, True
    return node


def _truth(node: Any) -> int | None:
    """The value of a bit that this module has decided; other constants stay as they are written."""
    return node.value if _is_decided(node) and nbits_of(node) == 1 else None


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
    return (signal, branches, others) if len(branches) > 1 else None


def _selects(cond: Any, states: States) -> tuple[Any, list[int]] | None:
    """The signal and the states of a condition that asks for nothing but the state."""
    if isinstance(cond, bir.Compare) and isinstance(cond.op, bir.Eq):
        named = state_name(cond.right, states) is not None and holds_state(cond.left, states)
        return (cond.left, [cond.right._value]) if named else None
    if isinstance(cond, bir.BinOp) and isinstance(cond.op, bir.BitOr):
        left, right = _selects(cond.left, states), _selects(cond.right, states)
        if left is not None and right is not None and left[0].attr == right[0].attr:
            return left[0], left[1] + right[1]
    return None
