"""Translates a component to one readable, self-contained SystemVerilog text.

PyMTL3's translator does the work, but its output is hard to read: banners, the Python source as comments,
absolute paths, modules called `Class__parameter_value__...` or by a hash. So a few of its methods are
overridden here and in structure.py (ports, instances and connections), modules get other names (names.py),
and the text of each module is reformatted (verilog_format.py). The result is the same in every process,
because it is the key to the cache, and clean under `verilator -Wall`.
"""

import inspect
import operator
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any

from pymtl3 import Bits, Component, MetadataKey
from pymtl3.dsl import Interface, Signal
from pymtl3.passes.backends.verilog.translation.behavioral.VBehavioralTranslatorL5 import (
    BehavioralRTLIRToVVisitorL5,
)
from pymtl3.passes.backends.verilog.translation.VerilogTranslationConfigs import VerilogTranslationConfigs
from pymtl3.passes.backends.verilog.util.utility import verilog_reserved
from pymtl3.passes.rtlir import BehavioralRTLIR as bir
from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.behavioral.BehavioralRTLIRGenL1Pass import BehavioralRTLIRGenL1Pass
from pymtl3.passes.rtlir.structural.StructuralRTLIRGenL4Pass import StructuralRTLIRGenL4Pass

from ....fl.errors import BadInput
from ...verilog.translate import translate as translate_tree
from .. import interrupt, toolchain
from ..author_faults import declared
from ..text import VerilogText
from .concurrent import Generate, concurrent, messages, ordered_messages
from .enum_fields import enum_value, enumerations, with_enums
from .enum_states import Known, choice, holds_state, known_of, state_name, without_unreached
from .instance_loops import with_loops
from .module_files import module_files
from .names import described, identity, module_names, prefix_of
from .nodes import copied, nbits_of, nodes, turns_of, value_of
from .parameters import merged, numbers_of
from .source_text import MODULE, Block, line_pattern, renamed
from .structure import DirectStructure, one_element
from .unused_bits import directions, leave_open, silence
from .verilog_format import (
    Order,
    drop_unused,
    layout,
    order_ports,
    source_order,
    tidy,
    without_aliases,
    without_unread,
)

_EVERY_TOP = "every top module has it"


@interrupt.kept()
def translate(
    component: Component,
    name: str | None = None,
    *,
    unique: bool = False,
    unread: Mapping[str, str] = MappingProxyType({}),
    exported: bool = False,
) -> str:
    """The design as SystemVerilog, its top module called `name`, or else as its class.

    unique: the names of all other modules and of the types begin with that of the top, so that several
    designs can be parts of one project. unread: signals of the top module that it need not read, and the
    reason (see unused_bits.py). exported: for any simulator, printed by ../../verilog. Results are measured
    on the other text, which is the same hardware.
    """
    if not component._dsl.constructed:
        component.elaborate()
    if isinstance(component, VerilogText):
        return str(component.text)
    _check_identifiers(component)
    if exported:
        top = name or top_name(component)
        return translate_tree(component, top, prefix_of(top) if unique else "", unread)
    translator = Readable(component, name or top_name(component), unique, unread)
    translator.translate(component, {item: VerilogTranslationConfigs(item) for item in _hierarchy(component)})
    return translator.hierarchy.src


def top_name(component: Component) -> str:
    """The name of the top module where none is given."""
    return type(component).__name__


def lint(verilog: str, *options: str) -> None:
    """Raise ToolError with Verilator's message if it has anything to complain about, style included.

    Each module is in a file of its name, as Verilator wants it.
    """
    files = module_files(verilog)
    with tempfile.TemporaryDirectory(prefix="modexlab-") as directory:
        for name, text in files.items():
            (Path(directory) / name).write_text(text)
        toolchain.verilator(["--lint-only", "-Wall", *options, *files], cwd=Path(directory))


def _hierarchy(component: Component) -> Iterator[Component]:
    """The component and everything inside it, in a fixed order."""
    yield component
    for child in component.get_child_components(repr):
        yield from _hierarchy(child)


def _check_identifiers(component: Component) -> None:
    for item in _hierarchy(component):
        for name, value in vars(item).items():
            if name in verilog_reserved and isinstance(value, Component | Interface | Signal | list):
                file, line = declared(type(item), name)
                raise BadInput(
                    f"{file}, line {line}: {type(item).__name__} has an attribute named {name!r}, which is a "
                    "reserved word of SystemVerilog; rename it"
                )


