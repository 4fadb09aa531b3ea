// Adapts memory.v to modexlab's val/rdy streams: it makes the writes of a schedule, one per cycle, polls the ready bit, and
// reads the words of the result, each selected in one cycle and stored in the next.
module memory_wrapper #(parameter WORDS = 2) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [24*WORDS-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [8*WORDS+3:0] ostream__msg   // {status, result}
);
  localparam W = 8 * WORDS;
  localparam IDLE = 0, LENGTH = 1, LOAD = 2, START = 3, POLL = 4, POLLED = 5, REWIND = 6, READ = 7, TAKE = 8, ANSWER = 9;
  reg [3:0] state;
  reg [1:0] operand;  // 0 the modulus, 1 the exponent, 2 the base
  reg [7:0] count, address, data;
  reg [3*W-1:0] request;  // the next word is the highest
  reg [W-1:0] result;
  reg select, write;
  wire [7:0] read_data;
  wire [W-1:0] base, exp, mod;
  assign {base, exp, mod} = istream__msg;

  memory #(.WORDS(WORDS)) core (
    .clk(clk), .reset_n(!reset), .cs(select), .we(write), .address(address), .write_data(data), .read_data(read_data)
  );

  always @* begin
    select = 1; write = 1; address = 8'h00; data = 8'h00;
    case (state)
      LENGTH: begin address = 8'h20; data = WORDS; end
      LOAD: begin address = 8'h31 + 8'h10 * operand; data = request[3*W-1 -: 8]; end
      START: begin address = 8'h08; data = 8'h01; end
      POLL: begin address = 8'h09; write = 0; end
      REWIND: address = 8'h60;
      READ: begin address = 8'h61; write = 0; end
      default: select = 0;
    endcase
  end

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) begin state <= IDLE; count <= 0; end
    else case (state)
      IDLE: if (istream__val) begin request <= {mod, exp, base}; operand <= 0; state <= LENGTH; end
      LENGTH: state <= LOAD;
      LOAD: begin
        request <= request << 8;
        count <= count + 1;
        if (count == WORDS - 1) begin
          count <= 0;
          operand <= operand + 1;
          if (operand == 2) state <= START;
        end
      end
      START: state <= POLL;
      POLL: state <= POLLED;
      POLLED: state <= read_data[0] ? REWIND : POLL;
      REWIND: state <= READ;
      READ: state <= TAKE;
      TAKE: begin
        result <= {result, read_data};
        count <= count + 1;
        state <= READ;
        if (count == WORDS - 1) begin count <= 0; state <= ANSWER; end
      end
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
