// SPDX-License-Identifier: MIT OR Apache-2.0
// Turns a core's command into an entry of the issue queue; a broadcast when the bus launches it.
//
// A broadcast stays on the command port until all its members show it; then the bus answers with
// launch_i, in one clock and with one status register for all members, and each of them finds its
// neighbours. So the engine stores no member mask. With Snoop = 1 the bus names the members one by
// one after the launch, from the tail on, and the command is taken when this node has heard its
// neighbours' names.
module mpe_front #(
  parameter  int NumNodes = 4,
  parameter  int NodeId   = 0,
  parameter  int StatusW  = 2,
  parameter  int AddrW    = 12,
  parameter  int LenW     = 10,
  parameter  bit Snoop    = 1'b0,
  localparam int IdW      = mpe_pkg::id_width(NumNodes),
  localparam int EntryW   = 2 + 3 * IdW + AddrW + LenW
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  input  logic                             abort_i,        // nothing is shown or taken
  input  logic                             cmd_valid_i,
  output logic                             cmd_ready_o,
  input  logic [1:0]                       cmd_op_i,
  input  logic [IdW-1:0]                   cmd_peer_i,     // partner, or root of a broadcast
  input  logic [AddrW-1:0]                 cmd_addr_i,
  input  logic [LenW-1:0]                  cmd_len_i,
  input  logic [NumNodes-1:0]              cmd_members_i,
  output logic                             bcast_req_o,
  output logic                             bcast_root_o,   // and this node is its root
  input  logic                             launch_i,
  input  logic [NumNodes-1:0][StatusW-1:0] status_i,
  input  logic                             ord_valid_i,
  input  logic                             ord_last_i,
  input  logic [IdW-1:0]                   ord_node_i,
  input  logic [IdW-1:0]                   ord_before_i,
  input  logic                             room_i,
  output logic [IdW-1:0]                   hops_o,         // clocks from a launch to its first word
  output logic                             push_o,
  output logic [EntryW-1:0]                entry_o
);

  logic           is_bcast, has_pred, has_succ, ordering, ordered;
  logic [IdW-1:0] pred, succ, leaves_before;

  assign is_bcast = cmd_op_i == mpe_pkg::OpBcast;

  if (Snoop) begin : gen_snoop
    logic ordering_q, named, unused_status;
    assign unused_status = ^{status_i, cmd_members_i};
    mpe_order_snoop #(
      .NumNodes(NumNodes)
    ) u_order (
      .clk_i          (clk_i),
      .rst_ni         (rst_ni),
      .start_i        (launch_i),
      .valid_i        (ord_valid_i),
      .last_i         (ord_last_i),
      .node_i         (ord_node_i),
      .leaves_before_i(ord_before_i),
      .self_i         (IdW'(NodeId)),
      .done_o         (named),
      .has_pred_o     (has_pred),
      .pred_o         (pred),
      .has_succ_o     (has_succ),
      .succ_o         (succ),
      .leaves_before_o(leaves_before)
    );
    // After an abort the bus still names the members of the former launch.
    assign ordered = ordering_q && named;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) ordering_q <= 1'b0;
      else         ordering_q <= !abort_i && (launch_i || (ordering_q && !named));
    end
    assign ordering = ordering_q;
  end else begin : gen_finder
    logic unused_ord;
    assign unused_ord = ^{clk_i, rst_ni, ord_valid_i, ord_last_i, ord_node_i, ord_before_i};
    mpe_order_nbr #(
      .NumNodes(NumNodes),
      .StatusW (StatusW)
    ) u_order (
      .status_i       (status_i),
      .members_i      (cmd_members_i),
      .root_i         (cmd_peer_i),
      .self_i         (IdW'(NodeId)),
      .has_pred_o     (has_pred),
      .pred_o         (pred),
      .has_succ_o     (has_succ),
      .succ_o         (succ),
      .leaves_before_o(leaves_before)
    );
    assign ordering = 1'b0;
    assign ordered  = launch_i;
  end

  assign hops_o = has_pred ? leaves_before + IdW'(1) : '0;

  // A launch is answered to a request, so there is room and the command is still there.
  assign bcast_req_o  = cmd_valid_i && is_bcast && room_i && !ordering && !abort_i;
  assign bcast_root_o = cmd_peer_i == IdW'(NodeId);
  assign cmd_ready_o  = (is_bcast ? ordered : room_i) && !abort_i;
  assign push_o       = is_bcast ? ordered : (cmd_valid_i && room_i);

  assign entry_o = {
    is_bcast ? has_pred : cmd_op_i[1],
    is_bcast ? has_succ : cmd_op_i[0],
    is_bcast ? pred : cmd_peer_i,
    is_bcast ? succ : cmd_members_i[IdW-1:0],
    is_bcast ? leaves_before : IdW'(0),
    cmd_addr_i,
    cmd_len_i
  };

endmodule
