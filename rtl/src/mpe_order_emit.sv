// SPDX-License-Identifier: MIT OR Apache-2.0
// Order unit as emitter: names the members of a broadcast, one per clock, from the chain's tail on.
//
// One emitter on the bus and a snooper per node replace a neighbour finder per node, which is
// smaller for many nodes. The tail is named first and the root last, because the ready messages
// travel in that direction: so a node hears its neighbours' names before it needs them. With
// Snapshot = 1 the status is copied at start_i; otherwise it must not change until last_o was taken.
module mpe_order_emit #(
  parameter  int NumNodes = 4,
  parameter  int StatusW  = 2,
  parameter  bit Snapshot = 1'b1,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             start_i,    // ignored while valid_o is high
  input  logic [NumNodes-1:0][StatusW-1:0] status_i,
  input  logic [NumNodes-1:0]              members_i,  // with the root
  input  logic [IdW-1:0]                   root_i,
  input  logic                             ready_i,
  output logic                             valid_o,
  output logic                             last_o,     // the root
  output logic [IdW-1:0]                   node_o,
  output logic [IdW-1:0]                   leaves_before_o  // between the root and node_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_order_emit: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (StatusW < 1 || StatusW > mpe_pkg::StatusWMax) begin : gen_bad_status
    $error("mpe_order_emit: StatusW = %0d, accepted are 1 to %0d", StatusW, mpe_pkg::StatusWMax);
  end

  logic [NumNodes-1:0]              pending_q, pending_d, cand, chosen;
  logic                             load, rooted_q;
  logic [IdW-1:0]                   root_q, leaves_before_q, leaves_before;
  logic [NumNodes-1:0][StatusW-1:0] status;

  assign valid_o = rooted_q;
  assign load    = start_i && !valid_o;

  if (Snapshot) begin : gen_snapshot
    logic [NumNodes-1:0][StatusW-1:0] status_q;
    always_ff @(posedge clk_i) if (load) status_q <= status_i;
    assign status = status_q;
  end else begin : gen_live
    assign status = status_i;
  end

  // The greatest leaf: highest class, highest number inside a class. No leaf left: the root.
  always_comb begin
    cand = pending_q;
    for (int b = StatusW - 1; b >= 0; b--) begin
      logic [NumNodes-1:0] high;
      for (int j = 0; j < NumNodes; j++) high[j] = cand[j] && status[j][b];
      if (|high) cand = high;
    end
    node_o = root_q;
    for (int j = 0; j < NumNodes; j++) if (cand[j]) node_o = IdW'(j);
    chosen = '0;
    for (int j = 0; j < NumNodes; j++) chosen[j] = node_o == IdW'(j);
    // Of all leaves but one, those between the root and the tail.
    leaves_before = '0;
    for (int j = 0; j < NumNodes; j++) leaves_before += IdW'(members_i[j]);
    leaves_before -= IdW'(2);
  end

  assign pending_d       = pending_q & ~chosen;
  assign last_o          = valid_o && pending_q == '0;
  assign leaves_before_o = leaves_before_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                rooted_q <= 1'b0;
    else if (load)              rooted_q <= 1'b1;
    else if (last_o && ready_i) rooted_q <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      pending_q       <= members_i & ~(NumNodes'(1) << root_i);
      root_q          <= root_i;
      leaves_before_q <= leaves_before;
    end else if (valid_o && ready_i) begin
      pending_q       <= pending_d;
      leaves_before_q <= leaves_before_q - IdW'(1);
    end
  end

endmodule
