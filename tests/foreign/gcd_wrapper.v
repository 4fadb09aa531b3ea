// gcd.v behind the streams of modexlab: `done` is a pulse, and the result stays until the next start.
module gcd_wrapper #(parameter W = 16, FLAW = 0) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [2*W-1:0] istream__msg,  // {a, b}
  output wire ostream__val, input wire ostream__rdy, output wire [W-1:0] ostream__msg    // {g}
);
  localparam IDLE = 0, START = 1, WORK = 2, ANSWER = 3;
  reg [1:0] state;
  reg [W-1:0] a, b;
  wire done;

  gcd #(.W(W), .FLAW(FLAW)) core (
    .clk(clk), .rst_n(!reset), .start(state == START), .a_i(a), .b_i(b),
    .done(done), .g_o(ostream__msg), .odd_o(), .twos_o()
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val) begin {a, b} <= istream__msg; state <= START; end
      START: state <= WORK;
      WORK: if (done) state <= ANSWER;
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
