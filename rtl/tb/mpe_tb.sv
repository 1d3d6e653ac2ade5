// The system of engines with flat ports, so that every simulator shows the same names and widths.
module mpe_tb #(
  parameter  int NumNodes   = 4,
  parameter  int StatusW    = 2,
  parameter  int AddrW      = 10,
  parameter  int LenW       = 10,
  parameter  int DataW      = 32,
  parameter  int QueueDepth = 2,
  parameter  bit Snoop      = 1'b0,
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
  output logic [DataW-1:0]             host_rdata_o
);

  mpe_sys #(
    .NumNodes  (NumNodes),
    .StatusW   (StatusW),
    .AddrW     (AddrW),
    .LenW      (LenW),
    .DataW     (DataW),
    .QueueDepth(QueueDepth),
    .Snoop     (Snoop)
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
    .done_o       (done_o),
    .err_short_o  (err_short_o),
    .err_long_o   (err_long_o),
    .status_o     (status_o),
    .hold_o       (hold_o),
    .mem_stall_i  (mem_stall_i),
    .host_req_i   (host_req_i),
    .host_we_i    (host_we_i),
    .host_node_i  (host_node_i),
    .host_addr_i  (host_addr_i),
    .host_wdata_i (host_wdata_i),
    .host_rdata_o (host_rdata_o)
  );

endmodule
