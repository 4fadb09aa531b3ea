"""Update blocks: PyMTL3's behavioural RTLIR, after its type check, as statements of the tree.

PyMTL3's rules give every expression its width; what it leaves open, an integer or a sum of integers, takes
the width of what it is combined with.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import IntEnum
from types import FunctionType
from typing import Any

from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.behavioral.BehavioralRTLIRGenL1Pass import BehavioralRTLIRGenL1Pass
from pymtl3.passes.rtlir.behavioral.BehavioralRTLIRGenL5Pass import BehavioralRTLIRGenL5Pass
from pymtl3.passes.rtlir.behavioral.BehavioralRTLIRTypeCheckL5Pass import BehavioralRTLIRTypeCheckL5Pass

from ...fl.errors import BadInput
from .fold import binary, negated
from .prune import with_assignments
from .rom import microcode_of, rom
from .scope import Scope
from .tree import (
    Assign,
    Binary,
    Case,
    Cast,
    Comb,
    Concat,
    Element,
    Enum,
    Expr,
    Field,
    For,
    If,
    Loop,
    Member,
    Mux,
    Name,
    Number,
    Range,
    Reference,
    Seq,
    SignExtend,
    Statement,
    Turn,
    Type,
    Unary,
    Vector,
    commented,
    element,
    part,
    read_in,
    root,
    truncated,
    type_of,
    walk,
    written_in,
)

OPERATORS = {
    bir.Invert: "~",
    bir.UAdd: "+",
    bir.USub: "-",
    bir.Add: "+",
    bir.Sub: "-",
    bir.Mult: "*",
    bir.Div: "/",
    bir.Mod: "%",
    bir.Pow: "**",
    bir.ShiftLeft: "<<",
    bir.ShiftRightLogic: ">>",
    bir.BitAnd: "&",
    bir.BitOr: "|",
    bir.BitXor: "^",
    bir.Eq: "==",
    bir.NotEq: "!=",
    bir.Lt: "<",
    bir.LtE: "<=",
    bir.Gt: ">",
    bir.GtE: ">=",
}
PLAIN = 32  # the width of a loop variable, and of the sums of such in an index
FEW, FEW_STATES = 3, 2  # branches that make a case


def blocks_of(component: Any, scope: Scope, top: Any, general: bool) -> Iterator[Comb | Seq | Assign | Loop]:
    """The update blocks of a component.

    general: with loops of one turn, which have more in other modules of the class.
    """
    if not component.get_update_block_order():
        return
    for function in component.get_update_block_order():
        # PyMTL3 keeps one source for each class and name of a block
        if component.get_update_block_info(function)[2] != function.__code__.co_firstlineno:
            code, name = function.__code__, function.__name__
            raise BadInput(
                f"{code.co_filename}, line {code.co_firstlineno}: {type(component).__name__} has two update "
                f"blocks named {name}; rename one"
            )
    BehavioralRTLIRGenL5Pass(top)(component)
    BehavioralRTLIRTypeCheckL5Pass(top)(component)
    found = component.get_metadata(BehavioralRTLIRGenL1Pass.rtlir_upblks)
    for function in component.get_update_block_order():
        node = found[function]
        block = _Block(scope, function, isinstance(node, bir.SeqUpblk), general)
        body = block.statements(node.body)
        about = scope.comments.of_block(function)
        if isinstance(node, bir.SeqUpblk):
            yield from block.before
            yield Seq(node.name, body, comment=about)
            continue
        if microcode := microcode_of(component):
            yield Comb(node.name, rom(microcode, body[0]), comment=about)
            continue
        yield from _with_named_values(block, Comb(node.name, body, comment=about))


def _with_named_values(block: "_Block", comb: Comb) -> Iterator[Comb | Assign]:
    """A block, and outside of it the values under a name that do not change within it."""
    inside = block.names_inside(comb.body)
    outside = [item for name, item in block.named_values.items() if name not in inside]
    yield from (replace(item, comment=comb.comment) for item in outside)
    zeros = (Assign(name, Number(name.width, 0)) for name in inside)
    yield replace(comb, body=(*zeros, *with_assignments(comb.body, lambda item: item not in outside)))


class _Block:
    """One update block.

    general: loops of one turn stay. before: values that a statement needs under a name, assigned in front of
    it, or in front of a block with a clock.
    """

    def __init__(self, scope: Scope, function: FunctionType, is_clocked: bool, general: bool) -> None:
        self.scope, self.name, self.is_clocked = scope, function.__name__, is_clocked
        self.code = function.__code__
        self.before: list[Assign] = []
        self.general = general
        self.turns: dict[str, int] = {}  # variables of loops of one turn
        self.named_values: dict[Name, Assign] = {}
        self.comments = scope.comments.inside(function)
        kinds = (kind for kind in function.__globals__.values() if isinstance(kind, type))
        self.enums = [kind for kind in kinds if issubclass(kind, IntEnum)]

    # ---- statements

    def statements(self, nodes: list[Any]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for node in nodes:
            outer, self.before = self.before, [] if not self.is_clocked else self.before
            made = commented((*self.statement(node),), self.comments.of(node.ast))
            if not self.is_clocked:
                found += self.before
                self.before = outer
            found += made
        return tuple(found)

    def named(self, value: Expr) -> Name:
        """A value under a name, of which parts can be taken."""
        number = len(self.named_values) + 1
        name = self.scope.temporary(self.name, f"value_{number}", value.width)
        self.named_values[name] = Assign(name, value)
        self.before.append(self.named_values[name])
        return name

    def names_inside(self, body: tuple[Statement, ...]) -> list[Name]:
        """The names of values that change within the block, or from one turn of a loop to the next."""
        own = {name.name for name in self.named_values}
        changing = {root(target) for target in written_in(body)} - own
        found: list[Name] = []
        for name, item in self.named_values.items():
            turns = any(isinstance(node, Turn) for node in walk(item.value))
            if turns or {root(node) for node in read_in(item.value)} & changing:
                found.append(name)
                changing.add(name.name)
        return found

    def statement(self, node: Any) -> Iterator[Statement]:
        match node:
            case bir.Assign():
                for target in reversed(node.targets):
                    to = self.target(target, node.value)
                    self.check_fits(node, to.width)
                    yield chosen(to, self.of_type(node.value, to.type))
            case bir.If():
                yield from self.choice(node)
            case bir.For():
                yield from self.loop(node)
            case _:
                raise TypeError(f"{self.name}: {type(node).__name__}")

    def loop(self, node: Any) -> Iterator[Statement]:
        """A loop; of one turn its body, with a number for the variable."""
        start, end, step = (int(bound._value) for bound in (node.start, node.end, node.step))
        turns = range(start, end, step)
        if len(turns) == 1 and not self.general:
            self.turns[node.var.name] = turns[0]
            yield from self.statements(node.body)
            del self.turns[node.var.name]
        elif (turns or self.general) and (body := self.statements(node.body)):
            yield For(Turn(node.var.name), start, end, step, body)

    def check_fits(self, node: Any, nbits: int) -> None:
        """BadInput for an integer that is too wide for its target; PyMTL3 alone would cut it."""
        value = getattr(node.value, "_value", None)
        if value is not None and not -(1 << nbits - 1) <= int(value) < 1 << nbits:
            line = self.code.co_firstlineno + node.ast.lineno - 1
            raise BadInput(
                f"{self.code.co_filename}, line {line}: {int(value)} does not fit in the {nbits} bits of its "
                "target; take a smaller number, or a wider signal"
            )

    def target(self, node: Any, value: Any) -> Reference:
        if isinstance(node, bir.TmpVar):
            return self.scope.temporary(self.name, node.name, _width(value))
        found = self.expr(node)
        assert isinstance(found, Reference)
        return found

    def choice(self, node: Any) -> Iterator[Statement]:
        """An if; a chain of comparisons of one signal with constants is a case."""
        condition = self.expr(node.cond)
        if isinstance(condition, Number):
            yield from self.statements(node.body if condition.value else node.orelse)
            return
        then, other = self.statements(node.body), self.statements(node.orelse)
        if self.is_never(then) or self.is_never(other):
            yield from other if self.is_never(then) else then
            return
        then, other = (
            tuple(item for item in body if not self.enters_nothing(item)) for body in (then, other)
        )
        if not then and not other:
            return
        subject, branches, rest = _branches(If(condition, then, other))
        values = {value for value, _ in branches}
        is_state = self.is_state(subject)
        is_long = len(branches) >= (FEW_STATES if is_state else FEW)
        if subject is not None and is_long and len(values) == len(branches):
            yield Case(subject, branches, rest, is_state)
        else:
            yield If(condition, then, other) if then else If(negated(condition), other, ())

    def is_state(self, node: Expr | None) -> bool:
        kind = type_of(node)
        return isinstance(kind, Enum) and kind == self.scope.state

    def enters_nothing(self, node: Statement) -> bool:
        """Whether a statement gives a signal a state that cannot be."""
        return isinstance(node, Assign) and self.is_state(node.target) and isinstance(node.value, Number)

    def is_never(self, body: tuple[Statement, ...]) -> bool:
        """Whether a branch does only that, so that it is never taken; elsewhere a later statement counts."""
        return len(body) == 1 and self.enters_nothing(body[0])

    # ---- expressions

    def of_type(self, node: Any, kind: Type) -> Expr:
        """A value for a signal or a field, by its name if that is an enumeration."""
        return of_type(self.expr(node, kind.width), kind)

    def expr(self, node: Any, width: int = 0) -> Expr:
        """width: of what an expression of open width is combined with."""
        if (value := getattr(node, "_value", None)) is not None and not _is_signal(node):
            if isinstance(node, bir.UnaryOp) and isinstance(node.operand, bir.FreeVar) and node._is_explicit:
                return self.visit_UnaryOp(node, width)  # by the name of the constant
            size = width if width and not node._is_explicit else _width(node)
            return self.constant(node, int(value), size)
        return getattr(self, f"visit_{type(node).__name__}")(node, width)

    def constant(self, node: Any, value: int, width: int) -> Number | Member:
        """A number; by its name if it is one of an IntEnum, which the source may have made Bits."""
        wraps = node._is_explicit and isinstance(node, bir.UnaryOp | bir.BinOp)  # PyMTL3 has ~5 as -6
        if not wraps and not -(1 << width - 1) <= value < 1 << width:
            raise BadInput(f"a constant expression in {self.name} is {value}: {width} bits are too few")
        name = node.name.partition("_at_")[0] if isinstance(node, bir.FreeVar) else ""
        own = getattr(node, "obj", None)
        named = (kind for kind in self.enums if name and kind.__members__.get(name) == value)
        for kind in [type(own)] if isinstance(own, IntEnum) else named:
            if (codes := self.scope.types.codes(kind, width)) and (member := codes.member(value)):
                return Member(codes, member)
        comment = self.scope.comments.of(name)
        return Number(width, value & (1 << width) - 1, name.upper(), comment=comment)

    def plain(self, node: Any) -> Expr:
        """An index: sums of loop variables and integers as they are, all else by its own width."""
        return self.expr(node, 0 if node._is_explicit else PLAIN)

    def visit_Attribute(self, node: Any, _: int) -> Expr:
        return self.scope.attribute(node, self.plain)

    def visit_TmpVar(self, node: Any, _: int) -> Expr:
        return self.scope.temporary(self.name, node.name, _width(node))

    def visit_LoopVar(self, node: Any, width: int) -> Expr:
        if node.name in self.turns:
            return Number(width or _width(node), self.turns[node.name])
        turn = Turn(node.name)
        return turn if width == PLAIN else Cast(width or _width(node), turn)

    def visit_Index(self, node: Any, _: int) -> Expr:
        if self.scope.is_signal(node):
            return self.scope.attribute(node, self.plain)
        return element(self.expr(node.value), self.plain(node.idx))

    def visit_Slice(self, node: Any, _: int) -> Expr:
        base = self.expr(node.value)
        low, high = (getattr(bound, "_value", None) for bound in (node.lower, node.upper))
        if low is not None and high is not None:
            return part(base, int(low), int(high) - int(low))
        start = self.plain(node.lower)
        if isinstance(start, Number):
            return part(base, start.value, _width(node))
        return Range(base, start, Vector(_width(node)))

    def visit_Concat(self, node: Any, _: int) -> Expr:
        return Concat(tuple(self.expr(value) for value in node.values))

    def visit_StructInst(self, node: Any, _: int) -> Expr:
        kind = self.scope.types.struct(node.struct)
        fields = zip(node.values, kind.fields, strict=True)
        return Concat(tuple(self.of_type(value, field) for value, (_, field) in fields))

    def visit_ZeroExt(self, node: Any, _: int) -> Expr:
        return self.resized(node.nbits, self.expr(node.value))

    visit_Truncate = visit_SizeCast = visit_ZeroExt

    def visit_SignExt(self, node: Any, _: int) -> Expr:
        value = self.expr(node.value)
        if value.width == node.nbits:
            return value
        if isinstance(value, Number):
            sign = value.value >> value.width - 1
            return truncated(value.value | -sign << value.width, node.nbits)
        first = value.parts[0] if isinstance(value, Concat) else value
        has_sign = isinstance(first, Number | Reference) or value.width == 1
        return SignExtend(node.nbits, value if has_sign else self.named(value))

    def resized(self, size: int, value: Expr) -> Expr:
        """Extended by zeros, or the low bits: of the operands, where these decide. Yosys' reader takes a cast
        to fewer bits for one to the bits of its operand.
        """
        if size >= value.width:
            return value if size == value.width else _extended(size, value)
        match value:
            case Number():
                return truncated(value.value, size)
            case Concat():
                parts: list[Expr] = []
                for item in reversed(value.parts):
                    if size > 0:
                        parts.insert(0, self.resized(min(size, item.width), item))
                        size -= parts[0].width
                return parts[0] if len(parts) == 1 else Concat(tuple(parts))
            case SignExtend() if size > value.value.width:
                return SignExtend(size, value.value)
            case Cast():
                return self.resized(size, value.value)
            case Range() if not isinstance(value.low, Number):
                return Range(value.base, value.low, Vector(size))
            case Unary(reduces=False):
                return Unary(value.op, self.resized(size, value.value))
            case Binary() if value.op in ("+", "-", "*", "&", "|", "^"):
                return Binary(value.op, self.resized(size, value.left), self.resized(size, value.right))
            case Binary(op="<<"):
                return Binary(value.op, self.resized(size, value.left), value.right)
            case Mux():
                return Mux(value.condition, self.resized(size, value.then), self.resized(size, value.other))
            case Name() | Field() | Element() | Range() if isinstance(value.type, Vector):
                return part(value, 0, size)
        return part(self.named(value), 0, size)

    def visit_Reduce(self, node: Any, _: int) -> Expr:
        return Unary(OPERATORS[type(node.op)], self.expr(node.value), reduces=True)

    def visit_UnaryOp(self, node: Any, width: int) -> Expr:
        value = self.expr(node.operand, width)
        return Unary(OPERATORS[type(node.op)], value)

    def visit_IfExp(self, node: Any, width: int) -> Expr:
        condition = self.expr(node.cond)
        if isinstance(condition, Number):
            return self.expr(node.body if condition.value else node.orelse, width)
        return Mux(condition, *self.pair(node.body, node.orelse, width))

    def visit_BinOp(self, node: Any, width: int) -> Expr:
        op = OPERATORS[type(node.op)]
        if isinstance(node.op, bir.ShiftLeft | bir.ShiftRightLogic):
            return Binary(op, self.expr(node.left, width), self.plain(node.right))
        return binary(op, *self.pair(node.left, node.right, width))

    def visit_Compare(self, node: Any, _: int) -> Expr:
        left, right = self.pair(node.left, node.right, 0)
        if isinstance(kind := type_of(left), Enum):
            right = as_enum(right, kind)
            impossible = self.is_state(left) and isinstance(right, Number)
            if impossible and isinstance(node.op, bir.Eq | bir.NotEq):
                return Number(1, int(isinstance(node.op, bir.NotEq)))  # no state that can be
        return binary(OPERATORS[type(node.op)], left, right)

    def pair(self, left: Any, right: Any, width: int) -> tuple[Expr, Expr]:
        """Two operands of one width."""
        if not (left._is_explicit or right._is_explicit):
            size = width or max(_width(left), _width(right))
        else:
            size = max(_width(item) for item in (left, right) if item._is_explicit)
        return self.expr(left, size), self.expr(right, size)


def _width(node: Any) -> int:
    """The bits of an expression: PyMTL3 does not keep those of an operation that it widened."""
    if isinstance(node, bir.BinOp) and getattr(node, "_value", None) is None:
        if isinstance(node.op, bir.ShiftLeft | bir.ShiftRightLogic):
            return _width(node.left)
        return max(_width(node.left), _width(node.right))
    return int(node.Type.get_dtype().get_length())


def _is_signal(node: Any) -> bool:
    return isinstance(node.Type, rt.Port | rt.Wire)


def _extended(size: int, value: Expr) -> Expr:
    return Number(size, value.value) if isinstance(value, Number) else Cast(size, value)


def of_type(value: Expr, kind: Type) -> Expr:
    return as_enum(value, kind) if isinstance(kind, Enum) else value


def as_enum(value: Expr, kind: Enum) -> Expr:
    """A value as one of an enumeration."""
    if isinstance(value, Number | Member):
        name = kind.member(value.value)
        return Member(kind, name) if name else Number(kind.width, value.value)
    if isinstance(value, Mux):
        return Mux(value.condition, as_enum(value.then, kind), as_enum(value.other, kind))
    return value


def chosen(target: Reference, value: Expr) -> Statement:
    """An assignment; of one of two members of an enumeration as an if, because Icarus 11 wants a cast."""
    if isinstance(value, Mux) and isinstance(target.type, Enum):
        return If(value.condition, (chosen(target, value.then),), (chosen(target, value.other),))
    return Assign(target, value)


Branches = tuple[tuple[Expr, tuple[Statement, ...]], ...]


def _branches(node: Statement) -> tuple[Expr | None, Branches, tuple[Statement, ...]]:
    """The signal of a chain of comparisons with constants, its branches, and what is done otherwise."""
    found: list[Any] = []
    subject: Expr | None = None
    rest: tuple[Statement, ...] = (node,)
    while len(rest) == 1:
        match rest[0]:
            case Case() as inner if inner.subject == subject:
                (value, body), *others = inner.branches
                branches = (*found, (value, commented(body, inner.comment)), *others)
                return subject, branches, inner.default
            case If() as inner:
                chosen = _compared(inner.condition)
                if chosen is None or subject not in (None, chosen[0]):
                    break
                subject, values = chosen
                body = commented(inner.then, inner.comment)
                found += ((value, body) for value in values)
                rest = inner.other
            case _:
                break
    return subject, tuple(found), rest


def _compared(condition: Expr) -> tuple[Expr, list[Expr]] | None:
    """The signal and the constants of a condition that asks whether it is one of them."""
    match condition:
        case Binary(op="==", left=left, right=Number() | Member() as right) if isinstance(left, Reference):
            return left, [right]
        case Binary(op="|"):
            one, other = _compared(condition.left), _compared(condition.right)
            if one and other and one[0] == other[0]:
                return one[0], [*one[1], *other[1]]
    return None
