// SPDX-License-Identifier: MIT OR Apache-2.0
// Message passing engine of one node (Park 2019, 3.3): front, issue queue, link.
//
// QueueDepth counts all commands inside the engine: one that streams, one that is handshaked, and
// QueueDepth - 2 behind them.
module mpe #(
  parameter  int NumNodes   = 4,
  parameter  int NodeId     = 0,
  parameter  int StatusW    = 2,
  parameter  int AddrW      = 12,
  parameter  int LenW       = 10,
  parameter  int DataW      = 32,
  parameter  int QueueDepth = 2,
  parameter  bit Snoop      = 1'b0,  // order from the bus's emitter, not from a finder of its own
  parameter  bit HoldLaunch = 1'b0,  // tells the bus whether a launch comes in time
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                             clk_i,
  input  logic                             rst_ni,
  // command
  input  logic                             cmd_valid_i,
  output logic                             cmd_ready_o,
  input  logic [1:0]                       cmd_op_i,
  input  logic [IdW-1:0]                   cmd_peer_i,
  input  logic [AddrW-1:0]                 cmd_addr_i,
  input  logic [LenW-1:0]                  cmd_len_i,
  input  logic [NumNodes-1:0]              cmd_members_i,
  input  logic                             abort_i,       // frees the engine in this clock
  output logic                             done_o,
  output logic                             err_short_o,
  output logic                             err_long_o,
  // status bus
  output logic [StatusW-1:0]               status_o,
  output logic                             bcast_req_o,
  output logic                             bcast_root_o,
  output logic                             in_time_o,
  input  logic                             launch_i,
  input  logic [NumNodes-1:0][StatusW-1:0] status_i,
  input  logic                             ord_valid_i,
  input  logic                             ord_last_i,
  input  logic [IdW-1:0]                   ord_node_i,
  input  logic [IdW-1:0]                   ord_before_i,
  // crossbar
  output logic                             tx_req_o,
  output logic [IdW-1:0]                   tx_dst_o,
  input  logic                             tx_rdy_i,
  output logic [IdW-1:0]                   tx_to_o,
  output logic                             tx_valid_o,
  output logic                             tx_end_o,
  output logic [DataW-1:0]                 tx_data_no,
  output logic [IdW-1:0]                   rx_peer_o,
  input  logic                             rx_req_i,
  output logic                             rx_rdy_o,
  output logic [IdW-1:0]                   rx_src_o,
  input  logic                             rx_valid_i,
  input  logic                             rx_end_i,
  input  logic [DataW-1:0]                 rx_data_i,
  output logic                             hold_o,
  input  logic                             hold_i,
  // memory
  input  logic                             mem_rdy_i,
  output logic                             mem_req_o,
  output logic                             mem_we_o,
  output logic [AddrW-1:0]                 mem_addr_o,
  output logic [DataW-1:0]                 mem_wdata_o,
  input  logic [DataW-1:0]                 mem_rdata_i
);

  if (NumNodes < 2 || NumNodes > mpe_pkg::NumNodesMax) begin : gen_bad_num_nodes
    $error("mpe: NumNodes = %0d, accepted are 2 to %0d", NumNodes, mpe_pkg::NumNodesMax);
  end
  if (NodeId < 0 || NodeId >= NumNodes) begin : gen_bad_node_id
    $error("mpe: NodeId = %0d, accepted are 0 to NumNodes - 1 = %0d", NodeId, NumNodes - 1);
  end
  if (StatusW < 1 || StatusW > mpe_pkg::StatusWMax) begin : gen_bad_status
    $error("mpe: StatusW = %0d, accepted are 1 to %0d", StatusW, mpe_pkg::StatusWMax);
  end
  if (AddrW < 1 || AddrW > 32) begin : gen_bad_addr
    $error("mpe: AddrW = %0d, accepted are 1 to 32", AddrW);
  end
  if (LenW < 1 || LenW > AddrW) begin : gen_bad_len
    $error("mpe: LenW = %0d, accepted are 1 to AddrW = %0d", LenW, AddrW);
  end
  if (!mpe_pkg::is_word_width(DataW)) begin : gen_bad_data
    $error("mpe: DataW = %0d, accepted are 8, 16, 32, 64 and 128", DataW);
  end
  if (QueueDepth < 2 || QueueDepth > mpe_pkg::QueueDepthMax) begin : gen_bad_depth
    $error("mpe: QueueDepth = %0d, accepted are 2 to %0d", QueueDepth, mpe_pkg::QueueDepthMax);
  end

  if (HoldLaunch && Snoop) begin : gen_bad_hold
    $error("mpe: HoldLaunch = 1, accepted is 0 with Snoop = 1");
  end

  localparam int EntryW = 2 + 3 * IdW + AddrW + LenW;

  logic              push, room, head_valid, pop, bcast_req, settled;
  logic [IdW-1:0]    hops;
  logic [EntryW-1:0] pushed, head;

  mpe_front #(
    .NumNodes(NumNodes),
    .NodeId  (NodeId),
    .StatusW (StatusW),
    .AddrW   (AddrW),
    .LenW    (LenW),
    .Snoop   (Snoop)
  ) u_front (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .abort_i      (abort_i),
    .cmd_valid_i  (cmd_valid_i),
    .cmd_ready_o  (cmd_ready_o),
    .cmd_op_i     (cmd_op_i),
    .cmd_peer_i   (cmd_peer_i),
    .cmd_addr_i   (cmd_addr_i),
    .cmd_len_i    (cmd_len_i),
    .cmd_members_i(cmd_members_i),
    .bcast_req_o  (bcast_req),
    .bcast_root_o (bcast_root_o),
    .launch_i     (launch_i),
    .status_i     (status_i),
    .ord_valid_i  (ord_valid_i),
    .ord_last_i   (ord_last_i),
    .ord_node_i   (ord_node_i),
    .ord_before_i (ord_before_i),
    .room_i       (room),
    .hops_o       (hops),
    .push_o       (push),
    .entry_o      (pushed)
  );

  // A command or a stream that waits for its partner may wait for a core that waits for another
  // launch; so a group whose launch is held, and with it all others, has none.
  assign bcast_req_o = bcast_req && (!HoldLaunch || (!head_valid && settled));

  mpe_issue_queue #(
    .Width(EntryW),
    .Depth(QueueDepth - 1)
  ) u_queue (
    .clk_i  (clk_i),
    .rst_ni (rst_ni),
    .clear_i(abort_i),
    .push_i (push),
    .entry_i(pushed),
    .ready_o(room),
    .valid_o(head_valid),
    .entry_o(head),
    .pop_i  (pop)
  );

  mpe_link #(
    .NumNodes  (NumNodes),
    .StatusW   (StatusW),
    .AddrW     (AddrW),
    .LenW      (LenW),
    .DataW     (DataW),
    .HoldLaunch(HoldLaunch)
  ) u_link (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .abort_i     (abort_i),
    .head_valid_i(head_valid),
    .head_i      (head),
    .pop_o       (pop),
    .done_o      (done_o),
    .err_short_o (err_short_o),
    .err_long_o  (err_long_o),
    .status_o    (status_o),
    .hops_i      (hops),
    .in_time_o   (in_time_o),
    .settled_o   (settled),
    .tx_req_o    (tx_req_o),
    .tx_dst_o    (tx_dst_o),
    .tx_rdy_i    (tx_rdy_i),
    .rx_peer_o   (rx_peer_o),
    .rx_req_i    (rx_req_i),
    .rx_rdy_o    (rx_rdy_o),
    .tx_to_o     (tx_to_o),
    .tx_valid_o  (tx_valid_o),
    .tx_end_o    (tx_end_o),
    .tx_data_no  (tx_data_no),
    .rx_src_o    (rx_src_o),
    .rx_valid_i  (rx_valid_i),
    .rx_end_i    (rx_end_i),
    .rx_data_i   (rx_data_i),
    .hold_o      (hold_o),
    .hold_i      (hold_i),
    .mem_rdy_i   (mem_rdy_i),
    .mem_req_o   (mem_req_o),
    .mem_we_o    (mem_we_o),
    .mem_addr_o  (mem_addr_o),
    .mem_wdata_o (mem_wdata_o),
    .mem_rdata_i (mem_rdata_i)
  );

endmodule
