// SPDX-License-Identifier: MIT OR Apache-2.0
// Crossbar: connects every receiver with the sender it names.
//
// It does not arbitrate. A node names one partner each for the message that it handshakes and for
// the one that it streams, and two nodes are connected only if they name each other. While a sender
// streams to one node, another may already be waiting for its next message.
module mpe_xbar #(
  parameter  int NumNodes = 4,
  parameter  int DataW    = 32,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic [NumNodes-1:0]            tx_req_i,
  input  logic [NumNodes-1:0][IdW-1:0]   tx_dst_i,
  output logic [NumNodes-1:0]            tx_rdy_o,
  input  logic [NumNodes-1:0][IdW-1:0]   tx_to_i,
  input  logic [NumNodes-1:0]            tx_valid_i,
  input  logic [NumNodes-1:0]            tx_end_i,
  input  logic [NumNodes-1:0][DataW-1:0] tx_data_ni,
  input  logic [NumNodes-1:0][IdW-1:0]   rx_peer_i,
  output logic [NumNodes-1:0]            rx_req_o,
  input  logic [NumNodes-1:0]            rx_rdy_i,
  input  logic [NumNodes-1:0][IdW-1:0]   rx_src_i,
  output logic [NumNodes-1:0]            rx_valid_o,
  output logic [NumNodes-1:0]            rx_end_o,
  output logic [NumNodes-1:0][DataW-1:0] rx_data_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_xbar: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (!mpe_pkg::is_word_width(DataW)) begin : gen_bad_data
    $error("mpe_xbar: DataW = %0d, accepted are 8, 16, 32, 64 and 128", DataW);
  end

  logic [NumNodes-1:0][NumNodes-1:0] req;   // [receiver][sender]: both name each other
  logic [NumNodes-1:0][NumNodes-1:0] rdy;   // [sender][receiver]

  for (genvar r = 0; r < NumNodes; r++) begin : gen_receiver
    logic [NumNodes-1:0] from, heard;  // one-hot: the sender of the stream; if it names me
    for (genvar s = 0; s < NumNodes; s++) begin : gen_sender
      if (s == r) begin : gen_self
        assign req[r][s] = 1'b0;
        assign rdy[s][r] = 1'b0;
        assign from[s]   = 1'b0;
        assign heard[s]  = 1'b0;
      end else begin : gen_other
        logic is_peer;
        assign is_peer   = rx_peer_i[r] == IdW'(s);
        assign req[r][s] = tx_req_i[s] && (tx_dst_i[s] == IdW'(r)) && is_peer;
        assign rdy[s][r] = rx_rdy_i[r] && is_peer;
        assign from[s]   = rx_src_i[r] == IdW'(s);
        assign heard[s]  = from[s] && (tx_to_i[s] == IdW'(r));
      end
    end
    assign rx_req_o[r]   = |req[r];
    assign rx_valid_o[r] = |(tx_valid_i & heard);
    assign rx_end_o[r]   = |(tx_end_i & heard);
    // Words travel inverted to here: then a word passes one inverting gate in the engine and one in
    // the crossbar instead of two that are followed by inverters.
    logic [DataW-1:0] word_n;
    always_comb begin
      word_n = '0;
      for (int s = 0; s < NumNodes; s++) word_n |= tx_data_ni[s] & {DataW{from[s]}};
    end
    assign rx_data_o[r] = ~word_n;
  end

  for (genvar s = 0; s < NumNodes; s++) begin : gen_ready
    assign tx_rdy_o[s] = |rdy[s];
  end

endmodule
