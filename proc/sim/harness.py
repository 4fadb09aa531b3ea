"""The Verilog around a processor at stage `native`: inputs that are registers, and messages split into fields.

For every call, Verilator evaluates whatever depends on the top level's inputs. Here they go into registers at the
clock edge: the driver knows the inputs of the next cycle before the edge, so that one call per cycle evaluates
all logic once.
"""

from collections.abc import Iterator

from ...rtl.sim.harness import HARNESS
from ...rtl.sim.ports import Message
from .ports import INPUTS, OUTPUTS, RECEIVERS, SENDERS

_TEMPLATE = """
module {harness}
(
{ports}
);
{signals}

  always_ff @(posedge clk) begin
{registers}
  end

{assigns}

  {top} {top}_under_test
  (
{connections}
  );
endmodule
"""


def harness(top: str) -> str:
    """The module `Harness` for the processor in module `top`.

    The harness has a port for each field: `commit_pc`, `imem_req_addr`, `imem_req_val`, `imem_req_rdy`.
    """
    inputs: dict[str, int] = {"reset": 1}
    outputs: dict[str, int] = {}
    signals: list[str] = []
    assigns: list[str] = []
    connections = {"clk": "clk", "reset": "reset_r"}
    for name, kind in INPUTS.items():
        inputs[name] = kind.nbits
        connections[name] = f"{name}_r"
    for name, kind in RECEIVERS.items():
        inputs[f"{name}_val"] = outputs[f"{name}_rdy"] = 1
        parts = {part: nbits for part, nbits, _ in _fields(name, Message.of(kind))}
        inputs |= parts
        connections[f"{name}__val"], connections[f"{name}__rdy"] = f"{name}_val_r", f"{name}_rdy"
        connections[f"{name}__msg"] = "{" + ", ".join(f"{part}_r" for part in parts) + "}"
    for name, kind in {**SENDERS, **OUTPUTS}.items():
        if name in SENDERS:
            inputs[f"{name}_rdy"] = outputs[f"{name}_val"] = 1
            connections[f"{name}__val"], connections[f"{name}__rdy"] = f"{name}_val", f"{name}_rdy_r"
        connections[f"{name}__msg" if name in SENDERS else name] = f"{name}_packed"
        signals.append(_declared("logic", f"{name}_packed", kind.nbits))
        for part, nbits, low in _fields(name, Message.of(kind)):
            outputs[part] = nbits
            assigns.append(f"  assign {part} = {name}_packed[{low + nbits - 1}:{low}];")
    signals += [_declared("logic", f"{name}_r", nbits) for name, nbits in inputs.items()]
    ports = [
        "  input logic clk",
        *(_declared("input logic", name, nbits) for name, nbits in inputs.items()),
        *(_declared("output logic", name, nbits) for name, nbits in outputs.items()),
    ]
    return _TEMPLATE.format(
        harness=HARNESS,
        top=top,
        ports=",\n".join(ports),
        signals="\n".join(f"{signal};" for signal in signals),
        registers="\n".join(f"    {name}_r <= {name};" for name in inputs),
        assigns="\n".join(assigns),
        connections=",\n".join(f"    .{port}({signal})" for port, signal in connections.items()),
    )


def _fields(port: str, message: Message) -> Iterator[tuple[str, int, int]]:
    """Name, width and lowest bit of each field; of a message without fields, of the whole."""
    low = message.nbits
    for name, nbits in message.fields or (("", message.nbits),):
        low -= nbits
        yield f"{port}_{name}" if name else f"{port}_msg", nbits, low


def _declared(kind: str, name: str, nbits: int) -> str:
    return f"  {kind} [{nbits - 1}:0] {name}"
