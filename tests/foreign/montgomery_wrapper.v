// Adapts start_done.v with Montgomery products to modexlab's val/rdy streams. Software computes both numbers in Montgomery
// form, which follow the operands in the message ([prepare] of montgomery.toml).
module montgomery_wrapper #(parameter W = 16) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [5*W-1:0] istream__msg,  // {base, exp, mod, base_m, one}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  localparam IDLE = 0, START = 1, WORK = 2;
  reg [1:0] state;
  reg [W-1:0] exp, mod, base_m, one;
  wire ready;
  wire [W-1:0] result;

  start_done #(.W(W), .MONT(1)) core (
    .clk(clk), .rst_n(!reset), .go(state == START),
    .base_i(base_m), .exp_i(exp), .mod_i(mod), .one_i(one), .ready(ready), .result_o(result)
  );

  assign istream__rdy = state == IDLE && ready;
  assign ostream__val = state == WORK && ready;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val && istream__rdy) begin {exp, mod, base_m, one} <= istream__msg[4*W-1:0]; state <= START; end
      START: state <= WORK;
      default: if (ostream__val && ostream__rdy) state <= IDLE;
    endcase
endmodule
