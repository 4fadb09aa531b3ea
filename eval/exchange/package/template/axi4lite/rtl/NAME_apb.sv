// @name@_apb: the accelerator behind APB (AMBA APB, issues C and later)
// SPDX-License-Identifier: @licence@
//
// A bridge to the slave's AXI4-Lite port: each APB transfer is one access and waits for its
// response. A refused access ends with pslverr.

`default_nettype none

module @name@_apb (
  input  logic pclk,
  input  logic presetn,
  input  logic psel,
  input  logic penable,
  input  logic pwrite,
  input  logic [@address_nbits@-1:0] paddr,
  input  logic [2:0] pprot,
  input  logic [31:0] pwdata,
  input  logic [3:0] pstrb,
  output logic pready,
  output logic [31:0] prdata,
  output logic pslverr,
  output logic irq
);

  logic awready;
  logic wready;
  logic bvalid;
  logic arready;
  logic rvalid;
  logic [1:0] bresp;
  logic [1:0] rresp;
  logic address_sent;
  logic data_sent;
  logic write;
  logic read;

  assign write = psel && penable && pwrite;
  assign read = psel && penable && !pwrite;
  assign pready = pwrite ? bvalid : rvalid;
  assign pslverr = pready && (pwrite ? bresp : rresp) != 2'b00;

  // the two channels of a write accept independently
  always_ff @(posedge pclk) begin
    if (!presetn || !psel || pready) begin
      address_sent <= 1'b0;
      data_sent <= 1'b0;
    end else begin
      if (write ? awready : read && arready) address_sent <= 1'b1;
      if (write && wready) data_sent <= 1'b1;
    end
  end

  @name@ slave (
    .aclk(pclk),
    .aresetn(presetn),
    .s_axi_awaddr(paddr),
    .s_axi_awprot(pprot),
    .s_axi_awvalid(write && !address_sent),
    .s_axi_awready(awready),
    .s_axi_wdata(pwdata),
    .s_axi_wstrb(pstrb),
    .s_axi_wvalid(write && !data_sent),
    .s_axi_wready(wready),
    .s_axi_bresp(bresp),
    .s_axi_bvalid(bvalid),
    .s_axi_bready(write),
    .s_axi_araddr(paddr),
    .s_axi_arprot(pprot),
    .s_axi_arvalid(read && !address_sent),
    .s_axi_arready(arready),
    .s_axi_rdata(prdata),
    .s_axi_rresp(rresp),
    .s_axi_rvalid(rvalid),
    .s_axi_rready(read),
    .irq(irq)
  );

endmodule

`default_nettype wire
