// SPDX-License-Identifier: MIT OR Apache-2.0
// N links and their crossbar run arbitrary programs for ever: every word is taken by the node that it
// is for, while that node receives from its sender, and messages of equal lengths end together.
//
// Commands are what the queues hold: sends, receives, forwards and the parts of broadcasts, in any
// order, at any time, also without a partner. The environment promises what the programs' order and
// mpe_order.sby do: when a ready meets a request, both are of the same message, so their lengths are
// equal, and a node with k > 0 leaves before it has a predecessor with k - 1 that forwards.
//
// The invariant says for each node who has what it waits for, that a stream that has started does
// not pause, and when the first word can come: 2k + 1 clocks after the ready, and at a node one
// clock after its predecessor's. So a ready that went ahead finds the stage free. The end of a message
// without words goes the way of a word: it counts as one that starts its receiver's stream.
module mpe_pairs_f #(
  parameter  int NumNodes = 3,
  parameter  int LenW     = 2,
  localparam int IdW      = mpe_pkg::id_width(NumNodes),
  localparam int AddrW    = LenW,
  localparam int DataW    = 8
) (
  input logic                           clk_i,
  input logic [NumNodes-1:0]            show_i,
  input logic [NumNodes-1:0]            receives_i,
  input logic [NumNodes-1:0]            sends_i,
  input logic [NumNodes-1:0][IdW-1:0]   source_i,
  input logic [NumNodes-1:0][IdW-1:0]   target_i,
  input logic [NumNodes-1:0][IdW-1:0]   before_i,
  input logic [NumNodes-1:0][LenW-1:0]  len_i,
  input logic [NumNodes-1:0]            mem_rdy_i
);

  logic                           past_q = 1'b0;
  logic                           hold;
  logic [NumNodes-1:0]            pop, done, err_short, err_long, hold_of;
  logic [NumNodes-1:0]            tx_req, tx_rdy, tx_valid, tx_end, rx_req, rx_rdy, rx_valid, rx_end;
  logic [NumNodes-1:0][IdW-1:0]   tx_dst, tx_to, rx_peer, rx_src;
  logic [NumNodes-1:0][DataW-1:0] tx_data_n, rx_data;
  // What the links know, from inside.
  logic [NumNodes-1:0]            granted, granting, requested, open, takes, gives, word, over;
  logic [NumNodes-1:0][LenW-1:0]  left;
  logic [NumNodes-1:0][LenW:0]    to_send;  // words that have not left
  logic [NumNodes-1:0][LenW:0]    rest;     // clocks until the stream stage is free
  logic [NumNodes-1:0]            started, heard;
  logic [NumNodes-1:0]            on;       // started, or the end of no words has come
  logic [NumNodes-1:0]            ahead_q;  // the ready of the message that streams went ahead
  logic [NumNodes-1:0][IdW:0]     wait_of;

  assign hold = |hold_of;
  always_ff @(posedge clk_i) past_q <= 1'b1;

  for (genvar n = 0; n < NumNodes; n++) begin : gen_node
    mpe_link #(
      .NumNodes(NumNodes), .StatusW(1), .AddrW(AddrW), .LenW(LenW), .DataW(DataW)
    ) u_link (
      .clk_i(clk_i), .rst_ni(past_q), .abort_i(1'b0), .head_valid_i(show_i[n] && past_q),
      .head_i({receives_i[n], sends_i[n], source_i[n], target_i[n], before_i[n], AddrW'(0),
               len_i[n]}),
      .pop_o(pop[n]), .done_o(done[n]), .err_short_o(err_short[n]), .err_long_o(err_long[n]),
      .status_o(), .tx_req_o(tx_req[n]), .tx_dst_o(tx_dst[n]), .tx_rdy_i(tx_rdy[n]),
      .rx_peer_o(rx_peer[n]), .rx_req_i(rx_req[n]), .rx_rdy_o(rx_rdy[n]), .tx_to_o(tx_to[n]),
      .tx_valid_o(tx_valid[n]), .tx_end_o(tx_end[n]), .tx_data_no(tx_data_n[n]),
      .rx_src_o(rx_src[n]), .rx_valid_i(rx_valid[n]), .rx_end_i(rx_end[n]),
      .rx_data_i(rx_data[n]), .hold_o(hold_of[n]), .hold_i(hold), .mem_rdy_i(mem_rdy_i[n]),
      .mem_req_o(), .mem_we_o(), .mem_addr_o(), .mem_wdata_o(), .mem_rdata_i('0));

    assign granted[n]   = u_link.granted_q;
    assign granting[n]  = u_link.granting_q;
    assign requested[n] = u_link.requested_q;
    assign open[n]      = u_link.s_valid_q;
    assign takes[n]     = u_link.s_valid_q && u_link.s_rx_q;
    assign gives[n]     = u_link.s_valid_q && u_link.s_tx_q;
    assign word[n]      = u_link.word_q;
    assign over[n]      = u_link.over_q;
    assign left[n]      = u_link.s_len_q;
    assign to_send[n]   = (LenW+1)'(left[n]) + (LenW+1)'(word[n]);

    // A word of the message that streams has moved; clocks before the first word of the newest
    // message that got a ready can come.
    always_ff @(posedge clk_i) begin
      if (!past_q) begin
        started[n] <= 1'b0;
        wait_of[n]    <= '0;
      end else if (!hold) begin
        if (pop[n]) ahead_q[n] <= granting[n];
        started[n] <= !pop[n] && open[n] && !done[n] && (started[n] || word[n] || heard[n]);
        wait_of[n]    <= rx_rdy[n] ? {before_i[n], 1'b0} : (wait_of[n] == 0) ? '0 : wait_of[n] - (IdW+1)'(1);
      end
    end
    assign heard[n] = takes[n] && rx_valid[n];
    assign on[n]    = started[n] || over[n];
    assign rest[n]  = (LenW+1)'(left[n]) + (LenW+1)'(gives[n] && to_send[n] != 0);

    // The queue: its head stays until it is popped, and names nodes, not this one.
    logic                   waits_q = 1'b0;
    logic [3*IdW+LenW+1:0]  head, head_q;
    assign head = {receives_i[n], sends_i[n], source_i[n], target_i[n], before_i[n], len_i[n]};
    always_ff @(posedge clk_i) begin
      waits_q <= past_q && show_i[n] && !pop[n];
      head_q  <= head;
    end
    always_comb begin
      assume (!waits_q || (show_i[n] && head == head_q));
      assume (receives_i[n] || sends_i[n]);
      assume (32'(source_i[n]) < NumNodes && source_i[n] != IdW'(n));
      assume (32'(target_i[n]) < NumNodes && target_i[n] != IdW'(n));
      assume (!rx_rdy[n] || len_i[n] == len_i[source_i[n]]);
      assume (!rx_rdy[n] || before_i[n] == 0 ||
              (receives_i[source_i[n]] && before_i[source_i[n]] == before_i[n] - IdW'(1)));
    end
  end

  mpe_xbar #(.NumNodes(NumNodes), .DataW(DataW)) u_xbar (
    .tx_req_i(tx_req), .tx_dst_i(tx_dst), .tx_rdy_o(tx_rdy), .tx_to_i(tx_to),
    .tx_valid_i(tx_valid), .tx_end_i(tx_end), .tx_data_ni(tx_data_n), .rx_peer_i(rx_peer),
    .rx_req_o(rx_req), .rx_rdy_i(rx_rdy), .rx_src_i(rx_src), .rx_valid_o(rx_valid),
    .rx_end_o(rx_end), .rx_data_o(rx_data));

  for (genvar n = 0; n < NumNodes; n++) begin : gen_check
    logic           streams, flowed_q;    // the end of the stream is known
    always_ff @(posedge clk_i)
      if (!past_q) flowed_q <= 1'b0;
      else if (!hold) flowed_q <= streams && open[n] && !done[n];
    assign streams = gen_node[n].u_link.flows;
    logic [IdW-1:0] to, from, next, ask;
    logic           sends, got;           // words or their end to go in the stream stage, in the head
    logic           waits;                // for them
    logic           by_stage, by_head;    // who takes them: their receiver's stage, its head
    logic           got_stage, got_head;
    assign to   = tx_to[n];
    assign from = rx_src[n];
    assign next = target_i[n];
    assign ask  = source_i[n];
    assign sends = gives[n] && (to_send[n] != 0 || !started[n]);
    assign got   = granted[n];
    assign waits = takes[n] && (left[n] != 0 || !on[n]);
    assign by_stage  = takes[to] && rx_src[to] == IdW'(n) && (LenW+1)'(left[to]) == to_send[n] &&
                       (to_send[n] != 0 || !on[to]);
    assign by_head   = granting[to] && source_i[to] == IdW'(n) &&
                       (LenW+1)'(len_i[to]) == to_send[n] && !word[n] && takes[n] && !on[n];
    assign got_stage = takes[next] && rx_src[next] == IdW'(n) && left[next] == len_i[n] &&
                       !on[next];
    assign got_head  = granting[next] && source_i[next] == IdW'(n) && len_i[next] == len_i[n];
    always_comb begin
      if (past_q) begin
        taken:     assert (!word[n] || (takes[to] && rx_src[to] == IdW'(n)));
        no_short:  assert (!err_short[n]);
        no_long:   assert (!err_long[n]);
        // What induction needs: names are nodes; a stage that is empty is clean.
        named:     assert (!open[n] || ((takes[n] || gives[n]) &&
                           (!takes[n] || (32'(from) < NumNodes && from != IdW'(n))) &&
                           (!gives[n] || (32'(to) < NumNodes && to != IdW'(n)))));
        clean:     assert (!word[n] || gives[n]);
        clean_ovr: assert (!over[n] || (takes[n] && left[n] == 0));
        clean_got: assert (!granted[n] || (requested[n] && sends_i[n]));
        clean_req: assert (!requested[n] || show_i[n]);
        clean_sta: assert (!started[n] || open[n]);
        last:      assert (!(takes[n] && started[n] && left[n] == 0) || over[n]);
        fwd_sta:   assert (!(word[n] && takes[n]) || started[n]);
        // Who has words to send has somebody who takes exactly these, and so has a ready.
        partner:   assert (!sends || by_stage || by_head);
        promised:  assert (!got || got_stage || got_head);
        both:      assert (!(sends && got && to == next) || (by_stage && !got_stage && got_head));
        // Who waits for words has given a ready for them, or hears them.
        sender:    assert (!waits ||
                           (gives[from] && tx_to[from] == IdW'(n) &&
                            to_send[from] == (LenW+1)'(left[n]) &&
                            (left[n] != 0 || !started[from])) ||
                           (granted[from] && target_i[from] == IdW'(n) &&
                            len_i[from] == left[n] && !on[n]));
        ahead:     assert (!granting[n] ||
                           (gives[ask] && tx_to[ask] == IdW'(n) && !on[ask] && takes[ask] &&
                            !word[ask] && to_send[ask] == (LenW+1)'(len_i[n]) &&
                            !(waits && from == ask)) ||
                           (granted[ask] && target_i[ask] == IdW'(n) && len_i[ask] == len_i[n]));
        // A stream that has started does not pause.
        flows:     assert (!(started[n] && takes[n] && left[n] != 0) ||
                           (word[from] && tx_to[from] == IdW'(n)));
        flows_out: assert (!(gives[n] && !takes[n] && left[n] != 0) || word[n]);
        no_pause:  assert (!flowed_q || streams);
        // A ready that went ahead: the stage is free a clock before the first word can come.
        in_time:   assert (!granting[n] ||
                           (show_i[n] && receives_i[n] && (granted[n] || !sends_i[n]) && open[n] &&
                            (started[n] || !takes[n]) && 32'(wait_of[n]) >= 32'(rest[n]) + 1));
        // No word before its time: at a node one clock after its predecessor's.
        first:     assert (!(takes[n] && !on[n] && (rx_valid[n] || rx_end[n])) || wait_of[n] == 0);
        later_got: assert (!(got && receives_i[n] && !granting[n]) ||
                           32'(wait_of[next]) <= 2 * 32'(before_i[n]) + 2);
        later_gra: assert (!(got && receives_i[n] && granting[n]) ||
                           32'(wait_of[next]) <= 32'(wait_of[n]) + 1);
        later_str: assert (!(sends && takes[n] && !on[n]) ||
                           32'(wait_of[to]) <= 32'(wait_of[n]) + 1);
        later_sta: assert (!(sends && on[n] && !on[to]) ||
                           (takes[n] && (word[n] || over[n]) && wait_of[to] == 0));
        from_root: assert (!(got && !receives_i[n]) || wait_of[next] == 0);
        root_out:  assert (!(sends && !takes[n] && !started[n]) || wait_of[to] == 0);
        // The end of no words is heard by the node that waits for it, and by no other one.
        none_lost: assert (!(tx_end[n] && !started[n]) || by_stage);
        // The end of a message is heard within it, or before the next one can be asked for.
        ends_here: assert (!(tx_end[n] && requested[n] && target_i[n] == to) ||
                           (takes[to] && rx_src[to] == IdW'(n) && left[to] == 0 &&
                            (!started[n] || on[to])));
      end
    end
  end

  always_comb begin
    if (past_q) begin
      forwarded: cover (|(takes & gives & done & started));
      went_off:  cover (|(ahead_q & done & started));
    end
  end

endmodule
