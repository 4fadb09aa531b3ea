// Pattern for extract: a clock gate that the source has as a latch, open while the clock is low, and an AND.
module modexlab_clock_gate (input clk, input en, output gated);
  wire held;
  \$_DLATCH_N_ latch (.E(clk), .D(en), .Q(held));
  \$_AND_ gate (.A(held), .B(clk), .Y(gated));
endmodule
