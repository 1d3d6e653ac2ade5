// SPDX-License-Identifier: MIT OR Apache-2.0
// Order unit as neighbour finder: my predecessor and successor in a broadcast's chain.
//
// Order: the root, then the other members by status class, by number inside a class (Park 2019,
// 3.3 step 3). A node needs neither the sorted list nor a map of it: its successor is the least
// member after it, its predecessor the greatest before it. Both are found by elimination from the
// most significant status bit downwards, so the cost grows with N and not with N^2.
module mpe_order_nbr #(
  parameter  int NumNodes = 4,
  parameter  int StatusW  = 2,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input  logic [NumNodes-1:0][StatusW-1:0] status_i,
  input  logic [NumNodes-1:0]              members_i,
  input  logic [IdW-1:0]                   root_i,
  input  logic [IdW-1:0]                   self_i,
  output logic                             has_pred_o,
  output logic [IdW-1:0]                   pred_o,
  output logic                             has_succ_o,
  output logic [IdW-1:0]                   succ_o,
  // Members between the root and me; a root does not look at it.
  output logic [IdW-1:0]                   leaves_before_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_order_nbr: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (StatusW < 1 || StatusW > mpe_pkg::StatusWMax) begin : gen_bad_status
    $error("mpe_order_nbr: StatusW = %0d, accepted are 1 to %0d", StatusW, mpe_pkg::StatusWMax);
  end

  logic                is_root;
  logic [StatusW-1:0]  self_status;
  logic [NumNodes-1:0] leaf, less, after, least, greatest;

  assign is_root     = root_i == self_i;
  assign self_status = status_i[self_i];

  for (genvar j = 0; j < NumNodes; j++) begin : gen_key
    assign leaf[j] = members_i[j] && (root_i != IdW'(j));
    assign less[j] = (status_i[j] < self_status) ||
                     ((status_i[j] == self_status) && (IdW'(j) < self_i));
  end

  always_comb begin
    after    = '0;
    greatest = '0;
    for (int j = 0; j < NumNodes; j++) begin
      after[j]    = leaf[j] && (self_i != IdW'(j)) && (is_root || !less[j]);
      greatest[j] = leaf[j] && less[j];
    end
    least = after;
    leaves_before_o = '0;
    for (int j = 0; j < NumNodes; j++) leaves_before_o += IdW'(greatest[j]);
    for (int b = StatusW - 1; b >= 0; b--) begin
      logic [NumNodes-1:0] low, high;
      for (int j = 0; j < NumNodes; j++) begin
        low[j]  = least[j] && !status_i[j][b];
        high[j] = greatest[j] && status_i[j][b];
      end
      if (|low)  least = low;
      if (|high) greatest = high;
    end
    succ_o = '0;
    for (int j = NumNodes - 1; j >= 0; j--) if (least[j]) succ_o = IdW'(j);
    pred_o = root_i;
    for (int j = 0; j < NumNodes; j++) if (greatest[j]) pred_o = IdW'(j);
  end

  assign has_pred_o = !is_root;
  assign has_succ_o = |after;

endmodule