class Readable(DirectStructure):
    """PyMTL3's translator with our names and layout."""

    def __init__(self, top: Component, name: str, unique: bool, unread: Mapping[str, str]) -> None:
        super().__init__(top)
        self._name = name
        self._prefix = prefix_of(name) if unique else ""
        self._unread_at_top = {"clk": _EVERY_TOP, "reset": _EVERY_TOP, **unread}
        self._module_names: dict[tuple[type, str], str] = {}
        self._of_module: dict[str, rt.Component] = {}
        self._kinds: dict[str, tuple[str, dict[str, int]]] = {}  # module -> its class, and its numbers
        self._unread: dict[str, dict[str, str]] = {}  # module -> ports that it need not read -> the reason
        self._latches: dict[str, tuple[str, ...]] = {}  # module -> outputs that are to be latches
        self._directions: dict[str, dict[str, str]] = {}  # module -> its ports
        self._without = {}
        self._pruned = set()

    def rtlir_tr_initialize(self) -> None:
        super().rtlir_tr_initialize()
        kinds = [
            component.get_metadata(StructuralRTLIRGenL4Pass.rtlir_type)
            for component in _hierarchy(self.tr_top)
        ]
        self._module_names = module_names(kinds, self._name, self._prefix)
        for kind in kinds:
            name, made = self._module_names[identity(kind)], type(kind.obj)
            class_name = f"{self._prefix}{kind.get_name()}"
            self._of_module[name] = kind
            self._unread[name] = dict(getattr(made, "UNREAD", ()))
            if name != self._name:
                self._kinds[name] = class_name, numbers_of(kind.get_params())
            # modules of one class may become one of its name
            self._latches |= dict.fromkeys((name, class_name), getattr(made, "LATCHES", ()))
        self._unread[self._name] |= self._unread_at_top

    def rtlir_tr_component_unique_name(self, c_rtype: rt.Component) -> str:
        return self._module_names[identity(c_rtype)]

    def rtlir_tr_component(self, behavioral: Any, structural: Any) -> str:
        """One module; those inside it come first."""
        name, is_top = structural.component_unique_name, structural.component_is_top
        kind = self._of_module[name]
        text = without_aliases(tidy(super().rtlir_tr_component(behavioral, structural)))
        if name in self._pruned:
            text = without_unread(text)
        if not is_top:
            text, self._without[name] = drop_unused(text)
        text = leave_open(order_ports(text, self._order(name)), self._directions, self._unread)
        self._directions[name] = directions(text)
        return described(kind) + text

    def _order(self, module: str) -> Order:
        """The key that sorts the attributes of a module."""
        return source_order([*vars(self._of_module[module].obj)])

    def rtlir_tr_components(self, components: dict[str, str]) -> str:
        return "\n\n".join([*components.values()][::-1])

    def rtlir_tr_src_layout(self, hierarchy: Any) -> str:
        """The whole text."""
        kinds, modules = [*hierarchy.decl_type_struct], hierarchy.component_src
        types = [text for kind in kinds for text in enumerations(kind.cls)]
        fields = {}
        for kind, template in hierarchy.decl_type_struct.items():
            properties = kind.get_all_properties().items()
            fields[kind.get_name()] = {name: field.get_length() for name, field in properties}
            types.append(with_enums(kind.cls, template["def"]))
        declared = "\n".join([*types, ""])

        def silenced(match: re.Match[str]) -> str:
            return silence(match[0], self._directions, fields, self._unread[match[1]])

        modules = with_loops(merged(MODULE.sub(silenced, modules), self._kinds), fields)
        enums = re.findall(r"(?m)^(?:  |\} )([A-Z]\w*(?= =)|\w+_e(?=;))", declared)
        names = {name: f"{self._prefix}{name}" for name in enums}
        # PyMTL3 appends the fields of a struct to its name; the class name suffices where it is unique
        classes = [kind.cls.__name__ for kind in kinds]
        for kind in kinds:
            short = classes.count(kind.cls.__name__) == 1
            names[kind.get_name()] = self._prefix + (kind.cls.__name__ if short else kind.get_name())
        text = renamed(declared + modules, names).rstrip()
        text = self._marked(layout(text, even=False))
        return f"`default_nettype none\n\n{text}\n\n`default_nettype wire\n"

    def _marked(self, text: str) -> str:
        """The text with an attribute on each output that is to be latches."""
        for module, ports in self._latches.items():
            for port in ports:
                declared = rf"(^module {module}\b[^;]*?^  )(output\b[^,\n]* {port},?$)"
                text = line_pattern(declared).sub(r"\1(* latch *) \2", text)
        return text

    # Update blocks: without their Python source, and indented once (both lists hold the same strings).

    def rtlir_tr_upblk_decl(self, upblk: FunctionType, src: list[str], py_src: list[str]) -> Block:
        return Block(upblk, src)

    def rtlir_tr_upblk_decls(self, upblk_decls: list[list[str]]) -> str:
        """All blocks in the order of the source, with the assignments grouped."""
        blocks = sorted(
            (block for block in upblk_decls if isinstance(block, Block) and block),
            key=lambda block: block.place,
        )
        text, before = "", False
        for block in blocks:
            assigned = len(block) <= FEW and all(line.startswith("assign ") for line in block)
            text += "" if before and assigned else "\n  "
            text += "".join(f"\n  {line}" for line in block)
            before = assigned
        return text

    def rtlir_tr_upblk_srcs(self, upblk_srcs: list[list[str]]) -> str:
        return ""

    def _get_rtlir2v_visitor(self) -> Callable[[Callable[[str], bool]], BehavioralRTLIRToVVisitorL5]:
        return ReadableBlock

    def _literal_number(self, nbits: int, value: int) -> str:
        return _number(nbits, value)


