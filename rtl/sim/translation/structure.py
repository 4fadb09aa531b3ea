"""Instances, ports and connections of a module, written by overriding PyMTL3's structural translator.

PyMTL3 gives every pin of every instance a wire of its own, arrays of instances arrays of such wires, and
joins them by assignments; a list of ports becomes an unpacked array, which Yosys and Icarus refuse. Here pins
are connected directly, a list of ports is a packed array, a list of one port is that port, and each instance
of a list has wires of its own. States have an enumeration (rtl/states.py).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from pymtl3.passes.backends.verilog.translation.VTranslator import VTranslator
from pymtl3.passes.rtlir import RTLIRDataType as rdt
from pymtl3.passes.rtlir import RTLIRType as rt
from pymtl3.passes.rtlir.RTLIRPass import RTLIRPass
from pymtl3.passes.rtlir.structural import StructuralRTLIRSignalExpr as sexp
from pymtl3.passes.rtlir.structural.StructuralRTLIRGenL4Pass import StructuralRTLIRGenL4Pass

from ...states import NONE, States, states_of
from .enum_states import known_of
from .source_text import words_in

Connection = tuple[str, str]  # the writer, the reader
CLOCKING = ("clk", "reset")  # PyMTL3 gives them to every module
STATE = "state_t"


class Pin(NamedTuple):
    port: str
    direction: str  # input or output
    wire: str
    declaration: str  # of the wire


class Instance(NamedTuple):
    module: str
    name: str
    pins: list[Pin]


def one_element(kind: Any) -> bool:
    """Whether an index into this selects all of it: a list of one signal, or a signal of one bit."""
    if isinstance(kind, rt.Array):
        return kind.get_dim_sizes()[0] == 1 and isinstance(kind.get_sub_type(), rt.Port | rt.Wire)
    if not isinstance(kind, rt.Port | rt.Wire):
        return False
    dtype = kind.get_dtype()
    return isinstance(dtype, rdt.Vector) and dtype.get_length() == 1


def root(text: str) -> str:
    """The name with which an expression begins."""
    return re.split(r"\W", text, maxsplit=1)[0]


def packed(dtype: Mapping[str, Any], sizes: Collection[int]) -> str:
    """The packed dimensions of an array of values of this type."""
    outer = "".join(f"[{size - 1}:0]" for size in sizes)
    inner = dtype["packed_type"]
    return outer if outer and inner == "[0:0]" else f"{outer}{inner}"


def declared(*words: str) -> str:
    return " ".join(word for word in words if word)


class DirectStructure(VTranslator):
    """PyMTL3's translator, its modules joined without a wire for each pin."""

    _without: dict[str, list[str]]  # module -> clk and reset if it has no such port; of those written so far
    _states: States = NONE  # of the module whose declarations are being written
    _pruned: set[str]  # the modules whose update blocks may have lost branches

    # ---- declarations

    def translate_decls(self, m: Any) -> None:
        self._states = states_of(m)
        super().translate_decls(m)
        self.structural.decl_consts[m] = self._enumeration(m) + self.structural.decl_consts[m]

    def _enumeration(self, m: Any) -> str:
        """The states of a component."""
        known = known_of(m)
        if known.states.codes or known.constants or hasattr(m, "verilog") or _has_choices(m):
            kind = m.get_metadata(StructuralRTLIRGenL4Pass.rtlir_type)
            self._pruned.add(self.rtlir_tr_component_unique_name(kind))
        if not self._states.codes:
            return ""
        nbits = self._states.nbits
        names = ",\n".join(
            f"    {name} = {self._literal_number(nbits, code)}" for name, code in self._states.codes.items()
        )
        return f"\n  typedef enum logic [{nbits - 1}:0] {{\n{names}\n  }} {STATE};\n\n"

    def rtlir_tr_wire_decl(self, id_: str, Type: Any, array_type: Any, dtype: Any) -> tuple[str, str]:
        if id_ in self._states.signals:
            dtype = {**dtype, "data_type": STATE, "packed_type": ""}
        return id_, super().rtlir_tr_wire_decl(id_, Type, array_type, dtype)

    def rtlir_tr_wire_decls(self, wire_decls: list[tuple[str, str]]) -> dict[str, str]:
        return dict(wire_decls)

    def rtlir_tr_behavioral_tmpvars(self, tmpvars: list[tuple[str, str]]) -> str:
        text: str = super().rtlir_tr_behavioral_tmpvars([declaration for _, declaration in tmpvars])
        return text

    def rtlir_tr_unpacked_array_type(self, Type: rt.Array | None) -> dict[str, Any]:
        sizes = [] if Type is None else [size for size in Type.get_dim_sizes() if size != 1]
        return {"def": "", "unpacked_type": "".join(f"[0:{size - 1}]" for size in sizes), "n_dim": sizes}

    def rtlir_tr_port_decl(self, id_: str, Type: Any, array_type: Any, dtype: Any) -> str:
        flat = {"def": "", "unpacked_type": "", "n_dim": []}
        wide = {**dtype, "packed_type": packed(dtype, array_type["n_dim"])}
        return super().rtlir_tr_port_decl(id_, Type, flat, wide)

    def rtlir_tr_const_decl(
        self, id_: str, Type: Any, array_type: Any, dtype: Any, value: Any
    ) -> str:  # tables keep their one row
        while isinstance(value, list) and not array_type["n_dim"]:
            value = value[0]
        return super().rtlir_tr_const_decl(id_, Type, array_type, dtype, value)

    def rtlir_tr_interface_decl(
        self, ifc_id: str, ifc_rtype: Any, array_type: Any, port_decls: list[dict[str, Any]]
    ) -> list[str]:
        sizes = array_type["n_dim"]
        return [
            declared(port["direction"], port["data_type"], _wider(sizes, port), f"{ifc_id}__{port['id']}")
            for port in port_decls
        ]

    # ---- instances

    def rtlir_tr_subcomp_decl(
        self, m: Any, c_id: str, c_rtype: Any, c_array_type: Any, port_conns: Any, ifc_conns: Any
    ) -> list[Instance]:
        children = getattr(m, c_id)
        return [
            self._instance(child, name, [*port_conns, *ifc_conns]) for name, child in _named(c_id, children)
        ]

    def _instance(self, child: Any, name: str, ports: list[dict[str, Any]]) -> Instance:
        kind = self.tr_top.get_metadata(RTLIRPass.rtlir_getter).get_rtlir(child)
        module = self.rtlir_tr_component_unique_name(kind)
        pins = []
        for port in ports:
            wire = f"{name}__{port['id']}"
            words = declared(port["data_type"], _wider([], port), wire)
            pins.append(Pin(port["id"], port["direction"].strip(), wire, words))
        return Instance(module, name, pins)

    def rtlir_tr_subcomp_decls(self, subcomps: list[list[Instance]]) -> list[Instance]:
        return [instance for subcomp in subcomps for instance in subcomp]

    # ---- connections

    def rtlir_tr_connection(self, wr_signal: str, rd_signal: str) -> Connection:
        return wr_signal, rd_signal

    def rtlir_tr_connections(self, connections: list[Connection]) -> list[Connection]:
        return connections

    def rtlir_signal_expr_translation(self, expr: Any, m: Any, status: str = "intermediate") -> str:
        """As in PyMTL3, but without indices that select a whole signal."""
        if isinstance(expr, sexp.PortIndex | sexp.WireIndex | sexp.BitSelection | sexp.PartSelection):
            base = expr.get_base()
            if one_element(base.get_rtype()):
                return self.rtlir_signal_expr_translation(base, m, status)
        return super().rtlir_signal_expr_translation(expr, m, status)

    def rtlir_tr_part_selection(self, base_signal: str, start: int, stop: int, status: str) -> str:
        if stop - start == 1:
            return self.rtlir_tr_bit_selection(base_signal, start, status)
        return super().rtlir_tr_part_selection(base_signal, start, stop, status)

    def rtlir_tr_component_array_index(self, base_signal: str, index: int, status: str) -> str:
        return f"{base_signal}__{index}"

    # ---- a module

    def rtlir_tr_component(self, behavioral: Any, structural: Any) -> str:
        blocks, wires = words_in(behavioral.upblk_decls), structural.decl_wires
        lost = {
            pin.wire
            for instance in structural.decl_subcomps
            for pin in instance.pins
            if pin.port in self._without[instance.module]
        }
        instances = [
            instance._replace(pins=[pin for pin in instance.pins if pin.wire not in lost])
            for instance in structural.decl_subcomps
        ]
        connections = [pair for pair in structural.connections if pair[1] not in lost]
        texts, connections = joined(instances, connections, blocks)
        if structural.component_unique_name in self._pruned:
            wires, connections = read_somewhere(wires, connections, blocks, "\n".join(texts))
        structural.decl_wires = "\n".join(f"  {wire}" for wire in wires.values())
        structural.decl_subcomps = "\n\n".join(texts)
        structural.connections = "\n".join(f"  assign {reader} = {writer};" for writer, reader in connections)
        return super().rtlir_tr_component(behavioral, structural)


