// Techmap rule for $lcu, the carries of an adder: those of an addition ripple, and abc restructures them as the slack requires. In a
// chain of additions, such as the steps of MontMulRem, the ripples overlap. Subtractions, comparisons and carries of more than 128 bits
// keep Yosys' own rule, a Brent-Kung network.
(* techmap_celltype = "$lcu" *)
module _80_ripple (P, G, CI, CO);
  parameter WIDTH = 2;
  parameter _TECHMAP_CONSTMSK_CI_ = 0;
  parameter _TECHMAP_CONSTVAL_CI_ = 0;
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *)
  output [WIDTH-1:0] CO;

  localparam SUBTRACTS = _TECHMAP_CONSTMSK_CI_ && _TECHMAP_CONSTVAL_CI_ === 1'b1;
  wire _TECHMAP_FAIL_ = SUBTRACTS || WIDTH > 128;
  wire [WIDTH:0] carry = {CO, CI};
  assign CO = G | (P & carry[WIDTH-1:0]);
endmodule
