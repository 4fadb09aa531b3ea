"""Module around a design with backend `native`, with registered inputs.

In each call, Verilator evaluates all logic that depends on the inputs of the top level, whether they have
changed or not. In a design whose datapath depends on a static port such as the modulus, it evaluates all
combinational logic three times per cycle. With registers that the driver strobes when an input changes, it
evaluates it once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .memory.access import MemoryMessages
from .ports import Ports

HARNESS = "Harness"  # the name of the module

Slice = tuple[str, int, int]  # an input or output of the harness, its highest bit and its lowest


@dataclass(frozen=True)
class Harness:
    """The ports of the harness with their widths, and their bits at each port of the design."""

    inputs: dict[str, dict[str, int]]  # by the signal whose rising edge registers them
    outputs: dict[str, int] = field(default_factory=dict)
    # without the clock; the most significant slice first
    connections: dict[str, tuple[Slice, ...]] = field(default_factory=dict)

    def connect(self, port: str, parts: dict[str, int], strobe: str | None = None) -> None:
        """Connect a port of the design to new ports of the harness, the most significant first: inputs with
        this strobe, or outputs.
        """
        (self.inputs[strobe] if strobe else self.outputs).update(parts)
        self.connections[port] = tuple((name, nbits - 1, 0) for name, nbits in parts.items())

    def connect_stream(self, name: str, message: dict[str, int], strobe: str, *, received: bool) -> None:
        """Connect a stream that the design receives or sends, with a message of these parts."""
        to_design, from_design = (strobe, None) if received else (None, strobe)
        self.connect(f"{name}__val", {f"{name}_val": 1}, to_design)
        self.connect(f"{name}__msg", message, to_design)
        self.connect(f"{name}__rdy", {f"{name}_rdy": 1}, from_design)

    @property
    def widths(self) -> dict[str, int]:
        """The widths of the inputs, then of the outputs."""
        return {
            name: nbits for ports in (*self.inputs.values(), self.outputs) for name, nbits in ports.items()
        }

    def verilog(self, top: str, names: Mapping[str, str] | None = None) -> str:
        """The text of the module, around the module `top`; `names` maps ports to different names in `top`."""
        names = names or {}
        clocks = [f"input logic {signal}" for signal in dict.fromkeys(("clk", *self.inputs))]
        ports, registers = [], []
        for strobe, inputs in self.inputs.items():
            for name, nbits in inputs.items():
                ports.append(f"input logic [{nbits - 1}:0] {name}")
                registers.append(f"  logic [{nbits - 1}:0] {name}_r;")
                registers.append(f"  always_ff @(posedge {strobe}) {name}_r <= {name};")
        ports += [f"output logic [{nbits - 1}:0] {name}" for name, nbits in self.outputs.items()]
        connections = [f".{names.get('clk', 'clk')}(clk)"]
        for port, slices in self.connections.items():
            parts = [
                f"{name if name in self.outputs else f'{name}_r'}[{high}:{low}]" for name, high, low in slices
            ]
            connections.append(f".{names.get(port, port)}({{{', '.join(parts)}}})")
        return "\n".join(
            [
                "",
                f"module {HARNESS} (",
                ",\n".join(f"  {port}" for port in (*clocks, *ports)),
                ");",
                *registers,
                f"  {top} {top}_under_test (",
                ",\n".join(f"    {connection}" for connection in connections),
                "  );",
                "endmodule",
                "",
            ]
        )


def harness(ports: Ports) -> Harness:
    """The harness of a design with these ports."""
    built = Harness({"load": {}, "load_statics": {"statics": ports.static_nbits}})
    built.connect("reset", {"reset": 1}, "load")
    built.connect_stream("istream", {"istream_msg": ports.request.nbits}, "load", received=True)
    built.connect_stream("ostream", {"ostream_msg": ports.response.nbits}, "load", received=False)
    above = ports.static_nbits
    for name, kind in ports.statics:
        built.connections[name] = (("statics", above - 1, above - kind.nbits),)
        above -= kind.nbits
    for memory in ports.memory:
        _connect_memory(built, memory)
    return built


def _connect_memory(built: Harness, port: MemoryMessages) -> None:
    """Connect a memory port, whose requests the design sends."""
    inner, name = f"{port.name}__", f"{port.name}_"
    built.connect(f"{inner}req__val", {f"{name}req_val": 1})
    built.connect(f"{inner}req__msg", {f"{name}req_msg": port.request_nbits})
    built.connect(f"{inner}req__rdy", {f"{name}req_rdy": 1}, "load")
    built.connect(f"{inner}resp__val", {f"{name}resp_val": 1}, "load")
    built.connect(f"{inner}resp__msg", {f"{name}resp_msg": port.response_nbits}, "load")
    built.connect(f"{inner}resp__rdy", {f"{name}resp_rdy": 1})
