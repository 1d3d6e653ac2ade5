// SPDX-License-Identifier: MIT OR Apache-2.0
// Launch of broadcasts, for ever: the fronts of N nodes and their status register, with arbitrary
// commands, times and room in the queues.
//
// A launch is of one group or of several disjoint ones, each whole; the emitter of Snoop = 1 hears
// every launch and names every member once, the root last, one a clock; a node takes its broadcast
// exactly then. When nothing is under way, a group that is complete is launched in the next clock.
// With WithOrder = 1 every entry is that of the neighbour finder for the status of the launch.
module mpe_launch_f #(
  parameter  int NumNodes    = 4,
  parameter  int StatusW     = 1,
  parameter  bit Snoop       = 1'b1,
  parameter  bit WithOrder   = 1'b0,
  parameter  bit MayWithdraw = 1'b0,  // cores take back what they show: against the rules
  localparam int IdW         = mpe_pkg::id_width(NumNodes),
  localparam int EntryW      = 2 + 3 * IdW + 2
) (
  input logic                              clk_i,
  input logic [NumNodes-1:0]               valid_i,
  input logic [NumNodes-1:0][1:0]          op_i,
  input logic [NumNodes-1:0][IdW-1:0]      peer_i,
  input logic [NumNodes-1:0][NumNodes-1:0] members_i,
  input logic [NumNodes-1:0]               room_i,
  input logic [NumNodes-1:0][StatusW-1:0]  status_i
);

  logic                             past_q = 1'b0;
  logic [NumNodes-1:0]              ready, push, req, is_root, launch, bcast, ordering, complete;
  logic [NumNodes-1:0][StatusW-1:0] status;
  logic [NumNodes-1:0][EntryW-1:0]  entry;
  logic                             ord_valid, ord_last;
  logic [IdW-1:0]                   ord_node, ord_before;

  for (genvar n = 0; n < NumNodes; n++) begin : gen_node
    mpe_front #(
      .NumNodes(NumNodes), .NodeId(n), .StatusW(StatusW), .AddrW(1), .LenW(1), .Snoop(Snoop)
    ) u_front (
      .clk_i(clk_i), .rst_ni(past_q), .abort_i(1'b0), .cmd_valid_i(valid_i[n] && past_q), .cmd_ready_o(ready[n]),
      .cmd_op_i(op_i[n]), .cmd_peer_i(peer_i[n]), .cmd_addr_i('0), .cmd_len_i('0),
      .cmd_members_i(members_i[n]), .bcast_req_o(req[n]), .bcast_root_o(is_root[n]),
      .launch_i(launch[n]), .status_i(status), .ord_valid_i(ord_valid), .ord_last_i(ord_last),
      .ord_node_i(ord_node), .ord_before_i(ord_before), .room_i(room_i[n]), .hops_o(),
      .push_o(push[n]), .entry_o(entry[n]));
  end

  mpe_status_bus #(.NumNodes(NumNodes), .StatusW(StatusW), .Snoop(Snoop)) u_bus (
    .clk_i(clk_i), .rst_ni(past_q), .status_i(status_i), .bcast_req_i(req), .bcast_root_i(is_root),
    .root_i(peer_i), .members_i(members_i), .in_time_i('1), .launch_o(launch), .status_o(status),
    .ord_valid_o(ord_valid), .ord_last_o(ord_last), .ord_node_o(ord_node),
    .ord_before_o(ord_before));

  // ---- the cores and the queues: a command stays until it is taken, room until a push ----

  logic [NumNodes-1:0]               stays_q = '0, roomy_q = '0, launched_q = '0;
  logic [NumNodes-1:0][1:0]          op_q;
  logic [NumNodes-1:0][IdW-1:0]      peer_q;
  logic [NumNodes-1:0][NumNodes-1:0] members_q;
  logic                              due_q = 1'b0;
  logic [1:0]                        launches_q = '0;
  always_ff @(posedge clk_i) begin
    past_q     <= 1'b1;
    stays_q    <= valid_i & ~ready & {NumNodes{past_q && !MayWithdraw}};
    roomy_q    <= room_i & ~push & {NumNodes{past_q}};
    launched_q <= launch & {NumNodes{past_q}};
    op_q       <= op_i;
    peer_q     <= peer_i;
    members_q  <= members_i;
    launches_q <= launches_q + 2'(past_q && |launch && launches_q != 2'd3);
    due_q      <= past_q && |complete && !(|launch) && !ord_valid;
  end
  for (genvar n = 0; n < NumNodes; n++) begin : gen_legal
    assign bcast[n] = valid_i[n] && op_i[n] == mpe_pkg::OpBcast;
    always_comb begin
      assume (!stays_q[n] || (valid_i[n] && op_i[n] == op_q[n] && peer_i[n] == peer_q[n] &&
                              members_i[n] == members_q[n]));
      assume (!roomy_q[n] || room_i[n]);
      assume (!bcast[n] || (32'(peer_i[n]) < NumNodes && members_i[n][n] &&
                            members_i[n][peer_i[n]] && $countones(members_i[n]) > 1));
      // All members give the same mask.
      assume (!(bcast[n] && bcast[peer_i[n]] && peer_i[peer_i[n]] == peer_i[n] &&
                members_i[peer_i[n]][n]) || members_i[n] == members_i[peer_i[n]]);
      // Everybody whom the root names shows the root, and is not in the middle of an order.
      complete[n] = bcast[n] && peer_i[n] == IdW'(n);
      for (int m = 0; m < NumNodes; m++)
        if (members_i[n][m] && !(bcast[m] && peer_i[m] == IdW'(n) && room_i[m] && !ordering[m]))
          complete[n] = 1'b0;
    end
  end

  // ---- what holds at any time ----

  for (genvar n = 0; n < NumNodes; n++) begin : gen_check
    always_comb begin
      if (past_q) begin
        showing:  assert (!launch[n] || (bcast[n] && room_i[n] && !ordering[n]));
        one_root: assert (!launch[n] || (launch[peer_i[n]] && peer_i[peer_i[n]] == peer_i[n]));
        whole:    assert (!(launch[n] && is_root[n]) || (members_i[n] & ~launch) == '0);
        named:    assert (!launch[n] || members_i[peer_i[n]][n]);
        its_turn: assert (!(bcast[n] && ready[n]) || launch[n] || ordering[n]);
        one_push: assert (push[n] == (valid_i[n] && ready[n]));
      end
    end
  end
  always_comb begin
    if (past_q) begin
      at_once:  assert (!due_q || |launch);
      again:    cover (launches_q == 2'd2 && |push && (!Snoop || ord_last));
    end
  end

  if (Snoop) begin : gen_snoop
    logic [NumNodes-1:0] unnamed, pending, ahead;
    logic [IdW-1:0]      root;
    assign pending = u_bus.gen_emitter.u_emit.pending_q;
    assign root    = u_bus.gen_emitter.u_emit.root_q;
    assign unnamed = ord_valid ? pending | (NumNodes'(1) << root) : '0;
    for (genvar n = 0; n < NumNodes; n++) begin : gen_member
      logic [1:0] state;
      assign state       = gen_node[n].u_front.gen_snoop.u_order.state_q;  // 1 ahead, 2 mine
      assign ordering[n] = gen_node[n].u_front.gen_snoop.ordering_q;
      assign ahead[n]   = state == 2'd1;
      always_comb begin
        if (past_q) begin
          hears:  assert (ahead[n] == unnamed[n]);
          waits:  assert (ordering[n] == (state != 2'd0));
          behind: assert (state != 2'd2 || ord_valid);
          legal:  assert (state != 2'd3);
          there:  assert (!ordering[n] || (bcast[n] && room_i[n] && peer_i[n] == root));
        end
      end
    end
    always_comb begin
      if (past_q) begin
        heard:    assert (!(|launch) || !ord_valid);
        one:      assert ($countones(launch & is_root) <= 1);
        started:  assert (!(|launched_q) || (ord_valid && unnamed == launched_q));
        has_root: assert (!ord_valid || (32'(root) < NumNodes && ordering[root] && !pending[root]));
      end
    end
  end else begin : gen_at_once
    assign ordering = '0;
  end

  if (WithOrder) begin : gen_order
    for (genvar n = 0; n < NumNodes; n++) begin : gen_place
      logic [NumNodes-1:0][StatusW-1:0] status_q;
      logic                             has_pred, has_succ;
      logic [IdW-1:0]                   pred, succ, ahead;
      always_ff @(posedge clk_i) if (launch[n]) status_q <= status;
      mpe_order_nbr #(.NumNodes(NumNodes), .StatusW(StatusW)) u_nbr (
        .status_i(launch[n] ? status : status_q), .members_i(members_i[peer_i[n]]),
        .root_i(peer_i[n]), .self_i(IdW'(n)), .has_pred_o(has_pred), .pred_o(pred),
        .has_succ_o(has_succ), .succ_o(succ), .leaves_before_o(ahead));
      always_comb begin
        if (past_q && bcast[n] && push[n] && bcast[peer_i[n]] && peer_i[peer_i[n]] == peer_i[n]) begin
          role:  assert (entry[n][EntryW-1-:2] == {has_pred, has_succ});
          from:  assert (!has_pred || entry[n][2+2*IdW+:IdW] == pred);
          to:    assert (!has_succ || entry[n][2+IdW+:IdW] == succ);
          place: assert (!has_pred || entry[n][2+:IdW] == ahead);
        end
      end
    end
  end

endmodule
