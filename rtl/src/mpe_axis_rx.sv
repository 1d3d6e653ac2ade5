// SPDX-License-Identifier: MIT OR Apache-2.0
// A port of the crossbar that sends the packets of an AXI-Stream to one node as messages.
//
// A stream may pause, a message may not; so a packet is collected before it is sent. A packet longer
// than Depth words becomes several messages of Depth words and the rest.
module mpe_axis_rx #(
  parameter  int NumNodes = 4,
  parameter  int DataW    = 32,
  parameter  int Depth    = 16,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [IdW-1:0]   peer_i,      // receiver; to change only while busy_o is low
  output logic             busy_o,      // also in the clock in which the first word is taken
  input  logic             tvalid_i,
  output logic             tready_o,
  input  logic             tlast_i,
  input  logic [DataW-1:0] tdata_i,
  output logic             tx_req_o,
  output logic [IdW-1:0]   tx_dst_o,
  input  logic             tx_rdy_i,
  output logic [IdW-1:0]   tx_to_o,
  output logic             tx_valid_o,
  output logic             tx_end_o,
  output logic [DataW-1:0] tx_data_no,
  input  logic             hold_i
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_axis_rx: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (!mpe_pkg::is_word_width(DataW)) begin : gen_bad_data
    $error("mpe_axis_rx: DataW = %0d, accepted are 8, 16, 32, 64 and 128", DataW);
  end
  if (Depth < 2 || Depth > 1024) begin : gen_bad_depth
    $error("mpe_axis_rx: Depth = %0d, accepted are 2 to 1024", Depth);
  end

  localparam int CountW = $clog2(Depth + 1);
  typedef enum logic [1:0] {Collect, Request, Send, End} state_e;
  state_e            state_q, state_d;
  logic [DataW-1:0]  words [Depth];
  logic [CountW-1:0] count_q, sent_q;
  logic              take;

  assign tready_o = state_q == Collect;
  assign take     = tvalid_i && tready_o;
  assign busy_o   = state_q != Collect || count_q != '0 || take;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Collect: if (take && (tlast_i || count_q == CountW'(Depth - 1))) state_d = Request;
      Request: if (tx_rdy_i && !hold_i) state_d = Send;
      Send:    if (!hold_i && sent_q + CountW'(1) == count_q) state_d = End;
      End:     if (!hold_i) state_d = Collect;
      default: state_d = Collect;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Collect;
      count_q <= '0;
    end else begin
      state_q <= state_d;
      if (take)                                 count_q <= count_q + CountW'(1);
      else if (state_q == End && !hold_i)       count_q <= '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) words[$clog2(Depth)'(count_q)] <= tdata_i;
    if (state_q == Send && !hold_i) sent_q <= sent_q + CountW'(1);
    else if (state_q == Request)    sent_q <= '0;
  end

  assign tx_req_o   = state_q == Request;
  assign tx_dst_o   = peer_i;
  assign tx_to_o    = peer_i;
  assign tx_valid_o = state_q == Send;
  assign tx_end_o   = state_q == End;
  assign tx_data_no = ~words[$clog2(Depth)'(sent_q)];

endmodule
