// SPDX-License-Identifier: @licence@
// Self-checking testbench of a machine with two val/rdy streams. It offers the requests of rows.svh
// with pauses, accepts the responses with pauses, and compares each response. It ends with PASS, or
// with FAIL and a nonzero exit code.
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
  logic [REQUEST_NBITS-1:0] request;
  logic request_val, request_rdy;
  logic [RESPONSE_NBITS-1:0] response;
  logic response_val, response_rdy;

  `DUT dut (
    .clk(clk),
    .reset(reset),
    .istream__msg(request),
    .istream__val(request_val),
    .istream__rdy(request_rdy),
    .ostream__msg(response),
    .ostream__val(response_val),
    .ostream__rdy(response_rdy)
  );

`ifdef VERILATOR
  stream_properties #(.NBITS(REQUEST_NBITS)) requests_keep_the_rules (
    .clk(clk), .reset(reset), .msg(request), .val(request_val), .rdy(request_rdy)
  );
  stream_properties #(.NBITS(RESPONSE_NBITS)) answers_keep_the_rules (
    .clk(clk), .reset(reset), .msg(response), .val(response_val), .rdy(response_rdy)
  );
`endif

  integer cycle = 0, idle = 0, sent = 0, taken = 0, wrong = 0;
  logic [15:0] pauses = 16'hACE1;  // x^16 + x^14 + x^13 + x^11 + 1
  logic offers = 1'b0;

  assign request = requests[sent < ROWS ? sent : ROWS - 1];
  assign request_val = offers;
  assign response_rdy = pauses[3] | pauses[7];

  always @(posedge clk) begin
    cycle <= cycle + 1;
    idle <= idle + 1;
    reset <= cycle < RESET_CYCLES;
    pauses <= {pauses[14:0], pauses[15] ^ pauses[13] ^ pauses[12] ^ pauses[10]};
    if (!reset) begin
      if (request_val && request_rdy) begin
        sent <= sent + 1;
        idle <= 0;
        offers <= pauses[0] && sent + 1 < ROWS;
      end else if (!offers) begin
        offers <= pauses[0] && sent < ROWS;
      end
      if (response_val && response_rdy) begin
        if (taken >= sent) begin
          $display("FAIL: an answer without a request, in cycle %0d", cycle);
          $fatal(1);
        end
        if (response !== expected[taken]) begin
          $display("row %0d: request %h", taken, requests[taken]);
          $display("  answer   %h", response);
          $display("  expected %h", expected[taken]);
          wrong <= wrong + 1;
        end
        taken <= taken + 1;
        idle <= 0;
      end
    end
    if (taken == ROWS) begin
      if (wrong == 0) begin
        $display("PASS: %0d answers in %0d cycles", taken, cycle);
        $finish;
      end else begin
        $display("FAIL: %0d of %0d answers are wrong", wrong, taken);
        $fatal(1);
      end
    end
    if (idle > LONGEST) begin
      $display("FAIL: no answer to request %0d in %0d cycles", taken, LONGEST);
      $fatal(1);
    end
  end

endmodule
