// Adapts the Secworks modexp core to modexlab's val/rdy streams: it writes lengths and operands, one word per cycle, polls
// `ready`, and reads the result. Lengths are in words that the numbers fill; modulus, message and result have an extra word of 0.
module secworks_wrapper #(parameter W = 64) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*W-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  localparam WORDS = W / 32;
  localparam IDLE = 0, LENGTH = 1, REWIND = 2, LOAD = 3, START = 4, SETTLE = 5, POLL = 6, SELECT = 7, WAIT = 8, READ = 9, ANSWER = 10;
  localparam MODULUS = 0, EXPONENT = 1, MESSAGE = 2;
  reg [3:0] state;
  reg [1:0] operand;
  reg [7:0] index;  // of the word to write or read next: the most significant word comes first
  reg [1:0] settled;
  reg [W-1:0] base, exp, mod, result;

  function [7:0] length(input [W-1:0] number);
    integer i;
    begin
      length = 0;
      for (i = 0; i < WORDS; i = i + 1) if (number[32*i +: 32] != 0) length = i + 1;
    end
  endfunction
  wire [7:0] mod_length = length(mod) + 1, exp_length = length(exp) == 0 ? 1 : length(exp);
  wire [W+31:0] number = operand == MODULUS ? mod : operand == EXPONENT ? exp : base;

  reg cs, we;
  reg [7:0] address;
  reg [31:0] write_data;
  wire [31:0] read_data;
  modexp core (
    .clk(clk), .reset_n(!reset), .cs(cs), .we(we), .address({4'h0, address}), .write_data(write_data), .read_data(read_data)
  );
  always @* begin
    cs = 1; we = 1; address = 8'h00; write_data = 32'd0;
    case (state)
      LENGTH: begin address = 8'h20 + operand; write_data = operand == MODULUS ? mod_length : exp_length; end
      REWIND: address = 8'h30 + 8'h10 * operand;
      LOAD: begin address = 8'h31 + 8'h10 * operand; write_data = number[32*index +: 32]; end
      START: begin address = 8'h08; write_data = 32'd1; end
      POLL: begin address = 8'h09; we = 0; end
      SELECT: address = 8'h60;
      READ: begin address = 8'h61; we = 0; end
      default: begin cs = 0; we = 0; end
    endcase
  end

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (istream__val) begin
        {base, exp, mod} <= istream__msg;
        operand <= MODULUS; result <= 0; settled <= 0;
        state <= LENGTH;
      end
      LENGTH: begin operand <= operand + 1; if (operand == EXPONENT) begin operand <= MODULUS; state <= REWIND; end end
      REWIND: begin index <= (operand == EXPONENT ? exp_length : mod_length) - 1; state <= LOAD; end
      LOAD: begin
        index <= index - 1;
        if (index == 0) begin operand <= operand + 1; state <= operand == MESSAGE ? START : REWIND; end
      end
      START: state <= SETTLE;
      SETTLE: begin settled <= settled + 1; if (settled == 1) state <= POLL; end  // `ready` falls two cycles after the start
      POLL: if (read_data[0]) state <= SELECT;
      SELECT: begin index <= mod_length - 1; state <= WAIT; end
      WAIT: state <= READ;  // a word follows its address by a cycle
      READ: begin result <= {result, read_data}; index <= index - 1; state <= index == 0 ? ANSWER : WAIT; end
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
