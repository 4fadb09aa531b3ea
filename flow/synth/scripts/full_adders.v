// Names begin with _80_: techmap applies the rules for a cell in the order of their names, and those of yosys begin with _90_.
// Adders of library cells: $fa (rows of carry-save adders, in multipliers and sums of many words) and $alu (+, - and comparisons,
// as a ripple of cells).
(* techmap_celltype = "$fa" *)
module _80_full_adder_row (A, B, C, X, Y);
  parameter WIDTH = 1;
  (* force_downto *)
  input [WIDTH-1:0] A, B, C;
  (* force_downto *)
  output [WIDTH-1:0] X, Y;

  genvar i;
  generate
    for (i = 0; i < WIDTH; i = i + 1) begin : place
      @full_adder(A[i], B[i], C[i], X[i], Y[i])@
    end
  endgenerate
endmodule

(* techmap_celltype = "$alu" *)
module _80_full_adder_ripple (A, B, CI, BI, X, Y, CO);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  (* force_downto *)
  input [A_WIDTH-1:0] A;
  (* force_downto *)
  input [B_WIDTH-1:0] B;
  input CI, BI;
  (* force_downto *)
  output [Y_WIDTH-1:0] X, Y, CO;

  (* force_downto *)
  wire [Y_WIDTH-1:0] a_wide, b_wide, b_used;
  \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) extend_a (.A(A), .Y(a_wide));
  \$pos #(.A_SIGNED(B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)) extend_b (.A(B), .Y(b_wide));
  assign b_used = BI ? ~b_wide : b_wide;
  wire [Y_WIDTH:0] carry;
  assign carry[0] = CI;
  assign CO = carry[Y_WIDTH:1];
  assign X = a_wide ^ b_used;

  genvar i;
  generate
    for (i = 0; i < Y_WIDTH; i = i + 1) begin : place
      if (i == 0 && (_TECHMAP_CONSTMSK_CI_ && !_TECHMAP_CONSTVAL_CI_))
        @half_adder(a_wide[i], b_used[i], carry[i+1], Y[i])@
      else
        @full_adder(a_wide[i], b_used[i], carry[i], carry[i+1], Y[i])@
    end
  endgenerate
  parameter _TECHMAP_CONSTMSK_CI_ = 0;
  parameter _TECHMAP_CONSTVAL_CI_ = 0;
endmodule
