// Adapts packets.v to modexlab's val/rdy streams: it sends the request in bytes, most significant first, and collects the
// bytes of the result in the same order.
module packets_wrapper #(parameter W = 16) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*W-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  localparam BYTES = W / 8, IDLE = 0, SEND = 1, RECEIVE = 2, ANSWER = 3;
  reg [1:0] state;
  reg [15:0] count;  // bytes sent or received
  reg [3*W-1:0] request;
  reg [W-1:0] result;
  wire in_ready, out_valid;
  wire [7:0] out_data;
  wire [W-1:0] base, exp, mod;
  assign {base, exp, mod} = istream__msg;

  packets #(.W(W)) core (
    .clk(clk), .rst(reset),
    .in_valid(state == SEND), .in_ready(in_ready), .in_data(request[3*W-1 -: 8]), .in_last(count == 3 * BYTES - 1),
    .out_valid(out_valid), .out_ready(state == RECEIVE), .out_data(out_data)
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) begin state <= IDLE; count <= 0; end
    else case (state)
      IDLE: if (istream__val) begin request <= {mod, exp, base}; state <= SEND; end
      SEND: if (in_ready) begin
        request <= request << 8;
        count <= count + 1;
        if (count == 3 * BYTES - 1) begin count <= 0; state <= RECEIVE; end
      end
      RECEIVE: if (out_valid) begin
        result <= {result, out_data};
        count <= count + 1;
        if (count == BYTES - 1) begin count <= 0; state <= ANSWER; end
      end
      default: if (ostream__rdy) state <= IDLE;
    endcase
endmodule
