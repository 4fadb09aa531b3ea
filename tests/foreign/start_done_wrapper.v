// Adapts start_done.v to modexlab's val/rdy streams. Registers hold the operands while the core works; `go` is a one-cycle
// pulse, and `ready` indicates the result. A request takes two cycles more than the core itself.
module start_done_wrapper #(parameter W = 16, FLAW = 0) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*W-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  localparam IDLE = 0, START = 1, WORK = 2;
  reg [1:0] state;
  reg [W-1:0] base, exp, mod;
  wire ready;
  wire [W-1:0] result;

  start_done #(.W(W), .FLAW(FLAW)) core (
    .clk(clk), .rst_n(!reset), .go(state == START),
    .base_i(base), .exp_i(exp), .mod_i(mod), .one_i({W{1'b0}}), .ready(ready), .result_o(result)
  );

  assign istream__rdy = state == IDLE && ready;
  assign ostream__val = state == WORK && ready;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val && istream__rdy) begin {base, exp, mod} <= istream__msg; state <= START; end
      START: state <= WORK;
      default: if (ostream__val && ostream__rdy) state <= IDLE;
    endcase
endmodule
