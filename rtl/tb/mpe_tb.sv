// SPDX-License-Identifier: MIT OR Apache-2.0
// The system of engines with flat ports, so that every simulator shows the same names and widths.
module mpe_tb #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  int AddrW      = 10,
  parameter  int LenW       = 10,
  parameter  int DataW      = 32,
  parameter  int QueueDepth = 2,
  parameter  bit Snoop      = 1'b0,
  parameter  bit HoldLaunch = 1'b0,
  localparam int IdW        = mpe_pkg::id_width(NumNodes)
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic [NumNodes-1:0]          cmd_valid_i,
  output logic [NumNodes-1:0]          cmd_ready_o,
  input  logic [NumNodes*2-1:0]        cmd_op_i,
  input  logic [NumNodes*IdW-1:0]      cmd_peer_i,
  input  logic [NumNodes*AddrW-1:0]    cmd_addr_i,
  input  logic [NumNodes*LenW-1:0]     cmd_len_i,
  input  logic [NumNodes*NumNodes-1:0] cmd_members_i,
  input  logic [NumNodes-1:0]          abort_i,
  output logic [NumNodes-1:0]          done_o,
  output logic [NumNodes-1:0]          err_short_o,
  output logic [NumNodes-1:0]          err_long_o,
  output logic [NumNodes*StatusW-1:0]  status_o,
  output logic                         hold_o,
  input  logic [NumNodes-1:0]          mem_stall_i,
  input  logic                         host_req_i,
  input  logic                         host_we_i,
  input  logic [IdW-1:0]               host_node_i,
  input  logic [AddrW-1:0]             host_addr_i,
  input  logic [DataW-1:0]             host_wdata_i,
  output logic [DataW-1:0]             host_rdata_o,
  // What the engines and the bus tell each other, for watching.
  output logic [NumNodes-1:0]          launch_o,
  output logic [NumNodes-1:0]          tx_req_o,
  output logic [NumNodes*IdW-1:0]      tx_dst_o,
  output logic [NumNodes-1:0]          rx_rdy_o,
  output logic [NumNodes*IdW-1:0]      rx_peer_o,
  output logic [NumNodes-1:0]          tx_valid_o,
  output logic [NumNodes*IdW-1:0]      tx_to_o
);

`ifdef MPE_NETLIST  // of the engines: nothing inside can be watched
  assign {launch_o, tx_req_o, tx_dst_o, rx_rdy_o, rx_peer_o, tx_valid_o, tx_to_o} = '0;
`else
  assign launch_o   = u_sys.u_core.launch;
  assign tx_req_o   = u_sys.u_core.tx_req;
  assign tx_dst_o   = u_sys.u_core.tx_dst;
  assign rx_rdy_o   = u_sys.u_core.rx_rdy;
  assign rx_peer_o  = u_sys.u_core.rx_peer;
  assign tx_valid_o = u_sys.u_core.tx_valid;
  assign tx_to_o    = u_sys.u_core.tx_to;
`endif

  mpe_sys #(
    .NumNodes  (NumNodes),
    .StatusW   (StatusW),
    .AddrW     (AddrW),
    .LenW      (LenW),
    .DataW     (DataW),
    .QueueDepth(QueueDepth),
    .Snoop     (Snoop),
    .HoldLaunch(HoldLaunch)
  ) u_sys (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .cmd_valid_i  (cmd_valid_i),
    .cmd_ready_o  (cmd_ready_o),
    .cmd_op_i     (cmd_op_i),
    .cmd_peer_i   (cmd_peer_i),
    .cmd_addr_i   (cmd_addr_i),
    .cmd_len_i    (cmd_len_i),
    .cmd_members_i(cmd_members_i),
    .abort_i      (abort_i),
    .done_o       (done_o),
    .err_short_o  (err_short_o),
    .err_long_o   (err_long_o),
    .status_o     (status_o),
    .node_status_o(),
    .hold_o       (hold_o),
    .mem_stall_i  (mem_stall_i),
    .host_req_i   (host_req_i),
    .host_rdy_o   (),  // engines are idle when the bench is here
    .host_we_i    (host_we_i),
    .host_node_i  (host_node_i),
    .host_addr_i  (host_addr_i),
    .host_wdata_i (host_wdata_i),
    .host_rdata_o (host_rdata_o)
  );

endmodule
