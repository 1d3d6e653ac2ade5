// SPDX-License-Identifier: MIT OR Apache-2.0
// Packets to messages: a marked word leaves exactly behind those that came before it, unchanged, in a
// message that ends where its packet does, or at Depth words. No word without a ready, one ready a
// message, no gap inside it.
module mpe_axis_rx_f #(
  parameter  int Depth  = 2,
  localparam int DataW  = 8,
  localparam int CountW = $clog2(Depth + 1)
) (
  input logic             clk_i,
  input logic             tvalid_i,
  input logic             tlast_i,
  input logic [DataW-1:0] tdata_i,
  input logic             tx_rdy_i,
  input logic             hold_i,
  input logic             mark_i
);

  logic             past_q = 1'b0;
  logic             busy, tready, req, valid, ends;
  logic [1:0]       dst, to;
  logic [DataW-1:0] data_n;

  mpe_axis_rx #(.NumNodes(4), .DataW(DataW), .Depth(Depth)) u_rx (
    .clk_i(clk_i), .rst_ni(past_q), .peer_i(2'd2), .busy_o(busy), .tvalid_i(tvalid_i),
    .tready_o(tready), .tlast_i(tlast_i), .tdata_i(tdata_i), .tx_req_o(req), .tx_dst_o(dst),
    .tx_rdy_i(tx_rdy_i), .tx_to_o(to), .tx_valid_o(valid), .tx_end_o(ends), .tx_data_no(data_n),
    .hold_i(hold_i));

  logic              marked_q = 1'b0;   // the marked word came
  logic              left_q = 1'b0;     // and has left
  logic              closed_q = 1'b0;   // the packet, or Depth words of it, is inside
  logic              granted_q = 1'b0;  // a ready came for it
  logic              held_q = 1'b0, valid_q, ends_q;
  logic [CountW-1:0] in_q = '0, out_q = '0, place_q;  // words of this message that came, that left
  logic [DataW-1:0]  word_q, data_q;

  // The source shows a word until it is taken.
  logic             shown_q = 1'b0, tlast_q;
  logic [DataW-1:0] tdata_q;
  logic             take, out, mark, closes;
  assign take   = past_q && tvalid_i && tready;
  assign out    = past_q && valid && !hold_i;
  assign mark   = mark_i && !marked_q && take;
  assign closes = take && (tlast_i || in_q == CountW'(Depth - 1));
  always_comb assume (!shown_q || (tvalid_i && tlast_i == tlast_q && tdata_i == tdata_q));

  always_ff @(posedge clk_i) begin
    past_q  <= 1'b1;
    shown_q <= past_q && tvalid_i && !tready;
    tlast_q <= tlast_i;
    tdata_q <= tdata_i;
    held_q  <= past_q && hold_i;
    valid_q <= valid;
    ends_q  <= ends;
    data_q  <= data_n;
    if (past_q) begin
      if (take)   in_q     <= in_q + CountW'(1);
      if (closes) closed_q <= 1'b1;
      if (out)    out_q    <= out_q + CountW'(1);
      if (req && tx_rdy_i && !hold_i) granted_q <= 1'b1;
      if (ends && !hold_i) begin
        {in_q, out_q}         <= '0;
        {closed_q, granted_q} <= '0;
      end
      if (mark) begin
        marked_q <= 1'b1;
        word_q   <= tdata_i;
        place_q  <= in_q;
      end
      if (marked_q && out && out_q == place_q) left_q <= 1'b1;
    end
  end

  always_comb begin
    if (past_q) begin
      whole:     assert (!req || closed_q);
      asks_once: assert (req == (closed_q && !granted_q));
      no_gap:    assert (valid == (granted_q && out_q != in_q));
      all_words: assert (ends == (granted_q && out_q == in_q));
      waits:     assert (!held_q || (valid == valid_q && ends == ends_q && data_n == data_q) ||
                         !valid_q && !ends_q);
      in_order:  assert (!(marked_q && !left_q && valid && out_q == place_q) || ~data_n == word_q);
      not_lost:  assert (!(marked_q && !left_q) || (place_q < in_q && place_q >= out_q));
      no_word:   assert (!take || !closed_q);
      idle_told: assert (busy == (in_q != 0 || take));
      bounded:   assert (32'(in_q) <= Depth && out_q <= in_q);
      // What induction needs: counters and where the marked word lies.
      counted:   assert (u_rx.count_q == in_q && (!granted_q || u_rx.sent_q == out_q));
      collects:  assert (tready == !closed_q);
      not_yet:   assert (granted_q || out_q == 0);
      not_full:  assert (closed_q ? in_q != 0 : (32'(in_q) < Depth && !granted_q));
      stored:    assert (!(marked_q && !left_q) ||
                         u_rx.words[$clog2(Depth)'(place_q)] == word_q);
      passed: cover (left_q && in_q == CountW'(Depth) && 32'(place_q) == Depth - 1);
    end
  end

endmodule