FEW = 3  # assignments of a block that stand together with those of others
ASSOCIATIVE = bir.Add | bir.BitAnd | bir.BitOr | bir.BitXor
UPBLKS = BehavioralRTLIRGenL1Pass.rtlir_upblks
ORDERED: MetadataKey = MetadataKey(frozenset)
_PLAIN = {bir.Add: operator.add, bir.Sub: operator.sub, bir.Mult: operator.mul}


SIGN_HAS_A_NAME = bir.Concat | bir.Index | bir.Slice  # what visit_SignExt extends without a cast


class ReadableBlock(BehavioralRTLIRToVVisitorL5):
    """Expressions and statements of an update block."""

    _known: Known  # of the component whose update block this is

    def __init__(self, is_reserved: Callable[[str], bool]) -> None:
        super().__init__(is_reserved)
        self._turns: dict[str, int] = {}  # loop variables of loops that have one turn
        self._ordered: frozenset[str] = frozenset()  # messages whose fields blocks alone assign

    def visit(self, node: Any) -> Any:
        """As PyMTL3 does, with the loop variables that `unrolled` has set, and the text of `visit_Index`."""
        if getattr(node, "_text", None) is not None:
            return node._text
        before = self._turns
        self._turns = {**before, **getattr(node, "_turns", {})}
        try:
            return super().visit(node)
        finally:
            self._turns = before

    def enter(self, blk: Any, rtlir: Any) -> Any:
        """Translate a block, unless its component writes it."""
        component = rtlir.component
        self._known = known_of(component)
        self._ordered = self._ordered_messages(component)
        written = getattr(component, "verilog", {}).get(blk.__name__)
        if written is not None:
            return [f"always_comb begin : {blk.__name__}", *(f"  {line}" for line in written()), "end"]
        return super().enter(blk, rtlir)

    def _ordered_messages(self, component: Any) -> frozenset[str]:
        """Found for all blocks of a component when its first one is translated."""
        if not component.has_metadata(ORDERED):
            blocks = component.get_metadata(UPBLKS).values()
            combinational = [copied(blk.body) for blk in blocks if isinstance(blk, bir.CombUpblk)]
            bodies = [self._reduced(body) for body in combinational]
            component.set_metadata(ORDERED, frozenset(ordered_messages(bodies)))
        ordered: frozenset[str] = component.get_metadata(ORDERED)
        return ordered

    def _reduced(self, body: list[Any]) -> list[Any]:
        return without_unreached(unrolled(body), self._known)

    def visit_CombUpblk(self, node: Any) -> list[str]:
        node.body = self._reduced(node.body)
        items = None
        if not self._ordered & messages(node.body):
            items = concurrent(node.body, (), lambda branch: choice(branch, self._known.states) is not None)
        return self._block(node, "always_comb") if items is None else self._concurrent(items, node.name)

    def visit_SeqUpblk(self, node: Any) -> list[str]:
        node.body = self._reduced(node.body)
        return self._block(node, "always_ff @(posedge clk)")

    def _block(self, node: Any, kind: str) -> list[str]:
        if not node.body:
            return []
        self.check_res(node, node.name)
        return [f"{kind} begin : {node.name}", *self._statements(node.body), "end"]

    def _statements(self, body: list[Any]) -> list[str]:
        """Statements, indented."""
        return [f"  {line}" for statement in body for line in self.visit(statement)]

    def _concurrent(self, items: list[Any], name: str) -> list[str]:
        """Continuous assignments, and loops of them."""
        lines = []
        loops = sum(isinstance(item, Generate) for item in items)
        for number, item in enumerate(items):
            if isinstance(item, Generate):
                label = name if loops == 1 else f"{name}_{number}"
                i, turns = item.variable, item.turns
                step = f"{i}++" if turns.step == 1 else f"{i} = {i} + {turns.step}"
                lines.append(f"for (genvar {i} = {turns.start}; {i} < {turns.stop}; {step}) begin : {label}")
                if item.ordered:
                    inside = ["always_comb begin", *self._statements(item.body), "end"]
                else:
                    inside = self._concurrent(item.body, f"{label}_inner")
                lines += [*(f"  {line}" for line in inside), "end"]
            else:
                lines += [f"assign {line}" for line in self.visit(item)]
        return lines

    def visit_If(self, node: Any) -> list[str]:
        """A choice by state is a case."""
        if chosen := choice(node, self._known.states):
            signal, branches, others = chosen
            lines = [f"unique case ({self.visit(signal)})"]
            for codes, body in branches:
                lines += self._branch(", ".join(str(self._known.states.name(code)) for code in codes), body)
            return [*lines, *self._branch("default", others), "endcase"]
        node.cond._top_expr = True
        condition = self.visit(node.cond)
        if not node.body:  # its loops have no turns
            return [f"if (!({condition})) begin", *self._statements(node.orelse), "end"]
        lines = [f"if ({condition}) begin", *self._statements(node.body)]
        if len(node.orelse) == 1 and isinstance(node.orelse[0], bir.If):
            first, *more = self.visit(node.orelse[0])
            if first.startswith("if "):
                return [*lines, f"end else {first}", *more]
        if node.orelse:
            lines += ["end else begin", *self._statements(node.orelse)]
        return [*lines, "end"]

    def _branch(self, label: str, body: list[Any]) -> list[str]:
        """Return the branch of a case."""
        lines = [line for item in body for line in self.visit(item)]
        if len(lines) < 2:
            return [f"  {label}: {''.join(lines) or ';'}"]
        return [f"  {label}: begin", *(f"    {line}" for line in lines), "  end"]

    def visit_BinOp(self, node: Any) -> Any:
        """Arithmetic on Python integers becomes its result.

        In Verilog it would be done modulo a power of two wherever the context does not make it wider, as in
        the index `x[nbits + 6'd1]`, which is x[0] where nbits is 63.
        """
        if _is_constant(node):
            width, value = getattr(node, "_context", nbits_of(node)), node._value
            if not -(1 << (width - 1)) <= value < 1 << width:
                raise BadInput(
                    f"a constant expression in {self.blk.__name__} is {value}: {width} bits are too few"
                )
            return _number(width, value % (1 << width))
        if not isinstance(node.op, bir.ShiftLeft | bir.ShiftRightLogic):
            _lend_width(node.left, node.right)
        inner = node.left
        same = isinstance(inner, bir.BinOp) and type(inner.op) is type(node.op) and not _is_constant(inner)
        if same and isinstance(node.op, ASSOCIATIVE):  # needs no parentheses
            node.left._top_expr = node.right._top_expr = True
            return f"{self.visit(node.left)} {self.ops[type(node.op)]} {self.visit_expr_wrap(node.right)}"
        return super().visit_BinOp(node)

    def visit_UnaryOp(self, node: Any) -> str:
        """Put a second operator into parentheses: `~~` is no operator."""
        text = str(super().visit_UnaryOp(node))
        if isinstance(node.operand, bir.UnaryOp) and not hasattr(node, "_value"):
            return f"{text[0]}({text[1:]})"
        return text

    def _is_neutral(self, op: Any, operand: Any) -> bool:
        """Whether this operand, a parameter or a loop variable of one turn, changes nothing."""
        if isinstance(op, bir.Mult):
            return isinstance(operand, bir.FreeVar) and isinstance(operand.obj, int) and operand.obj == 1
        return isinstance(op, bir.Add) and self._turns.get(getattr(operand, "name", "")) == 0

    def visit_Compare(self, node: Any) -> Any:
        if holds_state(node.left, self._known.states) and isinstance(node.op, bir.Eq | bir.NotEq):
            return f"{self.visit(node.left)} {self.ops[type(node.op)]} {self._state(node.right)}"
        if (name := enum_value(node.left, node.right)) is not None:
            return f"{self.visit(node.left)} {self.ops[type(node.op)]} {name}"
        _lend_width(node.left, node.right)
        if _is_signed(node.left) and _is_signed(node.right):
            node.left._text = f"$unsigned({self.visit(node.left)})"
        return super().visit_Compare(node)

    def _state(self, node: Any) -> str:
        """The name of a state, or any other expression that is assigned to a state signal."""
        return state_name(node, self._known.states) or str(self.visit(node))

    def visit_IfExp(self, node: Any) -> Any:
        width = getattr(node, "_context", _width(node))
        node.body._context = node.orelse._context = width
        if isinstance(node.body, bir.IfExp):
            node.body._text = f"({self.visit(node.body)})"
        return super().visit_IfExp(node)

    def visit_Assign(self, node: Any) -> Any:
        kind = node.targets[0].Type
        if all(holds_state(target, self._known.states) for target in node.targets):
            for value in _leaves(node.value):
                value._text = state_name(value, self._known.states)
        if isinstance(kind, rt.Signal):
            node.value._context = kind.get_dtype().get_length()
            self._check_fits(node, node.value._context)
        if _one_of_two(node.value):
            # Verilator 5 fails at a wide concatenation that a variable indexes, with a low --expand-limit
            select, pair = self.visit_expr_wrap(node.value.idx), self.visit(node.value.value)
            node.value._text = f"{select} ? {pair}[1] : {pair}[0]"
        return super().visit_Assign(node)

    def _check_fits(self, node: Any, nbits: int) -> None:
        """BadInput for an integer that is too wide for its target; PyMTL3 alone would cut it."""
        value = value_of(node.value)
        if value is not None and not -(1 << nbits - 1) <= int(value) < 1 << nbits:
            first = inspect.getsourcelines(self.blk)[1]
            raise BadInput(
                f"{inspect.getsourcefile(self.blk)}, line {first + node.ast.lineno - 1}: {int(value)} does "
                f"not fit in the {nbits} bits of its target; take a smaller number, or a wider signal"
            )

    def visit_FreeVar(self, node: Any) -> str:
        # a cast only if the constant was made wider by its context
        text = super().visit_FreeVar(node)
        if isinstance(node.obj, int | Bits):
            nbits = node.obj.nbits if isinstance(node.obj, Bits) else max(1, node.obj.bit_length())
            if nbits_of(node) == nbits:
                return f"__const__{node.name}"
        return text

    def visit_LoopVar(self, node: Any) -> str:
        if node.name in self._turns:
            return _number(nbits_of(node), self._turns[node.name])
        return super().visit_LoopVar(node)

    def visit_Index(self, node: Any) -> Any:
        """Sums of loop variables and constants in the 32 bits of a loop variable, which need no casts."""
        kind = node.value.Type
        if one_element(kind):
            return self.visit(node.value)
        node.idx._text = self._plain(node.idx)
        if _is_instances(kind):
            return f"{self.visit(node.value)}__{getattr(node.idx, '_value', node.idx._text)}"
        return super().visit_Index(node)

    def visit_Slice(self, node: Any) -> Any:
        return self.visit(node.value) if one_element(node.value.Type) else super().visit_Slice(node)

    def _plain(self, node: Any) -> str | None:
        """An index made of loop variables and constants alone, else None."""
        if hasattr(node, "_value"):
            return None if node._is_explicit or isinstance(node, bir.FreeVar) else str(node._value)
        if isinstance(node, bir.LoopVar) and not node._is_explicit:
            return str(self._turns.get(node.name, node.name))
        if isinstance(node, bir.BinOp) and isinstance(node.op, bir.Add | bir.Sub | bir.Mult):
            if self._is_neutral(node.op, node.right):
                return self._plain(node.left)
            left, right = self._plain(node.left), self._plain(node.right)
            if left is not None and right is not None:
                if left.isdecimal() and right.isdecimal():
                    return str(int(_PLAIN[type(node.op)](int(left), int(right))))
                if isinstance(node.op, bir.Mult):
                    left, right = (f"({name})" if " " in name else name for name in (left, right))
                elif isinstance(node.op, bir.Sub) and " " in right:
                    right = f"({right})"
                return f"{left} {self.ops[type(node.op)]} {right}"
        return None

    def visit_Truncate(self, node: Any) -> str:
        """A cast, even if it changes nothing at this width: it does at others."""
        node.value._top_expr = True
        return f"{node.nbits}'({self.visit(node.value)})"

    def visit_Number(self, node: Any) -> str:
        return _number(nbits_of(node), node.value)

    def visit_ZeroExt(self, node: Any) -> str:
        """A cast, or zeros before an expression that a cast would compute in more bits, with its carries."""
        more = node.nbits - _width(node.value)
        if more and _computes(node.value):
            node.value._top_expr = True
            return f"{{{more}'d0, {self.visit(node.value)}}}"
        return self.visit_Truncate(node)

    def visit_SignExt(self, node: Any) -> Any:
        """Copies of the sign before the value; of an expression without a name, a signed cast.

        PyMTL3 takes every element of a list for one bit, and selects bits of sums; Yosys and Icarus select no
        bit of a concatenation.
        """
        value = node.value
        value._top_expr = True
        more, whole = node.nbits - _width(value), self.visit(value)
        if not more:
            return whole
        if isinstance(value, SIGN_HAS_A_NAME):
            return f"{{ {{ {more} {{ {self._sign(value)} }} }}, {whole} }}"
        if isinstance(value, bir.Attribute | bir.TmpVar):
            return super().visit_SignExt(node)
        return f"{node.nbits}'($signed({whole}))"

    def _sign(self, node: Any) -> Any:
        """The most significant bit of a signal, of a part of one, or of a concatenation."""
        while isinstance(node, bir.Concat):
            node = node.values[0]
        if _width(node) == 1:
            return self.visit(node)
        if isinstance(node, bir.Slice):
            top = f"{self.visit(node.base)} + {node.size - 1}" if node.size else node.upper._value - 1
            return f"{self.visit(node.value)}[{top}]"
        return f"{self.visit(node)}[{_width(node) - 1}]"

    def visit_For(self, node: Any) -> list[str]:
        """Plain numbers as bounds."""
        for bound in (node.start, node.end, node.step):
            bound._top_expr = True
        start, end, step = (
            self.visit(bound) if value_of(bound) is None else bound._value
            for bound in (node.start, node.end, node.step)
        )
        i, compare = self.visit(node.var), "<"
        if not isinstance(step, str) and step < 0:
            compare, step = ">", f"-{-step}"
        move = f"{i}++" if step == 1 else f"{i} += {step}".replace("+= -", "-= ")
        head = f"for (int unsigned {i} = {start}; {i} {compare} {end}; {move}) begin"
        return [head, *self._statements(node.body), "end"]

    def visit_Reduce(self, node: Any) -> str:
        """Unlike PyMTL3, which writes `^ a & b` for reduce_xor(a & b): Verilog reads that as (^a) & b. And
        `^~` would be one operator.
        """
        value = self.visit(node.value)
        return f"({self.ops[type(node.op)]}{value if value.isidentifier() else f'({value})'})"

    def visit_expr_wrap(self, node: Any) -> Any:
        """Put compound expressions into parentheses."""
        compound = isinstance(node, bir.IfExp | bir.BinOp | bir.Compare) and not hasattr(node, "_text")
        return f"({self.visit(node)})" if compound and not _is_constant(node) else self.visit(node)


