// Adapts stream.v to modexlab's val/rdy streams. Valid and ready have the same meaning, so wires suffice; the order of the
// operands differs.
module stream_wrapper #(parameter W = 16) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*W-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  wire [W-1:0] base, exp, mod;
  assign {base, exp, mod} = istream__msg;
  assign ostream__msg[W+3:W] = 4'd0;

  stream #(.W(W)) core (
    .clk(clk), .rst(reset),
    .in_valid(istream__val), .in_ready(istream__rdy), .in_data({mod, exp, base}),
    .out_valid(ostream__val), .out_ready(ostream__rdy), .out_data(ostream__msg[W-1:0])
  );
endmodule
