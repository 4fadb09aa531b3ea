// Like full_adders.v, but with a cell only at bits that are constant in no operand: a counter does not become a row of adders.
(* techmap_celltype = "$fa" *)
module _80_sparse_row (A, B, C, X, Y);
  parameter WIDTH = 1;
  parameter _TECHMAP_CONSTMSK_A_ = 0;
  parameter _TECHMAP_CONSTMSK_B_ = 0;
  parameter _TECHMAP_CONSTMSK_C_ = 0;
  localparam [WIDTH-1:0] FIXED = _TECHMAP_CONSTMSK_A_ | _TECHMAP_CONSTMSK_B_ | _TECHMAP_CONSTMSK_C_;
  (* force_downto *)
  input [WIDTH-1:0] A, B, C;
  (* force_downto *)
  output [WIDTH-1:0] X, Y;

  genvar i;
  generate
    for (i = 0; i < WIDTH; i = i + 1) begin : place
      if (FIXED[i]) begin
        assign X[i] = (A[i] & B[i]) | (C[i] & (A[i] | B[i]));
        assign Y[i] = A[i] ^ B[i] ^ C[i];
      end else
        @full_adder(A[i], B[i], C[i], X[i], Y[i])@
    end
  endgenerate
endmodule

(* techmap_celltype = "$alu" *)
module _80_sparse_ripple (A, B, CI, BI, X, Y, CO);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CONSTMSK_A_ = 0;
  parameter _TECHMAP_CONSTMSK_B_ = 0;
  localparam [A_WIDTH-1:0] FIXED_A = _TECHMAP_CONSTMSK_A_;
  localparam [B_WIDTH-1:0] FIXED_B = _TECHMAP_CONSTMSK_B_;
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
      if (i >= A_WIDTH || i >= B_WIDTH || FIXED_A[i < A_WIDTH ? i : 0] || FIXED_B[i < B_WIDTH ? i : 0] ||
          (i == 0 && _TECHMAP_CONSTMSK_CI_)) begin
        assign carry[i+1] = (a_wide[i] & b_used[i]) | (carry[i] & (a_wide[i] | b_used[i]));
        assign Y[i] = X[i] ^ carry[i];
      end else
        @full_adder(a_wide[i], b_used[i], carry[i], carry[i+1], Y[i])@
    end
  endgenerate
  parameter _TECHMAP_CONSTMSK_CI_ = 0;
endmodule
