// SPDX-License-Identifier: @licence@
// The slave with the rules of its bus, for `make prove`: reset in the first cycle, then any master
// that obeys the rules.
module proof (
  input logic aclk,
  input logic aresetn,
  input logic [@address_nbits@-1:0] s_axi_awaddr,
  input logic [2:0] s_axi_awprot,
  input logic s_axi_awvalid,
  input logic [31:0] s_axi_wdata,
  input logic [3:0] s_axi_wstrb,
  input logic s_axi_wvalid,
  input logic s_axi_bready,
  input logic [@address_nbits@-1:0] s_axi_araddr,
  input logic [2:0] s_axi_arprot,
  input logic s_axi_arvalid,
  input logic s_axi_rready
);
  logic s_axi_awready;
  logic s_axi_wready;
  logic s_axi_bvalid;
  logic s_axi_arready;
  logic s_axi_rvalid;
  logic [1:0] s_axi_bresp;
  logic [1:0] s_axi_rresp;
  logic [31:0] s_axi_rdata;

  @name@ dut (.*, .irq());

  axi4lite_properties #(
    .ADDRESS_NBITS(@address_nbits@),
    .FIRST_WRITE_WAITS(1'b1)
  ) rules (
    .aclk(aclk),
    .aresetn(aresetn),
    .awaddr(s_axi_awaddr),
    .awprot(s_axi_awprot),
    .awvalid(s_axi_awvalid),
    .awready(s_axi_awready),
    .wdata(s_axi_wdata),
    .wstrb(s_axi_wstrb),
    .wvalid(s_axi_wvalid),
    .wready(s_axi_wready),
    .bresp(s_axi_bresp),
    .bvalid(s_axi_bvalid),
    .bready(s_axi_bready),
    .araddr(s_axi_araddr),
    .arprot(s_axi_arprot),
    .arvalid(s_axi_arvalid),
    .arready(s_axi_arready),
    .rdata(s_axi_rdata),
    .rresp(s_axi_rresp),
    .rvalid(s_axi_rvalid),
    .rready(s_axi_rready)
  );

  logic started = 1'b0;
  always_ff @(posedge aclk) started <= 1'b1;
  always_comb assume (started || !aresetn);
endmodule
