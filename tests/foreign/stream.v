// An exponentiation core with one parallel message in and one out, each with valid and ready.
module stream #(parameter W = 16) (
  input wire clk, input wire rst,
  input wire in_valid, output wire in_ready, input wire [3*W-1:0] in_data,
  output wire out_valid, input wire out_ready, output wire [W-1:0] out_data
);
  wire busy, done;
  reg full;
  reg [W-1:0] n;
  assign in_ready = !busy && !done && !full;
  engine #(.W(W)) engine (
    .clk(clk), .rst(rst), .start(in_valid && in_ready), .base(in_data[W-1:0]), .exp(in_data[2*W-1:W]),
    .n(busy ? n : in_data[3*W-1:2*W]), .one({W{1'b0}}), .busy(busy), .done(done), .result(out_data)
  );
  assign out_valid = full;
  always @(posedge clk) if (in_valid && in_ready) n <= in_data[3*W-1:2*W];
  always @(posedge clk)
    if (rst) full <= 0;
    else if (done) full <= 1;
    else if (out_ready) full <= 0;
endmodule
