// modexp.v behind the streams of modexlab. The core keeps the operands of the cycle of `start`, and its result until the next.
module modexp_wrapper #(parameter WIDTH = 16) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*WIDTH-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [WIDTH+3:0] ostream__msg    // {status, result}
);
  localparam IDLE = 0, WORK = 1, ANSWER = 2;
  reg [1:0] state;
  wire done;
  wire [WIDTH-1:0] base, exp, mod, result;
  assign {base, exp, mod} = istream__msg;

  modexp #(.WIDTH(WIDTH)) core (
    .clk(clk), .rst_n(!reset), .start(istream__val && istream__rdy),
    .base_in(base), .exp_in(exp), .mod_in(mod), .done(done), .result(result)
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val) state <= WORK;
      WORK: if (done) state <= ANSWER;
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
