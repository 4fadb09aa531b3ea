// Adapts Rsa256Core, an RSA core with parallel operands, to modexlab's val/rdy streams. Registers hold the operands; i_start and
// o_finished are one-cycle pulses.
module rsa256_wrapper (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [767:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [259:0] ostream__msg  // {status, result}
);
  localparam IDLE = 0, START = 1, WORK = 2, ANSWER = 3;
  reg [1:0] state;
  reg [255:0] base, exp, mod, result;
  wire finished;
  wire [255:0] power;

  Rsa256Core core (
    .i_clk(clk), .i_rst(reset), .i_start(state == START), .i_a(base), .i_d(exp), .i_n(mod),
    .o_a_pow_d(power), .o_finished(finished)
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val) begin {base, exp, mod} <= istream__msg; state <= START; end
      START: state <= WORK;
      WORK: if (finished) begin result <= power; state <= ANSWER; end
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