def _computes(node: Any) -> bool:
    """Whether an expression has other low bits if it is computed in more bits than its own."""
    if _is_constant(node) or hasattr(node, "_text"):
        return False
    match node:
        case bir.BinOp():
            if isinstance(node.op, bir.BitAnd | bir.BitOr | bir.BitXor):
                return _computes(node.left) or _computes(node.right)
            return True
        case bir.UnaryOp():
            return True
        case bir.IfExp():
            return _computes(node.body) or _computes(node.orelse)
    return _is_signed(node)


def _is_signed(node: Any) -> bool:
    """Whether the text of an expression is signed, as that of an extended sum is."""
    if hasattr(node, "_text"):
        return False
    match node:
        case bir.SignExt():
            named = SIGN_HAS_A_NAME | bir.Attribute | bir.TmpVar
            return node.nbits > _width(node.value) and not isinstance(node.value, named)
        case bir.BinOp():
            if isinstance(node.op, bir.ShiftLeft | bir.ShiftRightLogic):
                return _is_signed(node.left)
            return _is_signed(node.left) and _is_signed(node.right)
        case bir.UnaryOp():
            return _is_signed(node.operand)
        case bir.IfExp():
            return _is_signed(node.body) and _is_signed(node.orelse)
    return False


def unrolled(statements: list[Any], outer: Mapping[str, int] = MappingProxyType({})) -> list[Any]:
    """Remove loops without iterations and blocks that become empty; replace loops of one iteration by it.

    A loop over instances is fully unrolled, because each instance has signals of its own.

    `outer`: loop variables of such loops around the statements, which `ReadableBlock.visit` finds in
    `_turns`.
    """
    kept = []
    for statement in statements:
        if isinstance(statement, bir.For):
            turns = turns_of(statement)
            inner = {name: value for name, value in outer.items() if name != statement.var.name}
            if turns is not None and (
                len(turns) == 1 or _selects_instance(statement.body, statement.var.name)
            ):
                for turn in turns:
                    kept.extend(unrolled(copied(statement.body), {**inner, statement.var.name: turn}))
                continue
            statement.body = unrolled(statement.body, inner)
            if not statement.body or (turns is not None and not turns):
                continue
        elif isinstance(statement, bir.If):
            statement.body, statement.orelse = (
                unrolled(statement.body, outer),
                unrolled(statement.orelse, outer),
            )
            if not (statement.body or statement.orelse):
                continue
        if outer:
            statement._turns = dict(outer)
        kept.append(statement)
    return kept


