// base ^ exp mod n, right to left, one bit of a product per cycle, for base < n. The other cores in this folder are
// this engine behind various interfaces, for tests of manifests.
//   FLAW 1: no reduction to 0: the last subtraction is omitted if both sides are equal, so that a multiple of n gives
//           n, and 1 is not reduced modulo 1
//   FLAW 2: it never ends
//   MONT 1: Montgomery products, R = 2^W: base, one and the result are in Montgomery form
module engine #(parameter W = 16, FLAW = 0, MONT = 0) (
  input wire clk, input wire rst, input wire start,
  input wire [W-1:0] base, input wire [W-1:0] exp, input wire [W-1:0] n, input wire [W-1:0] one,
  output reg busy, output reg done, output reg [W-1:0] result
);
  reg [W-1:0] square, e, a, b;
  reg [W+1:0] p;
  reg [15:0] left;
  reg squaring, working;

  wire [W+1:0] n_wide = n;
  wire [W+1:0] doubled = p << 1;
  wire [W+1:0] below = doubled >= n_wide ? doubled - n_wide : doubled;
  wire [W+1:0] plain = below + (b[W-1] ? a : 0);
  wire [W+1:0] added = p + (b[0] ? a : 0);
  wire [W+1:0] evened = (added + (added[0] ? n_wide : 0)) >> 1;
  wire [W+1:0] sum = MONT ? (left == 1 ? evened : evened + n_wide) : plain;
  wire over = FLAW == 1 ? sum > n_wide : sum >= n_wide;
  wire [W+1:0] next = over ? sum - n_wide : sum;

  always @(posedge clk) begin
    done <= 0;
    if (rst) begin busy <= 0; working <= 0; done <= 0; end
    else if (start && !busy) begin
      busy <= 1; working <= 0; squaring <= 0;
      square <= base; e <= exp; result <= MONT ? one : FLAW == 1 || n != 1;
    end else if (busy && !working) begin
      if (e == 0) begin busy <= FLAW == 2; done <= FLAW != 2; end
      else begin
        working <= 1; left <= W; p <= 0;
        squaring <= !e[0];
        a <= square; b <= e[0] ? result : square;
      end
    end else if (busy) begin
      p <= next; b <= MONT ? b >> 1 : b << 1; left <= left - 1;
      if (left == 1) begin
        p <= 0; left <= W; b <= square;
        if (squaring) begin square <= next[W-1:0]; e <= e >> 1; working <= 0; end
        else begin result <= next[W-1:0]; squaring <= 1; end
      end
    end
  end
endmodule
