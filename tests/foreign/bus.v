// An AXI4-Lite slave: modulus at 0x10, exponent at 0x20, base at 0x30, result at 0x40, least significant word first.
// Writing 1 to address 0 starts it, and bit 1 of address 4 is done. It accepts address and data of a write only together.
module bus #(parameter W = 64) (
  input wire ACLK, input wire ARESETN,
  input wire [7:0] S_AXI_AWADDR, input wire S_AXI_AWVALID, output wire S_AXI_AWREADY,
  input wire [31:0] S_AXI_WDATA, input wire [3:0] S_AXI_WSTRB, input wire S_AXI_WVALID, output wire S_AXI_WREADY,
  output reg [1:0] S_AXI_BRESP, output reg S_AXI_BVALID, input wire S_AXI_BREADY,
  input wire [7:0] S_AXI_ARADDR, input wire S_AXI_ARVALID, output wire S_AXI_ARREADY,
  output reg [31:0] S_AXI_RDATA, output wire [1:0] S_AXI_RRESP, output reg S_AXI_RVALID, input wire S_AXI_RREADY
);
  reg [W-1:0] n, e, m;
  reg start, over;
  wire busy, done;
  wire [W-1:0] result;
  engine #(.W(W)) engine (
    .clk(ACLK), .rst(!ARESETN), .start(start), .base(m), .exp(e), .n(n), .one({W{1'b0}}),
    .busy(busy), .done(done), .result(result)
  );
  wire write = S_AXI_AWVALID && S_AXI_WVALID && !S_AXI_BVALID;
  assign S_AXI_AWREADY = write;
  assign S_AXI_WREADY = write;
  assign S_AXI_ARREADY = !S_AXI_RVALID;
  assign S_AXI_RRESP = 0;
  wire [2:0] at = S_AXI_AWADDR[4:2];
  always @(posedge ACLK) begin
    start <= 0;
    if (!ARESETN) begin S_AXI_BVALID <= 0; S_AXI_RVALID <= 0; over <= 0; start <= 0; S_AXI_BRESP <= 0; end
    else begin
      if (S_AXI_BREADY) S_AXI_BVALID <= 0;
      if (write) begin
        S_AXI_BVALID <= 1;
        S_AXI_BRESP <= S_AXI_AWADDR[7:4] > 3 ? 2 : 0;
        case (S_AXI_AWADDR[7:4])
          0: begin start <= S_AXI_WDATA[0]; over <= 0; end
          1: n[32 * S_AXI_AWADDR[3:2] +: 32] <= S_AXI_WDATA;
          2: e[32 * S_AXI_AWADDR[3:2] +: 32] <= S_AXI_WDATA;
          3: m[32 * S_AXI_AWADDR[3:2] +: 32] <= S_AXI_WDATA;
          default: ;
        endcase
      end
      if (S_AXI_RREADY) S_AXI_RVALID <= 0;
      if (S_AXI_ARVALID && S_AXI_ARREADY) begin
        S_AXI_RVALID <= 1;
        S_AXI_RDATA <= S_AXI_ARADDR[7:4] == 4 ? result[32 * S_AXI_ARADDR[3:2] +: 32] : {30'b0, over, busy};
      end
      if (done) over <= 1;
    end
  end
endmodule