def _has_choices(m: Any) -> bool:
    """Whether an update block depends on a parameter that is true or false."""
    blocks = (*m.get_update_blocks(), *m.get_update_ff())
    return any(isinstance(cell.cell_contents, bool) for block in blocks for cell in block.__closure__ or ())


def _wider(sizes: list[int], port: Mapping[str, Any]) -> str:
    """The packed dimensions of a port that PyMTL3 describes with unpacked ones."""
    own = [int(size) + 1 for size in re.findall(r"\[0:(\d+)\]", port["unpacked_type"])]
    return packed(port, [*sizes, *own])


def _named(name: str, children: Any) -> Iterator[tuple[str, Any]]:
    """The instances in an attribute, which may be a list of lists, and their names."""
    if isinstance(children, list):
        for i, child in enumerate(children):
            yield from _named(f"{name}__{i}", child)
    else:
        yield name, children


def joined(
    instances: list[Instance], connections: list[Connection], blocks: Collection[str]
) -> tuple[list[str], list[Connection]]:
    """The instances as Verilog, with the wires that their pins need, and the connections that are left.

    blocks: the names in update blocks. A wire that a block mentions stays.
    """
    pins = {pin.wire: pin for instance in instances for pin in instance.pins}
    mentions = Counter(root(end) for pair in connections for end in pair)
    mentions.update(blocks)
    ends: dict[str, str] = {}  # wire of a pin -> to what the pin is connected instead
    dropped: set[Connection] = set()
    for writer, reader in connections:
        for wire, end, direction in ((reader, writer, "input"), (writer, reader, "output")):
            if wire in pins and pins[wire].direction == direction and mentions[wire] == 1:
                # an output that an input takes keeps its wire, which is then the one between the two
                if direction == "input" or root(end) not in pins:
                    ends[wire] = end
                    dropped.add((writer, reader))
    wires = [f"  {pin.declaration};" for pin in pins.values() if pin.wire not in ends]
    texts = ["\n".join(wires)] if wires else []
    for instance in instances:
        body = ",\n".join(f"    .{pin.port}( {ends.get(pin.wire, pin.wire)} )" for pin in instance.pins)
        texts.append(f"  {instance.module} {instance.name}\n  (\n{body}\n  );")
    return texts, [pair for pair in connections if pair not in dropped]


def read_somewhere(
    wires: dict[str, str], connections: list[Connection], blocks: Collection[str], instances: str
) -> tuple[dict[str, str], list[Connection]]:
    """Declarations and connections without the wires that are given a value and not read."""
    read = {*blocks, *words_in(instances)}
    while unread := wires.keys() - read - {root(writer) for writer, _ in connections}:
        wires = {name: wire for name, wire in wires.items() if name not in unread}
        connections = [pair for pair in connections if root(pair[1]) not in unread]
    return wires, connections
