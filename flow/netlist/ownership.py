"""Maps each cell of a flat, mapped netlist to its source module.

Mapping a flat design keeps the names of registers and ports and drops all others. A cell's module is found by
the function of its output. The netlist before mapping, whose nets still have the names of the source, and the
mapped one are simulated with the same random words at registers and ports. A cell whose word, or its
complement, is that of a net of module M belongs to M. A cell with a new function belongs to the module of
most of its readers, or else of its drivers.

Before mapping, a net belongs to the deepest module that names it other than as an input port; a net without a
name belongs to the module of its readers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from .document import SEPARATOR, Bit, Document, Module, enclosing, instances
from .logic import Logic


def module_names(design: Document, top: str) -> dict[str, str]:
    """{path of an instance: its module} for a design with its hierarchy; the top's path is "".

    read_slang creates a module for each instance, Module$path.
    """
    return {path: module.partition("$")[0] for path, module in instances(design, top)}


def input_ports(design: Document, top: str) -> set[str]:
    """The full names of the input ports of all instances."""
    return {
        f"{path}{SEPARATOR}{port}"
        for path, module in instances(design, top)
        for port, data in design["modules"][module]["ports"].items()
        if path and data["direction"] == "input"
    }


def owners(before: Logic, after: Logic, modules: Mapping[str, str], inputs: set[str]) -> dict[str, str]:
    """{cell of `after`: path of its module}."""
    named = _named(before.module, modules, inputs)
    source = _spread(before, named)
    meaning: dict[int, str] = {}
    words = before.simulate()
    mask = words["1"]
    for bit, path in source.items():
        word = words.get(bit, 0)
        if word not in (0, mask):
            meaning.setdefault(min(word, word ^ mask), path)
    words = after.simulate()
    known = _named(after.module, modules, inputs)
    for bit in [*(bit for _, bit, _ in after.sources()), *(node.out for node in after.nodes)]:
        meant = meaning.get(min(words[bit], words[bit] ^ mask))
        if meant is not None:
            known[bit] = meant
    spread = _spread(after, known)
    return {cell: spread.get(out, "") for cell, out, _ in _outputs(after)}


def owners_by_names(logic: Logic, modules: Mapping[str, str], inputs: set[str]) -> dict[str, str]:
    """{cell: path of its module} for a netlist whose design is not simulated: by the names of nets."""
    spread = _spread(logic, _named(logic.module, modules, inputs))
    return {cell: spread.get(out, "") for cell, out, _ in _outputs(logic)}


def _outputs(logic: Logic) -> Iterable[tuple[str, Bit, tuple[Bit, ...]]]:
    """(cell, one of its outputs, the nets that it depends on)."""
    for node in logic.nodes:
        yield node.cell, node.out, node.inputs
    for state in logic.states:
        for bit, _ in state.outputs[:1]:
            yield state.cell, bit, (state.data, state.clock)
    for gate in logic.gates:
        yield gate.cell, gate.out, (gate.enable, gate.clock)


def _named(module: Module, modules: Mapping[str, str], inputs: set[str]) -> dict[Bit, str]:
    """The module path of each net with a name from the source."""
    found: dict[Bit, str] = {}
    for name, net in module["netnames"].items():
        if net.get("hide_name") or name in inputs:
            continue
        path = next(enclosing(name, modules))  # names of nets may contain the separator too
        for bit in net["bits"]:
            if isinstance(bit, int) and len(path) >= len(found.get(bit, "")):
                found[bit] = path
    return found


def _spread(logic: Logic, known: Mapping[Bit, str]) -> dict[Bit, str]:
    """Extend `known` to the outputs of all cells: the path of most of their readers, or else of their
    drivers.
    """
    found = dict(known)
    readers = defaultdict(list)
    for _, out, inputs in _outputs(logic):
        for bit in inputs:
            readers[bit].append(out)

    def vote(out: Bit, bits: Iterable[Bit]) -> None:
        votes = Counter(found[bit] for bit in bits if bit in found)
        if out not in found and votes:
            found[out] = votes.most_common(1)[0][0]

    for gate in logic.gates:
        vote(gate.out, readers[gate.out])
    for node in reversed(logic.nodes):
        vote(node.out, readers[node.out])
    for node in logic.nodes:
        vote(node.out, node.inputs)
        found.setdefault(node.out, "")
    return found
