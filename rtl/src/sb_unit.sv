// SPDX-License-Identifier: MIT OR Apache-2.0
// Scoreboard unit (Chung 2011, section 3): the order of a root's sequential sends.
//
// Copies the scoreboard, one busy bit per node, and names the leaves one per clock: the free ones
// in numeric order, then the busy ones. leaves_i is without the root.
module sb_unit #(
  parameter  int NumNodes = 4,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_i,   // ignored while valid_o is high
  input  logic [NumNodes-1:0] busy_i,
  input  logic [NumNodes-1:0] leaves_i,
  input  logic                ready_i,
  output logic                valid_o,
  output logic                last_o,
  output logic [IdW-1:0]      node_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("sb_unit: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end

  logic [NumNodes-1:0] pending_q, pending_d, busy_q, free, cand, rest;
  logic                load;

  assign valid_o = |pending_q;
  assign load    = start_i && !valid_o;
  assign free    = pending_q & ~busy_q;
  assign cand    = (|free) ? free : pending_q;
  assign rest    = cand & (cand - NumNodes'(1));  // without its lowest element
  assign pending_d = pending_q & (rest | ~cand);
  assign last_o    = valid_o && (pending_d == '0);

  always_comb begin
    node_o = '0;
    for (int j = NumNodes - 1; j >= 0; j--) if (cand[j]) node_o = IdW'(j);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)                 pending_q <= '0;
    else if (load)               pending_q <= leaves_i;
    else if (valid_o && ready_i) pending_q <= pending_d;
  end
  always_ff @(posedge clk_i) if (load) busy_q <= busy_i;

endmodule
