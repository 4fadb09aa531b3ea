// Adapts a Vitis HLS kernel to modexlab's val/rdy streams: an AXI4-Lite master that writes the operands word by word, sets
// ap_start, polls ap_done, and reads the result. It stops after a response other than OKAY.
module hls_wrapper (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [767:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [259:0] ostream__msg  // {status, result}
);
  // addresses of the kernel, as its x*_hw.h has them; words are least significant first, and a word after each operand is reserved
  localparam CONTROL = 8'h00, BASE = 8'h10, STRIDE = 8'h24, RESULT = 8'h7c, WORDS = 8, START_BIT = 32'd1, DONE_BIT = 1;
  localparam RESET = 0, IDLE = 1, LOAD = 2, START = 3, POLL = 4, READ = 5, ANSWER = 6;
  reg [2:0] state;
  reg [1:0] operand;  // 0 the base, 1 the exponent, 2 the modulus
  reg [3:0] count;
  reg [767:0] request;  // the next word is the lowest
  reg [255:0] result;
  wire [255:0] base, exp, mod;
  assign {base, exp, mod} = istream__msg;

  // an access: address and data are offered until accepted, then the response is awaited
  reg addressed, sent;
  wire writes = state == LOAD || state == START, reads = state == POLL || state == READ;
  wire [7:0] place = 4 * count;
  wire [7:0] write_address = state == START ? CONTROL : BASE + STRIDE * operand + place;
  wire [7:0] read_address = state == POLL ? CONTROL : RESULT + place;
  wire awready, wready, bvalid, arready, rvalid;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata;
  wire over = writes ? bvalid && bresp == 0 : rvalid && rresp == 0;

  modexp core (
    .ap_clk(clk), .ap_rst_n(state != RESET),
    .s_axi_control_AWADDR(write_address), .s_axi_control_AWVALID(writes && !addressed), .s_axi_control_AWREADY(awready),
    .s_axi_control_WDATA(state == START ? START_BIT : request[31:0]), .s_axi_control_WSTRB(4'hf),
    .s_axi_control_WVALID(writes && !sent), .s_axi_control_WREADY(wready),
    .s_axi_control_BRESP(bresp), .s_axi_control_BVALID(bvalid), .s_axi_control_BREADY(writes && addressed && sent),
    .s_axi_control_ARADDR(read_address), .s_axi_control_ARVALID(reads && !addressed), .s_axi_control_ARREADY(arready),
    .s_axi_control_RDATA(rdata), .s_axi_control_RRESP(rresp), .s_axi_control_RVALID(rvalid),
    .s_axi_control_RREADY(reads && addressed), .interrupt()
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) begin state <= RESET; count <= 0; addressed <= 0; sent <= 0; end
    else begin
      if (writes ? awready : reads && arready) addressed <= 1;
      if (writes && wready) sent <= 1;
      if (state == RESET) begin count <= count + 1; if (count == 3) begin count <= 0; state <= IDLE; end end
      if (state == IDLE && istream__val) begin request <= {mod, exp, base}; operand <= 0; state <= LOAD; end
      if (state == ANSWER && ostream__rdy) state <= IDLE;
      if (addressed && over) begin
        addressed <= 0; sent <= 0;
        case (state)
          LOAD: begin
            request <= request >> 32;
            count <= count + 1;
            if (count == WORDS - 1) begin
              count <= 0;
              operand <= operand + 1;
              if (operand == 2) state <= START;
            end
          end
          START: state <= POLL;
          POLL: if (rdata[DONE_BIT]) state <= READ;
          default: begin
            result <= {rdata, result} >> 32;
            count <= count + 1;
            if (count == WORDS - 1) begin count <= 0; state <= ANSWER; end
          end
        endcase
      end
    end
endmodule
