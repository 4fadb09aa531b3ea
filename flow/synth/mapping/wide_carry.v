// $lcu, the carries of an adder, where it has more than 128 bits: Sklansky's prefix network, whatever else the adders of a design are,
// as no clock waits for a ripple of that length. Halves are made of halves until they are short: a loop over all bits in one module,
// as in mixed_carry.v, takes yosys six minutes at 1,024 bits, this less than a second.
// Names begin with _70_: techmap takes the rules for a cell in the order of their names.
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
      \modexlab_prefix #(.WIDTH(WIDTH)) prefix (
        .P(P), .G({G[WIDTH-1:1], G[0] | (P[0] & CI)}), .PO(), .GO(CO)
      );
    end
  endgenerate
endmodule

// Of words of generate and propagate those of all bits from the last one on; the upper half waits for the last bit of the lower.
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
