// SPDX-License-Identifier: BSD-3-Clause
// Protocol checker for a 32-bit AXI4-Lite bus: rules for the slave and for the master that drives it
// (AMBA AXI, chapters A3 and B1). In simulation, a violation ends the run (Verilator: --assert). With
// FORMAL defined, the master's rules are assumed and the slave's rules are proof obligations.
//
// LIMIT: maximum cycles until the slave responds or is ready, while the master accepts responses.
// FIRST_WRITE_WAITS: the first write after reset may take longer, as in a slave that overwrites keys.

module axi4lite_properties #(
  parameter int ADDRESS_NBITS = 12,
  parameter int LIMIT = 4,
  parameter bit FIRST_WRITE_WAITS = 1'b0
) (
  input logic aclk,
  input logic aresetn,
  input logic [ADDRESS_NBITS-1:0] awaddr,
  input logic [2:0] awprot,
  input logic awvalid,
  input logic awready,
  input logic [31:0] wdata,
  input logic [3:0] wstrb,
  input logic wvalid,
  input logic wready,
  input logic [1:0] bresp,
  input logic bvalid,
  input logic bready,
  input logic [ADDRESS_NBITS-1:0] araddr,
  input logic [2:0] arprot,
  input logic arvalid,
  input logic arready,
  input logic [31:0] rdata,
  input logic [1:0] rresp,
  input logic rvalid,
  input logic rready
);

`ifdef FORMAL
  `define AXI_MASTER(name, p) name : assume (p);
`else
  `define AXI_MASTER(name, p) name : assert (p);
`endif  // FORMAL

  localparam int OPEN_MOST = 3;  // maximum number of accepted accesses without a response

  // ---- the previous cycle

  logic was_reset = 1'b1;
  logic [ADDRESS_NBITS-1:0] was_awaddr;
  logic [ADDRESS_NBITS-1:0] was_araddr;
  logic [2:0] was_awprot;
  logic [2:0] was_arprot;
  logic [31:0] was_wdata;
  logic [31:0] was_rdata;
  logic [3:0] was_wstrb;
  logic [1:0] was_bresp;
  logic [1:0] was_rresp;
  logic aw_waits = 1'b0;
  logic w_waits = 1'b0;
  logic b_waits = 1'b0;
  logic ar_waits = 1'b0;
  logic r_waits = 1'b0;

  always_ff @(posedge aclk) begin
    was_reset <= !aresetn;
    was_awaddr <= awaddr;
    was_awprot <= awprot;
    was_araddr <= araddr;
    was_arprot <= arprot;
    was_wdata <= wdata;
    was_wstrb <= wstrb;
    was_bresp <= bresp;
    was_rdata <= rdata;
    was_rresp <= rresp;
    aw_waits <= aresetn && awvalid && !awready;
    w_waits <= aresetn && wvalid && !wready;
    b_waits <= aresetn && bvalid && !bready;
    ar_waits <= aresetn && arvalid && !arready;
    r_waits <= aresetn && rvalid && !rready;
  end

  // ---- open accesses: accepted, and without a response

  logic [2:0] aw_open = 3'd0;
  logic [2:0] w_open = 3'd0;
  logic [2:0] ar_open = 3'd0;

  always_ff @(posedge aclk) begin
    if (!aresetn) begin
      aw_open <= 3'd0;
      w_open <= 3'd0;
      ar_open <= 3'd0;
    end else begin
      aw_open <= aw_open + 3'(awvalid && awready) - 3'(bvalid && bready);
      w_open <= w_open + 3'(wvalid && wready) - 3'(bvalid && bready);
      ar_open <= ar_open + 3'(arvalid && arready) - 3'(rvalid && rready);
    end
  end

  // ---- cycles spent waiting for the slave

  logic [7:0] b_late = 8'd0;
  logic [7:0] r_late = 8'd0;
  logic [7:0] aw_late = 8'd0;
  logic [7:0] w_late = 8'd0;
  logic [7:0] ar_late = 8'd0;
  logic writes = 1'b0;  // a write has been answered since reset
  wire may_wait = FIRST_WRITE_WAITS && !writes;

  always_ff @(posedge aclk) begin
    writes <= aresetn && (writes || bvalid);
    b_late <= (!aresetn || may_wait || bvalid || aw_open == 3'd0 || w_open == 3'd0) ? 8'd0 :
        b_late + 8'd1;
    r_late <= (!aresetn || rvalid || ar_open == 3'd0) ? 8'd0 : r_late + 8'd1;
    // an address may wait for missing data, and both may wait for a response that is not accepted
    aw_late <= (!aresetn || may_wait || !awvalid || awready || b_waits || w_open < aw_open) ? 8'd0 :
        aw_late + 8'd1;
    w_late <= (!aresetn || may_wait || !wvalid || wready || b_waits || aw_open < w_open) ? 8'd0 :
        w_late + 8'd1;
    ar_late <= (!aresetn || !arvalid || arready || r_waits) ? 8'd0 : ar_late + 8'd1;
  end

  // ---- the rules

  always_ff @(posedge aclk) begin
    if (aresetn) begin
      // master: offered values are stable until they are accepted
      `AXI_MASTER(master_keeps_awvalid, !aw_waits || awvalid)
      `AXI_MASTER(master_keeps_awaddr, !aw_waits || (awaddr == was_awaddr && awprot == was_awprot))
      `AXI_MASTER(master_keeps_wvalid, !w_waits || wvalid)
      `AXI_MASTER(master_keeps_wdata, !w_waits || (wdata == was_wdata && wstrb == was_wstrb))
      `AXI_MASTER(master_keeps_arvalid, !ar_waits || arvalid)
      `AXI_MASTER(master_keeps_araddr, !ar_waits || (araddr == was_araddr && arprot == was_arprot))

      // slave: responses are stable until they are accepted
      keeps_bvalid : assert (!b_waits || bvalid);
      keeps_bresp : assert (!b_waits || bresp == was_bresp);
      keeps_rvalid : assert (!r_waits || rvalid);
      keeps_rdata : assert (!r_waits || (rdata == was_rdata && rresp == was_rresp));

      // no response right after reset, none without a request, and only one for each request
      quiet_after_reset : assert (!was_reset || (!bvalid && !rvalid));
      answers_a_write : assert (!bvalid || (aw_open != 3'd0 && w_open != 3'd0));
      answers_a_read : assert (!rvalid || ar_open != 3'd0);

      // OKAY, SLVERR or DECERR: AXI4-Lite has no exclusive access
      knows_bresp : assert (!bvalid || bresp != 2'b01);
      knows_rresp : assert (!rvalid || rresp != 2'b01);

      // accepted accesses get a response, and offered ones are accepted
      bounds_writes : assert (aw_open <= 3'(OPEN_MOST) && w_open <= 3'(OPEN_MOST));
      bounds_reads : assert (ar_open <= 3'(OPEN_MOST));
      answers_writes_soon : assert (b_late < 8'(LIMIT));
      answers_reads_soon : assert (r_late < 8'(LIMIT));
      takes_addresses_soon : assert (aw_late < 8'(LIMIT));
      takes_data_soon : assert (w_late < 8'(LIMIT));
      takes_reads_soon : assert (ar_late < 8'(LIMIT));
    end
  end

endmodule
