// $lcu, the carries of an adder, where it has more than 128 bits: a ripple of two halves, and these of halves. It is what the network of
// synth/mapping/wide_carry.v is proved against, and so is written in another way. (A loop over all bits in one module takes yosys
// minutes at 1,024 bits.)
(* techmap_celltype = "$lcu" *)
module _70_wide_ripple (P, G, CI, CO);
  parameter WIDTH = 2;
  (* force_downto *)
  input [WIDTH-1:0] P, G;
  input CI;
  (* force_downto *)
  output [WIDTH-1:0] CO;

  wire _TECHMAP_FAIL_ = WIDTH <= 128;

  generate
    if (WIDTH > 128) begin : wide
      \modexlab_ripple #(.WIDTH(WIDTH)) ripple (.P(P), .G(G), .CI(CI), .CO(CO));
    end
  endgenerate
endmodule

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
