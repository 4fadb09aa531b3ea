// An exponentiation core with parallel operands that starts while ready; its reset is asynchronous and active low.
module start_done #(parameter W = 16, FLAW = 0, MONT = 0) (
  input wire clk, input wire rst_n, input wire go,
  input wire [W-1:0] base_i, input wire [W-1:0] exp_i, input wire [W-1:0] mod_i, input wire [W-1:0] one_i,
  output wire ready, output wire [W-1:0] result_o
);
  reg held;
  always @(posedge clk or negedge rst_n) if (!rst_n) held <= #1 1; else held <= #1 0;
  wire busy, done;
  engine #(.W(W), .FLAW(FLAW), .MONT(MONT)) engine (
    .clk(clk), .rst(held), .start(go), .base(base_i), .exp(exp_i), .n(mod_i), .one(one_i),
    .busy(busy), .done(done), .result(result_o)
  );
  assign ready = !busy;
endmodule
