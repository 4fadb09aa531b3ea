// Greatest common divisor by halving and subtracting: g = odd << twos, where 2^twos divides both numbers.
// FLAW 1: common factors of 2 are omitted; FLAW 2: it never ends
module gcd #(parameter W = 16, FLAW = 0) (
  input wire clk, input wire rst_n, input wire start, input wire [W-1:0] a_i, input wire [W-1:0] b_i,
  output reg done, output wire [W-1:0] g_o, output reg [W-1:0] odd_o, output reg [7:0] twos_o
);
  reg busy;
  reg [W-1:0] b;
  assign g_o = odd_o << twos_o;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) begin busy <= 0; done <= 0; end
    else if (!busy) begin
      done <= 0;
      if (start) begin busy <= 1; odd_o <= a_i; b <= b_i; twos_o <= 0; end
    end else if (b == 0 && FLAW != 2) begin busy <= 0; done <= 1; end
    else if (odd_o == 0) begin odd_o <= b; b <= 0; end
    else if (!odd_o[0] && !b[0]) begin odd_o <= odd_o >> 1; b <= b >> 1; twos_o <= twos_o + (FLAW != 1); end
    else if (!odd_o[0]) odd_o <= odd_o >> 1;
    else if (!b[0]) b <= b >> 1;
    else if (odd_o > b) odd_o <= odd_o - b;
    else b <= b - odd_o;
endmodule

// Adapts gcd to modexlab's val/rdy streams: `done` is a pulse, and the result is stable until the next start.
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
