// An exponentiation core with byte streams (valid and ready): modulus, exponent and base, most significant byte first;
// in_last starts it. The result leaves most significant byte first.
module packets #(parameter W = 16) (
  input wire clk, input wire rst,
  input wire in_valid, output wire in_ready, input wire [7:0] in_data, input wire in_last,
  output wire out_valid, input wire out_ready, output wire [7:0] out_data
);
  reg [3*W-1:0] all;
  reg [W-1:0] out;
  reg [7:0] left;
  reg start;
  wire busy, done;
  wire [W-1:0] result;
  engine #(.W(W)) engine (
    .clk(clk), .rst(rst), .start(start), .base(all[W-1:0]), .exp(all[2*W-1:W]),
    .n(all[3*W-1:2*W]), .one({W{1'b0}}), .busy(busy), .done(done), .result(result)
  );
  assign in_ready = !busy && !start && left == 0;
  assign out_valid = left != 0;
  assign out_data = out[W-1:W-8];
  always @(posedge clk) begin
    start <= 0;
    if (rst) left <= 0;
    else begin
      if (in_valid && in_ready) begin all <= {all, in_data}; start <= in_last; end
      if (done) begin out <= result; left <= W / 8; end
      else if (out_valid && out_ready) begin out <= out << 8; left <= left - 1; end
    end
  end
endmodule
