// SPDX-License-Identifier: MIT OR Apache-2.0
// The local bus: status register with the launch of broadcasts, crossbar, and the common hold.
module mpe_bus #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  int DataW      = 32,
  parameter  bit Snoop      = 1'b0,
  parameter  bit HoldLaunch = 1'b0,
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic [NumNodes-1:0][StatusW-1:0]  status_i,
  input  logic [NumNodes-1:0]               bcast_req_i,
  input  logic [NumNodes-1:0]               bcast_root_i,
  input  logic [NumNodes-1:0][IdW-1:0]      root_i,
  input  logic [NumNodes-1:0][NumNodes-1:0] members_i,
  input  logic [NumNodes-1:0]               in_time_i,
  output logic [NumNodes-1:0]               launch_o,
  output logic [NumNodes-1:0][StatusW-1:0]  status_o,
  output logic                              ord_valid_o,
  output logic                              ord_last_o,
  output logic [IdW-1:0]                    ord_node_o,
  output logic [IdW-1:0]                    ord_before_o,
  input  logic [NumNodes-1:0]               tx_req_i,
  input  logic [NumNodes-1:0][IdW-1:0]      tx_dst_i,
  output logic [NumNodes-1:0]               tx_rdy_o,
  input  logic [NumNodes-1:0][IdW-1:0]      tx_to_i,
  input  logic [NumNodes-1:0]               tx_valid_i,
  input  logic [NumNodes-1:0]               tx_end_i,
  input  logic [NumNodes-1:0][DataW-1:0]    tx_data_ni,
  input  logic [NumNodes-1:0][IdW-1:0]      rx_peer_i,
  output logic [NumNodes-1:0]               rx_req_o,
  input  logic [NumNodes-1:0]               rx_rdy_i,
  input  logic [NumNodes-1:0][IdW-1:0]      rx_src_i,
  output logic [NumNodes-1:0]               rx_valid_o,
  output logic [NumNodes-1:0]               rx_end_o,
  output logic [NumNodes-1:0][DataW-1:0]    rx_data_o,
  input  logic [NumNodes-1:0]               hold_i,
  output logic                              hold_o
);

  assign hold_o = |hold_i;

  mpe_status_bus #(
    .NumNodes  (NumNodes),
    .StatusW   (StatusW),
    .Snoop     (Snoop),
    .HoldLaunch(HoldLaunch)
  ) u_status_bus (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .status_i    (status_i),
    .bcast_req_i (bcast_req_i),
    .bcast_root_i(bcast_root_i),
    .root_i      (root_i),
    .members_i   (members_i),
    .in_time_i   (in_time_i),
    .launch_o    (launch_o),
    .status_o    (status_o),
    .ord_valid_o (ord_valid_o),
    .ord_last_o  (ord_last_o),
    .ord_node_o  (ord_node_o),
    .ord_before_o(ord_before_o)
  );

  mpe_xbar #(
    .NumNodes(NumNodes),
    .DataW   (DataW)
  ) u_xbar (
    .tx_req_i  (tx_req_i),
    .tx_dst_i  (tx_dst_i),
    .tx_rdy_o  (tx_rdy_o),
    .tx_to_i   (tx_to_i),
    .tx_valid_i(tx_valid_i),
    .tx_end_i  (tx_end_i),
    .tx_data_ni(tx_data_ni),
    .rx_peer_i (rx_peer_i),
    .rx_req_o  (rx_req_o),
    .rx_rdy_i  (rx_rdy_i),
    .rx_src_i  (rx_src_i),
    .rx_valid_o(rx_valid_o),
    .rx_end_o  (rx_end_o),
    .rx_data_o (rx_data_o)
  );

endmodule
