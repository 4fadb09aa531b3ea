// Adapts bus.v to modexlab's val/rdy streams: an AXI4-Lite master that writes the operands word by word, starts the core,
// polls its status, and reads the result. It stops after a response other than OKAY.
module bus_wrapper #(parameter W = 64) (
  input wire clk, input wire reset,
  input wire istream__val, output wire istream__rdy, input wire [3*W-1:0] istream__msg,  // {base, exp, mod}
  output wire ostream__val, input wire ostream__rdy, output wire [W+3:0] ostream__msg    // {status, result}
);
  localparam WORDS = W / 32;
  localparam CONTROL = 8'h00, STATUS = 8'h04, MODULUS = 8'h10, RESULT = 8'h40;  // exponent and base follow at 20 and 30
  localparam IDLE = 0, LOAD = 1, START = 2, POLL = 3, READ = 4, ANSWER = 5;
  reg [2:0] state;
  reg [1:0] operand;  // 0 the modulus, 1 the exponent, 2 the base
  reg [7:0] count;
  reg [3*W-1:0] request;  // the next word is the lowest
  reg [W-1:0] result;

  // an access: address and data are offered until accepted, then the response is awaited
  reg addressed, sent;
  wire writes = state == LOAD || state == START, reads = state == POLL || state == READ;
  wire [7:0] place = 4 * count;
  wire [7:0] write_address = state == START ? CONTROL : MODULUS + 8'h10 * operand + place;
  wire [7:0] read_address = state == POLL ? STATUS : RESULT + place;
  wire awready, wready, bvalid, arready, rvalid;
  wire [1:0] bresp, rresp;
  wire [31:0] rdata;
  wire over = writes ? bvalid && bresp == 0 : rvalid && rresp == 0;

  bus #(.W(W)) core (
    .ACLK(clk), .ARESETN(!reset),
    .S_AXI_AWADDR(write_address), .S_AXI_AWVALID(writes && !addressed), .S_AXI_AWREADY(awready),
    .S_AXI_WDATA(state == START ? 32'd1 : request[31:0]), .S_AXI_WSTRB(4'hf), .S_AXI_WVALID(writes && !sent), .S_AXI_WREADY(wready),
    .S_AXI_BRESP(bresp), .S_AXI_BVALID(bvalid), .S_AXI_BREADY(writes && addressed && sent),
    .S_AXI_ARADDR(read_address), .S_AXI_ARVALID(reads && !addressed), .S_AXI_ARREADY(arready),
    .S_AXI_RDATA(rdata), .S_AXI_RRESP(rresp), .S_AXI_RVALID(rvalid), .S_AXI_RREADY(reads && addressed)
  );

  assign istream__rdy = state == IDLE;
  assign ostream__val = state == ANSWER;
  assign ostream__msg = {4'd0, result};
  always @(posedge clk)
    if (reset) begin state <= IDLE; count <= 0; addressed <= 0; sent <= 0; end
    else begin
      if (writes ? awready : reads && arready) addressed <= 1;
      if (writes && wready) sent <= 1;
      if (state == IDLE && istream__val) begin request <= istream__msg; operand <= 0; state <= LOAD; end
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
          POLL: if (rdata[1]) state <= READ;
          default: begin
            result <= {rdata, result} >> 32;
            count <= count + 1;
            if (count == WORDS - 1) begin count <= 0; state <= ANSWER; end
          end
        endcase
      end
    end
endmodule
