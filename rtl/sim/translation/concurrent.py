"""Converts combinational blocks whose statement order does not matter into continuous assignments.

A block of assignments becomes `assign` statements, a default with one exception becomes a conditional
expression, and a loop over the elements of an array becomes a generate loop. A wire then reads as a wire, and
Icarus, which wakes a block on a change of any bit of a vector, sees no false combinational loop.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRType as rt

from .nodes import copied, nodes, turns_of, value_of

Step = tuple[str, Any, Any]


@dataclass(frozen=True)
class Generate:
    """A generate loop. body: assignments and loops, or, where `ordered`, the statements of one block."""

    variable: str
    turns: range
    body: list[Any]
    ordered: bool


def concurrent(
    statements: Sequence[Any],
    variables: tuple[str, ...] = (),
    kept_as_case: Callable[[Any], bool] = lambda node: False,
) -> list[Any] | None:
    """Assignments and generate loops with the effect of the statements; None if their order matters.

    variables: the variables of enclosing loops, each of which selects the assigned element.
    """
    if any(isinstance(node, bir.TmpVar) for node in nodes(list(statements))):
        return None
    found: list[Any] = []
    for statement in _folded(statements, kept_as_case):
        if isinstance(statement, bir.Assign) and len(statement.targets) == 1:
            found.append(statement)
        elif isinstance(statement, bir.For) and (loop := _generated(statement, variables)):
            found.append(loop)
        else:
            return None
    targets = [[target for assign in _assignments([item]) for target in assign.targets] for item in found]
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
    left = [block for block in blocks if messages(block)]
    while more := [block for block in left if concurrent(block) is None or found & messages(block)]:
        left = [block for block in left if block not in more]
        found.update(*map(messages, more))
    return found


def _generated(loop: Any, variables: tuple[str, ...]) -> Generate | None:
    if (turns := turns_of(loop)) is None or turns.step < 0:
        return None
    inside = *variables, loop.var.name
    body = concurrent(loop.body, inside)
    if body is not None:
        return Generate(loop.var.name, turns, body, ordered=False)
    targets = [target for assign in _assignments(loop.body) for target in assign.targets]
    if any(isinstance(node, bir.For | bir.TmpVar) for node in nodes(loop.body)):
        return None
    if not all(_selected_by(target, variable) for variable in inside for target in targets):
        return None
    # an iteration may read its own assignments, but not those of other iterations
    assigned = {*_signals(targets)}
    selected = sum(node in targets for node in nodes(loop.body))
    if sum(name in assigned for name in _signals(loop.body)) != selected:
        return None
    return Generate(loop.var.name, turns, loop.body, ordered=True)


MOST_CHOICES = 4  # of the value of a signal, and in the mean of a block with several signals


class _OrderMatters(Exception):
    """A signal is read before its last assignment, assigned in parts, or not in all branches."""


class _Values:
    """The values of the signals that statements assign, as conditional expressions."""

    def __init__(self) -> None:
        self.step = 0
        self.written: dict[str, int] = {}  # signal -> the step of its last assignment
        self.read: dict[str, int] = {}  # signal -> the step in which it is read first

    def assignments(self, statements: Sequence[Any]) -> list[Any]:
        """One assignment for each signal."""
        found = self._after(statements, [])
        if any(self.written.get(name, -1) >= step for name, step in self.read.items()):
            raise _OrderMatters
        choices = [sum(isinstance(node, bir.IfExp) for node in nodes(assign.value)) for assign in found]
        if max(choices) > MOST_CHOICES or sum(choices) > 2 * MOST_CHOICES:
            raise _OrderMatters
        return found

    def _after(self, statements: Sequence[Any], found: list[Any]) -> list[Any]:
        for statement in statements:
            self.step += 1
            if isinstance(statement, bir.If):
                self._reads(statement.cond)
                branches = [self._after(body, found) for body in (statement.body, statement.orelse)]
                found = [self._chosen(statement, *pair) for pair in self._paired(*branches)]
            elif isinstance(statement, bir.Assign) and len(statement.targets) == 1:
                self._reads(statement.value, *_indices(statement.targets[0]))
                self.written |= dict.fromkeys(_signals(statement.targets), self.step)
                others = [one for one in found if not _same_target(one, statement)]
                if any(_overlap(one, statement) for one in others):
                    raise _OrderMatters
                found = [*others, statement]
            else:
                raise _OrderMatters
        return found

    def _reads(self, *expressions: Any) -> None:
        for name in _signals([*expressions]):
            self.read.setdefault(name, self.step)

    @staticmethod
    def _paired(body: list[Any], orelse: list[Any]) -> Iterator[tuple[Any, Any]]:
        for one in body:
            other = [item for item in orelse if _same_target(item, one)]
            if not other:
                raise _OrderMatters
            yield one, other[0]
        if len(body) != len(orelse):
            raise _OrderMatters

    @staticmethod
    def _chosen(choice: Any, one: Any, other: Any) -> Any:
        if one is other:
            return one
        value = bir.IfExp(
            _in_turn(choice.cond, choice), _in_turn(one.value, one), _in_turn(other.value, other)
        )
        value.Type = one.targets[0].Type
        made = bir.Assign(one.targets, value, one.blocking)
        made._turns = _turns(one)
        return made


def _in_turn(expression: Any, statement: Any) -> Any:
    """A copy of an expression with the loop variables of the statement that it is from."""
    made = copied(expression)
    made._turns = {**_turns(statement), **_turns(expression)}
    return made


def _turns(node: Any) -> dict[str, int]:
    """The values of the variables of loops that have been unrolled around a statement."""
    return dict(getattr(node, "_turns", {}))


def _selecting(assign: Any) -> dict[str, int]:
    """The values of the variables that select what a statement assigns."""
    named = {node.name for node in nodes(assign.targets) if isinstance(node, bir.LoopVar)}
    return {name: turn for name, turn in _turns(assign).items() if name in named}


def _same_target(one: Any, other: Any) -> bool:
    return one.targets == other.targets and _selecting(one) == _selecting(other)


def _overlap(one: Any, other: Any) -> bool:
    """Whether two assignments may have a bit in common."""
    (mine,), (its,) = one.targets, other.targets
    turns = _turns(other)
    apart = mine == its and any(
        _selected_by(mine, name) and turns[name] != turn for name, turn in _selecting(one).items()
    )
    return not (apart or _disjoint(mine, its))


def _indices(target: Any) -> Iterator[Any]:
    """The index expressions of an assignment's target."""
    while not isinstance(target, bir.Base):
        yield from (getattr(target, name) for name in ("idx", "lower", "upper") if hasattr(target, name))
        target = target.value


def _folded(statements: Iterable[Any], kept_as_case: Callable[[Any], bool]) -> list[Any]:
    """The statements, runs without loops as an assignment for each signal where that is possible."""
    kept: list[Any] = []
    for loops, run in itertools.groupby(statements, lambda statement: isinstance(statement, bir.For)):
        part = [*run]
        if not loops and not any(isinstance(node, bir.For) or kept_as_case(node) for node in nodes(part)):
            with contextlib.suppress(_OrderMatters):
                part = _Values().assignments(part)
        kept += part
    return kept


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
    """The path from the component to an assignment's target: field names, and ranges of bits or elements."""
    if isinstance(target, bir.Base):
        return []
    inside = _steps(target.value)
    if isinstance(target, bir.Attribute):
        return [*inside, ("field", target.attr, "")]
    if isinstance(target, bir.Index):
        first = value_of(target.idx)
        return [*inside, ("bits", first, None if first is None else first + 1)]
    return [*inside, ("bits", value_of(target.lower), value_of(target.upper))]
