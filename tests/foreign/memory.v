// An exponentiation core with operand memories behind auto-incrementing pointers, most significant word first, lengths
// in words, a start bit and a ready bit; a word is read one cycle after its address.
module memory #(parameter WORDS = 2) (
  input wire clk, input wire reset_n, input wire cs, input wire we,
  input wire [7:0] address, input wire [7:0] write_data, output reg [7:0] read_data
);
  localparam W = 8 * WORDS;
  reg [W-1:0] n, e, m, out;
  reg [7:0] length;
  reg start, taken;
  wire busy, done;
  wire [W-1:0] result;
  engine #(.W(W)) engine (
    .clk(clk), .rst(!reset_n), .start(start), .base(m), .exp(e), .n(n), .one({W{1'b0}}),
    .busy(busy), .done(done), .result(result)
  );
  always @(posedge clk) begin
    start <= 0; read_data <= 0;
    if (!reset_n) begin n <= 0; e <= 0; m <= 0; out <= 0; length <= 0; start <= 0; end
    else if (cs && we) case (address)
      8'h08: start <= write_data[0];
      8'h20: length <= write_data;
      8'h30: n <= 0;
      8'h31: n <= {n, write_data};
      8'h40: e <= 0;
      8'h41: e <= {e, write_data};
      8'h50: m <= 0;
      8'h51: m <= {m, write_data};
      8'h60: out <= result << (8 * (WORDS - length));
      default: ;
    endcase
    else if (cs) case (address)
      8'h09: read_data <= {7'b0, !busy && !start};
      8'h61: begin read_data <= out[W-1:W-8]; out <= out << 8; end
      default: ;
    endcase
  end
endmodule
