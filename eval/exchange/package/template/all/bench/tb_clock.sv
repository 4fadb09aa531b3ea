// SPDX-License-Identifier: @licence@
// The clock of the testbench, for event-driven simulators.

`timescale 1ns / 1ps

module tb_clock;
  logic clk = 1'b0;
  always #1.5 clk = ~clk;
  tb bench (.clk(clk));
endmodule
