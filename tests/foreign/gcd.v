// Greatest common divisor by halving and subtracting: g = odd << twos, where 2^twos divides both numbers.
// FLAW 1: common factors of 2 are forgotten; FLAW 2: it never ends
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
