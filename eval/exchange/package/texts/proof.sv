// The slave and the rules of its bus, for `make prove`: reset in the first cycle, and then whatever a master does that keeps the rules.
module proof (
  input logic clk,
  input logic reset,
{inputs}
);
{outputs}
  {name} dut (
    .clk(clk), .reset(reset), .irq(),
{pins}
  );
  axi4lite_properties #(.ADDRESS_NBITS({address_nbits})) rules (
    .clk(clk), .reset(reset),
{rules}
  );
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  always_comb assume (started || reset);
endmodule
