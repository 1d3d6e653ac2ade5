// SPDX-License-Identifier: MIT OR Apache-2.0
// Status class against Park 2019, 3.2.4, said as thresholds in bytes: a busy node is one class higher
// for each whole width that it has left, up to the top.
module mpe_size_f #(
  parameter int LenW    = 10,
  parameter int DataW   = 32,
  parameter int StatusW = 2
) (
  input logic            active_i,
  input logic            waiting_i,
  input logic [LenW-1:0] len_i,
  input logic [LenW-1:0] less_i     // any smaller length
);

  localparam int Top   = (1 << StatusW) - 1;
  localparam int Width = 1024 >> (StatusW - 1);
  localparam int Bytes = DataW / 8;

  logic [StatusW-1:0] class_of, less_class;

  mpe_size_class #(.LenW(LenW), .DataW(DataW), .StatusW(StatusW)) u_class (
    .active_i(active_i), .waiting_i(waiting_i), .len_i(len_i), .status_o(class_of));
  mpe_size_class #(.LenW(LenW), .DataW(DataW), .StatusW(StatusW)) u_less (
    .active_i(active_i), .waiting_i(waiting_i), .len_i(less_i), .status_o(less_class));

  for (genvar c = 1; c < Top; c++) begin : gen_threshold
    always_comb begin
      if (active_i && !waiting_i) begin
        above: assert ((32'(class_of) > c) == (32'(len_i) * Bytes >= c * Width));
      end
    end
  end

  always_comb begin
    free_idle: assert ((class_of == '0) == (!active_i && !waiting_i));
    waits_top: assert (!waiting_i || 32'(class_of) == Top);
    monotone:  assert (less_i > len_i || less_class <= class_of);
  end

endmodule
