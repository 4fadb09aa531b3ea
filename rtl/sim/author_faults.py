"""Faults of hardware that PyMTL3 simulates without a word: latches, undriven signals, combinational loops.

The update blocks of a component are read as source. A latch is a signal that a combinational block assigns in
some branches and not in all. A loop is a signal that depends on itself through whole signals alone; PyMTL3
finds the others when it simulates. Parts of a signal with variable indices count as the whole signal, so that
a fault may be missed, but none is reported that is not there.
"""

import ast
import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple, cast

from pymtl3 import Bits, Component, InPort
from pymtl3.dsl import Const, OutPort, Signal

ANY = "[*]"  # an element with an index that is not constant
Sources = frozenset[str]
NOTHING: Sources = frozenset()


class Fault(NamedTuple):
    """A fault, with the place in the source and the remedy."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.message}"


def faults(component: Component, judged: Callable[[Component], bool] = lambda _: True) -> Iterator[Fault]:
    """The faults of an elaborated component in the update blocks of those inside it that are `judged`."""
    components = sorted(component.get_all_components(), key=repr)
    tied = {
        signal: writer._dsl.const
        for writer, signals in component.get_all_value_nets()
        if isinstance(writer, Const)
        for signal in signals
        if signal is not writer
    }
    registers = [Block(one, block, tied) for one in components for block in one.get_update_ff()]
    blocks = [
        Block(one, block, tied)
        for one in components
        for block in one.get_update_block_order()
        if block in one.get_update_blocks() and block not in one.get_update_ff()
    ]
    for block in blocks:
        if judged(block.component):
            yield from block.latches()
    yield from _undriven(component, [*blocks, *registers], judged)
    yield from _loops(component, blocks, judged)


@dataclass
class _State:
    """Assignments of a block so far: keys assigned on every path, and the signals of each."""

    assigned: set[str] = field(default_factory=set)
    sources: dict[str, Sources] = field(default_factory=dict)

    def copy(self) -> "_State":
        return _State(set(self.assigned), dict(self.sources))

    def covers(self, key: str) -> bool:
        """Whether a key, a signal that contains it, or a part of it is assigned."""
        return any(prefix in self.assigned for prefix in _prefixes(key)) or any(
            key in _prefixes(part) for part in self.assigned
        )


def _prefixes(key: str) -> Iterator[str]:
    for place, char in enumerate(key):
        if char in ".[":
            yield key[:place]
    yield key


class Block:
    """A combinational update block of a component."""

    def __init__(self, component: Component, function: Any, tied: Mapping[Any, Any]) -> None:
        self.component, self.function, self.tied = component, function, tied
        _, _, self.line, self.file, tree = component.get_update_block_info(function)
        found = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
        self.body = found.body if found is not None else []
        self.names = _variables(function)
        self.self_name = next(
            (name for name, value in self.names.items() if value is component), "s"
        )  # as the component is called in construct
        self.first: dict[str, ast.AST] = {}  # key -> the first statement that assigns it
        self.reads: dict[str, int] = {}  # key -> the line of the first read that is not in a dead branch
        self.collapsed = self._collapsed()
        self.known = not any(self._calls_code(node) for node in ast.walk(ast.Module(self.body, [])))
        self.end = _State()
        self._run(self.body, self.end, NOTHING)

    def place(self, key: str) -> int:
        return self.line + getattr(self.first[key], "lineno", 1) - 1

    def latches(self) -> Iterator[Fault]:
        declared = getattr(type(self.component), "LATCHES", ())
        if not self.known or self.function.__name__ in getattr(self.component, "verilog", {}):
            return
        for key in self.first:
            if not self.end.covers(key) and key.partition(".")[2].partition("[")[0] not in declared:
                name = f"s.{key.partition('.')[2]}".replace(ANY, "")
                yield Fault(
                    self.file,
                    self.place(key),
                    f"{name} is a latch: {self.function.__name__}() does not assign it in every branch; "
                    "assign a default before the branches, or use update_ff for a register",
                )

    # ---- statements

    def _run(self, statements: Iterable[ast.stmt], state: _State, under: Sources) -> None:
        for statement in statements:
            if isinstance(statement, ast.AugAssign) and self._is_target(statement.target):
                self._assign(statement, statement.target, statement.value, state, under)
            elif isinstance(statement, ast.Assign):  # a variable of the block
                for target in statement.targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            state.sources[name.id] = self._sources(statement.value, state) | under
            elif isinstance(statement, ast.For):
                self._run(statement.body, state, under)
            elif isinstance(statement, ast.If):
                self._branch(statement, state, under)
            elif not isinstance(statement, ast.Pass | ast.Expr | ast.Assert):
                self.known = False

    def _assign(self, statement: ast.AST, target: Any, value: Any, state: _State, under: Sources) -> None:
        key = self._key(target)
        self.first.setdefault(key, statement)
        sources = self._sources(value, state) | under
        for part in ast.walk(target):
            if isinstance(part, ast.Subscript):
                sources |= self._sources(part.slice, state)
        if ANY in key or "[" in key:
            sources |= state.sources.get(key, NOTHING)
        state.sources[key] = sources
        state.assigned.add(key)

    def _branch(self, statement: ast.If, state: _State, under: Sources) -> None:
        constant = self._constant(statement.test)
        if constant is not None:
            self._run(statement.body if constant else statement.orelse, state, under)
            return
        inner = under | self._sources(statement.test, state)
        yes, no = state.copy(), state.copy()
        self._run(statement.body, yes, inner)
        self._run(statement.orelse, no, inner)
        both = {key for key in yes.assigned if no.covers(key)} | {
            key for key in no.assigned if yes.covers(key)
        }
        state.assigned |= both
        for key in {*yes.sources, *no.sources}:
            state.sources[key] = yes.sources.get(key, NOTHING) | no.sources.get(key, NOTHING)

    # ---- expressions

    def _is_target(self, node: ast.AST) -> bool:
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id == self.self_name

    def _key(self, node: ast.AST) -> str:
        """The text of a signal or of a part of one."""
        if isinstance(node, ast.Attribute):
            return f"{self._key(node.value)}.{node.attr}"
        if isinstance(node, ast.Subscript):
            base = self._key(node.value)
            index = self._value(node.slice)
            if index is None or base in self.collapsed:
                return f"{base}{ANY}"
            return f"{base}[{int(index)}]"
        assert isinstance(node, ast.Name)
        return node.id

    def _collapsed(self) -> set[str]:
        """Signals of which the block assigns a part by a slice or a variable index."""
        self.collapsed = set()
        found = set()
        for node in ast.walk(ast.Module(self.body, [])):
            if isinstance(node, ast.AugAssign) and self._is_target(node.target):
                part: Any = node.target
                while isinstance(part, ast.Attribute | ast.Subscript):
                    if isinstance(part, ast.Subscript) and self._value(part.slice) is None:
                        found.add(self._key(part.value))
                    part = part.value
        return found

    def _sources(self, node: ast.AST, state: _State) -> Sources:
        """The whole signals, read before this block assigns them, on which an expression depends."""
        found: set[str] = set()
        if isinstance(node, ast.Name):
            return state.sources.get(node.id, NOTHING)
        if isinstance(node, ast.Attribute | ast.Subscript) and self._is_target(node):
            key = self._key(node)
            self.reads.setdefault(key, self.line + node.lineno - 1)
            if isinstance(node, ast.Subscript):
                found |= self._sources(node.slice, state)
            if not any(prefix in state.sources for prefix in _prefixes(key)):
                return frozenset(found | {key}) if ANY not in key else frozenset(found)
            for prefix in _prefixes(key):
                found |= state.sources.get(prefix, NOTHING)
            if not state.covers(key) and ANY not in key:
                found.add(key)
            return frozenset(found)
        for child in ast.iter_child_nodes(node):
            found |= self._sources(child, state)
        return frozenset(found)

    def _calls_code(self, node: ast.AST) -> bool:
        """Whether a node calls a function that may assign signals, so that the block is not known."""
        if not isinstance(node, ast.Call):
            return False
        called = self.names.get(node.func.id) if isinstance(node.func, ast.Name) else None
        ours = isinstance(called, FunctionType) and not called.__module__.startswith("pymtl3.")
        return ours or (self._is_target(node.func) and not isinstance(node.func, ast.Name))

    def _value(self, node: ast.AST) -> int | None:
        """The value of an expression of constants."""
        try:
            used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            if self.self_name in used or not used <= self.names.keys():
                return None
            expression = ast.Expression(cast(ast.expr, node))
            value = eval(compile(expression, "", "eval"), dict(self.names))
        except Exception:  # anything that the user's names raise; the value is unknown then
            return None
        return int(value) if isinstance(value, int | Bits) else None

    def _constant(self, test: ast.expr) -> bool | None:
        """The value of a condition on constants, on attributes that are no signals, and on signals that are
        connected to constants.
        """
        if isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitAnd | ast.BitOr):
            decides = isinstance(test.op, ast.BitOr)  # a true operand decides an or, a false one an and
            if decides in (self._constant(test.left), self._constant(test.right)):
                return decides
        values: dict[str, Any] = dict(self.names)

        def constant(node: ast.AST) -> ast.AST:
            if isinstance(node, ast.Attribute | ast.Subscript) and self._is_target(node):
                found = self._object(node)
                if isinstance(found, Signal):
                    found = self.tied.get(found)
                if not isinstance(found, int | Bits):
                    raise LookupError
                values[name := f"value{len(values)}"] = found
                return ast.copy_location(ast.Name(name, ast.Load()), node)
            for field_name, child in ast.iter_fields(node):
                if isinstance(child, ast.expr):
                    setattr(node, field_name, constant(child))
                elif isinstance(child, list):
                    setattr(node, field_name, [constant(item) for item in child])
            return node

        try:
            expression = ast.Expression(cast(ast.expr, constant(copy.deepcopy(test))))
            value = eval(compile(expression, "", "eval"), values)
        except Exception:  # it depends on a signal
            return None
        return bool(value) if isinstance(value, int | Bits) else None

    def _object(self, node: ast.AST) -> Any:
        """The signal that an expression without variable indices names."""
        return self.resolved(self._key(node)) if self._is_target(node) else None

    def resolved(self, key: str) -> Any:
        """The object with this key; None if it is no object."""
        if ANY in key:
            return None
        found: Any = self.component
        try:
            for part in key.replace("[", ".[").split(".")[1:]:
                found = found[int(part[1:-1])] if part.startswith("[") else getattr(found, part)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, AssertionError):
            return None
        return found


def _variables(function: Any) -> dict[str, Any]:
    """The variables that a block reads from its surroundings."""
    found = inspect.getclosurevars(function)
    return {**found.builtins, **found.globals, **found.nonlocals}


# ---- drivers


def _top(signal: Any) -> Any:
    return signal.get_top_level_signal()


def _undriven(
    component: Component, blocks: list[Block], judged: Callable[[Component], bool]
) -> Iterator[Fault]:
    """Signals that a block reads, and ports of the top, that nothing drives."""
    _, writes, _ = component.get_all_upblk_metadata()
    driven = {_top(signal) for signals in writes.values() for signal in signals}
    for writer, signals in component.get_all_value_nets():
        if writer is not None:
            driven |= {_top(signal) for signal in signals if not isinstance(signal, Const)}
    own = component.get_all_object_filter(lambda item: isinstance(item, InPort | OutPort))
    ports = {_top(port) for port in own if port.get_host_component() is component}
    driven |= {port for port in ports if isinstance(port, InPort)}
    wanted = {port: ("", 0) for port in ports if judged(component)}
    for block in blocks:
        if judged(block.component):
            for key, line in block.reads.items():
                signal = block.resolved(key.partition(ANY)[0])
                if isinstance(signal, Signal):
                    wanted.setdefault(_top(signal), (block.file, line))
    for signal in sorted(wanted.keys() - driven, key=repr):
        name = signal.get_field_name()
        if name in ("clk", "reset"):
            continue
        file, line = wanted[signal]
        if not line:
            file, line = declared(type(component), name)
        verb = "connect" if isinstance(signal, InPort) else "assign or connect"
        yield Fault(file, line, f"{signal!r} is not driven; {verb} it, or remove it")


def declared(kind: type, name: str) -> tuple[str, int]:
    """File and line of the first use of an attribute in the source of a class."""
    lines, first = inspect.getsourcelines(kind)
    name = name.partition("[")[0]
    place = next((at for at, line in enumerate(lines) if f".{name}" in line), 0)
    return inspect.getsourcefile(kind) or "", first + place


# ---- loops


def _loops(component: Component, blocks: list[Block], judged: Callable[[Component], bool]) -> Iterator[Fault]:
    """Signals that depend on themselves."""
    leader: dict[Any, Any] = {}
    for writer, signals in component.get_all_value_nets():
        leader |= dict.fromkeys(signals, writer)
    edges: dict[Any, set[Any]] = {}
    places: dict[Any, tuple[Block, str]] = {}
    for block in blocks:
        for key in block.first:
            target = block.resolved(key)
            if not isinstance(target, Signal) or ("[" in key and not _is_element(block, key)):
                continue
            read = (block.resolved(name) for name in block.end.sources.get(key, NOTHING))
            sources = {leader.get(one, one) for one in read if isinstance(one, Signal)}
            edges.setdefault(target, set()).update(sources)
            places.setdefault(target, (block, key))
    for loop in _cycles(edges):
        where = [one for one in loop if judged(places[one][0].component)]
        if not where:
            continue
        block, key = places[where[0]]
        names = ", ".join(map(repr, loop))
        what = f"{names} depends on itself" if len(loop) == 1 else f"{names} depend on one another"
        yield Fault(
            block.file,
            block.place(key),
            f"combinational loop: {what}; put a register (update_ff) into the loop",
        )


def _is_element(block: Block, key: str) -> bool:
    """Whether the last index of a key selects an element of a list, not a bit."""
    return key.endswith("]") and isinstance(block.resolved(key.rpartition("[")[0]), list)


def _cycles(edges: dict[Any, set[Any]]) -> Iterator[list[Any]]:
    """One cycle through each group of signals that depend on one another."""
    done: set[Any] = set()
    for start in sorted(edges, key=repr):
        path: list[Any] = []
        on_path: set[Any] = set()
        stack = [(start, iter(sorted(edges[start] & edges.keys(), key=repr)))] if start not in done else []
        if stack:
            path.append(start)
            on_path.add(start)
        while stack:
            _, ahead = stack[-1]
            following = next(ahead, None)
            if following is None:
                done.add(path[-1])
                on_path.discard(path.pop())
                stack.pop()
            elif following in on_path:
                yield path[path.index(following) :]
                return
            elif following not in done:
                path.append(following)
                on_path.add(following)
                stack.append((following, iter(sorted(edges[following] & edges.keys(), key=repr))))
