// Example of an external design: sums of two bytes, one at a time, between two val/rdy streams.
module accumulator(
  input clock, input rst,
  input in_valid, output in_ready, input [15:0] in_msg,
  output out_valid, input out_ready, output [7:0] out_msg
);
  reg full;
  reg [7:0] sum;
  assign in_ready = !full;
  assign out_valid = full;
  assign out_msg = sum;
  always @(posedge clock)
    if (rst) full <= 0;
    else if (in_valid && !full) begin
      full <= 1;
      sum <= in_msg[7:0] + in_msg[15:8];
    end else if (out_ready) full <= 0;
endmodule
