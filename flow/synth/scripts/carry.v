// Techmap rules for $lcu, the carries of an adder. Yosys' own rule builds a Brent-Kung network for every adder. These rules build a
// ripple, which abc restructures as the slack requires. Chains of adders (the steps of MontMulRem) gain most: each bit of a step needs
// only the next bit of the previous step, so that the ripples overlap.
//   MIXED  Sklansky's prefix network for subtractions and comparisons (with a carry in of 1), as these need the last carry early
//   PROOF  only wide carries, as a ripple: the network is proved against this description, which therefore differs from it
// techmap applies the rules for a cell in the order of their names: _70_ before _80_, and yosys' own rules, _90_, last.

// More than 128 bits: a prefix network for all kinds of adders, because no clock period allows for a ripple of that length. It is
// built recursively from halves, in less than a second; a loop over all bits in one module takes yosys six minutes at 1,024 bits.
(* techmap_celltype = "$lcu" *)
module _70_wide_carry (P, G, CI, CO);
  parameter WIDTH = 2;
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *)
  output [WIDTH-1:0] CO;

  wire _TECHMAP_FAIL_ = WIDTH <= 128;

  generate
    if (WIDTH > 128) begin : wide
`ifdef PROOF
      \modexlab_ripple #(.WIDTH(WIDTH)) ripple (.P(P), .G(G), .CI(CI), .CO(CO));
`else
      \modexlab_prefix #(.WIDTH(WIDTH)) prefix (
        .P(P), .G({G[WIDTH-1:1], G[0] | (P[0] & CI)}), .PO(), .GO(CO)
      );
`endif
    end
  endgenerate
endmodule

`ifdef PROOF
module modexlab_ripple (P, G, CI, CO);
  parameter WIDTH = 2;
  localparam LOW = WIDTH / 2;
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *)
  output [WIDTH-1:0] CO;

  generate
    if (WIDTH < 2) begin : one
      assign CO = G | (P & CI);
    end else begin : halves
      \modexlab_ripple #(.WIDTH(LOW)) low (.P(P[LOW-1:0]), .G(G[LOW-1:0]), .CI(CI), .CO(CO[LOW-1:0]));
      \modexlab_ripple #(.WIDTH(WIDTH - LOW)) high (
        .P(P[WIDTH-1:LOW]), .G(G[WIDTH-1:LOW]), .CI(CO[LOW-1]), .CO(CO[WIDTH-1:LOW])
      );
    end
  endgenerate
endmodule
`else
// Generate and propagate signals of all prefixes from bit 0; the upper half waits for the highest bit of the lower half.
module modexlab_prefix (P, G, PO, GO);
  parameter WIDTH = 2;
  localparam LOW = WIDTH < 2 ? 1 : 1 << ($clog2(WIDTH) - 1);
  localparam HIGH = WIDTH - LOW;
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  (* force_downto *)
  output [WIDTH-1:0] PO, GO;

  generate
    if (WIDTH < 2) begin : one
      assign PO = P;
      assign GO = G;
    end else begin : halves
      wire [HIGH-1:0] p, g;
      \modexlab_prefix #(.WIDTH(LOW)) low (
        .P(P[LOW-1:0]), .G(G[LOW-1:0]), .PO(PO[LOW-1:0]), .GO(GO[LOW-1:0])
      );
      \modexlab_prefix #(.WIDTH(HIGH)) high (.P(P[WIDTH-1:LOW]), .G(G[WIDTH-1:LOW]), .PO(p), .GO(g));
      assign PO[WIDTH-1:LOW] = p & {HIGH{PO[LOW-1]}};
      assign GO[WIDTH-1:LOW] = g | (p & {HIGH{GO[LOW-1]}});
    end
  endgenerate
endmodule

(* techmap_celltype = "$lcu" *)
module _80_carry (P, G, CI, CO);
  parameter WIDTH = 2;
  parameter _TECHMAP_CONSTMSK_CI_ = 0;
  parameter _TECHMAP_CONSTVAL_CI_ = 0;
`ifdef MIXED
  localparam SUBTRACTS = _TECHMAP_CONSTMSK_CI_ && _TECHMAP_CONSTVAL_CI_ === 1'b1;
`else
  localparam SUBTRACTS = 0;
`endif
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
`endif
