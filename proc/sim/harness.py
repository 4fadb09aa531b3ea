"""The module around a processor at stage `native`: inputs that are registers, and messages split into fields.

For every call, Verilator evaluates whatever depends on the top level's inputs. Here they go into registers at
the clock edge: the driver knows the inputs of the next cycle before the edge, so that one call per cycle
evaluates all logic once.
"""

from ...rtl.sim.harness import Harness, whole
from ...rtl.sim.ports import Message
from .ports import INPUTS, OUTPUTS, RECEIVERS, SENDERS


def harness() -> Harness:
    """The harness of a processor.

    It has a port for each field: `commit_pc`, `imem_req_addr`, `imem_req_val`, `imem_req_rdy`.
    """
    inputs: dict[str, int] = {"reset": 1}
    outputs: dict[str, int] = {}
    connections = {"reset": whole("reset", 1)}

    def connect(port: str, fields: dict[str, int], side: dict[str, int]) -> None:
        side |= fields
        connections[port] = tuple(part for name, nbits in fields.items() for part in whole(name, nbits))

    for name, kind in INPUTS.items():
        connect(name, {name: kind.nbits}, inputs)
    for name, kind in OUTPUTS.items():
        connect(name, _fields(name, Message.of(kind)), outputs)
    for streams, to_design, from_design in ((RECEIVERS, inputs, outputs), (SENDERS, outputs, inputs)):
        for name, kind in streams.items():
            connect(f"{name}__val", {f"{name}_val": 1}, to_design)
            connect(f"{name}__msg", _fields(name, Message.of(kind)), to_design)
            connect(f"{name}__rdy", {f"{name}_rdy": 1}, from_design)
    return Harness({"clk": inputs}, outputs, connections)


def _fields(port: str, message: Message) -> dict[str, int]:
    """Name and width of each field; of a message without fields, of the whole."""
    fields = message.fields or (("", message.nbits),)
    return {f"{port}_{name}" if name else f"{port}_msg": nbits for name, nbits in fields}
