// SPDX-License-Identifier: MIT OR Apache-2.0
// Status register and launch of broadcasts.
//
// A broadcast is launched when every member of its root's mask shows a broadcast with that root.
// Launches of disjoint groups do not wait for each other, and no arbiter is needed: a node shows
// one root at a time, so groups that are complete at the same time are disjoint. With HoldLaunch = 1
// the status is frozen when a group is complete, and the group is launched when every member says
// that it will be free when the words reach it; one group at a time. A member then shows its broadcast
// only when it waits for nobody else, so a group that is frozen is launched whatever others do.
module mpe_status_bus #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  bit Snoop      = 1'b0,  // names the members one by one after a launch
  parameter  bit HoldLaunch = 1'b0,  // launches when the members are in time
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [NumNodes-1:0][StatusW-1:0]  status_i,
  input  logic [NumNodes-1:0]               bcast_req_i,
  input  logic [NumNodes-1:0]               bcast_root_i,  // shows itself as root
  input  logic [NumNodes-1:0][IdW-1:0]      root_i,
  input  logic [NumNodes-1:0][NumNodes-1:0] members_i,
  input  logic [NumNodes-1:0]               in_time_i,     // by the order of status_o
  output logic [NumNodes-1:0]               launch_o,
  output logic [NumNodes-1:0][StatusW-1:0]  status_o,      // of the clock before a launch
  output logic                              ord_valid_o,
  output logic                              ord_last_o,
  output logic [IdW-1:0]                    ord_node_o,
  output logic [IdW-1:0]                    ord_before_o
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe_status_bus: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (StatusW < 1 || StatusW > mpe_pkg::StatusWMax) begin : gen_bad_status
    $error("mpe_status_bus: StatusW = %0d, accepted are 1 to %0d", StatusW, mpe_pkg::StatusWMax);
  end
  if (HoldLaunch && Snoop) begin : gen_bad_hold
    $error("mpe_status_bus: HoldLaunch = 1, accepted is 0 with Snoop = 1");
  end

  logic [NumNodes-1:0][StatusW-1:0] status_q;
  logic [NumNodes-1:0]              launch_q, launch, complete, chosen;
  logic [NumNodes-1:0][NumNodes-1:0] shows;  // [root][node]
  logic                             frozen;

  for (genvar r = 0; r < NumNodes; r++) begin : gen_root
    for (genvar n = 0; n < NumNodes; n++) begin : gen_shows
      if (n == r) begin : gen_self
        assign shows[r][n] = bcast_req_i[r] && bcast_root_i[r];
      end else begin : gen_other
        assign shows[r][n] = bcast_req_i[n] && (root_i[n] == IdW'(r));
      end
    end
    // launch_q: the broadcast on the command port was launched a clock ago and is being taken.
    assign complete[r] = &(shows[r] | ~members_i[r]) && shows[r][r] && !launch_q[r];
  end

  if (Snoop) begin : gen_emitter
    // One emitter serves one group at a time.
    logic [NumNodes-1:0] root;
    logic [IdW-1:0]      root_id;
    logic unused_in_time;
    assign unused_in_time = &in_time_i;
    assign frozen   = 1'b0;
    assign status_o = status_q;
    assign root     = launch_q & bcast_root_i;
    assign chosen   = (|launch_q || ord_valid_o) ? '0 : complete & (~complete + NumNodes'(1));
    always_comb begin
      root_id = '0;
      for (int r = 0; r < NumNodes; r++) if (root[r]) root_id |= IdW'(r);
    end
    mpe_order_emit #(
      .NumNodes(NumNodes),
      .StatusW (StatusW)
    ) u_emit (
      .clk_i    (clk_i),
      .rst_ni   (rst_ni),
      .start_i  (|launch_q),
      .status_i (status_q),
      .members_i(launch_q),
      .root_i   (root_id),
      .ready_i  (1'b1),
      .valid_o  (ord_valid_o),
      .last_o   (ord_last_o),
      .node_o   (ord_node_o),
      .leaves_before_o(ord_before_o)
    );
  end else begin : gen_no_emitter
    if (HoldLaunch) begin : gen_hold
      logic [NumNodes-1:0] held_q, group;  // one-hot: root of the group that is complete
      always_comb begin
        if (frozen)         group = held_q & complete;  // unless a member takes its command back
        else if (|launch_q) group = '0;  // status_o still belongs to that launch
        else                group = complete & (~complete + NumNodes'(1));
        for (int r = 0; r < NumNodes; r++) chosen[r] = group[r] && &(in_time_i | ~members_i[r]);
      end
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) held_q <= '0;
        else         held_q <= group & ~chosen;
      end
      assign frozen   = |held_q;
      assign status_o = (frozen || |launch_q) ? status_q : status_i;
    end else begin : gen_at_once
      logic unused_in_time;
      assign unused_in_time = &in_time_i;
      assign chosen   = complete;
      assign frozen   = 1'b0;
      assign status_o = status_q;
    end
    assign ord_valid_o = 1'b0;
    assign ord_last_o  = 1'b0;
    assign ord_node_o  = '0;
    assign ord_before_o = '0;
  end

  always_comb begin
    launch = '0;
    for (int r = 0; r < NumNodes; r++) begin
      launch |= shows[r] & members_i[r] & {NumNodes{chosen[r]}};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) launch_q <= '0;
    else         launch_q <= launch;
  end
  always_ff @(posedge clk_i) if (!frozen) status_q <= status_i;

  assign launch_o = launch_q;

endmodule
