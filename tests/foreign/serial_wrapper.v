// Adapts serial.v to modexlab's val/rdy streams: the core uses the falling edge, needs five cycles of reset, and receives its
// operands in words of 4 bits, each with its number. A word of the result follows its number by one cycle.
module serial_wrapper #(parameter W = 16) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*W-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  localparam WORDS = W / 4, RESET = 0, IDLE = 1, LOAD = 2, START = 3, WORK = 4, ASK = 5, READ = 6, ANSWER = 7;
  reg [2:0] state;
  reg [1:0] operand;  // 1 the modulus, 2 the exponent, 3 the base
  reg [7:0] count;
  reg [3*W-1:0] request;  // the next word is the lowest
  reg [W-1:0] result;
  wire finished;
  wire [3:0] out;

  serial #(.W(W)) core (
    .ck(!clk), .reset(state == RESET),
    .load(state == LOAD ? operand : 2'd0), .number(count), .nibble(request[3:0]), .begin_n(state != START),
    .finished(finished), .where(count), .out(out)
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) begin state <= RESET; count <= 0; end
    else case (state)
      RESET: begin count <= count + 1; if (count == 4) begin count <= 0; state <= IDLE; end end
      IDLE: if (istream__val) begin request <= istream__msg; operand <= 1; state <= LOAD; end
      LOAD: begin
        request <= request >> 4;
        count <= count + 1;
        if (count == WORDS - 1) begin
          count <= 0;
          operand <= operand + 1;
          if (operand == 3) state <= START;
        end
      end
      START: state <= WORK;
      WORK: if (finished) state <= ASK;
      ASK: state <= READ;
      READ: begin
        result <= {out, result[W-1:4]};
        count <= count + 1;
        state <= ASK;
        if (count == WORDS - 1) begin count <= 0; state <= ANSWER; end
      end
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
