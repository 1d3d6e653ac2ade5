// SPDX-License-Identifier: MIT OR Apache-2.0
// One link with an arbitrary partner: every message is started by exactly one ready of its receiver
// and starts one message only, and it carries its length of words. After an abort nothing of it is left.
module mpe_link_f #(
  localparam int NumNodes = 4,
  localparam int IdW      = 2,
  localparam int AddrW    = 3,
  localparam int LenW     = 3,
  localparam int DataW    = 8,
  localparam int EntryW   = 2 + 3 * IdW + AddrW + LenW
) (
  input logic              clk_i,
  input logic              abort_i,
  input logic              head_valid_i,
  input logic [EntryW-1:0] head_i,
  input logic              tx_rdy_i,
  input logic              rx_req_i,
  input logic              rx_valid_i,
  input logic              rx_end_i,
  input logic [DataW-1:0]  rx_data_i,
  input logic              hold_i,      // of other nodes
  input logic              mem_rdy_i,
  input logic [DataW-1:0]  mem_rdata_i
);

  logic             past_q = 1'b0;
  logic             pop, done, err_short, err_long, tx_req, rx_rdy, tx_valid, tx_end, hold_own, hold;
  logic             mem_req, mem_we;
  logic [1:0]       status;
  logic [IdW-1:0]   tx_dst, rx_peer, tx_to, rx_src;
  logic [DataW-1:0] tx_data_n, mem_wdata;
  logic [AddrW-1:0] mem_addr;

  mpe_link #(
    .NumNodes(NumNodes), .StatusW(2), .AddrW(AddrW), .LenW(LenW), .DataW(DataW)
  ) u_link (
    .clk_i(clk_i), .rst_ni(past_q), .abort_i(abort_i), .head_valid_i(head_valid_i && past_q),
    .head_i(head_i),
    .pop_o(pop), .done_o(done), .err_short_o(err_short), .err_long_o(err_long),
    .status_o(status), .tx_req_o(tx_req), .tx_dst_o(tx_dst), .tx_rdy_i(tx_rdy_i),
    .rx_peer_o(rx_peer), .rx_req_i(rx_req_i), .rx_rdy_o(rx_rdy), .tx_to_o(tx_to),
    .tx_valid_o(tx_valid), .tx_end_o(tx_end), .tx_data_no(tx_data_n), .rx_src_o(rx_src),
    .rx_valid_i(rx_valid_i), .rx_end_i(rx_end_i), .rx_data_i(rx_data_i), .hold_o(hold_own),
    .hold_i(hold), .mem_rdy_i(mem_rdy_i), .mem_req_o(mem_req), .mem_we_o(mem_we),
    .mem_addr_o(mem_addr), .mem_wdata_o(mem_wdata), .mem_rdata_i(mem_rdata_i));
  assign hold = hold_i || hold_own;

  // The queue: a command stays at the head until it is popped, and it sends or receives.
  logic              waits_q = 1'b0;
  logic              aborted_q = 1'b0;
  logic [EntryW-1:0] head_q;
  logic              h_rx, h_tx;
  logic [LenW-1:0]   h_len;
  assign {h_rx, h_tx} = head_i[EntryW-1-:2];
  assign h_len        = head_i[LenW-1:0];
  always_comb begin
    assume (!waits_q || (head_valid_i && head_i == head_q));
    assume (h_rx || h_tx);
  end

  logic            got_q = 1'b0;     // readies that came for the head's message
  logic            gave_q = 1'b0;    // readies that it gave
  logic            asked_q = 1'b0;   // it has asked
  logic            open_q = 1'b0;    // a message streams
  logic            sends_q, takes_q; // what it does
  logic            ended_q;          // its sender's end, or a word too many, has come
  logic [LenW-1:0] len_q;            // its length
  logic [LenW:0]   out_q, in_q;      // words that left, words that came
  logic            got, gave;
  assign got  = tx_req && tx_rdy_i && !hold;
  assign gave = rx_rdy && !hold;

  always_ff @(posedge clk_i) begin
    past_q  <= 1'b1;
    waits_q <= past_q && head_valid_i && !pop && !abort_i;
    aborted_q <= past_q && abort_i;
    head_q  <= head_i;
    if (past_q && abort_i) begin
      {asked_q, got_q, gave_q, open_q} <= '0;
    end else if (past_q && !hold) begin
      asked_q <= head_valid_i && !pop && (asked_q || tx_req);
      got_q   <= !pop && (got_q || got);
      gave_q  <= !pop && (gave_q || gave);
      open_q  <= pop || (open_q && !done);
      if (pop) begin
        {takes_q, sends_q} <= {h_rx, h_tx};
        len_q <= h_len;
        out_q <= '0;
        in_q  <= '0;
        ended_q <= 1'b0;
      end else if (open_q) begin
        ended_q <= ended_q || rx_end_i || err_long;
        out_q <= out_q + (LenW+1)'(tx_valid);
        in_q  <= in_q + (LenW+1)'(mem_req && mem_we);
      end
    end
  end

  always_comb begin
    if (past_q) begin
      // An abort leaves what a reset leaves: nobody asked, no ready given or got, no message, no word.
      free:       assert (!aborted_q || !(u_link.s_valid_q || u_link.word_q || u_link.over_q ||
                          u_link.requested_q || u_link.granted_q || u_link.granting_q));
      silent:     assert (!aborted_q || !(tx_req || (rx_rdy && !head_valid_i) || tx_valid || tx_end || done ||
                          err_long || (mem_req && mem_we)));
      free_told:  assert (!aborted_q || status == (head_valid_i ? 2'd3 : 2'd0));
      // A ready starts exactly one message.
      one_got:    assert (!got || (h_tx && !got_q));
      one_gave:   assert (!gave || (h_rx && rx_req_i && !gave_q));
      started:    assert (!pop || ((!h_tx || got_q || got) && (!h_rx || gave_q || gave)));
      none_early: assert (head_valid_i || (!tx_req && !rx_rdy && !got_q && !gave_q));
      keeps_on:   assert (!asked_q || tx_req || got_q);
      in_turn:    assert (!(gave && h_tx) || got_q);
      one_open:   assert (!pop || !open_q || done);
      // Words: only while one streams, as many as its length, and one end.
      while_open: assert (!(tx_valid || tx_end) || (open_q && sends_q));
      taken_open: assert (!(mem_req && mem_we) || (open_q && takes_q));
      never_more: assert (!open_q || (out_q <= (LenW+1)'(len_q) && in_q <= (LenW+1)'(len_q)));
      sent_all:   assert (!(done && sends_q) || (tx_end && !tx_valid && (err_short ||
                          out_q == (LenW+1)'(len_q))));
      taken_all:  assert (!(done && takes_q && !err_short) || in_q == (LenW+1)'(len_q));
      passed_on:  assert (!(done && takes_q && sends_q) || out_q == in_q);
      // A receiver ends by its last word, or when its sender's end or a word too many has come.
      not_ahead:  assert (!(done && takes_q) || ended_q || (len_q != '0 && in_q == (LenW+1)'(len_q)));
      long_told:  assert (!(open_q && takes_q && rx_valid_i && u_link.s_len_q == '0 && !hold) ||
                          err_long);
      short_told: assert (!(done && err_short) || (takes_q && in_q < (LenW+1)'(len_q)));
      done_once:  assert (!done || open_q);
      // A word that waits for a memory is told once, in the clock in which it passes.
      long_once:  assert (!err_long || !hold);
      // What induction needs: the counts are those of the link.
      same_got:   assert (u_link.granted_q == got_q && u_link.granting_q == gave_q);
      same_asked: assert (!got_q || h_tx);
      same_gave:  assert (!gave_q || h_rx);
      same_open:  assert (u_link.s_valid_q == open_q);
      same_kind:  assert (!open_q || (u_link.s_rx_q == takes_q && u_link.s_tx_q == sends_q &&
                                      (takes_q || sends_q)));
      same_words: assert (!open_q || (LenW+1)'(len_q) == (takes_q ? in_q :
                          out_q + (LenW+1)'(u_link.word_q)) + (LenW+1)'(u_link.s_len_q));
      same_out:   assert (!open_q || !sends_q || !takes_q ||
                          in_q == out_q + (LenW+1)'(u_link.word_q));
      same_word:  assert (!u_link.word_q || (open_q && sends_q));
      same_send:  assert (!open_q || takes_q || u_link.word_q || u_link.s_len_q == '0);
      same_over:  assert (!u_link.over_q || (open_q && takes_q && (ended_q ||
                          (len_q != '0 && in_q == (LenW+1)'(len_q)))));
      same_last:  assert (!open_q || !takes_q || len_q == '0 || in_q != (LenW+1)'(len_q) ||
                          u_link.over_q);
      forwarded: cover (done && takes_q && sends_q && len_q == 3'd3 && gave_q);
    end
  end

endmodule
