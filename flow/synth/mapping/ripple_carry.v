// Names begin with _80_: techmap takes the rules for a cell in the order of their names, and those of yosys begin with _90_.
// $lcu, the carries of an adder, as a plain ripple. Yosys' own rule makes a Brent-Kung network at once, for every adder; from
// a ripple abc builds what the slack asks for. Chains of adders (the steps of MontMulRem) gain most: each bit of a step
// needs only the next bit of the step before, so that the ripples overlap.
(* techmap_celltype = "$lcu" *)
module _80_ripple_carry (P, G, CI, CO);
  parameter WIDTH = 2;
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *)
  output [WIDTH-1:0] CO;

  wire [WIDTH:0] carry;
  assign carry[0] = CI;
  assign CO = carry[WIDTH:1];

  genvar i;
  generate
    for (i = 0; i < WIDTH; i = i + 1) begin : place
      assign carry[i+1] = G[i] | (P[i] & carry[i]);
    end
  endgenerate
endmodule
