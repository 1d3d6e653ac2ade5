// SPDX-License-Identifier: MIT OR Apache-2.0
// Status class of a node: 0 = free, higher = more words left (Park 2019, 3.2.4).
//
// Class = min(top, bytes / width + 1) with width = 1024 >> (StatusW - 1) bytes: with two bits under
// 512, under 1024, from 1024 bytes on. A command that waits for its partner counts as the longest
// class, because nobody knows how long it will wait.
module mpe_size_class #(
  parameter int LenW    = 10,
  parameter int DataW   = 32,
  parameter int StatusW = 2
) (
  input  logic               active_i,   // words are being moved
  input  logic               waiting_i,  // a command has not started yet
  input  logic [LenW-1:0]    len_i,      // words left to read or to receive
  output logic [StatusW-1:0] status_o
);

  localparam int ClassWords = (mpe_pkg::ReferenceBytes >> (StatusW - 1)) / (DataW / 8);
  localparam int Shift      = $clog2(ClassWords);
  localparam int Top        = (1 << StatusW) - 1;

  if (StatusW == 1) begin : gen_busy
    logic unused_len;
    assign unused_len = ^len_i;
    assign status_o = active_i || waiting_i;
  end else if (LenW <= Shift) begin : gen_short
    logic unused_len;
    assign unused_len = ^len_i;
    assign status_o = waiting_i ? '1 : StatusW'(active_i);
  end else begin : gen_class
    localparam int ClassesW = (LenW - Shift > StatusW) ? LenW - Shift : StatusW;
    logic [ClassesW-1:0] classes;
    logic              above;
    assign classes = ClassesW'(len_i >> Shift);
    assign above = classes >= ClassesW'(Top - 1);
    always_comb begin
      if (waiting_i || (active_i && above)) status_o = '1;
      else if (active_i)                    status_o = classes[StatusW-1:0] + StatusW'(1);
      else                                  status_o = '0;
    end
    if (Shift > 0) begin : gen_low
      logic unused_low;
      assign unused_low = ^len_i[Shift-1:0];
    end
  end

endmodule
