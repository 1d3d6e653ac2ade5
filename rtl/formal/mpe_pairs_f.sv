// N links and their crossbar run arbitrary programs for ever: every word is taken by the node that it
// is for, while that node receives from its sender, and messages of equal lengths end together.
//
// Commands are what the queues hold: sends, receives and forwards in any order, at any time, also
// without a partner. Where a message starts both sides have the same length. Not here is the ready
// that goes ahead of a broadcast (leaves before a node are 0): it rests on the time in which a chain
// answers, not on what two nodes know of each other; mpe_sys.sby covers it to a bound.
module mpe_pairs_f #(
  parameter  int NumNodes = 3,
  localparam int IdW      = mpe_pkg::id_width(NumNodes),
  localparam int AddrW    = 2,
  localparam int LenW     = 2,
  localparam int DataW    = 8
) (
  input logic                           clk_i,
  input logic [NumNodes-1:0]            show_i,
  input logic [NumNodes-1:0]            receives_i,
  input logic [NumNodes-1:0]            sends_i,
  input logic [NumNodes-1:0][IdW-1:0]   source_i,
  input logic [NumNodes-1:0][IdW-1:0]   target_i,
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
  logic [NumNodes-1:0]            granted, granting, requested, open, takes, gives, word, cut;
  logic [NumNodes-1:0][LenW-1:0]  left;
  logic [NumNodes-1:0][LenW:0]    to_send;  // words that have not left

  assign hold = |hold_of;
  always_ff @(posedge clk_i) past_q <= 1'b1;

  for (genvar n = 0; n < NumNodes; n++) begin : gen_node
    mpe_link #(
      .NumNodes(NumNodes), .StatusW(1), .AddrW(AddrW), .LenW(LenW), .DataW(DataW)
    ) u_link (
      .clk_i(clk_i), .rst_ni(past_q), .head_valid_i(show_i[n] && past_q),
      .head_i({receives_i[n], sends_i[n], source_i[n], target_i[n], IdW'(0), AddrW'(0), len_i[n]}),
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
    assign cut[n]       = u_link.cut_q;
    assign left[n]      = u_link.s_len_q;
    assign to_send[n]   = (LenW+1)'(left[n]) + (LenW+1)'(word[n]);

    // The queue: its head stays until it is popped, and names nodes, not this one.
    logic                   waits_q = 1'b0;
    logic [2*IdW+LenW+1:0]  head, head_q;
    assign head = {receives_i[n], sends_i[n], source_i[n], target_i[n], len_i[n]};
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
    end
  end

  mpe_xbar #(.NumNodes(NumNodes), .DataW(DataW)) u_xbar (
    .tx_req_i(tx_req), .tx_dst_i(tx_dst), .tx_rdy_o(tx_rdy), .tx_to_i(tx_to),
    .tx_valid_i(tx_valid), .tx_end_i(tx_end), .tx_data_ni(tx_data_n), .rx_peer_i(rx_peer),
    .rx_req_o(rx_req), .rx_rdy_i(rx_rdy), .rx_src_i(rx_src), .rx_valid_o(rx_valid),
    .rx_end_o(rx_end), .rx_data_o(rx_data));

  for (genvar n = 0; n < NumNodes; n++) begin : gen_check
    logic [IdW-1:0] to, from, next;
    assign to   = tx_to[n];
    assign from = rx_src[n];
    assign next = target_i[n];
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
        clean_cut: assert (!cut[n] || (takes[n] && left[n] == 0));
        clean_got: assert (!granted[n] || (show_i[n] && sends_i[n]));
        at_once:   assert (!granting[n]);
        clean_req: assert (!requested[n] || show_i[n]);
        // Who has words to send has somebody who takes exactly these.
        partner:   assert (!(gives[n] && to_send[n] != 0) ||
                           (takes[to] && rx_src[to] == IdW'(n) && (LenW+1)'(left[to]) == to_send[n]));
        // Who has a ready has somebody who waits for exactly this message.
        promised:  assert (!(granted[n] && len_i[n] != 0) ||
                           (takes[next] && rx_src[next] == IdW'(n) && left[next] == len_i[n] &&
                            !(gives[n] && to == next)));
        // Who waits for words has given a ready for them, or hears them.
        sender:    assert (!(takes[n] && left[n] != 0) ||
                           (gives[from] && tx_to[from] == IdW'(n) &&
                            to_send[from] == (LenW+1)'(left[n])) ||
                           (granted[from] && target_i[from] == IdW'(n) &&
                            len_i[from] == left[n]));
        // The end of a message is heard within it, or before the next one can be asked for.
        ends_here: assert (!(tx_end[n] && requested[n] && target_i[n] == to) ||
                           (takes[to] && rx_src[to] == IdW'(n) && left[to] == 0));
      end
    end
  end

  always_comb begin
    if (past_q) forwarded: cover (|(takes & gives & done));
  end

endmodule
