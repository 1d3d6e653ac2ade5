// SPDX-License-Identifier: MIT OR Apache-2.0
// N engines and their bus, without memories: what is synthesized and proved as one.
module mpe_core_sys #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  int AddrW      = 12,
  parameter  int LenW       = 10,
  parameter  int DataW      = 32,
  parameter  int QueueDepth = 2,
  parameter  bit Snoop      = 1'b0,
  parameter  bit HoldLaunch = 1'b0,
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [NumNodes-1:0]               cmd_valid_i,
  output logic [NumNodes-1:0]               cmd_ready_o,
  input  logic [NumNodes-1:0][1:0]          cmd_op_i,
  input  logic [NumNodes-1:0][IdW-1:0]      cmd_peer_i,
  input  logic [NumNodes-1:0][AddrW-1:0]    cmd_addr_i,
  input  logic [NumNodes-1:0][LenW-1:0]     cmd_len_i,
  input  logic [NumNodes-1:0][NumNodes-1:0] cmd_members_i,
  input  logic [NumNodes-1:0]               abort_i,
  output logic [NumNodes-1:0]               done_o,
  output logic [NumNodes-1:0]               err_short_o,
  output logic [NumNodes-1:0]               err_long_o,
  output logic [NumNodes-1:0][StatusW-1:0]  status_o,       // what the bus orders by
  output logic [NumNodes-1:0][StatusW-1:0]  node_status_o,  // what the engines have now
  output logic                              hold_o,
  input  logic [NumNodes-1:0]               mem_rdy_i,
  output logic [NumNodes-1:0]               mem_req_o,
  output logic [NumNodes-1:0]               mem_we_o,
  output logic [NumNodes-1:0][AddrW-1:0]    mem_addr_o,
  output logic [NumNodes-1:0][DataW-1:0]    mem_wdata_o,
  input  logic [NumNodes-1:0][DataW-1:0]    mem_rdata_i
);

  logic [NumNodes-1:0]              bcast_req, bcast_root, in_time, launch, hold;
  logic                             ord_valid, ord_last;
  logic [IdW-1:0]                   ord_node, ord_before;
  logic [NumNodes-1:0]              tx_req, tx_rdy, tx_valid, tx_end;
  logic [NumNodes-1:0]              rx_req, rx_rdy, rx_valid, rx_end;
  logic [NumNodes-1:0][IdW-1:0]     tx_dst, tx_to, rx_peer, rx_src;
  logic [NumNodes-1:0][DataW-1:0]   tx_data_n, rx_data;

  for (genvar n = 0; n < NumNodes; n++) begin : gen_node
    mpe #(
      .NumNodes  (NumNodes),
      .NodeId    (n),
      .StatusW   (StatusW),
      .AddrW     (AddrW),
      .LenW      (LenW),
      .DataW     (DataW),
      .QueueDepth(QueueDepth),
      .Snoop     (Snoop),
      .HoldLaunch(HoldLaunch)
    ) u_mpe (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .cmd_valid_i  (cmd_valid_i[n]),
      .cmd_ready_o  (cmd_ready_o[n]),
      .cmd_op_i     (cmd_op_i[n]),
      .cmd_peer_i   (cmd_peer_i[n]),
      .cmd_addr_i   (cmd_addr_i[n]),
      .cmd_len_i    (cmd_len_i[n]),
      .cmd_members_i(cmd_members_i[n]),
      .abort_i      (abort_i[n]),
      .done_o       (done_o[n]),
      .err_short_o  (err_short_o[n]),
      .err_long_o   (err_long_o[n]),
      .status_o     (node_status_o[n]),
      .bcast_req_o  (bcast_req[n]),
      .bcast_root_o (bcast_root[n]),
      .in_time_o    (in_time[n]),
      .launch_i     (launch[n]),
      .status_i     (status_o),
      .ord_valid_i  (ord_valid),
      .ord_last_i   (ord_last),
      .ord_node_i   (ord_node),
      .ord_before_i (ord_before),
      .tx_req_o     (tx_req[n]),
      .tx_dst_o     (tx_dst[n]),
      .tx_rdy_i     (tx_rdy[n]),
      .tx_to_o      (tx_to[n]),
      .tx_valid_o   (tx_valid[n]),
      .tx_end_o     (tx_end[n]),
      .tx_data_no   (tx_data_n[n]),
      .rx_peer_o    (rx_peer[n]),
      .rx_req_i     (rx_req[n]),
      .rx_rdy_o     (rx_rdy[n]),
      .rx_src_o     (rx_src[n]),
      .rx_valid_i   (rx_valid[n]),
      .rx_end_i     (rx_end[n]),
      .rx_data_i    (rx_data[n]),
      .hold_o       (hold[n]),
      .hold_i       (hold_o),
      .mem_rdy_i    (mem_rdy_i[n]),
      .mem_req_o    (mem_req_o[n]),
      .mem_we_o     (mem_we_o[n]),
      .mem_addr_o   (mem_addr_o[n]),
      .mem_wdata_o  (mem_wdata_o[n]),
      .mem_rdata_i  (mem_rdata_i[n])
    );
  end

  mpe_bus #(
    .NumNodes  (NumNodes),
    .StatusW   (StatusW),
    .DataW     (DataW),
    .Snoop     (Snoop),
    .HoldLaunch(HoldLaunch)
  ) u_bus (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .status_i    (node_status_o),
    .bcast_req_i (bcast_req),
    .bcast_root_i(bcast_root),
    .root_i      (cmd_peer_i),
    .members_i   (cmd_members_i),
    .in_time_i   (in_time),
    .launch_o    (launch),
    .status_o    (status_o),
    .ord_valid_o (ord_valid),
    .ord_last_o  (ord_last),
    .ord_node_o  (ord_node),
    .ord_before_o(ord_before),
    .tx_req_i    (tx_req),
    .tx_dst_i    (tx_dst),
    .tx_rdy_o    (tx_rdy),
    .tx_to_i     (tx_to),
    .tx_valid_i  (tx_valid),
    .tx_end_i    (tx_end),
    .tx_data_ni  (tx_data_n),
    .rx_peer_i   (rx_peer),
    .rx_req_o    (rx_req),
    .rx_rdy_i    (rx_rdy),
    .rx_src_i    (rx_src),
    .rx_valid_o  (rx_valid),
    .rx_end_o    (rx_end),
    .rx_data_o   (rx_data),
    .hold_i      (hold),
    .hold_o      (hold_o)
  );

endmodule
