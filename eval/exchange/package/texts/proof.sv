// The slave and the rules of its bus, for `make prove`: reset in the first cycle, and then whatever a master does that keeps the rules.
module proof (
  input logic aclk,
  input logic aresetn,
{inputs}
);
{outputs}
  {name} dut (
    .aclk(aclk), .aresetn(aresetn), .irq(),
{pins}
  );
  axi4lite_properties #(.ADDRESS_NBITS({address_nbits})) rules (
    .aclk(aclk), .aresetn(aresetn),
{rules}
  );
  logic started = 1'b0;
  always_ff @(posedge aclk) started <= 1'b1;
  always_comb assume (started || !aresetn);
endmodule
