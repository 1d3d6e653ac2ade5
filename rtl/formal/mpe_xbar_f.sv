// SPDX-License-Identifier: MIT OR Apache-2.0
// Crossbar: two nodes are connected only if they name each other, a receiver hears one sender, and
// its word passes unchanged. Every sender and receiver is symbolic, so one step proves it.
module mpe_xbar_f #(
  parameter  int NumNodes = 4,
  localparam int DataW    = 8,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input logic [NumNodes-1:0]            tx_req_i,
  input logic [NumNodes-1:0][IdW-1:0]   tx_dst_i,
  input logic [NumNodes-1:0][IdW-1:0]   tx_to_i,
  input logic [NumNodes-1:0]            tx_valid_i,
  input logic [NumNodes-1:0]            tx_end_i,
  input logic [NumNodes-1:0][DataW-1:0] tx_data_ni,
  input logic [NumNodes-1:0][IdW-1:0]   rx_peer_i,
  input logic [NumNodes-1:0]            rx_rdy_i,
  input logic [NumNodes-1:0][IdW-1:0]   rx_src_i,
  input logic [IdW-1:0]                 sender_i,
  input logic [IdW-1:0]                 receiver_i
);

  logic [NumNodes-1:0]            tx_rdy, rx_req, rx_valid, rx_end;
  logic [NumNodes-1:0][DataW-1:0] rx_data;

  mpe_xbar #(.NumNodes(NumNodes), .DataW(DataW)) u_xbar (
    .tx_req_i(tx_req_i), .tx_dst_i(tx_dst_i), .tx_rdy_o(tx_rdy), .tx_to_i(tx_to_i),
    .tx_valid_i(tx_valid_i), .tx_end_i(tx_end_i), .tx_data_ni(tx_data_ni), .rx_peer_i(rx_peer_i),
    .rx_req_o(rx_req), .rx_rdy_i(rx_rdy_i), .rx_src_i(rx_src_i), .rx_valid_o(rx_valid),
    .rx_end_o(rx_end), .rx_data_o(rx_data));

  logic [IdW-1:0] s, r, peer, src;
  logic           is_pair;
  assign s = sender_i;
  assign r = receiver_i;
  assign peer = rx_peer_i[r];
  assign src  = rx_src_i[r];
  assign is_pair = 32'(s) < NumNodes && 32'(r) < NumNodes && s != r &&
                   32'(peer) < NumNodes && 32'(src) < NumNodes && peer != r && src != r;

  always_comb begin
    assume (is_pair);
    if (is_pair) begin
      // What a receiver hears is what the sender that it names says to it, and nothing else.
      request_heard: assert (rx_req[r] == (tx_req_i[peer] && tx_dst_i[peer] == r));
      word_heard:    assert (rx_valid[r] == (tx_valid_i[src] && tx_to_i[src] == r));
      end_heard:     assert (rx_end[r] == (tx_end_i[src] && tx_to_i[src] == r));
      word_same:     assert (rx_data[r] == ~tx_data_ni[src]);
      // A ready is never lost, and comes only from somebody who named the sender.
      ready_heard:   assert (!(rx_rdy_i[r] && peer == s) || tx_rdy[s]);
      if (rx_rdy_i == (NumNodes'(1) << r)) begin
        ready_meant: assert (tx_rdy[s] == (peer == s));
      end
    end
  end

endmodule
