// SPDX-License-Identifier: MIT OR Apache-2.0
// Messages to packets: a marked word leaves exactly behind those that came before it, unchanged, and
// is marked as the last of its packet exactly if it ended its message, or its message's first Depth
// words, or was the last of a sender that aborted. What is shown stays until it is taken, nothing stays
// behind once a message has ended and the stream is ready, and what the stream does is not seen on the
// bus but by the next message's sender.
module mpe_axis_tx_f #(
  parameter  int Depth  = 2,
  localparam int DataW  = 8,
  localparam int CountW = $clog2(Depth + 1),
  localparam int PlaceW = $clog2(Depth)
) (
  input logic             clk_i,
  input logic             rx_req_i,
  input logic             rx_valid_i,
  input logic             rx_end_i,
  input logic [DataW-1:0] rx_data_i,
  input logic             hold_i,
  input logic             abort_i,
  input logic             tready_i,
  input logic             mark_i
);

  logic             past_q = 1'b0;
  logic             busy, err_long, rdy, tvalid, tlast;
  logic [1:0]       rx_peer, rx_src;
  logic [DataW-1:0] tdata;

  mpe_axis_tx #(.NumNodes(4), .DataW(DataW), .Depth(Depth)) u_tx (
    .clk_i(clk_i), .rst_ni(past_q), .peer_i(2'd2), .busy_o(busy), .abort_i(abort_i),
    .err_long_o(err_long),
    .rx_peer_o(rx_peer), .rx_req_i(rx_req_i), .rx_rdy_o(rdy), .rx_src_o(rx_src),
    .rx_valid_i(rx_valid_i), .rx_end_i(rx_end_i), .rx_data_i(rx_data_i), .hold_i(hold_i),
    .tvalid_o(tvalid), .tready_i(tready_i), .tlast_o(tlast), .tdata_o(tdata));

  logic              marked_q = 1'b0;   // the marked word came
  logic              left_q = 1'b0;     // and has left
  logic              known_q = 1'b0;    // what followed it has come
  logic              last_q = 1'b0;     // and was the end
  logic [CountW:0]   ahead_q = '0;      // words before it
  logic [CountW:0]   inside_q = '0;     // words inside
  logic [CountW-1:0] kept_q = '0;       // words of the message, or the first Depth of them
  logic [DataW-1:0]  word_q;
  logic              shown_q = 1'b0, tlast_q;
  logic [DataW-1:0]  tdata_q;

  // The sender: a message is open from the ready to its end or the sender's abort; nothing else changes
  // while the bus is held.
  logic             open_q = 1'b0, held_q = 1'b0, valid_q, end_q;
  logic [DataW-1:0] data_q;
  logic             word, keep, ends, out, mark;
  assign word = open_q && rx_valid_i && !hold_i;
  assign keep = word && kept_q != CountW'(Depth);
  assign ends = open_q && ((rx_end_i && !hold_i) || abort_i);
  assign out  = tvalid && tready_i;
  assign mark = mark_i && !marked_q && keep;
  always_comb begin
    assume (open_q || !(rx_valid_i || rx_end_i));
    assume (!(rx_valid_i && rx_end_i));
    assume (!held_q || (rx_valid_i == valid_q && rx_end_i == end_q && rx_data_i == data_q));
  end

  always_ff @(posedge clk_i) begin
    past_q  <= 1'b1;
    held_q  <= past_q && hold_i && !abort_i;
    valid_q <= rx_valid_i;
    end_q   <= rx_end_i;
    data_q  <= rx_data_i;
    shown_q <= past_q && tvalid && !tready_i;
    tlast_q <= tlast;
    tdata_q <= tdata;
    if (past_q) begin
      if (abort_i)      open_q <= 1'b0;
      else if (!hold_i) open_q <= open_q ? !rx_end_i : rdy;
      if (!open_q)   kept_q <= (rdy && !hold_i) ? '0 : kept_q;
      else if (keep) kept_q <= kept_q + CountW'(1);
      inside_q <= inside_q + (CountW+1)'(keep) - (CountW+1)'(out);
      if (mark) begin
        marked_q <= 1'b1;
        word_q   <= rx_data_i;
        ahead_q  <= inside_q - (CountW+1)'(out);
        known_q  <= ends;
        last_q   <= ends;
      end else begin
        if (marked_q && !known_q && (keep || ends)) begin
          known_q <= 1'b1;
          last_q  <= !keep;
        end
        if (marked_q && !left_q && out) begin
          if (ahead_q == 0) left_q <= 1'b1;
          else              ahead_q <= ahead_q - (CountW+1)'(1);
        end
      end
    end
  end

  // Where the marked word is, if it is not the one that is shown.
  logic [CountW-1:0] place;
  logic              waits;
  assign waits = marked_q && !left_q && !(ahead_q == 0 && tvalid);
  assign place = u_tx.sent_q + CountW'(ahead_q) - CountW'(tvalid);

  always_comb begin
    if (past_q) begin
      asked:     assert (!rdy || (rx_req_i && !open_q));
      stays:     assert (!shown_q || (tvalid && tlast == tlast_q && tdata == tdata_q));
      in_order:  assert (!(marked_q && !left_q && ahead_q == 0 && tvalid) ||
                         (tdata == word_q && known_q && tlast == last_q));
      not_early: assert (!left_q || known_q);
      not_more:  assert (!out || inside_q != 0);
      cut_told:  assert (err_long == (word && kept_q == CountW'(Depth)));
      goes_on:   assert (open_q || inside_q == (CountW+1)'(tvalid) || u_tx.pass ||
                         (tvalid && !tready_i));
      taken:     assert (open_q || inside_q != (CountW+1)'(tvalid) || rdy == rx_req_i);
      idle_told: assert (busy == (open_q || inside_q != 0 || rdy));
      // What induction needs: where the words are.
      opened:    assert (u_tx.busy_q == open_q && kept_q <= CountW'(Depth));
      counted:   assert (u_tx.count_q == ((open_q || u_tx.ended_q) ? kept_q : '0));
      sent:      assert (u_tx.sent_q <= u_tx.count_q && (u_tx.count_q == 0 ||
                         u_tx.sent_q != u_tx.count_q));
      occupied:  assert (inside_q == (CountW+1)'(u_tx.count_q - u_tx.sent_q) + (CountW+1)'(tvalid));
      ended:     assert (!u_tx.ended_q || (u_tx.count_q != 0 && !open_q));
      is_inside: assert (!(marked_q && !left_q) || ahead_q < inside_q);
      only_then: assert (marked_q || !(left_q || known_q));
      in_memory: assert (!waits || (u_tx.words[PlaceW'(place)] == word_q &&
                         known_q == (u_tx.ended_q || place + CountW'(1) != u_tx.count_q) &&
                         (!known_q || last_q == (u_tx.ended_q &&
                                                 place + CountW'(1) == u_tx.count_q))));
      passed: cover (left_q && last_q && inside_q == 2 && open_q);
      cut:    cover (left_q && err_long);
      given_up: cover (left_q && last_q && past_q && abort_i && inside_q != 0 && open_q);
    end
  end

endmodule
