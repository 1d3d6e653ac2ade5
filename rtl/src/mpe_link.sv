// SPDX-License-Identifier: MIT OR Apache-2.0
// The two stages of a message: handshake (head of the issue queue) and stream.
//
// While one message streams, the next one is already handshaking. See README.md, "Protocol".
//   handshake  request, and ready once the partner is there; leaves when both sides are granted
//   stream     one word per clock; ends with one clock for the complete message
// hold_i stops everything for one clock: then some node's memory was not ready for a word.
module mpe_link #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  int AddrW      = 12,
  parameter  int LenW       = 10,
  parameter  int DataW      = 32,
  parameter  bit HoldLaunch = 1'b0,
  localparam int IdW        = mpe_pkg::id_width(NumNodes),
  localparam int EntryW     = 2 + 3 * IdW + AddrW + LenW
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               abort_i,     // forgets what is in both stages, also while hold_i
  input  logic               head_valid_i,
  input  logic [EntryW-1:0]  head_i,
  output logic               pop_o,
  output logic               done_o,
  output logic               err_short_o,
  output logic               err_long_o,
  output logic [StatusW-1:0] status_o,
  input  logic [IdW-1:0]     hops_i,      // clocks after a launch for which the stage may be used
  output logic               in_time_o,   // and whether it is free then
  output logic               settled_o,   // the stage is empty, or its end is known
  // handshake
  output logic               tx_req_o,
  output logic [IdW-1:0]     tx_dst_o,
  input  logic               tx_rdy_i,
  output logic [IdW-1:0]     rx_peer_o,
  input  logic               rx_req_i,
  output logic               rx_rdy_o,
  // stream
  output logic [IdW-1:0]     tx_to_o,
  output logic               tx_valid_o,
  output logic               tx_end_o,
  output logic [DataW-1:0]   tx_data_no,  // inverted, see mpe_xbar
  output logic [IdW-1:0]     rx_src_o,
  input  logic               rx_valid_i,
  input  logic               rx_end_i,
  input  logic [DataW-1:0]   rx_data_i,
  output logic               hold_o,
  input  logic               hold_i,
  // memory: ready before valid, read data in the next clock and stable until the next read
  input  logic               mem_rdy_i,
  output logic               mem_req_o,
  output logic               mem_we_o,
  output logic [AddrW-1:0]   mem_addr_o,
  output logic [DataW-1:0]   mem_wdata_o,
  input  logic [DataW-1:0]   mem_rdata_i
);

  // Handshake stage: the head of the queue and what it has achieved so far.
  logic             h_rx, h_tx;
  logic [IdW-1:0]   h_src, h_dst, h_leaves_before;
  logic [AddrW-1:0] h_addr;
  logic [LenW-1:0]  h_len;
  logic             requested_q, granted_q, granting_q;
  logic             granted, granting, move;

  // Stream stage.
  logic             s_valid_q, s_rx_q, s_tx_q, word_q, over_q;
  logic [IdW-1:0]   s_src_q, s_dst_q;
  logic [AddrW-1:0] s_addr_q, addr;
  logic [LenW-1:0]  s_len_q, len;
  logic [DataW-1:0] data_q;
  logic             s_done, s_free, flows, s_empties, rx_word, step;

  assign {h_rx, h_tx, h_src, h_dst, h_leaves_before, h_addr, h_len} = head_i;

  // ---- handshake ----

  assign tx_req_o  = head_valid_i && h_tx && requested_q && !granted_q;
  assign tx_dst_o  = h_dst;
  assign granted   = granted_q || (tx_req_o && tx_rdy_i);
  assign rx_peer_o = h_src;

  // The first word comes 2h - 1 clocks after my ready if h - 1 leaves are before me, so ready may
  // go out while an earlier message still has fewer than 2 (h - 1) words to move.
  assign s_empties = flows && ((LenW+IdW)'(s_len_q >> 1) <
                     (LenW+IdW)'(h_leaves_before));
  assign rx_rdy_o  = head_valid_i && h_rx && rx_req_i && !granting_q && (granted_q || !h_tx) &&
                     (!s_valid_q || s_empties);
  assign granting  = granting_q || rx_rdy_o;
  assign move      = head_valid_i && s_free && (granted || !h_tx) && (granting || !h_rx);
  assign pop_o     = move && !hold_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      requested_q <= 1'b0;
      granted_q   <= 1'b0;
      granting_q  <= 1'b0;
    end else if (abort_i) begin
      requested_q <= 1'b0;
      granted_q   <= 1'b0;
      granting_q  <= 1'b0;
    end else if (!hold_i) begin
      requested_q <= head_valid_i && !move;
      granted_q   <= granted && !move;
      granting_q  <= granting && !move;
    end
  end

  // ---- stream ----

  // A message ends at the length of its own command, so nothing is written behind the buffer and
  // the end is known ahead; or one clock after its sender's complete message, if that is earlier.
  // Who receives no word waits for that, too: an end that went ahead would find the next node busy.
  assign s_done  = s_valid_q && !word_q && (over_q || !s_rx_q);
  assign s_free  = !s_valid_q || s_done;
  assign rx_word = s_valid_q && s_rx_q && rx_valid_i;

  // Words come without a gap once the first is there, so then the clocks that are left are known.
  assign flows = word_q || rx_word || s_done;

  // One address and one counter serve both stages: the first word of a Send is read in the clock in
  // which it moves to the stream stage.
  assign addr = s_free ? h_addr : s_addr_q;
  assign len  = s_free ? h_len : s_len_q;
  assign step = len != '0 && (s_free ? (move && !h_rx) : (rx_word || !s_rx_q));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s_valid_q <= 1'b0;
      word_q    <= 1'b0;
      over_q    <= 1'b0;
    end else if (abort_i) begin
      s_valid_q <= 1'b0;
      word_q    <= 1'b0;
      over_q    <= 1'b0;
    end else if (!hold_i) begin
      s_valid_q <= s_free ? move : 1'b1;
      word_q    <= step && (s_free || s_tx_q);
      over_q    <= s_valid_q && s_rx_q && !s_done &&
                   (over_q || rx_end_i || (rx_word && (s_len_q >> 1) == '0));
    end
  end
  always_ff @(posedge clk_i) begin
    if (!hold_i) begin
      s_addr_q <= addr + AddrW'(step);
      s_len_q  <= len - LenW'(step);
      data_q   <= rx_data_i;
      if (s_free) begin
        s_rx_q  <= h_rx;
        s_tx_q  <= h_tx;
        s_src_q <= h_src;
        s_dst_q <= h_dst;
      end
    end
  end

  assign tx_to_o     = s_dst_q;
  assign tx_valid_o  = word_q;
  assign tx_end_o    = s_done && s_tx_q;
  assign tx_data_no  = ~(s_rx_q ? data_q : mem_rdata_i);
  assign rx_src_o    = s_src_q;

  assign hold_o      = step && !mem_rdy_i;
  assign mem_req_o   = step && !hold_i;
  assign mem_we_o    = !s_free && s_rx_q;
  assign mem_addr_o  = addr;
  assign mem_wdata_o = rx_data_i;

  if (HoldLaunch) begin : gen_in_time
    logic [LenW:0] left;
    assign left      = s_done ? '0 : (LenW+1)'(s_len_q) + (LenW+1)'(s_tx_q);
    assign in_time_o = !s_valid_q || (LenW+1+IdW)'(left) <= (LenW+1+IdW)'(hops_i);
    assign settled_o = !s_valid_q || flows;
  end else begin : gen_at_once
    logic unused_hops;
    assign unused_hops = ^hops_i;
    assign in_time_o = 1'b1;
    assign settled_o = 1'b1;
  end

  assign done_o      = s_done && !hold_i;
  assign err_short_o = done_o && s_len_q != '0;
  assign err_long_o  = rx_word && s_len_q == '0 && !hold_i;

  mpe_size_class #(
    .LenW   (LenW),
    .DataW  (DataW),
    .StatusW(StatusW)
  ) u_size_class (
    .active_i (s_valid_q),
    .waiting_i(head_valid_i),
    .len_i    (s_len_q),
    .status_o (status_o)
  );

endmodule