def _selects_instance(body: list[Any], variable: str) -> bool:
    """Whether statements select one of several components by a loop variable."""
    return any(
        isinstance(node, bir.Index)
        and _is_instances(node.value.Type)
        and any(isinstance(part, bir.LoopVar) and part.name == variable for part in nodes(node.idx))
        for node in nodes(body)
    )


def _is_instances(kind: Any) -> bool:
    """Whether this is a list of components."""
    return isinstance(kind, rt.Array) and isinstance(kind.get_sub_type(), rt.Component)


def _leaves(value: Any) -> Iterator[Any]:
    """The values between which an expression chooses."""
    if isinstance(value, bir.IfExp):
        yield from _leaves(value.body)
        yield from _leaves(value.orelse)
    else:
        yield value


def _one_of_two(node: Any) -> bool:
    """Whether a bit selects one of two signals."""
    if not (isinstance(node, bir.Index) and isinstance(node.idx, bir.Attribute)):
        return False
    kind = node.value.Type
    signals = isinstance(kind, rt.Array) and isinstance(kind.get_sub_type(), rt.Port | rt.Wire)
    return signals and kind.get_dim_sizes() == [2]


def _is_constant(node: Any) -> bool:
    """Whether an expression is made of Python integers alone."""
    return isinstance(node, bir.BinOp) and hasattr(node, "_value") and not node._is_explicit


def _width(node: Any) -> int:
    """The bits of an expression, which PyMTL3 knows of the leaves, but not of an operation that it
    widened.
    """
    if isinstance(node, bir.BinOp) and not hasattr(node, "_value"):
        if isinstance(node.op, bir.ShiftLeft | bir.ShiftRightLogic):
            return _width(node.left)
        return max(_width(node.left), _width(node.right))
    return nbits_of(node)


def _lend_width(left: Any, right: Any) -> None:
    """A constant expression is as wide as what it is combined with."""
    width = max(_width(left), _width(right))
    left._context = right._context = width


def _number(nbits: int, value: int) -> str:
    """Decimal where a reader would think so, else hexadecimal; a wide power of two as a shift."""
    number = int(value)
    if number > 1 << 64 and number & (number - 1) == 0:
        return f"({nbits}'d1 << {number.bit_length() - 1})"
    return f"{nbits}'d{number}" if number < 1 << 16 else f"{nbits}'h{number:x}"
