"""Combinational blocks as continuous assignments, where the order of their statements does not matter.

A block of assignments is written as `assign`, a default with one exception as a conditional expression, and
a loop over the elements of an array as a generate loop. Readers see a wire where there is one, and Icarus,
which wakes a block on any bit of a vector, sees no loop where there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRType as rt

Step = tuple[str, Any, Any]


@dataclass(frozen=True)
class Generate:
    """A generate loop. body: assignments and loops, or, where `ordered`, the statements of one block."""

    variable: str
    turns: range
    body: list[Any]
    ordered: bool


def nodes(tree: Any) -> Iterator[Any]:
    """All nodes of a part of an update block."""
    if isinstance(tree, list | tuple):
        for node in tree:
            yield from nodes(node)
    elif isinstance(tree, bir.BaseBehavioralRTLIR):
        yield tree
        for var in vars(tree).values():
            yield from nodes(var)


def concurrent(statements: Sequence[Any], variables: tuple[str, ...] = ()) -> list[Any] | None:
    """Assignments and generate loops with the effect of the statements; None if their order matters.

    variables: those of the loops around the statements, each of which selects what is assigned.
    """
    found: list[Any] = []
    for statement in _folded(statements):
        if isinstance(statement, bir.Assign) and len(statement.targets) == 1:
            found.append(statement)
        elif isinstance(statement, bir.For) and (loop := _generated(statement, variables)):
            found.append(loop)
        else:
            return None
    targets = [[target for assign in _assignments([item]) for target in assign.targets] for item in found]
    if any(isinstance(node, bir.TmpVar) for node in nodes(list(statements))):
        return None
    for place, item in enumerate(found):
        later = [target for more in targets[place + 1 :] for target in more]
        if any(not _disjoint(one, other) for one in targets[place] for other in later):
            return None
        values = [assign.value for assign in _assignments([item])]
        if {*_signals(values)} & {*_signals([*targets[place], *later])}:
            return None
    if not all(
        _selected_by(target, variable) for variable in variables for group in targets for target in group
    ):
        return None
    return found


def messages(statements: Sequence[Any]) -> set[str]:
    """The messages of which statements assign fields."""
    targets = [assign.targets for assign in _assignments(statements)]
    fields = (node for node in nodes(targets) if isinstance(node, bir.Attribute) and _is_signal(node.value))
    return {name for node in fields for name in _signals(node.value)}


def ordered_messages(blocks: Sequence[list[Any]]) -> set[str]:
    """The messages of which blocks whose order matters assign fields, and those that are assigned with them.

    Icarus takes the fields of a message from blocks alone, or from assignments alone.
    """
    found: set[str] = set()
    left = list(blocks)
    while more := [block for block in left if concurrent(block) is None or found & messages(block)]:
        left = [block for block in left if block not in more]
        found.update(*map(messages, more))
    return found


def _generated(loop: Any, variables: tuple[str, ...]) -> Generate | None:
    bounds: list[Any] = [getattr(bound, "_value", None) for bound in (loop.start, loop.end, loop.step)]
    if None in bounds or int(bounds[2]) <= 0:
        return None
    inside, turns = (*variables, loop.var.name), range(*map(int, bounds))
    body = concurrent(loop.body, inside)
    if body is not None:
        return Generate(loop.var.name, turns, body, ordered=False)
    targets = [target for assign in _assignments(loop.body) for target in assign.targets]
    if any(isinstance(node, bir.For | bir.TmpVar) for node in nodes(loop.body)):
        return None
    if not all(_selected_by(target, variable) for variable in inside for target in targets):
        return None
    # a turn may read what it has assigned itself, and nothing that another turn assigns
    assigned = {*_signals(targets)}
    selected = sum(node in targets for node in nodes(loop.body))
    if sum(name in assigned for name in _signals(loop.body)) != selected:
        return None
    return Generate(loop.var.name, turns, loop.body, ordered=True)


def _folded(statements: Iterable[Any]) -> list[Any]:
    """The statements, a choice between two values as one conditional assignment."""
    kept: list[Any] = []
    for statement in statements:
        if isinstance(statement, bir.If) and statement.orelse:
            kept.append(_conditional(statement, statement.orelse) or statement)
        elif isinstance(statement, bir.If) and (made := _conditional(statement, kept[-1:])):
            kept[-1] = made
        else:
            kept.append(statement)
    return kept


def _conditional(choice: Any, others: list[Any]) -> Any | None:
    """One assignment for a choice and the value that it replaces, or that stands in its other branch."""
    if not all(len(part) == 1 and isinstance(part[0], bir.Assign) for part in (choice.body, others)):
        return None
    one, other = choice.body[0], others[0]
    nested = any(isinstance(node, bir.IfExp) for node in nodes([one, other]))
    if nested or len(one.targets) != 1 or one.targets != other.targets:
        return None
    if {*_signals(one.targets)} & {*_signals([choice.cond, one.value, other.value])}:
        return None
    value = bir.IfExp(choice.cond, one.value, other.value)
    value.Type = one.targets[0].Type
    made = bir.Assign(one.targets, value, one.blocking)
    turns: dict[str, int] = {}
    for part in (other, choice, one):
        turns = {**getattr(part, "_turns", {}), **turns}
        if any(turns[name] != turn for name, turn in getattr(part, "_turns", {}).items()):
            return None
    made._turns = turns
    return made


def _assignments(items: Iterable[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, Generate):
            yield from _assignments(item.body)
        elif isinstance(item, bir.Assign):
            yield item
        else:
            yield from (node for node in nodes(item) if isinstance(node, bir.Assign))


def _signals(expression: Any) -> Iterator[str]:
    """The names of the signals in an expression, of an interface or a component inside with its name."""
    for node in nodes(expression):
        if isinstance(node, bir.Attribute) and _is_signal(node) and not _is_signal(node.value):
            yield _path(node)


def _is_signal(node: Any) -> bool:
    kind = getattr(node, "Type", None)
    return isinstance(kind.get_sub_type() if isinstance(kind, rt.Array) else kind, rt.Signal)


def _path(node: Any) -> str:
    if isinstance(node, bir.Base):
        return ""
    return _path(node.value) + (f".{node.attr}" if isinstance(node, bir.Attribute) else "")


def _selected_by(target: Any, variable: str) -> bool:
    """Whether an index of the target is this loop variable and nothing else."""
    return any(
        isinstance(node, bir.Index) and isinstance(node.idx, bir.LoopVar) and node.idx.name == variable
        for node in nodes(target)
    )


def _disjoint(one: Any, other: Any) -> bool:
    """Whether two targets have no bit in common, as far as can be seen."""
    for mine, its in zip(_steps(one), _steps(other), strict=False):
        if mine == its:
            continue
        if mine[0] == its[0] == "field":
            return True
        if "field" in (mine[0], its[0]) or None in (*mine, *its):
            return False
        return bool(mine[2] <= its[1] or its[2] <= mine[1])
    return False


def _steps(target: Any) -> list[Step]:
    """The way from the component to what is assigned: names of fields, and ranges of bits or elements."""
    if isinstance(target, bir.Base):
        return []
    inside = _steps(target.value)
    if isinstance(target, bir.Attribute):
        return [*inside, ("field", target.attr, "")]
    if isinstance(target, bir.Index):
        first = getattr(target.idx, "_value", None)
        return [*inside, ("bits", first, None if first is None else int(first) + 1)]
    return [*inside, ("bits", getattr(target.lower, "_value", None), getattr(target.upper, "_value", None))]
