// An exponentiation core with strobed 4-bit words, each with its number: load = 1 for the modulus, 2 for the exponent, 3
// for the base. A word of the result is read one cycle after its address. Done is a pulse. It uses the falling clock edge.
module serial #(parameter W = 16) (
  input wire ck, input wire reset,
  input wire [1:0] load, input wire [7:0] number, input wire [3:0] nibble, input wire begin_n,
  output wire finished, input wire [7:0] where, output reg [3:0] out
);
  reg [W-1:0] n, e, m;
  wire busy;
  wire [W-1:0] result;
  wire clk = !ck;
  engine #(.W(W)) engine (
    .clk(clk), .rst(reset), .start(!begin_n), .base(m), .exp(e), .n(n), .one({W{1'b0}}),
    .busy(busy), .done(finished), .result(result)
  );
  always @(posedge clk) begin
    out <= result[4 * where +: 4];
    case (load)
      1: n[4 * number +: 4] <= nibble;
      2: e[4 * number +: 4] <= nibble;
      3: m[4 * number +: 4] <= nibble;
      default: ;
    endcase
  end
endmodule
