// SPDX-License-Identifier: @licence@
// Self-checking testbench of an AXI4-Lite slave. It makes the accesses of rows.svh one at a time:
// address and data of a write come in any order, and responses are accepted with pauses. Every
// response is compared, including those of refused accesses. It ends with PASS, or with FAIL and
// a nonzero exit code.
//
// The clock is an input, driven by main.cpp (Verilator) or by tb_clock.sv (Icarus and other
// event-driven simulators).

`include "vectors.svh"

module tb (
  input logic clk
);

`include "rows.svh"

  localparam int RESET_CYCLES = 4;

  logic reset = 1'b1;
  logic [ADDRESS_NBITS-1:0] awaddr, araddr;
  logic [2:0] prot;  // different for each access: the slave ignores it
  logic [31:0] wdata, rdata;
  logic [3:0] wstrb;
  logic [1:0] bresp, rresp;
  logic awready, wready, bvalid, arready, rvalid, irq;
  logic awvalid = 1'b0, wvalid = 1'b0, bready = 1'b0, arvalid = 1'b0, rready = 1'b0;

`ifdef RANDOM
  // bytes for padding: a shift register with a public sequence replaces the random source
  logic [31:0] lfsr = RANDOM_SEED, lfsr_next;
  logic random_rdy;
  integer step;
  always_comb begin
    lfsr_next = lfsr;
    for (step = 0; step < 8; step = step + 1)
      lfsr_next = {lfsr_next[30:0], lfsr_next[31] ^ lfsr_next[21] ^ lfsr_next[1] ^ lfsr_next[0]};
  end
  always @(posedge clk) if (!reset && random_rdy) lfsr <= lfsr_next;
`endif

  `DUT dut (
    .aclk(clk),
    .aresetn(!reset),
`ifdef KEYED
    .key_modulus(KEY_MODULUS),
    .key_public(KEY_PUBLIC),
    .key_private(KEY_PRIVATE),
`ifdef KEY_GIVEN_PORTS
    `KEY_GIVEN_PORTS
`endif
`endif
`ifdef RANDOM
    .random__msg(lfsr_next[7:0]),
    .random__val(1'b1),
    .random__rdy(random_rdy),
`endif
    .s_axi_awaddr(awaddr),
    .s_axi_awprot(prot),
    .s_axi_awvalid(awvalid),
    .s_axi_awready(awready),
    .s_axi_wdata(wdata),
    .s_axi_wstrb(wstrb),
    .s_axi_wvalid(wvalid),
    .s_axi_wready(wready),
    .s_axi_bresp(bresp),
    .s_axi_bvalid(bvalid),
    .s_axi_bready(bready),
    .s_axi_araddr(araddr),
    .s_axi_arprot(prot),
    .s_axi_arvalid(arvalid),
    .s_axi_arready(arready),
    .s_axi_rdata(rdata),
    .s_axi_rresp(rresp),
    .s_axi_rvalid(rvalid),
    .s_axi_rready(rready),
    .irq(irq)
  );

`ifdef VERILATOR
  axi4lite_properties #(
    .ADDRESS_NBITS(ADDRESS_NBITS),
    .FIRST_WRITE_WAITS(1'b1)
  ) rules (
    .aclk(clk),
    .aresetn(!reset),
    .awaddr(awaddr),
    .awprot(prot),
    .awvalid(awvalid),
    .awready(awready),
    .wdata(wdata),
    .wstrb(wstrb),
    .wvalid(wvalid),
    .wready(wready),
    .bresp(bresp),
    .bvalid(bvalid),
    .bready(bready),
    .araddr(araddr),
    .arprot(prot),
    .arvalid(arvalid),
    .arready(arready),
    .rdata(rdata),
    .rresp(rresp),
    .rvalid(rvalid),
    .rready(rready)
  );
`endif

  // {write, wait for the interrupt, address, data, strobes} and {write, data, refused}
  integer row = 0, cycle = 0, idle = 0, wrong = 0;
  logic [REQUEST_NBITS-1:0] access;
  logic [RESPONSE_NBITS-1:0] answer;
  logic [15:0] pauses = 16'hACE1;  // x^16 + x^14 + x^13 + x^11 + 1
  logic running = 1'b0, aw_left = 1'b0, w_left = 1'b0, ar_left = 1'b0, done;
  logic waits, writes;

  assign writes = access[REQUEST_NBITS-1];
  assign waits = access[REQUEST_NBITS-2];
  assign access = requests[row < ROWS ? row : ROWS - 1];
  assign awaddr = access[REQUEST_NBITS-3:36];
  assign araddr = access[REQUEST_NBITS-3:36];
  assign prot = row[2:0];
  assign wdata = access[35:4];
  assign wstrb = access[3:0];

  always_comb begin
    done = 1'b0;
    answer = {RESPONSE_NBITS{1'b0}};
    if (running && waits) begin
      done = irq;
    end else if (running && writes) begin
      done = bvalid && bready;
      answer = {1'b1, 32'd0, bresp != 2'd0};
    end else if (running) begin
      done = rvalid && rready;
      answer = {1'b0, rdata, rresp != 2'd0};
    end
  end

  always @(posedge clk) begin
    cycle <= cycle + 1;
    idle <= idle + 1;
    reset <= cycle < RESET_CYCLES;
    pauses <= {pauses[14:0], pauses[15] ^ pauses[13] ^ pauses[12] ^ pauses[10]};
    bready <= pauses[2] | pauses[9];
    rready <= pauses[4] | pauses[11];
    if (!reset && row < ROWS) begin
      if (!running) begin
        running <= 1'b1;
        aw_left <= writes && !waits;
        w_left <= writes && !waits;
        ar_left <= !writes && !waits;
      end else begin
        // channels are independent: each starts its offer in turn, and holds it until accepted
        if (awvalid && awready) awvalid <= 1'b0;
        else if (aw_left && !awvalid && pauses[0]) begin
          awvalid <= 1'b1;
          aw_left <= 1'b0;
        end
        if (wvalid && wready) wvalid <= 1'b0;
        else if (w_left && !wvalid && pauses[5]) begin
          wvalid <= 1'b1;
          w_left <= 1'b0;
        end
        if (arvalid && arready) arvalid <= 1'b0;
        else if (ar_left && !arvalid && pauses[1]) begin
          arvalid <= 1'b1;
          ar_left <= 1'b0;
        end
        if (done) begin
          if (answer !== expected[row]) begin
            $display("access %0d: %s %h, data %h, strobes %b",
                     row, writes ? "write" : "read", awaddr, wdata, wstrb);
            $display("  answer   data %h, refused %b", answer[32:1], answer[0]);
            $display("  expected data %h, refused %b", expected[row][32:1], expected[row][0]);
            wrong <= wrong + 1;
          end
          running <= 1'b0;
          row <= row + 1;
          idle <= 0;
        end
      end
    end
    if (row == ROWS) begin
      if (wrong == 0) begin
        $display("PASS: %0d accesses in %0d cycles", row, cycle);
        $finish;
      end else begin
        $display("FAIL: %0d of %0d answers are wrong", wrong, row);
        $fatal(1);
      end
    end
    if (idle > LONGEST) begin
      $display("FAIL: no answer to access %0d in %0d cycles", row, LONGEST);
      $fatal(1);
    end
  end

endmodule
