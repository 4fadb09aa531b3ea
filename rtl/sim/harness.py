"""The Verilog around a design at stage `native`: inputs that are registers.

For every call, Verilator evaluates whatever depends on the top level's inputs, whether they have changed or
not: in a design whose datapath sees a static port such as the modulus, three times all combinational logic
in a cycle. Behind registers that the driver strobes when it has something new, it is once.
"""

from .ports import Ports

HARNESS = "Harness"  # the name of the module

_TEMPLATE = """
module {harness}
(
  input  logic clk,
  input  logic load,
  input  logic load_statics,
  input  logic reset,
  input  logic istream_val,
  input  logic [{request}:0] istream_msg,
  input  logic ostream_rdy,
  input  logic [{statics}:0] statics,
  output logic istream_rdy,
  output logic ostream_val,
  output logic [{response}:0] ostream_msg
);
  logic reset_r;
  logic istream_val_r;
  logic [{request}:0] istream_msg_r;
  logic ostream_rdy_r;
  logic [{statics}:0] statics_r;

  always_ff @(posedge load) begin
    reset_r <= reset;
    istream_val_r <= istream_val;
    istream_msg_r <= istream_msg;
    ostream_rdy_r <= ostream_rdy;
  end

  always_ff @(posedge load_statics) statics_r <= statics;

  {top} {top}_under_test
  (
{connections}
  );
endmodule
"""


def harness(top: str, ports: Ports) -> str:
    """The module `Harness` for a design with these ports."""
    connections = {
        "clk": "clk",
        "reset": "reset_r",
        "istream__val": "istream_val_r",
        "istream__rdy": "istream_rdy",
        "istream__msg": "istream_msg_r",
        "ostream__val": "ostream_val",
        "ostream__rdy": "ostream_rdy_r",
        "ostream__msg": "ostream_msg",
    }
    above = ports.static_nbits
    for name, kind in ports.statics:
        connections[name] = f"statics_r[{above - 1}:{above - kind.nbits}]"
        above -= kind.nbits
    return _TEMPLATE.format(
        harness=HARNESS,
        top=top,
        request=ports.request.nbits - 1,
        response=ports.response.nbits - 1,
        statics=ports.static_nbits - 1,
        connections=",\n".join(f"    .{port}({signal})" for port, signal in connections.items()),
    )
