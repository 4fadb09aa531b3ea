// Names begin with _80_: techmap takes the rules for a cell in the order of their names, and those of yosys begin with _90_.
// $lcu, the carries of an adder: a ripple where words are added, Sklansky's prefix network where they are subtracted or compared
// (then the carry in is 1), since what is wanted there is the last carry, and soon. In chains of additions (the steps of
// MontMulRem) ripples overlap, as each bit of a step needs only the next bit of the step before; abc restructures what is
// critical. Yosys' own rule makes a Brent-Kung network of every adder.
(* techmap_celltype = "$lcu" *)
module _80_mixed_carry (P, G, CI, CO);
  parameter WIDTH = 2;
  parameter _TECHMAP_CONSTMSK_CI_ = 0;
  parameter _TECHMAP_CONSTVAL_CI_ = 0;
  localparam SUBTRACTS = _TECHMAP_CONSTMSK_CI_ && _TECHMAP_CONSTVAL_CI_ === 1'b1;
  localparam LEVELS = $clog2(WIDTH);
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *)
  output [WIDTH-1:0] CO;

  genvar i, level;
  generate
    if (SUBTRACTS && WIDTH > 4) begin : prefix
      // row `level` begins at level * WIDTH
      wire [WIDTH*(LEVELS+1)-1:0] p, g;
      assign p[WIDTH-1:0] = P;
      assign g[WIDTH-1:0] = {G[WIDTH-1:1], G[0] | (P[0] & CI)};
      for (level = 0; level < LEVELS; level = level + 1) begin : row
        for (i = 0; i < WIDTH; i = i + 1) begin : place
          localparam HERE = level * WIDTH + i;
          localparam BELOW = level * WIDTH + ((i >> level) << level) - 1;
          if ((i >> level) & 1) begin
            assign g[HERE+WIDTH] = g[HERE] | (p[HERE] & g[BELOW]);
            assign p[HERE+WIDTH] = p[HERE] & p[BELOW];
          end else begin
            assign g[HERE+WIDTH] = g[HERE];
            assign p[HERE+WIDTH] = p[HERE];
          end
        end
      end
      assign CO = g[WIDTH*LEVELS +: WIDTH];
    end else begin : ripple
      wire [WIDTH:0] carry;
      assign carry[0] = CI;
      assign CO = carry[WIDTH:1];
      for (i = 0; i < WIDTH; i = i + 1) begin : place
        assign carry[i+1] = G[i] | (P[i] & carry[i]);
      end
    end
  endgenerate
endmodule
