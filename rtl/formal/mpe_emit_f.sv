// SPDX-License-Identifier: MIT OR Apache-2.0
// Emitter and snooper against the neighbour finder, from start to end of one sequence.
module mpe_emit_f #(
  parameter  int NumNodes = 4,
  parameter  int StatusW  = 2,
  localparam int IdW      = mpe_pkg::id_width(NumNodes)
) (
  input logic                             clk_i,
  input logic                             ready_i,
  input logic [NumNodes-1:0][StatusW-1:0] any_status_i,  // live value: only the first one counts
  input logic [NumNodes-1:0]              members_i,
  input logic [IdW-1:0]                   root_i,
  input logic [IdW-1:0]                   self_i
);

  // Arbitrary values that stay.
  (* keep *) logic [NumNodes-1:0][StatusW-1:0] status_q;
  (* keep *) logic [NumNodes-1:0]              members_q;
  (* keep *) logic [IdW-1:0]                   root_q, self_q;
  logic                                        past_q = 1'b0;
  logic                                        started_q = 1'b0;
  logic [5:0]                                  emitted_q;
  logic [NumNodes-1:0]                         seen_q;
  logic                                        ended_q;

  always_ff @(posedge clk_i) begin
    past_q    <= 1'b1;
    started_q <= past_q;
    status_q  <= past_q ? status_q : any_status_i;
    members_q <= past_q ? members_q : members_i;
    root_q    <= past_q ? root_q : root_i;
    self_q    <= past_q ? self_q : self_i;
  end

  logic           start, valid, last, done, has_pred, has_succ, want_pred, want_succ;
  logic [IdW-1:0] node, pred, succ, before_me, want_p, want_s, want_b, place;
  assign start = past_q && !started_q;

  mpe_order_emit #(.NumNodes(NumNodes), .StatusW(StatusW), .Snapshot(1'b1)) u_emit (
    .clk_i(clk_i), .rst_ni(past_q), .start_i(start),
    .status_i(start ? status_q : any_status_i), .members_i(members_q), .root_i(root_q),
    .ready_i(ready_i), .valid_o(valid), .last_o(last), .node_o(node),
    .leaves_before_o(place));
  mpe_order_snoop #(.NumNodes(NumNodes)) u_snoop (
    .clk_i(clk_i), .rst_ni(past_q), .start_i(start), .valid_i(valid && ready_i), .last_i(last),
    .node_i(node), .leaves_before_i(place), .self_i(self_q), .done_o(done), .has_pred_o(has_pred), .pred_o(pred),
    .has_succ_o(has_succ), .succ_o(succ), .leaves_before_o(before_me));
  mpe_order_nbr #(.NumNodes(NumNodes), .StatusW(StatusW)) u_nbr (
    .status_i(status_q), .members_i(members_q), .root_i(root_q), .self_i(self_q),
    .has_pred_o(want_pred), .pred_o(want_p), .has_succ_o(want_succ), .succ_o(want_s),
    .leaves_before_o(want_b));

  always_ff @(posedge clk_i) begin
    if (start) begin
      emitted_q <= '0;
      seen_q    <= '0;
      ended_q   <= 1'b0;
    end else if (started_q && valid && ready_i) begin
      emitted_q      <= emitted_q + 6'd1;
      seen_q[node]   <= 1'b1;
      ended_q        <= ended_q || last;
    end
  end

  logic is_legal;
  assign is_legal = (32'(root_q) < NumNodes) && (32'(self_q) < NumNodes) && members_q[root_q] &&
                    members_q[self_q];
  always_comb begin
    if (past_q) assume (is_legal);
    if (past_q && started_q) begin
      if (valid) begin
        member_once: assert (members_q[node] && !seen_q[node]);
        never_after: assert (!ended_q);
        root_last:   assert (last == (node == root_q));
        last_exact:  assert (last == (emitted_q + 6'd1 == 6'($countones(members_q))));
      end else begin
        all_named:   assert (seen_q == members_q);
      end
      if (done) begin
        same_pred:   assert (has_pred == want_pred && (!want_pred || pred == want_p));
        same_succ:   assert (has_succ == want_succ && (!want_succ || succ == want_s));
        same_place:  assert (!want_pred || before_me == want_b);
      end
      ended: cover (ended_q && emitted_q == 6'(NumNodes));
    end
  end

endmodule
