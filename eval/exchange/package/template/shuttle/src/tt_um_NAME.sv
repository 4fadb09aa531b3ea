// tt_um_@name@: @title@, behind the pins of Tiny Tapeout
// SPDX-License-Identifier: @licence@
//
// One shift register holds the request on its way in and the response on its way out. A strobe shifts it by a byte: ui_in enters at
// its top, uo_out is its lowest byte. The strobe with `go` completes a request. The host is asynchronous: it raises the strobe, waits
// until `taken` is 1, lowers the strobe, and waits until `taken` is 0.

`default_nettype none

module tt_um_@name@ (
  input  wire [7:0] ui_in,
  output wire [7:0] uo_out,
  input  wire [7:0] uio_in,
  output wire [7:0] uio_out,
  output wire [7:0] uio_oe,
  input  wire ena,
  input  wire clk,
  input  wire rst_n
);
  localparam int REQUEST_NBITS = @request_nbits@;
  localparam int RESPONSE_NBITS = @response_nbits@;
  localparam int WORD_NBITS = @word_nbits@;  // whole bytes
  localparam int FIRST = @first@;  // bit 0 of the request, when its bytes are in

  typedef enum logic [1:0] {
    SHIFTS = 2'd0,
    SENDS = 2'd1,
    WAITS = 2'd2
  } step_t;

  step_t step;
  logic [1:0] reset_pipe;
  logic [1:0] strobe_pipe;
  logic reset, shifts, taken;
  logic [WORD_NBITS-1:0] word;
  logic [RESPONSE_NBITS-1:0] response;
  logic request_rdy, response_val;

  // the pins change at any time: two registers each. Data and `go` are stable while the strobe is 1.
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) reset_pipe <= 2'b11;
    else reset_pipe <= {reset_pipe[0], 1'b0};
  end

  always_ff @(posedge clk) begin
    strobe_pipe <= {strobe_pipe[0], uio_in[0]};
  end

  assign reset = reset_pipe[1];
  assign shifts = strobe_pipe[1] && !taken && step == SHIFTS;

  always_ff @(posedge clk) begin
    if (reset) begin
      taken <= 1'b0;
      step <= SHIFTS;
    end else begin
      taken <= strobe_pipe[1];
      case (step)
        SHIFTS: if (shifts && uio_in[1]) step <= SENDS;
        SENDS: if (request_rdy) step <= WAITS;
        default: if (response_val) step <= SHIFTS;
      endcase
    end
  end

  // the response replaces the request, so that no operand remains
  always_ff @(posedge clk) begin
    if (shifts) word <= {ui_in, word[WORD_NBITS-1:8]};
    else if (step == WAITS && response_val) word <= WORD_NBITS'(response);
  end

  @name@ machine (
    .clk(clk),
    .reset(reset),
    .istream__msg(word[FIRST+:REQUEST_NBITS]),
    .istream__val(step == SENDS),
    .istream__rdy(request_rdy),
    .ostream__msg(response),
    .ostream__val(response_val),
    .ostream__rdy(step == WAITS)
  );

  assign uo_out = word[7:0];
  assign uio_out = {4'b0000, step != SHIFTS, taken, 2'b00};
  assign uio_oe = 8'b0000_1100;

  // pins without a function
  logic unused;
  assign unused = ^{ena, uio_in[7:2]};
endmodule

`default_nettype wire
