// SPDX-License-Identifier: @licence@
// Self-checking testbench of the slave behind APB. Each access of rows.svh is one transfer, with
// pauses between transfers, and every response is compared, including those of refused accesses.
// It ends with PASS, or with FAIL and a nonzero exit code.
//
// The clock is an input, driven by main.cpp (Verilator) or by tb_clock.sv (Icarus and other
// event-driven simulators).

module tb (
  input logic clk
);

`include "rows.svh"

  localparam int RESET_CYCLES = 4;

  // {write, wait for the interrupt, address, data, strobes} and {write, data, refused}
  integer row = 0, cycle = 0, idle = 0, wrong = 0;
  logic [REQUEST_NBITS-1:0] access;
  logic [RESPONSE_NBITS-1:0] answer;
  logic [15:0] pauses = 16'hACE1;  // x^16 + x^14 + x^13 + x^11 + 1
  logic reset = 1'b1, waits, writes, done;

  logic psel = 1'b0, penable = 1'b0, pready, pslverr, irq;
  logic [ADDRESS_NBITS-1:0] paddr;
  logic [31:0] prdata;

  assign access = requests[row < ROWS ? row : ROWS - 1];
  assign writes = access[REQUEST_NBITS-1];
  assign waits = access[REQUEST_NBITS-2];
  assign paddr = access[REQUEST_NBITS-3:36];
  assign done = waits ? irq : penable && pready;
  assign answer = waits ? {RESPONSE_NBITS{1'b0}} : {writes, writes ? 32'd0 : prdata, pslverr};

  @name@_apb dut (
    .pclk(clk),
    .presetn(!reset),
    .psel(psel),
    .penable(penable),
    .pwrite(writes),
    .paddr(paddr),
    .pprot(row[2:0]),
    .pwdata(access[35:4]),
    .pstrb(access[3:0]),
    .pready(pready),
    .prdata(prdata),
    .pslverr(pslverr),
    .irq(irq)
  );

  always @(posedge clk) begin
    cycle <= cycle + 1;
    idle <= idle + 1;
    reset <= cycle < RESET_CYCLES;
    pauses <= {pauses[14:0], pauses[15] ^ pauses[13] ^ pauses[12] ^ pauses[10]};
    if (!reset && row < ROWS) begin
      if (done) begin
        if (answer !== expected[row]) begin
          $display("access %0d: %s %h, data %h, strobes %b",
                   row, writes ? "write" : "read", paddr, access[35:4], access[3:0]);
          $display("  answer   data %h, refused %b", answer[32:1], answer[0]);
          $display("  expected data %h, refused %b", expected[row][32:1], expected[row][0]);
          wrong <= wrong + 1;
        end
        psel <= 1'b0;
        penable <= 1'b0;
        row <= row + 1;
        idle <= 0;
      end else if (!waits) begin
        penable <= psel;
        psel <= psel || pauses[0];
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
