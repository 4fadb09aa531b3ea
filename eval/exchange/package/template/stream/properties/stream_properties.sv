// SPDX-License-Identifier: @licence@
// The rules of a val/rdy stream, as assertions for simulation and proofs: val and the message are stable until rdy is 1, and val is 0
// right after reset.

module stream_properties #(
  parameter int NBITS = 1
) (
  input logic clk,
  input logic reset,
  input logic [NBITS-1:0] msg,
  input logic val,
  input logic rdy
);

  logic was_reset = 1'b1;
  logic waits = 1'b0;
  logic [NBITS-1:0] was_msg;

  always_ff @(posedge clk) begin
    was_reset <= reset;
    was_msg <= msg;
    waits <= !reset && val && !rdy;
    if (!reset) begin
      keeps_val : assert (!waits || val);
      keeps_msg : assert (!waits || msg == was_msg);
      quiet_after_reset : assert (!was_reset || !val);
    end
  end

endmodule
