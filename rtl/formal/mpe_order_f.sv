// SPDX-License-Identifier: MIT OR Apache-2.0
// The neighbour finder against a complete local specification, for one node and its successor.
//
// Nothing lies between a node and its neighbours, so the links form one chain; the global statement
// itself is far harder to prove.
module mpe_order_f #(
  parameter  int NumNodes = 4,
  parameter  int StatusW  = 2,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input logic [NumNodes-1:0][StatusW-1:0] status_i,
  input logic [NumNodes-1:0]              members_i,
  input logic [IdW-1:0]                   root_i,
  input logic [IdW-1:0]                   self_i,
  input logic [IdW-1:0]                   other_i
);

  logic           has_pred, has_succ, next_has_pred, next_has_succ;
  logic [IdW-1:0] pred, succ, before_me, next_pred, next_succ, before_next;

  mpe_order_nbr #(.NumNodes(NumNodes), .StatusW(StatusW)) u_self (
    .status_i(status_i), .members_i(members_i), .root_i(root_i), .self_i(self_i),
    .has_pred_o(has_pred), .pred_o(pred), .has_succ_o(has_succ), .succ_o(succ),
    .leaves_before_o(before_me));
  mpe_order_nbr #(.NumNodes(NumNodes), .StatusW(StatusW)) u_next (
    .status_i(status_i), .members_i(members_i), .root_i(root_i), .self_i(succ),
    .has_pred_o(next_has_pred), .pred_o(next_pred), .has_succ_o(next_has_succ),
    .succ_o(next_succ), .leaves_before_o(before_next));

  // Place in the order as one number: the root first, then class, then number.
  function automatic logic [StatusW+IdW:0] key(logic [IdW-1:0] node);
    return {node != root_i, node != root_i ? status_i[node] : StatusW'(0), node};
  endfunction

  logic is_legal;
  assign is_legal = (32'(self_i) < NumNodes) && (32'(root_i) < NumNodes) &&
                    (32'(other_i) < NumNodes) && members_i[self_i] && members_i[root_i];

  always_comb begin
    assume (is_legal);
    if (is_legal) begin
      root_first:  assert (has_pred == (self_i != root_i));
      succ_after:  assert (!has_succ || (members_i[succ] && key(succ) > key(self_i)));
      pred_before: assert (!has_pred || (members_i[pred] && key(pred) < key(self_i)));
      if (members_i[other_i] && key(other_i) > key(self_i)) begin
        last_only:   assert (has_succ);
        succ_next:   assert (key(other_i) >= key(succ));
      end
      if (members_i[other_i] && key(other_i) < key(self_i)) begin
        pred_next:   assert (key(other_i) <= key(pred));
      end
      chain_agrees:  assert (!has_succ || (next_has_pred && next_pred == self_i));
      places_count:  assert (!has_succ ||
                             before_next == (has_pred ? before_me + IdW'(1) : IdW'(0)));
    end
  end

endmodule
