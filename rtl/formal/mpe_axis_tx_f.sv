// Messages to packets: a marked word leaves exactly behind those that came before it, unchanged, and
// is marked as the last of its packet exactly if it ended its message. What is shown stays until it
// is taken, and nothing stays behind once messages have ended and the stream is ready.
module mpe_axis_tx_f #(
  localparam int DataW = 8
) (
  input logic             clk_i,
  input logic             rx_req_i,
  input logic             rx_valid_i,
  input logic             rx_end_i,
  input logic [DataW-1:0] rx_data_i,
  input logic             hold_i,      // of other nodes
  input logic             tready_i,
  input logic             mark_i
);

  logic             past_q = 1'b0;
  logic             busy, rdy, hold_own, hold, tvalid, tlast;
  logic [1:0]       rx_peer, rx_src;
  logic [DataW-1:0] tdata;

  mpe_axis_tx #(.NumNodes(4), .DataW(DataW)) u_tx (
    .clk_i(clk_i), .rst_ni(past_q), .peer_i(2'd2), .busy_o(busy), .rx_peer_o(rx_peer),
    .rx_req_i(rx_req_i), .rx_rdy_o(rdy), .rx_src_o(rx_src), .rx_valid_i(rx_valid_i),
    .rx_end_i(rx_end_i), .rx_data_i(rx_data_i), .hold_o(hold_own), .hold_i(hold),
    .tvalid_o(tvalid), .tready_i(tready_i), .tlast_o(tlast), .tdata_o(tdata));
  assign hold = hold_i || hold_own;

  logic             marked_q = 1'b0;   // the marked word came
  logic             left_q = 1'b0;     // and has left
  logic             known_q = 1'b0;    // what followed it has come
  logic             last_q = 1'b0;     // and was the end
  logic             empty_q = 1'b1;    // the open message has no word yet
  logic [1:0]       ahead_q = '0;      // words before it
  logic [1:0]       count_q = '0;      // words inside
  logic [1:0]       ready_q = '0;      // clocks without a message and with a ready stream
  logic [DataW-1:0] word_q;
  logic             shown_q = 1'b0, tlast_q;
  logic [DataW-1:0] tdata_q;

  // The sender: a message is open from the ready to its end; nothing changes while the bus is held.
  logic             open_q = 1'b0, held_q = 1'b0, valid_q, end_q;
  logic [DataW-1:0] data_q;
  logic             word, ends, out, mark;
  assign word = open_q && rx_valid_i && !hold;
  assign ends = open_q && rx_end_i && !hold;
  assign out  = tvalid && tready_i;
  assign mark = mark_i && !marked_q && word;
  always_comb begin
    assume (open_q || !(rx_valid_i || rx_end_i));
    assume (!(rx_valid_i && rx_end_i));
    assume (!held_q || (rx_valid_i == valid_q && rx_end_i == end_q && rx_data_i == data_q));
  end

  always_ff @(posedge clk_i) begin
    past_q  <= 1'b1;
    held_q  <= past_q && hold;
    valid_q <= rx_valid_i;
    end_q   <= rx_end_i;
    data_q  <= rx_data_i;
    shown_q <= past_q && tvalid && !tready_i;
    tlast_q <= tlast;
    tdata_q <= tdata;
    if (past_q) begin
      if (!hold) open_q <= open_q ? !rx_end_i : rdy;
      count_q <= count_q + 2'(word) - 2'(out);
      ready_q <= (open_q || rdy || !tready_i) ? '0 : (ready_q == 2'd3) ? ready_q : ready_q + 2'd1;
      if (!open_q)   empty_q <= 1'b1;
      else if (word) empty_q <= 1'b0;
      if (mark) begin
        marked_q <= 1'b1;
        word_q   <= rx_data_i;
        ahead_q  <= count_q - 2'(out);
      end else begin
        if (marked_q && !known_q && (word || ends)) begin
          known_q <= 1'b1;
          last_q  <= ends;
        end
        if (marked_q && !left_q && out) begin
          if (ahead_q == 0) left_q <= 1'b1;
          else              ahead_q <= ahead_q - 2'd1;
        end
      end
    end
  end

  always_comb begin
    if (past_q) begin
      asked:     assert (!rdy || (rx_req_i && !open_q));
      stays:     assert (!shown_q || (tvalid && tlast == tlast_q && tdata == tdata_q));
      in_order:  assert (!(marked_q && !left_q && ahead_q == 0 && tvalid) ||
                         (tdata == word_q && known_q && tlast == last_q));
      not_early: assert (!left_q || known_q);
      not_more:  assert (!out || count_q != 0);
      drained:   assert (ready_q != 2'd3 || (!busy && count_q == 0));
      idle_told: assert (busy == (open_q || count_q != 0));
      // What induction needs: where the words are.
      opened:    assert (u_tx.busy_q == open_q);
      occupied:  assert (count_q == 2'(u_tx.full_q) + 2'(tvalid));
      ended:     assert (!u_tx.ended_q || (u_tx.full_q && !open_q));
      waits_for: assert (!u_tx.full_q || open_q || u_tx.ended_q);
      full_open: assert (!open_q || empty_q == !u_tx.full_q);
      kept:      assert (!(marked_q && !left_q) || ahead_q < count_q);
      only_then: assert (marked_q || !(left_q || known_q));
      behind:    assert (!(marked_q && !left_q && u_tx.full_q && ahead_q == 2'(tvalid)) ||
                         (u_tx.word_q == word_q && known_q == u_tx.ended_q &&
                          (!known_q || last_q)));
      settling:  assert (ready_q == 0 || (!open_q && (ready_q < 2'd2 || !u_tx.full_q)));
      passed: cover (left_q && last_q && count_q == 2'd2 && open_q);
    end
  end

endmodule
